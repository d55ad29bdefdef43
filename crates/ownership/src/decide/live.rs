//! The life of a claim: every slot filled with one resource, marked, and as it is wanted.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::find::Existing;
use super::locate::Located;
use super::take::is_a_name;
use super::{Deciding, Filled, Flow, Need, Unfinished, act};
use crate::blueprint::{Expr, Fills, Slot, Source, resolve_props};
use crate::finding::{Finding, Reason};
use crate::kind::{BirthProof, Change};
use crate::ledger::{Edit, Intent, Known, Origin, Part};
use crate::part::{Props, Resource};
use crate::query::Target;
use crate::rules::Rules;
use crate::secret::Digests;
use crate::sight::Sight;
use crate::step::{MarkRight, Step};
use crate::text::Text;
use crate::time::Tick;
use crate::verdict::{self, Owned, Standing, Verdict};
use crate::view::Seen;

impl Deciding<'_> {
    pub(super) fn live(&mut self) -> Flow<()> {
        if !self.ledger.pinned {
            let mut edits = vec![Edit::Pin];
            edits.extend(self.new_revision());
            return act(Need::Write(edits), Reason::Unpinned);
        }
        self.answer_refused_creates();
        // What was looked at before the first Step of a pass need not be looked at again.
        if !self.view.has_acted() && self.is_stopped()? {
            return self.together();
        }
        for slot in self.case.blueprint.slots() {
            let is_over =
                self.view.turn_is_over(&slot.name).is_some() || self.view.is_unrecorded(&slot.name);
            if is_over || self.is_busy(&slot.name) || self.waits_for_others(slot) {
                continue;
            }
            self.slot = Some(slot.name.clone());
            let asked = self.ask_slot(slot);
            if self.in_turn(&slot.name, asked).is_none() {
                self.filled.retain(|filled| filled.slot != slot.name);
                self.unfinished.retain(|it| it.slot != slot.name);
            }
        }
        self.finish();
        self.together()?;
        self.shrink()?;
        self.slot = None;
        self.close_books()
    }

    fn ask_slot(&mut self, slot: &Slot) -> Flow<()> {
        if slot.only_for.is_some() && !self.is_wanted(slot, &self.filled.clone())? {
            self.unwanted.push(slot.name.clone());
            return Ok(());
        }
        let met = |name| self.id_of(name).is_some() || self.unwanted.contains(name);
        if self.rules.waits_for_dependencies() && !slot.dependencies().all(met) {
            return Ok(());
        }
        match &slot.source {
            Source::Own { .. } => self.fill(slot),
            Source::Find { all, .. } => self.find(slot, *all),
        }
    }

    /// Puts parts into resources that refer to slots which were filled after them. While others need
    /// something, only where all is known.
    fn finish(&mut self) {
        let is_last = self.round.is_empty();
        for unfinished in std::mem::take(&mut self.unfinished) {
            let Some(slot) = self.case.blueprint.slot(&unfinished.slot) else {
                continue;
            };
            if !is_last && !self.knows_parts(slot) {
                continue;
            }
            self.slot = Some(slot.name.clone());
            let resource = &unfinished.resource;
            let asked = if let Some(owned) = &unfinished.owned {
                self.converge_inner(slot, resource, owned)
            } else {
                let target = resource.target();
                self.add_inner_to_used(slot, &target, resource)
            };
            self.in_turn(&slot.name, asked);
        }
    }

    /// Whether a slot is wanted: not if it is only for a resource of ours, and that place is taken
    /// by somebody else's.
    pub(super) fn is_wanted(&mut self, slot: &Slot, fills: &impl Fills) -> Flow<bool> {
        let host = slot.only_for.as_ref();
        let Some(host) = host.and_then(|name| self.case.blueprint.slot(name)) else {
            return Ok(true);
        };
        let Some(props) = resolve_props(&host.props, fills) else {
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
        resolve_props(props, self)
    }

    /// A slot that is ours to fill.
    fn fill(&mut self, slot: &Slot) -> Flow<()> {
        let Some(props) = self.props(&slot.props) else {
            return Ok(());
        };
        self.note_operation(&slot.name)?;
        self.execute_condemned(&slot.name)?;
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
                let target = resource.target();
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
        self.sightings.clear(&Sight::Missing(target.clone()));
        if let Some(by) = owned
            .held_by()
            .filter(|by| self.ledger.yielded.as_ref() != Some(*by))
            && self.rules.stops_for_held_parts()
        {
            let edit = Edit::Yield(by.clone());
            return act(Need::Write(vec![edit]), Reason::Yield(slot.name.clone()));
        }
        if !self.is_held(&slot.name, &owned) {
            self.note_user_tags(slot, resource)?;
            self.repair_mark(slot, resource, &owned)?;
            self.reduce(slot, &target, twins)?;
            self.tell_copies(slot);
            if let Some(why) = self.failure(resource) {
                return self.replace(slot, &owned, &why.clone());
            }
            if !self.is_ready(resource) {
                return Ok(());
            }
            self.converge_user_tags(slot, resource, &owned)?;
            self.repair_props(slot, props, resource, &owned)?;
            if self.knows_parts(slot) {
                self.converge_inner(slot, resource, &owned)?;
            } else {
                self.unfinished.push(Unfinished {
                    slot: slot.name.clone(),
                    resource: resource.clone(),
                    owned: Some(owned.clone()),
                });
            }
        }
        self.filled_with(slot, resource, Verdict::Owned(owned));
        Ok(())
    }

    pub(super) fn filled_with(&mut self, slot: &Slot, resource: &Resource, verdict: Verdict) {
        let target = resource.target();
        let marks =
            || verdict::read_marks(self.rules, self.case.identity, slot.kind, &resource.tags);
        let standing = (verdict == Verdict::Used).then(|| marks().standing());
        let owner = match standing {
            Some(Standing::Foreign(owner)) => Some(owner),
            _ => None,
        };
        self.filled.push(Filled {
            slot: slot.name.clone(),
            target,
            verdict,
            props: resource.props.clone(),
            name: resource.name.clone(),
            owner,
        });
    }

    /// Records what fills a slot, unless the ledger says so already, or its mark and name say all.
    fn record(&mut self, slot: &Slot, resource: &Resource, origin: Origin) -> Flow<()> {
        if !slot.kind.recorded && origin == Origin::Created {
            return Ok(());
        }
        let target = resource.target();
        let recorded = self.ledger.ids.get(&slot.name) == Some(&resource.id);
        // A wish of the user's stays the user's; an id that we found or made is ours to correct.
        let known = match self.ledger.known.get(&target) {
            Some(known) => resource.unique.is_none() || known.unique == resource.unique,
            None => recorded && origin == Origin::Found,
        };
        if recorded && known {
            return Ok(());
        }
        let born = self.view.created(&slot.name).is_some();
        let known = Known {
            tags: self.wrote_tags(slot, resource, origin),
            ..Known::new(slot, origin, resource)
        };
        let mut edits = vec![Edit::Record {
            slot: slot.name.clone(),
            target: target.clone(),
            known,
        }];
        if born && !self.rules.answer_proves(slot.kind) {
            // What is inside it already we did not put there.
            let parts = BTreeSet::new();
            edits.push(Edit::Wrote { target, parts });
        } else if born {
            // Nothing is inside it but what the create put there: what will be, is what we put there, and
            // by which calls.
            let mut parts = self.wished(slot);
            parts.extend(self.carried(slot));
            let named = is_a_name(slot.kind) && self.rules.names_outlive_claims();
            if !parts.is_empty() && named {
                edits.push(self.call(target.clone()));
            }
            edits.push(Edit::Wrote { target, parts });
            if let Some(operation) = self.view.running(&slot.name).cloned() {
                let slot = slot.name.clone();
                edits.push(Edit::Running { slot, operation });
            }
        } else if origin == Origin::Created {
            // Its create's answer was lost: what it put inside is ours, whatever is wished for by now.
            let mut parts = self.carried(slot);
            if !parts.is_empty() {
                parts.extend(self.wished(slot));
                edits.push(Edit::Wrote { target, parts });
            }
        }
        let why = if born {
            Reason::RecordNew(slot.name.clone())
        } else {
            Reason::RecordFound(slot.name.clone())
        };
        act(Need::Write(edits), why)
    }

    /// The user's tags that count as ours on a resource of ours of which nothing is known yet: whatever is
    /// asked for its create has written, or whoever had it before did so for this object.
    fn wrote_tags(
        &self,
        slot: &Slot,
        resource: &Resource,
        origin: Origin,
    ) -> BTreeSet<(Text, Text)> {
        let known = self.ledger.known.get(&resource.target());
        if origin == Origin::Found || known.is_some_and(|known| known.is(slot.kind, resource)) {
            return BTreeSet::new();
        }
        // What our own create has just overwritten was somebody's.
        let born = self.view.created(&slot.name).is_some();
        let overwrites = born && !self.rules.answer_proves(slot.kind);
        let ours = |(key, value): &&(Text, Text)| !overwrites || !resource.tags.has(key, value);
        slot.user_tags.iter().filter(ours).cloned().collect()
    }

    /// The parts that the announced create of a slot puts into its resource itself.
    fn carried(&self, slot: &Slot) -> BTreeSet<Part> {
        let Some(intent) = self.ledger.intents.get(&slot.name) else {
            return BTreeSet::new();
        };
        let inner = slot.kind.inner.iter();
        let carried = inner.filter_map(|inner| {
            let keys = intent.props.get(inner.born_with?)?;
            Some(keys.split(',').map(|key| (inner.name, key.into())))
        });
        carried.flatten().collect()
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
                    return act(Need::Write(vec![Edit::OpenIntent { slot, intent }]), why);
                }
                intent.attempt
            }
            None => self.ledger.attempts.get(&slot.name).copied().unwrap_or(1),
        };
        self.note_user_tags(slot, resource)?;
        let tags = self.missing_tags(slot, resource, attempt);
        let targets = vec![resource.target()];
        if tags.is_empty() {
            // It was marked in this pass, and what was read since is older than that.
            if self.view.has_marked(&targets[0]) {
                let again = self.now + slot.kind.settling;
                self.wait(again, Reason::AwaitIntent(slot.name.clone()));
            }
            return Ok(());
        }
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
        self.send_announced(step, Reason::MarkNew(slot.name.clone()))
    }

    /// Adoption is written down, then marked, then seen by marks, like a create.
    pub(super) fn adopt(&mut self, slot: &Slot, resource: &Resource) -> Flow<()> {
        let target = resource.target();
        let known = Known {
            tags: self.wrote_tags(slot, resource, Origin::Adopted),
            ..Known::new(slot, Origin::Adopted, resource)
        };
        let record = Edit::Record {
            slot: slot.name.clone(),
            target: target.clone(),
            known: known.clone(),
        };
        if self.ledger.intents.contains_key(&slot.name) {
            // The intent may be a create's: then the adoption is not written down yet.
            let written = self.ledger.known.get(&target);
            if written.is_some_and(|written| {
                written.origin == Origin::Adopted && written.unique == known.unique
            }) {
                return self.mark_new(slot, resource);
            }
            return act(Need::Write(vec![record]), Reason::Adopt(slot.name.clone()));
        }
        let last = self.ledger.attempts.get(&slot.name).copied().unwrap_or(0);
        let intent = Intent {
            kind: slot.kind,
            place: slot.place.clone(),
            attempt: self.rules.next_attempt(last),
            sends: 1,
            name: resource.name.clone(),
            props: resource.props.clone(),
            secrets: Digests::new(),
            before: None,
            adopts: Some(resource.id.clone()),
            operation: None,
        };
        let edits = vec![
            Edit::OpenIntent {
                slot: slot.name.clone(),
                intent,
            },
            record,
        ];
        act(Need::Write(edits), Reason::Adopt(slot.name.clone()))
    }

    /// A mark that names another holder, or lacks some of its tags, is completed.
    pub(super) fn repair_mark(
        &mut self,
        slot: &Slot,
        resource: &Resource,
        owned: &Owned,
    ) -> Flow<()> {
        let identity = self.case.identity;
        let attempt = owned.mark().map_or(1, |mark| mark.attempt);
        let mut tags = self.missing_tags(slot, resource, attempt);
        if owned.mark().is_some_and(|mark| !identity.outdates(mark)) {
            let key = identity.key(slot.kind);
            tags.retain(|(missing, _)| *missing != key);
        }
        if tags.is_empty() {
            return Ok(());
        }
        self.refresh(owned.target())?;
        if owned
            .mark()
            .is_some_and(|mark| mark.holder != identity.holder)
        {
            self.sightings.note(Sight::TakenOver, self.now);
        }
        let targets = vec![owned.target().clone()];
        let step = Step::Mark {
            targets,
            tags,
            right: MarkRight::Repair(owned.clone()),
        };
        self.send_announced(step, Reason::RepairMark(slot.name.clone()))
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
                Change::Irrelevant | Change::Given | Change::Secret => {}
            }
        }
        if change.iter().next().is_none() {
            return Ok(());
        }
        self.refresh(owned.target())?;
        match Step::update(owned.clone(), change, self.now) {
            Some(step) => self.take(step, Reason::PropsDiffer(slot.name.clone())),
            None => Ok(()),
        }
    }

    /// Closes what is open in the ledger and can be: one write for all of it, and nobody waits for it.
    fn close_books(&mut self) -> Flow<()> {
        let (mut edits, mut by_time) = self.over_intents();
        by_time.extend(self.answered_calls());
        by_time.extend(self.forgotten_parts());
        by_time.extend(self.left_for_good());
        let why = if by_time.is_empty() {
            Reason::SeenByMarks
        } else {
            Reason::Settled
        };
        edits.extend(by_time);
        edits.extend(self.new_revision());
        if edits.is_empty() {
            return Ok(());
        }
        act(Need::Write(edits), why)
    }

    /// The intents whose resource a look-up by marks or name has shown with our mark; and those whose
    /// place something else has taken, and that cannot come any more.
    fn over_intents(&mut self) -> (Vec<Edit>, Vec<Edit>) {
        let (mut edits, mut by_time) = (Vec::new(), Vec::new());
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
                let over = |rules: &dyn Rules, since| rules.late_effects_over_at(slot.kind, since);
                let target = target.id.clone();
                if slot.kind.birth != BirthProof::Token
                    && self.closable(sight, over, Reason::AwaitSettling(target))
                {
                    by_time.push(Edit::CloseIntent { slot: name.clone() });
                }
                continue;
            };
            if owned.held_by().is_some() {
                continue;
            }
            let sight = Sight::Intent(name.clone(), intent.attempt, intent.sends);
            let since = self.sightings.since(sight, self.now);
            if !self.rules.intent_needs_sight() || self.sighted(slot, target, since) {
                edits.push(Edit::CloseIntent { slot: name.clone() });
            } else {
                let settled = since + slot.kind.settling;
                let until = if settled > self.now {
                    settled
                } else {
                    self.now + slot.kind.settling
                };
                self.come_back(until, Reason::AwaitSettling(target.id.clone()));
            }
        }
        (edits, by_time)
    }

    /// Whether a look-up that could have found any resource of ours has found this one, with its
    /// mark: what we know of it must be what was read, not what our own Step should have made of it.
    /// A survey that began when the create had been answered shows as much; what it does not show,
    /// it says nothing about.
    fn sighted(&self, slot: &Slot, target: &Target, since: Tick) -> bool {
        let read =
            |seen: &Seen| seen.read.fresh || (!self.view.has_acted() && seen.read.at >= since);
        if !self.view.seen(target).is_some_and(read) {
            return false;
        }
        let by_marks = self.view.look(&self.marks_query(slot.kind, &slot.place));
        let by_name = self
            .props(&slot.props)
            .and_then(|props| self.name_query(slot, &props))
            .and_then(|query| self.view.look(&query));
        by_marks
            .into_iter()
            .chain(by_name)
            .any(|look| look.found.contains(target))
    }

    /// A slot that is only looked up.
    fn find(&mut self, slot: &Slot, all: bool) -> Flow<()> {
        match self.existing(slot, &self.filled.clone())? {
            Existing::There(resources) => {
                if let ([only], false) = (resources.as_slice(), all) {
                    self.record(slot, only, Origin::Found)?;
                }
                self.use_all(slot, &resources)
            }
            Existing::Refused(finding) => {
                self.findings.push(finding);
                Ok(())
            }
            Existing::Unknown => Ok(()),
        }
    }

    fn use_one(&mut self, slot: &Slot, resource: &Arc<Resource>) -> Flow<()> {
        self.use_all(slot, std::slice::from_ref(resource))
    }

    /// Resources that are not ours: they get the parts and tags that the served API asks for.
    fn use_all(&mut self, slot: &Slot, resources: &[Arc<Resource>]) -> Flow<()> {
        for resource in resources {
            if self.has_failed(slot, resource) || !self.is_ready(resource) {
                return Ok(());
            }
        }
        self.trace_tags(slot, resources)?;
        for resource in resources {
            let target = resource.target();
            if self.knows_parts(slot) {
                self.add_inner_to_used(slot, &target, resource)?;
            } else {
                self.unfinished.push(Unfinished {
                    slot: slot.name.clone(),
                    resource: resource.clone(),
                    owned: None,
                });
            }
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
