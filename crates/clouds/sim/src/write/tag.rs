//! Tags: written and removed on living resources.

use std::sync::Arc;

use ownership::error::Blocker;
use ownership::kind::Marking;
use ownership::mark::{Carrier, Tags};
use ownership::{Class, CloudError, Target, Text};

use super::{check_tags, counted};
use crate::account::{Account, Place, refuse};
use crate::op::Op;
use crate::provenance::{Actor, Harm, TagFact};
use crate::provider::Row;

impl Account {
    /// Adds tags to resources; a key that is there gets the new value (IBM Cloud: beside the old
    /// one, unless it is Freehold's own). All of it or nothing.
    ///
    /// # Errors
    /// What the real account refuses: illegal or too many tags, resources that are not there, Kinds
    /// whose tags are written only on create.
    pub fn tag(
        &mut self,
        actor: Actor,
        targets: &[Target],
        tags: &[(Text, Text)],
    ) -> Result<(), CloudError> {
        let (row, op) = self.admit_tagging(actor, targets, |row| row.tag)?;
        let mut places = Vec::with_capacity(targets.len());
        let pairs: Vec<_> = tags.iter().collect();
        for target in targets {
            let (place, state) = self.living(target, op)?;
            let kind = self.shelves[place.shelf].kind;
            check_mutable(row, op, kind.marking, target)?;
            check_tags(row, op, kind.carrier, &pairs)?;
            let new = tags.iter().filter(|(key, value)| {
                if stands_beside(kind.carrier, key) {
                    !state.resource.tags.has(key, value)
                } else {
                    held_under(row, &state.resource.tags, key).is_none()
                }
            });
            let held = counted(kind.carrier, &state.resource.tags) + new.count();
            if held > kind.carrier.capacity() {
                let message = format!("{target} would have {held} tags");
                let blocker = Blocker {
                    noun: kind.noun.into(),
                    id: target.id.clone(),
                };
                let class = Class::Blocked(vec![blocker]);
                return Err(CloudError::new(class, row.tags_full, message));
            }
            places.push(place);
        }
        for place in places {
            self.put_tags(actor, place, tags);
        }
        Ok(())
    }

    /// Removes these very tags, key and value; what is not there, or has another value, stays as it
    /// is. So an empty value removes only an empty value. Where a service removes by key alone, the
    /// tags are read first, and nothing is sent where nothing is to go.
    ///
    /// # Errors
    /// What the real account refuses.
    pub fn untag(
        &mut self,
        actor: Actor,
        targets: &[Target],
        tags: &[(Text, Text)],
    ) -> Result<(), CloudError> {
        let first = |row: &Row| {
            if row.service.tags_by_key {
                row.get
            } else {
                row.untag
            }
        };
        let (row, op) = self.admit_tagging(actor, targets, first)?;
        let mut places = Vec::with_capacity(targets.len());
        for target in targets {
            let (place, _) = self.living(target, op)?;
            check_mutable(row, op, self.shelves[place.shelf].kind.marking, target)?;
            places.push(place);
        }
        for place in places {
            let dropped = self.drop_tags(actor, place, tags);
            if dropped && op != row.untag && matches!(actor, Actor::Engine(_)) {
                self.count(row.untag, 1);
            }
        }
        Ok(())
    }

    /// One call tags resources of one service, and in some services only one.
    fn admit_tagging(
        &mut self,
        actor: Actor,
        targets: &[Target],
        op: fn(&Row) -> Op,
    ) -> Result<(&'static Row, Op), CloudError> {
        let Some((first, others)) = targets.split_first() else {
            let message = "the call names no resource to tag";
            return Err(CloudError::new(Class::Fatal, "MissingParameter", message));
        };
        let row = self.shelves[self.shelf_or_refuse(&first.place, first.kind)?].row;
        let called = op(row);
        self.admit_write(actor, row, called)?;
        for target in others {
            let other = self.shelves[self.shelf_or_refuse(&target.place, target.kind)?].row;
            if op(other) != called || row.service.tags_by_key {
                let message = format!("one call cannot tag {first} and {target}");
                return Err(refuse(row, called, row.service.not_together, message));
            }
        }
        Ok((row, called))
    }

