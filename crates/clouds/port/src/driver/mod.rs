//! The driver: carries out what the engine decides, round by round.
//!
//! It is thin on purpose. It decides nothing about ownership; it reads, writes, performs, and tells
//! the engine what came of it.

mod calls;
mod glance;
mod plan;

use std::future::{Future, ready};

use futures_util::future::join_all;
use ownership::decide::{Call, Decided, Entry, Filled, Guest, Halt, Op};
use ownership::error::Class;
use ownership::time::{Millis, Tick};
use ownership::view::Refusal;
use ownership::{
    Case, CloudError, Decision, Edit, Finding, Ledger, Reason, Rules, Sightings, SlotName, Step,
    Target, View, decide,
};

use calls::{Outcome, is_delicate};
pub use glance::{Glance, Rested};
pub use plan::{Plan, Planned, Wait, new_id};

use crate::cloud::Cloud;

/// Where the time comes from.
pub trait Clock: Send + Sync {
    /// The process's monotonic clock.
    fn now(&self) -> Tick;
}

/// The ledger's store: one Kubernetes object.
///
/// # Guarantees that an implementation gives
/// - [`load`](LedgerStore::load) answers with the ledger and remembers its version.
/// - [`write`](LedgerStore::write) applies all edits or none, and only to the version that was last
///   loaded or written. When it returns `Ok` they are acknowledged, and the version is the new one.
pub trait LedgerStore: Send {
    /// Reads the ledger.
    fn load(&mut self) -> impl Future<Output = Result<Ledger, LedgerError>> + Send;

    /// Writes edits.
    fn write(&mut self, edits: &[Edit]) -> impl Future<Output = Result<(), LedgerError>> + Send;
}

/// Why the ledger could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// Somebody else wrote in between: the pass ends.
    #[error("the object was changed by somebody else")]
    Conflict,
    /// It may or may not have been written.
    #[error("no answer from the API server: {0}")]
    Unknown(String),
    /// It was certainly not written.
    #[error("the API server refused: {0}")]
    Refused(String),
    /// The object is not there any more, and its ledger with it; one of its name is another.
    #[error("the object is gone")]
    Gone,
}

/// A ledger that is only kept in memory.
#[derive(Clone, Debug, Default)]
pub struct InMemory(pub Ledger);

impl LedgerStore for InMemory {
    fn load(&mut self) -> impl Future<Output = Result<Ledger, LedgerError>> + Send {
        ready(Ok(self.0.clone()))
    }

    fn write(&mut self, edits: &[Edit]) -> impl Future<Output = Result<(), LedgerError>> + Send {
        for edit in edits {
            self.0.apply(edit);
        }
        ready(Ok(()))
    }
}

/// Takes note of what is done and why: events, history, a terminal.
pub trait Journal: Send {
    /// A Step was performed, or failed.
    fn step(&mut self, step: &Step, reason: &Reason, outcome: Result<(), &CloudError>);

    /// A resource that was there already was found for a slot, and its id recorded.
    fn found(&mut self, _slot: &SlotName, _target: &Target) {}
}

/// A journal that nobody reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn step(&mut self, _: &Step, _: &Reason, _: Result<(), &CloudError>) {}
}

/// For how long this process may act for its claims (assumption A3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// When it began to lead; `None` if no call of an earlier leader can be under way.
    pub began: Option<Tick>,
    /// When its Lease runs out, unless renewed; `None` without one.
    pub ends: Option<Tick>,
}

impl Term {
    /// The only process there is.
    pub const fn alone() -> Self {
        Self {
            began: None,
            ends: None,
        }
    }

    /// Whether a call that cannot be repeated safely may be sent: an earlier leader's calls have
    /// taken effect, and this one will before the Lease runs out. `timeout` is T.
    pub fn may_send(&self, now: Tick, timeout: Millis) -> bool {
        self.shut_until(now, timeout).is_none()
    }

    /// By when the last call must be sent that takes effect before the Lease runs out.
    fn last_call(&self, timeout: Millis) -> Tick {
        self.ends.map_or(Tick(u64::MAX), |ends| {
            Tick(ends.0.saturating_sub(timeout.0))
        })
    }

    /// Until when no such call may be sent, if none may now: the earlier leader's last call has
    /// taken effect, or the Lease has been renewed or has run out.
    fn shut_until(&self, now: Tick, timeout: Millis) -> Option<Tick> {
        let opens = self.began.map(|began| began + timeout);
        let last = self.ends.filter(|ends| now + timeout > *ends);
        opens.filter(|opens| now < *opens).or(last)
    }
}

/// How a pass ended.
#[derive(Clone, Debug)]
pub enum PassEnd {
    /// Converged, as far as the report says. What is still open in the ledger can be closed then.
    Rest(Report, Option<Tick>),
    /// Nothing to do before this time.
    Wait(Tick, Reason, Report),
    /// The claim has ended; what is left behind, the report says.
    Done(Report),
    /// A call failed.
    Failed(CloudError, Report),
    /// The ledger could not be read or written.
    Ledger(LedgerError),
    /// This process may not send such a call before this time.
    NotNow(Tick),
}

