//! Rest: when nobody has anything to do, and that it stays so.

use cloud_port::inventory::LIFE;
use ownership::Finding;
use ownership::time::Millis;

use crate::laws::{Law, Violation, broken};
use crate::run::Run;
use crate::writer::{State, Writer};

/// Longer than anything settles, and less than anything is tried again.
const SOME_TIME: Millis = Millis::seconds(120);

impl Run<'_> {
    /// Nobody is active: lets time pass until the first of those who wait can go on.
    pub(crate) fn wake(&mut self) {
        let waiting = self.writers.iter().filter_map(|writer| match writer.state {
            State::Waiting(until) => Some((until, writer.claim)),
            _ => None,
        });
        let Some((until, claim)) = waiting.min() else {
            return;
        };
        let restarted = {
            let mut world = self.world.lock();
            if until > world.clock.now() {
                world.requeue(claim, Some(until));
            }
            std::mem::take(&mut world.crashed)
        };
        let now = self.world.lock().clock.now();
        let alone = self.scenario.all_writers() == 1;
        for writer in &mut self.writers {
            if restarted {
                *writer = Writer::new(writer.claim, writer.place);
            }
            if let State::Waiting(until) = writer.state
                && (until <= now || alone)
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
    pub(crate) fn at_rest(&mut self) -> Result<bool, Violation> {
        if !self.writers.iter().all(Writer::rests) {
            return Ok(false);
        }
        let mut world = self.world.lock();
        if world.objects.iter().all(|object| object.gone) {
            return Ok(true);
        }
        if world.is_late() {
            world.land_all();
        } else if self.writers.iter().all(|w| w.is_silent(world.writes)) {
            let before = world.chooser.fired.len();
            let there = |at: &usize| world.objects[*at].begun && !world.objects[*at].gone;
            let claim = (0..world.objects.len()).find(there).unwrap_or(0);
            world.requeue(claim, None);
            if world.chooser.fired.len() == before {
                drop(world);
                return self.stays_silent();
            }
        }
        let restarted = std::mem::take(&mut world.crashed);
        drop(world);
        self.again(restarted);
        Ok(false)
    }

    /// Whoever rests looks again.
    pub(crate) fn again(&mut self, restarted: bool) {
        for writer in &mut self.writers {
            if restarted {
                *writer = Writer::new(writer.claim, writer.place);
            } else if matches!(writer.state, State::Resting { .. }) {
                writer.state = State::Active;
            }
        }
    }

    /// More passes, at once and after some time: nothing may be written in them.
    fn stays_silent(&mut self) -> Result<bool, Violation> {
        let (fired, writes) = {
            let world = self.world.lock();
            (world.chooser.fired.len(), world.writes)
        };
        // What an inventory shows is believed for a while; then whoever glances looks.
        if self.scenario.glances {
            self.look_after(LIFE)?;
            let world = self.world.lock();
            let changed = world.chooser.fired.len() > fired || world.writes > writes;
            if changed || !self.writers.iter().all(Writer::rests) {
                return Ok(false);
            }
        }
        // What is blocked is tried again from time to time.
        let blocked = (0..=self.scenario.others.len())
            .filter_map(|claim| self.report(claim))
            .flat_map(|report| &report.findings)
            .any(is_blocked);
        let spans = [Millis(0), SOME_TIME, SOME_TIME];
        for span in spans.into_iter().take(if blocked { 1 } else { 3 }) {
            self.look_after(span)?;
            let world = self.world.lock();
            if world.chooser.fired.len() > fired {
                return Ok(false);
            }
            if world.writes > writes {
                return broken(Law::RestIsSilent, "something was written at rest");
            }
        }
        // Somebody may have found more to do than a look.
        Ok(self.writers.iter().all(Writer::rests))
    }

    /// Everybody looks again after some time.
    fn look_after(&mut self, span: Millis) -> Result<(), Violation> {
        self.world.lock().pass_time(span);
        self.again(false);
        self.all_passes()
    }
}

fn is_blocked(finding: &Finding) -> bool {
    matches!(finding, Finding::Blocked { .. })
}
