//! Parts inside resources of ours: what we wrote converges, what others put there is theirs.

use std::collections::BTreeSet;

use super::{Deciding, Flow, Guest, Need, act};
use crate::blueprint::{Ids, Slot, SlotName};
use crate::claim::ClaimHash;
use crate::error::{Blocker, Class, CloudError};
use crate::finding::{Finding, Reason};
use crate::kind::{InnerKind, InnerProof, Kind};
use crate::ledger::{Edit, Known, Origin, Part, TraceOf};
use crate::mark::{self, Tags};
use crate::part::{InnerPart, Resource};
use crate::query::{Query, Target};
use crate::rules::Rules;
use crate::sight::Sight;
use crate::step::Step;
use crate::text::{ResourceId, Text};
use crate::verdict::{self, Owned, OwnedPart, Verdict};
use crate::view::InnerSeen;

impl<'a> Deciding<'a> {
    /// Inside a resource of ours: what is wanted is added; what we wrote and is not wanted any more is
    /// removed, and whatever else is not wanted where the slot says that it is exclusive.
    pub(super) fn converge_inner(
        &mut self,
        slot: &Slot,
        resource: &Resource,
        owned: &Owned,
    ) -> Flow<()> {
        let target = owned.target();
        self.note_parts(slot, target)?;
        // What is there may be what a slot that is empty now will ask for again.
        let all_known = self.knows_parts(slot);
        for inner in slot.kind.inner {
            // Where a part can carry a mark it does: then it is known as ours without the ledger, too.
            let wanted = self.wanted(slot, inner, &self.part_tags(slot, inner));
            let exclusive = slot.exclusive.contains(&inner.name);
            let may_have_written =
                matches!(inner.proof, InnerProof::OwnMark) || self.wrote_any(target, inner);
            if wanted.is_empty() && !exclusive && !may_have_written {
                continue;
            }
            let seen = self.inside(target, inner)?;
            let mut missing = missing(&wanted, seen);
            missing.retain(|part| {
                let (inner, key) = (inner.name, part.key.clone());
                !self.view.has_left(target, &TraceOf::Inner { inner, key })
            });
            let mut surplus: Vec<InnerPart> = Vec::new();
            for part in &seen.parts {
                let by = self.other_claim(slot.kind, resource, inner, part);
                let guest = Guest {
                    slot: slot.name.clone(),
                    target: target.clone(),
                    noun: inner.noun,
                    key: part.key.clone(),
                    by,
                };
                if wanted.iter().any(|wish| wish.key == part.key) {
                    self.guests.extend(guest.by.is_some().then_some(guest));
                    continue;
                }
                if self.is_guests(slot, resource, inner, part) {
                    // A guest may stay, unless there is room for one only.
                    if inner.single && !missing.is_empty() {
                        self.inner_conflict(slot, target, inner, &part.key);
                    }
                    self.guests.push(guest);
                    continue;
                }
                if all_known {
                    surplus.push(part.clone());
                }
            }
            let full = inner.single && seen.parts.len() > surplus.len() && !missing.is_empty();
            if (missing.is_empty() || full) && surplus.is_empty() {
                continue;
            }
            self.refresh(target)?;
            let room = !inner.single || seen.parts.is_empty();
            if !missing.is_empty() && room {
                let why = Reason::InnerMissing(slot.name.clone());
                return self.send_announced(add(target, inner, missing), why);
            }
            self.refresh_inside(target, inner)?;
            let why = Reason::InnerSurplus(slot.name.clone());
            self.take_out(slot.kind, target, inner, surplus, why)?;
        }
        Ok(())
    }

    /// Makes sure that the ledger knows what we put into a resource of ours before we do: what else is
    /// there is somebody else's (law 1).
    fn note_parts(&mut self, slot: &Slot, target: &Target) -> Flow<()> {
        let Some(known) = self.ledger.known.get(target) else {
            return Ok(());
        };
        let wished = self.wished(slot);
        let mut parts = known.wrote.clone().unwrap_or_default();
        for inner in slot.kind.inner {
            let wishes = || wished.iter().filter(|(kind, _)| *kind == inner.name);
            let new = |part: &&Part| !parts.contains(*part);
            if known.wrote.is_some() && !wishes().any(|part| new(&part)) {
                continue;
            }
            // Of what is there already we wrote nothing; but of a record that is older than this list
            // nobody can tell, and so everything that is wished for counts as ours.
            let seen = self.inside(target, inner)?;
            let there = |part: &Part| seen.parts.iter().any(|seen| seen.key == part.1);
            let ours: Vec<Part> = wishes()
                .filter(|part| known.wrote.is_none() || !there(part))
                .cloned()
                .collect();
            parts.extend(ours);
        }
        if known.wrote.as_ref() == Some(&parts) {
            return Ok(());
        }
        let target = target.clone();
        act(
            Need::Write(vec![Edit::Wrote { target, parts }]),
            Reason::NoteParts(slot.name.clone()),
        )
    }

