//! The four ways in which a create goes wrong.
//!
//! No resource of a cluster needs a second call for its marks; what is tagged by one is somebody's subnet.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cloud_port::aws::AwsPlace;
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use controllers::reconcile::Next;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::json;

use super::brought::plant;
use crate::lab::{Lab, TWO_ZONES};

/// More passes than a whole cluster needs.
const TOO_MANY: usize = 400;

/// A create succeeds, and nothing can be written to the object any more: once in each Kind's create. The
/// operator starts again each time.
pub async fn a_record_that_fails_after_a_create_loses_nothing<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let before = lab.everything().await;
    lab.create_sample().await;
    let lost = plan_losses(lab);
    for _ in 0..TOO_MANY {
        let (so_far, next) = (lost.load(Ordering::Relaxed), lab.pass().await);
        lab.writes().pass();
        match next {
            _ if lost.load(Ordering::Relaxed) > so_far => lab.restart(),
            Next::OnChange => break,
            Next::After(wait) if wait >= laboratory::RESYNC => break,
            Next::After(wait) => lab.wait(wait),
        }
    }
    assert_eq!(lost.load(Ordering::Relaxed), made(lab).len());
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), TWO_ZONES, "law 2");
    let more = lab.census().await.len() - before.len();
    assert_eq!(more, TWO_ZONES + 2, "and the VPC's own table and group");
    lab.end().await;
    lab.assert_same(&before, "law 3").await;
}

/// The same, and then the object is deleted at once: what no record tells of goes, too.
pub async fn what_was_never_recorded_ends<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let before = lab.everything().await;
    lab.create_sample().await;
    let lost = plan_losses(lab);
    while lost.load(Ordering::Relaxed) == 0 {
        let next = lab.pass().await;
        if let Next::After(wait) = next {
            lab.wait(wait);
        }
    }
    assert!(!lab.marked().await.is_empty(), "something was created");
    lab.writes().pass();
    lab.restart();
    lab.end().await;
    lab.assert_same(&before, "law 3").await;
}

/// In the next create of each Kind what the operator writes is lost from then on. How often that was.
fn plan_losses<C: AwsPlace + Clone + 'static>(lab: &Lab<C>) -> Arc<AtomicUsize> {
    let lost = Arc::new(AtomicUsize::new(0));
    for kind in made(lab) {
        let (writes, lost) = (lab.writes().clone(), lost.clone());
        lab.during_create(kind, async move {
            writes.lose();
            lost.fetch_add(1, Ordering::Relaxed);
        });
    }
    lost
}

/// The Kinds of which the sample makes something.
fn made<C: AwsPlace + Clone + 'static>(lab: &Lab<C>) -> Vec<&'static ownership::Kind> {
    let all = lab.owns().iter().copied();
    all.filter(|kind| !lab.sample.lacks.contains(kind))
        .collect()
}

/// Somebody takes the object away while the cloud makes its VPC, and what was just made cannot be deleted
/// at once: it is tried again until it is gone, for nobody would look for it.
pub async fn a_rollback_that_fails_is_tried_again<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let before = lab.everything().await;
    lab.create_sample().await;
    let (api, name) = (lab.api(), lab.name.clone());
    lab.during_create(&VPC, async move {
        let none = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        let patched = api.patch(&name, &PatchParams::default(), &none).await;
        patched.unwrap();
        let deleted = api.delete(&name, &DeleteParams::default()).await;
        deleted.unwrap();
    });
    lab.refuse("delete", &VPC);
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.plans_left(), 0, "it was tried");
    lab.assert_same(&before, "law 3").await;
}

/// A deletion that fails at the end is tried again, and the finalizer waits for it.
pub async fn deletions_that_fail_are_tried_again<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let before = lab.everything().await;
    lab.create_sample().await;
    lab.converge().await;
    for kind in made(lab) {
        lab.refuse("delete", kind);
    }
    lab.end().await;
    assert_eq!(lab.plans_left(), 0, "each was tried");
    lab.assert_same(&before, "law 3").await;
}

/// What is tagged by a second call, somebody's subnets, is tagged when that is possible again.
pub async fn a_mark_that_fails_is_tried_again<C: AwsPlace + Clone + 'static>(lab: &mut Lab<C>) {
    let network = plant(lab).await;
    let before = lab.everything().await;
    lab.refuse("mark", &SUBNET);
    lab.create(json!({"network": network.spec()})).await;
    lab.converge().await;
    assert_eq!(lab.plans_left(), 0, "it was tried");
    let marked = lab.hands.all(&SUBNET).await;
    let theirs = marked.iter().filter(|it| {
        let vpc = it.props.get("vpc");
        vpc.is_some_and(|vpc| **vpc == *network.vpc)
    });
    for subnet in theirs {
        let mut keys = subnet.tags.iter().map(|(key, _)| key);
        let is_marked = keys.any(|key| key.starts_with("sigs.k8s.io/cluster-api-provider-aws/"));
        assert!(is_marked, "{subnet:?}");
    }
    lab.refuse("unmark", &SUBNET);
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(lab.plans_left(), 0, "it was tried");
    lab.assert_same(&before, "law 7").await;
}

/// The operator dies when a resource has been created, before it could say so: once in the creates of each
/// Kind, in one life.
pub async fn an_operator_that_dies_in_creates_makes_nothing_twice<C: AwsPlace + Clone + 'static>(
    lab: &mut Lab<C>,
) {
    let before = lab.everything().await;
    lab.create_sample().await;
    let kinds = made(lab);
    lab.settle_with_crashes(&kinds).await;
    assert_eq!(lab.plans_left(), 0, "it died in each");
    lab.converge().await;
    assert_eq!(lab.marked().await.len(), TWO_ZONES, "law 2");
    let more = lab.census().await.len() - before.len();
    assert_eq!(more, TWO_ZONES + 2, "and the VPC's own table and group");
    lab.end().await;
    lab.assert_same(&before, "law 3").await;
}
