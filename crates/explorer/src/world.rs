//! The world of one run: the account, the objects, the clock, and everything that can go wrong.

use std::collections::{BTreeMap, BTreeSet};

use cloud_sim::{Account, Actor, VirtualClock};
use ownership::secret::Secrets;
use ownership::time::{Millis, Tick};
use ownership::{Blueprint, Phase, SlotName, Target};

use crate::chooser::Chooser;
use crate::fault::{Fault, Menu};
use crate::late::Late;
use crate::laws::{Law, Violation};
use crate::line::Line;
use crate::mutants::Flaw;
use crate::object::Object;
use crate::scenario::Scenario;
use crate::stranger;

/// The world of one run.
pub(crate) struct World<'a> {
    /// What the run began with.
    pub scenario: &'a Scenario,
    /// The cloud.
    pub account: Account,
    /// The clock of everybody in it.
    pub clock: VirtualClock,
    /// When the run began.
    pub began: Tick,
    /// The Kubernetes objects, one a claim.
    pub objects: Vec<Object>,
    /// The claim for which a call is being made.
    pub acting: usize,
    /// What happens at each point.
    pub chooser: Chooser,
    /// What may happen at all.
    pub allowed: Menu,
    /// Whether the process has just died: its future must be dropped.
    pub crashed: bool,
    /// Calls that were sent and have not got there yet.
    pub line: Line,
    /// Calls that take effect later.
    pub late: Vec<Late>,
    /// When a stranger last did something.
    pub stranger_at: Option<Tick>,
    /// Whether a stranger did anything at all.
    pub disturbed: bool,
    /// The secrets that each client token was first sent with.
    pub sent: BTreeMap<u128, Secrets>,
    /// The announcements on which a create was sent: claim, slot, attempt, and which one of it.
    pub announced: BTreeSet<(usize, SlotName, u32, u32)>,
    /// Writes to cloud and ledgers so far.
    pub writes: u32,
    /// How often anybody made a call or gave way to others: who does neither waits for another.
    pub moves: u64,
    /// Resources that a stranger stripped of our marks after we had seen them there, and when.
    pub stripped: Vec<(Target, Tick)>,
    /// What was called and what came of it, if somebody wants to know.
    pub log: Option<Vec<String>>,
    /// A law that was broken in passing, where the end does not show it.
    pub broken: Option<Violation>,
}

impl<'a> World<'a> {
    /// The world at the beginning of a run of `scenario`.
    pub(crate) fn new(scenario: &'a Scenario, chooser: Chooser) -> Self {
        let clock = VirtualClock::at(scenario.account.clock().now());
        Self {
            scenario,
            account: scenario.account.fork(clock.clone()),
            began: clock.now(),
            clock,
            objects: scenario.claims().map(Object::new).collect(),
            acting: 0,
            chooser,
            allowed: scenario.faults,
            crashed: false,
            line: Line::default(),
            late: Vec::new(),
            stranger_at: None,
            disturbed: false,
            sent: BTreeMap::new(),
            announced: BTreeSet::new(),
            writes: 0,
            moves: 0,
            stripped: Vec::new(),
            log: scenario.logs.then(Vec::new),
            broken: None,
        }
    }

    /// What a claim began with.
    pub(crate) fn claim(&self, claim: usize) -> &'a Scenario {
        self.scenario.claim(claim)
    }

    /// As whom the simulation knows a claim's engine.
    pub(crate) fn actor(&self, claim: usize) -> Actor {
        self.claim(claim).actor
    }

    /// What a claim wants now.
    pub(crate) fn blueprint(&self, claim: usize) -> &'a Blueprint {
        self.claim(claim).spec(self.objects[claim].spec)
    }

    /// Whether any claim ends, or has ended.
    pub(crate) fn any_ends(&self) -> bool {
        self.objects
            .iter()
            .any(|object| object.phase != Phase::Live)
    }

    /// Writes down what happened.
    pub(crate) fn note(&mut self, what: impl FnOnce() -> String, fault: Option<Fault>) {
        if let Some(log) = &mut self.log {
            let point = self.chooser.points() - 1;
            let fault = fault.map_or(String::new(), |fault| format!(" [{}]", fault.word()));
            let who = match self.objects.len() {
                1 => String::new(),
                _ => format!(" claim {}:", self.acting),
            };
            log.push(format!("{point:>3}{fault}{who} {}", what()));
        }
    }

    /// A law was broken in passing.
    pub(crate) fn breaks(&mut self, law: Law, what: String) {
        self.broken.get_or_insert(Violation { law, what });
    }

    /// The time between two passes: until `until` in the ordinary course, or as a fault has it.
    pub(crate) fn requeue(&mut self, claim: usize, until: Option<Tick>) {
        self.acting = claim;
        let mut menu = if until.is_some() {
            Fault::NoTime.bit()
        } else {
            Fault::LongTime.bit()
        };
        menu = menu.or(Fault::LoseStatus.bit());
        let object = &self.objects[claim];
        if object.lives() && object.spec < self.claim(claim).changes.len() {
            menu = menu.or(Fault::SpecChange.bit());
        }
        if self.late.is_empty() {
            menu = menu.or(stranger::moves(self));
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
            Some(Fault::LongTime) => self.pass_time(self.scenario.long),
            Some(Fault::LoseStatus) => {
                let intents_too = self.scenario.flaw == Some(Flaw::IntentsInStatus);
                self.objects[claim].lose_status(intents_too);
                self.crashed = true;
            }
            Some(Fault::SpecChange) => {
                self.objects[claim].spec += 1;
                self.objects[claim].rested = None;
                self.objects[claim].changed();
            }
            Some(fault) if fault.is_strangers() => {
                if stranger::act(self, fault) {
                    self.stranger_was_here();
                } else {
                    // A deed that the cloud refused is none.
                    self.chooser.fired.pop();
                }
            }
            _ => {
                if let Some(until) = until {
                    self.pass_time(until - self.clock.now());
                }
            }
        }
    }

    /// The claim's object is deleted.
    pub(crate) fn begin_end(&mut self, claim: usize) {
        let (phase, now) = (self.claim(claim).end_phase(), self.clock.now());
        let object = &mut self.objects[claim];
        if object.phase == Phase::Live {
            object.phase = phase;
            object.ends_since = Some(now);
            object.changed();
        }
        if let Some(blocker) = &self.scenario.blocker {
            self.account.unpin(blocker);
        }
    }

    /// The call takes long. What was read before it is old by then, and a stranger has used the time
    /// to strip our resources of their marks.
    pub(crate) fn slow_down(&mut self, span: Millis) {
        self.pass_time(span);
        self.strip_all();
    }

    /// A stranger strips our resources of their marks.
    pub(crate) fn strip_all(&mut self) {
        if stranger::strip_all(self) {
            self.stranger_was_here();
        }
    }

    /// A stranger has done something.
    pub(crate) fn stranger_was_here(&mut self) {
        self.disturbed = true;
        self.stranger_at = Some(self.clock.now());
    }

    /// What happens at this point, of all that could.
    pub(crate) fn choose(&mut self, menu: Menu) -> Option<Fault> {
        self.moves += 1;
        self.chooser.choose(menu.and(self.allowed))
    }

    /// A stale read that hides a stranger's deed would be a read before it (A2).
    pub(crate) fn may_be_stale(&self) -> bool {
        self.stranger_at
            .is_none_or(|at| self.clock.now() - at > Millis::seconds(60))
    }
}
