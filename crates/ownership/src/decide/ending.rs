//! The end of a claim: everything of ours goes, whatever was recorded; then our traces; then the
//! finalizers.

use std::sync::Arc;

use super::locate::Located;
use super::{Deciding, Flow, Need, Phase, act};
use crate::blueprint::{Fills, Ids, Slot, SlotName, resolve_props};
use crate::finding::{Finding, Reason};
use crate::kind::{BirthProof, InnerKind, InnerProof, Kind, Marking, Naming};
use crate::ledger::{Edit, Intent, Known, Origin};
use crate::mark::Tags;
use crate::part::{InnerPart, Props, Resource};
use crate::place::{KindAt, Place};
use crate::query::{Query, Target};
use crate::rules::Rules;
use crate::sight::Sight;
use crate::step::{PartTags, Step, UnmarkRight};
use crate::text::{ResourceId, Text};
use crate::verdict::{Owned, Owner, Verdict};

impl Deciding<'_> {
    pub(super) fn ending(&mut self) -> Flow<()> {
        if self.view.finished() {
            return act(Need::Done, Reason::NothingLeft);
        }
        if !self.ledger.pinned {
            let evidence = self.case.evidence;
            if evidence.adopt.is_empty() && evidence.vouched.is_empty() {
                return act(Need::Done, Reason::NothingLeft);
            }
            return act(Need::Write(vec![Edit::Pin]), Reason::Unpinned);
        }
        if self.case.phase == Phase::Retaining && !self.marks_have_landed() {
            return Ok(());
        }
        self.look_for_all()?;
        if self.rules.stops_for_held_parts() && self.is_anothers_to_end()? {
            return Ok(());
        }
        self.adopt_before_the_end()?;
        if self.rules.intents_hold_the_end() {
            self.end_intents(|_| true)?;
        }
        self.end_owned()?;
        self.end_known()?;
        self.await_all_gone();
        // What another management cluster holds is that one's to end, with all that was added for it.
        if self.findings.iter().any(is_held) {
            return Ok(());
        }
        // Whoever is still there in the name of this cluster must be known before its marks go.
        if self.waits.is_none() && self.rules.looks_again_at_the_end() {
            self.look_again()?;
        }
        self.take_over_before_the_end()?;
        self.sweep()?;
        self.erase_traces()?;
        if self.waits.is_some() || !self.calls_are_over() {
            return Ok(());
        }
        if self.rules.blockers_hold_the_end() && self.findings.iter().any(Finding::holds_the_end) {
            return Ok(());
        }
        act(Need::Write(vec![Edit::Finish]), Reason::NothingLeft)
    }

    /// Whether another management cluster holds something of the claim, or did when it was last looked
    /// at: then it is that one's to end, all of it (law 5).
    fn is_anothers_to_end(&mut self) -> Flow<bool> {
        let mut held = Vec::new();
        for KindAt { kind, place } in self.case.kinds {
            for (resource, read) in self.view.of_kind(kind, place) {
                if let Verdict::Owned(owned) = self.judge(kind, resource, read)
                    && let (Some(_), Some(mark)) = (owned.held_by(), owned.mark())
                {
                    held.push((mark.slot.clone(), owned.clone()));
                }
            }
        }
        for (slot, target, resource) in self.used_with_parts()? {
            if let Some(by) = self.held_inside(slot, &target, &resource)? {
                let slot = slot.name.clone();
                self.findings.push(Finding::Held { slot, target, by });
            }
        }
        for (slot, owned) in &held {
            self.is_held(slot, owned);
        }
        Ok(self.findings.iter().any(is_held) || self.has_yielded())
    }

    /// Whether every mark that was sent while the claim lived has taken effect: what is given back
    /// must not be marked again by a call that is late (law 7).
    fn marks_have_landed(&mut self) -> bool {
        let kinds = self.case.kinds.iter().map(|at| at.kind);
        let Some(slowest) = kinds.max_by_key(|kind| kind.settling) else {
            return true;
        };
        self.settled(
            Sight::Retaining,
            |rules, since| rules.late_effects_over_at(slowest, since),
            Reason::Retains,
        )
    }

    /// Looks for everything that can be ours: by marks, and by every id that the ledger knows.
    fn look_for_all(&mut self) -> Flow<()> {
        if self.rules.ends_by_marks() {
            for at in self.case.kinds {
                let kind = at.kind;
                // Where no list shows marks, each one would have to be asked for; but each name of
                // ours can be, and there is one of it.
                if !kind.lists_marks && kind.name_finds_marks() {
                    self.look_for_names(at)?;
                } else if !self.is_looked_for_last(at) {
                    let query = self.end_query(kind, &at.place);
                    self.look(query, || Reason::FindByMarks(kind.name))?;
                }
            }
        }
        // What we only found is nothing to end; what we added to it is in the traces.
        let known = self.ledger.known.iter();
        let known = known
            .filter(|(_, known)| known.origin != Origin::Found)
            .map(|(target, _)| target.clone());
        let recorded = self.ledger.ids.iter().filter_map(|(slot, id)| {
            let slot = self
                .case
                .blueprint
                .slot(slot)
                .filter(|slot| slot.is_own())?;
            Some(slot.target(id.clone()))
        });
        let targets: Vec<Target> = known.chain(recorded).collect();
        for target in targets {
            self.see(&target, || Reason::Ends)?;
        }
        Ok(())
    }

    /// Looks for what the slots of a Kind are called.
    fn look_for_names(&mut self, at: &KindAt) -> Flow<()> {
        let blueprint = self.case.blueprint;
        let own = |slot: &&Slot| slot.is_own() && slot.kind_at() == *at;
        for slot in blueprint.slots().iter().filter(own) {
            let props = self.recorded_props(slot).unwrap_or_default();
            if let Some(query) = self.name_query(slot, &props) {
                self.look(query, || Reason::FindByName(slot.label.clone()))?;
            }
        }
        Ok(())
    }

    /// Whether the last look by marks is the first one, too: the ledger knows what we have of this
    /// Kind, and a name keeps more than one from being made where they are wanted.
    fn is_looked_for_last(&self, at: &KindAt) -> bool {
        let ours =
            |(target, known): (&Target, &Known)| at.holds(target) && known.origin != Origin::Found;
        let open = |intent: &Intent| intent.kind_at() == *at;
        matches!(at.kind.naming, Naming::Within(_))
            && self.rules.looks_again_at_the_end()
            && self.ledger.known.iter().any(ours)
            && !self.ledger.intents.values().any(open)
    }

    /// The look-up by marks of everything of a Kind that is ours, and where that matters of what others
    /// have in the name of our cluster, and of what carries the cluster's mark.
    pub(super) fn end_query(&self, kind: &'static Kind, place: &Place) -> Query {
        let identity = self.case.identity;
        let mut keys = vec![identity.key(kind)];
        if self.case.evidence.sweep {
            let key = |(key, _): &(Text, Text)| key.clone();
            let in_its_name = identity.dialect.ownership(kind.carrier, None);
            keys.extend(in_its_name.iter().flat_map(Tags::iter).map(key));
            let marked = |slot: &Slot| slot.cluster_mark && slot.kind == kind;
            if self.case.blueprint.slots().iter().any(marked) {
                let clusters = identity.dialect.cluster_on(kind);
                keys.extend(clusters.iter().flat_map(Tags::iter).map(key));
            }
        }
        let place = self.where_to_ask(place);
        Query::Marks { kind, place, keys }
    }

    /// What evidence says is ours is adopted first, so that it goes by its mark like the rest.
    fn adopt_before_the_end(&mut self) -> Flow<()> {
        let blueprint = self.case.blueprint;
        for slot in blueprint.slots().iter().filter(|slot| slot.is_own()) {
            let ours = |known: &Known| known.slot == slot.name && known.origin != Origin::Found;
            if self.ledger.known.values().any(ours) || !self.may_adopt(slot) {
                continue;
            }
            let Some(props) = self.props_at_the_end(slot)? else {
                continue;
            };
            if let Located::Adoptable { resource } = self.locate(slot, &props)? {
                self.adopt(slot, &resource)?;
            }
        }
        Ok(())
    }

    /// Whether the object shows evidence for a slot: an original's finalizer, what it is a part of,
    /// or the recorded id of something that carries the dialect's mark.
    fn may_adopt(&self, slot: &Slot) -> bool {
        let evidence = self.case.evidence;
        let recorded = || {
            let id = self.ledger.ids.get(&slot.name)?;
            let seen = self.view.seen(&slot.target(id.clone()))?;
            let resource = seen.resource.as_ref()?;
            let verdict = self.judge(slot.kind, resource, seen.read);
            Some(verdict == Verdict::Foreign(Owner::Legacy))
        };
        evidence.adopt.contains(&slot.name)
            || evidence.vouched.contains(&slot.name)
            || evidence.adopt_marked.contains(&slot.name)
            || recorded().unwrap_or(false)
    }

    /// A slot's properties by recorded ids, and by what it refers to where none is recorded: a claim
    /// may end before it ever lived here.
    fn props_at_the_end(&mut self, slot: &Slot) -> Flow<Option<Props>> {
        let mut found: Vec<(SlotName, ResourceId)> = Vec::new();
        for name in slot.dependencies() {
            let Some(host) = self.case.blueprint.slot(name) else {
                continue;
            };
            if self.ledger.ids.contains_key(name) {
                continue;
            }
            let ids = self.ledger.ids.clone();
            let recorded = Ids(|name: &SlotName| ids.get(name).cloned());
            let matches = self.matches(host, &recorded)?.unwrap_or_default();
            if self.is_one_of_several(host, matches.len()) {
                continue;
            }
            let first = matches.first();
            found.extend(first.map(|resource| (name.clone(), resource.id.clone())));
        }
        let id = |name: &SlotName| {
            let recorded = self.ledger.ids.get(name);
            let found = || {
                found
                    .iter()
                    .find(|(slot, _)| slot == name)
                    .map(|(_, id)| id)
            };
            recorded.or_else(found).cloned()
        };
        Ok(resolve_props(&slot.props, &Ids(id)))
    }

    /// A slot's properties, as far as recorded ids can tell.
    fn recorded_props(&self, slot: &Slot) -> Option<Props> {
        resolve_props(&slot.props, &self.recorded())
    }

    /// What the recorded ids say of references.
    fn recorded(&self) -> impl Fills {
        Ids(|name: &SlotName| self.ledger.ids.get(name).cloned())
    }

    /// Open intents hold the end until their resource was seen, or cannot come any more (law 3).
    pub(super) fn end_intents(&mut self, which: impl Fn(&SlotName) -> bool) -> Flow<()> {
        let mut edits = Vec::new();
        let intents = self.ledger.intents.iter();
        for (name, intent) in intents.filter(|(name, _)| which(name)) {
            let slot = &self.slot_or_bare(name, &intent.kind_at(), &intent.name);
            self.note_operation(name)?;
            if let Some((target, resource)) = self.alive(name, intent) {
                let known = Known::new(slot, Origin::Created, &resource);
                edits.push(Edit::Know { target, known });
                edits.push(Edit::CloseIntent { slot: name.clone() });
            } else if let Some(resource) = self.newborn(slot, intent)? {
                if self.case.phase == Phase::Retaining {
                    edits.push(Edit::CloseIntent { slot: name.clone() });
                } else {
                    self.mark_newborn(slot, &resource)?;
                }
            } else if self.await_operation(name, intent)? {
                // It holds the end.
            } else if self.intent_is_over(slot, intent)? {
                edits.push(Edit::CloseIntent { slot: name.clone() });
            }
        }
        if edits.is_empty() {
            return Ok(());
        }
        act(Need::Write(edits), Reason::SeenByMarks)
    }

    /// What an intent made or adopted, by its mark: it has the intent's own attempt.
    fn alive(&self, slot: &SlotName, intent: &Intent) -> Option<(Target, Arc<Resource>)> {
        let kind = intent.kind;
        let mut seen = self.view.of_kind(kind, &intent.place);
        seen.find_map(|(resource, read)| match self.judge(kind, resource, read) {
            Verdict::Owned(owned)
                if owned.mark()?.slot == *slot && owned.mark()?.attempt == intent.attempt =>
            {
                Some((owned.target().clone(), resource.clone()))
            }
            _ => None,
        })
    }

    /// What an open intent made or adopted, not marked yet.
    fn newborn(&mut self, slot: &Slot, intent: &Intent) -> Flow<Option<Arc<Resource>>> {
        let ours = |known: &Known| known.slot == slot.name && known.origin != Origin::Found;
        let known = self.ledger.known.iter().filter(|(_, known)| ours(known));
        let created = self
            .view
            .created(&slot.name)
            .map(|target| target.id.clone());
        let made = self.made(&slot.name, intent)?.map(|target| target.id);
        let ids: Vec<_> = known
            .map(|(target, _)| target.id.clone())
            .chain(intent.adopts.clone())
            .chain(created)
            .chain(made)
            .collect();
        for id in ids {
            if !self.awaits_mark(slot, &id) {
                continue;
            }
            let target = slot.target(id);
            let seen = self.see(&target, || Reason::AwaitIntent(slot.name.clone()))?;
            let Some((resource, read)) = seen else {
                continue;
            };
            if !self.is_another(&target, &resource)
                && matches!(
                    self.judge(slot.kind, &resource, read),
                    Verdict::Unmarked | Verdict::Foreign(Owner::Legacy)
                )
            {
                return Ok(Some(resource));
            }
        }
        if slot.kind.birth == BirthProof::Nonce
            && let Some(query) = self.name_query(slot, &intent.props)
        {
            self.look(query, || Reason::FindByName(intent.name.clone()))?;
        }
        match self.by_intent(slot)? {
            Some(Located::Newborn { resource }) => Ok(Some(resource)),
            Some(Located::Refused(finding)) => {
                self.findings.push(finding);
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn mark_newborn(&mut self, slot: &Slot, resource: &Resource) -> Flow<()> {
        let target = resource.target();
        if !self.ledger.known.contains_key(&target) {
            let known = Known::new(slot, Origin::Created, resource);
            let edit = Edit::Know { target, known };
            return act(
                Need::Write(vec![edit]),
                Reason::RecordFound(slot.name.clone()),
            );
        }
        self.mark_new(slot, resource)
    }

    /// Whether nothing can come of an intent any more.
    fn intent_is_over(&mut self, slot: &Slot, intent: &Intent) -> Flow<bool> {
        // Without a mark only its client token finds what it may have made: the repetition returns
        // it, or makes what then is deleted.
        let only_token = slot.kind.birth == BirthProof::Token
            && intent.adopts.is_none()
            && self.case.phase != Phase::Retaining;
        let answered = self
            .ledger
            .known
            .values()
            .any(|known| known.slot == slot.name && known.origin != Origin::Found);
        if only_token && !answered {
            if !self.keeps_its_secrets(slot, intent) {
                return self.is_given_up(slot, intent);
            }
            // What was refused in this pass is asked again in the next, by an announcement of its own.
            if self.view.turn_is_over(&slot.name).is_some() {
                let next = self.now + slot.kind.settling;
                self.wait(next, Reason::AwaitIntent(slot.name.clone()));
                return Ok(false);
            }
            self.repeat(slot, intent)?;
            if self.is_unprovable(slot, intent) {
                return Ok(false);
            }
        }
        Ok(self.settled(
            Sight::Intent(slot.name.clone(), intent.attempt, intent.sends),
            |rules, since| rules.late_effects_over_at(slot.kind, since),
            Reason::AwaitIntent(slot.name.clone()),
        ))
    }

    /// Deletes, or gives back, everything that is ours, dependents first.
    fn end_owned(&mut self) -> Flow<()> {
        let mut all: Vec<(&'static Kind, Arc<Resource>, Owned)> = Vec::new();
        for KindAt { kind, place } in self.case.kinds {
            for (resource, read) in self.view.of_kind(kind, place) {
                match self.judge(kind, resource, read) {
                    Verdict::Owned(owned) => all.push((*kind, resource.clone(), owned)),
                    Verdict::Foreign(owner @ Owner::Disputed(_)) => {
                        let target = resource.target();
                        let slot = self.slot_of(resource);
                        self.findings.push(Finding::Conflict {
                            slot,
                            target,
                            owner,
                        });
                    }
                    _ => {}
                }
            }
        }
        all.retain(|(_, _, owned)| !self.view.deleted(owned.target()));
        all.sort_by_cached_key(|(_, resource, owned)| {
            let rank = owned
                .mark()
                .map_or(0, |mark| self.case.blueprint.rank(&mark.slot));
            (usize::MAX - rank, resource.id.clone())
        });
        for (kind, resource, owned) in all {
            // Everything here was judged by its mark.
            if owned
                .mark()
                .is_some_and(|mark| self.is_held(&mark.slot, &owned))
            {
                continue;
            }
            if self.case.phase == Phase::Retaining && self.rules.honours_retain() {
                self.give_back(kind, &resource, owned)?;
                continue;
            }
            // Whoever held it before must see that he does no more.
            if let Some(mark) = owned.mark()
                && mark.holder != self.case.identity.holder
            {
                let slot = self.slot_or_bare(&mark.slot, &resource.kind_at(), &resource.name);
                self.repair_mark(&slot, &resource, &owned)?;
            }
            self.delete(kind, owned.target(), Reason::Ends)?;
        }
        Ok(())
    }

    fn slot_of(&self, resource: &Resource) -> SlotName {
        let known = self
            .ledger
            .known
            .get(&resource.target())
            .map(|known| known.slot.clone());
        let first = || {
            self.case
                .blueprint
                .slots()
                .iter()
                .find(|s| s.kind == resource.kind)
        };
        known
            .or_else(|| first().map(|slot| slot.name.clone()))
            .unwrap_or_else(|| SlotName::new("unknown").expect("a legal slot name"))
    }

    /// Strips a resource of every mark of ours and leaves it.
    fn give_back(&mut self, kind: &'static Kind, resource: &Resource, owned: Owned) -> Flow<()> {
        if kind.marking != Marking::Mutable {
            self.findings.push(Finding::CannotStrip {
                target: owned.target().clone(),
            });
            return Ok(());
        }
        let Some(mark) = owned.mark() else {
            return Ok(());
        };
        let slot = self.slot_or_bare(&mark.slot, &resource.kind_at(), &resource.name);
        let attempt = mark.attempt;
        let ours = self.wanted_tags(&slot, attempt).unwrap_or_default();
        // Our own key goes with whatever it says; the rest only with our value.
        let own_key = self.case.identity.key(kind);
        let tags: Vec<(Text, Text)> = resource
            .tags
            .iter()
            .filter(|(key, value)| {
                *key == own_key || ours.iter().any(|(k, v)| k == key && v == value)
            })
            .cloned()
            .collect();
        self.give_back_parts(kind, owned.target())?;
        self.refresh(owned.target())?;
        let targets = vec![owned.target().clone()];
        let step = Step::Unmark {
            targets,
            tags,
            right: UnmarkRight::Retain(owned),
        };
        self.take(step, Reason::Retains)
    }

    /// What is inside loses our mark first, while the resource still says whose it is.
    fn give_back_parts(&mut self, kind: &'static Kind, target: &Target) -> Flow<()> {
        let key = self.case.identity.key(kind);
        let marked = |inner: &&InnerKind| inner.proof == InnerProof::OwnMark;
        for inner in kind.inner.iter().filter(marked) {
            let parts = &self.inside(target, inner)?.parts;
            let value = parts.iter().find_map(|part| part.tags.get(&key)).cloned();
            let Some(value) = value else {
                continue;
            };
            let alike = |part: &&InnerPart| part.tags.get(&key) == Some(&value);
            let parts = parts.iter().filter(alike).cloned().collect();
            self.refresh_inside(target, inner)?;
            let step = Step::UnmarkInner(PartTags {
                target: target.clone(),
                inner: inner.name,
                parts,
                tags: vec![(key.clone(), value)],
            });
            return self.take(step, Reason::Retains);
        }
        Ok(())
    }

    /// What the ledger knows and the cloud does not show: waited for, then believed. What lost its
    /// mark is left, and said.
    fn end_known(&mut self) -> Flow<()> {
        if !self.rules.records_hold_the_end() {
            return Ok(());
        }
        for (target, known) in &self.ledger.known {
            let kind = target.kind;
            if known.origin == Origin::Found || self.ledger.intents.contains_key(&known.slot) {
                continue;
            }
            let target = target.clone();
            if self.view.deleted(&target) {
                continue;
            }
            let settle = |rules: &dyn Rules, since| rules.settled_at(kind, since);
            let why = Reason::AwaitSettling(target.id.clone());
            let seen = self.view.seen(&target);
            let Some((resource, read)) = seen.and_then(|s| Some((s.resource.as_ref()?, s.read)))
            else {
                self.gone_for_good(kind, &target);
                continue;
            };
            if self.is_going(resource) {
                self.await_gone(kind, &target.id);
                continue;
            }
            // Somebody else's, under the name of ours: ours is gone.
            if self.is_another(&target, resource) {
                self.gone_for_good(kind, &target);
                continue;
            }
            let sure = !self.rules.names_prove_nothing() || known.is(kind, resource);
            match self.judge(kind, resource, read) {
                // Stripped by us, or not marked as far as a read can tell that may be old.
                Verdict::Unmarked | Verdict::Foreign(Owner::Legacy)
                    if self.case.phase == Phase::Retaining =>
                {
                    let stripped = self.view.erased_traces().iter().any(|t| t.on == target);
                    let _ = stripped || self.settled(Sight::Lost(target), settle, why);
                }
                // Part of the mark is gone: it is completed, and then goes by its mark.
                Verdict::Foreign(Owner::Legacy) if sure => {
                    let slot = self.slot_or_bare(&known.slot, &resource.kind_at(), &resource.name);
                    self.mark_new(&slot, resource)?;
                }
                Verdict::Unmarked | Verdict::Foreign(Owner::Legacy)
                    if self.settled(Sight::Lost(target.clone()), settle, why.clone()) =>
                {
                    let slot = known.slot.clone();
                    self.findings.push(Finding::MarkLost { slot, target });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A slot of the blueprint; or one that is no longer in it, as far as its name and Kind tell.
    fn slot_or_bare(&self, name: &SlotName, at: &KindAt, label: &Text) -> Slot {
        let slot = self.case.blueprint.slot(name).cloned();
        let slot = slot.unwrap_or_else(|| Slot::own(name.clone(), at.kind, label.clone()));
        slot.at(&at.place)
    }

    /// One last look by marks after the last deletion. What has our name and was deleted needs none:
    /// there can be no second one.
    fn look_again(&mut self) -> Flow<()> {
        let kinds = self.case.kinds.iter();
        for KindAt { kind, place } in kinds.filter(|at| !at.kind.name_finds_marks()) {
            let query = self.end_query(kind, place);
            let looked = self.view.look(&query);
            let stale = looked.is_none_or(|look| {
                kind.naming == Naming::Free && look.deletions < self.view.deletions()
            });
            if stale {
                return act(Need::Look(query), Reason::LastLook(kind.name));
            }
        }
        Ok(())
    }
}

fn is_held(finding: &Finding) -> bool {
    matches!(finding, Finding::Held { .. })
}
