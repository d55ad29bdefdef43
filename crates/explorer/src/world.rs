//! The world of one run: the account, the object, the clock, and everything that can go wrong.

use std::collections::BTreeSet;

use cloud_port::{Effect, LedgerError};
use cloud_sim::{Account, Actor, Staleness, VirtualClock};
use ownership::error::{Class, CloudError};
use ownership::ledger::Edit;
use ownership::time::{Millis, REQUEST_TIMEOUT, Tick};
use ownership::{Answer, Ledger, Phase, Query, SlotName, Step, Target};

use crate::chooser::Chooser;
use crate::fault::{Fault, Menu};
use crate::laws::{self, Law, Violation};
use crate::scenario::Scenario;
use crate::stranger;
use crate::words;

/// The world of one run.
pub(crate) struct World {
    /// The cloud.
    pub account: Account,
    /// The clock of everybody in it.
    pub clock: VirtualClock,
    /// The Kubernetes object.
    pub object: Object,
    /// What happens at each point.
    pub chooser: Chooser,
    /// What may happen at all.
    pub allowed: Menu,
    /// Whether the process has just died: its future must be dropped.
    pub crashed: bool,
    /// Calls that take effect later.
    late: Vec<Late>,
    /// When a stranger last did something.
    stranger_at: Option<Tick>,
    /// Writes to cloud and ledger so far.
    pub writes: u32,
    /// The slots whose new resource the ledger refused to record in this pass.
    pub refused_records: BTreeSet<SlotName>,
    /// Every id that was ever condemned.
    condemned: BTreeSet<Target>,
    /// Whether a request may take effect at any time: A3 fails.
    late_without_end: bool,
    /// Kinds that hold data.
    valuable: Vec<&'static str>,
    /// Resources that a stranger stripped of our marks after we had seen them there, and when.
    pub stripped: Vec<(Target, Tick)>,
    /// How the claim will end.
    pub end_phase: Phase,
    /// Resources of ours at the beginning.
    pub creations_before: usize,
    /// Whether the pass under way was told of a resource that it created.
    pub born_in_pass: bool,
    /// What was called and what came of it, if somebody wants to know.
    pub log: Option<Vec<String>>,
    /// A law that was broken in passing, where the end does not show it.
    pub broken: Option<Violation>,
}

/// The Kubernetes object that holds the claim's ledger.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// Its ledger.
    pub ledger: Ledger,
    /// Its resourceVersion.
    pub version: u64,
    /// What it was before the last write: what a stale cache shows.
    previous: Option<Ledger>,
    /// Whether it is being deleted, and how.
    pub phase: Phase,
    /// Whether its last finalizer has gone, and the object with it.
    pub gone: bool,
    /// Whether its status accepts nothing: recorded ids are refused.
    pub status_refuses: bool,
}

/// A call that takes effect later.
struct Late {
    step: Step,
    actor: Actor,
    lands: Lands,
    /// By when, at the latest (A3).
    due: Tick,
}

/// When a late call takes effect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lands {
    /// After so many calls.
    After(u32),
    /// When the next process starts.
    AtRestart,
    /// As late as it can.
    WhenDue,
}

/// How a call comes out for the one who made it.
pub(crate) enum Call<T, E> {
    /// It is answered.
    Answer(Result<T, E>),
    /// The process dies here.
    Crash,
}

/// How long a slow answer takes: longer than anything may rest on it.
const A_MINUTE: Millis = Millis::seconds(60);