    /// What a slot wishes for inside its resource, as far as the slots are filled that it refers to.
    pub(super) fn wished(&self, slot: &Slot) -> BTreeSet<Part> {
        let part = |wish: &crate::blueprint::InnerWish| {
            wish.value.resolve(self)?;
            Some((wish.kind, wish.key.resolve(self)?))
        };
        slot.inner.iter().filter_map(part).collect()
    }

    fn wrote_any(&self, target: &Target, inner: &InnerKind) -> bool {
        let known = self.ledger.known.get(target);
        let wrote = known.and_then(|known| known.wrote.as_ref());
        wrote.is_some_and(|parts| parts.iter().any(|(kind, _)| *kind == inner.name))
    }

    /// Whether a part inside a resource of ours is somebody else's: another claim marked it, or we did
    /// not write it.
    fn is_guests(
        &self,
        slot: &Slot,
        resource: &Resource,
        inner: &InnerKind,
        part: &InnerPart,
    ) -> bool {
        if self.is_anothers(slot.kind, resource, inner, part) {
            return self.rules.spares_marked_inner();
        }
        let exclusive = slot.exclusive.contains(&inner.name);
        let target = resource.target();
        // Where our own carry a mark, one without it is not what we wrote, although it says the same.
        let ours = match inner.proof {
            InnerProof::OwnMark => part.tags.get(&self.case.identity.key(slot.kind)).is_some(),
            InnerProof::ParentMark => {
                let known = self.ledger.known.get(&target);
                let wrote = known.and_then(|known| known.wrote.as_ref());
                wrote.is_some_and(|parts| parts.contains(&(inner.name, part.key.clone())))
            }
        };
        self.rules.spares_guests() && !exclusive && !ours
    }

    /// What we wrote, and neither want nor see any more: it is forgotten when it cannot come back, so
    /// that what somebody else writes later is not taken for ours.
    pub(super) fn forgotten_parts(&mut self) -> Vec<Edit> {
        let mut edits = Vec::new();
        for slot in self.case.blueprint.slots().iter().filter(|s| s.is_own()) {
            let Some(id) = self.id_of(&slot.name) else {
                continue;
            };
            let target = slot.target(id);
            let known = self.ledger.known.get(&target);
            let Some(wrote) = known.and_then(|known| known.wrote.as_ref()) else {
                continue;
            };
            let wished = self.wished(slot);
            for (inner, key) in wrote.intersection(&wished) {
                let sight = Sight::Written(target.clone(), inner, key.clone());
                self.sightings.clear(&sight);
            }
            let mut kept = wrote.clone();
            for part @ (inner, key) in wrote.iter().filter(|part| !wished.contains(*part)) {
                let Some(seen) = self.view.inner(&target, inner) else {
                    continue;
                };
                let sight = Sight::Written(target.clone(), inner, key.clone());
                if seen.parts.iter().any(|part| part.key == *key) {
                    self.sightings.clear(&sight);
                    continue;
                }
                let over = |rules: &dyn Rules, since| rules.late_effects_over_at(slot.kind, since);
                if self.closable(sight, over, Reason::AwaitCall(target.id.clone())) {
                    kept.remove(part);
                }
            }
            if kept != *wrote {
                let parts = kept;
                edits.push(Edit::Wrote { target, parts });
            }
        }
        edits
    }

