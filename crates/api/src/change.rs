//! Writes: our fields only, only if they differ, and only to the version that was read.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use kube::Resource;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::status;

/// What we want an object to say, field by field.
///
/// # Expected flow
/// 1. [`Change::new`] on the object as it was read.
/// 2. Say what it should say; what it says already counts for nothing.
/// 3. Send [`object_patch`](Change::object_patch) to the object, or
///    [`status_patch`](Change::status_patch) to its status, as a JSON merge patch; nothing if there
///    is none.
///
/// # Guarantees
/// - A patch holds the fields that were named here and differ, and nothing else.
/// - It holds the version that was read: if somebody wrote in between, it is a conflict.
///
/// # Caveats
/// The status has its own patch, for it has its own path. Sending one patch makes the version of the
/// other stale: read again, or take the version from the answer with [`Change::new`].
#[derive(Clone)]
pub struct Change<K> {
    version: String,
    current: Value,
    wanted: BTreeMap<Vec<String>, Value>,
    of: PhantomData<fn() -> K>,
}

/// The object has no `resourceVersion`: it was not read from an API server, and cannot be changed
/// there safely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the object has no resourceVersion: it was not read from an API server")]
pub struct Unversioned;

const FINALIZERS: [&str; 2] = ["metadata", "finalizers"];

impl<K: Resource + Serialize> Change<K> {
    /// No change yet, to an object as it was read.
    ///
    /// # Errors
    /// [`Unversioned`].
    pub fn new(object: &K) -> Result<Self, Unversioned> {
        let version = object.meta().resource_version.clone();
        Ok(Self {
            version: version.filter(|v| !v.is_empty()).ok_or(Unversioned)?,
            current: serde_json::to_value(object)
                .expect("a view is made of texts, numbers and maps with text keys"),
            wanted: BTreeMap::new(),
            of: PhantomData,
        })
    }

    /// Gives an annotation this value.
    pub fn annotate(&mut self, key: &str, value: &str) {
        self.want(&["metadata", "annotations", key], json!(value));
    }

    /// Takes an annotation away.
    pub fn remove_annotation(&mut self, key: &str) {
        self.want(&["metadata", "annotations", key], Value::Null);
    }

    /// Adds a finalizer behind the others.
    pub fn add_finalizer(&mut self, finalizer: &str) {
        let mut list = self.finalizers();
        if list.iter().all(|name| name != finalizer) {
            list.push(json!(finalizer));
        }
        self.want(&FINALIZERS, list.into());
    }

    /// Takes a finalizer away; the others keep their order.
    pub fn remove_finalizer(&mut self, finalizer: &str) {
        let mut list = self.finalizers();
        list.retain(|name| name != finalizer);
        self.want(&FINALIZERS, list.into());
    }

    /// The patch for the object itself; `None` if it says everything already.
    pub fn object_patch(&self) -> Option<Value> {
        self.patch(|path| path[0] != "status")
    }

    /// The patch for its status; `None` if it says everything already.
    pub fn status_patch(&self) -> Option<Value> {
        self.patch(|path| path[0] == "status")
    }

    /// Wants a value, which is no map, in a field; `null` takes the field away.
    pub fn want(&mut self, path: &[&str], value: Value) {
        let path = path.iter().map(|&name| name.to_owned()).collect();
        self.wanted.insert(path, value);
    }

    /// Forgets every wish for this field and those in it.
    pub(crate) fn want_nothing_below(&mut self, path: &[&str]) {
        self.wanted
            .retain(|wanted, _| !wanted.iter().take(path.len()).eq(path));
    }

    /// What the object says now, `null` if nothing.
    pub(crate) fn current(&self, path: &[&str]) -> &Value {
        status::at(&self.current, path)
    }

    fn finalizers(&self) -> Vec<Value> {
        self.list(&FINALIZERS)
    }

    /// The number that a field holds now.
    pub fn number(&self, path: &[&str]) -> Option<i64> {
        self.current(path).as_i64()
    }

    /// A list as it is to be; as it is, if nothing else was said of it.
    pub(crate) fn list(&self, path: &[&str]) -> Vec<Value> {
        let names: Vec<String> = path.iter().map(|&name| name.to_owned()).collect();
        let wanted = self.wanted.get(&names);
        let list = wanted.unwrap_or_else(|| self.current(path));
        list.as_array().cloned().unwrap_or_default()
    }

    fn patch(&self, part: impl Fn(&[String]) -> bool) -> Option<Value> {
        let mut patch = json!({});
        for (path, value) in &self.wanted {
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            let current = self.current(&names);
            // An object without finalizers has no list of them.
            let same = current == value || (current.is_null() && value == &json!([]));
            if part(path) && !same {
                insert(&mut patch, &names, value.clone());
            }
        }
        if patch == json!({}) {
            return None;
        }
        insert(
            &mut patch,
            &["metadata", "resourceVersion"],
            json!(self.version),
        );
        Some(patch)
    }
}

/// Puts a value below an object, with the maps on the way.
fn insert(root: &mut Value, path: &[&str], value: Value) {
    let mut place = root;
    for &name in path {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[name];
    }
    *place = value;
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn change(metadata: Value) -> Change<ConfigMap> {
        let mut object = json!({"metadata": metadata});
        object["metadata"]["resourceVersion"] = json!("7");
        Change::new(&serde_json::from_value(object).unwrap()).unwrap()
    }

    #[test]
    fn what_is_said_already_is_not_written() {
        let mut change = change(json!({
            "annotations": {"freehold.dev/claim-uuid": "u"},
            "finalizers": ["theirs", "ours"],
        }));
        change.annotate("freehold.dev/claim-uuid", "u");
        change.remove_annotation("absent");
        change.add_finalizer("ours");
        change.remove_finalizer("absent");
        assert_eq!(change.object_patch(), None);
        assert_eq!(change.status_patch(), None);
    }

    #[test]
    fn changing_ones_mind_leaves_nothing() {
        let mut change = change(json!({}));
        change.add_finalizer("ours");
        change.remove_finalizer("ours");
        change.annotate("a", "1");
        change.remove_annotation("a");
        assert_eq!(change.object_patch(), None);
    }

    #[test]
    fn a_patch_holds_our_fields_and_the_version() {
        let mut change = change(json!({
            "annotations": {"theirs": "x", "old": "y"},
            "labels": {"theirs": "z"},
            "finalizers": ["theirs"],
        }));
        change.annotate("ours", "1");
        change.remove_annotation("old");
        change.add_finalizer("ours");
        change.add_finalizer("ours too");
        assert_eq!(
            change.object_patch(),
            Some(json!({"metadata": {
                "resourceVersion": "7",
                "annotations": {"ours": "1", "old": null},
                "finalizers": ["theirs", "ours", "ours too"],
            }}))
        );
    }

    #[test]
    fn an_object_that_was_not_read_cannot_be_changed() {
        assert_eq!(Change::new(&ConfigMap::default()).err(), Some(Unversioned));
    }
}