const READ_FAULTS: Menu = Menu::of(&[
    Fault::CrashBefore,
    Fault::Fail,
    Fault::Throttle,
    Fault::StaleByOne,
    Fault::StaleByTwo,
    Fault::EndNow,
    Fault::SlowAndUnmarked,
    Fault::AnsweredThenUnmarked,
    Fault::Slow,
]);
const STEP_FAULTS: Menu = Menu::of(&[
    Fault::CrashBefore,
    Fault::CrashAfter,
    Fault::Fail,
    Fault::Throttle,
    Fault::LoseCall,
    Fault::LoseAnswer,
    Fault::LateByOne,
    Fault::LateByTwo,
    Fault::LateByThree,
    Fault::LateAtRestart,
    Fault::LateToTheLast,
    Fault::Slow,
    Fault::EndNow,
    Fault::UnmarkedInFlight,
]);
const WRITE_FAULTS: Menu = Menu::of(&[
    Fault::CrashBefore,
    Fault::CrashAfter,
    Fault::LoseCall,
    Fault::LoseAnswer,
    Fault::Conflict,
    Fault::Refuse,
    Fault::EndNow,
    Fault::SlowAndUnmarked,
    Fault::Slow,
]);
const STALE: Menu = Menu::of(&[Fault::StaleByOne, Fault::StaleByTwo]);

impl World {
    /// The world at the beginning of a run of `scenario`.
    pub(crate) fn new(scenario: &Scenario, chooser: Chooser) -> Self {
        let clock = VirtualClock::at(scenario.account.clock().now());
        let mut world = Self {
            account: scenario.account.fork(clock.clone()),
            clock,
            object: Object {
                ledger: scenario.ledger.clone(),
                version: 1,
                previous: None,
                phase: Phase::Live,
                gone: false,
                status_refuses: scenario.status_refuses,
            },
            chooser,
            allowed: scenario.faults,
            crashed: false,
            late: Vec::new(),
            stranger_at: None,
            writes: 0,
            refused_records: BTreeSet::new(),
            valuable: scenario
                .kinds
                .iter()
                .filter(|k| k.valuable)
                .map(|k| k.name)
                .collect(),
            condemned: scenario.ledger.condemned.clone(),
            late_without_end: scenario.lifted.a3,
            stripped: Vec::new(),
            end_phase: scenario.end_phase(),
            creations_before: 0,
            born_in_pass: false,
            log: None,
            broken: None,
        };
        world.creations_before = laws::creations(&world);
        world
    }

    /// A read of the cloud.
    pub(crate) fn read(&mut self, query: &Query) -> Call<Answer, CloudError> {
        let mut menu = READ_FAULTS;
        if !self.may_be_stale() {
            menu = menu.without(STALE);
        }
        let fault = self.choose(menu);
        if fault == Some(Fault::SlowAndUnmarked) {
            self.slow_down();
        }
        let call = match fault {
            Some(Fault::CrashBefore) => self.crash(),
            Some(Fault::EndNow) => self.end_now(),
            Some(Fault::Fail) => Call::Answer(Err(failure())),
            Some(Fault::Throttle) => Call::Answer(Err(throttled())),
            Some(Fault::StaleByOne) => self.read_stale(query, 1),
            Some(Fault::StaleByTwo) => self.read_stale(query, 2),
            _ => Call::Answer(self.account.read(query, Staleness::Settled)),
        };
        self.note(
            || format!("{} -> {}", words::query(query), told(&call, words::answer)),
            fault,
        );
        match fault {
            Some(Fault::Slow) => self.pass_time(A_MINUTE),
            Some(Fault::AnsweredThenUnmarked) => self.slow_down(),
            _ => {}
        }
        self.land();
        call
    }

    /// Writes down what happened.
    fn note(&mut self, what: impl FnOnce() -> String, fault: Option<Fault>) {
        if let Some(log) = &mut self.log {
            let point = self.chooser.points() - 1;
            let fault = fault.map_or(String::new(), |fault| format!(" [{}]", fault.word()));
            log.push(format!("{point:>3}{fault} {}", what()));
        }
    }

    /// A stale read; one that shows what a fresh one would is no fault and does not count.
    fn read_stale(&mut self, query: &Query, writes: u8) -> Call<Answer, CloudError> {
        let fresh = self.account.read(query, Staleness::Settled);
        let stale = self.account.read(query, Staleness::Before(writes));
        if same(&fresh, &stale) {
            self.chooser.fired.pop();
        }
        Call::Answer(stale)
    }

