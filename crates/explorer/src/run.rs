//! One run: the claim lives under a schedule of faults, comes to rest, ends, and is judged.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use cloud_port::LedgerError;
use cloud_port::driver::{Driver, NoJournal, PassEnd, Report, Term};
use cloud_sim::{Account, Actor};
use ownership::error::Class;
use ownership::time::{Millis, Tick};
use ownership::{Case, Finding, Ledger, Phase, Rules, Sightings};

use crate::chooser::Chooser;
use crate::fault::{Choice, Fault, Menu, Schedule};
use crate::laws::{self, Law, Violation, broken};
use crate::port::{Port, Shared, Store};
use crate::scenario::{Expect, Scenario};
use crate::world::World;

/// What came of a run.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// The broken law, if any.
    pub violation: Option<Violation>,
    /// The choices that had an effect.
    pub fired: Vec<Choice>,
    /// What could have happened at each point, if asked for.
    pub menus: Vec<Menu>,
    /// The turns that were taken while both writers could go on.
    pub turns: Vec<bool>,
    /// What was called and what came of it, if asked for.
    pub log: Vec<String>,
}

/// Longer than anything settles, and less than anything is tried again.
const SOME_TIME: Millis = Millis::seconds(120);

/// More passes than any claim needs to come to rest.
const TOO_MANY_PASSES: u32 = 120;

/// Passes in which a status that refuses everything is tried.
const REFUSING_PASSES: u32 = 6;

/// Runs a scenario.
pub(crate) fn run<R: Rules + Sync>(
    scenario: &Scenario,
    rules: &R,
    chooser: Chooser,
    turns: &[bool],
) -> Outcome {
    let mut world = World::new(scenario, chooser);
    world.log = scenario.logs.then(Vec::new);
    let world = Shared::new(world);
    let mut run = Run {
        scenario,
        rules,
        world: world.clone(),
        writers: Vec::new(),
        turns: turns.to_vec(),
        taken: Vec::new(),
        gave_up: false,
    };
    let violation = run.whole_life().err();
    drop(run.writers);
    let turns = run.taken;
    let mut world = world.lock();
    Outcome {
        violation,
        fired: std::mem::take(&mut world.chooser.fired),
        menus: world.chooser.menus.take().unwrap_or_default(),
        turns,
        log: world.log.take().unwrap_or_default(),
    }
}

/// Brings a claim to rest without any faults: how scenarios are prepared.
pub(crate) fn prepare<R: Rules + Sync>(scenario: &Scenario, rules: &R) -> (Account, Ledger) {
    let world = World::new(scenario, Chooser::script(&Schedule::default(), false));
    let world = Shared::new(world);
    let mut run = Run {
        scenario,
        rules,
        world: world.clone(),
        writers: Vec::new(),
        turns: Vec::new(),
        taken: Vec::new(),
        gave_up: false,
    };
    let _ = run.live();
    drop(run.writers);
    let world = world.lock();
    (world.account.clone(), world.object.ledger.clone())
}

struct Run<'a, R> {
    scenario: &'a Scenario,
    rules: &'a R,
    world: Shared,
    writers: Vec<Writer<'a>>,
    turns: Vec<bool>,
    taken: Vec<bool>,
    gave_up: bool,
}

/// A process that works on the claim.
struct Writer<'a> {
    sightings: Sightings,
    pass: Option<Pass<'a>>,
    /// Faults and writes of the whole run when its pass began.
    began: (usize, u32),
    /// What its last pass came to.
    state: State,
}

type Pass<'a> = Pin<Box<dyn Future<Output = (PassEnd, Sightings)> + Send + 'a>>;

enum State {
    /// It can begin a pass, or go on with one.
    Active,
    /// It has nothing to do before this time.
    Waiting(Tick),
    /// Its last pass ended at rest; whether it wrote nothing and nothing went wrong in it.
    Resting { report: Report, quiet: bool },
    /// It has seen the claim end.
    Done,
}

impl<'a, R: Rules + Sync> Run<'a, R> {
    fn whole_life(&mut self) -> Result<(), Violation> {
        if let Some(report) = self.live()? {
            let world = self.world.lock();
            laws::at_rest(&world, self.scenario, &report)?;
            self.disposable(&world)?;
        }
        self.end()?;
        laws::at_end(&self.world.lock(), self.scenario)
    }

