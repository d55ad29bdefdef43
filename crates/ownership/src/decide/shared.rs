//! Parts inside resources that we only use: we add and remove our own, and share what another claim
//! needs too.
//!
//! A part that two claims need carries both marks and goes with the last one (law 1). A mark has no
//! compare-and-swap: whoever joins waits until nobody can be removing the part on what was read before
//! his mark, and whoever leaves looks again when everybody else's last call has taken effect.

use std::sync::Arc;

use super::inner::{add, missing, part_key};
use super::{Deciding, Flow, Need, act};
use crate::blueprint::Slot;
use crate::finding::{Finding, Reason};
use crate::kind::{CreateMode, InnerKind, InnerProof, Kind};
use crate::ledger::{Edit, Trace, TraceOf};
use crate::mark::{self, OwnershipMark, Tags};
use crate::part::{InnerPart, Resource};
use crate::query::{Query, Target};
use crate::rules::Rules;
use crate::sight::Sight;
use crate::step::{MarkRight, PartTags, Step, UnmarkRight};
use crate::text::Text;
use crate::verdict::{self, Held, OwnedPart};

/// Whose marks a part inside somebody's resource carries.
#[derive(Clone, Debug, Default)]
struct Whose {
    /// Ours, and held here.
    ours: bool,
    /// Another claim's, of whichever management cluster; or ours, held elsewhere.
    anothers: bool,
    /// Whether somebody wrote over our mark, or it is held elsewhere.
    elsewhere: bool,
    /// Our mark, if it says so.
    mark: Option<OwnershipMark>,
}

