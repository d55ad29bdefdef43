//! The decision function: one claim, one question, one answer.
//!
//! # Expected flow
//! 1. Start a pass with an empty [`View`].
//! 2. Ask [`decide`]. Carry out what it says: a [`Decision::Look`] is a read, a [`Decision::Write`]
//!    a ledger write with a resourceVersion, a [`Decision::Do`] one side effect.
//! 3. Put what came of it into the view and ask again, until it says wait, rest or done.
//!
//! # Guarantees
//! - Level-triggered: the answer depends on what is, not on what was asked before. Sightings only
//!   delay.
//! - Idempotent: the same question has the same answer.
//! - A Step that deletes or changes something carries the fresh proof that it is ours.
//!
//! # Caveats
//! One Step at a time. A slot that cannot go on does not stop slots that do not depend on it.

mod create;
mod ending;
mod inner;
mod live;
mod locate;
mod traces;
mod twins;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::blueprint::{Blueprint, Slot, SlotName};
use crate::error::{Class, CloudError};
use crate::finding::{Finding, Reason};
use crate::kind::{BirthProof, Kind};
use crate::ledger::{Edit, Ledger};
use crate::part::Resource;
use crate::query::{Query, Target};
use crate::rules::Rules;
use crate::sight::{Sight, Sightings};
use crate::step::Step;
use crate::text::ResourceId;
use crate::time::Tick;
use crate::verdict::{self, Identity, Owned, ReadStamp, Verdict};
use crate::view::{Look, Refusal, View};

/// Everything about one claim that does not change during a pass, but for the ledger.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Who asks.
    pub identity: &'a Identity,
    /// What is wanted.
    pub blueprint: &'a Blueprint,
    /// What the object says that the marks do not.
    pub evidence: &'a Evidence,
    /// The Kinds that claims of this API may own: deletion looks for all of them, whatever the
    /// blueprint says today.
    pub kinds: &'a [&'static Kind],
    /// Whether the claim lives or ends.
    pub phase: Phase,
}

/// Whether a claim lives or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// What is wanted is made and kept.
    Live,
    /// Everything of ours is deleted.
    Ending,
    /// Everything of ours is stripped of our marks and left (`deletion: retain`).
    Retaining,
}

/// What the object says that the marks do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Slots whose recorded or same-named resource is ours although it lacks our mark: the
    /// original's finalizer says so, or `freehold adopt` was applied.
    pub adopt: BTreeSet<SlotName>,
    /// Slots whose resource an original's finalizer says is ours, if the object records it or the
    /// dialect's own mark says so besides.
    pub vouched: BTreeSet<SlotName>,
    /// Slots whose resource counts as recorded if it is a part inside the resource that is recorded
    /// for the other slot.
    pub inside: BTreeMap<SlotName, SlotName>,
    /// Slots whose same-named resource is ours if the dialect's own mark says so: the object records
    /// the resource that it is a part of.
    pub adopt_marked: BTreeSet<SlotName>,
    /// Resources that another live claim of the same cluster name uses: they keep the cluster mark.
    pub namesakes_use: BTreeSet<ResourceId>,
    /// At the end the cluster mark goes from everything that carries it in our words, whoever wrote
    /// it: the served API says that it is the claim's.
    pub sweep: bool,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Ask the cloud.
    Look(Query),
    /// Change the ledger: all edits or none, with a resourceVersion.
    Write(Vec<Edit>),
    /// Perform a side effect.
    Do(Step),
    /// Nothing before this time; end the pass and come back then.
    Wait(Tick),
    /// The claim is converged as far as it can be; the findings say how far.
    Rest,
    /// The claim has ended: nothing of it is left.
    Done,
    /// Something was refused and has been dealt with; end the pass with this.
    Halt(Halt),
}

/// Why a pass cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The cloud refused a create.
    Create(CloudError),
    /// The ledger refused to record a new resource, in these words.
    Record(String),
    /// The object is gone, and its ledger with it.
    Gone,
}

/// A decision, why it was made, and what a person should know.
#[derive(Clone, Debug)]
pub struct Decided {
    /// What is to be done.
    pub decision: Decision,
    /// Why; `None` at rest.
    pub reason: Option<Reason>,
    /// What a person should know.
    pub findings: Vec<Finding>,
    /// The slots that are filled, with what fills them and whose it is.
    pub filled: Vec<Filled>,
}

/// A filled slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// The slot.
    pub slot: SlotName,
    /// The resource.
    pub target: Target,
    /// Whose it is.
    pub verdict: Verdict,
}

