//! Who a cluster is, through backups, moves and copies.

use api::kkp::Cluster;
use cloud_port::aws::AwsPlace;
use cloud_port::aws::security_group::SECURITY_GROUP;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use ownership::Holder;
use serde_json::json;

use super::set;
use crate::Lab;
use crate::lab::manifest;

/// A restored object has a new uid and no status: it finds everything, and makes nothing.
pub async fn a_restored_object_finds_its_resources<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let backup = lab.backup().await;
    let group = lab.hands.group(&format!("kubernetes-{}", lab.name)).await;
    let census = lab.hands.census().await;
    let uid = lab.metadata().await.uid;
    lab.lose().await;
    assert_eq!(
        lab.hands.census().await,
        census,
        "the cloud keeps everything"
    );
    lab.restore(&backup).await;
    lab.restart();
    lab.converge().await;
    assert_ne!(lab.metadata().await.uid, uid);
    assert_eq!(lab.hands.census().await, census);
    assert_eq!(
        lab.hands.group(&format!("kubernetes-{}", lab.name)).await,
        group
    );

    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

/// Without the take-over its resources are shown as ours and left alone; with it they are ours.
pub async fn another_management_cluster_waits_for_the_take_over<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let backup = lab.backup().await;
    let name = format!("kubernetes-{}", lab.name);
    let before = lab.hands.group(&name).await.unwrap();
    lab.lose().await;
    lab.restore(&backup).await;
    lab.move_to("elsewhere", &[]);
    lab.hands
        .remove_rule(&before.id, "ingress tcp 22-22 0.0.0.0/0")
        .await;
    let drifted = lab.hands.group(&name).await.unwrap();
    lab.settle().await;
    let here = Holder::of_cluster("here");
    lab.assert_condition("Conflict", &[here.as_str(), "take-over"])
        .await;
    assert_eq!(lab.hands.group(&name).await.unwrap(), drifted);
    // Nor does it delete them, or take the cluster's marks off what it uses.
    let traces = lab.hands.traces_of(&lab.name).await;
    lab.delete().await;
    lab.settle().await;
    assert!(!lab.is_gone().await);
    assert_eq!(lab.hands.group(&name).await.unwrap(), drifted);
    assert_eq!(lab.hands.traces_of(&lab.name).await, traces);

    lab.move_to("elsewhere", &["here"]);
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

/// Another UUID is another claim, whatever its name.
pub async fn a_new_cluster_of_the_same_name_touches_nothing_of_the_old<
    C: AwsPlace + Clone + 'static,
>(
    lab: &mut Lab<C>,
) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    let before = (lab.hands.group(&name).await, lab.hands.profile(&name).await);
    lab.lose().await;
    lab.restart();
    lab.create(json!({}), json!({})).await;
    lab.settle().await;
    let group = before.0.clone().unwrap();
    lab.assert_condition("Conflict", &[&group.id]).await;
    assert_eq!(
        (lab.hands.group(&name).await, lab.hands.profile(&name).await),
        before
    );
    let traces = lab.hands.traces_of(&lab.name).await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(
        (lab.hands.group(&name).await, lab.hands.profile(&name).await),
        before
    );
    assert_eq!(lab.hands.traces_of(&lab.name).await, traces);
}

/// With the take-over a restored cluster lives on: it repairs, and its marks name the new holder.
pub async fn after_the_take_over_it_works_on<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let backup = lab.backup().await;
    let name = format!("kubernetes-{}", lab.name);
    let before = lab.hands.group(&name).await.unwrap();
    lab.lose().await;
    lab.restore(&backup).await;
    lab.hands
        .remove_rule(&before.id, "ingress tcp 22-22 0.0.0.0/0")
        .await;
    lab.move_to("elsewhere", &["here"]);
    lab.converge().await;
    let after = lab.hands.group(&name).await.unwrap();
    assert_eq!((&after.id, &after.rules), (&before.id, &before.rules));
    let elsewhere = Holder::of_cluster("elsewhere");
    let held = |tag: &String| tag.contains(elsewhere.as_str());
    assert!(after.tags.values().any(held), "{:?}", after.tags);
    // Confirmed once is enough: the record says who keeps it now.
    lab.move_to("elsewhere", &[]);
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

