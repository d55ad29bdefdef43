//! One run: claims live under a schedule of faults, come to rest, end, and are judged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use cloud_port::driver::{PassEnd, Report};
use cloud_port::inventory::LIFE;
use cloud_port::{Inventory, LedgerError};
use cloud_sim::Account;
use ownership::error::Class;
use ownership::time::Tick;
use ownership::{Claim, Ledger, Rules};

use crate::chooser::Chooser;
use crate::fault::{Choice, Fault, Menu, Schedule};
use crate::laws::{self, Law, Violation, broken};
use crate::object::Object;
use crate::port::{Port, Shared};
use crate::scenario::{Expect, Scenario};
use crate::world::World;
use crate::writer::{Begin, Process, State, Writer};

/// What came of a run.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// The broken law, if any.
    pub violation: Option<Violation>,
    /// The choices that had an effect.
    pub fired: Vec<Choice>,
    /// What could have happened at each point, if asked for.
    pub menus: Vec<Menu>,
    /// The turns that were taken while two writers could go on.
    pub turns: Vec<bool>,
    /// What was called and what came of it, if asked for.
    pub log: Vec<String>,
}

/// More passes than any claim needs to come to rest.
const TOO_MANY_PASSES: u32 = 120;

/// Passes in which a status that refuses everything is tried.
const REFUSING_PASSES: u32 = 6;

/// Runs a scenario.
pub(crate) fn run(
    scenario: &Scenario,
    rules: &dyn Rules,
    chooser: Chooser,
    turns: &[bool],
) -> Outcome {
    let world = Shared::new(World::new(scenario, chooser));
    let mut run = Run::new(scenario, rules, &world, turns);
    let violation = run.whole_life().err();
    let turns = run.taken;
    drop(run.writers);
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
pub(crate) fn prepare(scenario: &Scenario, rules: &dyn Rules) -> (Account, Ledger) {
    let chooser = Chooser::script(&Schedule::default(), false);
    let world = Shared::new(World::new(scenario, chooser));
    let mut run = Run::new(scenario, rules, &world, &[]);
    run.start(0);
    let _ = run.settle();
    drop(run.writers);
    let world = world.lock();
    (world.account.clone(), world.objects[0].ledger.clone())
}

/// A run under way.
pub(crate) struct Run<'a> {
    pub(crate) scenario: &'a Scenario,
    rules: &'a dyn Rules,
    pub(crate) world: Shared<'a>,
    pub(crate) writers: Vec<Writer<'a>>,
    /// The inventories of the processes that glance.
    pub(crate) inventories: BTreeMap<Process, Arc<Inventory<Port<'a>>>>,
    turns: Vec<bool>,
    taken: Vec<bool>,
    /// What a stranger has made impossible was shown: the claim is not waited for.
    gave_up: bool,
}

impl<'a> Run<'a> {
    fn new(
        scenario: &'a Scenario,
        rules: &'a dyn Rules,
        world: &Shared<'a>,
        turns: &[bool],
    ) -> Self {
        Self {
            scenario,
            rules,
            world: world.clone(),
            writers: Vec::new(),
            inventories: BTreeMap::new(),
            turns: turns.to_vec(),
            taken: Vec::new(),
            gave_up: false,
        }
    }

    fn claims(&self) -> std::ops::Range<usize> {
        0..self.scenario.others.len() + 1
    }

    /// All claims live and come to rest; then one after the other ends while the others live.
    fn whole_life(&mut self) -> Result<(), Violation> {
        for claim in self.claims() {
            if !self.scenario.claim(claim).follows {
                self.start(claim);
            }
        }
        loop {
            let rests = self.settle()?;
            self.judge(rests)?;
            let Some(claim) = self.next_to_end() else {
                break;
            };
            self.world.lock().begin_end(claim);
            self.start(claim);
            self.again(false);
        }
        // Late: it lands after the end. Within T it must not leave anything.
        self.world.lock().land_all();
        let world = self.world.lock();
        let begun = |claim: &usize| world.objects[*claim].begun;
        self.claims()
            .filter(begun)
            .try_for_each(|claim| laws::at_end(&world, claim))
    }

    /// New processes take up a claim.
    fn start(&mut self, claim: usize) {
        self.world.lock().restart();
        self.world.lock().objects[claim].begun = true;
        self.writers.retain(|writer| writer.claim != claim);
        let writers = self.scenario.claim(claim).writers;
        self.writers
            .extend((0..writers).map(|place| Writer::new(claim, place)));
        self.writers
            .sort_by_key(|writer| (writer.claim, writer.place));
    }

