//! The processes of a run: how they die, what their writers share, for how long they lead.

use std::sync::Arc;

use cloud_port::Inventory;
use cloud_port::driver::Term;

use crate::port::Port;
use crate::run::Run;
use crate::writer::{State, Writer, port};

impl<'a> Run<'a> {
    /// The process of a writer dies, and starts again.
    pub(crate) fn die(&mut self, at: usize) {
        let process = self.writers[at].process(self.scenario);
        self.inventories.remove(&process);
        for writer in &mut self.writers {
            if writer.process(self.scenario) == process {
                *writer = Writer::new(writer.claim, writer.place);
            }
        }
        self.world.lock().restart();
    }

    /// The inventory of a writer's process.
    pub(crate) fn inventory(&mut self, at: usize) -> Option<Arc<Inventory<Port<'a>>>> {
        if !self.scenario.glances {
            return None;
        }
        let process = self.writers[at].process(self.scenario);
        let inventory = self.inventories.entry(process).or_insert_with(|| {
            let port = port(&self.world);
            Arc::new(Inventory::new(port, &self.scenario.surveyed()))
        });
        Some(inventory.clone())
    }

    /// For how long a writer may act; `None` if its term is over.
    pub(crate) fn term(&self, at: usize) -> Option<Term> {
        let Some(length) = self.scenario.term else {
            return Some(Term::alone());
        };
        let world = self.world.lock();
        let ends = world.began + length;
        if self.writers[at].place == 0 {
            let term = Term {
                began: None,
                ends: Some(ends),
            };
            return (world.clock.now() < ends).then_some(term);
        }
        Some(Term {
            began: Some(ends),
            ends: None,
        })
    }

    /// The second writer leads as soon as the first one's term is over, and not before.
    pub(crate) fn take_over(&mut self) {
        let Some(length) = self.scenario.term else {
            return;
        };
        let (ends, now) = {
            let world = self.world.lock();
            (world.began + length, world.clock.now())
        };
        for writer in self.writers.iter_mut().filter(|writer| writer.place > 0) {
            match writer.state {
                State::Active if now < ends && writer.pass.is_none() => {
                    writer.state = State::Waiting(ends);
                }
                State::Waiting(until) if until == ends && now >= ends => {
                    writer.state = State::Active;
                }
                _ => {}
            }
        }
    }
}
