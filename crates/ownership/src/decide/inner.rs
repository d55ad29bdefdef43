//! Parts inside resources: on ours they converge, on somebody's we add and remove only our own.

use std::sync::Arc;

use super::{Deciding, Decision, Flow, act};
use crate::blueprint::Slot;
use crate::error::{Class, CloudError};
use crate::finding::{Finding, Reason};
use crate::kind::{CreateMode, InnerKind, InnerProof, Kind};
use crate::ledger::{Trace, TraceOf};
use crate::mark::{self, OwnershipMark, Tags};
use crate::part::{InnerPart, Resource};
use crate::query::{Query, Target};
use crate::rules::Rules;
use crate::sight::Sight;
use crate::step::{MarkRight, Step, UnmarkRight};
use crate::text::Text;
use crate::verdict::{self, Standing, Verdict};
use crate::view::InnerSeen;

impl<'a, R: Rules> Deciding<'a, R> {
    /// Inside a resource of ours: what is wanted is added, and what is not wanted is removed where
    /// the slot says that it is exclusive.
    pub(super) fn converge_inner(
        &mut self,
        slot: &Slot,
        target: &Target,
        resource: &Resource,
    ) -> Flow<()> {
        for inner in slot.kind.inner {
            // Inside what is ours a part is ours by derivation: it needs no mark of its own.
            let wanted = self.wanted(slot, inner, &Tags::new());
            let exclusive = slot.exclusive.contains(&inner.name);
            if wanted.is_empty() && !exclusive {
                continue;
            }
            let seen = self.inside(target, inner)?;
            let missing = missing(&wanted, seen);
            let mut surplus: Vec<InnerPart> = Vec::new();
            for part in seen.parts.iter().filter(|_| exclusive) {
                if wanted.iter().any(|wish| wish.key == part.key) {
                    continue;
                }
                if self.rules.spares_marked_inner()
                    && self.is_anothers(slot.kind, resource, inner, part)
                {
                    // A guest may stay, unless there is room for one only.
                    if inner.single {
                        self.inner_conflict(slot, target, inner, &part.key);
                    }
                    continue;
                }
                surplus.push(part.clone());
            }
            if missing.is_empty() && surplus.is_empty() {
                continue;
            }
            self.refresh(target)?;
            let full = inner.single && !surplus.is_empty();
            if !missing.is_empty() && !full {
                return add(slot, target, inner, missing);
            }
            self.refresh_inside(target, inner)?;
            return take_out(
                target,
                inner,
                surplus,
                Reason::InnerSurplus(slot.name.clone()),
            );
        }
        Ok(())
    }

