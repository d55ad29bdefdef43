//! Writers: the processes that work on claims, and the passes they make.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use cloud_port::Inventory;
use cloud_port::driver::{Driver, NoJournal, PassEnd, Report, Rested, Term};
use ownership::time::Tick;
use ownership::{Case, Rules, Sightings};

use crate::port::{Port, Shared, Store};
use crate::scenario::Scenario;

/// What a process does for one claim.
pub(crate) struct Writer<'a> {
    /// The claim.
    pub claim: usize,
    /// Which of the claim's writers it is.
    pub place: u8,
    /// What it remembers between passes.
    pub memory: Memory,
    /// The pass under way.
    pub pass: Option<Pass<'a>>,
    /// Faults and writes of the whole run when its pass began.
    pub began: (usize, u32),
    /// What its last pass came to.
    pub state: State,
}

/// What a process remembers of a claim between passes.
#[derive(Default)]
pub(crate) struct Memory {
    sightings: Sightings,
    rested: Rested,
}

/// A pass under way.
pub(crate) type Pass<'a> = Pin<Box<dyn Future<Output = (PassEnd, Memory)> + Send + 'a>>;

/// What a writer's last pass came to.
pub(crate) enum State {
    /// It can begin a pass, or go on with one.
    Active,
    /// It has nothing to do before this time.
    Waiting(Tick),
    /// Its last pass ended at rest.
    Resting {
        /// What it found.
        report: Report,
        /// How much had been written in the whole run by then, if it was silent: nothing in it, and
        /// nothing went wrong.
        since: Option<u32>,
    },
    /// It has seen the claim end, or its own term.
    Done,
}

/// A process: the first claim that it works on, and which writer it is there. It works on every
/// claim of that management cluster.
pub(crate) type Process = (usize, u8);

impl Writer<'_> {
    /// A writer of a process that has just started.
    pub(crate) fn new(claim: usize, place: u8) -> Self {
        Self {
            claim,
            place,
            memory: Memory::default(),
            pass: None,
            began: (0, 0),
            state: State::Active,
        }
    }

    /// Its process.
    pub(crate) fn process(&self, scenario: &Scenario) -> Process {
        let holder = &scenario.claim(self.claim).identity.holder;
        let first = scenario
            .claims()
            .position(|claim| claim.identity.holder == *holder);
        (first.unwrap_or(self.claim), self.place)
    }

    /// Whether it rests, or has nothing to do any more.
    pub(crate) fn rests(&self) -> bool {
        matches!(self.state, State::Resting { .. } | State::Done)
    }

    /// Whether its last pass was silent, too, and nothing has been written since, of so much in all.
    pub(crate) fn is_silent(&self, writes: u32) -> bool {
        match self.state {
            State::Resting { since, .. } => since == Some(writes),
            State::Done => true,
            _ => false,
        }
    }
}

/// A pass: what it works on, and with what.
pub(crate) struct Begin<'a> {
    /// The world.
    pub world: Shared<'a>,
    /// The rules of the engine.
    pub rules: &'a dyn Rules,
    /// The claim.
    pub claim: usize,
    /// The inventory of its process, if claims at rest are only glanced at.
    pub inventory: Option<Arc<Inventory<Port<'a>>>>,
    /// The term of its process.
    pub term: Term,
}

impl<'a> Begin<'a> {
    /// Begins the pass.
    pub(crate) fn pass(self, mut memory: Memory) -> Pass<'a> {
        let (clock, scenario, phase, spec) = {
            let world = self.world.lock();
            let object = &world.objects[self.claim];
            (
                world.clock.clone(),
                world.scenario,
                object.phase,
                object.spec,
            )
        };
        let claim = scenario.claim(self.claim);
        let port = port(&self.world);
        Box::pin(async move {
            let mut store = Store {
                port: port.clone(),
                claim: self.claim,
                version: 0,
                phase,
                spec,
            };
            let case = Case {
                identity: &claim.identity,
                blueprint: claim.spec(spec),
                evidence: &claim.evidence,
                kinds: &claim.kinds,
                phase,
            };
            let Memory { sightings, rested } = &mut memory;
            let end = if let Some(inventory) = &self.inventory {
                let driver = Driver {
                    rules: self.rules,
                    cloud: &**inventory,
                    clock: &clock,
                    term: self.term,
                };
                driver
                    .visit(&case, &mut store, sightings, rested, &mut NoJournal)
                    .await
            } else {
                let driver = Driver {
                    rules: self.rules,
                    cloud: &port,
                    clock: &clock,
                    term: self.term,
                };
                driver
                    .pass(&case, &mut store, sightings, &mut NoJournal)
                    .await
            };
            (end, memory)
        })
    }
}

/// The port of a run's writers.
pub(crate) fn port<'a>(world: &Shared<'a>) -> Port<'a> {
    Port {
        world: world.clone(),
    }
}
