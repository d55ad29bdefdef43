//! Owners, switches and mistakes.

use cloud_port::aws::AwsPlace;
use serde_json::json;

use crate::lab::Lab;

/// Cluster API says which cluster it belongs to, a moment later.
pub async fn an_object_waits_for_its_owner<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let mut sample = lab.sample.manifest.clone();
    let owners = sample["metadata"]["ownerReferences"].take();
    lab.create_object(&sample).await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert_eq!((ready.holds, ready.reason.as_str()), (false, "Waiting"));
    assert!(lab.marked().await.is_empty());
    lab.patch(json!({"metadata": {"ownerReferences": owners}}))
        .await;
    lab.converge().await;
}

/// The owner's pause, and the annotation's.
pub async fn a_pause_stops_creation_and_deletion<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.edit_owner(json!({"spec": {"paused": true}})).await;
    lab.create_sample().await;
    lab.settle().await;
    lab.assert_condition("Paused", &["spec.paused of the Cluster prod"])
        .await;
    assert!(lab.marked().await.is_empty());
    lab.edit_owner(json!({"spec": {"paused": false}})).await;
    lab.converge().await;
    let before = lab.marked().await;
    let pause = json!({"metadata": {"annotations": {"cluster.x-k8s.io/paused": ""}}});
    lab.patch(pause).await;
    lab.delete().await;
    lab.settle().await;
    lab.assert_condition("Paused", &["cluster.x-k8s.io/paused"])
        .await;
    assert_eq!(lab.marked().await, before);
    let resume = json!({"metadata": {"annotations": {"cluster.x-k8s.io/paused": null}}});
    lab.patch(resume).await;
    lab.settle().await;
    assert!(lab.is_gone().await);
}

/// Nothing of ours is on it, a finalizer neither.
pub async fn what_another_controller_manages_is_left_to_it<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let mut sample = lab.sample.manifest.clone();
    sample["metadata"]["annotations"] = json!({"cluster.x-k8s.io/managed-by": "others"});
    lab.create_object(&sample).await;
    lab.settle().await;
    let said = lab.said().await;
    assert!(said["metadata"]["finalizers"].is_null(), "{said}");
    assert!(lab.marked().await.is_empty());
}

/// All of them at once.
pub async fn fields_that_are_not_served_are_named_and_make_nothing<
    C: AwsPlace + Clone + 'static,
>(
    lab: &mut Lab<C>,
) {
    lab.create(json!({
        "bastion": {"enabled": true, "allowedCIDRBlocks": ["0.0.0.0/0"]},
        "network": {"vpc": {"ipv6": {"cidrBlock": "2001:db8::/56"}}},
    }))
    .await;
    lab.settle().await;
    let words = [
        "spec.bastion.enabled",
        "spec.network.vpc.ipv6",
        "is not served",
    ];
    lab.assert_condition("Invalid", &words).await;
    assert!(lab.marked().await.is_empty());
    // What asks for nothing is not set.
    lab.edit(json!({"bastion": {"enabled": false}, "network": {"vpc": {"ipv6": null}}}))
        .await;
    lab.converge().await;
}

/// A list's element, by its place.
pub async fn a_mistake_is_told_by_its_field_before_anything_is_made<
    C: AwsPlace + Clone + 'static,
>(
    lab: &mut Lab<C>,
) {
    let zone = lab.zones().await.swap_remove(0);
    let subnets = json!([
        {"id": "one", "availabilityZone": zone, "cidrBlock": "10.0.0.0/24", "isPublic": true},
        {"id": "two", "availabilityZone": zone, "cidrBlock": "10.9.0.0/24"},
    ]);
    lab.create(json!({"network": {"subnets": subnets}})).await;
    lab.settle().await;
    let words = [
        "spec.network.subnets[1].cidrBlock",
        "within the range of the VPC",
    ];
    lab.assert_condition("Invalid", &words).await;
    assert!(lab.marked().await.is_empty());
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
}
