//! What is served, as OpenAPI documents: version 3 by group and version, version 2 in one piece.
//!
//! They are made when they are asked for: from the tables of fields that the built-in kinds are
//! decoded by, and from the schemas of definitions. They hold what clients look at (the shape of
//! kinds, the paths, their methods, parameters and media types) and few words.

mod custom;
mod kinds;
mod paths;
pub(crate) mod protobuf;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::builtin;
use crate::crd;
use crate::resource::{Resource, Rules};
use crate::state::State;

/// Which version of OpenAPI is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    V2,
    V3,
}

impl Dialect {
    /// A reference to a model.
    fn reference(self, model: &str) -> Value {
        let place = match self {
            Self::V2 => "#/definitions/",
            Self::V3 => "#/components/schemas/",
        };
        json!({"$ref": format!("{place}{model}")})
    }

    /// A field whose type is a model. In version 3 nothing may stand beside a reference.
    fn field(self, model: &str, default: bool) -> Value {
        let reference = self.reference(model);
        match self {
            Self::V2 => reference,
            Self::V3 if default => json!({"allOf": [reference], "default": {}}),
            Self::V3 => json!({"allOf": [reference]}),
        }
    }
}

/// Everything that is served, with the definition that says so.
fn served(state: &State) -> Vec<(Arc<Resource>, Option<Value>)> {
    let builtin = builtin::RESOURCES.iter().map(|r| (Arc::clone(r), None));
    let mut all: Vec<_> = builtin.collect();
    for definition in state.definitions.values() {
        let spec = crate::json::parse(&definition.source).map(|document| document.value);
        let spec = spec.unwrap_or_default();
        let versions = definition.versions.iter();
        for resource in versions.filter(|r| r.custom().is_some_and(|c| c.served)) {
            all.push((Arc::clone(resource), Some(spec.clone())));
        }
    }
    all
}

/// Where the documents of version 3 are. A hash in an address changes with what is there.
pub(crate) fn index(state: &State) -> Value {
    let mut sources: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for resource in builtin::RESOURCES.iter() {
        let text = format!("{}{}", env!("CARGO_PKG_VERSION"), resource.plural);
        let source = sources.entry(place(resource)).or_default();
        source.extend_from_slice(text.as_bytes());
    }
    for definition in state.definitions.values() {
        let versions = definition.versions.iter();
        for resource in versions.filter(|r| r.custom().is_some_and(|c| c.served)) {
            let source = sources.entry(place(resource)).or_default();
            source.extend_from_slice(&definition.source);
        }
    }
    let paths: Map<String, Value> = sources
        .into_iter()
        .map(|(place, source)| {
            let url = format!("/openapi/v3/{place}?hash={}", crd::hash(&source));
            (place, json!({"serverRelativeURL": url}))
        })
        .collect();
    json!({"paths": paths})
}

/// `api/v1`, `apis/GROUP/VERSION`.
fn place(resource: &Resource) -> String {
    match &*resource.group {
        "" => format!("api/{}", resource.version),
        group => format!("apis/{group}/{}", resource.version),
    }
}

/// The document of one group and version; none if there is no such.
pub(crate) fn of_group(state: &State, wanted: &str) -> Option<Value> {
    let mut document = Document::new(Dialect::V3);
    for (resource, spec) in served(state) {
        if place(&resource) == wanted {
            document.add(&resource, spec.as_ref());
        }
    }
    if document.paths.is_empty() {
        return None;
    }
    Some(json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": VERSION},
        "paths": document.paths,
        "components": {"schemas": document.models},
    }))
}

const VERSION: &str = "v1.36.3";

/// Everything in the old version.
pub(crate) fn whole(state: &State) -> Value {
    let mut document = Document::new(Dialect::V2);
    for (resource, spec) in served(state) {
        document.add(&resource, spec.as_ref());
    }
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": VERSION},
        "paths": document.paths,
        "definitions": document.models,
    })
}

/// A document in the making.
struct Document {
    dialect: Dialect,
    paths: Map<String, Value>,
    models: Map<String, Value>,
}

impl Document {
    fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            paths: Map::new(),
            models: Map::new(),
        }
    }

    fn add(&mut self, resource: &Resource, spec: Option<&Value>) {
        let model = model_name(resource, &resource.kind);
        match (&resource.rules, spec) {
            (Rules::Builtin(builtin), _) => {
                kinds::add(self.dialect, *builtin, resource, &model, &mut self.models);
            }
            (Rules::Custom(_), Some(spec)) => {
                kinds::add_meta(self.dialect, &mut self.models);
                let schema = custom::schema(self.dialect, resource, spec);
                self.models.insert(model.clone(), schema);
            }
            (Rules::Custom(_), None) => {}
        }
        let list = model_name(resource, &resource.list_kind);
        let schema = kinds::list(self.dialect, resource, &model);
        self.models.insert(list.clone(), schema);
        paths::add(self.dialect, resource, &model, &list, &mut self.paths);
    }
}

/// What the model of a kind is called.
fn model_name(resource: &Resource, kind: &str) -> String {
    if resource.builtin().is_some() {
        return format!("{}.{kind}", kinds::package(&resource.group));
    }
    let mut parts: Vec<&str> = resource.group.split('.').collect();
    parts.reverse();
    format!("{}.{}.{kind}", parts.join("."), resource.version)
}

/// What a model says of the kind that it is.
fn own_kind(resource: &Resource, kind: &str) -> Value {
    json!({"group": &*resource.group, "version": &*resource.version, "kind": kind})
}
