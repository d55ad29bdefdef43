//! Twins: several resources of ours in one slot, reduced to one (law 2).

use std::sync::Arc;

use super::{Deciding, Flow, Need, act};
use crate::blueprint::{Slot, SlotName};
use crate::finding::{Finding, Reason};
use crate::ledger::{Edit, Known, Origin};
use crate::part::Resource;
use crate::query::Target;
use crate::time::Millis;
use crate::verdict::{Owned, Verdict};

/// How soon the deletion of a blocked twin is tried again.
const BLOCKED: Millis = Millis::seconds(600);

impl Deciding<'_> {
    /// Condemns the twins of what is kept; data is never condemned (law 2).
    pub(super) fn reduce(
        &mut self,
        slot: &Slot,
        kept: &Target,
        mut twins: Vec<(Arc<Resource>, Owned)>,
    ) -> Flow<()> {
        twins.retain(|(_, twin)| !self.view.deleted(twin.target()));
        twins.retain(|(_, twin)| !self.is_held(&slot.name, twin));
        if twins.is_empty() {
            return Ok(());
        }
        if self.rules.spares_valuables(slot.kind) {
            let others = twins.iter();
            let others = others.map(|(_, twin)| twin.target().clone()).collect();
            let (slot, kept) = (slot.name.clone(), kept.clone());
            self.findings.push(Finding::Twins { slot, kept, others });
            return Ok(());
        }
        let why = Reason::Twin(kept.id.clone());
        if !self.rules.condemns_twins() {
            return self.delete(slot.kind, twins[0].1.target(), why);
        }
        let edits = twins
            .iter()
            .map(|(resource, twin)| Edit::Condemn {
                target: twin.target().clone(),
                known: Known::new(slot, Origin::Created, resource),
            })
            .collect();
        act(Need::Write(edits), why)
    }

    /// Deletes the condemned twins of a slot, and forgets those that are gone.
    pub(super) fn execute_condemned(&mut self, slot: &SlotName) -> Flow<()> {
        let ours = |target: &&Target| {
            let known = self.ledger.known.get(*target);
            known.is_some_and(|known| known.slot == *slot)
        };
        let condemned: Vec<Target> = self.ledger.condemned.iter().filter(ours).cloned().collect();
        for target in condemned {
            let (kind, why) = (target.kind, Reason::Condemned(target.id.clone()));
            let seen = self.see(&target, || why.clone())?;
            if self.is_blocked(&target) {
                continue;
            }
            match seen.map(|(resource, read)| self.judge(kind, &resource, read)) {
                Some(Verdict::Owned(owned)) => {
                    if self.is_held(slot, &owned) {
                        continue;
                    }
                    self.confirm_sentence(&target, why.clone())?;
                    self.delete(kind, &target, why)?;
                }
                // Not ours any more: released, like everything that lost its mark.
                Some(_) => return act(Need::Write(vec![Edit::Gone { target }]), why),
                // The sentence stands for as long as an old read can show the twin: whoever sees it
                // must not take it for the one to keep.
                None if self.gone_for_good(kind, &target) => {
                    return act(Need::Write(vec![Edit::Gone { target }]), why);
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Whether a twin's deletion was blocked a short while ago: then that is reported, and it is
    /// tried again only later, for a claim at rest writes nothing (law 8).
    fn is_blocked(&mut self, target: &Target) -> bool {
        if let Some(error) = self.view.blocked(target) {
            self.sightings
                .block(target.clone(), self.now, error.clone());
        }
        let Some((at, error)) = self.sightings.blocked(target) else {
            return false;
        };
        if self.now >= at + BLOCKED {
            return false;
        }
        self.findings.push(Finding::from((target, error)));
        true
    }

    /// A sentence that an earlier pass wrote is written again before it is executed: a stale ledger
    /// could show one that was lifted since.
    fn confirm_sentence(&self, target: &Target, why: Reason) -> Flow<()> {
        match self.ledger.known.get(target).cloned() {
            Some(known) if !self.just_now(self.view.condemned(target)) => {
                let target = target.clone();
                act(Need::Write(vec![Edit::Condemn { target, known }]), why)
            }
            _ => Ok(()),
        }
    }
}
