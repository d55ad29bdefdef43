//! What controllers inside a cluster left behind in a resource of ours, when its claim ends: told with the
//! way out, or ended before what it lies in (decision 19).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Deciding, Flow, Phase};
use crate::blueprint::{Leftover, SlotName};
use crate::error::{Blocker, Class, CloudError};
use crate::finding::{Finding, Reason};
use crate::kind::Kind;
use crate::part::Resource;
use crate::place::Place;
use crate::query::Target;
use crate::step::Step;
use crate::text::{ResourceId, Text};
use crate::verdict::{Left, Owned, Owner, ReadStamp, Verdict, left_behind_mark};

/// Something that was left behind, and what proves it.
struct Found {
    leftover: &'static Leftover,
    resource: Arc<Resource>,
    left: Left,
}

impl Deciding<'_> {
    /// Ends what was left behind, if a person has asked for that; else tells of it.
    pub(super) fn end_left_behind(&mut self) -> Flow<()> {
        // What is given back is given back with all that is in it.
        if self.case.phase != Phase::Ending {
            return Ok(());
        }
        let (mut ends, mut stays) = (Vec::new(), BTreeMap::<(Target, bool), Vec<Target>>::new());
        for found in self.left_behind()? {
            let (within, target) = (found.left.within().clone(), found.left.target().clone());
            let namesake = self.has_namesake_in(&within);
            if !namesake && self.is_asked_for(&found.left) {
                self.left.push(target);
                ends.push(found);
            } else {
                stays.entry((within, namesake)).or_default().push(target);
            }
        }
        for ((within, namesake), left) in stays {
            self.findings.push(Finding::LeftBehind {
                within,
                left,
                namesake,
            });
        }
        ends.into_iter().try_for_each(|found| self.end_one(&found))
    }

    /// Whether a resource is kept because of what was found in it.
    pub(super) fn keeps_leftovers(&self, target: &Target) -> bool {
        self.findings.iter().any(|finding| match finding {
            Finding::LeftBehind { within, .. } => within == target,
            _ => false,
        })
    }

    /// The key by which what was left behind of a Kind is looked for.
    pub(super) fn left_behind_key(&self, kind: &Kind) -> Option<Text> {
        let leftovers = self.case.blueprint.leftovers();
        let may_be_left = leftovers.iter().any(|leftover| leftover.kind == kind);
        let (key, _) = left_behind_mark(self.case.identity, kind).filter(|_| may_be_left)?;
        Some(key)
    }

    /// Everything that was left behind, in the order in which it goes.
    fn left_behind(&mut self) -> Flow<Vec<Found>> {
        let mut all = Vec::new();
        for leftover in self.case.blueprint.leftovers() {
            let kind = leftover.kind;
            if self.left_behind_key(kind).is_none() {
                continue;
            }
            let place = self.place_of(leftover);
            let query = self.end_query(kind, &place);
            self.look(query, || Reason::FindByMarks(kind.name))?;
            let seen = self.view.of_kind(kind, &place);
            let seen: Vec<_> = seen.map(|(it, read)| (it.clone(), read)).collect();
            for (resource, read) in seen {
                let target = resource.target();
                // What the record knows is ours, whatever has become of its marks.
                let ours = self.ledger.known.contains_key(&target) || self.view.deleted(&target);
                if let (false, Some(left)) = (ours, self.proves(leftover, &resource, read)?) {
                    all.push(Found {
                        leftover,
                        resource,
                        left,
                    });
                }
            }
        }
        Ok(all)
    }

    /// Whether a resource was left behind in one of ours; asks for what it lies in.
    fn proves(
        &mut self,
        leftover: &'static Leftover,
        resource: &Resource,
        read: ReadStamp,
    ) -> Flow<Option<Left>> {
        // Most of what the look-up shows is ours, or another claim's.
        let verdict = self.judge(resource.kind, resource, read);
        let Some(host) = self.host(leftover, resource) else {
            return Ok(None);
        };
        if verdict != Verdict::Foreign(Owner::Legacy) {
            return Ok(None);
        }
        let why = || Reason::FindByMarks(leftover.kind.name);
        let Some((host, host_read)) = self.see(&host, why)? else {
            return Ok(None);
        };
        let (rules, identity) = (self.rules, self.case.identity);
        let lodger = (resource, read);
        Ok(Left::seen(
            rules,
            identity,
            leftover,
            lodger,
            (&host, host_read),
        ))
    }

    fn place_of(&self, leftover: &Leftover) -> Place {
        let slot = SlotName::new(leftover.slot).ok();
        let slot = slot.and_then(|slot| self.case.blueprint.slot(&slot));
        slot.map_or(Place::HOME, |slot| slot.place.clone())
    }

    /// What a resource lies in.
    fn host(&self, leftover: &Leftover, resource: &Resource) -> Option<Target> {
        let slot = self
            .case
            .blueprint
            .slot(&SlotName::new(leftover.slot).ok()?)?;
        let id = resource.props.get(leftover.within)?;
        Some(slot.target(ResourceId::new(id.clone())))
    }

    fn is_asked_for(&self, left: &Left) -> bool {
        let right = left.clone().ends(self.rules, self.case.evidence);
        right.is_some()
    }

    /// The right to end one, by what is known of it now.
    fn right_to_end(&mut self, found: &Found) -> Flow<Option<Owned>> {
        let seen = self.view.seen(found.left.target());
        let seen = seen.and_then(|seen| Some((seen.resource.clone()?, seen.read)));
        let Some((resource, read)) = seen else {
            return Ok(None);
        };
        let left = self.proves(found.leftover, &resource, read)?;
        Ok(left.and_then(|left| left.ends(self.rules, self.case.evidence)))
    }

    /// Ends one: what refers to it first, so that two that refer to each other can go.
    fn end_one(&mut self, found: &Found) -> Flow<()> {
        let (kind, target) = (found.leftover.kind, found.left.target());
        if let Some(error) = self.view.blocked(target) {
            if !self.is_blocked_by_what_goes(error) {
                self.findings.push(Finding::from((target, error)));
            }
            return Ok(());
        }
        if self.is_going(&found.resource) {
            self.await_gone(kind, &target.id);
            return Ok(());
        }
        let why = Reason::LeftBehind(found.left.within().id.clone());
        self.take_out_what_names(found, &why)?;
        if !self.may_free(kind, target) {
            return Ok(());
        }
        self.refresh(found.left.within())?;
        self.refresh(target)?;
        let Some(owned) = self.right_to_end(found)? else {
            return Ok(());
        };
        if !self.empty(kind, &found.resource, &owned, &why)? {
            return Ok(());
        }
        match Step::delete(owned, self.now) {
            Some(step) => self.take(step, why),
            None => Ok(()),
        }
    }

    /// Takes out what is inside and blocks the deletion; whether nothing is left that does.
    fn empty(
        &mut self,
        kind: &'static Kind,
        resource: &Resource,
        owned: &Owned,
        why: &Reason,
    ) -> Flow<bool> {
        for inner in kind.inner.iter().filter(|inner| inner.blocks_deletion) {
            let parts = self.inside(owned.target(), inner)?.parts.clone();
            let (theirs, ours): (Vec<_>, Vec<_>) = parts
                .into_iter()
                .partition(|part| self.is_anothers(kind, resource, inner, part));
            if let Some(part) = theirs.first() {
                let blocker = Blocker {
                    noun: format!("another claim's {}", inner.noun).into(),
                    id: ResourceId::new(part.key.clone()),
                };
                let class = Class::Blocked(vec![blocker]);
                let error = CloudError::new(class, "Guest", "another claim needs it");
                self.findings.push(Finding::from((owned.target(), &error)));
                return Ok(false);
            }
            if !ours.is_empty() {
                self.refresh_inside(owned.target(), inner)?;
                self.take_out_of(owned, inner, ours, why.clone())?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes parts out that name something which goes: of what is ours, and of what was left behind like
    /// it. No order of deletion would do where two name each other.
    fn take_out_what_names(&mut self, going: &Found, why: &Reason) -> Flow<()> {
        let (kind, going_target) = (going.leftover.kind, going.left.target());
        if kind.inner.is_empty() {
            return Ok(());
        }
        let place = &going.left.target().place;
        let hosts = self.view.of_kind(kind, place);
        let hosts: Vec<Arc<Resource>> = hosts.map(|(host, _)| host.clone()).collect();
        for host in hosts.iter().filter(|host| host.id != going_target.id) {
            let target = host.target();
            if self.view.deleted(&target) || self.view.keeps_inside(&target) {
                continue;
            }
            if self.right_to_empty(going.leftover, &target)?.is_none() {
                continue;
            }
            for inner in kind.inner {
                let seen = self.inside(&target, inner)?;
                let naming = seen.parts.iter().filter(|part| {
                    going_target.is_named_by(inner.name, &part.key)
                        && !self.is_anothers(kind, host, inner, part)
                });
                let naming: Vec<_> = naming.cloned().collect();
                if naming.is_empty() {
                    continue;
                }
                self.refresh(going.left.within())?;
                self.refresh(&target)?;
                self.refresh_inside(&target, inner)?;
                if let Some(owned) = self.right_to_empty(going.leftover, &target)? {
                    self.take_out_of(&owned, inner, naming, why.clone())?;
                }
            }
        }
        Ok(())
    }

    /// The right to take something out of a resource that ends, too.
    fn right_to_empty(
        &mut self,
        leftover: &'static Leftover,
        target: &Target,
    ) -> Flow<Option<Owned>> {
        let seen = self.view.seen(target);
        let seen = seen.and_then(|seen| Some((seen.resource.clone()?, seen.read)));
        let Some((resource, read)) = seen else {
            return Ok(None);
        };
        if let Verdict::Owned(owned) = self.judge(target.kind, &resource, read) {
            return Ok(owned.held_by().is_none().then_some(owned));
        }
        let left = self.proves(leftover, &resource, read)?;
        Ok(left.and_then(|left| left.ends(self.rules, self.case.evidence)))
    }

    /// Whether another cluster of the same name uses a resource of ours: then what was left in it may be
    /// that one's.
    fn has_namesake_in(&self, within: &Target) -> bool {
        if self.case.evidence.namesakes_use.contains(&within.id) {
            return true;
        }
        let (dialect, id) = (&self.case.identity.dialect, within.id.text());
        self.view.resources().any(|resource| {
            let kind = resource.kind;
            let lies_in_it = resource.props.iter().any(|(_, value)| *value == id);
            let ownership = dialect.ownership(kind.carrier, None).unwrap_or_default();
            let mut in_our_name = ownership.iter();
            let read = ReadStamp {
                at: self.now,
                fresh: false,
            };
            lies_in_it
                && in_our_name.any(|(key, value)| resource.tags.has(key, value))
                && matches!(
                    self.judge(kind, resource, read),
                    Verdict::Foreign(Owner::Claim(_))
                )
        })
    }
}