    /// Inside a resource that we only use: what is missing is added as ours.
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
                if there.is_some_and(|old| !self.is_ours(slot.kind, resource, inner, old)) {
                    self.inner_conflict(slot, target, inner, &part.key);
                } else {
                    lacking.push(part);
                }
            }
            let keys: Vec<Text> = wanted.iter().map(|part| part.key.clone()).collect();
            self.remove_ours(slot.kind, target, resource, inner, &keys)?;
            if lacking.is_empty() {
                continue;
            }
            self.refresh(target)?;
            if inner.create == CreateMode::Upsert {
                self.refresh_inside(target, inner)?;
            }
            let (kind, id) = (slot.kind, slot.name.clone());
            let Some(parts) = self.announce_inner(slot, target, inner, lacking)? else {
                continue;
            };
            if inner.proof == InnerProof::ParentMark {
                let tags = self.part_marks(slot, inner, &parts);
                let tags: Vec<_> = tags
                    .into_iter()
                    .filter(|(key, _)| resource.tags.get(key).is_none())
                    .collect();
                if resource.tags.len() + tags.len() > kind.carrier.capacity() {
                    self.findings.push(Finding::TagsFull {
                        slot: id,
                        target: target.clone(),
                    });
                    continue;
                }
                if !tags.is_empty() {
                    let targets = vec![target.clone()];
                    let step = Step::Mark {
                        targets,
                        tags,
                        right: MarkRight::Trace,
                    };
                    return act(Decision::Do(step), Reason::InnerMissing(id));
                }
            }
            return add(slot, target, inner, parts);
        }
        Ok(())
    }

    /// Removes our own parts from a resource that we only use, but for those still wanted.
    pub(super) fn remove_ours(
        &mut self,
        kind: &'static Kind,
        target: &Target,
        resource: &Resource,
        inner: &'static InnerKind,
        wanted: &[Text],
    ) -> Flow<()> {
        let seen = self.inside(target, inner)?;
        let surplus: Vec<InnerPart> = seen
            .parts
            .iter()
            .filter(|part| !wanted.contains(&part.key))
            .filter(|part| {
                !self.rules.spares_inner_of_used() || self.is_ours(kind, resource, inner, part)
            })
            .cloned()
            .collect();
        if surplus.is_empty() {
            return Ok(());
        }
        self.refresh(target)?;
        self.refresh_inside(target, inner)?;
        take_out(target, inner, surplus, Reason::EraseTraces)
    }

    /// Deletes a resource of ours, what blocks it from inside first.
    pub(super) fn delete(&mut self, kind: &'static Kind, target: &Target, why: Reason) -> Flow<()> {
        if let Some(error) = self.view.blocked(target) {
            self.findings.push(Finding::from((target, error)));
            return Ok(());
        }
        self.refresh(target)?;
        let seen = self.view.seen(target);
        let Some((resource, read)) =
            seen.and_then(|seen| Some((seen.resource.as_ref()?, seen.read)))
        else {
            return Ok(());
        };
        let Verdict::Owned(owned) = self.judge(kind, resource, read) else {
            return Ok(());
        };
        for inner in kind.inner {
            let parts = self.inside(target, inner)?.parts.clone();
            let anothers = parts
                .iter()
                .find(|part| self.is_anothers(kind, resource, inner, part));
            if let (Some(part), true) = (anothers, self.rules.spares_marked_inner()) {
                let message = format!(
                    "the {} {} inside it is another claim's",
                    inner.noun, part.key
                );
                let error = CloudError::new(Class::Blocked(Vec::new()), "Guest", message);
                self.findings.push(Finding::from((target, &error)));
                return Ok(());
            }
            if inner.blocks_deletion && !parts.is_empty() {
                return take_out(target, inner, parts, why);
            }
        }
        match Step::delete(owned, self.now) {
            Some(step) => act(Decision::Do(step), why),
            None => Ok(()),
        }
    }

    /// The parts that the slot wants, with the tags they will carry.
    fn wanted(&self, slot: &Slot, inner: &InnerKind, tags: &Tags) -> Vec<InnerPart> {
        slot.inner
            .iter()
            .filter(|wish| wish.kind == inner.name)
            .filter_map(|wish| {
                let key = wish.key.resolve(&|name| self.id_of(name))?;
                Some(InnerPart {
                    key,
                    value: wish.value.clone(),
                    tags: tags.clone(),
                })
            })
            .collect()
    }

    /// The mark of our own part inside somebody's resource, where it can carry one.
    fn part_tags(&self, slot: &Slot, inner: &InnerKind) -> Tags {
        let mark = OwnershipMark {
            claim: self.case.identity.claim.hash().clone(),
            slot: slot.name.clone(),
            attempt: 0,
            holder: self.case.identity.holder.clone(),
        };
        match inner.proof {
            InnerProof::OwnMark => mark.encode(slot.kind.carrier).into_iter().collect(),
            InnerProof::ParentMark => Tags::new(),
        }
    }

    /// What is inside a resource, as this pass has seen it; asks if it has not.
    pub(super) fn inside(&self, target: &Target, inner: &InnerKind) -> Flow<&'a InnerSeen> {
        if let Some(seen) = self.view.inner(target, inner.name) {
            return Ok(seen);
        }
        let query = Query::Inner {
            of: target.clone(),
            inner: inner.name,
        };
        act(Decision::Look(query), Reason::CompareInner(inner.noun))
    }

    /// Makes sure that a removal may rest on what is known of the inside.
    fn refresh_inside(&self, target: &Target, inner: &InnerKind) -> Flow<()> {
        let fresh = self.view.inner(target, inner.name).is_some_and(|seen| {
            seen.read.fresh && self.now - seen.read.at <= self.rules.fresh_for()
        });
        if fresh {
            return Ok(());
        }
        let query = Query::Inner {
            of: target.clone(),
            inner: inner.name,
        };
        act(Decision::Look(query), Reason::Refresh(target.clone()))
    }

    fn inner_conflict(&mut self, slot: &Slot, target: &Target, inner: &InnerKind, key: &Text) {
        self.findings.push(Finding::InnerConflict {
            slot: slot.name.clone(),
            target: target.clone(),
            noun: inner.noun,
            key: key.clone(),
        });
    }

    /// Whether a part inside somebody's resource is ours: by its own mark, or by one on the resource.
    fn is_ours(
        &self,
        kind: &Kind,
        resource: &Resource,
        inner: &InnerKind,
        part: &InnerPart,
    ) -> bool {
        let identity = self.case.identity;
        let mark = match inner.proof {
            InnerProof::OwnMark => {
                match verdict::read_marks(self.rules, identity, kind, &part.tags).standing() {
                    Standing::Ours(mark) => Some(mark),
                    _ => None,
                }
            }
            InnerProof::ParentMark => {
                let key = part_key(identity, kind, inner.name, &part.key);
                let Some(value) = resource.tags.get(&key) else {
                    return false;
                };
                match OwnershipMark::decode(kind.carrier, &identity.key(kind), value) {
                    Some(mark) => Some(mark),
                    // Somebody wrote another value under the key. The key alone names the claim and
                    // the part; whether it was us is in the ledger.
                    None => return self.has_left(resource, inner, part),
                }
            }
        };
        mark.is_some_and(|m| {
            self.rules
                .holds(&identity.holder, &m.holder, &identity.taken_over)
        })
    }

    /// Whether the ledger remembers that we added a part.
    fn has_left(&self, resource: &Resource, inner: &InnerKind, part: &InnerPart) -> bool {
        let trace = Trace {
            on: Target::new(resource.kind, resource.id.clone()),
            what: TraceOf::Inner {
                inner: inner.name,
                key: part.key.clone(),
            },
        };
        self.ledger.traces.contains_key(&trace)
    }

    /// Whether a part is another claim's: by its own mark, or by one on the resource that names it.
    fn is_anothers(
        &self,
        kind: &Kind,
        resource: &Resource,
        inner: &InnerKind,
        part: &InnerPart,
    ) -> bool {
        let identity = self.case.identity;
        match inner.proof {
            InnerProof::OwnMark => {
                let marks = verdict::read_marks(self.rules, identity, kind, &part.tags);
                matches!(marks.standing(), Standing::Foreign(_))
            }
            InnerProof::ParentMark => {
                let ours = part_key(identity, kind, inner.name, &part.key);
                let names = |key: &str| mark::names_part(kind.carrier, key, inner.name, &part.key);
                let mut keys = resource.tags.iter().map(|(key, _)| key);
                resource.tags.get(&ours).is_none() && keys.any(|key| names(key))
            }
        }
    }

    /// The marks on the parent that name these parts.
    fn part_marks(&self, slot: &Slot, inner: &InnerKind, parts: &[InnerPart]) -> Vec<(Text, Text)> {
        let identity = self.case.identity;
        let value: Text = format!("{}_0_{}", slot.name, identity.holder).into();
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
        let mut traces = Vec::new();
        for part in &parts {
            let what = TraceOf::Inner {
                inner: inner.name,
                key: part.key.clone(),
            };
            traces.push(Trace {
                on: target.clone(),
                what,
            });
        }
        if inner.proof == InnerProof::ParentMark {
            for (key, value) in self.part_marks(slot, inner, &parts) {
                traces.push(Trace {
                    on: target.clone(),
                    what: TraceOf::Tag { key, value },
                });
            }
        }
        let ready = self.announced(slot, &traces)?;
        let may_send = |part: &InnerPart| {
            ready
                .iter()
                .any(|trace| matches!(&trace.what, TraceOf::Inner { key, .. } if *key == part.key))
        };
        let parts: Vec<InnerPart> = parts.into_iter().filter(may_send).collect();
        Ok((!parts.is_empty()).then_some(parts))
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
            // Another value is whoever wrote it over ours.
            let is_ours = OwnershipMark::decode(kind.carrier, &own_key, value).is_some();
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
        act(Decision::Do(step), Reason::EraseTraces)
    }
}

