//! Taking away: the one way to every Step that removes something, and what its effect is waited for.

use super::{Deciding, Decision, Flow, Phase, act};
use crate::finding::Reason;
use crate::kind::Ids;
use crate::ledger::{Edit, Origin};
use crate::query::Target;
use crate::rules::Rules;
use crate::sight::Sight;
use crate::step::Step;
use crate::time::Tick;
use crate::verdict::Verdict;

impl<R: Rules> Deciding<'_, R> {
    /// Sends a Step that takes something away or changes it. First everything that whoever held the
    /// claim before has sent must have taken effect; and a call that could meet another claim's if it
    /// is late is announced (law 1). Comes back without one if that takes time.
    pub(super) fn take(&mut self, step: Step, why: Reason) -> Flow<()> {
        if !self.is_taken_over(&step) {
            return Ok(());
        }
        if step.takes_away() && self.rules.waits_out_removals() {
            let mut targets: Vec<Target> = step.targets().to_vec();
            if self.case.phase != Phase::Live {
                targets.extend(self.all_that_goes());
            }
            targets.retain(|target| {
                let announced = self.view.removing(target).map(|(at, _)| at);
                self.outlives_the_claim(target) && !self.just_now(announced)
            });
            targets.sort();
            targets.dedup();
            let needed = step.targets().iter().any(|target| targets.contains(target));
            if needed {
                let edits = targets.into_iter().map(Edit::Remove).collect();
                return act(Decision::Write(edits), Reason::AnnounceRemoval);
            }
        }
        act(Decision::Do(step), why)
    }

    /// Whether a late call on this resource could meet another claim's: the resource stays when this
    /// claim has ended, or is known by a name that the next one may take.
    fn outlives_the_claim(&self, target: &Target) -> bool {
        let Some(kind) = self.kind_of(target.kind) else {
            return true;
        };
        let ours = self.view.seen(target).is_some_and(|seen| {
            let resource = seen.resource.as_ref();
            resource.is_some_and(|resource| {
                matches!(self.judge(kind, resource, seen.read), Verdict::Owned(_))
            })
        });
        let created = |target| {
            let known = self.ledger.known.get(target);
            known.is_some_and(|known| known.origin == Origin::Created)
        };
        let goes = (ours || created(target)) && self.case.phase != Phase::Retaining;
        kind.ids == Ids::Names || !goes
    }

    /// Everything that something will be taken away from at the end, as far as that is known: one
    /// announcement serves all of it.
    fn all_that_goes(&self) -> Vec<Target> {
        let mut all: Vec<Target> = Vec::new();
        for kind in self.case.kinds {
            for (resource, read) in self.view.of_kind(kind.name) {
                if let Verdict::Owned(owned) = self.judge(kind, resource, read)
                    && owned.held_by().is_none()
                    && !self.view.deleted(owned.target())
                {
                    all.push(owned.target().clone());
                }
            }
        }
        let traces = self.ledger.traces.keys().map(|trace| trace.on.clone());
        all.extend(traces);
        all
    }

    /// Whether every call that takes something away has taken effect: answered in this pass, or too
    /// long ago to be late.
    pub(super) fn removals_are_over(&mut self) -> bool {
        if !self.rules.waits_out_removals() {
            return true;
        }
        let mut over = true;
        for (target, times) in &self.ledger.removals {
            if let Some(until) = self.late_until(target, *times) {
                self.wait(until, Reason::AwaitRemoval(target.id.clone()));
                over = false;
            }
        }
        over
    }

    /// The removals of a living claim that can be forgotten.
    pub(super) fn over_removals(&mut self) -> Vec<Edit> {
        let mut over = Vec::new();
        for (target, times) in &self.ledger.removals {
            match self.late_until(target, *times) {
                Some(until) => self.come_back(until, Reason::AwaitRemoval(target.id.clone())),
                None => over.push(Edit::Removed(target.clone())),
            }
        }
        over
    }

    /// Until when a call that was announced so many times can be late; `None` if none can.
    pub(super) fn late_until(&mut self, target: &Target, times: u32) -> Option<Tick> {
        // A call whose outcome is not known ends the pass, so all of this pass were answered.
        let answered = self.view.removing(target).map_or(0, |(_, times)| times);
        let kind = self.kind_of(target.kind).filter(|_| answered < times)?;
        let sight = Sight::Removal(target.clone(), times);
        self.due(sight, |rules, since| {
            rules.late_effects_over_at(kind, since)
        })
    }

    /// Whether nothing that the management cluster before this one has sent can take effect any more.
    fn is_taken_over(&mut self, step: &Step) -> bool {
        let Some(kind) = self.kind_of(step.kind()) else {
            return true;
        };
        // A process that has just started cannot know when the marks were written.
        let since = if self.case.identity.taken_over.is_empty() {
            self.sightings.noted(&Sight::TakenOver)
        } else {
            Some(self.sightings.since(Sight::TakenOver, self.now))
        };
        let Some(since) = since else {
            return true;
        };
        let until = self.rules.taken_over_at(kind, since);
        if self.now >= until {
            return true;
        }
        let id = step.targets().first().map(|target| target.id.clone());
        if let Some(id) = id {
            self.wait(until, Reason::AwaitTakeOver(id));
        }
        false
    }
}
