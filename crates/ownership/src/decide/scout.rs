//! Before anything is done for a claim, everything about it is looked at: what a person wrote, and who
//! holds what is there.

use std::sync::Arc;

use super::locate::Located;
use super::{Deciding, Decision, Flow, act};
use crate::blueprint::{Expr, IfMissing, Slot, SlotName, Source, resolve_props};
use crate::finding::{Finding, Reason};
use crate::ledger::Edit;
use crate::part::Resource;
use crate::query::{Query, Target};
use crate::rules::Rules;
use crate::text::ResourceId;
use crate::verdict::Verdict;

/// What a slot that is only looked up leads to.
pub(super) enum Existing {
    /// These.
    There(Vec<Arc<Resource>>),
    /// Nothing: somebody must correct something.
    Missing(Finding),
    /// It depends on a slot that is not filled yet.
    Unknown,
}

/// The slots that lead somewhere, and where.
type Found = Vec<(SlotName, ResourceId)>;

impl<R: Rules> Deciding<'_, R> {
    /// Looks at everything. Says whether something is in the way of the whole claim: something that a
    /// person wrote cannot be satisfied, or another management cluster holds a part of it (law 5).
    pub(super) fn is_stopped(&mut self) -> Flow<bool> {
        let blueprint = self.case.blueprint;
        let mut found = Found::new();
        let mut wrong = Vec::new();
        let mut held = Vec::new();
        let mut used = Vec::new();
        for slot in blueprint.slots() {
            if let Err(finding) = self.tags_for(slot, 1) {
                wrong.push(finding);
                continue;
            }
            match &slot.source {
                Source::Find { by, all } => {
                    match self.existing(slot, by, *all, &|name| id_in(&found, name))? {
                        Existing::There(resources) => {
                            let first = resources.first().map(|first| first.id.clone());
                            found.extend(first.map(|id| (slot.name.clone(), id)));
                            used.extend(resources.into_iter().map(|resource| (slot, resource)));
                        }
                        Existing::Missing(finding) => wrong.push(finding),
                        Existing::Unknown => {}
                    }
                }
                Source::Own { if_missing } => {
                    if !self.is_wanted(slot, &|name| id_in(&found, name))? {
                        continue;
                    }
                    let ids = |name: &SlotName| id_in(&found, name);
                    let Some(props) = resolve_props(&slot.props, &ids) else {
                        continue;
                    };
                    let located = self.locate(slot, &props)?;
                    match located {
                        Located::Owned {
                            resource, owned, ..
                        } => {
                            found.push((slot.name.clone(), resource.id.clone()));
                            held.push((slot, resource, owned));
                        }
                        Located::Used { resource } => {
                            found.push((slot.name.clone(), resource.id.clone()));
                            used.push((slot, resource));
                        }
                        Located::Newborn { resource }
                        | Located::Adoptable { resource }
                        | Located::Lost { resource } => {
                            found.push((slot.name.clone(), resource.id.clone()));
                        }
                        Located::Refused(finding @ Finding::Missing { .. })
                            if *if_missing == IfMissing::Refuse =>
                        {
                            wrong.push(finding);
                        }
                        Located::Refused(_) | Located::Absent { .. } | Located::Pending => {}
                    }
                }
            }
        }
        if !wrong.is_empty() {
            self.findings = wrong;
            return Ok(true);
        }
        if !self.rules.stops_for_held_parts() {
            return Ok(self.has_yielded());
        }
        let mut inside = Vec::new();
        for (slot, resource) in used {
            let target = Target::new(resource.kind, resource.id.clone());
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
            return act(Decision::Write(vec![Edit::Yield(by)]), why);
        }
        for (slot, resource, owned) in held {
            self.is_held(&slot.name, &owned);
            self.filled_with(slot, &resource, Verdict::Owned(owned));
        }
        for (slot, resource, by) in inside {
            self.findings.push(Finding::Held {
                slot: slot.name.clone(),
                target: Target::new(resource.kind, resource.id.clone()),
                by,
            });
            self.filled_with(slot, &resource, Verdict::Used);
        }
        Ok(true)
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

    /// What a slot that is only looked up leads to: the recorded id, else whatever has the wanted
    /// properties.
    pub(super) fn existing(
        &mut self,
        slot: &Slot,
        by: &[(&'static str, Expr)],
        all: bool,
        id_of: &impl Fn(&SlotName) -> Option<ResourceId>,
    ) -> Flow<Existing> {
        if let Some(id) = self.ledger.ids.get(&slot.name).cloned() {
            let target = Target::new(slot.kind, id.clone());
            match self.see(&target, || Reason::CheckRecorded(slot.name.clone()))? {
                Some((resource, _)) => return Ok(Existing::There(vec![resource])),
                None if !self.ledger.known.contains_key(&target) => {
                    return Ok(Existing::Missing(Finding::missing(slot, &id)));
                }
                None => {}
            }
        }
        let Some(props) = resolve_props(by, id_of) else {
            return Ok(Existing::Unknown);
        };
        let query = Query::Match {
            kind: slot.kind,
            name: "".into(),
            props,
        };
        let look = self.look(query, || Reason::FindExisting(slot.name.clone()))?;
        let found: Vec<Target> = look
            .found
            .iter()
            .take(if all { usize::MAX } else { 1 })
            .cloned()
            .collect();
        if found.is_empty() {
            return Ok(Existing::Missing(Finding::NoneToUse {
                slot: slot.name.clone(),
                field: slot.field.clone(),
                what: format!("{} with {}", slot.kind.noun, describe(by)).into(),
            }));
        }
        let mut resources = Vec::with_capacity(found.len());
        for target in &found {
            let seen = self.see(target, || Reason::FindExisting(slot.name.clone()))?;
            resources.extend(seen.map(|(resource, _)| resource));
        }
        Ok(Existing::There(resources))
    }
}

/// Where a slot leads.
pub(super) fn id_in(found: &[(SlotName, ResourceId)], name: &SlotName) -> Option<ResourceId> {
    let mut found = found.iter();
    found
        .find(|(slot, _)| slot == name)
        .map(|(_, id)| id.clone())
}

fn describe(by: &[(&'static str, Expr)]) -> String {
    let one = |(name, expr): &(&'static str, Expr)| match expr {
        Expr::Text(text) => format!("{name} {text}"),
        Expr::Slot(slot) => format!("{name} of slot {slot}"),
    };
    by.iter().map(one).collect::<Vec<_>>().join(" and ")
}
