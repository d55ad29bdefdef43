//! The ledger on a Kubernetes object: every write is one patch, of our fields only, to the version
//! that was read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use api::Change;
use api::names::{ADOPT, CLAIM_PINNED_FOR, CLAIM_UUID, LEDGER, claim_finalizer};
use api::written;
use cloud_port::driver::Report;
use cloud_port::{LedgerError, LedgerStore, Places};
use kube::api::{Api, Patch};
use kube::{Error, Resource, ResourceExt as _};
use ownership::input::InputError;
use ownership::{Blueprint, Edit, Holder, Identity, Ledger, Slot};
use serde_json::Value;

use super::guards::Guards;
use super::guest::Host;
use super::pin::Pin;
use super::record::{self, Bond};
use super::system::{Ids, Sources};

/// The management cluster that keeps a record, as `take-over --from` takes it.
pub(crate) struct Keeper {
    holder: String,
    generation: u32,
}

impl fmt::Display for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.generation {
            0 => write!(f, "{}", self.holder),
            generation => write!(f, "{}@{generation}", self.holder),
        }
    }
}

/// The ledger of one object. What the object says of it is decoded once for every version of it.
pub(crate) struct Store<'r, S: Sources> {
    system: &'r S,
    facts: S::Facts,
    places: Places<S::Cloud>,
    api: Api<S::Object>,
    object: S::Object,
    identity: Arc<Identity>,
    guards: Guards,
    pin: Pin,
    bond: Bond,
    /// What the object needs until it has ended.
    hosts: BTreeSet<Host>,
    /// Whether the record told of anything.
    tells: bool,
    ledger: Ledger,
}

