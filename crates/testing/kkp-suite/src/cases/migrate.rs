//! Clusters that the original made: ownership is deduced from its finalizers.

use cloud_port::aws::AwsPlace;
use cloud_port::aws::instance_profile::INSTANCE_PROFILE;
use cloud_port::aws::role::ROLE;
use cloud_port::aws::security_group::SECURITY_GROUP;
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

/// One finalizer vouches for its own; the rest is only used, and stays.
pub async fn one_finalizer_of_the_original<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let names = [
        ("", vec![]),
        (OLD[0], vec!["group"]),
        (OLD[1], vec!["profile", "worker"]),
        (OLD[2], vec!["control-plane"]),
        (OLD[3], vec![]),
    ];
    let first = lab.name.clone();
    for (at, (finalizer, goes)) in names.into_iter().enumerate() {
        lab.name = format!("{first}-{at}");
        let name = lab.name.clone();
        let aws = original(lab).await;
        let finalizers: Vec<&str> = Some(finalizer)
            .filter(|f| !f.is_empty())
            .into_iter()
            .collect();
        lab.create_as(&name, aws, json!({}), json!({"finalizers": finalizers}))
            .await;
        // On a role that is only used, the original's policy of our name is somebody else's.
        lab.settle().await;
        lab.delete().await;
        lab.settle().await;
        assert!(lab.is_gone().await);
        let left = left(lab).await;
        let all = ["control-plane", "group", "profile", "worker"];
        let stays: Vec<&str> = all
            .into_iter()
            .filter(|part| !goes.contains(part))
            .collect();
        assert_eq!(left, stays, "{finalizer:?}");
        let mark = format!("kubernetes.io/cluster/{name}");
        assert_eq!(lab.hands.tagged(&mark).await, set(&[]), "{finalizer:?}");
        clear(lab).await;
    }
}

/// Nothing is recorded, nothing is marked, and it is deleted at once: finalizers alone prove nothing, so
/// everything that has our names stays.
pub async fn a_cluster_without_ids_ends_before_it_has_migrated<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    original(lab).await;
    let name = lab.name.clone();
    lab.create_as(&name, json!({}), json!({}), json!({"finalizers": OLD}))
        .await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(
        left(lab).await,
        ["control-plane", "group", "profile", "worker"]
    );
    let mark = format!("kubernetes.io/cluster/{name}");
    assert_eq!(lab.hands.tagged(&mark).await, set(&[]));
}

/// IAM was switched off since: what vouches for roles and profile stays, and at the end they go.
pub async fn a_cluster_whose_iam_was_switched_off<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let mut aws = original(lab).await;
    aws["disableIAMReconciling"] = json!(true);
    let name = lab.name.clone();
    lab.create_as(&name, aws, json!({}), json!({"finalizers": OLD}))
        .await;
    lab.converge().await;
    let finalizers = lab.metadata().await.finalizers.unwrap();
    let old = |name: &&str| finalizers.iter().any(|f| f == name);
    let stay: Vec<&str> = OLD.into_iter().filter(old).collect();
    assert_eq!(stay, [OLD[1], OLD[2]]);
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(left(lab).await, Vec::<&str>::new());
}

/// A cluster of today's original: ownership tags on what it made, its own finalizer, and its status.
/// It is taken over whole; also when it ends before it was ever seen here.
pub async fn a_cluster_of_todays_original<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let first = lab.name.clone();
    for ends_at_once in [false, true] {
        lab.name = format!("{first}-{}", u8::from(ends_at_once));
        let (name, aws) = (lab.name.clone(), original(lab).await);
        let owned = format!("owned-by.kubermatic.k8c.io/{name}");
        let ours = format!("kubernetes-{name}");
        let group = aws["securityGroupID"].as_str().unwrap().to_owned();
        let tag = [(owned.as_str(), "")];
        lab.hands.tag(&SECURITY_GROUP, &group, &tag).await;
        for role in ["control-plane", "worker"] {
            let role = format!("{ours}-{role}");
            lab.hands.tag(&ROLE, &role, &tag).await;
        }
        lab.hands.tag(&INSTANCE_PROFILE, &ours, &tag).await;
        let finalizers = json!({"finalizers": ["kubermatic.k8c.io/cleanup-aws"]});
        lab.create_as(&name, aws, json!({}), finalizers).await;
        if !ends_at_once {
            let census = lab.hands.census().await;
            lab.converge().await;
            assert_eq!(lab.hands.census().await, census, "nothing is made");
            lab.assert_silent().await;
        }
        lab.delete().await;
        lab.settle().await;
        assert!(lab.is_gone().await);
        assert_eq!(left(lab).await, Vec::<&str>::new(), "{ends_at_once}");
        assert_eq!(lab.hands.traces_of(&name).await, set(&[]));
    }
}

