//! The driver: carries out what the engine decides, one thing at a time.
//!
//! It is thin on purpose. It decides nothing about ownership; it reads, writes, performs, and tells
//! the engine what came of it.

mod glance;
mod plan;

use std::future::{Future, ready};

use ownership::decide::{Decided, Filled, Guest, Halt};
use ownership::error::Class;
use ownership::time::{Millis, Tick};
use ownership::view::Refusal;
use ownership::{
    Case, CloudError, Decision, Edit, Finding, Ledger, Reason, Rules, Sightings, SlotName, Step,
    Target, View, decide,
};

pub use glance::{Glance, Rested};
pub use plan::{Plan, Planned, Wait, new_id};

use crate::cloud::{Cloud, Deadline};

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
pub struct Driver<'a, R, C, K> {
    /// The rules of the engine.
    pub rules: &'a R,
    /// The cloud.
    pub cloud: &'a C,
    /// The clock.
    pub clock: &'a K,
    /// This process's term.
    pub term: Term,
}

/// More decisions than any pass needs: a pass that gets there is caught in a circle.
const TOO_MANY: usize = 10_000;

impl<R: Rules + Sync, C: Cloud, K: Clock> Driver<'_, R, C, K> {
    /// One pass over one claim.
    ///
    /// # Expected flow
    /// 1. Load the ledger.
    /// 2. Ask the engine, carry out its decision, tell it the outcome; again.
    /// 3. End at rest, when there is something to wait for, or at the first failure: the next pass
    ///    begins with fresh reads.
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
        let mut ledger = match store.load().await {
            Ok(ledger) => ledger,
            Err(error) => return PassEnd::Ledger(error),
        };
        sightings.keep_only(&ledger);
        let mut view = View::new();
        for _ in 0..TOO_MANY {
            let now = self.clock.now();
            let Decided {
                decision,
                reason,
                slot,
                findings,
                filled,
                guests,
            } = decide(self.rules, case, &ledger, &view, sightings, now);
            let report = Report {
                findings,
                filled,
                guests,
            };
            match decision {
                Decision::Look(query) => match self.cloud.read(&query).await {
                    Ok(answer) => view.learn(query, answer, now),
                    Err(error) => return self.failed(error, report),
                },
                // A create is announced when it may be sent: an announcement that finds no answer
                // holds its slot for the settling time.
                Decision::Write(edits)
                    if let Some(until) = self.shut_until(now)
                        && edits.iter().any(|edit| announces(case, edit)) =>
                {
                    return PassEnd::NotNow(until);
                }
                Decision::Write(edits) => match store.write(&edits).await {
                    Ok(()) => {
                        for edit in &edits {
                            ledger.apply(edit);
                            if let (Edit::Record { slot, target, .. }, Reason::RecordFound(_)) =
                                (edit, &reason)
                            {
                                journal.found(slot, target);
                            }
                        }
                        sightings.keep_only(&ledger);
                        if edits.contains(&Edit::Finish) {
                            return PassEnd::Done(report);
                        }
                        view.wrote(&edits, now, &reason);
                    }
                    Err(error) => match refused_record(&error, &edits) {
                        Some(refusal) if view.refusal().is_none() => view.refuse(refusal),
                        _ => return PassEnd::Ledger(error),
                    },
                },
                Decision::Do(step) => {
                    if let Some(until) = self.shut_until(now)
                        && is_delicate(&step)
                    {
                        return PassEnd::NotNow(until);
                    }
                    let fresh = view.good_until(&step, self.rules.fresh_for());
                    // What can be repeated under its token may land after the Lease, as a repetition does.
                    let last = is_delicate(&step).then(|| self.last_call());
                    let by = Deadline::new(self.clock, last.map_or(fresh, |last| fresh.min(last)));
                    let outcome = self.cloud.perform(&step, by).await;
                    journal.step(&step, &reason, outcome.as_ref().map(|_| ()));
                    match outcome {
                        Ok(effect) => view.performed(&step, effect.born, self.clock.now()),
                        Err(error) => {
                            if let Some(error) = self.absorb(&mut view, step, slot, error) {
                                return self.failed(error, report);
                            }
                        }
                    }
                }
                Decision::EndTurn(_, error) if error.class == Class::Throttled => {
                    return self.failed(error, report);
                }
                Decision::EndTurn(slot, error) => view.end_turn(slot, error),
                // What was refused is tried again, however far the others came.
                Decision::Wait(_) | Decision::Rest(_) if let Some(error) = view.first_refusal() => {
                    return self.failed(error.clone(), report);
                }
                Decision::Wait(until) => return PassEnd::Wait(until, reason, report),
                Decision::Rest(books) => return PassEnd::Rest(report, books),
                Decision::Done => return PassEnd::Done(report),
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

    fn last_call(&self) -> Tick {
        self.term.last_call(self.rules.request_timeout())
    }

    fn shut_until(&self, now: Tick) -> Option<Tick> {
        self.term.shut_until(now, self.rules.request_timeout())
    }

    /// Takes in a failure that the pass can go on from; gives back one that it cannot. What the cloud
    /// refuses ends the turn of one slot; what it does not answer, or answers too often, ends the pass.
    fn absorb(
        &self,
        view: &mut View,
        step: Step,
        slot: Option<SlotName>,
        error: CloudError,
    ) -> Option<CloudError> {
        let class = self.rules.class(&error);
        let error = CloudError { class, ..error };
        match (step, &error.class, slot) {
            (_, Class::Unknown, _) => Some(error),
            (Step::Create(create), ..) => {
                view.refuse_create(create.slot, error);
                None
            }
            (_, Class::Throttled, _) => Some(error),
            (Step::Delete(deletion), Class::NotFound, _) => {
                view.miss(deletion.target(), self.clock.now());
                None
            }
            (Step::RemoveInner(removal), Class::NotFound, _) => {
                view.miss_parts(&removal);
                None
            }
            (Step::Delete(deletion), Class::Blocked(_), _) => {
                view.block(deletion.target().clone(), error);
                None
            }
            (_, _, Some(slot)) => {
                view.end_turn(slot, error);
                None
            }
            _ => Some(error),
        }
    }

    fn failed(&self, error: CloudError, report: Report) -> PassEnd {
        let class = self.rules.class(&error);
        PassEnd::Failed(CloudError { class, ..error }, report)
    }
}

/// Calls that must take effect in time or not at all (A3): all but those that can be repeated under a
/// client token.
fn is_delicate(step: &Step) -> bool {
    match step {
        Step::Create(create) => create.token.is_none(),
        _ => true,
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

/// What it means that edits were refused which record what a slot has got.
fn refused_record(error: &LedgerError, edits: &[Edit]) -> Option<Refusal> {
    let slot = edits.iter().find_map(|edit| match edit {
        Edit::Record { slot, .. } => Some(slot.clone()),
        Edit::Know { known, .. } => Some(known.slot.clone()),
        _ => None,
    })?;
    match error {
        LedgerError::Refused(words) => Some(Refusal::Record(slot, words.clone())),
        LedgerError::Gone => Some(Refusal::Gone(slot)),
        LedgerError::Conflict | LedgerError::Unknown(_) => None,
    }
}
