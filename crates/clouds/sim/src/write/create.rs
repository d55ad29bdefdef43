//! Creating: client tokens, names, quotas, and what rides on the call.

use std::sync::Arc;

use ownership::kind::{BirthProof, Change, CreateMode, Ids, Kind, Marking, Naming};
use ownership::life;
use ownership::mark::Tags;
use ownership::part::{Props, Resource};
use ownership::secret::Secrets;
use ownership::step::Create;
use ownership::time::Millis;
use ownership::{CloudError, ResourceId, SlotName, Target, Text};

use super::{check_tags, counted};
use crate::account::{Account, Place, Token, refuse};
use crate::provenance::{Actor, Harm, Life, TagFact};
use crate::record::{Record, State};

/// A create call, whoever makes it.
pub(crate) struct Order<'a> {
    pub(crate) shelf: usize,
    pub(crate) name: &'a Text,
    pub(crate) props: &'a Props,
    pub(crate) secrets: &'a Secrets,
    pub(crate) tags: &'a Tags,
    pub(crate) slot: Option<&'a SlotName>,
    pub(crate) attempt: u32,
}

impl Account {
    /// Creates a resource by hand: any name, properties and tags that the cloud accepts, tags even
    /// where they would need a second call.
    ///
    /// # Errors
    /// What the real account refuses.
    pub fn plant(
        &mut self,
        actor: Actor,
        kind: &'static Kind,
        name: &str,
        props: &Props,
        tags: &Tags,
    ) -> Result<Target, CloudError> {
        self.plant_at(&ownership::Place::HOME, actor, kind, name, props, tags)
    }

    /// The same, in another place that the account stands for.
    ///
    /// # Errors
    /// What the real account refuses.
    pub fn plant_at(
        &mut self,
        place: &ownership::Place,
        actor: Actor,
        kind: &'static Kind,
        name: &str,
        props: &Props,
        tags: &Tags,
    ) -> Result<Target, CloudError> {
        self.take_course();
        let order = Order {
            shelf: self.shelf_or_refuse(place, kind)?,
            name: &name.into(),
            props,
            secrets: &Secrets::new(),
            tags,
            slot: None,
            attempt: 0,
        };
        let (_, born) = self.create(actor, &order)?;
        Ok(born.target())
    }

    pub(crate) fn create_for(
        &mut self,
        actor: Actor,
        create: &Create,
    ) -> Result<(Place, Arc<Resource>), CloudError> {
        let kind = create.kind;
        let shelf = self.shelf_or_refuse(&create.place, kind)?;
        let row = self.shelves[shelf].row;
        self.admit_write(actor, row, row.create)?;
        let order = Order {
            shelf,
            name: &create.name,
            props: &create.props,
            secrets: &create.secrets,
            tags: &create.tags,
            slot: Some(&create.slot),
            attempt: create.attempt,
        };
        if !order.tags.is_empty()
            && kind.birth != BirthProof::Marks
            && kind.marking != Marking::CreateOnly
        {
            let message = format!("creating a {} takes no tags", kind.noun);
            return Err(refuse(row, row.create, row.service.unknown, message));
        }
        let Some(token) = create.token else {
            return self.create(actor, &order);
        };
        let Some(lifetime) = kind.token else {
            let message = format!("creating a {} takes no client token", kind.noun);
            return Err(refuse(row, row.create, row.service.unknown, message));
        };
        let token = token.as_u128();
        if let Some(first) = self.first_use(&order, token, lifetime)? {
            return Ok(first);
        }
        let (place, born) = self.create(actor, &order)?;
        let used = Token {
            at: self.clock.now(),
            name: order.name.clone(),
            props: order.props.clone(),
            secrets: order.secrets.clone(),
            tags: order.tags.clone(),
            place,
        };
        self.tokens.insert((shelf, token), used);
        Ok((place, born))
    }

    /// What a repeated client token is answered with: the first one's resource, even if it is dead.
    fn first_use(
        &self,
        order: &Order<'_>,
        token: u128,
        lifetime: Millis,
    ) -> Result<Option<(Place, Arc<Resource>)>, CloudError> {
        let Some(used) = self.tokens.get(&(order.shelf, token)) else {
            return Ok(None);
        };
        if self.clock.now() - used.at > lifetime {
            return Ok(None);
        }
        let same = used.name == *order.name
            && used.props == *order.props
            && used.secrets == *order.secrets
            && used.tags == *order.tags;
        if !same {
            let row = self.shelves[order.shelf].row;
            let message = "this client token was used with other parameters".to_owned();
            return Err(refuse(row, row.create, row.service.token_mismatch, message));
        }
        let state = self.record(used.place).last_seen_alive();
        Ok(state.map(|state| (used.place, state.resource.clone())))
    }