    /// Law 5: a lost status alone makes nobody create anything again.
    fn disposable(&self, world: &World) -> Result<(), Violation> {
        let harmless = [Fault::LoseStatus, Fault::NoTime, Fault::LongTime];
        let only = world
            .chooser
            .fired
            .iter()
            .all(|choice| harmless.contains(&choice.fault));
        let slots = self
            .scenario
            .blueprint
            .slots()
            .iter()
            .filter(|slot| slot.is_own())
            .count();
        if only
            && self.scenario.expect == Expect::Filled
            && !self.scenario.status_refuses
            && laws::creations(world) > slots.max(world.creations_before)
        {
            return broken(
                Law::StatusIsDisposable,
                "a lost status led to another create",
            );
        }
        Ok(())
    }

    /// The claim lives until it is at rest, or is deleted under way.
    fn live(&mut self) -> Result<Option<Report>, Violation> {
        self.start();
        for pass in 0..TOO_MANY_PASSES {
            if self.scenario.status_refuses && pass == REFUSING_PASSES {
                laws::always(&self.world.lock(), self.scenario)?;
                self.at_most_one()?;
                self.world.lock().object.status_refuses = false;
            }
            self.all_passes()?;
            if self.world.lock().object.phase != Phase::Live || self.gave_up {
                return Ok(None);
            }
            if let Some(report) = self.at_rest()? {
                return Ok(Some(report));
            }
        }
        broken(Law::RestIsReached, "the live claim does not come to rest")
    }

    /// The claim ends.
    fn end(&mut self) -> Result<(), Violation> {
        {
            let mut world = self.world.lock();
            if let Some(blocker) = &self.scenario.blocker {
                world.account.unpin(blocker);
            }
            if world.object.phase == Phase::Live {
                world.object.phase = world.end_phase;
            }
        }
        self.start();
        let patient = matches!(
            self.scenario.expect,
            Expect::Held | Expect::Reported | Expect::AtMostOne
        );
        for _ in 0..TOO_MANY_PASSES {
            self.all_passes()?;
            let all_done = self
                .writers
                .iter()
                .all(|writer| matches!(writer.state, State::Done));
            let mut world = self.world.lock();
            if all_done || world.object.gone {
                // Late: it lands after the end. Within T it must not leave anything.
                world.land_all();
                return Ok(());
            }
            drop(world);
            if let Some(report) = self.at_rest()? {
                if patient {
                    return Ok(());
                }
                let all: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
                return broken(
                    Law::NoOrphans,
                    format!("the claim never ends: {}", all.join("; ")),
                );
            }
        }
        broken(
            Law::RestIsReached,
            "the ending claim does not come to its end",
        )
    }

    fn start(&mut self) {
        self.world.lock().restart();
        self.writers = (0..self.scenario.writers).map(|_| Writer::new()).collect();
    }

    /// Every writer makes one pass: alone one after the other, or by turns.
    fn all_passes(&mut self) -> Result<(), Violation> {
        loop {
            let active: Vec<usize> = (0..self.writers.len())
                .filter(|at| matches!(self.writers[*at].state, State::Active))
                .collect();
            let at = match active.as_slice() {
                [] => break,
                [only] => *only,
                [first, second, ..] => {
                    let turn = self.turns.get(self.taken.len()).copied().unwrap_or(false);
                    self.taken.push(turn);
                    if turn { *second } else { *first }
                }
            };
            self.go_on(at)?;
        }
        self.wake();
        Ok(())
    }

