//! Land: everything in one place of a cloud, whosever it is.
//!
//! A claim looks only for what is its own. Whoever asks whose something is, or what nobody owns any
//! more, must look at all of it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cloud_port::driver::{Driver, InMemory, NoJournal, Term};
use cloud_port::{Clock as _, Cloud as _, Inventory, PassEnd, Survey};
use jiff::Timestamp;
use ownership::decide::{Evidence, Phase};
use ownership::kind::{InnerKind, InnerProof};
use ownership::ledger::{Known, Origin, Part, Trace, TraceOf};
use ownership::mark::{self, OwnershipMark};
use ownership::part::{InnerPart, Resource};
use ownership::{
    Blueprint, Case, ClaimHash, CloudError, Freehold, Identity, Kind, KindAt, Ledger, Query,
    Sightings, Slot, Target,
};

use crate::reconcile::TokioClock;
use crate::registry::Future;

/// A place of a cloud.
pub trait Land: Send + Sync {
    /// Its account, and whatever else tells it from others.
    fn place(&self) -> &str;

    /// Everything there. Where no list shows marks, each resource that `is_asked_for` is read.
    fn stock<'a>(
        &'a self,
        is_asked_for: &'a (dyn Fn(&Resource) -> bool + Sync),
    ) -> Future<'a, Stock>;

    /// Ends a claim whose object is gone: deletes what carries its mark, and takes away what it added
    /// to what is not its own.
    ///
    /// # Guarantees
    /// It is the engine that ends it: everything is read again before it is deleted, and what another
    /// management cluster holds is left alone. An end may take minutes: before each try it is asked
    /// whether it still `may` be.
    fn end<'a>(
        &'a self,
        gone: &'a Identity,
        stock: &'a Stock,
        may: &'a MayEnd<'a>,
    ) -> Future<'a, Ended>;
}

/// Whether a claim may still be ended; an error says why not.
pub type MayEnd<'a> = dyn Fn() -> Future<'a, Result<(), String>> + Send + Sync + 'a;

/// Everything in a place.
#[derive(Clone, Debug, Default)]
pub struct Stock {
    /// The place.
    pub place: String,
    /// What is there.
    pub items: Vec<Item>,
    /// What could not be looked at, and why.
    pub unseen: Vec<String>,
}

/// A resource with what is inside.
#[derive(Clone, Debug)]
pub struct Item {
    /// The resource.
    pub resource: Arc<Resource>,
    /// What is inside it.
    pub inside: Vec<(&'static InnerKind, InnerPart)>,
}

impl Item {
    /// The resource, named.
    pub fn target(&self) -> Target {
        self.resource.target()
    }

    /// Freehold's ownership marks on the resource.
    pub fn marks(&self) -> Vec<OwnershipMark> {
        let resource = &self.resource;
        OwnershipMark::all(resource.kind.carrier, &resource.tags).collect()
    }

    /// The parts inside a resource that go with it when its claim is ended: those with the claim's
    /// mark, and where parts carry none, all of them. Whoever ends it is shown them first.
    pub fn parts_of(&self, claim: &ClaimHash) -> BTreeSet<Part> {
        let key = mark::claim_key(self.resource.kind.carrier, claim);
        let goes = |(inner, part): &&(&'static InnerKind, InnerPart)| match inner.proof {
            InnerProof::OwnMark => part.tags.get(&key).is_some(),
            InnerProof::ParentMark => true,
        };
        let parts = self.inside.iter().filter(goes);
        parts
            .map(|(inner, part)| (inner.name, part.key.clone()))
            .collect()
    }

    /// What a claim has added to the resource, by its marks: parts, and tags that name parts.
    pub fn traces(&self, claim: &ClaimHash) -> Vec<Trace> {
        let carrier = self.resource.kind.carrier;
        let prefix = mark::part_prefix(carrier, claim);
        let tags: Vec<_> = self.resource.tags.with_prefix(&prefix).collect();
        let key = mark::claim_key(carrier, claim);
        let is_ours = |inner: &InnerKind, part: &InnerPart| {
            let names = |tag: &str| mark::names_part(carrier, tag, inner.name, &part.key);
            part.tags.get(&key).is_some() || tags.iter().any(|(tag, _)| names(tag))
        };
        let parts = self
            .inside
            .iter()
            .filter(|(inner, part)| is_ours(inner, part));
        let parts = parts.map(|(inner, part)| TraceOf::Inner {
            inner: inner.name,
            key: part.key.clone(),
        });
        let tags = tags.iter().map(|(key, value)| TraceOf::Tag {
            key: key.clone(),
            value: value.clone(),
        });
        let on = self.target();
        parts
            .chain(tags)
            .map(|what| Trace {
                on: on.clone(),
                what,
            })
            .collect()
    }
}

/// What came of ending a claim whose object is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nothing of it is left.
    All,
    /// Something is, and why.
    NotAll(Vec<String>),
}

/// A place that can be worked in.
pub(crate) struct Plot<C> {
    place: String,
    inventory: Arc<Inventory<C>>,
    kinds: Vec<&'static Kind>,
}

