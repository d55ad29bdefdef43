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
//! - Before the first Step everything is looked at: nothing is done for an object that somebody wrote
//!   wrongly, or for a claim of which another management cluster holds a part.
//!
//! # Caveats
//! One Step at a time. A slot that cannot go on does not stop slots that do not depend on it.

mod create;
mod ending;
mod inner;
mod live;
mod locate;
mod scout;
mod shared;
mod take;
mod traces;
mod twins;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::blueprint::{Blueprint, Slot, SlotName};
use crate::error::{Class, CloudError};
use crate::finding::{Finding, Reason};
use crate::kind::{BirthProof, Kind, Naming};
use crate::ledger::{Edit, Intent, Ledger};
use crate::mark::Unmarked;
use crate::part::{Props, Resource};
use crate::query::{Query, Target};
use crate::rules::Rules;
use crate::sight::{Sight, Sightings};
use crate::step::Step;
use crate::text::{ResourceId, Text};
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
    /// Slots whose recorded or same-named resource is ours although it lacks our mark: a person says
    /// so.
    pub adopt: BTreeSet<SlotName>,
    /// Slots that the original's finalizer says were the object's own: the resource is ours if the
    /// object records it besides, or the dialect's mark is on it.
    pub vouched: BTreeSet<SlotName>,
    /// Slots whose resource counts as recorded if it is a part inside the resource that is recorded
    /// for the other slot.
    pub inside: BTreeMap<SlotName, SlotName>,
    /// Slots whose same-named resource is ours if the dialect's own mark says so: the object records
    /// the resource that it is a part of.
    pub adopt_marked: BTreeSet<SlotName>,
    /// Resources that another live claim of the same cluster name uses: they keep the cluster mark.
    /// The road knows those that are kept here; one that owns something shows by its marks.
    pub namesakes_use: BTreeSet<ResourceId>,
    /// What our name without any mark means, where a person says it for this object.
    pub unmarked: Option<Unmarked>,
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
    /// The claim is converged as far as it can be; the findings say how far. What is still open in
    /// the ledger can be closed at the earliest then.
    Rest(Option<Tick>),
    /// The claim has ended: nothing of it is left.
    Done,
    /// The cloud refused something for this slot, and that has been dealt with: its turn is over, the
    /// others go on.
    EndTurn(SlotName, CloudError),
    /// The ledger refused something, and that has been dealt with: end the pass with this.
    Halt(Halt),
}

/// Why a pass cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
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
    /// Why.
    pub reason: Reason,
    /// Whose turn it is.
    pub slot: Option<SlotName>,
    /// What a person should know.
    pub findings: Vec<Finding>,
    /// The slots that are filled, with what fills them and whose it is.
    pub filled: Vec<Filled>,
    /// What others have put into resources of ours.
    pub guests: Vec<Guest>,
}

/// A part inside a resource of ours that somebody else put there: theirs, shown and left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guest {
    /// The slot.
    pub slot: SlotName,
    /// The resource.
    pub target: Target,
    /// What the part is called: "rule".
    pub noun: &'static str,
    /// The part.
    pub key: Text,
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
    /// What the cloud says of it: what a status tells comes from here.
    pub props: Props,
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
        slot: None,
        findings: Vec::new(),
        filled: Vec::new(),
        guests: Vec::new(),
        waits: None,
        books: None,
    };
    let (decision, reason) = match deciding.run() {
        Err(act) => (act.decision, act.reason),
        Ok(()) => match (deciding.waits.take(), deciding.books.take()) {
            (Some((until, reason)), _) => (Decision::Wait(until), reason),
            (None, Some((until, reason))) => (Decision::Rest(Some(until)), reason),
            (None, None) => (Decision::Rest(None), Reason::AtRest),
        },
    };
    Decided {
        decision,
        reason,
        slot: deciding.slot,
        findings: deciding.findings,
        filled: deciding.filled,
        guests: deciding.guests,
    }
}

