//! Managers of the number of replicas, through the `scale` subresource.
//!
//! There they manage a field of a `Scale`; in the object it is the field of a path that each version
//! names for itself.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::applying::{self, Applied};
use super::element::Element;
use super::entries::{Entry, Managed};
use super::manager;
use super::scope::Scope;
use super::set::Set;
use crate::resource::{Definition, Sub};
use crate::status::ApiResult;
use crate::typed::Struct;

const VERSION: &str = "autoscaling/v1";

/// The managers of an object as its `Scale` shows them, and back.
pub(crate) struct ScaleFields<'a> {
    scope: Scope<'a>,
    /// The `apiVersion` in which the object is changed.
    version: String,
    /// Where each version has its replicas; nowhere, if it has no `scale`.
    paths: BTreeMap<String, Option<Vec<Element>>>,
    managed: Managed,
}

impl<'a> ScaleFields<'a> {
    /// Those of an object that is changed in this version; `part` is the shape of a `Scale`.
    pub(crate) fn new(
        definition: Option<&Definition>,
        version: String,
        part: &'a Struct,
        object: &Value,
    ) -> Self {
        let versions = definition.into_iter().flat_map(|d| d.versions.iter());
        let paths = versions.map(|resource| {
            let scale = resource.custom().and_then(|custom| custom.scale.as_ref());
            let path = scale.map(|scale| {
                let path = scale.spec_replicas.trim_start_matches('.');
                path.split('.').map(Element::field).collect()
            });
            (resource.api_version(), path)
        });
        Self {
            scope: Scope::of_part(part, VERSION, Sub::Scale),
            version,
            paths: paths.collect(),
            managed: Managed::of(object).unwrap_or_default(),
        }
    }

    fn path(&self, version: &str) -> Option<&Vec<Element>> {
        self.paths.get(version)?.as_ref()
    }

    /// Lists on a `Scale` those who manage its replicas.
    pub(crate) fn show(&self, scale: &mut Value) {
        let mut shown = Managed::default();
        for (identity, entry) in &self.managed.entries {
            let path = self.path(&entry.version);
            if path.is_some_and(|path| entry.set.has(path)) {
                let entry = Entry {
                    version: VERSION.to_owned(),
                    set: replicas(),
                    time: entry.time.clone(),
                };
                shown.entries.insert(identity.clone(), entry);
            }
        }
        shown.write_to(scale);
    }

    /// Lists on the object who manages what after its `Scale` has changed. Who came through the scale
    /// is told by that version, so one that updates does not meet itself: the real server lists it
    /// twice.
    pub(crate) fn write_to(self, scale: &Value, object: &mut Value) {
        let mut scaled = Managed::of(scale).unwrap_or_default().entries;
        let mut all = Managed::default();
        for (identity, entry) in &self.managed.entries {
            let Some(path) = self.paths.get(&entry.version) else {
                continue;
            };
            let mut entry = entry.clone();
            if let Some(path) = path.as_ref().filter(|path| entry.set.has(path))
                && scaled.remove(identity).is_none()
            {
                let mut taken = Set::default();
                taken.insert(path.iter().cloned());
                entry.set = entry.set.difference(&taken);
            }
            if !entry.set.is_empty() {
                all.entries.insert(identity.clone(), entry);
            }
        }
        let place = [Element::field("spec"), Element::field("replicas")];
        for (identity, entry) in scaled {
            if let Some(path) = self.path(&self.version)
                && entry.set.has(&place)
            {
                let known = self.managed.entries.get(&identity);
                let time = known.and_then(|entry| entry.time.clone());
                let mut set = Set::default();
                set.insert(path.iter().cloned());
                let version = self.version.clone();
                all.entries.insert(identity, Entry { version, set, time });
            }
        }
        all.write_to(object);
    }
}

fn replicas() -> Set {
    Set::of_names(&[&["spec", "replicas"]])
}

/// Tracks a change of a `Scale` that lists its managers.
pub(crate) fn track(
    fields: &ScaleFields<'_>,
    live: &Value,
    new: &mut Value,
    manager: &str,
    now: Timestamp,
) -> ApiResult<()> {
    manager::track(&fields.scope, Some(live), new, manager, now)
}

/// What a `Scale` becomes if somebody applies a configuration: the real server finds out who would
/// conflict, and then cannot make a `Scale` of what it merged, unless that changes nothing.
pub(crate) fn apply(
    fields: &ScaleFields<'_>,
    live: &Value,
    applied: &Applied<'_>,
    now: Timestamp,
) -> ApiResult<Value> {
    applying::apply(&fields.scope, Some(live), applied, now, |_| {
        fields.scope.unmade().map_or(Ok(()), Err)
    })
}