/// What is to be done next for a claim, and why.
pub fn decide<R: Rules>(
    rules: &R,
    case: &Case<'_>,
    ledger: &Ledger,
    view: &View,
    sightings: &mut Sightings,
    now: Tick,
) -> Decided {
    let mut deciding = Deciding {
        rules,
        case,
        ledger,
        view,
        sightings,
        now,
        findings: Vec::new(),
        filled: Vec::new(),
        waits: None,
    };
    let (decision, reason) = match deciding.run() {
        Err(act) => (act.decision, act.reason),
        Ok(()) => match deciding.waits.take() {
            Some((until, reason)) => (Decision::Wait(until), Some(reason)),
            None => (Decision::Rest, None),
        },
    };
    Decided {
        decision,
        reason,
        findings: deciding.findings,
        filled: deciding.filled,
    }
}

/// A decision that was reached: it ends the asking, so it travels as an error does.
struct Act {
    decision: Decision,
    reason: Option<Reason>,
}

/// Either there is something to do now, or the asking goes on with `T`.
type Flow<T> = Result<T, Act>;

fn act<T>(decision: Decision, reason: Reason) -> Flow<T> {
    Err(Act {
        decision,
        reason: Some(reason),
    })
}

struct Deciding<'a, R> {
    rules: &'a R,
    case: &'a Case<'a>,
    ledger: &'a Ledger,
    view: &'a View,
    sightings: &'a mut Sightings,
    now: Tick,
    findings: Vec<Finding>,
    filled: Vec<Filled>,
    waits: Option<(Tick, Reason)>,
}

impl<'a, R: Rules> Deciding<'a, R> {
    fn run(&mut self) -> Flow<()> {
        if let Some(refusal) = self.view.refusal() {
            return self.answer_refusal(refusal);
        }
        match self.case.phase {
            Phase::Live => self.live(),
            Phase::Ending | Phase::Retaining => self.ending(),
        }
    }

    /// Deals with a refusal before the pass ends: a refused create will not come, so its intent
    /// closes; a new resource that cannot be recorded and has no mark, or whose object is gone, is
    /// taken back (law 3).
    fn answer_refusal(&self, refusal: &Refusal) -> Flow<()> {
        match refusal {
            Refusal::Create(slot, error) => {
                if self.ledger.intents.contains_key(slot) && self.never_came(slot, error) {
                    let close = Edit::CloseIntent { slot: slot.clone() };
                    return act(Decision::Write(vec![close]), Reason::Refused(slot.clone()));
                }
                act(
                    Decision::Halt(Halt::Create(error.clone())),
                    Reason::Refused(slot.clone()),
                )
            }
            Refusal::Record(slot, _) | Refusal::Gone(slot) => {
                let gone = matches!(refusal, Refusal::Gone(_));
                let born = self
                    .view
                    .created(slot)
                    .filter(|target| !self.view.deleted(target))
                    .filter(|target| self.view.blocked(target).is_none());
                let kind = self.case.blueprint.slot(slot).map(|slot| slot.kind);
                if let (Some(target), Some(kind)) = (born, kind)
                    && self.rules.rolls_back(kind, gone)
                    && let Some(seen) = self.view.seen(target)
                    && let Some(step) =
                        Step::delete(Owned::created_here(target.clone(), seen.read.at), self.now)
                {
                    return act(Decision::Do(step), Reason::RollBack(slot.clone()));
                }
                if !gone
                    && self
                        .view
                        .created(slot)
                        .is_some_and(|target| self.view.deleted(target))
                    && self.ledger.intents.contains_key(slot)
                {
                    let close = Edit::CloseIntent { slot: slot.clone() };
                    return act(Decision::Write(vec![close]), Reason::RollBack(slot.clone()));
                }
                let halt = match refusal {
                    Refusal::Record(_, words) => Halt::Record(words.clone()),
                    _ => Halt::Gone,
                };
                act(Decision::Halt(halt), Reason::RollBack(slot.clone()))
            }
        }
    }

    /// Whether a refusal means that nothing will come of an intent. That of the first call does, and
    /// that of a repetition after the earlier ones' time, if they would show by then. That of a
    /// repetition at once, under its client token, says nothing about the first call. What has only
    /// its token for a birth proof does not show: but if the name is taken, and the token did not
    /// return what has it, then that is not ours.
    fn never_came(&self, slot: &SlotName, error: &CloudError) -> bool {
        let Some(intent) = self.ledger.intents.get(slot) else {
            return false;
        };
        let Some(kind) = self.kind_of(intent.kind) else {
            return false;
        };
        let at_once = kind.token.is_some() && intent.sends == 2;
        let would_show = kind.birth != BirthProof::Token || error.class == Class::Exists;
        intent.sends == 1 || (would_show && !at_once)
    }