impl Deciding<'_> {
    /// Inside a resource that we only use: what is missing is added as ours, what is another claim's
    /// gets our mark too.
    pub(super) fn add_inner_to_used(
        &mut self,
        slot: &Slot,
        target: &Target,
        resource: &Arc<Resource>,
    ) -> Flow<()> {
        for inner in slot.kind.inner {
            let wanted = self.wanted(slot, inner, &self.part_tags(slot, inner));
            if wanted.is_empty() {
                continue;
            }
            let seen = self.inside(target, inner)?;
            let mut lacking = Vec::new();
            for part in missing(&wanted, seen) {
                let there = seen.parts.iter().find(|old| old.key == part.key);
                let whose = there.map(|old| self.whose(slot.kind, resource, inner, old));
                match whose {
                    None if self.is_leaving(slot.kind, target, resource, inner, &part.key) => {}
                    None => lacking.push(part),
                    Some(whose) if whose.ours && !whose.anothers => lacking.push(part),
                    Some(_) => self.inner_conflict(slot, target, inner, &part.key),
                }
            }
            let keys: Vec<Text> = wanted.iter().map(|part| part.key.clone()).collect();
            if self.knows_parts(slot) {
                self.remove_ours(slot.kind, target, resource, inner, &keys)?;
            }
            self.join(slot, target, resource, inner, &wanted)?;
            if lacking.is_empty() {
                continue;
            }
            self.refresh(target)?;
            if inner.create == CreateMode::Upsert {
                self.refresh_inside(target, inner)?;
            }
            if !self.has_room(slot, target, resource, inner, &lacking) {
                continue;
            }
            let Some(parts) = self.announce_inner(slot, target, inner, lacking)? else {
                continue;
            };
            if inner.proof == InnerProof::ParentMark {
                self.mark_parent(slot, target, resource, inner, &parts)?;
            }
            let step = add(target, inner, parts);
            return act(Need::Do(step), Reason::InnerMissing(slot.name.clone()));
        }
        Ok(())
    }

    /// Whether a part that is not there may be on its way out: another claim's mark on the parent
    /// still names it. What is added meanwhile could be taken for that claim's and removed.
    fn is_leaving(
        &mut self,
        kind: &Kind,
        target: &Target,
        resource: &Resource,
        inner: &InnerKind,
        key: &Text,
    ) -> bool {
        let own = part_key(self.case.identity, kind, inner.name, key);
        let names =
            |tag: &Text| *tag != own && mark::names_part(kind.carrier, tag, inner.name, key);
        let sight = Sight::Leaving(inner_trace(target, inner, key));
        let marked = inner.proof == InnerProof::ParentMark
            && resource.tags.iter().any(|(tag, _)| names(tag));
        if !marked || !self.rules.joins_marked_parts() {
            self.sightings.clear(&sight);
            return false;
        }
        let over = |rules: &dyn Rules, since| rules.late_effects_over_at(kind, since);
        !self.settled(sight, over, Reason::AwaitJoin(target.id.clone()))
    }

    /// Marks what is wanted, there, and another claim's. It counts as there when that claim cannot be
    /// removing it any more on what it read before our mark.
    fn join(
        &mut self,
        slot: &Slot,
        target: &Target,
        resource: &Resource,
        inner: &'static InnerKind,
        wanted: &[InnerPart],
    ) -> Flow<()> {
        if !self.rules.joins_marked_parts() {
            return Ok(());
        }
        let seen = self.inside(target, inner)?;
        let (mut shared, mut settled, mut taken) = (Vec::new(), Vec::new(), Vec::new());
        // What says something else is not what we need.
        let needed = |part: &&InnerPart| {
            let mut wanted = wanted.iter();
            wanted.any(|wish| wish.key == part.key && wish.value == part.value)
        };
        for part in seen.parts.iter().filter(needed) {
            let whose = self.whose(slot.kind, resource, inner, part);
            let trace = inner_trace(target, inner, &part.key);
            self.sightings.clear(&Sight::Leaving(trace.clone()));
            let outdated = |mark: &OwnershipMark| self.case.identity.outdates(mark);
            // One key holds one mark: ours, held elsewhere, is not written over.
            if self.rules.parts_name_holders()
                && whose.ours
                && whose.mark.as_ref().is_some_and(outdated)
            {
                taken.push(part.clone());
            } else if whose.elsewhere {
                self.inner_conflict(slot, target, inner, &part.key);
            } else if whose.anothers && !whose.ours {
                shared.push(part.clone());
            } else if whose.ours && self.ledger.joined.contains(&trace) {
                let over = |rules: &dyn Rules, since| rules.joined_at(slot.kind, since);
                let why = Reason::AwaitJoin(target.id.clone());
                if self.settled(Sight::Joined(trace.clone()), over, why) {
                    settled.push(Edit::Joined(trace));
                }
            }
        }
        if !shared.is_empty() || !taken.is_empty() {
            self.refresh(target)?;
            self.refresh_inside(target, inner)?;
        }
        self.take_over_parts(slot, target, resource, inner, taken)?;
        if !shared.is_empty()
            && self.has_room(slot, target, resource, inner, &shared)
            && let Some(parts) = self.announce_join(slot, target, inner, shared)?
        {
            let why = Reason::Join(slot.name.clone());
            return self.mark_parts(slot, target, resource, inner, parts, why);
        }
        if settled.is_empty() {
            return Ok(());
        }
        act(Need::Write(settled), Reason::Settled)
    }

    /// Marks as ours what whoever held the claim before has marked.
    fn take_over_parts(
        &mut self,
        slot: &Slot,
        target: &Target,
        resource: &Resource,
        inner: &InnerKind,
        parts: Vec<InnerPart>,
    ) -> Flow<()> {
        if parts.is_empty() {
            return Ok(());
        }
        let Some(parts) = self.announce_inner(slot, target, inner, parts)? else {
            return Ok(());
        };
        self.sightings.note(Sight::TakenOver, self.now);
        let why = Reason::RepairMark(slot.name.clone());
        self.mark_parts(slot, target, resource, inner, parts, why)
    }

    /// A claim that ends marks what it took over first: whoever held it before must see that it is not
    /// his to make again (law 5).
    pub(super) fn take_over_before_the_end(&mut self) -> Flow<()> {
        if !self.rules.parts_name_holders() {
            return Ok(());
        }
        for (slot, target, resource) in self.used_with_parts()? {
            for inner in slot.kind.inner {
                let mut taken = Vec::new();
                for part in &self.inside(&target, inner)?.parts {
                    let whose = self.whose(slot.kind, &resource, inner, part);
                    let mark = whose.mark.filter(|_| whose.ours);
                    if mark.is_some_and(|mark| self.case.identity.outdates(&mark)) {
                        taken.push(part.clone());
                    }
                }
                if !taken.is_empty() {
                    self.refresh(&target)?;
                    self.refresh_inside(&target, inner)?;
                    self.take_over_parts(slot, &target, &resource, inner, taken)?;
                }
            }
        }
        Ok(())
    }

    /// Adds our mark to parts that are there: to themselves, or to the parent.
    fn mark_parts(
        &mut self,
        slot: &Slot,
        target: &Target,
        resource: &Resource,
        inner: &InnerKind,
        parts: Vec<InnerPart>,
        why: Reason,
    ) -> Flow<()> {
        if inner.proof == InnerProof::ParentMark {
            return self.mark_parent(slot, target, resource, inner, &parts);
        }
        let step = Step::MarkInner(PartTags {
            target: target.clone(),
            inner: inner.name,
            parts,
            tags: self.part_tags(slot, inner).iter().cloned().collect(),
        });
        act(Need::Do(step), why)
    }

    /// The highest generation that another management cluster has written on parts of this claim inside
    /// somebody's resource: it holds the claim (law 5).
    pub(super) fn held_inside(
        &mut self,
        slot: &Slot,
        target: &Target,
        resource: &Resource,
    ) -> Flow<Option<Held>> {
        let mut highest: Option<Held> = None;
        if !self.rules.parts_name_holders() {
            return Ok(None);
        }
        let wished = |inner: &&InnerKind| slot.inner.iter().any(|wish| wish.kind == inner.name);
        for inner in slot.kind.inner.iter().filter(wished) {
            for mark in self.own_marks(slot.kind, target, resource, inner)? {
                let higher = highest
                    .as_ref()
                    .is_none_or(|highest| mark.generation > highest.generation);
                if higher && !self.rules.holds(self.case.identity, &mark) {
                    highest = Some(Held::from(&mark));
                }
            }
        }
        Ok(highest)
    }

    /// The marks of this claim, whoever holds it, on parts of one inner Kind: on themselves, or on the
    /// parent, where a mark may name a part that is not there yet, or no more.
    fn own_marks(
        &self,
        kind: &Kind,
        target: &Target,
        resource: &Resource,
        inner: &InnerKind,
    ) -> Flow<Vec<OwnershipMark>> {
        let identity = self.case.identity;
        let key = identity.key(kind);
        let decode = |value: &Text| OwnershipMark::decode(kind.carrier, &key, value);
        if inner.proof == InnerProof::ParentMark {
            let prefix = mark::part_prefix(kind.carrier, identity.claim.hash());
            let marks = resource.tags.with_prefix(&prefix);
            return Ok(marks.filter_map(|(_, value)| decode(value)).collect());
        }
        let parts = self.inside(target, inner)?.parts.iter();
        Ok(parts
            .filter_map(|part| decode(part.tags.get(&key)?))
            .collect())
    }

    /// Whether the parent can hold the marks that name parts; if not, that is told. Asked before they
    /// are announced: what cannot be sent is not written down.
    fn has_room(
        &mut self,
        slot: &Slot,
        target: &Target,
        resource: &Resource,
        inner: &InnerKind,
        parts: &[InnerPart],
    ) -> bool {
        if inner.proof != InnerProof::ParentMark {
            return true;
        }
        let marks = self.part_marks(slot, inner, parts);
        let new = marks
            .iter()
            .filter(|(key, _)| resource.tags.get(key).is_none())
            .count();
        let fits = new == 0 || resource.tags.len() + new <= slot.kind.carrier.capacity();
        if !fits {
            self.findings.push(Finding::TagsFull {
                slot: slot.name.clone(),
                target: target.clone(),
            });
        }
        fits
    }

    /// Writes the marks on the parent that name parts, unless they are there.
    fn mark_parent(
        &mut self,
        slot: &Slot,
        target: &Target,
        resource: &Resource,
        inner: &InnerKind,
        parts: &[InnerPart],
    ) -> Flow<()> {
        let identity = self.case.identity;
        let tags = self.part_marks(slot, inner, parts);
        let new = |(key, _): &(Text, Text)| {
            let value = resource.tags.get(key);
            let mark = value.and_then(|value| {
                OwnershipMark::decode(slot.kind.carrier, &identity.key(slot.kind), value)
            });
            let outdated =
                |mark: &OwnershipMark| self.rules.holds(identity, mark) && identity.outdates(mark);
            value.is_none() || mark.as_ref().is_some_and(outdated)
        };
        let tags: Vec<_> = tags.into_iter().filter(new).collect();
        if tags.is_empty() {
            return Ok(());
        }
        let step = Step::Mark {
            targets: vec![target.clone()],
            tags,
            right: MarkRight::Trace,
        };
        act(Need::Do(step), Reason::InnerMissing(slot.name.clone()))
    }

    /// Removes our own parts from a resource that we only use, but for those still wanted; what another
    /// claim needs too only loses our mark.
    pub(super) fn remove_ours(
        &mut self,
        kind: &'static Kind,
        target: &Target,
        resource: &Resource,
        inner: &'static InnerKind,
        wanted: &[Text],
    ) -> Flow<()> {
        let seen = self.inside(target, inner)?;
        let (mut surplus, mut shared) = (Vec::new(), Vec::new());
        for part in seen.parts.iter().filter(|p| !wanted.contains(&p.key)) {
            let whose = self.whose(kind, resource, inner, part);
            let trace = inner_trace(target, inner, &part.key);
            if whose.ours || whose.anothers {
                self.sightings.clear(&Sight::Left(trace.clone()));
            }
            if !self.rules.spares_inner_of_used() {
                surplus.push(part.clone());
            } else if whose.ours && whose.anothers && self.rules.joins_marked_parts() {
                shared.push(part.clone());
            } else if whose.ours {
                surplus.push(part.clone());
            } else if self.ledger.left.contains(&trace) && !whose.anothers {
                // Everybody has taken his mark off: whoever was last has not noticed, or will not.
                let over = |rules: &dyn Rules, since| rules.late_effects_over_at(kind, since);
                let why = Reason::AwaitJoin(target.id.clone());
                if self.settled(Sight::Left(trace), over, why) {
                    surplus.push(part.clone());
                }
            }
        }
        if surplus.is_empty() && shared.is_empty() {
            return Ok(());
        }
        self.refresh(target)?;
        self.refresh_inside(target, inner)?;
        // Whoever adds a part marks the parent first: its marks must be read after the part.
        if inner.proof == InnerProof::ParentMark
            && !self.view.is_newer_than_inside(target, inner.name)
        {
            let why = Reason::Refresh(target.clone());
            return act(Need::Look(Query::Id(target.clone())), why);
        }
        if !surplus.is_empty() {
            let read = seen.read;
            let most = self.view.most_removed(target, inner, surplus.len());
            let proved = surplus
                .into_iter()
                .take(most)
                .map(|part| OwnedPart::proved(target.clone(), inner, part, read));
            return match Step::remove(proved.collect(), self.now) {
                Some(step) => self.take(step, Reason::EraseTraces),
                None => Ok(()),
            };
        }
        self.leave(kind, target, resource, inner, shared)
    }

    /// Takes our mark off parts that another claim needs too. That is written down first: whoever is
    /// the last to do so removes them.
    fn leave(
        &mut self,
        kind: &'static Kind,
        target: &Target,
        resource: &Resource,
        inner: &'static InnerKind,
        parts: Vec<InnerPart>,
    ) -> Flow<()> {
        let traces = parts
            .iter()
            .map(|part| inner_trace(target, inner, &part.key));
        let new: Vec<Edit> = traces
            .filter(|trace| !self.ledger.left.contains(trace))
            .map(Edit::Leave)
            .collect();
        if !new.is_empty() {
            return act(Need::Write(new), Reason::Leave);
        }
        let identity = self.case.identity;
        let step = match inner.proof {
            InnerProof::OwnMark => {
                // One call takes the same tags off all its parts.
                let key = identity.key(kind);
                let value = parts.first().and_then(|part| part.tags.get(&key)).cloned();
                let Some(value) = value else {
                    return Ok(());
                };
                let alike = |part: &InnerPart| part.tags.get(&key) == Some(&value);
                Step::UnmarkInner(PartTags {
                    target: target.clone(),
                    inner: inner.name,
                    parts: parts.into_iter().filter(alike).collect(),
                    tags: vec![(key, value)],
                })
            }
            InnerProof::ParentMark => {
                let tag = |part: &InnerPart| {
                    let key = part_key(identity, kind, inner.name, &part.key);
                    let value = resource.tags.get(&key)?.clone();
                    Some((key, value))
                };
                Step::Unmark {
                    targets: vec![target.clone()],
                    tags: parts.iter().filter_map(tag).collect(),
                    right: UnmarkRight::Trace,
                }
            }
        };
        self.take(step, Reason::Leave)
    }

    /// Whether a part that we have taken our mark off is another claim's for good: it is still marked
    /// when everybody who saw our mark beside his own has noticed that it is gone.
    pub(super) fn is_left_to_others(
        &mut self,
        kind: &Kind,
        trace: &Trace,
        resource: &Resource,
        inner: &InnerKind,
        part: &InnerPart,
    ) -> bool {
        let whose = self.whose(kind, resource, inner, part);
        let over = |rules: &dyn Rules, since| rules.late_effects_over_at(kind, since);
        let why = Reason::AwaitJoin(trace.on.id.clone());
        if whose.ours || !whose.anothers {
            self.sightings.clear(&Sight::LeftBehind(trace.clone()));
            return false;
        }
        self.settled(Sight::LeftBehind(trace.clone()), over, why)
    }

    /// What a living claim has left to others, and is gone or theirs for good: it is forgotten, so that
    /// what somebody writes later is not taken for ours.
    pub(super) fn left_for_good(&mut self) -> Vec<Edit> {
        let mut over = Vec::new();
        for trace in &self.ledger.left {
            let TraceOf::Inner { inner, key } = &trace.what else {
                continue;
            };
            let kind = trace.on.kind;
            let seen = self.view.seen(&trace.on).and_then(|s| s.resource.clone());
            let inside = self.view.inner(&trace.on, inner);
            let (Some(resource), Some(inside), Some(inner)) = (seen, inside, kind.inner(inner))
            else {
                continue;
            };
            let part = inside.parts.iter().find(|part| part.key == *key);
            let whose = part.map(|part| self.whose(kind, &resource, inner, part));
            let sight = Sight::LeftBehind(trace.clone());
            if whose.is_some_and(|whose| whose.ours || !whose.anothers) {
                self.sightings.clear(&sight);
                continue;
            }
            if part.is_none() {
                self.sightings.clear(&Sight::Left(trace.clone()));
            }
            let late = |rules: &dyn Rules, since| rules.late_effects_over_at(kind, since);
            if self.closable(sight, late, Reason::AwaitJoin(trace.on.id.clone())) {
                over.push(Edit::Erase(trace.clone()));
            }
        }
        over
    }

    /// The mark of our own part inside a resource, where it can carry one.
    pub(super) fn part_tags(&self, slot: &Slot, inner: &InnerKind) -> Tags {
        let mark = self.case.identity.mark(&slot.name, 0);
        match inner.proof {
            InnerProof::OwnMark => mark.encode(slot.kind.carrier).into_iter().collect(),
            InnerProof::ParentMark => Tags::new(),
        }
    }

    /// Whose marks a part inside somebody's resource carries: on itself, or on the resource.
    fn whose(
        &self,
        kind: &Kind,
        resource: &Resource,
        inner: &InnerKind,
        part: &InnerPart,
    ) -> Whose {
        let identity = self.case.identity;
        let holds = |mark: &OwnershipMark| self.rules.holds(identity, mark);
        match inner.proof {
            InnerProof::OwnMark => {
                let marks = verdict::read_marks(self.rules, identity, kind, &part.tags);
                let ours = marks.ours.as_ref().is_some_and(holds);
                let elsewhere = marks.ours.is_some() && !ours;
                Whose {
                    ours,
                    anothers: marks.other.is_some() || elsewhere,
                    elsewhere,
                    mark: marks.ours,
                }
            }
            InnerProof::ParentMark => {
                let own = part_key(identity, kind, inner.name, &part.key);
                let names = |key: &str| mark::names_part(kind.carrier, key, inner.name, &part.key);
                let is_own = |key: &Text| self.rules.names_our_part(&own, key);
                let marks = || resource.tags.iter().filter(|(key, _)| names(key));
                let mine = marks().find(|(key, _)| is_own(key));
                let other = marks().any(|(key, _)| !is_own(key));
                let Some((_, value)) = mine else {
                    return Whose {
                        anothers: other,
                        ..Whose::default()
                    };
                };
                let mark = OwnershipMark::decode(kind.carrier, &identity.key(kind), value);
                // Where somebody wrote another value under the key, the key alone names the claim and
                // the part; whether it was us is in the ledger.
                let on = resource.target();
                let added = || {
                    let trace = inner_trace(&on, inner, &part.key);
                    self.ledger.traces.contains_key(&trace)
                };
                let ours = mark.as_ref().map_or_else(added, holds);
                Whose {
                    ours,
                    anothers: other || !ours,
                    elsewhere: !ours,
                    mark,
                }
            }
        }
    }

    /// Whether a part inside somebody's resource carries our mark, and nobody else's.
    pub(super) fn is_only_ours(
        &self,
        kind: &Kind,
        resource: &Resource,
        inner: &InnerKind,
        part: &InnerPart,
    ) -> bool {
        let whose = self.whose(kind, resource, inner, part);
        whose.ours && !whose.anothers
    }

    /// Whether a tag on the parent names a part that a slot wishes for.
    pub(super) fn names_wished_part(&self, slot: &Slot, tag: &Text) -> bool {
        let identity = self.case.identity;
        let wished = self.wished(slot);
        let mut keys = wished
            .iter()
            .map(|(inner, key)| part_key(identity, slot.kind, inner, key));
        keys.any(|key| key == *tag)
    }

    /// The marks on the parent that name these parts.
    fn part_marks(&self, slot: &Slot, inner: &InnerKind, parts: &[InnerPart]) -> Vec<(Text, Text)> {
        let identity = self.case.identity;
        let value = identity.mark(&slot.name, 0).value();
        let key = |part: &InnerPart| part_key(identity, slot.kind, inner.name, &part.key);
        parts
            .iter()
            .map(|part| (key(part), value.clone()))
            .collect()
    }

    /// Writes down what will be added inside somebody's resource. Of the parts that were written
    /// down before, those are returned whose earlier call cannot take effect any more.
    fn announce_inner(
        &mut self,
        slot: &Slot,
        target: &Target,
        inner: &InnerKind,
        parts: Vec<InnerPart>,
    ) -> Flow<Option<Vec<InnerPart>>> {
        let traces = self.part_traces(slot, target, inner, &parts);
        let ready = self.announced(slot, &traces)?;
        let may_send = |part: &InnerPart| ready.contains(&inner_trace(target, inner, &part.key));
        let parts: Vec<InnerPart> = parts.into_iter().filter(may_send).collect();
        Ok((!parts.is_empty()).then_some(parts))
    }

    /// The same for parts that are another claim's: they are written down as joined first.
    fn announce_join(
        &mut self,
        slot: &Slot,
        target: &Target,
        inner: &InnerKind,
        parts: Vec<InnerPart>,
    ) -> Flow<Option<Vec<InnerPart>>> {
        let traces = parts
            .iter()
            .map(|part| inner_trace(target, inner, &part.key));
        let new: Vec<Edit> = traces
            .filter(|trace| !self.ledger.joined.contains(trace))
            .map(Edit::Join)
            .collect();
        if !new.is_empty() {
            return act(Need::Write(new), Reason::Join(slot.name.clone()));
        }
        self.announce_inner(slot, target, inner, parts)
    }

    /// What parts are in the ledger: themselves, and the marks on the parent that name them.
    fn part_traces(
        &self,
        slot: &Slot,
        target: &Target,
        inner: &InnerKind,
        parts: &[InnerPart],
    ) -> Vec<Trace> {
        let itself = parts
            .iter()
            .map(|part| inner_trace(target, inner, &part.key));
        let mut traces: Vec<Trace> = itself.collect();
        if inner.proof == InnerProof::ParentMark {
            let marks = self.part_marks(slot, inner, parts);
            traces.extend(marks.into_iter().map(|(key, value)| Trace {
                on: target.clone(),
                what: TraceOf::Tag { key, value },
            }));
        }
        traces
    }

    /// Removes the marks on a used resource that name parts which are no longer there.
    pub(super) fn unmark_parts(
        &mut self,
        kind: &'static Kind,
        target: &Target,
        resource: &Resource,
    ) -> Flow<()> {
        let prefix = mark::part_prefix(kind.carrier, self.case.identity.claim.hash());
        let mut tags: Vec<(Text, Text)> = Vec::new();
        let own_key = self.case.identity.key(kind);
        for (key, value) in resource.tags.with_prefix(&prefix) {
            // Another value is whoever wrote it over ours; another holder's is his to take off.
            let mark = OwnershipMark::decode(kind.carrier, &own_key, value);
            let is_ours = mark.is_some_and(|mark| self.rules.holds(self.case.identity, &mark));
            if is_ours && self.may_unmark_part(kind, target, key)? {
                tags.push((key.clone(), value.clone()));
            }
        }
        if tags.is_empty() {
            return Ok(());
        }
        self.refresh(target)?;
        let step = Step::Unmark {
            targets: vec![target.clone()],
            tags,
            right: UnmarkRight::Trace,
        };
        self.take(step, Reason::EraseTraces)
    }

    /// Whether a tag may go from a used resource: one that names a part, only after the part, and
    /// only when no late or stale sight of the part can come any more.
    pub(super) fn may_unmark_part(
        &mut self,
        kind: &'static Kind,
        target: &Target,
        tag: &Text,
    ) -> Flow<bool> {
        let identity = self.case.identity;
        let prefix = mark::part_prefix(kind.carrier, identity.claim.hash());
        if !tag.starts_with(&prefix) {
            return Ok(true);
        }
        let names =
            |inner: &InnerKind, key: &str| *part_key(identity, kind, inner.name, key) == **tag;
        for inner in kind.inner {
            if self
                .inside(target, inner)?
                .parts
                .iter()
                .any(|part| names(inner, &part.key))
            {
                return Ok(false);
            }
        }
        let removed = self
            .view
            .erased_traces()
            .iter()
            .any(|trace| match &trace.what {
                TraceOf::Inner { inner, key } => {
                    trace.on == *target && kind.inner(inner).is_some_and(|inner| names(inner, key))
                }
                TraceOf::Tag { .. } => false,
            });
        let sight = Sight::Part(target.clone(), tag.clone());
        // An earlier call of unknown outcome may still remove what somebody adds meanwhile.
        let answered = self.late_until(target).is_none();
        Ok((removed && answered)
            || self.settled(
                sight,
                |rules, since| rules.late_effects_over_at(kind, since),
                Reason::AwaitTrace(target.id.clone()),
            ))
    }
}

/// A part inside a resource, as the ledger has it.
fn inner_trace(on: &Target, inner: &InnerKind, key: &Text) -> Trace {
    Trace {
        on: on.clone(),
        what: TraceOf::Inner {
            inner: inner.name,
            key: key.clone(),
        },
    }
}