    /// A side effect.
    pub(crate) fn perform(&mut self, actor: Actor, step: &Step) -> Call<Effect, CloudError> {
        self.writes += 1;
        if let (Step::Delete(deletion), Phase::Retaining) = (step, self.object.phase) {
            let what = format!("{} was to be retained and is deleted", deletion.target());
            self.broken.get_or_insert(Violation {
                law: Law::NoTheft,
                what,
            });
        }
        if let (Step::Delete(deletion), Phase::Live) = (step, self.object.phase)
            && deletion.owned().mark().is_some()
            && !self.condemned.contains(deletion.target())
        {
            let what = format!(
                "{} is deleted as a twin, but not condemned",
                deletion.target()
            );
            self.broken.get_or_insert(Violation {
                law: Law::NoTwins,
                what,
            });
        }
        let fault = self.choose(STEP_FAULTS);
        let due = self.clock.now() + REQUEST_TIMEOUT;
        let late = |lands| Late {
            step: step.clone(),
            actor,
            lands,
            due,
        };
        if fault == Some(Fault::UnmarkedInFlight) {
            stranger::strip_all(self);
            self.stranger_at = Some(self.clock.now());
        }
        let call = match fault {
            Some(Fault::CrashBefore) => self.crash(),
            Some(Fault::EndNow) => self.end_now(),
            Some(Fault::Fail) => Call::Answer(Err(failure())),
            Some(Fault::Throttle) => Call::Answer(Err(throttled())),
            Some(Fault::LoseCall) => Call::Answer(Err(lost())),
            Some(Fault::LoseAnswer) => {
                let _ = self.take_effect(actor, step);
                Call::Answer(Err(lost()))
            }
            Some(Fault::CrashAfter) => {
                let _ = self.take_effect(actor, step);
                self.crash()
            }
            Some(Fault::LateAtRestart) => {
                self.late.push(late(Lands::AtRestart));
                self.crash()
            }
            Some(fault @ (Fault::LateByOne | Fault::LateByTwo | Fault::LateByThree)) => {
                // One more than the fault says: the call itself counts when effects land below.
                let calls = 2 + fault as u32 - Fault::LateByOne as u32;
                self.late.push(late(Lands::After(calls)));
                Call::Answer(Err(lost()))
            }
            Some(Fault::LateToTheLast) => {
                self.late.push(late(Lands::WhenDue));
                Call::Answer(Err(lost()))
            }
            _ => {
                let effect = self.take_effect(actor, step);
                self.born_in_pass |= effect.as_ref().is_ok_and(|effect| effect.born.is_some());
                Call::Answer(effect)
            }
        };
        self.note(
            || format!("{} -> {}", words::step(step), told(&call, words::effect)),
            fault,
        );
        if fault == Some(Fault::Slow) {
            self.pass_time(A_MINUTE);
        }
        self.land();
        call
    }

    /// The effect itself. Twins are reduced to one, never to none (law 2).
    fn take_effect(&mut self, actor: Actor, step: &Step) -> Result<Effect, CloudError> {
        let effect = self.account.perform(actor, step);
        if let (Step::Delete(deletion), Phase::Live, true) =
            (step, self.object.phase, effect.is_ok())
        {
            let slot = deletion.owned().mark().map(|mark| &mark.slot);
            if self.valuable.contains(&deletion.target().kind) && slot.is_some() {
                let what = format!("{} holds data and was deleted as a twin", deletion.target());
                self.broken.get_or_insert(Violation {
                    law: Law::NoTwins,
                    what,
                });
            }
            let disturbed = self
                .chooser
                .fired
                .iter()
                .any(|choice| choice.fault.is_strangers());
            if laws::emptied(self, slot) && !disturbed {
                let what = format!("{} was the last one of its slot", deletion.target());
                self.broken.get_or_insert(Violation {
                    law: Law::NoTwins,
                    what,
                });
            }
        }
        effect
    }

    /// A load of the object; a stale cache shows the version before the last write.
    pub(crate) fn load(&mut self) -> Call<(Ledger, u64), LedgerError> {
        self.born_in_pass = false;
        if self.object.gone {
            return Call::Answer(Err(LedgerError::Conflict));
        }
        let stale = self.object.previous.is_some() && self.may_be_stale();
        let menu = if stale {
            Menu::of(&[Fault::StaleByOne])
        } else {
            Menu::default()
        };
        let fault = self.choose(menu);
        self.note(|| "load the ledger".to_owned(), fault);
        match (fault, &self.object.previous) {
            (Some(_), Some(previous)) => {
                Call::Answer(Ok((previous.clone(), self.object.version - 1)))
            }
            _ => Call::Answer(Ok((self.object.ledger.clone(), self.object.version))),
        }
    }

