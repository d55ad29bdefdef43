//! The end of clusters.

use cloud_port::aws::AwsPlace;
use cloud_port::aws::security_group::SECURITY_GROUP;
use serde_json::json;

use super::{plain_rules, set};
use crate::Lab;

/// Nothing of it is left, and no tag of it; then the object goes.
pub async fn everything_goes<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let census = lab.hands.census().await;
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    assert_ne!(lab.hands.census().await, census);
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
    assert_eq!(lab.hands.census().await, census);
}

/// Some of it is gone already, and the ids are lost.
pub async fn half_a_cluster_goes<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    lab.hands.delete_profile(&name).await;
    lab.hands
        .delete_role(&format!("{name}-control-plane"))
        .await;
    let none = json!({"securityGroupID": "", "roleARN": "", "instanceProfileName": ""});
    lab.patch(json!({"spec": {"cloud": {"aws": none}}})).await;
    lab.restart();
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

/// Another group's rule names ours: the end waits, says for what, and comes when that is gone.
pub async fn what_uses_a_group_blocks_its_end<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    if !lab.keeps_referenced {
        return;
    }
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    let group = lab.hands.group(&name).await.unwrap();
    let vpc = lab.hands.default_vpc().await;
    let other = lab.hands.make_group("other", &vpc, &[]).await;
    let rule = format!("ingress tcp 80-80 {}", group.id);
    lab.hands.add_rule(&other, &rule).await;
    lab.delete().await;
    lab.settle().await;
    assert!(!lab.is_gone().await);
    lab.assert_condition("Blocked", &[&group.id, &other]).await;
    assert!(lab.hands.group(&name).await.is_some());

    lab.hands.remove_rule(&other, &rule).await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

/// Mistakes in fields keep a cluster from being worked on, but not from ending.
pub async fn a_cluster_with_mistakes_ends<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let wrong = json!({
        "nodePortsAllowedIPRanges": {"cidrBlocks": ["10.0.0.0/33"]},
        "securityGroupID": "no-group",
        "roleARN": "arn:of:nothing",
    });
    lab.patch(json!({"spec": {"cloud": {"aws": wrong}}})).await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["spec.cloud.aws"]).await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

/// `freehold.dev/deletion: retain` gives everything back: no mark of ours is on it.
pub async fn retained_resources_stay<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let census = lab.hands.census().await;
    let name = format!("kubernetes-{}", lab.name);
    let group = lab.hands.group(&name).await.unwrap();
    lab.hands
        .tag(&SECURITY_GROUP, &group.id, &[("team", "network")])
        .await;
    lab.patch(json!({"metadata": {"annotations": {"freehold.dev/deletion": "retain"}}}))
        .await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.census().await, census);
    let left = lab.hands.group(&name).await.unwrap();
    assert_eq!(left.rules, plain_rules());
    assert_eq!(left.tags.into_keys().collect::<Vec<_>>(), ["team"]);
    let role = lab.hands.role(&format!("{name}-worker")).await.unwrap();
    assert!(role.tags.is_empty(), "{:?}", role.tags);
}
