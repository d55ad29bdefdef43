//! Clusters that the original made: ownership is deduced from its finalizers.

use cloud_port::aws::AwsPlace;
use cloud_port::aws::subnet::SUBNET;
use serde_json::{Value, json};

use super::set;
use crate::Lab;

const OLD: [&str; 4] = [
    "kubermatic.k8c.io/cleanup-aws-security-group",
    "kubermatic.k8c.io/cleanup-aws-instance-profile",
    "kubermatic.k8c.io/cleanup-aws-control-plane-role",
    "kubermatic.k8c.io/cleanup-aws-tags",
];

/// Everything is the cluster's own: it is marked, the old finalizers go, and at the end it goes too.
pub async fn every_finalizer_of_the_original<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let aws = original(lab).await;
    let name = lab.name.clone();
    lab.create_as(&name, aws.clone(), json!({}), json!({"finalizers": OLD}))
        .await;
    let census = lab.hands.census().await;
    lab.converge().await;
    assert_eq!(lab.hands.census().await, census, "nothing is made");
    let owned = format!("owned-by.kubermatic.k8c.io/{name}");
    let group = lab
        .hands
        .group(&format!("kubernetes-{name}"))
        .await
        .unwrap();
    assert!(group.tags.contains_key(&owned), "{:?}", group.tags);
    for role in ["control-plane", "worker"] {
        let role = lab
            .hands
            .role(&format!("kubernetes-{name}-{role}"))
            .await
            .unwrap();
        assert!(role.tags.contains_key(&owned), "{:?}", role.tags);
    }
    let profile = lab
        .hands
        .profile(&format!("kubernetes-{name}"))
        .await
        .unwrap();
    assert!(profile.tags.contains_key(&owned), "{:?}", profile.tags);
    let cluster = lab.cluster().await;
    let finalizers = cluster.metadata.finalizers.unwrap();
    assert!(
        !finalizers.iter().any(|f| OLD.contains(&f.as_str())),
        "{finalizers:?}"
    );
    assert!(
        cluster
            .status
            .unwrap()
            .last_provider_reconciliation
            .is_some()
    );
    lab.assert_silent().await;

    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&name).await, set(&[]));
}

/// It is deleted at once: what the finalizers vouch for goes, and the original's cluster marks.
pub async fn a_cluster_that_ends_before_it_has_migrated<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let aws = original(lab).await;
    let name = lab.name.clone();
    lab.create_as(&name, aws, json!({}), json!({"finalizers": OLD}))
        .await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&name).await, set(&[]));
}

/// A cluster as the original leaves it: no ownership tags, no status; the cluster mark on what it
/// tagged. Returns its fields in the spec.
async fn original<C: AwsPlace + Clone + 'static>(lab: &Lab<C>) -> Value {
    let (hands, name) = (&lab.hands, format!("kubernetes-{}", lab.name));
    let mark = format!("kubernetes.io/cluster/{}", lab.name);
    let vpc = hands.default_vpc().await;
    let table = hands.main_route_table(&vpc).await;
    let group = hands.make_group(&name, &vpc, &[(&mark, "")]).await;
    hands.add_rule(&group, "ingress tcp 22-22 0.0.0.0/0").await;
    hands
        .tag(
            &cloud_port::aws::route_table::ROUTE_TABLE,
            &table,
            &[(&mark, "")],
        )
        .await;
    for subnet in hands.subnets(&vpc).await {
        hands.tag(&SUBNET, &subnet, &[(&mark, "")]).await;
    }
    let (role, worker) = (format!("{name}-control-plane"), format!("{name}-worker"));
    for role in [&role, &worker] {
        hands.make_role(role, &[]).await;
        hands.put_policy(role, role).await;
    }
    hands.make_profile(&name, &[]).await;
    hands.put_role(&name, &worker).await;
    json!({
        "vpcID": vpc, "routeTableID": table, "securityGroupID": group, "roleARN": role,
        "instanceProfileName": name,
    })
}
