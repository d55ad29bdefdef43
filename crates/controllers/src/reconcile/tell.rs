//! What is written to an object besides its ledger: its status.

use api::Change;
use cloud_port::LedgerError;
use kube::api::{Api, Patch, PatchParams};

use super::clock::WallClock;
use super::outcome::Conditions;
use super::pass::Reconciler;
use super::store::classify;
use super::{System, events};

impl<S: System, K: WallClock> Reconciler<S, K> {
    /// Tells conditions, if there are any and the object does not say the same already. Answers
    /// whether the object is still there.
    pub(super) async fn tell(
        &self,
        api: &Api<S::Object>,
        name: &str,
        told: Option<&Conditions>,
    ) -> Result<bool, LedgerError> {
        let Some(told) = told else {
            return Ok(true);
        };
        let object = api.get_opt(name).await.map_err(classify)?;
        let Some(object) = object else {
            return Ok(false);
        };
        let change = Change::new(&object);
        let mut change = change.map_err(|error| LedgerError::Refused(error.to_string()))?;
        self.system
            .tell(&mut change, &object, told, self.clock.wall());
        let Some(patch) = change.status_patch() else {
            return Ok(true);
        };
        let patch = Patch::Merge(patch);
        let patched = api
            .patch_status(name, &PatchParams::default(), &patch)
            .await;
        patched.map_err(classify)?;
        let news = told.news(|kind| S::said(&object, kind));
        let now = self.clock.wall();
        events::publish(&self.client, &object, now, "told", &news).await;
        Ok(true)
    }
}