    /// The newest answer to a query of this pass; asks it if there is none.
    fn look(&self, query: Query, reason: impl FnOnce() -> Reason) -> Flow<&'a Look> {
        match self.view.look(&query) {
            Some(look) => Ok(look),
            None => act(Decision::Look(query), reason()),
        }
    }

    /// A resource as this pass has seen it; asks for it if it has not been met.
    fn see(
        &mut self,
        target: &Target,
        reason: impl FnOnce() -> Reason,
    ) -> Flow<Option<(Arc<Resource>, ReadStamp)>> {
        let Some(seen) = self.view.seen(target) else {
            return act(Decision::Look(Query::Id(target.clone())), reason());
        };
        let Some(resource) = &seen.resource else {
            return Ok(None);
        };
        self.sightings.clear(&Sight::Missing(target.clone()));
        Ok(Some((resource.clone(), seen.read)))
    }

    /// Makes sure that a Step may rest on what is known of a resource (law 1); reads it again if not.
    fn refresh(&self, target: &Target) -> Flow<()> {
        let fresh = self.view.seen(target).is_some_and(|seen| {
            seen.read.fresh && self.now - seen.read.at <= self.rules.fresh_for()
        });
        if fresh {
            return Ok(());
        }
        act(
            Decision::Look(Query::Id(target.clone())),
            Reason::Refresh(target.clone()),
        )
    }

    fn judge(&self, kind: &Kind, resource: &Resource, read: ReadStamp) -> Verdict {
        verdict::judge(self.rules, self.case.identity, kind, resource, read)
    }

    /// Whether something has been so for long enough; if not, notes when to come back.
    fn settled(&mut self, sight: Sight, until: impl FnOnce(&R, Tick) -> Tick, why: Reason) -> bool {
        let since = self.sightings.since(sight, self.now);
        let until = until(self.rules, since);
        // What this pass has read must be younger than that, not only this moment.
        if self.view.began().unwrap_or(self.now) >= until {
            return true;
        }
        let until = until.max(self.now);
        self.wait(until, why);
        false
    }

    /// Whether something that is not there has been gone for long enough to be believed.
    fn gone_for_good(&mut self, kind: &Kind, target: &Target) -> bool {
        self.settled(
            Sight::Missing(target.clone()),
            |rules, since| rules.settled_at(kind, since),
            Reason::AwaitSettling(target.id.clone()),
        )
    }

    /// Whether another management cluster holds what is ours: then that is reported.
    fn is_held(&mut self, slot: &SlotName, owned: &Owned) -> bool {
        let Some(holder) = owned.held_by() else {
            return false;
        };
        self.findings.push(Finding::Held {
            slot: slot.clone(),
            target: owned.target().clone(),
            holder: holder.clone(),
        });
        true
    }

    fn wait(&mut self, until: Tick, why: Reason) {
        if self
            .waits
            .as_ref()
            .is_none_or(|(earlier, _)| until < *earlier)
        {
            self.waits = Some((until, why));
        }
    }

    /// Whether an announcement of this pass is young enough to act on: others who have seen it wait
    /// for the effect of a call that was sent within this time, and no later one (A3).
    fn just_now(&self, announced: Option<Tick>) -> bool {
        announced.is_some_and(|at| self.now - at <= self.rules.fresh_for())
    }

    /// The id of the resource that fills a slot.
    fn id_of(&self, slot: &SlotName) -> Option<ResourceId> {
        let filled = self.filled.iter().find(|filled| filled.slot == *slot);
        filled.map(|filled| filled.target.id.clone())
    }

    /// The recorded and known ids of a slot, condemned ones left out: hints where to look.
    fn hints(&self, slot: &Slot) -> Vec<ResourceId> {
        let recorded = self.ledger.ids.get(&slot.name).into_iter();
        let known = self
            .ledger
            .known
            .iter()
            .filter(|(target, known)| known.slot == slot.name && target.kind == slot.kind.name);
        let all: BTreeSet<&ResourceId> = recorded
            .chain(known.map(|(target, _)| &target.id))
            .collect();
        all.into_iter()
            .filter(|id| {
                let target = Target::new(slot.kind.name, (*id).clone());
                !self.ledger.condemned.contains(&target)
            })
            .cloned()
            .collect()
    }
}