/// What a pass found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What a person should know.
    pub findings: Vec<Finding>,
    /// The filled slots.
    pub filled: Vec<Filled>,
    /// What others have put into resources of ours.
    pub guests: Vec<Guest>,
    /// What is coming, if nothing else is waited for.
    pub coming: Vec<Target>,
}

impl Report {
    /// Whether the other says the same, in whatever order and whenever it was read.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let filled = |one: &Filled, other: &Filled| {
            one.slot == other.slot
                && one.target == other.target
                && one.verdict.agrees_with(&other.verdict)
                && one.props == other.props
        };
        alike(&self.findings, &other.findings, PartialEq::eq)
            && alike(&self.filled, &other.filled, filled)
            && alike(&self.guests, &other.guests, PartialEq::eq)
    }
}

/// Whether two lists hold the same, in whatever order; neither holds anything twice.
fn alike<T>(one: &[T], other: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    let there = |item: &T| other.iter().any(|candidate| same(item, candidate));
    one.len() == other.len() && one.iter().all(there)
}

/// Everything that a pass works with.
pub struct Driver<'a, C, K> {
    /// The rules of the engine.
    pub rules: &'a dyn Rules,
    /// The cloud.
    pub cloud: &'a C,
    /// The clock.
    pub clock: &'a K,
    /// This process's term.
    pub term: Term,
}

/// More decisions than any pass needs: a pass that gets there is caught in a circle.
const TOO_MANY: usize = 10_000;

impl<C: Cloud, K: Clock> Driver<'_, C, K> {
    /// One pass over one claim.
    ///
    /// # Expected flow
    /// 1. Load the ledger.
    /// 2. Ask the engine, carry out its decision, tell it every outcome; again.
    /// 3. End at rest, when there is something to wait for, or when a call has failed and what came of
    ///    the others is recorded: the next pass begins with fresh reads.
    ///
    /// # Guarantees
    /// Dropping the future at any point is a crash, and no worse than one.
    pub async fn pass<L: LedgerStore>(
        &self,
        case: &Case<'_>,
        store: &mut L,
        sightings: &mut Sightings,
        journal: &mut impl Journal,
    ) -> PassEnd {
        let mut ledger = Ledger::default();
        self.pass_with(case, store, sightings, journal, &mut ledger)
            .await
    }

    /// The same, and what the ledger is at its end.
    async fn pass_with<L: LedgerStore>(
        &self,
        case: &Case<'_>,
        store: &mut L,
        sightings: &mut Sightings,
        journal: &mut impl Journal,
        ledger: &mut Ledger,
    ) -> PassEnd {
        *ledger = match store.load().await {
            Ok(ledger) => ledger,
            Err(error) => return PassEnd::Ledger(error),
        };
        sightings.keep_only(ledger);
        let mut view = View::new();
        for _ in 0..TOO_MANY {
            let now = self.clock.now();
            let Decided {
                decision,
                reason,
                findings,
                filled,
                guests,
                coming,
            } = decide(self.rules, case, ledger, &view, sightings, now);
            let report = Report {
                findings,
                filled,
                guests,
                coming,
            };
            match decision {
                Decision::Write(mut entries) => {
                    // A create is announced when it may be sent: an announcement that finds no answer
                    // holds its slot for the settling time.
                    if let Some(until) = self.shut_until(now) {
                        let announces =
                            |entry: &Entry| entry.edits.iter().any(|edit| announces(case, edit));
                        entries.retain(|entry| !announces(entry));
                        if entries.is_empty() {
                            return PassEnd::NotNow(until);
                        }
                    }
                    let edits = entries.iter().flat_map(|entry| &entry.edits);
                    let edits: Vec<Edit> = edits.cloned().collect();
                    if let Err(error) = store.write(&edits).await {
                        let one_of_several = entries.len() > 1;
                        if one_of_several && matches!(error, LedgerError::Refused(_)) {
                            view.write_singly();
                        } else if !refused_records(&mut view, &error, &edits) {
                            return PassEnd::Ledger(error);
                        }
                        continue;
                    }
                    for Entry { edits, reason } in &entries {
                        note_found(journal, ledger, edits, reason);
                    }
                    for edit in &edits {
                        ledger.apply(edit);
                    }
                    sightings.keep_only(ledger);
                    if edits.contains(&Edit::Finish) {
                        return PassEnd::Done(report);
                    }
                    for Entry { edits, reason } in &entries {
                        view.wrote(edits, now, reason);
                    }
                }
                Decision::Call(calls) => {
                    if let Err(until) = self.call(calls, &mut view, now, journal).await {
                        return PassEnd::NotNow(until);
                    }
                }
                Decision::EndTurn(slot, error) => view.end_turn(slot, error),
                // What was refused is tried again, however far the others came.
                Decision::Wait(_) | Decision::Rest(_) if let Some(error) = view.first_refusal() => {
                    return self.failed(error.clone(), report);
                }
                Decision::Wait(until) => return PassEnd::Wait(until, reason, report),
                Decision::Rest(books) => return PassEnd::Rest(report, books),
                Decision::Done => return PassEnd::Done(report),
                Decision::Halt(Halt::Failed(error)) => return self.failed(error, report),
                Decision::Halt(Halt::Record(words)) => {
                    return PassEnd::Ledger(LedgerError::Refused(words));
                }
                Decision::Halt(Halt::Gone) => return PassEnd::Ledger(LedgerError::Gone),
            }
        }
        let message = "the pass does not come to an end; please report this";
        self.failed(
            CloudError::new(Class::Fatal, "EndlessPass", message),
            Report::default(),
        )
    }

    /// Sends calls at once and takes in what came of every one of them. What may not be sent now is left
    /// out.
    ///
    /// # Errors
    /// None of them may be sent before this time.
    async fn call(
        &self,
        mut calls: Vec<Call>,
        view: &mut View,
        now: Tick,
        journal: &mut impl Journal,
    ) -> Result<(), Tick> {
        if let Some(until) = self.shut_until(now) {
            calls.retain(|call| !matches!(&call.op, Op::Perform(step) if is_delicate(step)));
            if calls.is_empty() {
                return Err(until);
            }
        }
        let sent: Vec<_> = calls.iter().map(|call| self.send(call, view)).collect();
        let outcomes = join_all(sent).await;
        let mut performed = Vec::new();
        let mut any_failed = false;
        for (Call { op, reason, slot }, (outcome, at)) in calls.into_iter().zip(outcomes) {
            match (op, outcome) {
                (Op::Read(query), Outcome::Read(Ok(answer))) => view.learn(query, answer, now),
                (Op::Read(_), Outcome::Read(Err(error))) => view.fail(self.classed(error)),
                (Op::Perform(step), Outcome::Performed(outcome)) => {
                    let outcome = outcome.map_err(|error| step.withhold(error));
                    journal.step(&step, &reason, outcome.as_ref().map(|_| ()));
                    any_failed |= outcome.is_err();
                    performed.push((step, slot, outcome, at));
                }
                _ => {}
            }
        }
        // A read that was under way beside a Step may be older than its effect.
        for (step, slot, outcome, at) in performed {
            match outcome {
                Ok(_) if any_failed && !self.rules.takes_in_every_outcome() => {}
                Ok(effect) => view.performed(&step, effect, at),
                Err(error) => Self::absorb(view, step, slot, self.classed(error), at),
            }
        }
        Ok(())
    }

    fn last_call(&self) -> Tick {
        self.term.last_call(self.rules.request_timeout())
    }

    fn shut_until(&self, now: Tick) -> Option<Tick> {
        self.term.shut_until(now, self.rules.request_timeout())
    }

    fn failed(&self, error: CloudError, report: Report) -> PassEnd {
        let class = self.rules.class(&error);
        PassEnd::Failed(CloudError { class, ..error }, report)
    }
}