    /// Deletes a resource of ours, what blocks it from inside first.
    pub(super) fn delete(&mut self, kind: &'static Kind, target: &Target, why: Reason) -> Flow<()> {
        if let Some(error) = self.view.blocked(target) {
            if !self.is_blocked_by_what_goes(error) {
                self.findings.push(Finding::from((target, error)));
            }
            return Ok(());
        }
        self.refresh(target)?;
        let seen = self.view.seen(target);
        let Some((resource, read)) =
            seen.and_then(|seen| Some((seen.resource.clone()?, seen.read)))
        else {
            return Ok(());
        };
        let Verdict::Owned(owned) = self.judge(kind, &resource, read) else {
            return Ok(());
        };
        if self.is_going(&resource) {
            self.await_gone(kind, &resource.id);
            return Ok(());
        }
        if self.must_wait_for_guests(target) {
            return Ok(());
        }
        for inner in kind.inner {
            let parts = self.inside(target, inner)?.parts.clone();
            let anothers = parts
                .iter()
                .find(|part| self.is_anothers(kind, &resource, inner, part));
            if let (Some(part), true) = (anothers, self.rules.spares_marked_inner()) {
                let blocker = Blocker {
                    noun: format!("another claim's {}", inner.noun).into(),
                    id: ResourceId::new(part.key.clone()),
                };
                let class = Class::Blocked(vec![blocker]);
                let error = CloudError::new(class, "Guest", "another claim needs it");
                self.findings.push(Finding::from((target, &error)));
                return Ok(());
            }
            if !inner.blocks_deletion || parts.is_empty() {
                continue;
            }
            let (ours, theirs): (Vec<_>, Vec<_>) = parts
                .into_iter()
                .partition(|part| self.goes_with(&owned, inner, part));
            if !ours.is_empty() {
                self.refresh_inside(target, inner)?;
                return self.take_out(kind, target, inner, ours, why);
            }
            let blockers = theirs.iter().map(|part| Blocker {
                noun: inner.noun.into(),
                id: ResourceId::new(part.key.clone()),
            });
            let class = Class::Blocked(blockers.collect());
            let error = CloudError::new(class, "Guest", "somebody else put something into it");
            self.findings.push(Finding::from((target, &error)));
            return Ok(());
        }
        self.take_out_of_others(&owned, &why)?;
        if !self.may_free(kind, target) {
            return Ok(());
        }
        match Step::delete(owned, self.now) {
            Some(step) => self.take(step, why),
            None => Ok(()),
        }
    }

    /// Parts of ours inside other resources that refer to one keep it from being deleted: they go
    /// first. Where two refer to each other no order of deletion does that.
    fn take_out_of_others(&mut self, going: &Owned, why: &Reason) -> Flow<()> {
        let Some(mark) = going.mark() else {
            return Ok(());
        };
        let blueprint = self.case.blueprint;
        let refers = |slot: &&Slot| {
            slot.name != mark.slot && slot.inner.iter().any(|wish| wish.refers_to(&mark.slot))
        };
        let view = self.view;
        for host in blueprint.slots().iter().filter(refers) {
            for (resource, read) in view.of_kind(host.kind, &host.place) {
                match self.judge(host.kind, resource, read) {
                    Verdict::Owned(owned) => {
                        let its = owned.mark().is_some_and(|mark| mark.slot == host.name);
                        if its && !view.deleted(owned.target()) {
                            self.take_out_of_ours(host.kind, &owned, going, why)?;
                        }
                    }
                    // Somebody took our mark off it: what is marked inside it is ours still.
                    _ => self.take_out_of_released(host, resource, going, why)?,
                }
            }
        }
        for host in self.hosts_of_parts(going.target()) {
            let Some((resource, read)) = self.see(&host, || why.clone())? else {
                continue;
            };
            if let Verdict::Owned(owned) = self.judge(host.kind, &resource, read) {
                self.take_out_of_ours(host.kind, &owned, going, why)?;
            }
        }
        Ok(())
    }

    /// What else is recorded, or seen, to have a part inside that names one which goes, whatever is wished
    /// for by now.
    fn hosts_of_parts(&self, going: &Target) -> BTreeSet<Target> {
        let wrote = self.ledger.known.iter().filter(|(_, known)| {
            let mut parts = known.wrote.iter().flatten();
            parts.any(|(inner, key)| going.is_named_by(inner, key))
        });
        let seen = self.view.all_inner().iter().filter(|seen| {
            let mut parts = seen.parts.iter();
            parts.any(|part| going.is_named_by(seen.inner, &part.key))
        });
        let hosts = wrote.map(|(host, _)| host).chain(seen.map(|seen| &seen.of));
        let others = hosts.filter(|host| *host != going && !self.view.deleted(host));
        others.cloned().collect()
    }