    pub(super) fn create(
        &mut self,
        actor: Actor,
        order: &Order<'_>,
    ) -> Result<(Place, Arc<Resource>), CloudError> {
        let shelf = &self.shelves[order.shelf];
        let (kind, row) = (shelf.kind, shelf.row);
        let tags: Vec<_> = order.tags.iter().collect();
        check_tags(row, row.create, kind.carrier, &tags)?;
        if counted(kind.carrier, order.tags) > kind.carrier.capacity() {
            let message = format!("a {} holds {} tags", kind.noun, kind.carrier.capacity());
            return Err(refuse(row, row.create, row.tags_full, message));
        }
        if kind.naming != Naming::Free && !kind.names.accepts(order.name) {
            let message = format!("'{}' cannot be the name of a {}", order.name, kind.noun);
            return Err(refuse(row, row.create, row.service.invalid, message));
        }
        let props = self.prepare(order)?;
        if let Some(place) = self.namesake(order, &props)? {
            return match kind.create {
                CreateMode::Upsert => Ok((place, self.overwrite(actor, place, order, &props))),
                CreateMode::Insert => {
                    let message = format!("there is a {} '{}' already", kind.noun, order.name);
                    Err(refuse(row, row.create, row.duplicate, message))
                }
            };
        }
        self.check_quota(order, &props)?;
        Ok(self.give_birth(actor, order, props))
    }

    /// Puts a new resource on its shelf; all checks have passed.
    pub(crate) fn give_birth(
        &mut self,
        actor: Actor,
        order: &Order<'_>,
        mut props: Props,
    ) -> (Place, Arc<Resource>) {
        let now = self.clock.now();
        let (kind, row) = (
            self.shelves[order.shelf].kind,
            self.shelves[order.shelf].row,
        );
        let id = if row.prefix.is_empty() {
            ResourceId::new(order.name.clone())
        } else if kind.create == CreateMode::Upsert {
            // Where a create overwrites by name, the name is in the id.
            path(kind.naming, order.name, &props)
        } else {
            self.next_id(row.prefix)
        };
        row.model.gives(self, &id, order, &mut props);
        give(kind, &id, &mut props);
        let at_once = actor == Actor::Cloud || row.model.is_ready_at_once();
        if let Some(why) = row.model.dooms(self, &props).filter(|_| !at_once) {
            self.dooms_next(why);
        }
        let stage = self.first_life(kind, at_once);
        let unique = (kind.ids == Ids::Names).then(|| self.next_id(row.unique).text());
        let resource = Arc::new(Resource {
            place: self.shelves[order.shelf].place.clone(),
            kind,
            id: id.clone(),
            unique,
            name: order.name.clone(),
            tags: order.tags.clone(),
            props,
            created: kind.has_creation_time.then(|| self.clock.cloud_time()),
            life: stage.clone(),
        });
        let fact = |(key, value): &(Text, Text)| TagFact {
            key: key.clone(),
            value: value.clone(),
            by: actor,
            replaced: None,
        };
        let fate = Life {
            target: resource.target(),
            name: order.name.clone(),
            by: actor,
            slot: order.slot.cloned(),
            attempt: order.attempt,
            born: now,
            secrets: order.secrets.clone(),
            end: None,
            tags: order.tags.iter().map(fact).collect(),
            inner: Vec::new(),
        };
        let state = State {
            resource: resource.clone(),
            inner: vec![Arc::default(); kind.inner.len()],
        };
        // Only a name that had a life before has a record before.
        let named = row.prefix.is_empty() || kind.create == CreateMode::Upsert;
        let before = named.then(|| self.place_on(order.shelf, &id)).flatten();
        let place = if let Some(place) = before {
            let shelf = &mut self.shelves[place.shelf];
            Arc::make_mut(&mut shelf.records[place.record])
                .lives
                .push(fate);
            shelf.tagged(place.record, order.tags.iter().map(|(key, _)| key));
            self.commit(place, Some(state), |_| {});
            place
        } else {
            let record = Record::new(fate, now, state);
            Place {
                shelf: order.shelf,
                record: self.shelves[order.shelf].push(record),
            }
        };
        self.shelves[order.shelf].alive += 1;
        if stage == life::Life::Coming {
            self.begins(kind, place);
        }
        self.bring_along(&resource.target());
        row.model.is_born(self, actor, &resource.id, order);
        (place, resource)
    }

