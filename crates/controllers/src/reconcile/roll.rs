//! The roll: every object of a system, which claim it is, and where its resources are.

use std::collections::{BTreeMap, BTreeSet};

use kube::api::ListParams;
use kube::{Resource as _, ResourceExt as _};
use ownership::ledger::Origin;
use ownership::{ClaimHash, ResourceId, SlotName};

use super::ask::Key;
use super::clock::WallClock;
use super::inspect::called;
use super::pass::Reconciler;
use super::pin::Pin;
use super::record;
use super::system::{Sources, Trouble, api_of};
use crate::land::{Land, Plot};

/// Every object of a system, and where their resources are.
pub struct Roll {
    /// The objects.
    pub claimants: Vec<Claimant>,
    /// The places, each once.
    pub lands: Vec<Box<dyn Land>>,
    /// The objects whose place could not be entered, and why.
    pub closed: Vec<String>,
}

/// An object that may own and use resources.
#[derive(Clone, Debug)]
pub struct Claimant {
    /// As people call it: `Cluster demo`.
    pub object: String,
    /// The cluster's name, as a served system's marks carry it.
    pub cluster: String,
    /// What its marks carry; `None` where nobody can tell.
    pub claim: Option<ClaimHash>,
    /// The management cluster that keeps its record; empty without one.
    pub kept_by: String,
    /// What it uses and does not own, as its record and its fields say, and for which slot.
    pub uses: BTreeMap<ResourceId, Option<SlotName>>,
    /// What it made or adopted, as its record says, and for which slot.
    pub made: BTreeMap<ResourceId, SlotName>,
}

impl<S: Sources, K: WallClock> Reconciler<S, K> {
    /// Calls the roll.
    ///
    /// # Guarantees
    /// Read-only. Every object that the API server has is on it, whatever it says.
    ///
    /// # Errors
    /// The management cluster could not be asked: then nobody knows who is there.
    pub async fn roll(&self) -> Result<Roll, Trouble> {
        let all = api_of::<S::Object>(&self.client, None);
        let all = all.list(&ListParams::default()).await?.items;
        let mut roll = Roll {
            claimants: all.iter().map(|object| self.claimant(object)).collect(),
            lands: Vec::new(),
            closed: Vec::new(),
        };
        let mut entered = BTreeSet::new();
        for object in all.iter().filter(|object| S::is_ours(object)) {
            let asker: Key = (object.namespace(), object.name_any());
            let open = async {
                let facts = self.facts_for(&asker, object).await?;
                Ok::<_, Trouble>(self.system.open(&facts).await?)
            };
            match open.await {
                Err(trouble) => roll
                    .closed
                    .push(format!("{}: {trouble}", called::<S>(object))),
                Ok(places) => {
                    let inventory = places.home();
                    let place = S::place(inventory.cloud());
                    if entered.insert(place.clone()) {
                        roll.lands
                            .push(Box::new(Plot::new(place, inventory.clone())));
                    }
                }
            }
        }
        Ok(roll)
    }

    fn claimant(&self, object: &S::Object) -> Claimant {
        let meta = object.meta();
        let pin = Pin::read(meta, S::FINALIZER).ok();
        let claim = pin.and_then(|pin| pin.claim(S::CLAIM_KIND, meta).ok());
        let record = claim
            .as_ref()
            .and_then(|claim| record::of(meta, claim, self.system.kinds()).ok());
        let (bond, ledger) = record.unwrap_or_default();
        let mut uses: BTreeMap<ResourceId, Option<SlotName>> = BTreeMap::new();
        let traced = ledger
            .traces
            .keys()
            .map(|trace| (trace.on.id.clone(), None));
        uses.extend(traced);
        let found = ledger.known.iter();
        let found = found.filter(|(_, known)| known.origin == Origin::Found);
        uses.extend(found.map(|(target, known)| (target.id.clone(), Some(known.slot.clone()))));
        let owned = |id: &ResourceId| {
            let mut known = ledger.known.iter();
            known.any(|(target, known)| target.id == *id && known.origin != Origin::Found)
        };
        let made = ledger.known.iter();
        let made = made.filter(|(_, known)| known.origin != Origin::Found);
        let made = made.map(|(target, known)| (target.id.clone(), known.slot.clone()));
        let made = made.collect();
        let fields = S::ids(object).unwrap_or_default();
        let recorded = fields.iter().chain(&ledger.ids);
        let recorded = recorded.filter(|(_, id)| !owned(id));
        uses.extend(recorded.map(|(slot, id)| (id.clone(), Some(slot.clone()))));
        Claimant {
            object: called::<S>(object),
            cluster: bond.cluster.unwrap_or_else(|| object.name_any()),
            kept_by: bond.holder,
            claim: claim.map(|claim| claim.hash().clone()),
            uses,
            made,
        }
    }
}
