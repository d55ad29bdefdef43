//! Deleting, and what stands in its way.

use ownership::error::Blocker;
use ownership::life::Life;
use ownership::{Class, CloudError, ResourceId, Target};

use crate::account::{Account, Place};
use crate::provenance::{Actor, End, Harm};
use crate::record::State;

impl Account {
    /// Deletes a resource.
    ///
    /// # Errors
    /// What the real account refuses: a resource that others use (with all of them), a main route
    /// table, a default group.
    pub fn delete(&mut self, actor: Actor, target: &Target) -> Result<(), CloudError> {
        let shelf = self.shelf_or_refuse(&target.place, target.kind)?;
        let row = self.shelves[shelf].row;
        self.admit_write(actor, row, row.delete)?;
        let found = self.living(target, row.delete);
        if row.forgives && found.is_err() {
            return Ok(());
        }
        let (place, state) = found?;
        if state.resource.life == Life::Going {
            return Ok(());
        }
        if let Some(refusal) = row.model.keeps(target, state) {
            return Err(refusal);
        }
        let blockers = self.blockers(place, state);
        if !blockers.is_empty() {
            let message = format!("{target} is in use");
            return Err(CloudError::new(
                Class::Blocked(blockers),
                row.blocked,
                message,
            ));
        }
        row.model.ends(self, &target.id);
        self.log(place, actor, Harm::Deleted);
        if !self.goes_slowly(actor, place) {
            self.end(actor, place);
        }
        Ok(())
    }

    pub(crate) fn end(&mut self, by: Actor, place: Place) {
        let at = self.clock.now();
        self.ends_course(place);
        self.shelves[place.shelf].alive -= 1;
        self.commit(place, None, |life| life.end = Some(End { by, at }));
    }

    /// Everything that must go before this resource can.
    fn blockers(&self, place: Place, state: &State) -> Vec<Blocker> {
        let shelf = &self.shelves[place.shelf];
        let resource = &state.resource;
        let mut blockers = Vec::new();
        for (declared, parts) in shelf.kind.inner.iter().zip(&state.inner) {
            if declared.blocks_deletion {
                let blocker = |key| Blocker {
                    noun: declared.noun.into(),
                    id: ResourceId::new(key),
                };
                blockers.extend(parts.iter().map(|part| blocker(part.key.clone())));
            }
        }
        if !self.settings.careless {
            shelf.row.model.users(self, state, &mut blockers);
        }
        let pins = self.pins.iter();
        blockers.extend(
            pins.filter(|pin| pin.on.kind == resource.kind && pin.on.id == resource.id)
                .map(|pin| pin.blocker.clone()),
        );
        blockers
    }

    /// Resources that refer to this one by a property, or hold it as a part.
    pub(crate) fn dependents(&self, id: &ResourceId, blockers: &mut Vec<Blocker>) {
        for shelf in self.shelves_here() {
            for state in shelf.records.iter().filter_map(|record| record.current()) {
                let other = &state.resource;
                let mut parts = state.inner.iter().flat_map(|parts| parts.iter());
                let refers = other.props.iter().any(|(_, value)| **value == *id.as_str())
                    || parts.any(|part| id.is_named_in(&part.key));
                if refers && other.id != *id && !shelf.row.model.lets_go(state) {
                    blockers.push(Blocker {
                        noun: shelf.kind.noun.into(),
                        id: other.id.clone(),
                    });
                }
            }
        }
    }

    /// What the cloud made together with a resource goes with it.
    pub(crate) fn end_what_came_with(&mut self, parent: &ResourceId) {
        for shelf in 0..self.shelves.len() {
            let model = self.shelves[shelf].row.model;
            for record in 0..self.shelves[shelf].records.len() {
                let place = Place { shelf, record };
                let goes = self.record(place).current().is_some_and(|state| {
                    let mut props = state.resource.props.iter();
                    model.came_with_parent(state) && props.any(|(_, id)| **id == *parent.as_str())
                });
                if goes {
                    self.end(Actor::Cloud, place);
                }
            }
        }
    }
}