    /// Polls one writer once: it makes one call, or ends its pass.
    fn go_on(&mut self, at: usize) -> Result<(), Violation> {
        let (fired, writes) = {
            let world = self.world.lock();
            (world.chooser.fired.len(), world.writes)
        };
        if self.writers[at].pass.is_none() {
            if self.world.lock().object.gone {
                self.writers[at].state = State::Done;
                return Ok(());
            }
            let sightings = std::mem::take(&mut self.writers[at].sightings);
            self.writers[at].began = (fired, writes);
            self.writers[at].pass = Some(self.begin(sightings));
        }
        let Some(pass) = &mut self.writers[at].pass else {
            return Ok(());
        };
        match pass.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready((end, sightings)) => {
                self.writers[at].pass = None;
                self.writers[at].sightings = sightings;
                let (fired, writes) = self.writers[at].began;
                self.ended(at, end, fired, writes)
            }
            Poll::Pending if self.world.lock().crashed => {
                self.writers[at] = Writer::new();
                self.world.lock().restart();
                Ok(())
            }
            Poll::Pending => Ok(()),
        }
    }

    fn begin(&self, mut sightings: Sightings) -> Pass<'a> {
        let (world, scenario, rules) = (self.world.clone(), self.scenario, self.rules);
        Box::pin(async move {
            let (phase, clock) = {
                let world = world.lock();
                (world.object.phase, world.clock.clone())
            };
            let takes_turns = scenario.writers > 1;
            let port = Port {
                world,
                actor: scenario.actor,
                takes_turns,
            };
            let mut store = Store {
                port: port.clone(),
                version: 0,
                phase,
            };
            let case = Case {
                identity: &scenario.identity,
                blueprint: &scenario.blueprint,
                evidence: &scenario.evidence,
                kinds: &scenario.kinds,
                phase,
            };
            let driver = Driver {
                rules,
                cloud: &port,
                clock: &clock,
                term: Term::alone(),
            };
            let end = driver
                .pass(&case, &mut store, &mut sightings, &mut NoJournal)
                .await;
            (end, sightings)
        })
    }

    /// Takes in how a pass ended, and lets time pass before the next.
    fn ended(
        &mut self,
        at: usize,
        end: PassEnd,
        fired: usize,
        writes: u32,
    ) -> Result<(), Violation> {
        let mut world = self.world.lock();
        if let Some(violation) = world.broken.take() {
            return Err(violation);
        }
        let quiet = world.writes == writes && world.chooser.fired.len() == fired;
        let state = match end {
            PassEnd::Rest(_, Some(until)) => State::Waiting(until),
            PassEnd::Rest(report, None) => State::Resting { report, quiet },
            PassEnd::Done(_) => State::Done,
            PassEnd::Wait(until, _, _) => State::Waiting(until),
            PassEnd::Failed(error, _) => {
                let disturbed = world
                    .chooser
                    .fired
                    .iter()
                    .any(|choice| choice.fault.is_strangers());
                let fatal = error.class == Class::Fatal;
                // What a stranger has made impossible is shown, and tried again on a slow clock.
                self.gave_up |= fatal && disturbed;
                if fatal && !disturbed && self.scenario.expect == Expect::Filled {
                    return broken(Law::ErrorsHaveClasses, format!("shown as fatal: {error}"));
                }
                world.requeue(None, self.scenario);
                State::Active
            }
            PassEnd::Ledger(LedgerError::Refused(_)) => {
                let alone = world.chooser.fired.len() <= fired + 1 && !world.is_late();
                // What is older than a read may be is not taken back on it (law 1).
                let slow = world.chooser.fired[fired..]
                    .iter()
                    .any(|choice| choice.fault == Fault::Slow);
                if alone
                    && !slow
                    && world.born_in_pass
                    && !world.refused_records.is_empty()
                    && self.scenario.writers == 1
                {
                    laws::rolled_back(&world, self.scenario)?;
                }
                world.refused_records.clear();
                world.requeue(None, self.scenario);
                State::Active
            }
            PassEnd::Ledger(_) | PassEnd::NotNow(_) => {
                world.requeue(None, self.scenario);
                State::Active
            }
        };
        let restarted = world.crashed;
        if restarted {
            world.restart();
        }
        drop(world);
        if restarted {
            self.writers[at] = Writer::new();
        } else {
            // Whoever failed tries again in the next round, so that others have their turn.
            self.writers[at].state = match state {
                State::Active => State::Waiting(Tick(0)),
                state => state,
            };
        }
        Ok(())
    }

    /// Nobody is active: lets time pass until the first of those who wait can go on.
    fn wake(&mut self) {
        let next = self.writers.iter().filter_map(|writer| match writer.state {
            State::Waiting(until) => Some(until),
            _ => None,
        });
        let Some(until) = next.min() else {
            return;
        };
        let restarted = {
            let mut world = self.world.lock();
            if until > world.clock.now() {
                world.requeue(Some(until), self.scenario);
            }
            std::mem::take(&mut world.crashed)
        };
        let now = self.world.lock().clock.now();
        for writer in &mut self.writers {
            if restarted {
                *writer = Writer::new();
            }
            if let State::Waiting(until) = writer.state
                && (until <= now || self.scenario.writers == 1)
            {
                writer.state = State::Active;
            }
        }
        // No time passed, by choice: they ask again all the same.
        if !self
            .writers
            .iter()
            .any(|writer| matches!(writer.state, State::Active))
        {
            for writer in &mut self.writers {
                if matches!(writer.state, State::Waiting(_)) {
                    writer.state = State::Active;
                }
            }
        }
    }

    /// Whether every writer rests, and the last look at it was silent (law 8).
    fn at_rest(&mut self) -> Result<Option<Report>, Violation> {
        let resting =
            |writer: &Writer<'_>| matches!(writer.state, State::Resting { .. } | State::Done);
        if !self.writers.iter().all(resting) {
            return Ok(None);
        }
        let mut world = self.world.lock();
        if world.is_late() {
            world.land_all();
        } else {
            let silent = |writer: &Writer<'_>| {
                matches!(
                    &writer.state,
                    State::Resting { quiet: true, .. } | State::Done
                )
            };
            if self.writers.iter().all(silent) {
                let before = world.chooser.fired.len();
                world.requeue(None, self.scenario);
                if world.chooser.fired.len() == before {
                    drop(world);
                    return self.stays_silent();
                }
            }
        }
        let restarted = std::mem::take(&mut world.crashed);
        drop(world);
        self.again(restarted);
        Ok(None)
    }

    fn again(&mut self, restarted: bool) {
        for writer in &mut self.writers {
            if restarted {
                *writer = Writer::new();
            } else if matches!(writer.state, State::Resting { .. }) {
                writer.state = State::Active;
            }
        }
    }

    /// More passes, at once and after some time: nothing may be written in them.
    fn stays_silent(&mut self) -> Result<Option<Report>, Violation> {
        let report = self.writers.iter().find_map(|writer| match &writer.state {
            State::Resting { report, .. } => Some(report.clone()),
            _ => None,
        });
        let (fired, writes) = {
            let world = self.world.lock();
            (world.chooser.fired.len(), world.writes)
        };
        // What is blocked is tried again from time to time.
        let blocked = report
            .iter()
            .flat_map(|report| &report.findings)
            .any(is_blocked);
        let spans = if blocked { 1 } else { 3 };
        for span in [Millis(0), SOME_TIME, SOME_TIME].into_iter().take(spans) {
            self.world.lock().pass_time(span);
            self.again(false);
            self.all_passes()?;
            let world = self.world.lock();
            if world.chooser.fired.len() > fired {
                return Ok(None);
            }
            if world.writes > writes {
                return broken(Law::RestIsSilent, "something was written at rest");
            }
        }
        Ok(report)
    }

    /// A status that refuses every write still yields at most one resource a slot.
    fn at_most_one(&self) -> Result<(), Violation> {
        let world = self.world.lock();
        for slot in self
            .scenario
            .blueprint
            .slots()
            .iter()
            .filter(|slot| slot.is_own())
        {
            let alive = world.account.lives().filter(|life| {
                life.is_alive()
                    && life.by == Actor::Engine(0)
                    && life.slot.as_ref() == Some(&slot.name)
            });
            if alive.count() > 1 {
                return broken(
                    Law::NoTwins,
                    format!("slot {} was filled again and again", slot.name),
                );
            }
        }
        Ok(())
    }
}

fn is_blocked(finding: &Finding) -> bool {
    matches!(finding, Finding::Blocked { .. })
}

impl Writer<'_> {
    fn new() -> Self {
        Self {
            sightings: Sightings::new(),
            pass: None,
            began: (0, 0),
            state: State::Active,
        }
    }
}
