//! The state of one cluster: its storage, what it serves, and the chores that a change leaves.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::builtin::{self, Builtin};
use crate::clock::Clock;
use crate::crd;
use crate::fields::{self, Scope};
use crate::ids::Ids;
use crate::journal::{Restored, RestoredEvent};
use crate::json;
use crate::meta::{self, Facts};
use crate::resource::{Definition, Resource, Rules, Sub};
use crate::storage::{Body, Event, Storage, Stored};
use crate::strategy;
use crate::typed::seconds;
use crate::writers::Writers;

/// Where an object is: its collection and its key there.
pub(crate) type Place = (Box<str>, Box<str>);

/// One cluster.
pub(crate) struct State {
    pub(crate) storage: Storage,
    pub(crate) ids: Ids,
    clock: Arc<dyn Clock>,
    /// How deep the deepest document nests that was ever stored.
    pub(crate) deepest: usize,
    /// What is served besides the built-in resources, by collection.
    pub(crate) definitions: BTreeMap<Box<str>, Arc<Definition>>,
    /// Who names whom as owner: uid of the owner to the collections and keys of its dependents.
    pub(crate) dependents: BTreeMap<Box<str>, BTreeSet<Place>>,
    /// What is still to be done before the present request is complete.
    chores: VecDeque<Chore>,
    /// The same chores, to see quickly whether one is noted already.
    noted: BTreeSet<Chore>,
}

/// Work that a change causes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Chore {
    /// The garbage collector looks at this object.
    Collect { store: Box<str>, key: Box<str> },
    /// An object whose deletion waits for its dependents goes, if none is left that blocks it.
    Finish { store: Box<str>, key: Box<str> },
    /// A namespace that ends is emptied, and removed if it is empty.
    Namespace(Box<str>),
    /// A definition is accepted and served, or what it defined is removed.
    Definition(Box<str>),
}

impl State {
    /// A new cluster with its initial namespaces.
    pub(crate) fn new(name: &str, seed: u64, history: usize, clock: Arc<dyn Clock>) -> Self {
        let mut state = Self::empty(Ids::new(seed, name), history, clock);
        state.begin();
        state
    }

    /// The same, with its changes noted from the first one on.
    pub(crate) fn kept(name: &str, seed: u64, history: usize, clock: Arc<dyn Clock>) -> Self {
        let mut state = Self::empty(Ids::new(seed, name), history, clock);
        state.storage.note_changes();
        state.begin();
        state
    }

    fn empty(ids: Ids, history: usize, clock: Arc<dyn Clock>) -> Self {
        let mut state = Self {
            storage: Storage::new(history),
            ids,
            clock,
            deepest: 0,
            definitions: BTreeMap::new(),
            dependents: BTreeMap::new(),
            chores: VecDeque::new(),
            noted: BTreeSet::new(),
        };
        let stored = |resource: &&Arc<Resource>| {
            let review = resource.builtin().is_some_and(Builtin::is_review);
            !review
        };
        for resource in builtin::RESOURCES.iter().filter(stored) {
            state.storage.collection(&resource.store);
        }
        state
    }

    /// Makes the initial namespaces.
    fn begin(&mut self) {
        let state = self;
        let resource = builtin::resource(Builtin::Namespace);
        let now = state.now();
        for name in builtin::INITIAL {
            let mut value = json!({
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {
                    "name": name,
                    "uid": state.ids.uid(),
                    "creationTimestamp": seconds(now),
                },
                "spec": {},
            });
            Builtin::Namespace.default(&mut value);
            let scope = Scope::new(resource, None, Sub::None);
            let _ = fields::track(&scope, None, &mut value, fields::API_SERVER, now);
            Builtin::Namespace.prepare_create(&mut value, now);
            state.put(resource, name, value);
        }
    }

    /// A cluster as it was written down.
    pub(crate) fn restore(restored: &Restored, history: usize, clock: Arc<dyn Clock>) -> Self {
        let mut state = Self::empty(Ids::at(restored.ids), history, clock);
        let mut writers = Writers::default();
        // Definitions first: they say what the others are.
        let definitions = &builtin::resource(Builtin::Definition).store;
        let (defining, others): (Vec<_>, Vec<_>) = restored
            .objects
            .iter()
            .partition(|object| *object.store == **definitions);
        for object in defining.into_iter().chain(others) {
            let value = json::parse(&object.body).map(|document| document.value);
            let value = value.unwrap_or_default();
            if *object.store == **definitions
                && (crd::condition_is_true(&value, "Established")
                    || crd::condition_is_true(&value, "NamesAccepted"))
            {
                let definition = crd::compile(&value);
                state
                    .definitions
                    .insert(object.key.as_str().into(), definition);
                state.storage.collection(&object.key);
            }
            if let Some(stored) =
                state.written(&mut writers, &object.store, &object.version, &value)
            {
                state.take_back(&object.store, &object.key, stored);
            }
        }
        for event in &restored.events {
            state.take_back_event(&mut writers, event);
        }
        state.storage.resume_at(restored.revision);
        state
    }

