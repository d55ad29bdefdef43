//! Parts inside a resource: rules, policies, the role of a profile.

use std::sync::Arc;

use cloud_port::aws::role::{self, ATTACHED_POLICY, INLINE_POLICY};
use cloud_port::aws::security_group::{self, Peer, Rule};
use ownership::kind::CreateMode;
use ownership::part::InnerPart;
use ownership::{CloudError, ResourceId, Target, Text};

use super::check_tags;
use crate::account::{Account, Place, refuse};
use crate::aws::{InnerRow, Model, Row};
use crate::op::Op;
use crate::provenance::{Actor, Harm, InnerFact};
use crate::record::State;

impl Account {
    /// Adds parts to a resource: all of them or none.
    ///
    /// # Errors
    /// What the real account refuses: duplicates, more than fit, illegal content.
    pub fn add_parts(
        &mut self,
        actor: Actor,
        target: &Target,
        inner: &str,
        parts: &[InnerPart],
    ) -> Result<(), CloudError> {
        let shelf = self.shelf_or_refuse(target.kind)?;
        let (row, at) = (self.shelves[shelf].row, self.inner_at(shelf, inner)?);
        let inner_row = row.inner(at);
        self.admit_write(actor, row, inner_row.add)?;
        self.check_batch(shelf, at, inner_row.add, parts.len())?;
        let (_, state) = self.living(target, inner_row.add)?;
        let kind = self.shelves[shelf].kind;
        let declared = &kind.inner[at];
        let tags: Vec<_> = parts[0].tags.iter().collect();
        check_tags(row, inner_row.add, kind.carrier, &tags)?;
        if tags.len() > kind.carrier.capacity() {
            let message = format!("a {} cannot hold {} tags", declared.noun, tags.len());
            return Err(refuse(row, inner_row.add, row.tags_full, message));
        }
        for (nth, part) in parts.iter().enumerate() {
            if part.tags != parts[0].tags {
                let message = "one call gives all its parts the same tags".to_owned();
                let code = "InvalidParameterCombination";
                return Err(refuse(row, inner_row.add, code, message));
            }
            let twice = parts[..nth].iter().any(|other| other.key == part.key);
            let taken =
                declared.create == CreateMode::Insert && state.part(at, &part.key).is_some();
            if twice || taken {
                let message = format!("the {} '{}' is there already", declared.noun, part.key);
                return Err(refuse(row, inner_row.add, inner_row.duplicate, message));
            }
            self.check_part(row, inner_row, inner, target, part)?;
        }
        let added = parts
            .iter()
            .filter(|part| state.part(at, &part.key).is_none())
            .count();
        let held = state.inner[at].len() + added;
        if declared.single && held > 1 {
            let message = format!("{target} holds one {}", declared.noun);
            return Err(refuse(row, inner_row.add, inner_row.full, message));
        }
        self.check_room(row, inner_row, inner, state, at, held, parts)?;
        self.put_parts(actor, target, at, parts);
        Ok(())
    }

    /// Removes parts from a resource.
    ///
    /// # Errors
    /// A part that is not there, and then nothing is removed. Rules of groups in the default VPC are
    /// the exception: there EC2 removes what it finds and says nothing of the rest.
    pub fn remove_parts(
        &mut self,
        actor: Actor,
        target: &Target,
        inner: &str,
        keys: &[Text],
    ) -> Result<(), CloudError> {
        let shelf = self.shelf_or_refuse(target.kind)?;
        let (row, at) = (self.shelves[shelf].row, self.inner_at(shelf, inner)?);
        let inner_row = row.inner(at);
        self.admit_write(actor, row, inner_row.remove)?;
        self.check_batch(shelf, at, inner_row.remove, keys.len())?;
        let (place, state) = self.living(target, inner_row.remove)?;
        let lenient = row.model == Model::SecurityGroup
            && self
                .default_vpc()
                .is_some_and(|vpc| state.resource.props.get("vpc") == Some(&vpc.id.text()));
        let missing = keys.iter().find(|key| state.part(at, key).is_none());
        if let (Some(key), false) = (missing, lenient) {
            let noun = self.shelves[shelf].kind.inner[at].noun;
            let message = format!("{target} has no {noun} '{key}'");
            return Err(refuse(row, inner_row.remove, inner_row.not_found, message));
        }
        self.drop_parts(actor, place, at, keys);
        Ok(())
    }

    /// One call of most inner Kinds takes one part.
    fn check_batch(&self, shelf: usize, at: usize, op: Op, parts: usize) -> Result<(), CloudError> {
        let shelf = &self.shelves[shelf];
        let declared = &shelf.kind.inner[at];
        if parts == 1 || parts > 1 && declared.batch {
            return Ok(());
        }
        let message = format!("one call takes one {}, not {parts}", declared.noun);
        Err(refuse(
            shelf.row,
            op,
            "InvalidParameterCombination",
            message,
        ))
    }

