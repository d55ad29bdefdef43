//! The cases that hold for every system, on a sample of its objects.

use api::names::{CLAIM_PINNED_FOR, guest_finalizer};
use cloud_port::Survey;
use controllers::reconcile::Sources;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Resource as _, ResourceExt as _};
use ownership::Holder;
use serde_json::json;

use crate::lab::Lab;

/// The sample is made, and everything that it owns is there once, marked.
async fn make<S: Sources, C: Survey + Clone + 'static>(lab: &Lab<S, C>) {
    lab.create_sample().await;
    lab.converge().await;
    let marked = lab.marked().await;
    assert_eq!(marked.len(), lab.sample.owns, "{marked:#?}");
}

/// The object is deleted, and nothing of it is left.
async fn end<S: Sources, C: Survey + Clone + 'static>(lab: &Lab<S, C>) {
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
    let left = lab.marked().await;
    assert!(left.is_empty(), "law 3: {left:#?}");
}

/// Everything is made, marked and told; then there is silence.
pub async fn everything_is_made_and_rests<S: Sources, C: Survey + Clone + 'static>(
    lab: &mut Lab<S, C>,
) {
    make(lab).await;
    let object = lab.object().await;
    assert!(object.finalizers().iter().any(|name| name == S::FINALIZER));
    if let Some(field) = S::STATUS.observed_generation {
        let said = serde_json::to_value(&object).unwrap();
        let observed = field.iter().fold(&said, |value, name| &value[name]);
        assert_eq!(observed, &json!(object.meta().generation));
    }
    lab.assert_silent().await;
}

/// What is wanted otherwise is made otherwise, of the same resources; then there is silence.
pub async fn an_edit_is_followed<S: Sources, C: Survey + Clone + 'static>(lab: &mut Lab<S, C>) {
    make(lab).await;
    let (before, writes) = (lab.marked().await, lab.events().await.len());
    lab.patch(lab.sample.edit.clone()).await;
    lab.converge().await;
    assert_eq!(lab.marked().await, before);
    assert!(lab.events().await.len() > writes, "nothing was done");
    lab.assert_silent().await;
}

/// What needs an object until it has ended holds it, and everything that it owns.
pub async fn a_host_waits_for_its_guests<S: Sources, C: Survey + Clone + 'static>(
    lab: &mut Lab<S, C>,
) {
    make(lab).await;
    let before = lab.marked().await;
    let finalizer = guest_finalizer("Lodger.example.com");
    let mut finalizers = lab.object().await.finalizers().to_vec();
    finalizers.push(finalizer.clone());
    lab.patch(json!({"metadata": {
        "finalizers": finalizers,
        "annotations": {&finalizer: "here/one, here/two"},
    }}))
    .await;
    lab.delete().await;
    lab.settle().await;
    assert_eq!(lab.marked().await, before, "nothing of it goes");
    let words = ["Lodger here/one, here/two"];
    lab.assert_condition("Blocked", &words).await;
    finalizers = lab.object().await.finalizers().to_vec();
    finalizers.retain(|name| *name != finalizer);
    lab.patch(json!({"metadata": {"finalizers": finalizers}}))
        .await;
    lab.settle().await;
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
    assert!(lab.marked().await.is_empty(), "law 3");
}

/// An object that is deleted leaves nothing.
pub async fn everything_goes<S: Sources, C: Survey + Clone + 'static>(lab: &mut Lab<S, C>) {
    make(lab).await;
    end(lab).await;
}

/// A crash right after any create neither loses nor doubles what was created.
pub async fn a_crash_in_every_create<S: Sources, C: Survey + Clone + 'static>(lab: &mut Lab<S, C>) {
    let made = lab.owns().iter();
    let made = made.filter(|kind| !lab.sample.lacks.contains(kind));
    // A life for each: what does not depend on it is created at the same time.
    for kind in made {
        lab.create_sample().await;
        lab.crash_in_create(kind).await;
        lab.converge().await;
        let marked = lab.marked().await;
        assert_eq!(marked.len(), lab.sample.owns, "law 2: {marked:#?}");
        end(lab).await;
    }
}

/// A restored object has a new uid and no status: it finds everything, and makes nothing.
pub async fn a_restored_object_finds_its_resources<S: Sources, C: Survey + Clone + 'static>(
    lab: &mut Lab<S, C>,
) {
    make(lab).await;
    let (before, uid) = (lab.marked().await, lab.metadata().await.uid);
    let mut backup = lab.backup().await;
    lab.lose().await;
    backup.as_object_mut().unwrap().remove("status");
    lab.restore(&backup).await;
    lab.restart();
    lab.converge().await;
    assert_ne!(lab.metadata().await.uid, uid);
    assert_eq!(lab.marked().await, before);
    end(lab).await;
}

/// What a status says is never needed: it is told again as it was.
pub async fn a_status_that_was_lost_is_told_again<S: Sources, C: Survey + Clone + 'static>(
    lab: &mut Lab<S, C>,
) {
    make(lab).await;
    let (before, told) = (lab.marked().await, status(lab).await);
    let none = Patch::Merge(json!({"status": null}));
    let (api, parameters) = (lab.api(), PatchParams::default());
    let lost = api.patch_status(&lab.name, &parameters, &none).await;
    lost.unwrap();
    lab.restart();
    lab.converge().await;
    assert_eq!(status(lab).await, told);
    assert_eq!(lab.marked().await, before);
}

/// The object's status, but for times.
async fn status<S: Sources, C: Survey + Clone + 'static>(lab: &Lab<S, C>) -> serde_json::Value {
    let mut object = serde_json::to_value(lab.object().await).unwrap();
    forget_times(&mut object["status"]);
    object["status"].take()
}