/// A cluster that owns nothing is known by the rules that it added: whoever took it over marks them,
/// and the management cluster before, which comes back with its old objects, neither acts nor ends it.
pub async fn a_cluster_that_only_uses_is_taken_over_too<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let vpc = lab.hands.default_vpc().await;
    let name = format!("shared-{}", lab.name);
    let group = lab.hands.make_group(&name, &vpc, &[]).await;
    let aws = json!({"securityGroupID": group, "disableIAMReconciling": true});
    lab.create(aws, json!({})).await;
    lab.converge().await;
    let old = lab.backup().await;
    lab.lose().await;
    lab.restore(&old).await;
    lab.move_to("elsewhere", &["here"]);
    lab.converge().await;
    lab.assert_silent().await;
    let new = lab.backup().await;
    let wanted = lab.hands.group(&name).await.unwrap();
    let traces = lab.hands.traces_of(&lab.name).await;

    lab.lose().await;
    lab.restore(&old).await;
    lab.move_to("here", &[]);
    lab.settle().await;
    let elsewhere = Holder::of_cluster("elsewhere");
    lab.assert_condition("Conflict", &[elsewhere.as_str(), "take-over"])
        .await;
    lab.delete().await;
    lab.settle().await;
    assert!(!lab.is_gone().await);
    assert_eq!(lab.hands.group(&name).await.unwrap(), wanted);
    assert_eq!(lab.hands.traces_of(&lab.name).await, traces);

    lab.lose().await;
    lab.restore(&new).await;
    lab.move_to("elsewhere", &["here"]);
    lab.converge().await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

/// Restored, and deleted before the operator has seen it.
pub async fn a_restored_object_can_end_at_once<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let census = lab.hands.census().await;
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let backup = lab.backup().await;
    lab.lose().await;
    lab.restore(&backup).await;
    lab.restart();
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
    assert_eq!(lab.hands.census().await, census);
}

/// Somebody took our annotations off: the finalizer has a copy of the UUID.
pub async fn an_object_that_lost_its_annotations_ends<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let census = lab.hands.census().await;
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    lab.delete().await;
    let none = json!({
        "freehold.dev/claim-uuid": null,
        "freehold.dev/claim-pinned-for": null,
        "freehold.dev/ledger": null,
    });
    lab.patch(json!({"metadata": {"annotations": none}})).await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
    assert_eq!(lab.hands.census().await, census);
}

/// A copy that kept the record, but is another claim: what the record says is the original's.
pub async fn a_copied_record_says_nothing<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let (name, traces) = (lab.name.clone(), lab.hands.traces_of(&lab.name).await);
    let mut copy = lab.backup().await;
    let copy_name = format!("of-{name}");
    copy["metadata"]["name"] = json!(copy_name);
    copy["metadata"]["finalizers"] = json!([]);
    let annotations = copy["metadata"]["annotations"].as_object_mut().unwrap();
    annotations.retain(|key, _| !key.starts_with("freehold.dev/claim"));
    assert!(annotations.contains_key("freehold.dev/ledger"));
    let ids = json!({
        "securityGroupID": "", "roleARN": "", "instanceProfileName": "",
    });
    for (id, value) in ids.as_object().unwrap() {
        copy["spec"]["cloud"]["aws"][id] = value.clone();
    }
    lab.restore(&copy).await;
    lab.name = copy_name;
    lab.converge().await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    lab.name = name;
    assert_eq!(lab.hands.traces_of(&lab.name).await, traces);
    lab.assert_silent().await;
}