/// Whether this announces such a call.
fn announces(case: &Case<'_>, edit: &Edit) -> bool {
    match edit {
        Edit::OpenIntent { slot, intent } => {
            let slot = case.blueprint.slot(slot);
            intent.adopts.is_some() || slot.is_none_or(|slot| slot.kind.token.is_none())
        }
        Edit::Trace(_) | Edit::Join(_) | Edit::Leave(_) | Edit::Call { .. } => true,
        _ => false,
    }
}

/// Tells of resources that were found for slots; what is known, and only recorded again, is no news.
fn note_found(journal: &mut impl Journal, before: &Ledger, edits: &[Edit], reason: &Reason) {
    for edit in edits {
        if let (Edit::Record { slot, target, .. }, Reason::RecordFound(_)) = (edit, reason)
            && !before.known.contains_key(target)
        {
            journal.found(slot, target);
        }
    }
}

/// Takes in that the ledger does not record what slots have got. Says whether the pass can go on with that.
fn refused_records(view: &mut View, error: &LedgerError, edits: &[Edit]) -> bool {
    let refusal = |slot: SlotName| match error {
        LedgerError::Refused(words) => Some(Refusal::Record(slot, words.clone())),
        LedgerError::Gone => Some(Refusal::Gone(slot)),
        LedgerError::Conflict | LedgerError::Unknown(_) => None,
    };
    let recorded = edits.iter().filter_map(|edit| match edit {
        Edit::Record { slot, .. } => Some(slot),
        Edit::Know { known, .. } => Some(&known.slot),
        _ => None,
    });
    let new = recorded.filter(|slot| !view.is_unrecorded(slot)).cloned();
    let refusals: Vec<Refusal> = new.filter_map(refusal).collect();
    let any = !refusals.is_empty();
    for refusal in refusals {
        view.refuse(refusal);
    }
    any
}
