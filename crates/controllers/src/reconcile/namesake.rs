//! Namesakes: live objects here that are clusters of the same name. A cluster mark carries the name
//! alone, so it stays on what one of them uses, and goes with the last of them.

use std::collections::BTreeSet;

use api::names::LEDGER;
use api::written;
use cloud_port::LedgerError;
use kube::api::{ListParams, Patch};
use kube::{Resource as _, ResourceExt as _};
use ownership::ledger::{Trace, TraceOf};
use ownership::{Case, Edit, Ledger, ResourceId};
use serde_json::json;

use super::clock::WallClock;
use super::pass::Reconciler;
use super::pin::Pin;
use super::record::{self, Bond};
use super::store::classify;
use super::system::{Scope, Sources, Trouble, api_of};

/// An object that is a cluster of the same name, with its record.
struct Namesake<O> {
    object: O,
    bond: Bond,
    ledger: Ledger,
}

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
        Ok(used_by_live::<S>(&self.namesakes(object, cluster).await?))
    }

    /// A cluster mark that we put on what a namesake uses is the namesake's to take off: its record
    /// says so before ours forgets it.
    ///
    /// # Errors
    /// The management cluster could not be asked, or somebody wrote in between, or a namesake has come
    /// or gone: then everything is read again.
    pub(super) async fn hand_over_marks(
        &self,
        object: &S::Object,
        case: &Case<'_>,
        ledger: &Ledger,
    ) -> Result<(), LedgerError> {
        let dialect = &case.identity.dialect;
        let is_mark = |trace: &&Trace| match &trace.what {
            TraceOf::Tag { key, value } => {
                let mark = dialect.cluster_on(trace.on.kind);
                mark.is_ok_and(|mark| mark.has(key, value))
            }
            TraceOf::Inner { .. } => false,
        };
        let marks: Vec<&Trace> = ledger.traces.keys().filter(is_mark).collect();
        if marks.is_empty() {
            return Ok(());
        }
        let namesakes = self.namesakes(object, dialect.cluster_name()).await;
        let namesakes = namesakes.map_err(|trouble| LedgerError::Unknown(trouble.to_string()))?;
        if used_by_live::<S>(&namesakes) != case.evidence.namesakes_use {
            return Err(LedgerError::Conflict);
        }
        for namesake in namesakes {
            let used = used_by::<S>(&namesake);
            let mut ledger = namesake.ledger;
            let theirs = marks
                .iter()
                .filter(|mark| used.contains(&mark.on.id) && !ledger.traces.contains_key(**mark));
            let theirs: Vec<Edit> = theirs.map(|mark| Edit::Trace((*mark).clone())).collect();
            if theirs.is_empty() {
                continue;
            }
            for edit in &theirs {
                ledger.apply(edit);
            }
            let meta = namesake.object.meta();
            let patch = Patch::Merge(json!({"metadata": {
                "resourceVersion": meta.resource_version,
                "annotations": {LEDGER: record::encode(&namesake.bond, &ledger)},
            }}));
            let api = api_of::<S::Object>(&self.client, meta.namespace.as_deref());
            let (name, parameters) = (namesake.object.name_any(), written::patches());
            let patched = api.patch_metadata(&name, &parameters, &patch).await;
            patched.map_err(|error| match error {
                // It has gone in between.
                kube::Error::Api(status) if status.code == 404 => LedgerError::Conflict,
                error => classify(error),
            })?;
        }
        Ok(())
    }

    /// The namesakes of an object that have a record, whether they live or end.
    async fn namesakes(
        &self,
        object: &S::Object,
        cluster: Option<&str>,
    ) -> Result<Vec<Namesake<S::Object>>, Trouble> {
        // Without namespaces there is one object of a name.
        let several = <<S::Object as kube::Resource>::Scope as Scope<S::Object>>::NAMESPACED;
        let Some(cluster) = cluster.filter(|_| several) else {
            return Ok(Vec::new());
        };
        let all = api_of::<S::Object>(&self.client, None);
        let all = all.list(&ListParams::default()).await?.items;
        let mut namesakes = Vec::new();
        for other in all.into_iter().filter(|other| other.uid() != object.uid()) {
            let meta = other.meta();
            let claim = Pin::read(meta, S::FINALIZER).ok();
            let claim = claim.and_then(|pin| pin.claim(S::CLAIM_KIND, meta).ok());
            let Some(claim) = claim else { continue };
            let Ok((bond, ledger)) = record::of(meta, &claim, self.system.kinds()) else {
                continue;
            };
            let name = bond.cluster.clone().unwrap_or_else(|| other.name_any());
            if name == cluster {
                namesakes.push(Namesake {
                    object: other,
                    bond,
                    ledger,
                });
            }
        }
        Ok(namesakes)
    }
}

fn used_by_live<S: Sources>(namesakes: &[Namesake<S::Object>]) -> BTreeSet<ResourceId> {
    let lives = |namesake: &&Namesake<S::Object>| {
        let meta = namesake.object.meta();
        meta.deletion_timestamp.is_none()
    };
    let live = namesakes.iter().filter(lives);
    live.flat_map(used_by::<S>).collect()
}

fn used_by<S: Sources>(namesake: &Namesake<S::Object>) -> BTreeSet<ResourceId> {
    let ledger = &namesake.ledger;
    let mut used = BTreeSet::new();
    used.extend(S::ids(&namesake.object).unwrap_or_default().into_values());
    used.extend(ledger.ids.values().cloned());
    used.extend(ledger.traces.keys().map(|trace| trace.on.id.clone()));
    used.extend(ledger.known.keys().map(|target| target.id.clone()));
    used
}