/// `kubectl get -o yaml`, another name, `kubectl apply`: the copy says so and does nothing, and the
/// original works on.
pub async fn a_copied_manifest_is_told_to_be_a_copy<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let name = format!("kubernetes-{}", lab.name);
    let (original, census) = (lab.hands.group(&name).await, lab.hands.census().await);
    let mut copy = lab.backup().await;
    let copy_name = format!("{}-copy", lab.name);
    copy["metadata"]["name"] = json!(copy_name);
    lab.restore(&copy).await;
    let original_name = std::mem::replace(&mut lab.name, copy_name);
    lab.settle().await;
    lab.assert_condition("Conflict", &[&original_name, "copy"])
        .await;
    assert_eq!(lab.hands.census().await, census);

    // The copy may go without taking anything with it.
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    lab.name = original_name;
    assert_eq!(lab.hands.group(&name).await, original);
    lab.converge().await;
    lab.assert_silent().await;
}

/// Another management cluster keeps its record: until the take-over is confirmed nothing is made, not
/// even what is missing.
pub async fn a_claim_that_another_cluster_keeps_makes_nothing<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let empty = lab.hands.census().await;
    lab.create(json!({}), json!({})).await;
    lab.converge().await;
    let backup = lab.backup().await;
    let name = format!("kubernetes-{}", lab.name);
    lab.lose().await;
    let group = lab.hands.group(&name).await.unwrap();
    lab.hands.delete_group(&group.id).await;
    let (census, traces) = (
        lab.hands.census().await,
        lab.hands.traces_of(&lab.name).await,
    );
    lab.restore(&backup).await;
    lab.move_to("elsewhere", &[]);
    lab.settle().await;
    let here = Holder::of_cluster("here");
    let command = format!("freehold take-over --from {here}");
    lab.assert_condition("Conflict", &[here.as_str(), &command])
        .await;
    assert_eq!(lab.hands.census().await, census);
    assert_eq!(lab.hands.traces_of(&lab.name).await, traces);

    lab.move_to("elsewhere", &["here"]);
    lab.converge().await;
    assert!(lab.hands.group(&name).await.is_some());
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.census().await, empty);
}

/// Somebody takes the finalizers off and deletes the object while the cloud makes its group: what is
/// just made goes again, for nobody would look for it.
pub async fn an_object_removed_by_force_leaves_nothing_of_its_create<
    C: AwsPlace + Clone + 'static,
>(
    lab: &mut Lab<C>,
) {
    let census = lab.hands.census().await;
    lab.create(json!({}), json!({})).await;
    let (api, name) = (lab.api(), lab.name.clone());
    lab.during_create(&SECURITY_GROUP, async move { remove(&api, &name).await });
    lab.pass().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.census().await, census);
}

/// The same, and another object of that name is there at once: it is another claim, and nothing of
/// the first one is in its way.
pub async fn an_object_replaced_by_force_leaves_nothing_of_its_create<
    C: AwsPlace + Clone + 'static,
>(
    lab: &mut Lab<C>,
) {
    let census = lab.hands.census().await;
    lab.create(json!({}), json!({})).await;
    let (api, name) = (lab.api(), lab.name.clone());
    let again = manifest(&name, json!({}), json!({}), json!({}));
    lab.during_create(&SECURITY_GROUP, async move {
        remove(&api, &name).await;
        api.create(&PostParams::default(), &again).await.unwrap();
    });
    lab.pass().await;
    assert_eq!(lab.hands.census().await, census);
    lab.converge().await;
    let (groups, roles, profiles) = lab.hands.census().await;
    let made = (groups - census.0, roles - census.1, profiles - census.2);
    assert_eq!(made, (1, 2, 1));
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.hands.census().await, census);
    assert_eq!(lab.hands.traces_of(&lab.name).await, set(&[]));
}

/// Removes an object with its finalizers.
async fn remove(api: &Api<Cluster>, name: &str) {
    let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let patched = api.patch(name, &PatchParams::default(), &none).await;
    patched.unwrap();
    let deleted = api.delete(name, &DeleteParams::default()).await;
    deleted.unwrap();
}