impl<'r, S: Sources> Store<'r, S> {
    /// The ledger of an object that was read from the API server just now, with its pin and the ids
    /// that it records.
    ///
    /// # Errors
    /// A record that nobody can read.
    pub(crate) fn new(
        (system, facts): (&'r S, S::Facts),
        places: Places<S::Cloud>,
        api: Api<S::Object>,
        object: S::Object,
        (pin, recorded): (Pin, Ids),
        identity: Arc<Identity>,
        guards: Guards,
    ) -> Result<Self, InputError> {
        let (bond, mut ledger) = record::of(object.meta(), &identity.claim, system.kinds())?;
        let tells = ledger.tells_of_anything();
        ledger.pinned = pin.complete || !guards.pin;
        ledger.is_new = pin.is_new;
        ledger.ids.extend(recorded);
        Ok(Self {
            system,
            facts,
            places,
            api,
            object,
            identity,
            guards,
            pin,
            hosts: bond.hosts.clone(),
            bond,
            tells,
            ledger,
        })
    }

    /// Whether the resources that the record tells of are where the object leads us now.
    ///
    /// # Errors
    /// The field that leads elsewhere.
    pub(crate) fn check_place(&self) -> Result<(), InputError> {
        let place = S::place(self.places.home().cloud());
        // A record that tells of nothing keeps nobody where they are: a mistake can be corrected.
        if !self.tells {
            return Ok(());
        }
        let others = self.places.others();
        let others =
            others.filter_map(|(name, is)| Some((self.bond.places.get(name.name()?)?, is)));
        let first = std::iter::once((&self.bond.place, place.as_str()));
        match first.chain(others).find(|(was, is)| was != is) {
            Some((was, is)) => Err(S::misplaced(&self.object, was, is)),
            None => Ok(()),
        }
    }

    /// What the claim calls its other places, and what each of them is; those too that nothing leads
    /// to any more.
    fn other_places(&self) -> BTreeMap<String, String> {
        let mut all = self.bond.places.clone();
        let others = self.places.others();
        all.extend(
            others.filter_map(|(place, is)| Some((place.name()?.to_owned(), is.to_owned()))),
        );
        all
    }

    /// The other management cluster that keeps the record, unless this one has taken it over.
    fn kept_by(&self) -> Option<Keeper> {
        let bond = &self.bond;
        let ours = bond.holder.is_empty() || bond.holder == self.identity.holder.as_str();
        let mut taken = self.identity.taken_over.iter();
        let covers = |(holder, upto): (&Holder, &u32)| {
            holder.as_str() == bond.holder && bond.generation <= *upto
        };
        (!ours && !taken.any(covers)).then(|| Keeper {
            holder: bond.holder.clone(),
            generation: bond.generation,
        })
    }

    /// That another management cluster keeps the record, in words with the way out.
    pub(crate) fn kept_elsewhere(&self) -> Option<String> {
        let keeper = self.kept_by()?;
        Some(format!(
            "the management cluster {keeper} keeps the record of this object, so nothing is created, \
             changed or deleted; if that one is gone, confirm the take-over once: freehold take-over \
             --from {keeper}; else this object is a copy: delete it and remove its finalizers"
        ))
    }

    /// The blueprint, with the names under which creates are under way: what came of one is called
    /// so, whatever the object says by now.
    pub(crate) fn named_by_intents(&self, blueprint: &Blueprint) -> Blueprint {
        let intents = &self.ledger.intents;
        let named = |slot: &Slot| {
            let intent = intents.get(&slot.name).filter(|intent| {
                let create = intent.kind == slot.kind && intent.adopts.is_none();
                create && slot.kind.name_finds_marks()
            });
            intent.map(|intent| intent.name.clone())
        };
        blueprint.clone().labelled(named)
    }

    /// The ledger, as it was last read or written here.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The object, as it was last read or written here.
    pub(crate) fn object(&self) -> &S::Object {
        &self.object
    }

    /// The patch that turns the object's ledger into `wanted`.
    fn patch(
        &self,
        edits: &[Edit],
        wanted: &Ledger,
        report: Option<&Report>,
    ) -> Result<Option<Value>, LedgerError> {
        let (meta, pin) = (self.object.meta(), &self.pin);
        let change = Change::new(&self.object);
        let mut change = change.map_err(|error| LedgerError::Refused(error.to_string()))?;
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
        // The end of a claim leaves its spec as the user will remember it.
        if edits.contains(&Edit::Finish) {
            change.remove_annotation(LEDGER);
        } else {
            let ours = || Keeper {
                holder: self.identity.holder.as_str().to_owned(),
                generation: self.identity.generation(),
            };
            let keeper = self.kept_by().unwrap_or_else(ours);
            let bond = Bond {
                claim: self.identity.claim.hash().as_str().to_owned(),
                holder: keeper.holder,
                generation: keeper.generation,
                place: S::place(self.places.home().cloud()),
                places: self.other_places(),
                cluster: self
                    .identity
                    .dialect
                    .cluster_name()
                    .filter(|cluster| meta.name.as_deref() != Some(*cluster))
                    .map(str::to_owned),
                hosts: self.hosts.clone(),
            };
            change.annotate(LEDGER, &record::encode(&bond, &remembered));
            S::record(
                self.places.home().cloud(),
                &self.facts,
                &mut change,
                &self.object,
                &wanted.ids,
            );
        }
        if let Some(report) = report {
            S::publish(&self.facts, &mut change, &self.object, report);
        }
        Ok(change.object_patch())
    }
}

impl<S: Sources> LedgerStore for Store<'_, S> {
    fn load(&mut self) -> impl Future<Output = Result<Ledger, LedgerError>> + Send {
        std::future::ready(Ok(self.ledger.clone()))
    }

    async fn write(&mut self, edits: &[Edit]) -> Result<(), LedgerError> {
        let mut wanted = self.ledger.clone();
        for edit in edits {
            wanted.apply(edit);
        }
        let Some(patch) = self.patch(edits, &wanted, None)? else {
            // Nothing would change, but what rests on this write must know that the ledger is
            // current: the version is asserted by an empty patch.
            return self.assert_current().await;
        };
        self.send(patch).await?;
        self.ledger = wanted;
        self.ledger.is_new = self.pin.is_new;
        Ok(())
    }
}

