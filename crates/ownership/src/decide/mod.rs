//! The decision function: one claim, one question, one answer.
//!
//! # Expected flow
//! 1. Start a pass with an empty [`View`].
//! 2. Ask [`decide`]. Carry out what it says: a [`Decision::Write`] is one ledger write with a
//!    resourceVersion, a [`Decision::Call`] are reads and side effects that are sent at once.
//! 3. Put everything that came of it into the view and ask again, until it says wait, rest or done.
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
//! A slot that cannot go on, or needs something first, does not stop slots that do not depend on it. The
//! end of a claim goes one thing at a time.

mod abandon;
mod course;
mod create;
mod ending;
mod find;
mod inner;
mod live;
mod locate;
mod refused;
mod round;
mod scout;
mod shared;
mod shrink;
mod take;
mod traces;
mod twins;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::blueprint::{Blueprint, Fills, Slot, SlotName};
use crate::claim::ClaimHash;
use crate::error::CloudError;
use crate::finding::{Finding, Reason};
use crate::kind::{Kind, Naming};
use crate::ledger::{Edit, Intent, Ledger};
use crate::mark::Unmarked;
use crate::part::{Props, Resource};
use crate::place::{KindAt, Place};
use crate::query::{Query, Target};
use crate::rules::Rules;
use crate::sight::{Sight, Sightings};
use crate::step::Step;
use crate::text::{ResourceId, Text};
use crate::time::{Millis, Tick};
use crate::verdict::{self, Identity, Owned, Owner, ReadStamp, Verdict};
use crate::view::{Look, View};
use round::{Round, Turn};

/// Everything about one claim that does not change during a pass, but for the ledger.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// Who asks.
    pub identity: &'a Identity,
    /// What is wanted.
    pub blueprint: &'a Blueprint,
    /// What the object says that the marks do not.
    pub evidence: &'a Evidence,
    /// The Kinds that the claim may own, in each of its places: deletion looks for all of them, whatever
    /// the blueprint says today.
    pub kinds: &'a [KindAt],
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
    /// Slots whose resource the object's author gave its name: without any mark it is used, in every
    /// dialect.
    pub named: BTreeSet<SlotName>,
    /// At the end the cluster mark goes from everything that carries it in our words, whoever wrote
    /// it: the served API says that it is the claim's.
    pub sweep: bool,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Change the ledger: all of this in one write with a resourceVersion, or nothing.
    Write(Vec<Entry>),
    /// Ask the cloud and perform side effects, all at once: it does not matter which gets there first.
    /// What came of each is taken in, reads before side effects, before anybody asks again.
    Call(Vec<Call>),
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

/// What one slot needs to be in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The edits.
    pub edits: Vec<Edit>,
    /// Why.
    pub reason: Reason,
}

/// A call that one slot needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What is sent.
    pub op: Op,
    /// Why.
    pub reason: Reason,
    /// Whose turn it is.
    pub slot: Option<SlotName>,
}

/// What is sent to a cloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Ask for the state of the cloud.
    Read(Query),
    /// Perform a side effect.
    Perform(Step),
}

/// Why a pass cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// A call failed, and what came of the others has been recorded.
    Failed(CloudError),
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
    /// Why; of what is done at once, why the first is.
    pub reason: Reason,
    /// What a person should know.
    pub findings: Vec<Finding>,
    /// The slots that are filled, with what fills them and whose it is.
    pub filled: Vec<Filled>,
    /// What others have put into resources of ours.
    pub guests: Vec<Guest>,
}

/// A part inside a resource of ours that somebody else put there, or needs too: shown and left.
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
    /// The other claim whose mark is on it; without one nobody knows whose it is.
    pub by: Option<ClaimHash>,
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
    /// What it is called.
    pub name: Text,
    /// Whom its marks name where it is only used.
    pub owner: Option<Owner>,
}

/// What is to be done next for a claim, and why.
pub fn decide(
    rules: &dyn Rules,
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
        round: Round::default(),
        findings: Vec::new(),
        filled: Vec::new(),
        guests: Vec::new(),
        unwanted: Vec::new(),
        unfinished: Vec::new(),
        waits: None,
        books: None,
    };
    let (decision, reason) = match deciding.run() {
        Err(stop) => deciding.stopped(stop),
        Ok(()) => match (deciding.waits.take(), deciding.books.take()) {
            (Some((until, reason)), _) => (Decision::Wait(until), reason),
            (None, Some((until, reason))) => (Decision::Rest(Some(until)), reason),
            (None, None) => (Decision::Rest(None), Reason::AtRest),
        },
    };
    Decided {
        decision,
        reason,
        findings: deciding.findings,
        filled: deciding.filled,
        guests: deciding.guests,
    }
}

/// What is needed before the asking can go on.
enum Need {
    /// An answer of the cloud.
    Look(Query),
    /// Something in the ledger.
    Write(Vec<Edit>),
    /// A side effect.
    Do(Step),
    /// The end of a slot's turn.
    EndTurn(SlotName, CloudError),
    /// The end of the pass.
    Halt(Halt),
    /// The end of the claim.
    Done,
}

