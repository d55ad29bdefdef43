//! What other controllers do in a real cluster, done here before the request that caused it is
//! answered: garbage collection, the end of namespaces, the life of definitions.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::{self, Call, DeleteOptions, FieldValidation, Propagation};
use crate::builtin::{self, Builtin};
use crate::crd;
use crate::fields::{API_SERVER, CONTROLLERS};
use crate::meta::{FOREGROUND, ORPHAN, Owner};
use crate::resource::{Resource, Sub};
use crate::state::{Chore, Place, State};
use crate::storage::Stored;
use crate::typed::seconds;

/// Does all chores, and those that they cause, in the order in which they arose.
pub(crate) fn run(state: &mut State) {
    while let Some(chore) = state.next_chore() {
        match chore {
            Chore::Collect { store, key } => collect(state, &store, &key),
            Chore::Finish { store, key } => finish(state, &store, &key),
            Chore::Namespace(name) => end_namespace(state, &name),
            Chore::Definition(name) => define(state, &name),
        }
    }
}

/// Deletes an object as a controller does.
fn delete(
    state: &mut State,
    resource: &Arc<Resource>,
    stored: &Stored,
    propagation: Option<Propagation>,
) {
    let mut call = Call {
        resource,
        sub: Sub::None,
        namespace: &stored.facts.namespace,
        name: &stored.facts.name,
        dry_run: false,
        validation: FieldValidation::Ignore,
        manager: CONTROLLERS,
        forced: None,
        warnings: Vec::new(),
        user: None,
        access: None,
        asker: None,
    };
    let options = DeleteOptions {
        uid: Some(stored.facts.uid.to_string()),
        propagation,
        ..DeleteOptions::default()
    };
    // It can only be gone already, or be a namespace that stays for ever.
    let _ = api::delete(state, &mut call, &options);
}

/// How an owner reference stands.
enum Standing {
    /// The owner lives.
    Solid,
    /// Nobody can tell: its kind is not known, or cannot own this object.
    Unknown,
    /// The owner is gone.
    Dangling,
    /// The owner waits for its dependents to go.
    Waiting,
}

fn standing(state: &State, resource: &Resource, stored: &Stored, owner: &Owner) -> Standing {
    let (group, version) = crate::resource::split_version(&owner.api_version);
    let Some(owner_resource) = state.resource_of_kind(group, version, &owner.kind) else {
        return Standing::Unknown;
    };
    if owner_resource.namespaced && !resource.namespaced {
        return Standing::Unknown;
    }
    let key = owner_resource.key(&stored.facts.namespace, &owner.name);
    match state.storage.object(&owner_resource.store, &key) {
        Some(found) if found.facts.uid == owner.uid => {
            let facts = &found.facts;
            if facts.waits() {
                Standing::Waiting
            } else {
                Standing::Solid
            }
        }
        _ => Standing::Dangling,
    }
}

/// The garbage collector's look at one object.
fn collect(state: &mut State, store: &str, key: &str) {
    let Some(stored) = state.storage.object(store, key).cloned() else {
        return;
    };
    let Some(resource) = state.resource_of_store(store) else {
        return;
    };
    if stored.facts.deleting {
        if stored.facts.has_finalizer(ORPHAN) {
            orphan_dependents(state, &resource, &stored, key);
        } else if stored.facts.has_finalizer(FOREGROUND) {
            delete_dependents_first(state, &stored, store, key);
        }
        return;
    }
    if stored.facts.owners.is_empty() {
        return;
    }
    let mut solid = 0;
    let (mut gone, mut waiting): (Vec<Box<str>>, Vec<Box<str>>) = (Vec::new(), Vec::new());
    for owner in &stored.facts.owners {
        match standing(state, &resource, &stored, owner) {
            // Then nothing is done.
            Standing::Unknown => return,
            Standing::Solid => solid += 1,
            Standing::Dangling => gone.push(owner.uid.clone()),
            Standing::Waiting => waiting.push(owner.uid.clone()),
        }
    }
    if solid > 0 {
        gone.extend(waiting);
        if !gone.is_empty() {
            drop_owners(state, &resource, &stored, key, &gone);
        }
        return;
    }
    let has_dependents = state.dependents.contains_key(&stored.facts.uid);
    let propagation = if !waiting.is_empty() && has_dependents {
        unblock_circle(state, &resource, &stored, key);
        Some(Propagation::Foreground)
    } else if stored.facts.has_finalizer(ORPHAN) {
        Some(Propagation::Orphan)
    } else if stored.facts.has_finalizer(FOREGROUND) {
        Some(Propagation::Foreground)
    } else {
        Some(Propagation::Background)
    };
    delete(state, &resource, &stored, propagation);
}