    fn take_back(&mut self, store: &str, key: &str, stored: Stored) {
        self.deepest = self.deepest.max(stored.body.depth());
        for owner in &stored.facts.owners {
            let entry = self.dependents.entry(owner.uid.clone()).or_default();
            entry.insert((store.into(), key.into()));
        }
        let collection = self.storage.collection(store);
        collection.objects.insert(key.into(), Arc::new(stored));
    }

    fn take_back_event(&mut self, writers: &mut Writers, event: &RestoredEvent) {
        let mut read = |(version, body): &(String, Vec<u8>)| {
            let value = json::parse(body).map(|document| document.value);
            self.written(writers, &event.store, version, &value.unwrap_or_default())
        };
        let Some(object) = read(&event.object) else {
            return;
        };
        let previous = event.previous.as_ref().and_then(read);
        for stored in previous.iter().chain([&object]) {
            self.deepest = self.deepest.max(stored.body.depth());
        }
        let event_read = Event {
            revision: event.revision,
            key: event.key.as_str().into(),
            object: Arc::new(object),
            previous: previous.map(Arc::new),
            deleted: event.deleted,
        };
        let collection = self.storage.collection(&event.store);
        collection.restore(event_read, event.floor);
    }

    /// An object of a collection as it is stored; none if nobody knows its kind any more.
    fn written(
        &self,
        writers: &mut Writers,
        store: &str,
        version: &str,
        value: &Value,
    ) -> Option<Stored> {
        let written_as = match self.definitions.get(store) {
            Some(definition) => writers.of(definition, version, value),
            None => self.resource_of_store(store)?,
        };
        let share: Option<fn(Vec<u8>) -> Bytes> =
            (written_as.builtin() == Some(Builtin::Definition)).then_some(crd::share_spec);
        let revision = meta::text(value, "resourceVersion").parse().unwrap_or(0);
        Some(Stored {
            revision,
            facts: Facts::of(value),
            body: Body::write(value, share),
            written_as,
            // What is never shown is not kept either.
            untidy: false,
        })
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The resource of a URL.
    pub(crate) fn resource(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Option<Arc<Resource>> {
        let fits = |r: &&Arc<Resource>| {
            *r.group == *group && *r.version == *version && *r.plural == *plural
        };
        if let Some(found) = builtin::RESOURCES.iter().find(fits) {
            return Some(Arc::clone(found));
        }
        let definition = self.definitions.get(format!("{plural}.{group}").as_str())?;
        let resource = definition.version(version)?;
        resource
            .custom()
            .is_some_and(|custom| custom.served)
            .then(|| Arc::clone(resource))
    }

    /// The resource of an `apiVersion` and kind.
    pub(crate) fn resource_of_kind(
        &self,
        group: &str,
        version: &str,
        kind: &str,
    ) -> Option<Arc<Resource>> {
        let fits =
            |r: &Arc<Resource>| *r.group == *group && *r.version == *version && *r.kind == *kind;
        let built_in = builtin::RESOURCES.iter().find(|r| fits(r));
        let defined = || {
            let versions = self.definitions.values().flat_map(|d| d.versions.iter());
            versions
                .into_iter()
                .find(|r| fits(r) && r.custom().is_some_and(|c| c.served))
        };
        built_in.or_else(defined).map(Arc::clone)
    }

    /// The resource that objects of a collection are stored as.
    pub(crate) fn resource_of_store(&self, store: &str) -> Option<Arc<Resource>> {
        if let Some(definition) = self.definitions.get(store) {
            return Some(Arc::clone(definition.stored()));
        }
        builtin::RESOURCES
            .iter()
            .find(|r| *r.store == *store)
            .map(Arc::clone)
    }

    /// The version that objects of a resource are stored in.
    fn stored_as(&self, resource: &Arc<Resource>) -> Arc<Resource> {
        match &resource.rules {
            Rules::Builtin(Builtin::NewEvent) => Arc::clone(builtin::resource(Builtin::Event)),
            Rules::Builtin(_) => Arc::clone(resource),
            Rules::Custom(_) => {
                let definition = self.definitions.get(&resource.store);
                definition.map_or_else(|| Arc::clone(resource), |d| Arc::clone(d.stored()))
            }
        }
    }

    /// An object as a request sees it, as a tree of values. Events are in their stored shape.
    pub(crate) fn view(&self, resource: &Arc<Resource>, stored: &Stored) -> Value {
        let mut value = stored.value();
        if Arc::ptr_eq(&stored.written_as, resource) || resource.custom().is_none() {
            return value;
        }
        let definition = self.definitions.get(&resource.store);
        let current = definition.and_then(|d| d.version(&stored.written_as.version));
        if let Some(current) = current
            && !Arc::ptr_eq(current, &stored.written_as)
        {
            strategy::convert(current, &mut value);
            strategy::default(current, &mut value);
        }
        strategy::convert(resource, &mut value);
        value
    }

    /// An object as a request gets it.
    pub(crate) fn present(&self, resource: &Arc<Resource>, stored: &Stored) -> Bytes {
        match self.presented(resource, stored) {
            Some(body) => body.to_bytes(),
            None => stored.body.to_bytes(),
        }
    }

    /// The body of an object for a request, where it is not the stored one.
    pub(crate) fn presented(&self, resource: &Arc<Resource>, stored: &Stored) -> Option<Body> {
        if Arc::ptr_eq(&stored.written_as, resource) {
            return None;
        }
        let mut value = self.view(resource, stored);
        if resource.builtin() == Some(Builtin::NewEvent) {
            builtin::event_from_core(&mut value);
        }
        Some(Body::write(&value, None))
    }

    /// An object as it would come back if it were stored.
    pub(crate) fn round_trip(&self, resource: &Arc<Resource>, mut value: Value) -> Value {
        if resource.custom().is_none() {
            return value;
        }
        let written_as = self.stored_as(resource);
        let other = written_as.version != resource.version;
        if other {
            strategy::convert(&written_as, &mut value);
        }
        strategy::default(&written_as, &mut value);
        if other {
            strategy::convert(resource, &mut value);
        }
        value
    }

    /// Builds what is stored for an object (in any version of its resource) at the next revision.
    pub(crate) fn build(&self, resource: &Arc<Resource>, mut value: Value) -> Stored {
        let revision = self.storage.next_revision();
        let written_as = self.stored_as(resource);
        if written_as.custom().is_some() {
            if written_as.version != resource.version {
                strategy::convert(&written_as, &mut value);
            }
            strategy::default(&written_as, &mut value);
        }
        meta::of(&mut value).insert("resourceVersion".to_owned(), json!(revision.to_string()));
        let share: Option<fn(Vec<u8>) -> Bytes> =
            (resource.builtin() == Some(Builtin::Definition)).then_some(crd::share_spec);
        Stored {
            revision,
            facts: Facts::of(&value),
            body: Body::write(&value, share),
            written_as,
            untidy: false,
        }
    }

    /// Stores an object and notes the chores that follow.
    pub(crate) fn put(&mut self, resource: &Arc<Resource>, key: &str, value: Value) -> Arc<Stored> {
        let stored = self.build(resource, value);
        self.put_built(resource, key, stored)
    }

    /// Stores an object that a part of the control plane has changed, through a sub-resource or not.
    pub(crate) fn put_by(
        &mut self,
        (manager, sub): (&str, Sub),
        resource: &Arc<Resource>,
        key: &str,
        old: &Value,
        mut value: Value,
    ) -> Arc<Stored> {
        let definition = self.definitions.get(&resource.store);
        let scope = Scope::new(resource, definition.map(|d| &**d), sub);
        // Nothing gets deeper by it.
        let _ = fields::track(&scope, Some(old), &mut value, manager, self.now());
        self.put(resource, key, value)
    }

    /// Stores an object that was built for the next revision.
    pub(crate) fn put_built(
        &mut self,
        resource: &Arc<Resource>,
        key: &str,
        stored: Stored,
    ) -> Arc<Stored> {
        let stored = Arc::new(stored);
        self.deepest = self.deepest.max(stored.body.depth());
        let old = self.storage.object(&resource.store, key).cloned();
        self.unindex(&resource.store, key, old.as_deref());
        for owner in &stored.facts.owners {
            let entry = self.dependents.entry(owner.uid.clone()).or_default();
            entry.insert((resource.store.clone(), key.into()));
        }
        self.storage.put(&resource.store, key, Arc::clone(&stored));
        self.note_relations(
            &resource.store,
            key,
            &stored.facts,
            old.as_ref().map(|old| &old.facts),
        );
        let facts = &stored.facts;
        match resource.builtin() {
            Some(Builtin::Definition) => self.chore(Chore::Definition(key.into())),
            Some(Builtin::Namespace) if facts.deleting => self.chore(Chore::Namespace(key.into())),
            _ => {}
        }
        stored
    }

    /// Notes what the garbage collector looks at after a change of an object.
    fn note_relations(&mut self, store: &str, key: &str, new: &Facts, old: Option<&Facts>) {
        let nothing = Facts::default();
        let old = old.unwrap_or(&nothing);
        // An owner that waits for this dependent need not wait any longer.
        for owner in &old.owners {
            let blocks = |now: &meta::Owner| now.uid == owner.uid && now.blocks == owner.blocks;
            if !new.owners.iter().any(blocks)
                && let Some((store, key)) = self.find_owner(&new.namespace, owner)
            {
                self.chore(Chore::Collect { store, key });
            }
        }
        if new.waits() && !old.waits() {
            let dependents = self.dependents.get(&new.uid).cloned().unwrap_or_default();
            for (store, key) in dependents {
                self.chore(Chore::Collect { store, key });
            }
        }
        // Owners that are where they should be are no reason to look, even if they wait already.
        let doubtful = old.owners != new.owners
            && new.owners.iter().any(|owner| {
                let place = self.find_owner(&new.namespace, owner);
                let found = place.and_then(|(store, key)| self.storage.object(&store, &key));
                found.is_none_or(|found| found.facts.uid != owner.uid)
            });
        if new.deleting || doubtful {
            self.chore(Chore::Collect {
                store: store.into(),
                key: key.into(),
            });
        }
    }

    /// Removes an object and notes the chores that follow; the answer is its last state.
    pub(crate) fn remove(&mut self, resource: &Arc<Resource>, key: &str) -> Option<Arc<Stored>> {
        let old = self.storage.object(&resource.store, key).cloned()?;
        let mut value = old.value();
        let revision = self.storage.next_revision();
        meta::of(&mut value).insert("resourceVersion".to_owned(), json!(revision.to_string()));
        let last = Arc::new(Stored {
            revision,
            facts: old.facts.clone(),
            body: Body::write(&value, None),
            written_as: Arc::clone(&old.written_as),
            untidy: false,
        });
        self.unindex(&resource.store, key, Some(&old));
        self.storage.remove(&resource.store, key, Arc::clone(&last));
        for (store, key) in self
            .dependents
            .get(&last.facts.uid)
            .cloned()
            .unwrap_or_default()
        {
            self.chore(Chore::Collect { store, key });
        }
        for owner in &last.facts.owners {
            if let Some((store, key)) = self.find_owner(&last.facts.namespace, owner) {
                self.chore(Chore::Collect { store, key });
            }
        }
        if !last.facts.namespace.is_empty() {
            let namespace = self.storage.object("namespaces", &last.facts.namespace);
            if namespace.is_some_and(|namespace| namespace.facts.deleting) {
                self.chore(Chore::Namespace(last.facts.namespace.clone()));
            }
        }
        let definition = self.storage.object(
            &builtin::resource(Builtin::Definition).store,
            &resource.store,
        );
        if resource.custom().is_some() && definition.is_some_and(|found| found.facts.deleting) {
            self.chore(Chore::Definition(resource.store.clone()));
        }
        if resource.builtin() == Some(Builtin::Definition) {
            self.chore(Chore::Definition(key.into()));
        }
        Some(last)
    }

    fn unindex(&mut self, store: &str, key: &str, old: Option<&Stored>) {
        let Some(old) = old else { return };
        for owner in &old.facts.owners {
            if let Some(entry) = self.dependents.get_mut(&owner.uid) {
                entry.remove(&(Box::from(store), Box::from(key)));
                if entry.is_empty() {
                    self.dependents.remove(&owner.uid);
                }
            }
        }
    }

    /// Notes a chore.
    pub(crate) fn chore(&mut self, chore: Chore) {
        if self.noted.insert(chore.clone()) {
            self.chores.push_back(chore);
        }
    }

    /// The chore that was noted first.
    pub(crate) fn next_chore(&mut self) -> Option<Chore> {
        let chore = self.chores.pop_front()?;
        self.noted.remove(&chore);
        Some(chore)
    }

    /// Where the owner that a reference names is, whatever its uid.
    pub(crate) fn find_owner(&self, namespace: &str, owner: &meta::Owner) -> Option<Place> {
        let (group, version) = crate::resource::split_version(&owner.api_version);
        let resource = self.resource_of_kind(group, version, &owner.kind)?;
        let key = resource.key(namespace, &owner.name);
        Some((resource.store.clone(), key.into()))
    }
}