/// Something that is needed, and why.
struct Act {
    need: Need,
    reason: Reason,
}

/// Why the asking stops: it travels as an error does.
enum Stop {
    /// This is needed first.
    Act(Box<Act>),
    /// Everybody was asked, and some need something.
    Round,
}

/// Either something is needed first, or the asking goes on with `T`.
type Flow<T> = Result<T, Stop>;

fn act<T>(need: Need, reason: Reason) -> Flow<T> {
    Err(Stop::Act(Box::new(Act { need, reason })))
}

/// A resource whose parts refer to slots that were not filled yet when it was looked at.
struct Unfinished {
    slot: SlotName,
    resource: Arc<Resource>,
    /// The proof, where it is ours; else it is only used.
    owned: Option<Owned>,
}

struct Deciding<'a> {
    rules: &'a dyn Rules,
    case: &'a Case<'a>,
    ledger: &'a Ledger,
    view: &'a View,
    sightings: &'a mut Sightings,
    now: Tick,
    /// Whose turn it is.
    slot: Option<SlotName>,
    /// What those need that were asked so far.
    round: Round,
    findings: Vec<Finding>,
    filled: Vec<Filled>,
    guests: Vec<Guest>,
    /// The slots that this claim does without: what refers to them is dropped.
    unwanted: Vec<SlotName>,
    /// Resources whose parts refer to slots that come after them.
    unfinished: Vec<Unfinished>,
    /// What the claim waits for, and until when.
    waits: Option<(Tick, Reason)>,
    /// When something in the ledger can be closed: nobody waits for that.
    books: Option<(Tick, Reason)>,
}

impl<'a> Deciding<'a> {
    /// Asks everybody. A pass that cannot go on only finishes what it has begun.
    fn run(&mut self) -> Flow<()> {
        let asked = self.ask();
        if self.view.winds_up() {
            return self.wind_up(asked);
        }
        asked
    }

    /// The decision, where the asking has stopped.
    fn stopped(&mut self, stop: Stop) -> (Decision, Reason) {
        if let Stop::Act(act) = stop {
            self.round.add(self.slot.clone(), *act);
        }
        let turns = self.round.take();
        let (mut entries, mut calls, mut end) = (Vec::new(), Vec::new(), None);
        for Turn { slot, act } in self.apart(turns) {
            let Act { need, reason } = act;
            match need {
                Need::Write(edits) => {
                    let entry = Entry { edits, reason };
                    if !self.clashes(&entries, &entry) {
                        entries.push(entry);
                    }
                }
                Need::Look(query) => {
                    let op = Op::Read(query);
                    if calls.iter().all(|call: &Call| call.op != op) {
                        calls.push(Call { op, reason, slot });
                    }
                }
                Need::Do(step) => {
                    if !self.meets(&calls, &step) {
                        let op = Op::Perform(step);
                        calls.push(Call { op, reason, slot });
                    }
                }
                Need::EndTurn(slot, error) => {
                    end.get_or_insert((Decision::EndTurn(slot, error), reason));
                }
                Need::Halt(halt) => {
                    end.get_or_insert((Decision::Halt(halt), reason));
                }
                Need::Done => {
                    end.get_or_insert((Decision::Done, reason));
                }
            }
        }
        // The ledger first: what was made is recorded at once, and what is announced is sent at once.
        if !entries.is_empty() {
            let entries = self.alone(entries);
            let reason = entries[0].reason.clone();
            return (Decision::Write(entries), reason);
        }
        if let Some(end) = end {
            return end;
        }
        let reason = calls.first().map(|call| call.reason.clone());
        (Decision::Call(calls), reason.unwrap_or(Reason::AtRest))
    }

    fn ask(&mut self) -> Flow<()> {
        match self.case.phase {
            Phase::Live => self.live(),
            Phase::Ending | Phase::Retaining => {
                self.answer_refused_creates();
                self.together()?;
                self.ending()
            }
        }
    }