/// What is left of a cluster of the original.
async fn left<C: AwsPlace + Clone + 'static>(lab: &Lab<C>) -> Vec<&'static str> {
    let (hands, name) = (&lab.hands, format!("kubernetes-{}", lab.name));
    let control_plane = hands.role(&format!("{name}-control-plane")).await;
    let worker = hands.role(&format!("{name}-worker")).await;
    let there = [
        ("control-plane", control_plane.is_some()),
        ("group", hands.group(&name).await.is_some()),
        ("profile", hands.profile(&name).await.is_some()),
        ("worker", worker.is_some()),
    ];
    there
        .iter()
        .filter(|(_, is)| *is)
        .map(|(part, _)| *part)
        .collect()
}

/// Removes what is left of it, by hand.
async fn clear<C: AwsPlace + Clone + 'static>(lab: &Lab<C>) {
    let (hands, name) = (&lab.hands, format!("kubernetes-{}", lab.name));
    if let Some(group) = hands.group(&name).await {
        hands.delete_group(&group.id).await;
    }
    if hands.profile(&name).await.is_some() {
        hands.delete_profile(&name).await;
    }
    for role in ["control-plane", "worker"] {
        let role = format!("{name}-{role}");
        if hands.role(&role).await.is_some() {
            hands.delete_role(&role).await;
        }
    }
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

/// A finalizer of the original, and a group of our name that nothing ties to the cluster: no id
/// records it and no tag is on it. It is somebody's; it is used, and stays.
pub async fn a_strangers_group_beside_an_old_finalizer<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let first = lab.name.clone();
    for ends_at_once in [false, true] {
        lab.name = format!("{first}-{}", u8::from(ends_at_once));
        let (object, name) = (lab.name.clone(), format!("kubernetes-{}", lab.name));
        let vpc = lab.hands.default_vpc().await;
        let id = lab.hands.make_group(&name, &vpc, &[]).await;
        let before = lab.hands.group(&name).await.unwrap();
        let metadata = json!({"finalizers": [OLD[0]]});
        let aws = json!({"disableIAMReconciling": true});
        lab.create_as(&object, aws, json!({}), metadata).await;
        if !ends_at_once {
            lab.converge().await;
            let used = lab.hands.group(&name).await.unwrap();
            let owned = format!("owned-by.kubermatic.k8c.io/{object}");
            assert_eq!(used.id, id);
            assert!(!used.tags.contains_key(&owned), "{:?}", used.tags);
        }
        lab.delete().await;
        lab.settle().await;
        assert!(lab.is_gone().await);
        assert_eq!(lab.hands.group(&name).await.unwrap(), before);
    }
}

/// A finalizer of the original, and a worker role of our name that is not in the recorded profile:
/// somebody's, so it stays.
pub async fn a_strangers_worker_role_beside_an_old_finalizer<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let (object, name) = (lab.name.clone(), format!("kubernetes-{}", lab.name));
    let worker = format!("{name}-worker");
    lab.hands.make_role(&worker, &[]).await;
    lab.hands.make_profile(&name, &[]).await;
    let metadata = json!({"finalizers": [OLD[1]]});
    let aws = json!({"instanceProfileName": name});
    lab.create_as(&object, aws, json!({}), metadata).await;
    lab.settle().await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.profile(&name).await, None);
    assert!(lab.hands.role(&worker).await.is_some());
}

/// No field records the worker role and no tag is on it, but it is in the profile that is recorded,
/// which the original's finalizer vouches for: it is adopted, and goes at the end.
pub async fn an_untagged_worker_role_in_the_recorded_profile<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let first = lab.name.clone();
    for ends_at_once in [false, true] {
        lab.name = format!("{first}-{}", u8::from(ends_at_once));
        let (object, name) = (lab.name.clone(), format!("kubernetes-{}", lab.name));
        let worker = format!("{name}-worker");
        lab.hands.make_role(&worker, &[]).await;
        lab.hands.make_profile(&name, &[]).await;
        lab.hands.put_role(&name, &worker).await;
        let metadata = json!({"finalizers": [OLD[1]]});
        let aws = json!({"instanceProfileName": name});
        lab.create_as(&object, aws, json!({}), metadata).await;
        if !ends_at_once {
            lab.converge().await;
            let owned = format!("owned-by.kubermatic.k8c.io/{object}");
            let role = lab.hands.role(&worker).await.unwrap();
            assert!(role.tags.contains_key(&owned), "{:?}", role.tags);
        }
        lab.delete().await;
        lab.settle().await;
        assert!(lab.is_gone().await);
        assert_eq!(left(lab).await, Vec::<&str>::new(), "{ends_at_once}");
        assert_eq!(lab.hands.traces_of(&object).await, set(&[]));
    }
}
