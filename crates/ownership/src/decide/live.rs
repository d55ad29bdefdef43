//! The life of a claim: every slot filled with one resource, marked, and as it is wanted.

use std::sync::Arc;

use super::locate::Located;
use super::{Deciding, Decision, Filled, Flow, act};
use crate::blueprint::{Expr, Slot, SlotName, Source, resolve_props};
use crate::finding::{Finding, Reason};
use crate::kind::{BirthProof, Change};
use crate::ledger::{Edit, Intent, Known, Origin};
use crate::part::{Props, Resource};
use crate::query::{Query, Target};
use crate::rules::Rules;
use crate::sight::Sight;
use crate::step::{MarkRight, Step};
use crate::time::Millis;
use crate::verdict::{Owned, Verdict};

impl<R: Rules> Deciding<'_, R> {
    pub(super) fn live(&mut self) -> Flow<()> {
        if !self.ledger.pinned {
            return act(Decision::Write(vec![Edit::Pin]), Reason::Unpinned);
        }
        let blueprint = self.case.blueprint;
        let mut unwanted: Vec<&SlotName> = Vec::new();
        for slot in blueprint.slots() {
            if !self.is_wanted(slot)? {
                unwanted.push(&slot.name);
                continue;
            }
            let met = |name| self.id_of(name).is_some() || unwanted.contains(&name);
            if slot.dependencies().all(met) {
                match &slot.source {
                    Source::Own { .. } => self.fill(slot)?,
                    Source::Find { by, all } => self.find(slot, by, *all)?,
                }
            }
        }
        self.close_intents()
    }

    /// Whether a slot is wanted: not if it is only for a resource of ours, and that place is taken
    /// by somebody else's.
    fn is_wanted(&mut self, slot: &Slot) -> Flow<bool> {
        let host = slot.only_for.as_ref();
        let Some(host) = host.and_then(|name| self.case.blueprint.slot(name)) else {
            return Ok(true);
        };
        let Some(props) = self.props(&host.props) else {
            return Ok(false);
        };
        Ok(matches!(
            self.locate(host, &props)?,
            Located::Owned { .. }
                | Located::Newborn { .. }
                | Located::Adoptable { .. }
                | Located::Absent { .. }
        ))
    }

    fn props(&self, props: &[(&'static str, Expr)]) -> Option<Props> {
        resolve_props(props, &|name| self.id_of(name))
    }

    /// A slot that is ours to fill.
    fn fill(&mut self, slot: &Slot) -> Flow<()> {
        let Some(props) = self.props(&slot.props) else {
            return Ok(());
        };
        self.execute_condemned(slot)?;
        match self.locate(slot, &props)? {
            Located::Owned {
                resource,
                owned,
                twins,
            } => self.keep(slot, &props, &resource, owned, twins),
            Located::Newborn { resource } => {
                self.record(slot, &resource, Origin::Created)?;
                self.mark_new(slot, &resource)
            }
            Located::Adoptable { resource } => self.adopt(slot, &resource),
            Located::Used { resource } => {
                self.record(slot, &resource, Origin::Found)?;
                self.use_one(slot, &resource)
            }
            Located::Lost { resource } => {
                let target = Target::new(resource.kind, resource.id.clone());
                self.findings.push(Finding::MarkLost {
                    slot: slot.name.clone(),
                    target,
                });
                self.filled_with(slot, &resource, Verdict::Unmarked);
                Ok(())
            }
            Located::Refused(finding) => {
                self.findings.push(finding);
                Ok(())
            }
            Located::Absent { gone } => self.create(slot, &props, gone),
            Located::Pending => Ok(()),
        }
    }

    /// A resource that is ours: recorded, alone, marked and as it is wanted.
    fn keep(
        &mut self,
        slot: &Slot,
        props: &Props,
        resource: &Arc<Resource>,
        owned: Owned,
        twins: Vec<(Arc<Resource>, Owned)>,
    ) -> Flow<()> {
        self.record(slot, resource, Origin::Created)?;
        let target = owned.target().clone();
        self.sightings.clear(&Sight::Lost(target.clone()));
        if !self.is_held(&slot.name, &owned) {
            self.reduce(slot, &target, twins)?;
            self.repair_mark(slot, resource, &owned)?;
            self.repair_props(slot, props, resource, &owned)?;
            self.converge_inner(slot, &target, resource)?;
        }
        if !resource.ready {
            let again = self.now + slot.kind.settling;
            self.wait(again, Reason::AwaitReady(resource.id.clone()));
            return Ok(());
        }
        self.filled_with(slot, resource, Verdict::Owned(owned));
        Ok(())
    }

    fn filled_with(&mut self, slot: &Slot, resource: &Resource, verdict: Verdict) {
        let target = Target::new(resource.kind, resource.id.clone());
        self.filled.push(Filled {
            slot: slot.name.clone(),
            target,
            verdict,
        });
    }

    /// Records what fills a slot, unless the ledger says so already.
    fn record(&self, slot: &Slot, resource: &Resource, origin: Origin) -> Flow<()> {
        let target = Target::new(resource.kind, resource.id.clone());
        let recorded = self.ledger.ids.get(&slot.name) == Some(&resource.id);
        // A wish of the user's stays the user's; an id that we found or made is ours to correct.
        let known =
            self.ledger.known.contains_key(&target) || (recorded && origin == Origin::Found);
        if recorded && known {
            return Ok(());
        }
        let why = match self.view.created(&slot.name) {
            Some(_) => Reason::RecordNew(slot.name.clone()),
            None => Reason::RecordFound(slot.name.clone()),
        };
        let edit = Edit::Record {
            slot: slot.name.clone(),
            target,
            known: Known::new(slot, origin),
        };
        act(Decision::Write(vec![edit]), why)
    }

    pub(super) fn mark_new(&mut self, slot: &Slot, resource: &Resource) -> Flow<()> {
        let attempt = match self.ledger.intents.get(&slot.name) {
            Some(intent) => {
                // The intent is the only right to mark it, so it must be seen to stand: a stale
                // ledger could show one that was closed before somebody removed the mark.
                let sure = self.view.created(&slot.name).is_some()
                    || self.just_now(self.view.opened(&slot.name));
                if !sure {
                    let (slot, intent) = (slot.name.clone(), intent.clone());
                    let why = Reason::MarkNew(slot.clone());
                    return act(
                        Decision::Write(vec![Edit::OpenIntent { slot, intent }]),
                        why,
                    );
                }
                intent.attempt
            }
            None => self.ledger.attempts.get(&slot.name).copied().unwrap_or(1),
        };
        let tags = self.missing_tags(slot, resource, attempt);
        if tags.is_empty() {
            return Ok(());
        }
        let targets = vec![Target::new(resource.kind, resource.id.clone())];
        if resource.tags.len() + tags.len() > slot.kind.carrier.capacity() {
            let (slot, target) = (slot.name.clone(), targets[0].clone());
            self.findings.push(Finding::TagsFull { slot, target });
            return Ok(());
        }
        self.refresh(&targets[0])?;
        let step = Step::Mark {
            targets,
            tags,
            right: MarkRight::Birth,
        };
        act(Decision::Do(step), Reason::MarkNew(slot.name.clone()))
    }

    /// Adoption is written down, then marked, then seen by marks, like a create.
    pub(super) fn adopt(&mut self, slot: &Slot, resource: &Resource) -> Flow<()> {
        let target = Target::new(resource.kind, resource.id.clone());
        let known = Known::new(slot, Origin::Adopted);
        let record = Edit::Record {
            slot: slot.name.clone(),
            target: target.clone(),
            known: known.clone(),
        };
        if self.ledger.intents.contains_key(&slot.name) {
            // The intent may be a create's: then the adoption is not written down yet.
            if self.ledger.known.get(&target) == Some(&known) {
                return self.mark_new(slot, resource);
            }
            return act(
                Decision::Write(vec![record]),
                Reason::Adopt(slot.name.clone()),
            );
        }
        let last = self.ledger.attempts.get(&slot.name).copied().unwrap_or(0);
        let intent = Intent {
            kind: slot.kind.name,
            attempt: self.rules.next_attempt(last),
            sends: 1,
            name: resource.name.clone(),
            props: resource.props.clone(),
            before: None,
            adopts: Some(resource.id.clone()),
        };
        let edits = vec![
            Edit::OpenIntent {
                slot: slot.name.clone(),
                intent,
            },
            record,
        ];
        act(Decision::Write(edits), Reason::Adopt(slot.name.clone()))
    }

    /// A mark that names another holder, or lacks some of its tags, is completed.
    fn repair_mark(&mut self, slot: &Slot, resource: &Resource, owned: &Owned) -> Flow<()> {
        let attempt = owned.mark().map_or(1, |mark| mark.attempt);
        let tags = self.missing_tags(slot, resource, attempt);
        if tags.is_empty() {
            return Ok(());
        }
        self.refresh(owned.target())?;
        let targets = vec![owned.target().clone()];
        let step = Step::Mark {
            targets,
            tags,
            right: MarkRight::Repair(owned.clone()),
        };
        act(Decision::Do(step), Reason::RepairMark(slot.name.clone()))
    }

    fn repair_props(
        &mut self,
        slot: &Slot,
        wanted: &Props,
        resource: &Resource,
        owned: &Owned,
    ) -> Flow<()> {
        let mut change = Props::new();
        for rule in slot.kind.props {
            let Some(want) = wanted.get(rule.name) else {
                continue;
            };
            let found = resource.props.get(rule.name);
            if found == Some(want) {
                continue;
            }
            match rule.change {
                Change::InPlace => change.set(rule.name, want.clone()),
                Change::Never => self.findings.push(Finding::Drift {
                    slot: slot.name.clone(),
                    target: owned.target().clone(),
                    prop: rule.name,
                    wanted: want.clone(),
                    found: found.cloned().unwrap_or_else(|| "".into()),
                }),
                Change::Irrelevant => {}
            }
        }
        if change.iter().next().is_none() {
            return Ok(());
        }
        self.refresh(owned.target())?;
        match Step::update(owned.clone(), change, self.now) {
            Some(step) => act(Decision::Do(step), Reason::PropsDiffer(slot.name.clone())),
            None => Ok(()),
        }
    }

    /// Closes the intents whose resource a look-up by marks or name has shown with our mark.
    fn close_intents(&mut self) -> Flow<()> {
        let mut edits = Vec::new();
        for (name, intent) in &self.ledger.intents {
            let Some(slot) = self.case.blueprint.slot(name) else {
                continue;
            };
            let filled = self.filled.iter().find(|filled| filled.slot == *name);
            let Some(Filled {
                target, verdict, ..
            }) = filled
            else {
                continue;
            };
            let Some(owned) = its_own(intent, verdict) else {
                // Something else took its place: what was announced may still come, and then shows.
                let sight = Sight::Intent(name.clone(), intent.attempt, intent.sends);
                let over = |rules: &R, since| rules.late_effects_over_at(slot.kind, since);
                let target = target.id.clone();
                if slot.kind.birth != BirthProof::Token
                    && self.settled(sight, over, Reason::AwaitSettling(target))
                {
                    edits.push(Edit::CloseIntent { slot: name.clone() });
                }
                continue;
            };
            if owned.held_by().is_some() {
                continue;
            }
            if !self.rules.intent_needs_sight() || self.sighted(slot, target) {
                edits.push(Edit::CloseIntent { slot: name.clone() });
            } else {
                let since = self.sightings.since(
                    Sight::Intent(name.clone(), intent.attempt, intent.sends),
                    self.now,
                );
                let until = (since + slot.kind.settling).max(self.now + Millis(1));
                self.wait(until, Reason::AwaitSettling(target.id.clone()));
            }
        }
        if edits.is_empty() {
            return Ok(());
        }
        act(Decision::Write(edits), Reason::SeenByMarks)
    }

    /// Whether a look-up that could have found any resource of ours has found this one, with its
    /// mark: what we know of it must be what was read, not what our own Step should have made of it.
    fn sighted(&self, slot: &Slot, target: &Target) -> bool {
        if !self.view.seen(target).is_some_and(|seen| seen.read.fresh) {
            return false;
        }
        let key = self.case.identity.key(slot.kind);
        let by_marks = self.view.look(&Query::Marks {
            kind: slot.kind.name,
            key,
        });
        let by_name = self
            .props(&slot.props)
            .and_then(|props| self.name_query(slot, &props))
            .and_then(|query| self.view.look(&query));
        by_marks
            .into_iter()
            .chain(by_name)
            .any(|look| look.found.contains(target))
    }

    /// A slot that is only looked up: the recorded id, else whatever has the wanted properties.
    fn find(&mut self, slot: &Slot, by: &[(&'static str, Expr)], all: bool) -> Flow<()> {
        if let Some(id) = self.ledger.ids.get(&slot.name).cloned() {
            let target = Target::new(slot.kind.name, id.clone());
            match self.see(&target, || Reason::CheckRecorded(slot.name.clone()))? {
                Some((resource, _)) => return self.use_one(slot, &resource),
                None if !self.ledger.known.contains_key(&target) => {
                    self.findings.push(Finding::missing(slot, &id));
                    return Ok(());
                }
                None => {}
            }
        }
        let Some(props) = self.props(by) else {
            return Ok(());
        };
        let query = Query::Match {
            kind: slot.kind.name,
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
            self.findings.push(Finding::NoneToUse {
                slot: slot.name.clone(),
                field: slot.field,
                what: format!("{} with {}", slot.kind.noun, describe(by)).into(),
            });
            return Ok(());
        }
        let mut resources = Vec::with_capacity(found.len());
        for target in &found {
            if let Some((resource, _)) =
                self.see(target, || Reason::FindExisting(slot.name.clone()))?
            {
                resources.push(resource);
            }
        }
        if let ([only], false) = (resources.as_slice(), all) {
            self.record(slot, only, Origin::Found)?;
        }
        self.use_all(slot, &resources)
    }

    fn use_one(&mut self, slot: &Slot, resource: &Arc<Resource>) -> Flow<()> {
        self.use_all(slot, std::slice::from_ref(resource))
    }

    /// Resources that are not ours: they get the parts and tags that the served API asks for.
    fn use_all(&mut self, slot: &Slot, resources: &[Arc<Resource>]) -> Flow<()> {
        self.trace_tags(slot, resources)?;
        for resource in resources {
            let target = Target::new(resource.kind, resource.id.clone());
            self.add_inner_to_used(slot, &target, resource)?;
            self.filled_with(slot, resource, Verdict::Used);
        }
        Ok(())
    }
}

/// The proof that a resource is what an intent made or adopted: it has the intent's own attempt.
fn its_own<'v>(intent: &Intent, verdict: &'v Verdict) -> Option<&'v Owned> {
    match verdict {
        Verdict::Owned(owned) => {
            let attempt = owned.mark().map(|mark| mark.attempt);
            (attempt.is_none() || attempt == Some(intent.attempt)).then_some(owned)
        }
        _ => None,
    }
}

fn describe(by: &[(&'static str, Expr)]) -> String {
    let one = |(name, expr): &(&'static str, Expr)| match expr {
        Expr::Text(text) => format!("{name} {text}"),
        Expr::Slot(slot) => format!("{name} of slot {slot}"),
    };
    by.iter().map(one).collect::<Vec<_>>().join(" and ")
}