    /// A write of the object, on top of `version`.
    pub(crate) fn write(&mut self, edits: &[Edit], version: u64) -> Call<u64, LedgerError> {
        self.writes += 1;
        let lost = || LedgerError::Unknown("the connection was cut".into());
        let fault = self.choose(WRITE_FAULTS);
        if fault == Some(Fault::SlowAndUnmarked) {
            self.slow_down();
        }
        self.note(|| words::edits(edits), fault);
        match fault {
            Some(Fault::CrashBefore) => self.crash(),
            Some(Fault::EndNow) => self.end_now(),
            Some(Fault::LoseCall) => Call::Answer(Err(lost())),
            Some(Fault::LoseAnswer) => {
                let _ = self.commit(edits, version);
                Call::Answer(Err(lost()))
            }
            Some(Fault::CrashAfter) => {
                let _ = self.commit(edits, version);
                self.crash()
            }
            Some(Fault::Conflict) => {
                self.object.version += 1;
                self.object.previous = None;
                Call::Answer(Err(LedgerError::Conflict))
            }
            Some(Fault::Refuse) => {
                self.note_refusal(edits);
                Call::Answer(Err(LedgerError::Refused("the schema says no".into())))
            }
            Some(Fault::Slow) => {
                let answer = self.commit(edits, version);
                self.pass_time(A_MINUTE);
                Call::Answer(answer)
            }
            _ => Call::Answer(self.commit(edits, version)),
        }
    }

    fn commit(&mut self, edits: &[Edit], version: u64) -> Result<u64, LedgerError> {
        if version != self.object.version {
            return Err(LedgerError::Conflict);
        }
        let records = edits.iter().any(|edit| matches!(edit, Edit::Record { .. }));
        if self.object.status_refuses && records {
            self.note_refusal(edits);
            return Err(LedgerError::Refused("status: Invalid value".into()));
        }
        self.object.previous = Some(self.object.ledger.clone());
        for edit in edits {
            self.object.ledger.apply(edit);
        }
        self.object.gone |= edits.contains(&Edit::Finish);
        for edit in edits {
            if let Edit::Condemn { target, .. } = edit {
                self.condemned.insert(target.clone());
            }
        }
        self.object.version += 1;
        Ok(self.object.version)
    }

    fn note_refusal(&mut self, edits: &[Edit]) {
        for edit in edits {
            if let Edit::Record { slot, .. } = edit {
                self.refused_records.insert(slot.clone());
            }
        }
    }

    /// The time between two passes: until `until` in the ordinary course, or as a fault has it.
    pub(crate) fn requeue(&mut self, until: Option<Tick>, scenario: &Scenario) {
        let mut menu = if until.is_some() {
            Fault::NoTime.bit()
        } else {
            Fault::LongTime.bit()
        };
        menu = menu.or(Fault::LoseStatus.bit());
        if self.late.is_empty() {
            menu = menu.or(stranger::moves(self, scenario));
        }
        let fault = self.choose(menu);
        let now = self.clock.now();
        let next = || match until {
            Some(until) => format!("the next in {}", until - now),
            None => "the next when something happens".to_owned(),
        };
        self.note(|| format!("the pass is over; {}", next()), fault);
        match fault {
            Some(Fault::NoTime) => {}
            Some(Fault::LongTime) => self.pass_time(scenario.long),
            Some(Fault::LoseStatus) => {
                self.object.ledger.ids.clear();
                if scenario.intents_in_status {
                    self.object.ledger.intents.clear();
                }
                self.object.version += 1;
                self.object.previous = None;
                self.crashed = true;
            }
            Some(fault) if fault.is_strangers() => {
                self.stranger_at = Some(self.clock.now());
                stranger::act(self, fault, scenario);
            }
            _ => {
                if let Some(until) = until {
                    self.pass_time(until - self.clock.now());
                }
            }
        }
    }

