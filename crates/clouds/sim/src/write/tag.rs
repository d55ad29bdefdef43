//! Tags: written and removed on living resources.

use std::sync::Arc;

use cloud_port::aws::errors;
use cloud_port::aws::errors::Service;
use ownership::error::Blocker;
use ownership::kind::Marking;
use ownership::mark::Carrier;
use ownership::{CloudError, Target, Text};

use super::{check_tags, counted};
use crate::account::{Account, Place, refuse};
use crate::aws::Row;
use crate::op::Op;
use crate::provenance::{Actor, Harm, TagFact};

impl Account {
    /// Adds tags to resources; a key that is there gets the new value (IBM Cloud: beside the old
    /// one). All of it or nothing.
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
            let new = tags.iter().filter(|(key, value)| match kind.carrier {
                Carrier::IbmTags => !state.resource.tags.has(key, value),
                _ => state.resource.tags.get(key).is_none(),
            });
            let held = counted(kind.carrier, &state.resource.tags) + new.count();
            if held > kind.carrier.capacity() {
                let message = format!("{target} would have {held} tags");
                let blocker = Blocker {
                    noun: kind.noun.into(),
                    id: target.id.clone(),
                };
                return Err(errors::blocked(row.tags_full, &message, vec![blocker]));
            }
            places.push(place);
        }
        for place in places {
            self.put_tags(actor, place, tags);
        }
        Ok(())
    }

    /// Removes these very tags, key and value; what is not there, or has another value, stays as it
    /// is. So an empty value removes only an empty value, as `DeleteTags` of EC2 does.
    ///
    /// # Errors
    /// What the real account refuses.
    pub fn untag(
        &mut self,
        actor: Actor,
        targets: &[Target],
        tags: &[(Text, Text)],
    ) -> Result<(), CloudError> {
        let (row, op) = self.admit_tagging(actor, targets, |row| row.untag)?;
        let mut places = Vec::with_capacity(targets.len());
        for target in targets {
            let (place, _) = self.living(target, op)?;
            check_mutable(row, op, self.shelves[place.shelf].kind.marking, target)?;
            places.push(place);
        }
        for place in places {
            self.drop_tags(actor, place, tags);
        }
        Ok(())
    }

    /// One call tags resources of one service; IAM takes one resource a call.
    fn admit_tagging(
        &mut self,
        actor: Actor,
        targets: &[Target],
        op: fn(&Row) -> Op,
    ) -> Result<(&'static Row, Op), CloudError> {
        let kind = targets.first().map_or("", |target| target.kind);
        let row = self.shelves[self.shelf_or_refuse(kind)?].row;
        let called = op(row);
        self.admit_write(actor, row, called)?;
        for target in &targets[1..] {
            let other = self.shelves[self.shelf_or_refuse(target.kind)?].row;
            if op(other) != called || row.service == Service::Iam {
                let message = format!("one call cannot tag {} and {target}", targets[0]);
                return Err(refuse(row, called, "InvalidParameterCombination", message));
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
        let beside = self.shelves[place.shelf].kind.carrier == Carrier::IbmTags;
        let resource = Arc::make_mut(&mut state.resource);
        let mut facts = Vec::with_capacity(new.len());
        for (key, value) in new {
            let was = resource.tags.get(key).filter(|_| !beside).cloned();
            let was = was.map(|old| self.tag_fact(place, key, &old));
            if let Some(was) = was.clone() {
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
        self.commit(place, Some(state), |life| {
            if !beside {
                life.tags
                    .retain(|old| !facts.iter().any(|new| new.key == old.key));
            }
            life.tags.extend(facts);
        });
    }

    fn drop_tags(&mut self, actor: Actor, place: Place, tags: &[(Text, Text)]) {
        let Some(state) = self.record(place).current() else {
            return;
        };
        let there = |(key, value): &&(Text, Text)| state.resource.tags.has(key, value);
        let gone: Vec<_> = tags.iter().filter(there).collect();
        if gone.is_empty() {
            return;
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
    }

    fn tag_fact(&self, place: Place, key: &str, value: &str) -> TagFact {
        let fact = self.record(place).life().tag(key, value);
        fact.cloned().expect("every tag has its fact")
    }
}

fn check_mutable(row: &Row, op: Op, marking: Marking, target: &Target) -> Result<(), CloudError> {
    if marking == Marking::Mutable {
        return Ok(());
    }
    let message = format!("the marks of {target} cannot be changed");
    Err(refuse(row, op, "UnsupportedOperation", message))
}
