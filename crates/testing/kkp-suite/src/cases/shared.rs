//! Two clusters, or two calls, that meet in one place.

use cloud_port::aws::AwsPlace;
use serde_json::json;

use super::set;
use crate::Lab;

const SSH: &str = "ingress tcp 22-22 0.0.0.0/0";
const THEIRS: &str = "ingress tcp 443-443 192.0.2.0/24";

/// Two clusters name one group: each finds the rules that it needs, whichever made them, and they go
/// with the last one that needs them.
pub async fn two_clusters_on_one_group<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let (first, second) = (format!("{}-a", lab.name), format!("{}-b", lab.name));
    let vpc = lab.hands.default_vpc().await;
    let name = format!("shared-{}", lab.name);
    let group = lab.hands.make_group(&name, &vpc, &[]).await;
    lab.hands.add_rule(&group, THEIRS).await;
    let before = lab.hands.group(&name).await.unwrap();
    let aws = json!({"securityGroupID": group, "disableIAMReconciling": true});
    lab.name.clone_from(&first);
    lab.create(aws.clone(), json!({})).await;
    lab.converge().await;
    let wanted = lab.hands.group(&name).await.unwrap().rules;
    assert!(wanted.contains(SSH) && wanted.contains(THEIRS));
    lab.name.clone_from(&second);
    lab.create(aws, json!({})).await;
    lab.converge().await;
    assert_eq!(lab.hands.group(&name).await.unwrap().rules, wanted);

    // The one that made them ends, and the other keeps what it needs.
    lab.name.clone_from(&first);
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.group(&name).await.unwrap().rules, wanted);
    assert_eq!(lab.hands.traces_of(&first).await, set(&[]));
    lab.name.clone_from(&second);
    lab.converge().await;
    lab.assert_silent().await;

    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.group(&name).await.unwrap(), before);
    assert_eq!(lab.hands.traces_of(&second).await, set(&[]));
}

/// Both end at once: neither leaves the rules to the other.
pub async fn two_clusters_leave_one_group_together<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let names = [format!("{}-a", lab.name), format!("{}-b", lab.name)];
    let vpc = lab.hands.default_vpc().await;
    let name = format!("shared-{}", lab.name);
    let group = lab.hands.make_group(&name, &vpc, &[]).await;
    lab.hands.add_rule(&group, THEIRS).await;
    let before = lab.hands.group(&name).await.unwrap();
    for cluster in &names {
        lab.name.clone_from(cluster);
        let aws = json!({"securityGroupID": group, "disableIAMReconciling": true});
        lab.create(aws, json!({})).await;
        lab.converge().await;
    }
    for cluster in &names {
        lab.name.clone_from(cluster);
        lab.delete().await;
        lab.pass().await;
    }
    for cluster in &names {
        lab.name.clone_from(cluster);
        lab.settle().await;
    }
    for cluster in &names {
        lab.name.clone_from(cluster);
        lab.settle().await;
        assert!(lab.is_gone().await, "{cluster}");
        assert_eq!(lab.hands.traces_of(cluster).await, set(&[]));
    }
    assert_eq!(lab.hands.group(&name).await.unwrap(), before);
}

/// A role of ours is deleted by hand, and somebody makes one of that name with the dialect's tag: it is
/// told as a conflict, not adopted, and stays at the end.
pub async fn a_strangers_role_under_our_name<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let role = format!("kubernetes-{}-control-plane", lab.name);
    let owned = format!("owned-by.kubermatic.k8c.io/{}", lab.name);
    lab.hands.delete_role(&role).await;
    lab.hands.make_role(&role, &[(&owned, "")]).await;
    let theirs = lab.hands.role(&role).await.unwrap();
    lab.wait(crate::RESYNC);
    lab.settle().await;
    assert_eq!(lab.hands.role(&role).await.unwrap(), theirs);
    lab.assert_condition("Conflict", &[&role, "freehold.dev/adopt"])
        .await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.role(&role).await.unwrap(), theirs);
}

/// While something that a person wrote is wrong, nothing is made: not even what does not depend on it.
pub async fn a_mistake_makes_nothing<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let census = lab.hands.census().await;
    lab.create(json!({"vpcID": "vpc-0123456789abcdef0"}), json!({}))
        .await;
    lab.settle().await;
    lab.assert_condition(
        "Invalid",
        &["spec.cloud.aws.vpcID", "vpc-0123456789abcdef0"],
    )
    .await;
    assert_eq!(lab.hands.census().await, census);
    if lab
        .patch_if_allowed(json!({"spec": {"cloud": {"aws": {"vpcID": ""}}}}))
        .await
    {
        lab.converge().await;
    }
}