fn drop_owners(
    state: &mut State,
    resource: &Arc<Resource>,
    stored: &Stored,
    key: &str,
    uids: &[Box<str>],
) {
    let old = state.view(resource, stored);
    let mut value = old.clone();
    if let Some(Value::Array(owners)) = value.pointer_mut("/metadata/ownerReferences") {
        owners.retain(|owner| !uids.iter().any(|uid| owner["uid"] == **uid));
        if owners.is_empty()
            && let Some(meta) = value["metadata"].as_object_mut()
        {
            meta.remove("ownerReferences");
        }
    }
    let sub = Sub::None;
    state.put_by((CONTROLLERS, sub), resource, key, &old, value);
}

fn orphan_dependents(state: &mut State, resource: &Arc<Resource>, stored: &Stored, key: &str) {
    let dependents = state
        .dependents
        .get(&stored.facts.uid)
        .cloned()
        .unwrap_or_default();
    for (store, dependent) in dependents {
        let found = state.storage.object(&store, &dependent).cloned();
        let (Some(found), Some(of)) = (found, state.resource_of_store(&store)) else {
            continue;
        };
        drop_owners(
            state,
            &of,
            &found,
            &dependent,
            std::slice::from_ref(&stored.facts.uid),
        );
    }
    api::remove_finalizer(state, resource, key, ORPHAN);
}

/// The dependents of an object.
fn dependents(state: &State, stored: &Stored) -> Vec<(Place, Arc<Stored>)> {
    let places = state
        .dependents
        .get(&stored.facts.uid)
        .into_iter()
        .flatten();
    places
        .filter_map(|place| {
            let found = state.storage.object(&place.0, &place.1)?;
            Some((place.clone(), Arc::clone(found)))
        })
        .collect()
}

/// Whether an owner waits for this dependent.
fn blocks(dependent: &Stored, owner: &Stored) -> bool {
    let mut owners = dependent.facts.owners.iter();
    owners.any(|reference| reference.uid == owner.facts.uid && reference.blocks)
}

/// Sees to the dependents that an object waits for, then to the object itself.
fn delete_dependents_first(state: &mut State, stored: &Stored, store: &str, key: &str) {
    for ((store, key), dependent) in dependents(state, stored) {
        if !dependent.facts.deleting && blocks(&dependent, stored) {
            state.chore(Chore::Collect { store, key });
        }
    }
    state.chore(Chore::Finish {
        store: store.into(),
        key: key.into(),
    });
}

/// Lets an object go that waits for its dependents, if none of them blocks it.
fn finish(state: &mut State, store: &str, key: &str) {
    let Some(stored) = state.storage.object(store, key).cloned() else {
        return;
    };
    let Some(resource) = state.resource_of_store(store) else {
        return;
    };
    if !stored.facts.waits() {
        return;
    }
    let blocked = dependents(state, &stored)
        .iter()
        .any(|(_, dependent)| blocks(dependent, &stored));
    if !blocked {
        api::remove_finalizer(state, &resource, key, FOREGROUND);
    }
}

/// Two objects that own each other would wait for each other: the one that is deleted second stops
/// blocking its owners.
fn unblock_circle(state: &mut State, resource: &Arc<Resource>, stored: &Stored, key: &str) {
    let dependents = dependents(state, stored);
    if !dependents
        .iter()
        .any(|(_, dependent)| dependent.facts.waits())
    {
        return;
    }
    let old = state.view(resource, stored);
    let mut value = old.clone();
    let owners = value.pointer_mut("/metadata/ownerReferences");
    for owner in owners.and_then(Value::as_array_mut).into_iter().flatten() {
        // The patch that custom resources get says it of every owner.
        if owner["blockOwnerDeletion"] == true || resource.custom().is_some() {
            owner["blockOwnerDeletion"] = json!(false);
        }
    }
    let sub = Sub::None;
    state.put_by((CONTROLLERS, sub), resource, key, &old, value);
}

