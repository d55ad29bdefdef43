//! Which resource fills a slot: by recorded id, then by marks, then by name.

use std::sync::Arc;

use super::{Deciding, Flow, intent_query, read_again};
use crate::blueprint::{IfMissing, Slot, Source};
use crate::finding::{Finding, Reason};
use crate::kind::{BirthProof, Change, Kind, Naming};
use crate::ledger::{Intent, Origin};
use crate::mark::Unmarked;
use crate::part::{InnerPart, Props, Resource};
use crate::place::{KindAt, Place};
use crate::query::{Query, Target};
use crate::sight::Sight;
use crate::text::{ResourceId, Text};
use crate::verdict::{Owned, Owner, ReadStamp, Verdict};

/// What was found for a slot.
pub(super) enum Located {
    /// Ours, by its mark; with the twins that are ours too.
    Owned {
        resource: Arc<Resource>,
        owned: Owned,
        twins: Vec<(Arc<Resource>, Owned)>,
    },
    /// Ours by an open intent, and not marked yet.
    Newborn { resource: Arc<Resource> },
    /// Ours by evidence on the object, and not marked yet.
    Adoptable { resource: Arc<Resource> },
    /// Somebody's, and ours to use.
    Used { resource: Arc<Resource> },
    /// It was ours, and somebody removed the mark.
    Lost { resource: Arc<Resource> },
    /// It cannot be used; the finding says why.
    Refused(Finding),
    /// There is none. What filled the slot before is gone for good.
    Absent { gone: Vec<ResourceId> },
    /// It takes time to tell.
    Pending,
}

/// What the ledger says about a resource that was met by a hint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    /// We made it or adopted it.
    Ours,
    /// We found it by name and use it.
    Found,
    /// The user wrote its id: a wish.
    Wish,
}

