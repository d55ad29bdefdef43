//! Calls on what exists: the one way to every Step that takes away or changes something, and what the
//! effect of a late one is waited for.

use super::{Deciding, Flow, Need, Phase, act};
use crate::finding::Reason;
use crate::kind::Kind;
use crate::ledger::{Edit, Origin};
use crate::place::KindAt;
use crate::query::Target;
use crate::sight::Sight;
use crate::step::Step;
use crate::time::Tick;
use crate::verdict::Verdict;

impl Deciding<'_> {
    /// Sends a Step that takes something away or changes it. First everything that whoever held the
    /// claim before has sent must have taken effect. Comes back without one if that takes time.
    pub(super) fn take(&mut self, step: Step, why: Reason) -> Flow<()> {
        if !self.is_taken_over(&step) {
            return Ok(());
        }
        self.send_announced(step, why)
    }

    /// Sends a Step on resources that exist. A call that could meet another claim's if it is late is
    /// announced first (law 1).
    pub(super) fn send_announced<T>(&mut self, step: Step, why: Reason) -> Flow<T> {
        let takes_away = step.takes_away();
        let mut targets: Vec<Target> = step.targets().to_vec();
        if takes_away && self.case.phase != Phase::Live {
            targets.extend(self.all_that_goes());
        }
        targets.retain(|target| {
            let announced = self.view.calling(target).map(|(at, _)| at);
            let named = is_a_name(target.kind) && (takes_away || self.rules.names_outlive_claims());
            let could_meet = named || (takes_away && self.outlives_the_claim(target));
            could_meet && !self.just_now(announced)
        });
        targets.sort();
        targets.dedup();
        let needed = step.targets().iter().any(|target| targets.contains(target));
        if needed && self.rules.waits_out_calls() {
            let edits = targets.into_iter().map(|target| self.call(target));
            let edits = edits.collect();
            return act(Need::Write(edits), Reason::AnnounceCall);
        }
        act(Need::Do(step), why)
    }

    /// The announcement of a call.
    pub(super) fn call(&mut self, target: Target) -> Edit {
        let before = self.ledger.calls.get(&target).copied();
        let after = before.filter(|_| self.late_until(&target).is_some());
        Edit::Call { target, after }
    }

    /// Whether a resource that is known only by its name may be deleted: what was sent to it before
    /// must have taken effect, or it meets whoever takes the name (law 1).
    pub(super) fn may_free(&mut self, kind: &Kind, target: &Target) -> bool {
        !is_a_name(kind) || !self.rules.frees_names_last() || self.is_quiet(target)
    }

    /// Whether no call that was announced for a resource can be late; waits for it if one can.
    fn is_quiet(&mut self, target: &Target) -> bool {
        let until = self.late_until(target);
        if let Some(until) = until {
            self.wait(until, await_call(target));
        }
        until.is_none()
    }

    /// Whether a resource stays when this claim has ended.
    fn outlives_the_claim(&self, target: &Target) -> bool {
        let ours = self.view.seen(target).is_some_and(|seen| {
            let resource = seen.resource.as_ref();
            resource.is_some_and(|resource| {
                matches!(
                    self.judge(target.kind, resource, seen.read),
                    Verdict::Owned(_)
                )
            })
        });
        let created = |target| {
            let known = self.ledger.known.get(target);
            known.is_some_and(|known| known.origin == Origin::Created)
        };
        !(ours || created(target)) || self.case.phase == Phase::Retaining
    }

    /// Everything that something will be taken away from at the end, as far as that is known: one
    /// announcement serves all of it.
    fn all_that_goes(&self) -> Vec<Target> {
        let mut all: Vec<Target> = Vec::new();
        for KindAt { kind, place } in self.case.kinds {
            for (resource, read) in self.view.of_kind(kind, place) {
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
        all.extend(self.left.iter().cloned());
        all
    }

    /// Whether every call that was announced has taken effect: answered in this pass, or too long ago
    /// to be late.
    pub(super) fn calls_are_over(&mut self) -> bool {
        if !self.rules.waits_out_calls() {
            return true;
        }
        let mut over = true;
        for target in self.ledger.calls.keys() {
            over &= self.is_quiet(target);
        }
        over
    }

    /// The announced calls of a living claim that can be forgotten.
    pub(super) fn answered_calls(&mut self) -> Vec<Edit> {
        let mut over = Vec::new();
        for target in self.ledger.calls.keys() {
            match self.late_until(target) {
                Some(until) => self.come_back(until, await_call(target)),
                None => over.push(Edit::Answered(target.clone())),
            }
        }
        over
    }

    /// Until when a call that was announced for a resource can be late; `None` if none can.
    pub(super) fn late_until(&mut self, target: &Target) -> Option<Tick> {
        let last = *self.ledger.calls.get(target)?;
        let last = match self.view.calling(target) {
            // A call whose outcome is not known ends the pass, so all of this pass were answered. The
            // next one knows only the last announcement, and counts from now.
            Some((_, before)) => {
                let sight = Sight::Call(target.clone(), last);
                self.sightings.since(sight, self.now);
                before?
            }
            None => last,
        };
        let sight = Sight::Call(target.clone(), last);
        self.due(sight, |rules, since| {
            rules.late_effects_over_at(target.kind, since)
        })
    }

    /// Whether nothing that the management cluster before this one has sent can take effect any more.
    fn is_taken_over(&mut self, step: &Step) -> bool {
        let Some(kind) = step.kind() else {
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

fn await_call(target: &Target) -> Reason {
    if target.is_whatever() {
        Reason::AwaitCreates(target.kind.name)
    } else {
        Reason::AwaitCall(target.id.clone())
    }
}

/// Whether a resource is known by a name that the next claim may take.
pub(super) fn is_a_name(kind: &Kind) -> bool {
    kind.ids.are_names()
}