    /// The claim that ends next.
    fn next_to_end(&self) -> Option<usize> {
        let world = self.world.lock();
        let mut living = self.claims().filter(|claim| world.objects[*claim].lives());
        if self.scenario.last_first {
            living.next_back()
        } else {
            living.next()
        }
    }

    /// Lets everybody work until all claims are at rest or gone; `false` if one was given up.
    fn settle(&mut self) -> Result<bool, Violation> {
        for pass in 0..TOO_MANY_PASSES {
            if self.scenario.status_refuses && pass == REFUSING_PASSES {
                let mut world = self.world.lock();
                laws::always(&world, 0)?;
                laws::at_most_one(&world, 0)?;
                world.objects[0].status_refuses = false;
            }
            self.all_passes()?;
            if self.welcome_heirs() {
                continue;
            }
            if std::mem::take(&mut self.gave_up) && !self.world.lock().any_ends() {
                return Ok(false);
            }
            if self.at_rest()? {
                return Ok(true);
            }
        }
        let ends = self.world.lock().objects.iter().any(Object::ends);
        broken(
            Law::RestIsReached,
            if ends {
                "the ending claim does not come to its end"
            } else {
                "the live claim does not come to rest"
            },
        )
    }

    /// Claims that follow others begin when those have gone.
    fn welcome_heirs(&mut self) -> bool {
        let mut any = false;
        for claim in self.claims().skip(1) {
            let begins = {
                let world = self.world.lock();
                let before = world.actor(claim - 1);
                let mut lives = world.account.lives();
                let is_free = self.scenario.claim(claim).waits_for_names
                    && !lives.any(|life| life.is_alive() && life.by == before);
                (world.objects[claim - 1].gone || is_free) && !world.objects[claim].begun
            };
            if begins {
                self.start(claim);
                any = true;
            }
        }
        any
    }

    /// Judges every claim: those at rest, and those that have ended.
    fn judge(&self, rests: bool) -> Result<(), Violation> {
        let world = self.world.lock();
        for claim in self.claims() {
            let object = &world.objects[claim];
            let report = self.report(claim);
            if object.gone {
                laws::at_end(&world, claim)?;
            } else if object.ends() {
                let patient = matches!(
                    self.scenario.claim(claim).expect,
                    Expect::Held | Expect::Reported | Expect::AtMostOne
                );
                let waits = self.scenario.claim(claim).end_waits;
                if waits && report.is_some_and(|report| report.findings.is_empty()) {
                    let what = "nobody is told what the end waits for";
                    return broken(Law::NoGuessing, what);
                }
                if !patient && !waits {
                    let findings = report.iter().flat_map(|report| &report.findings);
                    let all: Vec<String> = findings.map(ToString::to_string).collect();
                    let what = format!("the claim never ends: {}", all.join("; "));
                    return broken(Law::NoOrphans, what);
                }
            } else if let (true, Some(report)) = (rests, report) {
                laws::at_rest(&world, claim, report)?;
                laws::disposable(&world, claim)?;
            }
        }
        if rests {
            self.judge_holders(&world)?;
        }
        Ok(())
    }

    /// Of the management clusters that have one claim, one at most may say that all is well.
    fn judge_holders(&self, world: &World<'_>) -> Result<(), Violation> {
        let mut content: Vec<&Claim> = Vec::new();
        for claim in self.claims().filter(|at| world.objects[*at].lives()) {
            let hash = &self.scenario.claim(claim).identity.claim;
            let report = self.report(claim);
            if report.is_none_or(|report| !report.findings.is_empty()) {
                continue;
            }
            if content.contains(&hash) {
                let what = "two management clusters hold the claim, and both are content";
                return broken(Law::StatusIsDisposable, what);
            }
            content.push(hash);
        }
        Ok(())
    }

    /// What the last pass over a claim found, if it came to rest.
    pub(crate) fn report(&self, claim: usize) -> Option<&Report> {
        let mut of = self.writers.iter().filter(|writer| writer.claim == claim);
        of.find_map(|writer| match &writer.state {
            State::Resting { report, .. } => Some(report),
            _ => None,
        })
    }

    /// Every writer makes one pass: alone one after the other, or by turns.
    pub(crate) fn all_passes(&mut self) -> Result<(), Violation> {
        let mut stuck = None;
        loop {
            self.take_over();
            let mut active: Vec<usize> = (0..self.writers.len())
                .filter(|at| matches!(self.writers[*at].state, State::Active))
                .collect();
            if active.len() > 1 {
                active.retain(|at| Some(*at) != stuck);
            }
            let at = match active.as_slice() {
                [] => break,
                [only] => *only,
                [first, second, ..] => {
                    if self.turn() {
                        *second
                    } else {
                        *first
                    }
                }
            };
            let moves = self.world.lock().moves;
            self.go_on(at)?;
            // Who has not moved waits for another writer of its process.
            let waits = self.writers[at].pass.is_some() && self.world.lock().moves == moves;
            stuck = waits.then_some(at);
        }
        self.wake();
        Ok(())
    }