    /// The newest answer to a query of this pass; asks it if there is none.
    fn look(&self, query: Query, reason: impl FnOnce() -> Reason) -> Flow<&'a Look> {
        match self.view.look(&query) {
            Some(look) => Ok(look),
            None => act(Need::Look(query), reason()),
        }
    }

    /// A resource as this pass has seen it; asks for it if it has not been met.
    fn see(
        &mut self,
        target: &Target,
        reason: impl FnOnce() -> Reason,
    ) -> Flow<Option<(Arc<Resource>, ReadStamp)>> {
        let Some(seen) = self.view.seen(target) else {
            return act(Need::Look(Query::Id(target.clone())), reason());
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
        read_again(target)
    }

    fn judge(&self, kind: &Kind, resource: &Resource, read: ReadStamp) -> Verdict {
        verdict::judge(self.rules, self.case.identity, kind, resource, read)
    }

    /// Whether something has been so for long enough; if not, notes when to come back.
    fn settled(
        &mut self,
        sight: Sight,
        until: impl FnOnce(&dyn Rules, Tick) -> Tick,
        why: Reason,
    ) -> bool {
        let due = self.due(sight, until);
        if let Some(at) = due {
            self.wait(at, why);
        }
        due.is_none()
    }

    /// When something will have been so for long enough; `None` if it has.
    fn due(&mut self, sight: Sight, until: impl FnOnce(&dyn Rules, Tick) -> Tick) -> Option<Tick> {
        let since = self.sightings.since(sight, self.now);
        let until = until(self.rules, since);
        // What this pass has read must be younger than that, not only this moment.
        let over = self.view.began().unwrap_or(self.now) >= until;
        (!over).then(|| until.max(self.now))
    }

    /// Whether something that is not there has been gone for long enough to be believed.
    fn gone_for_good(&mut self, kind: &Kind, target: &Target) -> bool {
        // What is still being made may not show although it was seen to be accepted.
        let is_made = self.ledger.intents.values().any(|it| it.kind == kind);
        self.settled(
            Sight::Missing(target.clone()),
            |rules, since| {
                let hidden = if is_made {
                    rules.hidden_for(kind)
                } else {
                    Millis(0)
                };
                rules.settled_at(kind, since) + hidden
            },
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
        until: impl FnOnce(&dyn Rules, Tick) -> Tick,
        why: Reason,
    ) -> bool {
        let due = self.due(sight, until);
        if let Some(at) = due {
            self.come_back(at, why);
        }
        due.is_none()
    }

    /// The look-up by marks of everything of a Kind that is ours.
    fn marks_query(&self, kind: &'static Kind, place: &Place) -> Query {
        Query::Marks {
            kind,
            place: self.where_to_ask(place),
            keys: vec![self.case.identity.key(kind)],
        }
    }

    /// Each place is asked for what is there.
    fn where_to_ask(&self, place: &Place) -> Place {
        if self.rules.asks_each_place() {
            place.clone()
        } else {
            Place::HOME
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

    /// Whether everything is known that the parts inside a slot's resource refer to.
    fn knows_parts(&self, slot: &Slot) -> bool {
        let known = |name: &SlotName| self.id_of(name).is_some() || self.unwanted.contains(name);
        slot.inner_dependencies().all(known)
    }

    /// The recorded and known ids of a slot, condemned ones left out: hints where to look.
    fn hints(&self, slot: &Slot) -> Vec<ResourceId> {
        let recorded = self.ledger.ids.get(&slot.name).into_iter();
        let known = self
            .ledger
            .known
            .iter()
            .filter(|(target, known)| known.slot == slot.name && slot.holds(target));
        let all: BTreeSet<&ResourceId> = recorded
            .chain(known.map(|(target, _)| &target.id))
            .collect();
        all.into_iter()
            .filter(|id| {
                let target = slot.target((*id).clone());
                !self.ledger.condemned.contains(&target)
            })
            .cloned()
            .collect()
    }
}

/// Wishes refer to what fills a slot now, whatever is recorded for it (law 6).
impl Fills for Deciding<'_> {
    fn id(&self, slot: &SlotName) -> Option<Text> {
        let id = self.id_of(slot);
        if self.rules.refers_to_records() {
            let mut known = self.ledger.known.iter();
            let old = known.find(|(target, known)| {
                known.slot == *slot && id.as_ref().is_some_and(|id| *id != target.id)
            });
            if let Some((target, _)) = old {
                return Some(target.id.text());
            }
        }
        id.map(|id| id.text())
    }

    fn prop(&self, slot: &SlotName, name: &str) -> Option<Text> {
        self.filled.prop(slot, name)
    }
}

impl Fills for Vec<Filled> {
    fn id(&self, slot: &SlotName) -> Option<Text> {
        let filled = self.iter().find(|filled| filled.slot == *slot);
        filled.map(|filled| filled.target.id.text())
    }

    fn prop(&self, slot: &SlotName, name: &str) -> Option<Text> {
        let filled = self.iter().find(|filled| filled.slot == *slot);
        filled.and_then(|filled| filled.props.get(name).cloned())
    }
}

/// Reads a resource once more.
fn read_again<T>(target: &Target) -> Flow<T> {
    let why = Reason::Refresh(target.clone());
    act(Need::Look(Query::Id(target.clone())), why)
}

/// Keeps the earlier of two times.
fn note(noted: &mut Option<(Tick, Reason)>, until: Tick, why: Reason) {
    if noted.as_ref().is_none_or(|(earlier, _)| until < *earlier) {
        *noted = Some((until, why));
    }
}

/// The look-up by the name and within the parent that an announced create was sent with; `None` where
/// names are not unique.
fn intent_query(intent: &Intent) -> Option<Query> {
    let kind = intent.kind;
    let within = match kind.naming {
        Naming::Free => return None,
        Naming::Account => None,
        Naming::Within(prop) => Some((prop, intent.props.get(prop)?.clone())),
    };
    Some(Query::Name {
        kind,
        place: intent.place.clone(),
        name: intent.name.clone(),
        within,
    })
}
