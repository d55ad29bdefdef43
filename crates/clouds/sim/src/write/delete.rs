//! Deleting, and what stands in its way.

use cloud_port::aws::errors;
use cloud_port::aws::{instance_profile, security_group};
use ownership::error::Blocker;
use ownership::{CloudError, ResourceId, Target};

use crate::account::{Account, Place, refuse};
use crate::aws::Model;
use crate::provenance::{Actor, End, Harm};
use crate::record::State;

impl Account {
    /// Deletes a resource.
    ///
    /// # Errors
    /// What the real account refuses: a resource that others use (with all of them), a main route
    /// table, a default group.
    pub fn delete(&mut self, actor: Actor, target: &Target) -> Result<(), CloudError> {
        let shelf = self.shelf_or_refuse(target.kind)?;
        let row = self.shelves[shelf].row;
        self.admit_write(actor, row, row.delete)?;
        let (place, state) = self.living(target, row.delete)?;
        if row.model == Model::SecurityGroup
            && &*state.resource.name == security_group::DEFAULT_NAME
        {
            let message = format!("{target} is the default group of its VPC");
            return Err(refuse(row, row.delete, "CannotDelete", message));
        }
        let blockers = self.blockers(place, state);
        if !blockers.is_empty() {
            let message = format!("{target} is in use");
            return Err(errors::blocked(row.blocked, &message, blockers));
        }
        if row.model == Model::Vpc {
            self.clear_vpc(&target.id);
        }
        self.log(place, actor, Harm::Deleted);
        self.end(actor, place);
        Ok(())
    }

    fn end(&mut self, by: Actor, place: Place) {
        let at = self.clock.now();
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
        match shelf.row.model {
            Model::RouteTable => {
                if resource
                    .props
                    .get("main")
                    .is_some_and(|main| **main == *"true")
                    && let Some(vpc) = resource.props.get("vpc")
                {
                    blockers.push(Blocker {
                        noun: "VPC whose main route table it is".into(),
                        id: ResourceId::new(vpc.clone()),
                    });
                }
            }
            Model::SecurityGroup => self.referring_groups(&resource.id, &mut blockers),
            Model::Role => self.holding_profiles(&resource.id, &mut blockers),
            Model::Vpc | Model::Other => self.dependents(&resource.id, &mut blockers),
            Model::Subnet | Model::InstanceProfile => {}
        }
        let pins = self.pins.iter();
        blockers.extend(
            pins.filter(|pin| pin.on.kind == resource.kind && pin.on.id == resource.id)
                .map(|pin| pin.blocker.clone()),
        );
        blockers
    }

    /// Groups with a rule that admits the members of this one.
    fn referring_groups(&self, id: &ResourceId, blockers: &mut Vec<Blocker>) {
        let kind = &security_group::SECURITY_GROUP;
        let Some(shelf) = self.shelf(kind.name) else {
            return;
        };
        for state in self.shelves[shelf]
            .records
            .iter()
            .filter_map(|r| r.current())
        {
            let refers = |rule: &&str| rule.rsplit(' ').next() == Some(id.as_str());
            let mut rules = state.inner.iter().flat_map(|p| p.iter()).map(|p| &*p.key);
            if state.resource.id != *id && rules.any(|rule| refers(&rule)) {
                blockers.push(Blocker {
                    noun: kind.noun.into(),
                    id: state.resource.id.clone(),
                });
            }
        }
    }

    /// Profiles that hold this role.
    fn holding_profiles(&self, id: &ResourceId, blockers: &mut Vec<Blocker>) {
        let kind = &instance_profile::INSTANCE_PROFILE;
        let Some(shelf) = self.shelf(kind.name) else {
            return;
        };
        for state in self.shelves[shelf]
            .records
            .iter()
            .filter_map(|r| r.current())
        {
            if state.part(0, id.as_str()).is_some() {
                blockers.push(Blocker {
                    noun: kind.noun.into(),
                    id: state.resource.id.clone(),
                });
            }
        }
    }

    /// Resources that refer to this one by a property.
    fn dependents(&self, id: &ResourceId, blockers: &mut Vec<Blocker>) {
        for shelf in &self.shelves {
            for state in shelf.records.iter().filter_map(|record| record.current()) {
                let other = &state.resource;
                let refers = other.props.iter().any(|(_, value)| **value == *id.as_str());
                if refers && other.id != *id && !goes_with_vpc(shelf.row.model, state) {
                    blockers.push(Blocker {
                        noun: shelf.kind.noun.into(),
                        id: other.id.clone(),
                    });
                }
            }
        }
    }

    /// What a VPC came with goes with it.
    fn clear_vpc(&mut self, vpc: &ResourceId) {
        for shelf in 0..self.shelves.len() {
            let model = self.shelves[shelf].row.model;
            for record in 0..self.shelves[shelf].records.len() {
                let place = Place { shelf, record };
                let goes = self.record(place).current().is_some_and(|state| {
                    goes_with_vpc(model, state)
                        && state
                            .resource
                            .props
                            .get("vpc")
                            .is_some_and(|v| **v == *vpc.as_str())
                });
                if goes {
                    self.end(Actor::Cloud, place);
                }
            }
        }
    }
}

/// Whether the cloud deletes it together with its VPC.
fn goes_with_vpc(model: Model, state: &State) -> bool {
    let resource = &state.resource;
    match model {
        Model::SecurityGroup => &*resource.name == security_group::DEFAULT_NAME,
        Model::RouteTable => resource
            .props
            .get("main")
            .is_some_and(|main| **main == *"true"),
        _ => false,
    }
}