    /// Whether the second of two writers goes on.
    fn turn(&mut self) -> bool {
        let turn = self.turns.get(self.taken.len()).copied().unwrap_or(false);
        self.taken.push(turn);
        turn
    }

    /// Polls one writer once: it makes one call, or ends its pass.
    fn go_on(&mut self, at: usize) -> Result<(), Violation> {
        let claim = self.writers[at].claim;
        let (fired, writes, gone) = {
            let mut world = self.world.lock();
            world.acting = claim;
            let fired = world.chooser.fired.len();
            (fired, world.writes, world.objects[claim].gone)
        };
        if self.writers[at].pass.is_none() {
            let Some(term) = self.term(at).filter(|_| !gone) else {
                self.writers[at].state = State::Done;
                return Ok(());
            };
            let begin = Begin {
                world: self.world.clone(),
                rules: self.rules,
                claim,
                inventory: self.inventory(at),
                term,
            };
            let writer = &mut self.writers[at];
            writer.began = (fired, writes);
            writer.pass = Some(begin.pass(std::mem::take(&mut writer.memory)));
        }
        self.world.lock().call_up(at);
        let Some(pass) = &mut self.writers[at].pass else {
            return Ok(());
        };
        match pass.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready((end, memory)) => {
                self.writers[at].pass = None;
                self.writers[at].memory = memory;
                let (fired, writes) = self.writers[at].began;
                self.ended(at, end, fired, writes)
            }
            Poll::Pending if self.world.lock().crashed => {
                self.die(at);
                Ok(())
            }
            Poll::Pending => Ok(()),
        }
    }

    /// Takes in how a pass ended, and lets time pass before the next.
    fn ended(
        &mut self,
        at: usize,
        end: PassEnd,
        fired: usize,
        writes: u32,
    ) -> Result<(), Violation> {
        let claim = self.writers[at].claim;
        let mut world = self.world.lock();
        if let Some(violation) = world.broken.take() {
            return Err(violation);
        }
        let quiet = world.writes == writes && world.chooser.fired.len() == fired;
        let state = match end {
            // Rest begins when the ledger is closed.
            PassEnd::Rest(report, books) => {
                world.objects[claim].rested = Some(report.clone());
                let since = quiet.then_some(writes);
                let resting = State::Resting { report, since };
                books.map_or(resting, State::Waiting)
            }
            PassEnd::Done(_) => {
                world.objects[claim].gone = true;
                State::Done
            }
            PassEnd::Wait(until, _, _) => {
                world.objects[claim].rested = None;
                State::Waiting(until)
            }
            PassEnd::NotNow(until) => State::Waiting(until),
            PassEnd::Failed(error, _) => {
                let fatal = error.class == Class::Fatal;
                // What a stranger has made impossible is shown, and tried again on a slow clock.
                self.gave_up |= fatal && world.disturbed;
                let filled = self.scenario.claim(claim).expect == Expect::Filled;
                if fatal && !world.disturbed && filled {
                    return broken(Law::ErrorsHaveClasses, format!("shown as fatal: {error}"));
                }
                world.requeue(claim, None);
                if self.scenario.glances {
                    // A survey that failed is not repeated at once.
                    world.pass_time(LIFE);
                }
                State::Active
            }
            PassEnd::Ledger(error) => {
                if matches!(error, LedgerError::Refused(_)) {
                    self.refused(&mut world, claim, fired)?;
                }
                world.requeue(claim, None);
                State::Active
            }
        };
        let restarted = world.crashed;
        drop(world);
        if restarted {
            self.die(at);
        } else {
            // Whoever failed tries again in the next round, so that others have their turn.
            self.writers[at].state = match state {
                State::Active => State::Waiting(Tick(0)),
                state => state,
            };
        }
        Ok(())
    }

    /// The ledger refused a write: what could not be recorded must have been taken back.
    fn refused(&self, world: &mut World<'_>, claim: usize, fired: usize) -> Result<(), Violation> {
        let alone = world.chooser.fired.len() <= fired + 1 && !world.is_late();
        // What is older than a read may be is not taken back on it (law 1).
        let slow = world.chooser.fired[fired..]
            .iter()
            .any(|choice| choice.fault == Fault::Slow);
        let object = &world.objects[claim];
        if alone
            && !slow
            && object.born_in_pass
            && !object.refused_records.is_empty()
            && self.scenario.all_writers() == 1
        {
            laws::rolled_back(world, claim)?;
        }
        world.objects[claim].refused_records.clear();
        Ok(())
    }
}
