//! Parts inside a resource: rules, policies, the role of a profile.

use std::sync::Arc;

use ownership::kind::{CreateMode, InnerKind, InnerProof, Kind};
use ownership::mark::Tags;
use ownership::part::InnerPart;
use ownership::step::PartTags;
use ownership::{Class, CloudError, ResourceId, Target, Text};

use super::check_tags;
use crate::account::{Account, Place, refuse};
use crate::op::Op;
use crate::provenance::{Actor, Harm, InnerFact};
use crate::provider::{InnerRow, Row};
use crate::record::State;

/// The inner Kind that a call is about.
#[derive(Clone, Copy)]
pub(crate) struct Spot {
    kind: &'static Kind,
    row: &'static Row,
    pub(crate) declared: &'static InnerKind,
    pub(crate) inner: &'static InnerRow,
    /// Its place in the declaration.
    at: usize,
}

impl Spot {
    pub(crate) fn refuse(&self, op: Op, code: &str, message: String) -> CloudError {
        refuse(self.row, op, code, message)
    }

    /// One call of most inner Kinds takes one part.
    fn check_batch(&self, op: Op, parts: usize) -> Result<(), CloudError> {
        if parts == 1 || parts > 1 && self.declared.batch {
            return Ok(());
        }
        let message = format!("one call takes one {}, not {parts}", self.declared.noun);
        Err(self.refuse(op, self.row.service.not_together, message))
    }