impl Deciding<'_> {
    /// Finds the resource of a slot that is ours to create.
    pub(super) fn locate(&mut self, slot: &Slot, props: &Props) -> Flow<Located> {
        if let Some(target) = self.view.created(&slot.name).cloned() {
            return self.locate_created(slot, &target);
        }
        if let (Some(from), true) = (self.elsewhere(slot)?, self.rules.refuses_to_move()) {
            let slot = slot.name.clone();
            return Ok(Located::Refused(Finding::Moved { slot, from }));
        }
        if self.rules.looks_before_create() {
            self.look_up(slot, props)?;
        }
        if let Some(wished) = self.by_wish(slot) {
            return Ok(wished);
        }
        if let Some(found) = self.owned_of(slot) {
            if let Located::Owned { twins, .. } = &found
                && !twins.is_empty()
            {
                self.look_at_dependents(slot)?;
                return Ok(self.owned_of(slot).unwrap_or(found));
            }
            return Ok(found);
        }
        if let Some(going) = self.going_of(slot) {
            self.await_gone(slot.kind, &going);
            return Ok(Located::Pending);
        }
        let mut gone = Vec::new();
        for id in self.hints(slot) {
            let target = slot.target(id.clone());
            let hint = self.hint(slot, &id);
            match self
                .view
                .seen(&target)
                .and_then(|seen| Some((seen.resource.clone()?, seen.read)))
            {
                // Somebody else's, under the name of ours: ours is gone.
                Some((resource, _))
                    if hint == Hint::Ours && self.is_another(&target, &resource) =>
                {
                    if !self.gone_for_good(slot.kind, &target) {
                        return Ok(Located::Pending);
                    }
                    gone.push(id);
                }
                Some((resource, _)) if self.is_going(&resource) => {
                    self.await_gone(slot.kind, &id);
                    return Ok(Located::Pending);
                }
                Some((resource, read)) => {
                    if let Some(found) = self.by_hint(slot, hint, resource, read) {
                        return Ok(found);
                    }
                }
                None if hint == Hint::Wish => {
                    if slot.source
                        == (Source::Own {
                            if_missing: IfMissing::Refuse,
                        })
                    {
                        return Ok(Located::Refused(Finding::missing(slot, &id)));
                    }
                }
                None => {
                    if !self.gone_for_good(slot.kind, &target) {
                        return Ok(Located::Pending);
                    }
                    gone.push(id);
                }
            }
        }
        if let Some(found) = self.by_operation(slot, &mut gone)? {
            return Ok(found);
        }
        if let Some(found) = self.by_intent(slot)? {
            return Ok(found);
        }
        if let Some(found) = self.by_name(slot, props)? {
            return Ok(found);
        }
        Ok(Located::Absent { gone })
    }

    /// Another place where the ledger knows something of ours for a slot, or where it is being made; or
    /// where marks show it, if the ledger does not list it.
    fn elsewhere(&self, slot: &Slot) -> Flow<Option<Place>> {
        if !slot.kind.recorded && !self.ledger.is_new {
            let others = self.case.kinds.iter();
            for at in others.filter(|at| at.kind == slot.kind && at.place != slot.place) {
                let query = self.marks_query(at.kind, &at.place);
                self.look(query, || Reason::FindByMarks(at.kind.name))?;
                if self.fills_there(slot, at) {
                    return Ok(Some(at.place.clone()));
                }
            }
        }
        let known = self.ledger.known.iter();
        let ours = known
            .filter(|(_, known)| known.slot == slot.name && known.origin != Origin::Found)
            .map(|(target, _)| &target.place);
        let intent = self.ledger.intents.get(&slot.name);
        let mut places = ours.chain(intent.map(|intent| &intent.place));
        Ok(places.find(|place| **place != slot.place).cloned())
    }

    /// Whether something in another place carries our mark for this slot.
    fn fills_there(&self, slot: &Slot, at: &KindAt) -> bool {
        let mut there = self.view.of_kind(at.kind, &at.place);
        there.any(|(resource, read)| {
            let verdict = self.judge(at.kind, resource, read);
            let gone = self.view.deleted(&resource.target());
            !gone && matches!(verdict, Verdict::Owned(owned) if owned.mark().is_some_and(|mark| mark.slot == slot.name))
        })
    }

    /// What the user named, where that is not what we made for this slot: a wish is a wish, also when
    /// it comes late.
    fn by_wish(&mut self, slot: &Slot) -> Option<Located> {
        let id = self.ledger.ids.get(&slot.name)?.clone();
        if self.hint(slot, &id) != Hint::Wish {
            return None;
        }
        let seen = self.view.seen(&slot.target(id))?;
        let (resource, read) = (seen.resource.clone()?, seen.read);
        match self.judge(slot.kind, &resource, read) {
            Verdict::Owned(_) => None,
            _ => self.by_hint(slot, Hint::Wish, resource, read),
        }
    }

    /// Asks everything that must be known before anything is said about a slot.
    fn look_up(&mut self, slot: &Slot, props: &Props) -> Flow<()> {
        for id in self.hints(slot) {
            let target = slot.target(id);
            self.see(&target, || Reason::CheckRecorded(slot.name.clone()))?;
        }
        // Of a claim that is new nothing can be elsewhere under its name.
        let elsewhere = slot.kind.naming == Naming::Free || !self.ledger.is_new;
        if !slot.kind.name_finds_marks() && elsewhere {
            let query = self.marks_query(slot.kind, &slot.place);
            self.look(query, || Reason::FindByMarks(slot.kind.name))?;
        }
        let intent = self.ledger.intents.get(&slot.name);
        // What was sent may not be what is wanted now.
        if let Some(intent) = intent
            && let Some(query) = intent_query(intent)
            && self.rules.looks_at_what_exists()
        {
            self.look(query, || Reason::FindByName(intent.name.clone()))?;
        }
        if let Some(id) = intent.and_then(|intent| intent.adopts.clone()) {
            let target = slot.target(id);
            self.see(&target, || Reason::Adopt(slot.name.clone()))?;
        }
        // A hint that leads to what is ours, or to what the user wants, makes the name irrelevant;
        // an open intent makes it relevant again, because only a look-up that could have found
        // any resource of ours closes it.
        let answered = intent.is_none()
            && (self.hint_answers(slot) || (!slot.kind.recorded && self.owned_of(slot).is_some()));
        if let (Some(query), false) = (self.name_query(slot, props), answered) {
            self.look(query, || Reason::FindByName(slot.label.clone()))?;
        }
        Ok(())
    }

    fn hint_answers(&self, slot: &Slot) -> bool {
        self.hints(slot).into_iter().any(|id| {
            let target = slot.target(id);
            self.view
                .seen(&target)
                .is_some_and(|seen| seen.resource.is_some())
        })
    }

    /// The look-up by name; for names with a nonce, that of the open intent.
    pub(super) fn name_query(&self, slot: &Slot, props: &Props) -> Option<Query> {
        let kind = slot.kind;
        let name: Text = match kind.birth {
            BirthProof::Nonce => self.ledger.intents.get(&slot.name)?.name.clone(),
            _ => slot.label.clone(),
        };
        let within = match kind.naming {
            Naming::Free => return None,
            Naming::Account => None,
            Naming::Within(prop) => Some((prop, props.get(prop)?.clone())),
        };
        let place = slot.place.clone();
        Some(Query::Name {
            kind,
            place,
            name,
            within,
        })
    }

    /// What our own create returned in this pass.
    fn locate_created(&mut self, slot: &Slot, target: &Target) -> Flow<Located> {
        let proves = self.rules.answer_proves(slot.kind);
        if !proves && self.view.is_unread(target) {
            return read_again(target);
        }
        let seen = self.view.seen(target);
        let Some((resource, read)) = seen.and_then(|s| Some((s.resource.clone()?, s.read))) else {
            if !proves && !self.view.deleted(target) {
                // The read that was to show it is old.
                let again = self.now + slot.kind.settling;
                self.wait(again, Reason::AwaitSettling(target.id.clone()));
            }
            return Ok(Located::Pending);
        };
        Ok(match self.judge(slot.kind, &resource, read) {
            Verdict::Owned(owned) => Located::Owned {
                resource,
                owned,
                twins: Vec::new(),
            },
            Verdict::Foreign(owner) if !proves && owner != Owner::Legacy => {
                Located::Refused(Finding::Conflict {
                    slot: slot.name.clone(),
                    target: target.clone(),
                    owner,
                })
            }
            _ => Located::Newborn { resource },
        })
    }

    /// The resources that carry our mark for this slot: one to keep, and its twins (law 2).
    fn owned_of(&self, slot: &Slot) -> Option<Located> {
        let mut owned: Vec<(Arc<Resource>, Owned)> = self
            .view
            .of_kind(slot.kind, &slot.place)
            .filter_map(
                |(resource, read)| match self.judge(slot.kind, resource, read) {
                    Verdict::Owned(owned) if owned.mark()?.slot == slot.name => {
                        Some((resource.clone(), owned))
                    }
                    _ => None,
                },
            )
            .filter(|(_, owned)| {
                !self.ledger.condemned.contains(owned.target())
                    && !self.view.deleted(owned.target())
            })
            .filter(|(resource, _)| !self.is_going(resource))
            .collect();
        let recorded = self.ledger.ids.get(&slot.name);
        owned.sort_by_cached_key(|(resource, owned)| {
            let needed = self.rules.keeps_needed_twin() && self.is_needed(&resource.id);
            let attempt = owned.mark().map_or(0, |mark| mark.attempt);
            (
                !needed,
                recorded != Some(&resource.id),
                attempt,
                resource.id.clone(),
            )
        });
        let mut owned = owned.into_iter();
        let (resource, kept) = owned.next()?;
        Some(Located::Owned {
            resource,
            owned: kept,
            twins: owned.collect(),
        })
    }

    /// Before one of several is chosen, what depends on them must be known (law 2).
    fn look_at_dependents(&mut self, slot: &Slot) -> Flow<()> {
        let blueprint = self.case.blueprint;
        for dependent in blueprint.slots() {
            let mut needs = dependent
                .dependencies()
                .chain(dependent.inner_dependencies());
            if !needs.any(|name| *name == slot.name) || !dependent.is_own() {
                continue;
            }
            let kind = dependent.kind;
            let found = self
                .look(self.marks_query(kind, &dependent.place), || {
                    Reason::FindByMarks(kind.name)
                })?
                .found
                .clone();
            for target in found {
                let wishes = dependent.inner.iter();
                for wish in wishes.filter(|wish| wish.refers_to(&slot.name)) {
                    if let Some(inner) = kind.inner(wish.kind) {
                        self.inside(&target, inner)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether something else that we have seen refers to this resource.
    pub(super) fn is_needed(&self, id: &ResourceId) -> bool {
        let by_props = self.view.resources().any(|other| {
            other.id != *id && other.props.iter().any(|(_, value)| id.is_named_in(value))
        });
        by_props
            || self.view.all_inner().iter().any(|seen| {
                let names = |part: &InnerPart| id.is_named_in(&part.key);
                seen.of.id != *id && seen.parts.iter().any(names)
            })
    }

    fn hint(&self, slot: &Slot, id: &ResourceId) -> Hint {
        let target = slot.target(id.clone());
        match self.ledger.known.get(&target).map(|known| known.origin) {
            Some(Origin::Created | Origin::Adopted) => Hint::Ours,
            Some(Origin::Found) => Hint::Found,
            None if self
                .ledger
                .intents
                .get(&slot.name)
                .is_some_and(|i| i.adopts.as_ref() == Some(id)) =>
            {
                Hint::Ours
            }
            None => Hint::Wish,
        }
    }

    /// Whether a resource without our mark can be one that an open intent made or adopts. Where marks
    /// ride on the create call it cannot: then it is somebody else's under the same id, or was
    /// stripped.
    pub(super) fn awaits_mark(&self, slot: &Slot, id: &ResourceId) -> bool {
        self.ledger.intents.get(&slot.name).is_some_and(|intent| {
            slot.kind.birth != BirthProof::Marks || intent.adopts.as_ref() == Some(id)
        })
    }

    /// What a resource that the ledger points to is; `None` if the hint is wrong.
    fn by_hint(
        &mut self,
        slot: &Slot,
        hint: Hint,
        resource: Arc<Resource>,
        read: ReadStamp,
    ) -> Option<Located> {
        let target = resource.target();
        if self.rules.recorded_id_is_proof() {
            let owned = Owned::created_here(target, read.at);
            return Some(Located::Owned {
                resource,
                owned,
                twins: Vec::new(),
            });
        }
        let open = self.awaits_mark(slot, &resource.id);
        let (said, vouched) = self.evidence(slot);
        // What we found and noted ourselves is nothing that the object says.
        let evidence = said || (vouched && hint == Hint::Wish);
        // Of a record that is older than unique ids nobody can tell whether it is this one.
        let known = self.ledger.known.get(&target);
        let sure = !self.rules.names_prove_nothing()
            || known.is_none_or(|known| known.is(slot.kind, &resource));
        match (self.judge(slot.kind, &resource, read), hint) {
            // Marked for another slot of this claim: a wrong hint, or a wish that is ours anyway.
            (Verdict::Owned(_), Hint::Wish) => Some(Located::Used { resource }),
            (Verdict::Owned(_), _) => None,
            (Verdict::Foreign(Owner::Disputed(other)), _) => {
                let owner = Owner::Disputed(other);
                let slot = slot.name.clone();
                Some(Located::Refused(Finding::Conflict {
                    slot,
                    target,
                    owner,
                }))
            }
            (Verdict::Foreign(Owner::Legacy), Hint::Ours) if sure => {
                Some(Located::Newborn { resource })
            }
            (Verdict::Foreign(owner @ Owner::Legacy), Hint::Ours) if !evidence => {
                let slot = slot.name.clone();
                Some(Located::Refused(Finding::Conflict {
                    slot,
                    target,
                    owner,
                }))
            }
            (Verdict::Foreign(Owner::Legacy), _) => Some(Located::Adoptable { resource }),
            (Verdict::Foreign(_), Hint::Wish) => Some(Located::Used { resource }),
            (Verdict::Foreign(_), _) => None,
            (Verdict::Unmarked | Verdict::Used, Hint::Ours) if open => {
                Some(Located::Newborn { resource })
            }
            // Somebody who says so takes back what lost its mark.
            (Verdict::Unmarked | Verdict::Used, Hint::Ours) if evidence => {
                Some(Located::Adoptable { resource })
            }
            (Verdict::Unmarked | Verdict::Used, Hint::Ours) => {
                if !self.rules.releases_unmarked() {
                    return Some(Located::Newborn { resource });
                }
                let settled = self.settled(
                    Sight::Lost(target.clone()),
                    |rules, since| rules.settled_at(slot.kind, since),
                    Reason::AwaitSettling(target.id),
                );
                Some(if settled {
                    Located::Lost { resource }
                } else {
                    Located::Pending
                })
            }
            (Verdict::Unmarked | Verdict::Used, _) if evidence => {
                Some(Located::Adoptable { resource })
            }
            // It was found by its name, which is to be a conflict now.
            (Verdict::Unmarked | Verdict::Used, Hint::Found)
                if self.unmarked(slot) == Unmarked::Conflict =>
            {
                None
            }
            (Verdict::Unmarked | Verdict::Used, _) => Some(Located::Used { resource }),
        }
    }

    /// What a slot's name without any mark means: as a person says for this object; used, if its author
    /// chose the name; or the rules.
    fn unmarked(&self, slot: &Slot) -> Unmarked {
        let evidence = &self.case.evidence;
        if let Some(told) = evidence.unmarked {
            return told;
        }
        if evidence.named.contains(&slot.name) {
            return Unmarked::Use;
        }
        self.rules.unmarked(&self.case.identity.dialect)
    }

    /// What the operation of an announced create has made.
    fn by_operation(&mut self, slot: &Slot, gone: &mut Vec<ResourceId>) -> Flow<Option<Located>> {
        let Some(intent) = self.ledger.intents.get(&slot.name) else {
            return Ok(None);
        };
        if self.await_operation(&slot.name, intent)? {
            return Ok(Some(Located::Pending));
        }
        let Some(target) = self.made(&slot.name, intent)? else {
            return Ok(None);
        };
        match self.see(&target, || Reason::AwaitOperation(slot.name.clone()))? {
            Some((resource, read)) => match self.judge(slot.kind, &resource, read) {
                Verdict::Unmarked | Verdict::Foreign(Owner::Legacy) => {
                    Ok(Some(Located::Newborn { resource }))
                }
                _ => Ok(None),
            },
            None if self.gone_for_good(slot.kind, &target) => {
                gone.push(target.id);
                Ok(None)
            }
            None => Ok(Some(Located::Pending)),
        }
    }

    /// What an interrupted create left, recognised by its intent.
    pub(super) fn by_intent(&mut self, slot: &Slot) -> Flow<Option<Located>> {
        let Some(intent) = self.ledger.intents.get(&slot.name) else {
            return Ok(None);
        };
        if intent.adopts.is_some() {
            return Ok(None);
        }
        match slot.kind.birth {
            BirthProof::Nonce => {
                let mut all = self.view.of_kind(slot.kind, &slot.place);
                let named = all.find(|(resource, _)| resource.name == intent.name);
                Ok(named.map(|(resource, read)| {
                    match self.judge(slot.kind, resource, read) {
                        // The nonce is ours, but somebody has marked it: whose it is, that says.
                        Verdict::Foreign(owner) if owner != Owner::Legacy => {
                            Located::Refused(Finding::Conflict {
                                slot: slot.name.clone(),
                                target: resource.target(),
                                owner,
                            })
                        }
                        _ => Located::Newborn {
                            resource: resource.clone(),
                        },
                    }
                }))
            }
            BirthProof::Circumstantial if !self.just_now(self.view.opened(&slot.name)) => {
                self.by_circumstances(slot, intent)
            }
            _ => Ok(None),
        }
    }

    /// The one unmarked resource that is new, alike and alone (assumption A1).
    fn by_circumstances(&self, slot: &Slot, intent: &Intent) -> Flow<Option<Located>> {
        self.look(match_query(slot, intent), || {
            Reason::TakeBeforeImage(slot.name.clone())
        })?;
        let wanted = told_of(slot.kind, &intent.props);
        let mut candidates: Vec<Arc<Resource>> = Vec::new();
        for (resource, read) in self.view.of_kind(slot.kind, &slot.place) {
            // Whichever look-up showed it: any one of them may lag behind the others.
            if resource.name != intent.name || !resource.props.include(&wanted) {
                continue;
            }
            let unmarked = self.judge(slot.kind, resource, read) == Verdict::Unmarked;
            let new = !self.rules.before_image_counts()
                || intent.before.as_ref().is_some_and(|before| {
                    !before.ids.contains(&resource.id)
                        && resource.created.is_some_and(|created| created >= before.at)
                });
            if unmarked && new {
                candidates.push(resource.clone());
            }
        }
        match candidates.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(Located::Newborn {
                resource: only.clone(),
            })),
            _ => {
                let slot = slot.name.clone();
                let candidates = candidates.iter().map(|r| r.target()).collect();
                Ok(Some(Located::Refused(Finding::Ambiguous {
                    slot,
                    candidates,
                })))
            }
        }
    }

    /// What speaks for a slot's resource although it lacks our mark: whether a person says that it is
    /// ours, and whether the original's finalizer does.
    fn evidence(&self, slot: &Slot) -> (bool, bool) {
        let evidence = self.case.evidence;
        let said = evidence.adopt.contains(&slot.name);
        let vouched = evidence.vouched.contains(&slot.name);
        (
            said || (vouched && !self.rules.finalizers_need_more()),
            vouched,
        )
    }

    /// Whether a resource counts as recorded because it is inside one that the object records.
    fn is_inside_recorded(&mut self, slot: &Slot, resource: &Resource) -> Flow<bool> {
        let host = self.case.evidence.inside.get(&slot.name);
        let Some(host) = host.and_then(|host| self.case.blueprint.slot(host)) else {
            return Ok(false);
        };
        let Some(id) = self.ledger.ids.get(&host.name).cloned() else {
            return Ok(false);
        };
        let target = host.target(id);
        if self
            .see(&target, || Reason::CheckRecorded(host.name.clone()))?
            .is_none()
        {
            return Ok(false);
        }
        for inner in host.kind.inner {
            let parts = &self.inside(&target, inner)?.parts;
            if parts.iter().any(|part| *part.key == *resource.id.as_str()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What has our name and is not ours by mark (law 4).
    fn by_name(&mut self, slot: &Slot, props: &Props) -> Flow<Option<Located>> {
        let query = self.name_query(slot, props);
        let look = query.and_then(|query| self.view.look(&query));
        let Some(target) = look.and_then(|look| look.found.first()).cloned() else {
            return Ok(None);
        };
        let seen = self.view.seen(&target);
        let Some((resource, read)) = seen.and_then(|s| Some((s.resource.clone()?, s.read))) else {
            return Ok(None);
        };
        if self.ledger.condemned.contains(&target) {
            return Ok(Some(Located::Pending));
        }
        if self.is_going(&resource) {
            self.await_gone(slot.kind, &target.id);
            return Ok(Some(Located::Pending));
        }
        if self.rules.name_is_proof() {
            let owned = Owned::created_here(target, read.at);
            return Ok(Some(Located::Owned {
                resource,
                owned,
                twins: Vec::new(),
            }));
        }
        let (said, vouched) = self.evidence(slot);
        let marked = said || vouched || self.case.evidence.adopt_marked.contains(&slot.name);
        let evidence = said || (vouched && self.is_inside_recorded(slot, &resource)?);
        let name = slot.name.clone();
        Ok(Some(match self.judge(slot.kind, &resource, read) {
            Verdict::Foreign(Owner::Legacy) if marked || !self.rules.legacy_needs_evidence() => {
                Located::Adoptable { resource }
            }
            Verdict::Foreign(owner) => Located::Refused(Finding::Conflict {
                slot: name,
                target,
                owner,
            }),
            // Ours, but for another slot: two slots of one name.
            Verdict::Owned(_) => Located::Refused(Finding::NameTaken { slot: name, target }),
            Verdict::Unmarked | Verdict::Used if evidence => Located::Adoptable { resource },
            // Its own client token tells whether it is what the announced create made.
            Verdict::Unmarked | Verdict::Used
                if slot.kind.birth == BirthProof::Token
                    && self.ledger.intents.contains_key(&slot.name) =>
            {
                return Ok(None);
            }
            Verdict::Unmarked | Verdict::Used => match self.unmarked(slot) {
                Unmarked::Use => Located::Used { resource },
                Unmarked::Conflict => Located::Refused(Finding::NameTaken { slot: name, target }),
            },
        }))
    }
}

/// The look-up that shows what looks like an announced create's result. What says something about the call
/// alone need not be told afterwards.
pub(super) fn match_query(slot: &Slot, intent: &Intent) -> Query {
    Query::Match {
        kind: slot.kind,
        place: slot.place.clone(),
        name: intent.name.clone(),
        props: told_of(slot.kind, &intent.props),
    }
}

/// What reads tell of the properties of a create call.
fn told_of(kind: &Kind, props: &Props) -> Props {
    let is_told = |prop: &&(&'static str, Text)| {
        let mut rules = kind.props.iter();
        let rule = rules.find(|rule| rule.name == prop.0);
        rule.is_none_or(|rule| rule.change != Change::Irrelevant)
    };
    props.iter().filter(is_told).cloned().collect()
}
