//! What is asked for besides the object: owner objects, Secrets, other objects. Whoever asked for
//! something is looked at again when it changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kube::api::{Api, ListParams, PartialObjectMeta};
use kube::core::ApiResource;
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{Controller, WatchStreamExt as _, watcher};
use kube::{Client, Resource, ResourceExt as _};

use super::guest::{Host, Seen};
use super::host::Due;
use super::system::{Object, Scope, Sources, System, Trouble, api_of};

/// An object's namespace, if it has one, and its name.
pub(crate) type Key = (Option<String>, String);

/// Something that was asked for: one object, or with no name all of its kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reference {
    kind: String,
    object: Option<Key>,
}

/// Asks the API server for what one object refers to.
pub struct Ask<'a> {
    client: &'a Client,
    asker: &'a Key,
    references: &'a References,
    hosts: Mutex<Vec<Seen>>,
}

impl<'a> Ask<'a> {
    /// Asks for one object.
    pub(crate) fn new(client: &'a Client, asker: &'a Key, references: &'a References) -> Self {
        Self {
            client,
            asker,
            references,
            hosts: Mutex::default(),
        }
    }

    /// The same as [`get`](Self::get) for what the object needs until it has ended: the network that
    /// it is in, the Secret with its key. Its deletion waits for the object, and names it.
    ///
    /// # Errors
    /// The API server could not be asked.
    pub async fn host<K: Object>(
        &self,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<K>, Trouble> {
        let object: Option<K> = self.get(namespace, name).await?;
        if let Some(object) = &object {
            let host = Host {
                kind: kind_of::<K>(),
                namespace: object.namespace(),
                name: object.name_any(),
            };
            debug_assert!(
                self.references.hosts.contains_key(&host.kind),
                "{host} is a host: Sources::watches must say so"
            );
            let meta = object.meta().clone();
            lock(&self.hosts).push(Seen { host, meta });
        }
        Ok(object)
    }

    /// What the object said that it needs until it has ended.
    pub(crate) fn hosts(self) -> Vec<Seen> {
        self.hosts
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The object of this name, if there is one.
    ///
    /// # Errors
    /// The API server could not be asked.
    pub async fn get<K: Object>(
        &self,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<K>, Trouble> {
        // Where there are no namespaces, a change tells of none.
        let namespace = namespace.filter(|_| <K::Scope as Scope<K>>::NAMESPACED);
        self.refer::<K>(Some((namespace.map(str::to_owned), name.to_owned())));
        let api = api_of::<K>(self.client, namespace);
        Ok(api.get_opt(name).await?)
    }

    /// The same for a kind that is not watched, because that would take more rights than to read one:
    /// a change shows when the object is looked at again for another reason.
    ///
    /// # Errors
    /// The API server could not be asked.
    pub async fn peek<K: Object>(
        &self,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<K>, Trouble> {
        Ok(api_of::<K>(self.client, namespace).get_opt(name).await?)
    }

    /// All objects of a kind.
    ///
    /// # Errors
    /// The API server could not be asked.
    pub async fn list<K: Object>(&self) -> Result<Vec<K>, Trouble> {
        self.refer::<K>(None);
        let api = api_of::<K>(self.client, None);
        Ok(api.list(&ListParams::default()).await?.items)
    }

    /// Takes note before the read: a change that the read does not show comes after the note.
    fn refer<K: Object>(&self, object: Option<Key>) {
        let kind = kind_of::<K>();
        let mut all = self.references.all();
        debug_assert!(
            self.references.watched.contains(&kind),
            "{kind} is asked for, and not watched: Sources::watches must name it"
        );
        let refers = all.entry(self.asker.clone()).or_default();
        refers.to.insert(Reference { kind, object });
    }
}

/// Who refers to what.
#[derive(Debug, Default)]
pub(crate) struct References {
    watched: BTreeSet<String>,
    /// The kinds that are hosts.
    pub(super) hosts: BTreeMap<String, ApiResource>,
    by_object: Mutex<BTreeMap<Key, Refers>>,
    /// Hosts of which somebody should look whether they have guests.
    pub(super) due: Due,
}

#[derive(Debug, Default)]
struct Refers {
    to: BTreeSet<Reference>,
    /// Whether some of that has changed since it was asked for.
    changed: bool,
}

impl References {
    /// Nobody refers to anything yet; what changes of these kinds is watched.
    pub(crate) fn of<S: Sources>() -> Self {
        let watches = S::watches(Watches::default());
        Self {
            watched: watches.kinds,
            hosts: watches.hosts,
            by_object: Mutex::default(),
            due: Due::of(S::CLAIM_KIND),
        }
    }

    /// An object is about to ask anew.
    pub(crate) fn begin(&self, object: &Key) {
        self.all().insert(object.clone(), Refers::default());
    }

    /// Whether something that the object asked for has changed since.
    pub(crate) fn has_changed(&self, object: &Key) -> bool {
        self.all().get(object).is_some_and(|refers| refers.changed)
    }

    pub(crate) fn forget(&self, object: &Key) {
        self.all().remove(object);
    }

    /// Something has changed: whoever asked for it.
    fn asked_for(&self, kind: &str, object: &Key) -> Vec<Key> {
        let is_it = |reference: &Reference| {
            reference.kind == kind && reference.object.as_ref().is_none_or(|it| it == object)
        };
        let mut all = self.all();
        let askers = all
            .iter_mut()
            .filter(|(_, refers)| refers.to.iter().any(is_it));
        askers
            .map(|(key, refers)| {
                refers.changed = true;
                key.clone()
            })
            .collect()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Key, Refers>> {
        lock(&self.by_object)
    }
}

/// Whoever panicked while it held the lock has changed a note at most.
pub(super) fn lock<T>(notes: &Mutex<T>) -> MutexGuard<'_, T> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kinds that a system asks for, and so watches.
pub struct Watches<S: System> {
    kinds: BTreeSet<String>,
    hosts: BTreeMap<String, ApiResource>,
    wires: Vec<Wire<S>>,
}

type Wire<S> = fn(
    Controller<<S as System>::Object>,
    &Client,
    Arc<References>,
) -> Controller<<S as System>::Object>;

impl<S: System> Default for Watches<S> {
    fn default() -> Self {
        Self {
            kinds: BTreeSet::new(),
            hosts: BTreeMap::new(),
            wires: Vec::new(),
        }
    }
}

impl<S: System> Watches<S> {
    /// This kind, too. Only the metadata of its objects is watched: Secrets stay where they are.
    #[must_use]
    pub fn on<K: Object>(mut self) -> Self {
        self.kinds.insert(kind_of::<K>());
        self.wires.push(wire::<S, K>);
        self
    }

    /// This kind, too, which objects may be guests of: see [`Ask::host`].
    #[must_use]
    pub fn on_hosts<K: Object>(mut self) -> Self {
        let resource = ApiResource::erase::<K>(&());
        self.hosts.insert(kind_of::<K>(), resource);
        self.on::<K>()
    }

    /// The controller, activated by all of them.
    pub(crate) fn wire(
        self,
        controller: Controller<S::Object>,
        client: &Client,
        references: &Arc<References>,
    ) -> Controller<S::Object> {
        let wires = self.wires.into_iter();
        wires.fold(controller, |controller, wire| {
            wire(controller, client, references.clone())
        })
    }
}

fn wire<S: System, K: Object>(
    controller: Controller<S::Object>,
    client: &Client,
    references: Arc<References>,
) -> Controller<S::Object> {
    let api: Api<PartialObjectMeta<K>> = Api::all(client.clone());
    let changes = watcher(api, watcher::Config::default())
        .default_backoff()
        .touched_objects();
    let kind = kind_of::<K>();
    controller.watches_stream(changes, move |changed| {
        let key = (changed.namespace(), changed.name_any());
        let askers = references.asked_for(&kind, &key);
        if references.hosts.contains_key(&kind) {
            let host = Host {
                kind: kind.clone(),
                namespace: key.0,
                name: key.1,
            };
            references
                .due
                .saw(host, &changed.metadata, !askers.is_empty());
        }
        let askers = askers.into_iter();
        askers.map(|(namespace, name)| {
            let object = ObjectRef::new(&name);
            match namespace {
                Some(namespace) => object.within(&namespace),
                None => object,
            }
        })
    })
}

/// A kind, as claims name it.
fn kind_of<K: Resource<DynamicType = ()>>() -> String {
    format!("{}.{}", K::kind(&()), K::group(&()))
}
