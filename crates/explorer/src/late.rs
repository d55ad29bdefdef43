//! Calls that take effect later, and the time that passes meanwhile.

use ownership::Step;
use ownership::time::{Millis, Tick};

use crate::world::World;

/// A call that takes effect later.
pub(crate) struct Late {
    /// What will be done.
    pub step: Step,
    /// For which claim.
    pub claim: usize,
    /// When.
    pub lands: Lands,
    /// By when, at the latest (A3).
    pub due: Tick,
}

/// When a late call takes effect.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lands {
    /// After so many calls.
    After(u32),
    /// When the next process starts.
    AtRestart,
    /// As late as it can.
    WhenDue,
}

impl World<'_> {
    /// Lets time pass. A request takes effect within T or never (A3): what is late lands when it is
    /// due.
    pub(crate) fn pass_time(&mut self, span: Millis) {
        let end = self.clock.now() + span;
        while !self.scenario.lifted.a3 {
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

    /// One call has been made: what was due after it takes effect.
    pub(crate) fn land(&mut self) {
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
                self.take_late(vec![late]);
            } else {
                at += 1;
            }
        }
    }

    fn take_late(&mut self, late: Vec<Late>) {
        for late in late {
            self.writes += 1;
            let _ = self.take_effect(late.claim, &late.step);
        }
    }
}