impl<C> Plot<C> {
    /// The place of an inventory, with all the Kinds of its cloud.
    pub(crate) fn new(place: String, inventory: Arc<Inventory<C>>) -> Self {
        let kinds = inventory.kinds().collect();
        Self {
            place,
            inventory,
            kinds,
        }
    }
}

/// How often an end is tried again: what blocks something may itself go in between.
const TRIES: usize = 20;

impl<C: Survey + 'static> Land for Plot<C> {
    fn place(&self) -> &str {
        &self.place
    }

    fn stock<'a>(
        &'a self,
        is_asked_for: &'a (dyn Fn(&Resource) -> bool + Sync),
    ) -> Future<'a, Stock> {
        Box::pin(async move {
            let mut stock = Stock {
                place: self.place.clone(),
                ..Stock::default()
            };
            for kind in &self.kinds {
                match self.of_kind(kind, is_asked_for).await {
                    Ok(items) => stock.items.extend(items),
                    Err(error) => stock.unseen.push(format!("each {}: {error}", kind.noun)),
                }
            }
            stock
        })
    }

    fn end<'a>(
        &'a self,
        gone: &'a Identity,
        stock: &'a Stock,
        may: &'a MayEnd<'a>,
    ) -> Future<'a, Ended> {
        Box::pin(async move {
            let blueprint = Blueprint::default();
            let evidence = Evidence::default();
            let case = Case {
                identity: gone,
                blueprint: &blueprint,
                evidence: &evidence,
                kinds: &KindAt::home(&self.kinds),
                phase: Phase::Ending,
            };
            let clock = TokioClock::starting_at(Timestamp::UNIX_EPOCH);
            let driver = Driver {
                rules: &Freehold,
                cloud: &*self.inventory,
                clock: &clock,
                term: Term::alone(),
            };
            let mut store = InMemory(ledger(gone.claim.hash(), stock));
            let mut sightings = Sightings::new();
            let mut left = Vec::new();
            for _ in 0..TRIES {
                if let Err(why) = may().await {
                    return Ended::NotAll(vec![why]);
                }
                let mut nobody = NoJournal;
                let pass = driver.pass(&case, &mut store, &mut sightings, &mut nobody);
                match pass.await {
                    PassEnd::Done(_) => return Ended::All,
                    PassEnd::Wait(until, reason, _) => {
                        left = vec![reason.to_string()];
                        let wait = until - clock.now();
                        tokio::time::sleep(Duration::from_millis(wait.0)).await;
                    }
                    PassEnd::Rest(report, _) => {
                        let found: Vec<_> =
                            report.findings.iter().map(ToString::to_string).collect();
                        // What blocked may have gone in this very pass; then the next one ends it.
                        if found == left {
                            break;
                        }
                        left = found;
                    }
                    PassEnd::Failed(error, _) => return Ended::NotAll(vec![error.to_string()]),
                    PassEnd::Ledger(error) => return Ended::NotAll(vec![error.to_string()]),
                    PassEnd::NotNow(_) => {}
                }
            }
            Ended::NotAll(left)
        })
    }
}

/// What a record of the claim would say, as far as the cloud tells.
fn ledger(claim: &ClaimHash, stock: &Stock) -> Ledger {
    let mut ledger = Ledger {
        pinned: true,
        ..Ledger::default()
    };
    for item in &stock.items {
        let mark = item.marks().into_iter().find(|mark| mark.claim == *claim);
        if let Some(mark) = mark {
            let resource = &item.resource;
            let slot = Slot::own(mark.slot, resource.kind, resource.name.clone());
            let mut known = Known::new(&slot, Origin::Created, resource);
            known.wrote = Some(item.parts_of(claim));
            ledger.known.insert(item.target(), known);
        } else {
            let traces = item.traces(claim).into_iter();
            ledger.traces.extend(traces.map(|trace| (trace, 1)));
        }
    }
    ledger
}

impl<C: Survey> Plot<C> {
    async fn of_kind(
        &self,
        kind: &'static Kind,
        is_asked_for: &(dyn Fn(&Resource) -> bool + Sync),
    ) -> Result<Vec<Item>, CloudError> {
        let answer = self.inventory.cloud().survey(kind).await?;
        let mut items = Vec::new();
        for listed in answer.resources {
            let mut resource = listed;
            if !kind.lists_marks && is_asked_for(&resource) {
                let target = Target::new(kind, resource.id.clone());
                let read = self.inventory.read(&Query::Id(target)).await?;
                // It is gone since it was listed.
                let Some(whole) = read.resources.into_iter().next() else {
                    continue;
                };
                resource = whole;
            }
            let of = Target::new(kind, resource.id.clone());
            let inside = answer.inner.iter().filter(|told| told.of == of);
            let inside = inside.flat_map(|told| {
                let inner = kind.inner(told.inner);
                let parts = told.parts.iter().cloned();
                parts.filter_map(move |part| Some((inner?, part)))
            });
            items.push(Item {
                inside: inside.collect(),
                resource,
            });
        }
        Ok(items)
    }
}
