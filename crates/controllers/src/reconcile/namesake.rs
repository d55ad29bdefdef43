//! Namesakes: live objects here that are clusters of the same name. A cluster mark carries the name
//! alone, so it stays on what one of them uses.

use std::collections::BTreeSet;

use kube::api::ListParams;
use kube::{Resource as _, ResourceExt as _};
use ownership::ResourceId;

use super::clock::WallClock;
use super::pass::Reconciler;
use super::pin::Pin;
use super::record;
use super::system::{Scope, Sources, Trouble, api_of};

impl<S: Sources, K: WallClock> Reconciler<S, K> {
    /// What live namesakes of an object use, as their records say. One that owns something shows in
    /// the cloud, wherever it is kept.
    ///
    /// # Errors
    /// The management cluster could not be asked.
    pub(super) async fn namesakes_use(
        &self,
        object: &S::Object,
        cluster: Option<&str>,
    ) -> Result<BTreeSet<ResourceId>, Trouble> {
        // Without namespaces there is one object of a name.
        let several = <<S::Object as kube::Resource>::Scope as Scope<S::Object>>::NAMESPACED;
        let Some(cluster) = cluster.filter(|_| several) else {
            return Ok(BTreeSet::new());
        };
        let all = api_of::<S::Object>(&self.client, None);
        let all = all.list(&ListParams::default()).await?.items;
        let mut used = BTreeSet::new();
        for other in all.iter().filter(|other| other.uid() != object.uid()) {
            let meta = other.meta();
            let claim = Pin::read(meta, S::FINALIZER).ok();
            let claim = claim.and_then(|pin| pin.claim(S::CLAIM_KIND, meta).ok());
            let Some(claim) = claim.filter(|_| meta.deletion_timestamp.is_none()) else {
                continue;
            };
            let Ok((bond, ledger)) = record::of(meta, &claim, self.system.kinds()) else {
                continue;
            };
            let name = bond.cluster.unwrap_or_else(|| other.name_any());
            if name != cluster {
                continue;
            }
            used.extend(S::ids(other).unwrap_or_default().into_values());
            used.extend(ledger.ids.into_values());
            used.extend(ledger.traces.into_keys().map(|trace| trace.on.id));
            used.extend(ledger.known.into_keys().map(|target| target.id));
        }
        Ok(used)
    }
}