fn forget_times(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.retain(|name, _| !name.starts_with("last"));
            fields.values_mut().for_each(forget_times);
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(forget_times),
        _ => {}
    }
}

/// Without the take-over another management cluster leaves everything alone.
pub async fn another_management_cluster_waits_for_the_take_over<
    S: Sources,
    C: Survey + Clone + 'static,
>(
    lab: &mut Lab<S, C>,
) {
    make(lab).await;
    let before = lab.marked().await;
    let backup = lab.backup().await;
    lab.lose().await;
    lab.restore(&backup).await;
    lab.move_to("elsewhere", &[]);
    lab.settle().await;
    let command = format!("freehold take-over --from {}", Holder::of_cluster("here"));
    lab.assert_condition("Conflict", &[&command]).await;
    assert_eq!(lab.marked().await, before);
    lab.delete().await;
    lab.settle().await;
    assert_eq!(lab.marked().await, before, "law 5: they are not held here");
}

/// With it, it works on: nothing is made twice, and the end leaves nothing.
pub async fn after_the_take_over_it_works_on<S: Sources, C: Survey + Clone + 'static>(
    lab: &mut Lab<S, C>,
) {
    make(lab).await;
    let before = lab.marked().await;
    let backup = lab.backup().await;
    lab.lose().await;
    lab.restore(&backup).await;
    lab.move_to("elsewhere", &["here"]);
    lab.converge().await;
    assert_eq!(lab.marked().await, before);
    end(lab).await;
}

/// A copy of a live object is told to be one; its end takes nothing of the original's.
pub async fn a_copy_is_told_and_makes_nothing<S: Sources, C: Survey + Clone + 'static>(
    lab: &mut Lab<S, C>,
) {
    make(lab).await;
    let before = lab.marked().await;
    let mut copy = lab.backup().await;
    let name = format!("{}-copy", lab.name);
    copy["metadata"]["name"] = json!(name);
    lab.create_object(&copy).await;
    lab.settle_as(&name).await;
    let told = S::STATUS.said(&lab.api().get(&name).await.unwrap(), "Conflict");
    assert!(told.is_some_and(|told| told.holds));
    let deleted = lab.api().delete(&name, &DeleteParams::default()).await;
    deleted.unwrap();
    lab.settle_as(&name).await;
    assert!(lab.api().get_opt(&name).await.unwrap().is_none());
    lab.converge().await;
    assert_eq!(lab.marked().await, before);
    end(lab).await;
}

/// An object that is only observed makes nothing, and says what it would.
pub async fn an_observed_object_makes_nothing<S: Sources, C: Survey + Clone + 'static>(
    lab: &mut Lab<S, C>,
) {
    let mut sample = lab.sample.manifest.clone();
    sample["metadata"]["annotations"]["freehold.dev/management"] = json!("observe");
    lab.create_object(&sample).await;
    lab.settle().await;
    let ready = lab.condition("Ready").await.unwrap();
    assert!(ready.message.contains("this would be done"), "{ready:?}");
    assert!(lab.marked().await.is_empty());
    let manage = json!({"metadata": {"annotations": {"freehold.dev/management": null}}});
    lab.patch(manage).await;
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), lab.sample.owns);
}

/// A restored object that nobody may work on is pinned anew all the same: what is pinned for another one
/// looks like a copy, whose finalizers anybody may take off.
pub async fn a_restored_object_that_is_observed_is_pinned_anew<
    S: Sources,
    C: Survey + Clone + 'static,
>(
    lab: &mut Lab<S, C>,
) {
    make(lab).await;
    let before = lab.marked().await;
    let mut backup = lab.backup().await;
    backup["metadata"]["annotations"]["freehold.dev/management"] = json!("observe");
    lab.lose().await;
    lab.restore(&backup).await;
    lab.restart();
    lab.settle().await;
    let metadata = lab.metadata().await;
    let pinned_for = metadata.annotations.unwrap()[CLAIM_PINNED_FOR].clone();
    assert_eq!(Some(pinned_for), metadata.uid);
    assert_eq!(lab.marked().await, before);
    let manage = json!({"metadata": {"annotations": {"freehold.dev/management": null}}});
    lab.patch(manage).await;
    lab.converge().await;
    assert_eq!(lab.marked().await, before);
    end(lab).await;
}

/// Retained resources stay, without our marks.
pub async fn retained_resources_stay<S: Sources, C: Survey + Clone + 'static>(lab: &mut Lab<S, C>) {
    make(lab).await;
    let mut before = 0;
    for kind in lab.owns() {
        before += lab.cloud().survey(kind).await.unwrap().resources.len();
    }
    let retain = json!({"metadata": {"annotations": {"freehold.dev/deletion": "retain"}}});
    lab.patch(retain).await;
    end(lab).await;
    let mut after = 0;
    for kind in lab.owns() {
        after += lab.cloud().survey(kind).await.unwrap().resources.len();
    }
    assert_eq!(after, before);
}

/// What somebody deleted by hand is made again, once.
pub async fn what_is_gone_is_made_again<S: Sources>(lab: &mut Lab<S, cloud_sim::SharedAccount>) {
    make(lab).await;
    let gone = lab.delete_all_by_hand();
    assert_eq!(gone, lab.sample.owns);
    lab.wait(crate::RESYNC);
    // What a read does not show may still be there: that takes no readiness away.
    lab.pass().await;
    let ready = lab.condition("Ready").await;
    assert!(ready.as_ref().is_some_and(|ready| ready.holds), "{ready:?}");
    lab.converge().await;
    let marked = lab.marked().await;
    assert_eq!(marked.len(), lab.sample.owns, "{marked:#?}");
    end(lab).await;
}