    /// The living resource that has this name where names are unique.
    fn namesake(&self, order: &Order<'_>, props: &Props) -> Result<Option<Place>, CloudError> {
        let shelf = &self.shelves[order.shelf];
        let (kind, row) = (shelf.kind, shelf.row);
        let scope = match kind.naming {
            Naming::Free => return Ok(None),
            Naming::Account => None,
            Naming::Within(prop) => Some((prop, self.required(order, props, prop)?)),
        };
        if order.name.is_empty() {
            let message = format!("a {} must have a name", kind.noun);
            return Err(refuse(row, row.create, row.service.missing, message));
        }
        // IAM keeps the case of a name, but no two names may differ only in it.
        let folds_case = row.service.folds_case;
        let record = shelf.maybe_named(order.name).find(|at| {
            shelf.records[*at].current().is_some_and(|state| {
                let other = &state.resource;
                let same = other.name == *order.name
                    || folds_case && other.name.eq_ignore_ascii_case(order.name);
                same && scope.is_none_or(|(prop, parent)| other.props.get(prop) == Some(parent))
            })
        });
        Ok(record.map(|record| Place {
            shelf: order.shelf,
            record,
        }))
    }

    /// An upsert over a living resource: its properties become those of the call. Tags and parts are
    /// resources of their own in the clouds that work like this, and stay. The answer looks as that for
    /// a new one.
    fn overwrite(
        &mut self,
        actor: Actor,
        place: Place,
        order: &Order<'_>,
        props: &Props,
    ) -> Arc<Resource> {
        let mut state = self
            .record(place)
            .current()
            .expect("a namesake is alive")
            .clone();
        if state.resource.props != *props {
            self.log(place, actor, Harm::Overwritten);
            Arc::make_mut(&mut state.resource).props = props.clone();
            self.commit(place, Some(state.clone()), |_| {});
        }
        let record = &mut self.shelves[place.shelf].records[place.record];
        if record.life().secrets != *order.secrets {
            Arc::make_mut(record).life_mut().secrets = order.secrets.clone();
        }
        Arc::make_mut(&mut state.resource).tags = Tags::new();
        state.resource
    }

    fn check_quota(&self, order: &Order<'_>, props: &Props) -> Result<(), CloudError> {
        let shelf = &self.shelves[order.shelf];
        let set = self.settings.quotas.limit(shelf.kind, "");
        let limit = set.unwrap_or(shelf.row.quota);
        if shelf.alive < limit {
            return Ok(());
        }
        let alive = shelf.records.iter().filter_map(|record| record.current());
        let within = |prop| (prop, props.get(prop));
        let within = shelf.row.quota_within.map(within);
        let counts = |state: &&State| {
            within.is_none_or(|(prop, parent)| state.resource.props.get(prop) == parent)
        };
        let held = alive.filter(counts).count();
        if held < limit {
            return Ok(());
        }
        let message = format!(
            "the account may have {limit} of the kind {}",
            shelf.kind.noun
        );
        Err(refuse(
            shelf.row,
            shelf.row.create,
            shelf.row.over_quota,
            message,
        ))
    }
}

/// What the cloud gives to a new resource, where its model does not say it.
fn give(kind: &Kind, id: &ResourceId, props: &mut Props) {
    let given = kind
        .props
        .iter()
        .filter(|rule| rule.change == Change::Given);
    for rule in given {
        if props.get(rule.name).is_none() {
            props.set(rule.name, format!("{}-of-{id}", rule.name).into());
        }
    }
}

fn path(naming: Naming, name: &Text, props: &Props) -> ResourceId {
    let parent = match naming {
        Naming::Within(prop) => props.get(prop),
        Naming::Account | Naming::Free => None,
    };
    match parent {
        Some(parent) => ResourceId::new(format!("{parent}/{name}")),
        None => ResourceId::new(name.clone()),
    }
}