/// Empties a namespace that ends, and lets it go when it is empty.
fn end_namespace(state: &mut State, name: &str) {
    let resource = Arc::clone(builtin::resource(Builtin::Namespace));
    let is_ending = |state: &State| {
        let found = state.storage.object("namespaces", name).cloned();
        found.filter(|namespace| namespace.facts.deleting)
    };
    if is_ending(state).is_none() {
        return;
    }
    let prefix = format!("{name}/");
    for (of, stored) in content(state, &prefix) {
        if !stored.facts.deleting {
            delete(state, &of, &stored, Some(Propagation::Background));
        }
    }
    let Some(namespace) = is_ending(state) else {
        return;
    };
    let left = content(state, &prefix);
    let mut value = namespace.value();
    let before = value.clone();
    let now = seconds(state.now());
    for (kind, reason, message, status) in remaining_conditions(&left) {
        set_namespace_condition(&mut value, kind, status, reason, &message, &now);
    }
    if value != before {
        let by = (CONTROLLERS, Sub::Status);
        let stored = state.put_by(by, &resource, name, &before, value);
        value = stored.value();
    }
    if !left.is_empty() {
        return;
    }
    let others = |finalizer: &&Value| **finalizer != "kubernetes";
    let finalizers = value["spec"]["finalizers"].as_array().into_iter().flatten();
    let kept: Vec<Value> = finalizers.filter(others).cloned().collect();
    if kept.is_empty() && namespace.facts.finalizers.is_empty() {
        state.remove(&resource, name);
        return;
    }
    let spec = if kept.is_empty() {
        json!({})
    } else {
        json!({"finalizers": kept})
    };
    if value["spec"] != spec {
        let before = value.clone();
        value["spec"] = spec;
        let by = (CONTROLLERS, Sub::Finalize);
        state.put_by(by, &resource, name, &before, value);
    }
}

fn content(state: &State, prefix: &str) -> Vec<(Arc<Resource>, Arc<Stored>)> {
    let mut found = Vec::new();
    for (store, collection) in state.storage.stores() {
        let Some(resource) = state.resource_of_store(store).filter(|r| r.namespaced) else {
            continue;
        };
        let range = collection.objects.range::<str, _>((
            std::ops::Bound::Included(prefix),
            std::ops::Bound::Unbounded,
        ));
        for (_, object) in range.take_while(|(key, _)| key.starts_with(prefix)) {
            found.push((Arc::clone(&resource), Arc::clone(object)));
        }
    }
    found
}

type NamespaceCondition = (&'static str, &'static str, String, &'static str);

fn remaining_conditions(left: &[(Arc<Resource>, Arc<Stored>)]) -> Vec<NamespaceCondition> {
    let mut resources: BTreeMap<String, usize> = BTreeMap::new();
    let mut finalizers: BTreeMap<String, usize> = BTreeMap::new();
    for (resource, stored) in left {
        *resources
            .entry(format!("{}.{}", resource.plural, resource.group))
            .or_default() += 1;
        for finalizer in &stored.facts.finalizers {
            *finalizers.entry(finalizer.to_string()).or_default() += 1;
        }
    }
    let join = |counts: &BTreeMap<String, usize>, verb: &str| {
        let parts: Vec<String> = counts
            .iter()
            .map(|(name, n)| format!("{name} {verb} {n} resource instances"))
            .collect();
        parts.join(", ")
    };
    let remain = if resources.is_empty() {
        (
            "ContentRemoved",
            "All content successfully removed".to_owned(),
            "False",
        )
    } else {
        let list = join(&resources, "has");
        (
            "SomeResourcesRemain",
            format!("Some resources are remaining: {list}"),
            "True",
        )
    };
    let held = if finalizers.is_empty() {
        (
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished".to_owned(),
            "False",
        )
    } else {
        let list = join(&finalizers, "in");
        let message = format!("Some content in the namespace has finalizers remaining: {list}");
        ("SomeFinalizersRemain", message, "True")
    };
    vec![
        (
            "NamespaceDeletionDiscoveryFailure",
            "ResourcesDiscovered",
            "All resources successfully discovered".to_owned(),
            "False",
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed".to_owned(),
            "False",
        ),
        (
            "NamespaceDeletionContentFailure",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization".to_owned(),
            "False",
        ),
        ("NamespaceContentRemaining", remain.0, remain.1, remain.2),
        ("NamespaceFinalizersRemaining", held.0, held.1, held.2),
    ]
}

fn set_namespace_condition(
    value: &mut Value,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: &str,
) {
    let conditions = &mut value["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(list) = conditions.as_array_mut() else {
        return;
    };
    let mut condition = json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": now,
    });
    match list.iter_mut().find(|c| c["type"] == kind) {
        Some(before) => {
            if before["status"] == condition["status"] {
                condition["lastTransitionTime"] = before["lastTransitionTime"].clone();
            }
            *before = condition;
        }
        None => list.push(condition),
    }
}

