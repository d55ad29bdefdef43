//! What is written to an object besides its ledger: its status.

use api::{Change, Condition, written};
use cloud_port::LedgerError;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt as _;
use kube::api::Patch;
use serde_json::json;

use super::clock::WallClock;
use super::events;
use super::outcome::{Conditions, PAUSED, READY};
use super::pass::Reconciler;
use super::store::classify;
use super::system::{Sources, Told, api_of};

impl<S: Sources, K: WallClock> Reconciler<S, K> {
    /// Tells of an object what there is to tell, unless it says the same already. Answers whether the
    /// object is still there.
    pub(super) async fn tell(
        &self,
        seen: &S::Object,
        generation: Option<i64>,
        told: Option<Told<'_>>,
    ) -> Result<bool, LedgerError> {
        let Some(told) = told else {
            return Ok(true);
        };
        let name = seen.name_any();
        let api = api_of::<S::Object>(&self.client, seen.namespace().as_deref());
        let object = api.get_opt(&name).await.map_err(classify)?;
        // Another of the same name is another's to tell of.
        let Some(object) = object.filter(|object| object.uid() == seen.uid()) else {
            return Ok(false);
        };
        let now = self.clock.wall();
        let change = Change::new(&object);
        let mut change = change.map_err(|error| LedgerError::Refused(error.to_string()))?;
        for (kind, condition) in all::<S>(&object, told.conditions) {
            let version = env!("CARGO_PKG_VERSION");
            change.condition(&S::STATUS, kind, &condition, version, &Time(now));
        }
        if let Some(field) = S::STATUS.observed_generation
            && generation > change.number(field)
        {
            change.want(field, json!(generation));
        }
        S::status(&mut change, &object, &told, now);
        let Some(patch) = change.status_patch() else {
            return Ok(true);
        };
        let patch = Patch::Merge(patch);
        let patched = api.patch_status(&name, &written::patches(), &patch).await;
        patched.map_err(classify)?;
        let news = told.conditions.news(|kind| S::STATUS.said(&object, kind));
        let reference = events::reference(&object);
        events::publish(&self.client, &reference, now, "told", &news).await;
        Ok(true)
    }
}

/// What is told, and what held before and does not any more.
fn all<S: Sources>(object: &S::Object, told: &Conditions) -> Vec<(&'static str, Condition)> {
    let mut all: Vec<_> = told
        .by_type
        .iter()
        .map(|(kind, condition)| (*kind, condition.clone()))
        .collect();
    let held = S::STATUS.hold(object);
    // Readiness that nobody speaks of stays: what a read does not show may still be there. Whoever is
    // not told to be paused is not; everything else must have been looked at.
    let is_known = |kind: &&str| *kind != READY && (told.looked || *kind == PAUSED);
    for kind in Conditions::TYPES.into_iter().filter(is_known) {
        if held.iter().any(|held| held == kind) && !told.by_type.contains_key(kind) {
            let resolved = Condition {
                holds: false,
                reason: "Resolved".to_owned(),
                message: "it does not hold any more".to_owned(),
            };
            all.push((kind, resolved));
        }
    }
    all
}