impl<R: Rules> Deciding<'_, R> {
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
        Ok(removed
            || self.settled(
                sight,
                |rules, since| rules.late_effects_over_at(kind, since),
                Reason::AwaitTrace(target.id.clone()),
            ))
    }
}

fn part_key(identity: &verdict::Identity, kind: &Kind, inner: &str, key: &str) -> Text {
    mark::part_key(kind.carrier, identity.claim.hash(), inner, key)
}

/// The wanted parts that are not there, or say something else where that can be overwritten.
fn missing(wanted: &[InnerPart], seen: &InnerSeen) -> Vec<InnerPart> {
    let there = |wish: &&InnerPart| {
        seen.parts
            .iter()
            .any(|part| part.key == wish.key && part.value == wish.value)
    };
    wanted.iter().filter(|wish| !there(wish)).cloned().collect()
}

fn add<T>(slot: &Slot, target: &Target, inner: &InnerKind, mut parts: Vec<InnerPart>) -> Flow<T> {
    if !inner.batch {
        parts.truncate(1);
    }
    let step = Step::AddInner {
        target: target.clone(),
        inner: inner.name,
        parts,
    };
    act(Decision::Do(step), Reason::InnerMissing(slot.name.clone()))
}

fn take_out<T>(
    target: &Target,
    inner: &InnerKind,
    mut parts: Vec<InnerPart>,
    why: Reason,
) -> Flow<T> {
    if !inner.batch {
        parts.truncate(1);
    }
    let step = Step::RemoveInner {
        target: target.clone(),
        inner: inner.name,
        parts,
    };
    act(Decision::Do(step), why)
}