    /// What AWS checks in the content of a part.
    fn check_part(
        &self,
        row: &Row,
        inner_row: &InnerRow,
        inner: &str,
        target: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        let op = inner_row.add;
        match row.model {
            Model::SecurityGroup => {
                let malformed = |message| refuse(row, op, "InvalidPermission.Malformed", message);
                let rule: Rule = part
                    .key
                    .parse()
                    .map_err(|error: ownership::input::InputError| malformed(error.to_string()))?;
                if rule.key() != part.key {
                    let message = format!("the rule must be written '{}'", rule.key());
                    return Err(malformed(message));
                }
                match rule.peer {
                    Peer::Group(id) if *id == *target.id.as_str() => {
                        let message = "the group itself must be written 'self'".to_owned();
                        return Err(malformed(message));
                    }
                    // A group of another account cannot be looked up from here.
                    Peer::Group(id) if !id.contains('/') => {
                        let kind = security_group::SECURITY_GROUP.name;
                        self.living(&Target::new(kind, ResourceId::new(id)), op)?;
                    }
                    _ => {}
                }
            }
            Model::Role if inner == INLINE_POLICY => {
                role::check_policy_name(&part.key)
                    .map_err(|error| refuse(row, op, row.invalid(), error.to_string()))?;
                if part.value.is_empty() {
                    let message = "the policy document is empty".to_owned();
                    return Err(refuse(row, op, "MalformedPolicyDocument", message));
                }
            }
            Model::Role => {
                if !part.key.starts_with("arn:") {
                    let message = format!("'{}' is not the ARN of a policy", part.key);
                    return Err(refuse(row, op, row.invalid(), message));
                }
            }
            Model::InstanceProfile => {
                let id = ResourceId::new(part.key.clone());
                self.living(&Target::new(role::ROLE.name, id), op)?;
            }
            Model::Vpc | Model::RouteTable | Model::Subnet | Model::Other => {}
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "all of it decides what fits")]
    fn check_room(
        &self,
        row: &Row,
        inner_row: &InnerRow,
        inner: &str,
        state: &State,
        at: usize,
        held: usize,
        parts: &[InnerPart],
    ) -> Result<(), CloudError> {
        let quotas = &self.settings.quotas;
        let (held, limit) = match row.model {
            Model::SecurityGroup => (held, quotas.rules_per_group),
            Model::Role if inner == ATTACHED_POLICY => (held, quotas.attached_policies),
            Model::Role => {
                let stays = |old: &&InnerPart| !parts.iter().any(|new| new.key == old.key);
                let old = state.inner[at].iter().filter(stays);
                let size = old.chain(parts).map(|part| part.value.chars().count());
                (size.sum(), quotas.inline_policy_size)
            }
            _ => return Ok(()),
        };
        if held <= limit {
            return Ok(());
        }
        let message = format!("{held} is more than the quota of {limit}");
        Err(refuse(row, inner_row.add, inner_row.full, message))
    }

    /// Puts parts into a resource; all checks have passed.
    pub(super) fn put_parts(
        &mut self,
        actor: Actor,
        target: &Target,
        at: usize,
        parts: &[InnerPart],
    ) {
        let Some(place) = self.place(target) else {
            return;
        };
        let Some(mut state) = self.record(place).current().cloned() else {
            return;
        };
        let inner = self.shelves[place.shelf].kind.inner[at].name;
        let held = Arc::make_mut(&mut state.inner[at]);
        let mut facts = Vec::with_capacity(parts.len());
        for part in parts {
            let old = held.iter_mut().find(|old| old.key == part.key);
            let replaced = match old {
                Some(old) if old == part => continue,
                Some(old) => {
                    let was = self.inner_fact(place, inner, &part.key);
                    let old = std::mem::replace(old, part.clone());
                    let replaced = (old.value.clone(), was.by);
                    self.log(place, actor, Harm::InnerOverwritten { was, part: old });
                    Some(replaced)
                }
                None => {
                    held.push(part.clone());
                    None
                }
            };
            facts.push(InnerFact {
                inner,
                key: part.key.clone(),
                by: actor,
                replaced,
            });
        }
        if facts.is_empty() {
            return;
        }
        held.sort_by(|a, b| a.key.cmp(&b.key));
        self.commit(place, Some(state), |life| {
            life.inner.retain(|old| {
                !facts
                    .iter()
                    .any(|new| new.inner == old.inner && new.key == old.key)
            });
            life.inner.extend(facts);
        });
    }

    fn drop_parts(&mut self, actor: Actor, place: Place, at: usize, keys: &[Text]) {
        let Some(mut state) = self.record(place).current().cloned() else {
            return;
        };
        let inner = self.shelves[place.shelf].kind.inner[at].name;
        let held = Arc::make_mut(&mut state.inner[at]);
        let gone: Vec<InnerPart> = held
            .extract_if(.., |part| keys.contains(&part.key))
            .collect();
        if gone.is_empty() {
            return;
        }
        for part in &gone {
            let was = self.inner_fact(place, inner, &part.key);
            let part = part.clone();
            self.log(place, actor, Harm::InnerRemoved { was, part });
        }
        self.commit(place, Some(state), |life| {
            life.inner.retain(|fact| {
                fact.inner != inner || !gone.iter().any(|part| part.key == fact.key)
            });
        });
    }

    fn inner_fact(&self, place: Place, inner: &str, key: &str) -> InnerFact {
        let fact = self.record(place).life().inner(inner, key);
        fact.cloned().expect("every part has its fact")
    }
}
