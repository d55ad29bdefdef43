//! Copies: what carries our mark and was not made by a create of ours.
//!
//! Of what the ledger does not list, name and mark tell all that there is to know. A create of ours gives the
//! name that the blueprint has; whoever copies an object, labels and all, gives the copy another. So what
//! is not called as we call it is not ours by its labels alone: it is told, and neither kept nor ended.

use super::Deciding;
use crate::blueprint::Slot;
use crate::finding::Finding;
use crate::kind::Naming;
use crate::part::{Props, Resource};
use crate::query::Target;
use crate::verdict::{Owned, Verdict};

impl Deciding<'_> {
    /// What carries our mark for a slot, and is called otherwise than what we make for it.
    pub(super) fn copies_of(&self, slot: &Slot) -> Vec<Target> {
        if slot.kind.recorded {
            return Vec::new();
        }
        let all = self.view.of_kind(slot.kind, &slot.place);
        let copies = all.filter(|(resource, read)| {
            let verdict = self.judge(slot.kind, resource, *read);
            let marked = matches!(verdict, Verdict::Owned(owned) if owned.mark().is_some_and(|mark| mark.slot == slot.name));
            let stays = !self.is_going(resource) && !self.view.deleted(&resource.target());
            marked && stays && is_copy(slot, resource)
        });
        copies.map(|(resource, _)| resource.target()).collect()
    }

    /// Tells of the copies of what fills a slot.
    pub(super) fn tell_copies(&mut self, slot: &Slot) {
        for copy in self.copies_of(slot) {
            self.findings.push(copied(slot, copy));
        }
    }

    /// Whether what carries our mark is no work of ours, as the claim ends: then that is told, and holds
    /// the end until a person has said whose it is.
    pub(super) fn stays_as_copy(&mut self, resource: &Resource, owned: &Owned) -> bool {
        let blueprint = self.case.blueprint;
        let slot = owned.mark().and_then(|mark| blueprint.slot(&mark.slot));
        let slot = slot.filter(|slot| slot.holds(owned.target()) && is_copy(slot, resource));
        let Some(slot) = slot.filter(|_| !self.is_going(resource)) else {
            return false;
        };
        self.findings.push(copied(slot, owned.target().clone()));
        true
    }
}

/// Whether something that the ledger would not list is called otherwise than what we make for a slot.
pub(super) fn is_copy(slot: &Slot, resource: &Resource) -> bool {
    !slot.kind.recorded && resource.name != slot.label
}

/// Whether something that the ledger would not list is not where its name is unique: of several with one
/// name it is not the one that is wanted.
pub(super) fn is_beside(slot: &Slot, props: &Props, resource: &Resource) -> bool {
    match slot.kind.naming {
        Naming::Within(prop) if !slot.kind.recorded => resource.props.get(prop) != props.get(prop),
        _ => false,
    }
}

pub(super) fn copied(slot: &Slot, target: Target) -> Finding {
    Finding::Copied {
        slot: slot.name.clone(),
        target,
        name: slot.label.clone(),
    }
}
