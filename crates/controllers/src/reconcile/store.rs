//! The ledger on a Kubernetes object: every write is one patch, of our fields only, to the version
//! that was read.

use std::future::Future;

use api::Change;
use api::names::{CLAIM_PINNED_FOR, CLAIM_UUID, LEDGER, claim_finalizer};
use cloud_port::{LedgerError, LedgerStore};
use kube::api::{Api, Patch, PatchParams};
use kube::{Error, Resource as _, ResourceExt as _};
use ownership::{Edit, Ledger};
use serde_json::Value;

use super::pin::Pin;
use super::{System, record};

/// The ledger of one object.
pub(crate) struct Store<'a, S: System> {
    system: &'a S,
    cloud: &'a S::Cloud,
    api: Api<S::Object>,
    object: S::Object,
    ledger: Ledger,
}

impl<'a, S: System> Store<'a, S> {
    /// The ledger of an object that was read from the API server just now.
    pub(crate) fn new(
        system: &'a S,
        cloud: &'a S::Cloud,
        api: Api<S::Object>,
        object: S::Object,
    ) -> Self {
        let ledger = Ledger::default();
        Self {
            system,
            cloud,
            api,
            object,
            ledger,
        }
    }

    fn read(&self) -> Result<Ledger, LedgerError> {
        let refuse = |error: &dyn std::fmt::Display| LedgerError::Refused(error.to_string());
        let meta = self.object.meta();
        let text = meta.annotations.as_ref().and_then(|all| all.get(LEDGER));
        let remembered = text.map(|text| record::decode(text, self.system.kinds()));
        let remembered = remembered.transpose().map_err(|error| refuse(&error))?;
        let pin = Pin::read(meta, S::FINALIZER).map_err(|error| refuse(&error))?;
        let mut ledger = remembered.unwrap_or_default();
        ledger.pinned = pin.complete;
        let recorded = S::ids(&self.object).map_err(|error| refuse(&error))?;
        ledger.ids.extend(recorded);
        Ok(ledger)
    }

    /// The patch that turns the object's ledger into `wanted`.
    fn patch(&self, edits: &[Edit], wanted: &Ledger) -> Result<Option<Value>, LedgerError> {
        let refuse = |error: &dyn std::fmt::Display| LedgerError::Refused(error.to_string());
        let meta = self.object.meta();
        let pin = Pin::read(meta, S::FINALIZER).map_err(|error| refuse(&error))?;
        let mut change = Change::new(&self.object).map_err(|error| refuse(&error))?;
        for edit in edits {
            match edit {
                Edit::Pin => {
                    change.annotate(CLAIM_UUID, &pin.uuid);
                    change.annotate(CLAIM_PINNED_FOR, meta.uid.as_deref().unwrap_or_default());
                    if meta.deletion_timestamp.is_none() {
                        change.add_finalizer(S::FINALIZER);
                        change.add_finalizer(&claim_finalizer(&pin.uuid));
                    }
                }
                Edit::Finish => {
                    change.remove_finalizer(S::FINALIZER);
                    change.remove_finalizer(&claim_finalizer(&pin.uuid));
                    for old in S::OLD_FINALIZERS {
                        change.remove_finalizer(old);
                    }
                }
                _ => {}
            }
        }
        let mut remembered = wanted.clone();
        remembered.ids.retain(|slot, _| !S::keeps(slot));
        match record::encode(&remembered) {
            Some(text) => change.annotate(LEDGER, &text),
            None => change.remove_annotation(LEDGER),
        }
        // The end of a claim leaves its spec as the user will remember it.
        if !edits.contains(&Edit::Finish) {
            S::record(self.cloud, &mut change, &self.object, &wanted.ids);
        }
        Ok(change.object_patch())
    }
}

impl<S: System> LedgerStore for Store<'_, S> {
    fn load(&mut self) -> impl Future<Output = Result<Ledger, LedgerError>> + Send {
        let loaded = self.read();
        if let Ok(ledger) = &loaded {
            self.ledger.clone_from(ledger);
        }
        std::future::ready(loaded)
    }

    async fn write(&mut self, edits: &[Edit]) -> Result<(), LedgerError> {
        let mut wanted = self.ledger.clone();
        for edit in edits {
            wanted.apply(edit);
        }
        let Some(patch) = self.patch(edits, &wanted)? else {
            // Nothing would change, but what rests on this write must know that the ledger is
            // current: the version is asserted by an empty patch.
            return self.assert_current().await;
        };
        self.send(&patch).await?;
        self.ledger = wanted;
        Ok(())
    }
}

impl<S: System> Store<'_, S> {
    /// Writes the ids of the ledger as the served API wants them, where they are written otherwise.
    pub(crate) async fn tidy(&mut self) -> Result<(), LedgerError> {
        match self.patch(&[], &self.ledger)? {
            Some(patch) => self.send(&patch).await,
            None => Ok(()),
        }
    }

    async fn assert_current(&mut self) -> Result<(), LedgerError> {
        let version = self.object.resource_version();
        let patch = serde_json::json!({"metadata": {"resourceVersion": version}});
        self.send(&patch).await
    }

    async fn send(&mut self, patch: &Value) -> Result<(), LedgerError> {
        let name = self.object.name_any();
        let parameters = PatchParams::default();
        match self
            .api
            .patch(&name, &parameters, &Patch::Merge(patch))
            .await
        {
            Ok(object) => {
                self.object = object;
                Ok(())
            }
            Err(error) => Err(classify(error)),
        }
    }
}

/// What a failed write means: a conflict, certainly not written, or nobody knows.
pub(crate) fn classify(error: Error) -> LedgerError {
    match error {
        Error::Api(status) if status.code == 409 => LedgerError::Conflict,
        Error::Api(status) if (400..500).contains(&status.code) => {
            LedgerError::Refused(status.message)
        }
        error => LedgerError::Unknown(error.to_string()),
    }
}