    fn take_out_of_ours(
        &mut self,
        kind: &'static Kind,
        host: &Owned,
        going: &Owned,
        why: &Reason,
    ) -> Flow<()> {
        if self.view.keeps_inside(host.target()) {
            return Ok(());
        }
        for inner in kind.inner {
            let seen = self.inside(host.target(), inner)?;
            let ours = seen.parts.iter().filter(|part| {
                going.target().is_named_by(inner.name, &part.key)
                    && self.goes_with(host, inner, part)
            });
            let ours: Vec<InnerPart> = ours.cloned().collect();
            if !ours.is_empty() {
                self.refresh(host.target())?;
                self.refresh_inside(host.target(), inner)?;
                self.take_out(kind, host.target(), inner, ours, why.clone())?;
            }
        }
        Ok(())
    }

    fn take_out_of_released(
        &mut self,
        host: &Slot,
        resource: &Resource,
        going: &Owned,
        why: &Reason,
    ) -> Flow<()> {
        let target = resource.target();
        let known = self.ledger.known.get(&target);
        if known.is_none_or(|known| known.slot != host.name) {
            return Ok(());
        }
        let marked = |inner: &&InnerKind| inner.proof == InnerProof::OwnMark;
        for inner in host.kind.inner.iter().filter(marked) {
            let seen = self.inside(&target, inner)?;
            let ours = seen.parts.iter().filter(|part| {
                going.target().is_named_by(inner.name, &part.key)
                    && self.is_only_ours(host.kind, resource, inner, part)
            });
            let ours: Vec<InnerPart> = ours.cloned().collect();
            if ours.is_empty() {
                continue;
            }
            self.refresh_inside(&target, inner)?;
            let most = self.view.most_removed(&target, inner, ours.len());
            let proved = ours
                .into_iter()
                .take(most)
                .map(|part| OwnedPart::proved(target.clone(), inner, part, seen.read));
            if let Some(step) = Step::remove(proved.collect(), self.now) {
                self.take(step, why.clone())?;
            }
        }
        Ok(())
    }

    /// Whether a part that is in the way of its parent's deletion is ours to remove: we wrote it, or
    /// would have.
    fn goes_with(&self, owned: &Owned, inner: &InnerKind, part: &InnerPart) -> bool {
        if !self.rules.spares_guests() || inner.comes_along.contains(&&*part.key) {
            return true;
        }
        let known = self.ledger.known.get(owned.target());
        let wrote = known.and_then(|known: &Known| known.wrote.as_ref());
        let this = (inner.name, part.key.clone());
        if wrote.is_some_and(|parts| parts.contains(&this)) {
            return true;
        }
        let slot = owned.mark().map(|mark| &mark.slot);
        let Some(slot) = slot.and_then(|slot| self.case.blueprint.slot(slot)) else {
            return false;
        };
        // What the recorded and known ids say is what the wishes refer to; where they are lost, what our
        // mark says.
        let id_of = Ids(|name: &SlotName| {
            let ours = |known: &&Known| known.slot == *name && known.origin != Origin::Found;
            let known = self.ledger.known.iter();
            let mut known = known.filter(|(_, known)| ours(known)).map(|(t, _)| &t.id);
            let label = || {
                let slot = self.case.blueprint.slot(name)?;
                Some(ResourceId::new(slot.label.clone()))
            };
            let recorded = self.ledger.ids.get(name).or_else(|| known.next()).cloned();
            let marked = || self.marked_for(name);
            recorded.or_else(marked).or_else(label)
        });
        let wished = slot.inner.iter().any(|wish| {
            wish.kind == inner.name && wish.key.resolve(&id_of).is_some_and(|key| key == part.key)
        });
        wished || slot.exclusive.contains(&inner.name)
    }

    /// What was seen with our mark for a slot.
    fn marked_for(&self, name: &SlotName) -> Option<ResourceId> {
        let slot = self.case.blueprint.slot(name)?;
        let mut seen = self.view.of_kind(slot.kind, &slot.place);
        seen.find_map(
            |(resource, read)| match self.judge(slot.kind, resource, read) {
                Verdict::Owned(owned) if owned.mark()?.slot == *name => Some(resource.id.clone()),
                _ => None,
            },
        )
    }