    /// Lets time pass. A request takes effect within T or never (A3): what is late lands when it is
    /// due.
    pub(crate) fn pass_time(&mut self, span: Millis) {
        let end = self.clock.now() + span;
        while !self.late_without_end {
            let first = self.late.iter().map(|late| late.due).min();
            let Some(due) = first.filter(|due| *due <= end) else {
                break;
            };
            self.clock.advance(due - self.clock.now());
            let (now, later) = std::mem::take(&mut self.late)
                .into_iter()
                .partition(|late| late.due <= due);
            self.late = later;
            self.take_late(now);
        }
        self.clock.advance(end - self.clock.now());
    }

    fn take_late(&mut self, late: Vec<Late>) {
        for late in late {
            let _ = self.take_effect(late.actor, &late.step);
        }
    }

    /// Lets everything take effect that is late.
    pub(crate) fn land_all(&mut self) {
        let late = std::mem::take(&mut self.late);
        self.take_late(late);
    }

    /// Whether something may still take effect.
    pub(crate) fn is_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// A new process starts: what waited for that takes effect.
    pub(crate) fn restart(&mut self) {
        self.crashed = false;
        let (now, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.late)
            .into_iter()
            .partition(|late| late.lands == Lands::AtRestart);
        self.late = later;
        self.take_late(now);
    }

    /// The call takes a minute. What was read before it is old by then, and a stranger has used the
    /// time to strip our resources of their marks.
    fn slow_down(&mut self) {
        self.pass_time(A_MINUTE);
        stranger::strip_all(self);
        self.stranger_at = Some(self.clock.now());
    }

    /// One call has been made: what was due after it takes effect.
    fn land(&mut self) {
        if self.late.is_empty() {
            return;
        }
        let mut at = 0;
        while at < self.late.len() {
            let due = match &mut self.late[at].lands {
                Lands::After(calls) => {
                    *calls -= 1;
                    *calls == 0
                }
                Lands::AtRestart | Lands::WhenDue => false,
            };
            if due {
                let late = self.late.remove(at);
                let _ = self.take_effect(late.actor, &late.step);
            } else {
                at += 1;
            }
        }
    }

    pub(crate) fn choose(&mut self, menu: Menu) -> Option<Fault> {
        self.chooser.choose(menu.and(self.allowed))
    }

    /// A stale read that hides a stranger's deed would be a read before it (A2).
    fn may_be_stale(&self) -> bool {
        self.stranger_at
            .is_none_or(|at| self.clock.now() - at > Millis::seconds(60))
    }

    fn crash<T, E>(&mut self) -> Call<T, E> {
        self.crashed = true;
        Call::Crash
    }

    fn end_now<T, E>(&mut self) -> Call<T, E> {
        self.allowed = self.allowed.without(Fault::EndNow.bit());
        self.object.phase = self.end_phase;
        // A deletion is a write of the object: whoever has read it before must read it again.
        self.object.version += 1;
        self.object.previous = None;
        self.crash()
    }
}

/// An answer, for a person.
fn told<T>(call: &Call<T, CloudError>, words: fn(&T) -> String) -> String {
    match call {
        Call::Answer(Ok(answer)) => words(answer),
        Call::Answer(Err(error)) => words::failure(error),
        Call::Crash => "the process dies".to_owned(),
    }
}

fn failure() -> CloudError {
    CloudError::new(
        Class::Retryable,
        "InternalError",
        "the service is unavailable",
    )
}

fn throttled() -> CloudError {
    CloudError::new(Class::Throttled, "RequestLimitExceeded", "slow down")
}

fn lost() -> CloudError {
    CloudError::new(Class::Unknown, "RequestTimeout", "no answer came")
}

fn same(fresh: &Result<Answer, CloudError>, stale: &Result<Answer, CloudError>) -> bool {
    match (fresh, stale) {
        (Ok(fresh), Ok(stale)) => fresh.resources == stale.resources && fresh.inner == stale.inner,
        _ => false,
    }
}