    /// One call gives all its parts the same tags.
    fn check_tags(&self, parts: &[InnerPart]) -> Result<(), CloudError> {
        let op = self.inner.add;
        let Some((first, others)) = parts.split_first() else {
            return Ok(());
        };
        if others.iter().any(|other| other.tags != first.tags) {
            let message = "one call gives all its parts the same tags".to_owned();
            return Err(self.refuse(op, self.row.service.not_together, message));
        }
        let tags: Vec<_> = first.tags.iter().collect();
        check_tags(self.row, op, self.kind.carrier, &tags)?;
        if tags.len() > self.kind.carrier.capacity() {
            let message = format!("a {} cannot hold {} tags", self.declared.noun, tags.len());
            return Err(self.refuse(op, self.row.tags_full, message));
        }
        Ok(())
    }
}

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
        let spot = self.spot(target, inner)?;
        let (at, op) = (spot.at, spot.inner.add);
        self.admit_write(actor, spot.row, op)?;
        spot.check_batch(op, parts.len())?;
        spot.check_tags(parts)?;
        let (_, state) = self.living(target, op)?;
        for (nth, part) in parts.iter().enumerate() {
            let inserts = spot.declared.create == CreateMode::Insert;
            let taken = inserts && state.part(at, &part.key).is_some();
            if taken || parts[..nth].iter().any(|other| other.key == part.key) {
                let noun = spot.declared.noun;
                let message = format!("the {noun} '{}' is there already", part.key);
                return Err(spot.refuse(op, spot.inner.duplicate, message));
            }
            spot.row.model.check_part(self, spot, target, part)?;
        }
        self.check_room(spot, state, parts)?;
        self.put_parts(actor, target, at, parts);
        Ok(())
    }

    /// Removes parts from a resource.
    ///
    /// # Errors
    /// A part that is not there, and then nothing is removed; unless the cloud overlooks it, removes
    /// what it finds and says nothing of the rest.
    pub fn remove_parts(
        &mut self,
        actor: Actor,
        target: &Target,
        inner: &str,
        keys: &[Text],
    ) -> Result<(), CloudError> {
        let spot = self.spot(target, inner)?;
        let (at, op) = (spot.at, spot.inner.remove);
        self.admit_write(actor, spot.row, op)?;
        spot.check_batch(op, keys.len())?;
        let (place, state) = self.living(target, op)?;
        let lenient = spot.row.model.overlooks_missing_parts(self, state);
        let missing = keys.iter().find(|key| state.part(at, key).is_none());
        if let (Some(key), false) = (missing, lenient) {
            let message = format!("{target} has no {} '{key}'", spot.declared.noun);
            return Err(spot.refuse(op, spot.inner.not_found, message));
        }
        let mut blockers = Vec::new();
        if !self.settings.careless {
            for key in keys {
                spot.row.model.holds_part(self, spot, key, &mut blockers);
            }
        }
        if !blockers.is_empty() {
            let message = format!("a {} of {target} is in use", spot.declared.noun);
            let class = Class::Blocked(blockers);
            return Err(CloudError::new(class, spot.row.blocked, message));
        }
        self.drop_parts(actor, place, at, keys);
        Ok(())
    }

    /// What names a resource that is gone goes with it.
    pub(crate) fn forget_parts(&mut self, of: &Kind, inner: usize, gone: &ResourceId) {
        let hosts: Vec<Target> = self
            .states(of)
            .filter(|state| state.part(inner, gone.as_str()).is_some())
            .map(|state| state.resource.target())
            .collect();
        for host in hosts {
            if let Some(place) = self.place(&host) {
                self.drop_parts(Actor::Cloud, place, inner, &[gone.text()]);
            }
        }
    }

    /// Removes these very parts: one that says the same and has another id is not meant.
    ///
    /// # Errors
    /// As those of [`Account::remove_parts`].
    pub fn remove_these(
        &mut self,
        actor: Actor,
        target: &Target,
        inner: &str,
        parts: &[InnerPart],
    ) -> Result<(), CloudError> {
        let keys: Vec<Text> = parts.iter().map(|part| part.key.clone()).collect();
        let spot = self.spot(target, inner)?;
        if parts.iter().all(|part| part.id.is_some())
            && let Err(error) = self.check_ids(spot, target, parts, spot.inner.remove)
        {
            self.admit_write(actor, spot.row, spot.inner.remove)?;
            return Err(error);
        }
        self.remove_parts(actor, target, inner, &keys)
    }

    /// Adds tags to parts inside a resource.
    ///
    /// # Errors
    /// A part that is not there, or cannot carry tags.
    pub fn tag_parts(&mut self, actor: Actor, tags: &PartTags) -> Result<(), CloudError> {
        self.change_tags(
            actor,
            tags,
            |row| row.tag,
            |held| {
                let mut held = held.clone();
                for (key, value) in &tags.tags {
                    held.set(key.clone(), value.clone());
                }
                held
            },
        )
    }

    /// Takes these very tags off parts inside a resource.
    ///
    /// # Errors
    /// A part that is not there, or cannot carry tags.
    pub fn untag_parts(&mut self, actor: Actor, tags: &PartTags) -> Result<(), CloudError> {
        self.change_tags(
            actor,
            tags,
            |row| row.untag,
            |held| {
                let mut held = held.clone();
                for (key, value) in &tags.tags {
                    held.remove(key, value);
                }
                held
            },
        )
    }

    fn change_tags(
        &mut self,
        actor: Actor,
        tags: &PartTags,
        op: fn(&Row) -> Op,
        change: impl Fn(&Tags) -> Tags,
    ) -> Result<(), CloudError> {
        let spot = self.spot(&tags.target, tags.inner)?;
        let op = op(spot.row);
        self.admit_write(actor, spot.row, op)?;
        if spot.declared.proof != InnerProof::OwnMark {
            let message = format!("a {} carries no tags", spot.declared.noun);
            return Err(spot.refuse(op, spot.row.service.unsupported, message));
        }
        let pairs: Vec<_> = tags.tags.iter().collect();
        check_tags(spot.row, op, spot.kind.carrier, &pairs)?;
        self.check_ids(spot, &tags.target, &tags.parts, op)?;
        let (place, state) = self.living(&tags.target, op)?;
        let mut state = state.clone();
        for held in Arc::make_mut(&mut state.inner[spot.at]) {
            if tags.parts.iter().any(|part| part.key == held.key) {
                held.tags = change(&held.tags);
            }
        }
        let now = self.clock.now();
        self.commit(place, Some(state), |life| {
            let facts = life.inner.iter_mut();
            for fact in facts.filter(|fact| {
                let mut parts = tags.parts.iter();
                fact.inner == tags.inner && parts.any(|part| part.key == fact.key)
            }) {
                fact.tagged
                    .retain(|(key, _)| !pairs.iter().any(|(new, _)| new == key));
                fact.tagged
                    .extend(pairs.iter().map(|(key, _)| (key.clone(), now)));
            }
        });
        Ok(())
    }

    /// Whether every one of these parts is there, with its id where that is known.
    fn check_ids(
        &self,
        spot: Spot,
        target: &Target,
        parts: &[InnerPart],
        op: Op,
    ) -> Result<(), CloudError> {
        let (_, state) = self.living(target, op)?;
        for part in parts {
            let held = state.part(spot.at, &part.key);
            let same = |held: &InnerPart| part.id.is_none() || held.id == part.id;
            if !held.is_some_and(same) {
                let id = part.id.as_ref().unwrap_or(&part.key);
                let message = format!("{target} has no {} '{id}'", spot.declared.noun);
                return Err(spot.refuse(op, spot.inner.id_not_found, message));
            }
        }
        Ok(())
    }

    fn spot(&self, target: &Target, inner: &str) -> Result<Spot, CloudError> {
        let shelf = self.shelf_or_refuse(&target.place, target.kind)?;
        let at = self.inner_at(shelf, inner)?;
        let (kind, row) = (self.shelves[shelf].kind, self.shelves[shelf].row);
        Ok(Spot {
            kind,
            row,
            declared: &kind.inner[at],
            inner: row.inner(at),
            at,
        })
    }

    fn check_room(&self, spot: Spot, state: &State, parts: &[InnerPart]) -> Result<(), CloudError> {
        let stays = |old: &&InnerPart| !parts.iter().any(|new| new.key == old.key);
        let all = state.inner[spot.at].iter().filter(stays).chain(parts);
        let all: Vec<&InnerPart> = all.collect();
        let (held, limit) = if spot.declared.single {
            (all.len(), 1)
        } else {
            let set = self.settings.quotas.limit(spot.kind, spot.declared.name);
            let held = spot.row.model.measure(spot.declared, &all);
            (held, set.unwrap_or(spot.inner.quota))
        };
        if held <= limit {
            return Ok(());
        }
        let message = format!("{held} is more than the quota of {limit}");
        Err(spot.refuse(spot.inner.add, spot.inner.full, message))
    }

    /// Puts parts into a resource; all checks have passed.
    pub(crate) fn put_parts(
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
        let prefix = self.shelves[place.shelf].row.inner(at).prefix;
        let held = Arc::make_mut(&mut state.inner[at]);
        let mut facts = Vec::with_capacity(parts.len());
        for part in parts {
            let part = &InnerPart {
                id: (!prefix.is_empty()).then(|| self.next_id(prefix).text()),
                ..part.clone()
            };
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
                tagged: Vec::new(),
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