    /// Takes parts out of a resource of ours: they are ours by derivation.
    fn take_out(
        &mut self,
        kind: &Kind,
        target: &Target,
        inner: &InnerKind,
        parts: Vec<InnerPart>,
        why: Reason,
    ) -> Flow<()> {
        let seen = self.view.seen(target);
        let resource = seen.and_then(|seen| Some((seen.resource.as_ref()?, seen.read)));
        let Some((resource, read)) = resource else {
            return Ok(());
        };
        match self.judge(kind, resource, read) {
            Verdict::Owned(owned) => self.take_out_of(&owned, inner, parts, why),
            _ => Ok(()),
        }
    }

    /// Takes parts out of a resource that is proved to be ours.
    pub(super) fn take_out_of(
        &mut self,
        owned: &Owned,
        inner: &InnerKind,
        parts: Vec<InnerPart>,
        why: Reason,
    ) -> Flow<()> {
        let target = owned.target();
        let Some(inside) = self.view.inner(target, inner.name).map(|seen| seen.read) else {
            return Ok(());
        };
        let most = self.view.most_removed(target, inner, parts.len());
        let proved = parts.into_iter().take(most);
        let proved: Option<Vec<_>> = proved
            .map(|part| OwnedPart::derived(owned, inner, part, inside))
            .collect();
        match proved.and_then(|proved| Step::remove(proved, self.now)) {
            Some(step) => self.take(step, why),
            None => Ok(()),
        }
    }

    /// The parts that the slot wants, with the tags they will carry.
    pub(super) fn wanted(&self, slot: &Slot, inner: &InnerKind, tags: &Tags) -> Vec<InnerPart> {
        slot.inner
            .iter()
            .filter(|wish| wish.kind == inner.name)
            .filter_map(|wish| {
                let (key, value) = (wish.key.resolve(self)?, wish.value.resolve(self)?);
                Some(InnerPart::new(key, value, tags.clone()))
            })
            .collect()
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
        act(Need::Look(query), Reason::CompareInner(inner.noun))
    }

    /// Makes sure that a removal may rest on what is known of the inside.
    pub(super) fn refresh_inside(&self, target: &Target, inner: &InnerKind) -> Flow<()> {
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
        act(Need::Look(query), Reason::Refresh(target.clone()))
    }

    pub(super) fn inner_conflict(
        &mut self,
        slot: &Slot,
        target: &Target,
        inner: &InnerKind,
        key: &Text,
    ) {
        self.findings.push(Finding::InnerConflict {
            slot: slot.name.clone(),
            target: target.clone(),
            noun: inner.noun,
            key: key.clone(),
        });
    }

    /// Another claim whose mark is on a part, besides ours or alone.
    fn other_claim(
        &self,
        kind: &Kind,
        resource: &Resource,
        inner: &InnerKind,
        part: &InnerPart,
    ) -> Option<ClaimHash> {
        let own = self.case.identity.claim.hash();
        let mut claims =
            mark::claims_on_part(kind.carrier, &resource.tags, inner, part).into_iter();
        claims.find(|claim| !self.rules.same_claim(own, claim))
    }

    /// Whether a part is another claim's and not ours: by its own mark, or by one on the resource that
    /// names it.
    pub(super) fn is_anothers(
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
                matches!(marks.standing(), verdict::Standing::Foreign(_))
            }
            InnerProof::ParentMark => {
                let ours = part_key(identity, kind, inner.name, &part.key);
                let names = |key: &str| mark::names_part(kind.carrier, key, inner.name, &part.key);
                let mut keys = resource.tags.iter().map(|(key, _)| key);
                resource.tags.get(&ours).is_none() && keys.any(|key| names(key))
            }
        }
    }
}

/// The key of our mark on a parent that names a part.
pub(super) fn part_key(identity: &verdict::Identity, kind: &Kind, inner: &str, key: &str) -> Text {
    mark::part_key(kind.carrier, identity.claim.hash(), inner, key)
}

/// The wanted parts that are not there, or say something else where that can be overwritten.
pub(super) fn missing(wanted: &[InnerPart], seen: &InnerSeen) -> Vec<InnerPart> {
    let there = |wish: &&InnerPart| {
        seen.parts
            .iter()
            .any(|part| part.key == wish.key && part.value == wish.value)
    };
    wanted.iter().filter(|wish| !there(wish)).cloned().collect()
}

/// The Step that adds parts: all at once, where one call can.
pub(super) fn add(target: &Target, inner: &InnerKind, mut parts: Vec<InnerPart>) -> Step {
    if !inner.batch {
        parts.truncate(1);
    }
    Step::AddInner {
        target: target.clone(),
        inner: inner.name,
        parts,
    }
}