impl<S: Sources> Store<'_, S> {
    /// What the record says that the object needs.
    pub(crate) fn hosts(&self) -> &BTreeSet<Host> {
        &self.bond.hosts
    }

    /// Whether the record told of anything that may be in a cloud when the object was read.
    pub(crate) fn told_of_anything(&self) -> bool {
        self.tells
    }

    /// Takes back a first pin and record, after which nothing was made.
    pub(crate) async fn unpin(&mut self) -> Result<(), LedgerError> {
        self.write(&[Edit::Finish]).await
    }

    /// Records that the object needs these, together with its pin.
    pub(crate) async fn record_hosts(&mut self, hosts: BTreeSet<Host>) -> Result<(), LedgerError> {
        self.hosts = hosts;
        self.write(&[Edit::Pin]).await
    }

    /// From the next write on, the record says that the object needs these.
    pub(crate) fn needs(&mut self, hosts: BTreeSet<Host>) {
        self.hosts = hosts;
    }

    /// Brings what the object records to its canonical form: a role's plain name to its ARN. What has come
    /// of everything is published.
    pub(crate) async fn tidy(&mut self, report: &Report) -> Result<(), LedgerError> {
        let ready = report.findings.is_empty().then_some(report);
        match self.patch(&[], &self.ledger, ready)? {
            Some(patch) => self.send(patch).await,
            None => Ok(()),
        }
    }

    /// Finalizers go, and what a person told us to adopt is what is left of it.
    pub(crate) async fn let_go(
        &mut self,
        finalizers: &[&str],
        adopts: Option<&str>,
    ) -> Result<(), LedgerError> {
        let change = Change::new(&self.object);
        let mut change = change.map_err(|error| LedgerError::Refused(error.to_string()))?;
        for finalizer in finalizers {
            change.remove_finalizer(finalizer);
        }
        let annotations = self.object.annotations();
        match adopts {
            None => change.remove_annotation(ADOPT),
            Some(slots) if annotations.contains_key(ADOPT) => change.annotate(ADOPT, slots),
            Some(_) => {}
        }
        match change.object_patch() {
            Some(patch) => self.send(patch).await,
            None => Ok(()),
        }
    }

    /// What the object says of its claim, after it was written. If that cannot be read, nobody knows
    /// what was written.
    fn decode(&mut self) -> Result<(), LedgerError> {
        let refuse = |error: &dyn fmt::Display| LedgerError::Unknown(error.to_string());
        let meta = self.object.meta();
        self.pin = Pin::read(meta, S::FINALIZER).map_err(|error| refuse(&error))?;
        let record = record::of(meta, &self.identity.claim, self.system.kinds());
        (self.bond, _) = record.map_err(|error| refuse(&error))?;
        Ok(())
    }

    async fn assert_current(&mut self) -> Result<(), LedgerError> {
        let version = self.object.resource_version();
        let patch = serde_json::json!({"metadata": {"resourceVersion": version}});
        self.send(patch).await
    }

    async fn send(&mut self, mut patch: Value) -> Result<(), LedgerError> {
        if let Some(metadata) = patch["metadata"].as_object_mut()
            && !self.guards.compare_and_swap
        {
            metadata.remove("resourceVersion");
        }
        let name = self.object.name_any();
        let parameters = written::patches();
        match self
            .api
            .patch(&name, &parameters, &Patch::Merge(patch))
            .await
        {
            Ok(object) => {
                self.object = object;
                self.decode()
            }
            Err(error) => Err(self.explain(error).await),
        }
    }

    /// What a failed write means. A conflict, or a write to nothing, may mean that the object is not
    /// there any more; one of the same name is another.
    async fn explain(&self, error: Error) -> LedgerError {
        let asks = matches!(&error, Error::Api(status) if [404, 409].contains(&status.code));
        if !asks {
            return classify(error);
        }
        match self.api.get_opt(&self.object.name_any()).await {
            Ok(Some(there)) if there.uid() == self.object.uid() => LedgerError::Conflict,
            Ok(_) => LedgerError::Gone,
            Err(_) => classify(error),
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
