//! Before anything is done for a claim, everything about it is looked at: what a person wrote, and who
//! holds what is there.

use std::sync::Arc;

use super::find::Existing;
use super::locate::Located;
use super::{Deciding, Flow, Need, act};
use crate::blueprint::{Fills, IfMissing, Slot, SlotName, Source, resolve_props};
use crate::finding::{Finding, Reason};
use crate::ledger::Edit;
use crate::part::Resource;
use crate::text::Text;
use crate::verdict::{Owned, Verdict};

/// The slots that lead somewhere, and where.
#[derive(Default)]
struct Found(Vec<(SlotName, Arc<Resource>)>);

impl Found {
    fn add(&mut self, slot: &Slot, resource: &Arc<Resource>) {
        self.0.push((slot.name.clone(), resource.clone()));
    }

    fn get(&self, slot: &SlotName) -> Option<&Resource> {
        let found = self.0.iter().find(|(name, _)| name == slot);
        found.map(|(_, resource)| &**resource)
    }
}

impl Fills for Found {
    fn id(&self, slot: &SlotName) -> Option<Text> {
        self.get(slot).map(|resource| resource.id.text())
    }

    fn prop(&self, slot: &SlotName, name: &str) -> Option<Text> {
        self.get(slot)
            .and_then(|resource| resource.props.get(name).cloned())
    }
}

/// What a slot leads to before anything is done.
enum Scouted {
    /// A resource that is ours by its mark.
    Ours(Arc<Resource>, Owned),
    /// Resources that are somebody's, and ours to use.
    Used(Vec<Arc<Resource>>),
    /// A resource of which nothing more needs to be known.
    There(Arc<Resource>),
    /// Something that a person must correct.
    Wrong(Finding),
    /// Nothing, as far as anybody can tell.
    Nothing,
}

impl Deciding<'_> {
    /// Looks at everything. Says whether something is in the way of the whole claim: something that a
    /// person wrote cannot be satisfied, or another management cluster holds a part of it (law 5).
    pub(super) fn is_stopped(&mut self) -> Flow<bool> {
        let blueprint = self.case.blueprint;
        let mut found = Found::default();
        let mut wrong = Vec::new();
        let mut held = Vec::new();
        let mut used = Vec::new();
        // Slots of one carrier and role carry the same marks: those of the first tell for all.
        let mut markable = Vec::new();
        for slot in blueprint.slots() {
            let marks = (slot.kind.carrier, &slot.role, slot.cluster_mark);
            if !markable.contains(&marks) {
                if let Err(finding) = self.tags_for(slot, 1) {
                    wrong.push(finding);
                    continue;
                }
                markable.push(marks);
            }
            let scouted = self.scout(slot, &found);
            let Some(scouted) = self.in_turn(&slot.name, scouted) else {
                continue;
            };
            match scouted {
                Scouted::Ours(resource, owned) => {
                    found.add(slot, &resource);
                    held.push((slot, resource, owned));
                }
                Scouted::Used(resources) => {
                    if let Some(first) = resources.first() {
                        found.add(slot, first);
                    }
                    used.extend(resources.into_iter().map(|resource| (slot, resource)));
                }
                Scouted::There(resource) => found.add(slot, &resource),
                Scouted::Wrong(finding) => wrong.push(finding),
                Scouted::Nothing => {}
            }
        }
        self.together()?;
        if !wrong.is_empty() {
            self.findings = wrong;
            return Ok(true);
        }
        if !self.rules.stops_for_held_parts() {
            return Ok(self.has_yielded());
        }
        let mut inside = Vec::new();
        for (slot, resource) in used {
            let target = resource.target();
            let by = self.held_inside(slot, &target, &resource)?;
            inside.extend(by.map(|by| (slot, resource, by)));
        }
        let elsewhere = held.iter().filter_map(|(.., owned)| owned.held_by());
        let elsewhere = elsewhere.chain(inside.iter().map(|(.., by)| by));
        let Some(by) = elsewhere.max_by_key(|held| held.generation).cloned() else {
            return Ok(self.has_yielded());
        };
        if self.ledger.yielded.as_ref() != Some(&by) {
            let slots = held.iter().map(|(slot, ..)| slot);
            let slot = slots.chain(inside.iter().map(|(slot, ..)| slot)).next();
            let why = slot.map_or(Reason::Settled, |slot| Reason::Yield(slot.name.clone()));
            return act(Need::Write(vec![Edit::Yield(by)]), why);
        }
        for (slot, resource, owned) in held {
            self.is_held(&slot.name, &owned);
            self.filled_with(slot, &resource, Verdict::Owned(owned));
        }
        for (slot, resource, by) in inside {
            self.findings.push(Finding::Held {
                slot: slot.name.clone(),
                target: resource.target(),
                by,
            });
            self.filled_with(slot, &resource, Verdict::Used);
        }
        Ok(true)
    }

    /// Looks at what a slot leads to.
    fn scout(&mut self, slot: &Slot, found: &Found) -> Flow<Scouted> {
        let Source::Own { if_missing } = &slot.source else {
            return Ok(match self.existing(slot, found)? {
                Existing::There(resources) => Scouted::Used(resources),
                Existing::Refused(finding) => Scouted::Wrong(finding),
                Existing::Unknown => Scouted::Nothing,
            });
        };
        if !self.is_wanted(slot, found)? {
            return Ok(Scouted::Nothing);
        }
        let Some(props) = resolve_props(&slot.props, found) else {
            return Ok(Scouted::Nothing);
        };
        Ok(match self.locate(slot, &props)? {
            Located::Owned {
                resource, owned, ..
            } => Scouted::Ours(resource, owned),
            Located::Used { resource } => Scouted::Used(vec![resource]),
            Located::Newborn { resource }
            | Located::Adoptable { resource }
            | Located::Lost { resource } => Scouted::There(resource),
            Located::Refused(finding @ Finding::Missing { .. })
                if *if_missing == IfMissing::Refuse =>
            {
                Scouted::Wrong(finding)
            }
            Located::Refused(_) | Located::Absent { .. } | Located::Pending => Scouted::Nothing,
        })
    }

    /// Whether another management cluster was seen to hold the claim, and nothing of it is seen now:
    /// what it deleted is not made again here.
    pub(super) fn has_yielded(&mut self) -> bool {
        let identity = self.case.identity;
        let Some(by) = &self.ledger.yielded else {
            return false;
        };
        let confirmed = identity.taken_over.get(&by.holder);
        if by.holder == identity.holder || confirmed.is_some_and(|upto| by.generation <= *upto) {
            return false;
        }
        self.findings.push(Finding::Yielded { by: by.clone() });
        self.rules.stops_for_held_parts()
    }
}