/// A decision that was reached: it ends the asking, so it travels as an error does.
struct Act {
    decision: Decision,
    reason: Reason,
}

/// Either there is something to do now, or the asking goes on with `T`.
type Flow<T> = Result<T, Act>;

fn act<T>(decision: Decision, reason: Reason) -> Flow<T> {
    Err(Act { decision, reason })
}

struct Deciding<'a, R> {
    rules: &'a R,
    case: &'a Case<'a>,
    ledger: &'a Ledger,
    view: &'a View,
    sightings: &'a mut Sightings,
    now: Tick,
    slot: Option<SlotName>,
    findings: Vec<Finding>,
    filled: Vec<Filled>,
    guests: Vec<Guest>,
    /// What the claim waits for, and until when.
    waits: Option<(Tick, Reason)>,
    /// When something in the ledger can be closed: nobody waits for that.
    books: Option<(Tick, Reason)>,
}

impl<'a, R: Rules> Deciding<'a, R> {
    fn run(&mut self) -> Flow<()> {
        if let Some(refusal) = self.view.refusal() {
            self.answer_refusal(refusal)?;
        }
        match self.case.phase {
            Phase::Live => self.live(),
            Phase::Ending | Phase::Retaining => self.ending(),
        }
    }

    /// Deals with a refusal before anything else: a refused create will not come, so its intent
    /// closes; a new resource that cannot be recorded and has no mark, or whose object is gone, is
    /// taken back (law 3).
    fn answer_refusal(&self, refusal: &Refusal) -> Flow<()> {
        match refusal {
            Refusal::Create(slot, error, answered) => {
                if error.class == Class::Exists {
                    self.look_for_what_exists(slot, *answered)?;
                    if self.exists(slot) == Some(Exists::Ours) {
                        return Ok(());
                    }
                }
                if self.ledger.intents.contains_key(slot) && self.never_came(slot, error) {
                    let close = Edit::CloseIntent { slot: slot.clone() };
                    return act(Decision::Write(vec![close]), Reason::Refused(slot.clone()));
                }
                act(
                    Decision::EndTurn(slot.clone(), error.clone()),
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
                    && seen.resource.is_some()
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

    /// Before an intent closes because its name is taken, whoever has the name is looked up by the
    /// parameters that were sent, and ours by marks: an earlier call may have made it (law 2).
    fn look_for_what_exists(&self, slot: &SlotName, answered: usize) -> Flow<()> {
        let intent = self.ledger.intents.get(slot);
        let (Some(intent), true) = (intent, self.rules.looks_at_what_exists()) else {
            return Ok(());
        };
        let kind = intent.kind;
        for query in [intent_query(kind, intent), Some(self.marks_query(kind))] {
            if let Some(query) = query
                && self.view.look_after(&query, answered).is_none()
            {
                return act(
                    Decision::Look(query),
                    Reason::FindByName(intent.name.clone()),
                );
            }
        }
        Ok(())
    }

    /// What the repetition of an announced create was refused for, where that can matter.
    fn exists(&self, slot: &SlotName) -> Option<Exists> {
        let intent = self.ledger.intents.get(slot)?;
        let kind = intent.kind;
        let told_by_token = kind.birth == BirthProof::Token;
        if intent.sends == 1 || told_by_token || !self.rules.looks_at_what_exists() {
            return None;
        }
        let mut exists = Exists::Hidden;
        for (resource, read) in self.view.of_kind(kind) {
            if let Verdict::Owned(owned) = self.judge(kind, resource, read)
                && owned.mark().is_some_and(|mark| mark.slot == *slot)
            {
                return Some(Exists::Ours);
            }
            if intent_query(kind, intent).is_some_and(|query| query.means(resource)) {
                exists = Exists::Anothers;
            }
        }
        Some(exists)
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
        let kind = intent.kind;
        let at_once = kind.token.is_some() && intent.sends == 2;
        let would_show = kind.birth != BirthProof::Token || error.class == Class::Exists;
        // What has the name may be its own, and hidden from a read that is old.
        if error.class == Class::Exists && self.exists(slot) == Some(Exists::Hidden) {
            return false;
        }
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
        if !self.is_another(target, resource) {
            self.sightings.clear(&Sight::Missing(target.clone()));
        }
        Ok(Some((resource.clone(), seen.read)))
    }

    /// Whether this is known to be another resource than the one that was recorded under this id,
    /// which is only a name (law 6).
    fn is_another(&self, target: &Target, resource: &Resource) -> bool {
        let known = self.ledger.known.get(target);
        let recorded = known.filter(|known| known.unique.is_some());
        self.rules.names_prove_nothing()
            && recorded.is_some_and(|known| !known.is(target.kind, resource))
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
        let due = self.due(sight, until);
        if let Some(at) = due {
            self.wait(at, why);
        }
        due.is_none()
    }

    /// When something will have been so for long enough; `None` if it has.
    fn due(&mut self, sight: Sight, until: impl FnOnce(&R, Tick) -> Tick) -> Option<Tick> {
        let since = self.sightings.since(sight, self.now);
        let until = until(self.rules, since);
        // What this pass has read must be younger than that, not only this moment.
        let over = self.view.began().unwrap_or(self.now) >= until;
        (!over).then(|| until.max(self.now))
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
        let Some(held) = owned.held_by() else {
            return false;
        };
        self.findings.push(Finding::Held {
            slot: slot.clone(),
            target: owned.target().clone(),
            by: held.clone(),
        });
        true
    }

    fn wait(&mut self, until: Tick, why: Reason) {
        note(&mut self.waits, until, why);
    }

    /// Nobody waits for it, but the ledger can be closed then.
    fn come_back(&mut self, until: Tick, why: Reason) {
        note(&mut self.books, until, why);
    }

    /// Whether something has been so for long enough that the ledger can be closed; if not, notes when
    /// to come back for that.
    fn closable(
        &mut self,
        sight: Sight,
        until: impl FnOnce(&R, Tick) -> Tick,
        why: Reason,
    ) -> bool {
        let due = self.due(sight, until);
        if let Some(at) = due {
            self.come_back(at, why);
        }
        due.is_none()
    }

    /// The look-up by marks of everything of a Kind that is ours.
    fn marks_query(&self, kind: &'static Kind) -> Query {
        Query::Marks {
            kind,
            keys: vec![self.case.identity.key(kind)],
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
            .filter(|(target, known)| known.slot == slot.name && target.kind == slot.kind);
        let all: BTreeSet<&ResourceId> = recorded
            .chain(known.map(|(target, _)| &target.id))
            .collect();
        all.into_iter()
            .filter(|id| {
                let target = Target::new(slot.kind, (*id).clone());
                !self.ledger.condemned.contains(&target)
            })
            .cloned()
            .collect()
    }
}

/// What a create was refused for because its name is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exists {
    /// What an earlier call made.
    Ours,
    /// Somebody else's.
    Anothers,
    /// Nothing shows: a read is old.
    Hidden,
}

/// Keeps the earlier of two times.
fn note(noted: &mut Option<(Tick, Reason)>, until: Tick, why: Reason) {
    if noted.as_ref().is_none_or(|(earlier, _)| until < *earlier) {
        *noted = Some((until, why));
    }
}

/// The look-up by the name and within the parent that an announced create was sent with; `None` where
/// names are not unique.
fn intent_query(kind: &'static Kind, intent: &Intent) -> Option<Query> {
    let within = match kind.naming {
        Naming::Free => return None,
        Naming::Account => None,
        Naming::Within(prop) => Some((prop, intent.props.get(prop)?.clone())),
    };
    Some(Query::Name {
        kind,
        name: intent.name.clone(),
        within,
    })
}