const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Brings what is served into line with a definition.
fn define(state: &mut State, name: &str) {
    let resource = Arc::clone(builtin::resource(Builtin::Definition));
    let Some(stored) = state.storage.object(DEFINITIONS, name).cloned() else {
        if state.definitions.remove(name).is_some() {
            state.storage.end_watches(name);
            recheck_others(state, name);
        }
        return;
    };
    if stored.facts.deleting {
        end_definition(state, &resource, name, &stored);
        return;
    }
    let now = state.now();
    let mut value = stored.value();
    if value["spec"]["names"] != value["status"]["acceptedNames"] {
        let before = value.clone();
        let taken = taken_names(state, &value, name);
        crd::accept_names(&mut value, &taken, now);
        if value != before {
            let by = (API_SERVER, Sub::Status);
            let stored = state.put_by(by, &resource, name, &before, value);
            value = stored.value();
        }
    }
    let accepted = crd::condition_is_true(&value, "NamesAccepted");
    if accepted && !crd::condition_is_true(&value, "Established") {
        let before = value.clone();
        crd::establish(&mut value, now);
        let by = (API_SERVER, Sub::Status);
        let stored = state.put_by(by, &resource, name, &before, value);
        value = stored.value();
    }
    if accepted || crd::condition_is_true(&value, "Established") {
        let definition = crd::compile(&value);
        let known = state
            .definitions
            .insert(name.into(), Arc::clone(&definition));
        match known {
            Some(known) if !Arc::ptr_eq(&known, &definition) => state.storage.end_watches(name),
            None => {
                state.storage.collection(name);
            }
            Some(_) => {}
        }
    }
}

fn taken_names(state: &State, value: &Value, name: &str) -> crd::Taken {
    let mut taken = crd::Taken::default();
    let collection = state.storage.get(DEFINITIONS);
    let group = value["spec"]["group"].as_str().unwrap_or_default();
    for (key, other) in collection.into_iter().flat_map(|c| c.objects.iter()) {
        // A definition is named after its group; to read those of others would take its time.
        let same_group = key.split_once('.').is_some_and(|(_, of)| of == group);
        if same_group && **key != *name {
            taken.add(&other.value());
        }
    }
    taken
}

/// A definition is gone: names that others of its group wanted may be free now.
fn recheck_others(state: &mut State, gone: &str) {
    let group = gone
        .split_once('.')
        .map_or("", |(_, group)| group)
        .to_owned();
    let keys: Vec<Box<str>> = state
        .storage
        .get(DEFINITIONS)
        .into_iter()
        .flat_map(|collection| collection.objects.keys())
        .filter(|key| key.split_once('.').is_some_and(|(_, of)| of == group))
        .cloned()
        .collect();
    for key in keys {
        state.chore(Chore::Definition(key));
    }
}

fn end_definition(state: &mut State, resource: &Arc<Resource>, name: &str, stored: &Stored) {
    if !stored.facts.has_finalizer(crd::CLEANUP) {
        return;
    }
    if let Some(of) = state.resource_of_store(name) {
        let objects: Vec<Arc<Stored>> = state
            .storage
            .get(name)
            .into_iter()
            .flat_map(|collection| collection.objects.values().cloned())
            .collect();
        for object in objects {
            if !object.facts.deleting {
                delete(state, &of, &object, None);
            }
        }
    }
    let Some(current) = state.storage.object(DEFINITIONS, name).cloned() else {
        return;
    };
    let mut value = current.value();
    let before = value.clone();
    let now = state.now();
    let empty = state
        .storage
        .get(name)
        .is_none_or(|collection| collection.objects.is_empty());
    if empty {
        let (reason, message) = ("InstanceDeletionCompleted", "removed all instances");
        crd::set_condition(&mut value, "Terminating", "False", reason, message, now);
        let finalizers: Vec<String> = crate::meta::finalizers(&value)
            .into_iter()
            .filter(|finalizer| finalizer != crd::CLEANUP)
            .collect();
        crate::meta::set_finalizers(&mut value, &finalizers);
        if finalizers.is_empty() {
            state.remove(resource, name);
            return;
        }
    } else {
        let (reason, message) = (
            "InstanceDeletionInProgress",
            "CustomResource deletion is in progress",
        );
        crd::set_condition(&mut value, "Terminating", "True", reason, message, now);
    }
    if value != before {
        state.put_by((API_SERVER, Sub::Status), resource, name, &before, value);
    }
}