    fn put_tags(&mut self, actor: Actor, place: Place, tags: &[(Text, Text)]) {
        let Some(state) = self.record(place).current() else {
            return;
        };
        let new = |(key, value): &&(Text, Text)| !state.resource.tags.has(key, value);
        let new: Vec<_> = tags.iter().filter(new).collect();
        if new.is_empty() {
            return;
        }
        let mut state = state.clone();
        let carrier = self.shelves[place.shelf].kind.carrier;
        let resource = Arc::make_mut(&mut state.resource);
        let mut facts = Vec::with_capacity(new.len());
        for (key, value) in new {
            let row = self.shelves[place.shelf].row;
            let beside = stands_beside(carrier, key);
            let was = held_under(row, &resource.tags, key).filter(|_| !beside);
            let was = was.map(|(key, old)| self.tag_fact(place, key, old));
            if let Some(was) = was.clone() {
                resource.tags.remove(&was.key, &was.value);
                let to = value.clone();
                self.log(place, actor, Harm::TagOverwritten { was, to });
            }
            if beside {
                resource.tags.attach(key.clone(), value.clone());
            } else {
                resource.tags.set(key.clone(), value.clone());
            }
            facts.push(TagFact {
                key: key.clone(),
                value: value.clone(),
                by: actor,
                replaced: was.map(|was| (was.value, was.by)),
            });
        }
        let keys = facts.iter().map(|fact| &fact.key);
        self.shelves[place.shelf].tagged(place.record, keys);
        let tags = state.resource.tags.clone();
        self.commit(place, Some(state), |life| {
            life.tags.retain(|old| tags.has(&old.key, &old.value));
            life.tags.extend(facts);
        });
    }

    /// Says whether anything went.
    fn drop_tags(&mut self, actor: Actor, place: Place, tags: &[(Text, Text)]) -> bool {
        let Some(state) = self.record(place).current() else {
            return false;
        };
        let there = |(key, value): &&(Text, Text)| state.resource.tags.has(key, value);
        let gone: Vec<_> = tags.iter().filter(there).collect();
        if gone.is_empty() {
            return false;
        }
        let mut state = state.clone();
        let resource = Arc::make_mut(&mut state.resource);
        for (key, value) in &gone {
            resource.tags.remove(key, value);
            let was = self.tag_fact(place, key, value);
            self.log(place, actor, Harm::TagRemoved { was });
        }
        self.commit(place, Some(state), |life| {
            life.tags.retain(|fact| {
                !gone
                    .iter()
                    .any(|(key, value)| fact.key == *key && fact.value == *value)
            });
        });
        true
    }

    fn tag_fact(&self, place: Place, key: &str, value: &str) -> TagFact {
        let fact = self.record(place).life().tag(key, value);
        fact.cloned().expect("every tag has its fact")
    }
}

/// Whether a tag is put beside others of its key. IBM Cloud does so, unless the call asks that the new one
/// takes their place: that is asked for Freehold's own keys, in which a claim has one mark.
fn stands_beside(carrier: Carrier, key: &str) -> bool {
    carrier == Carrier::IbmTags && !key.starts_with("freehold.dev_")
}

/// The tag that a new one of this key takes the place of.
fn held_under<'a>(row: &Row, tags: &'a Tags, key: &str) -> Option<(&'a Text, &'a Text)> {
    let folds_case = row.service.folds_case;
    let same = |held: &str| held == key || folds_case && held.eq_ignore_ascii_case(key);
    let mut held = tags.iter();
    held.find(|(held, _)| same(held)).map(|(k, v)| (k, v))
}

fn check_mutable(row: &Row, op: Op, marking: Marking, target: &Target) -> Result<(), CloudError> {
    if marking == Marking::Mutable {
        return Ok(());
    }
    let message = format!("the marks of {target} cannot be changed");
    Err(refuse(row, op, row.service.unsupported, message))
}
