//! The switches that people have.

use api::names::CLAIM_PINNED_FOR;
use cloud_port::aws::AwsPlace;
use serde_json::json;

use super::plain_rules;
use crate::Lab;

/// A restored cluster that is paused is its own again: who takes its finalizers off is refused, as before.
pub async fn a_restored_cluster_that_is_paused_is_pinned_anew<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let census = lab.hands.census().await;
    let mut backup = lab.backup().await;
    backup["spec"]["pause"] = json!(true);
    lab.lose().await;
    lab.restore(&backup).await;
    lab.restart();
    lab.settle().await;
    lab.assert_condition("Paused", &["spec.pause"]).await;
    let metadata = lab.metadata().await;
    let pinned_for = metadata.annotations.unwrap()[CLAIM_PINNED_FOR].clone();
    assert_eq!(Some(pinned_for), metadata.uid);
    assert_eq!(lab.hands.census().await, census);
}

/// `spec.pause`: nothing is touched, in life and at the end, until it is gone.
pub async fn a_paused_cluster_is_left_alone<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let census = lab.hands.census().await;
    lab.create(json!({}), json!({"pause": true})).await;
    lab.settle().await;
    assert_eq!(lab.hands.census().await, census);
    lab.assert_condition("Paused", &["spec.pause"]).await;
    lab.patch(json!({"spec": {"pause": false}})).await;
    lab.converge().await;
    let paused = lab.condition("Paused").await;
    assert_eq!(paused.map(|told| told.holds), Some(false));

    lab.patch(json!({"spec": {"pause": true}})).await;
    let name = format!("kubernetes-{}", lab.name);
    let group = lab.hands.group(&name).await.unwrap();
    lab.hands
        .remove_rule(&group.id, "ingress tcp 22-22 0.0.0.0/0")
        .await;
    let drifted = lab.hands.group(&name).await;
    lab.settle().await;
    lab.delete().await;
    lab.settle().await;
    assert_eq!(lab.hands.group(&name).await, drifted);
    assert!(!lab.is_gone().await);
}

/// `freehold.dev/management: observe`: the condition says what would be done.
pub async fn an_observed_cluster_is_left_alone<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    let group = lab.hands.group(&name).await.unwrap();
    lab.patch(json!({"metadata": {"annotations": {"freehold.dev/management": "observe"}}}))
        .await;
    lab.hands
        .remove_rule(&group.id, "ingress tcp 22-22 0.0.0.0/0")
        .await;
    lab.hands
        .add_rule(&group.id, "ingress tcp 3306-3306 0.0.0.0/0")
        .await;
    let drifted = lab.hands.group(&name).await;
    lab.settle().await;
    assert_eq!(lab.hands.group(&name).await, drifted);
    let ready = lab.condition("Ready").await.unwrap();
    assert!(!ready.holds);
    let message = ready.message;
    assert!(
        message.contains("add rule ingress tcp 22-22 0.0.0.0/0"),
        "{message}"
    );
    assert!(
        !message.contains("3306"),
        "it is somebody else's: {message}"
    );
    assert!(message.len() < 500, "each Step once: {message}");

    lab.patch(json!({"metadata": {"annotations": {"freehold.dev/management": "manage"}}}))
        .await;
    lab.converge().await;
    let mut wanted = plain_rules();
    wanted.insert("ingress tcp 3306-3306 0.0.0.0/0".to_owned());
    assert_eq!(lab.hands.group(&name).await.unwrap().rules, wanted);
}

/// A switch with another value than it has does nothing but say so: nobody is to lose what a typo
/// was meant to keep.
pub async fn a_misspelt_switch_stops_everything<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let census = lab.hands.census().await;
    lab.patch(json!({"metadata": {"annotations": {"freehold.dev/deletion": "Retain"}}}))
        .await;
    lab.delete().await;
    lab.settle().await;
    lab.assert_condition("Invalid", &["freehold.dev/deletion", "Retain", "retain"])
        .await;
    assert_eq!(lab.hands.census().await, census);
    lab.patch(json!({"metadata": {"annotations": {"freehold.dev/deletion": "delete"}}}))
        .await;
    lab.settle().await;
    assert!(lab.is_gone().await);
}

/// Without the block that says where its resources are, a cluster that has some is not forgotten.
pub async fn a_cluster_without_its_cloud_says_so<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let aws = lab.cluster().await.spec.cloud.aws.unwrap();
    if !lab
        .patch_if_allowed(json!({"spec": {"cloud": {"aws": null}}}))
        .await
    {
        return;
    }
    lab.settle().await;
    lab.assert_condition("Invalid", &["spec.cloud.aws"]).await;
    lab.patch(json!({"spec": {"cloud": {"aws": aws}}})).await;
    lab.converge().await;
}
