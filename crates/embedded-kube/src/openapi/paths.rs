//! Paths with their methods, parameters and media types.

use serde_json::{Map, Value, json};

use super::{Dialect, own_kind};
use crate::builtin::Builtin;
use crate::resource::{Resource, Sub};

const BODIES: [&str; 2] = ["application/json", "application/yaml"];

/// One method of one path.
struct Operation<'a> {
    method: &'a str,
    action: &'a str,
    parameters: &'a [(&'a str, &'a str)],
    /// The media types of its body, if it has one.
    body: &'a [&'a str],
    answer: &'a str,
}

const LIST: &[(&str, &str)] = &[
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];
const WRITE: &[(&str, &str)] = &[
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
];
const PATCH: &[(&str, &str)] = &[
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
    ("force", "boolean"),
];
const DELETE: &[(&str, &str)] = &[
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];

const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// Adds the paths of a resource.
pub(super) fn add(
    dialect: Dialect,
    resource: &Resource,
    model: &str,
    list: &str,
    paths: &mut Map<String, Value>,
) {
    let root = match &*resource.group {
        "" => format!("/api/{}", resource.version),
        group => format!("/apis/{group}/{}", resource.version),
    };
    let plural = &resource.plural;
    let everywhere = format!("{root}/{plural}");
    let collection = if resource.namespaced {
        format!("{root}/namespaces/{{namespace}}/{plural}")
    } else {
        everywhere.clone()
    };
    let object = format!("{collection}/{{name}}");
    let patches: Vec<&str> = PATCHES
        .into_iter()
        .filter(|media| resource.custom().is_none() || !media.contains("strategic"))
        .collect();
    let read = |method, action, parameters, answer| Operation {
        method,
        action,
        parameters,
        body: &[],
        answer,
    };
    let write = |method, action| Operation {
        method,
        action,
        parameters: WRITE,
        body: &BODIES,
        answer: model,
    };
    let patch = || Operation {
        method: "patch",
        action: "patch",
        parameters: PATCH,
        body: &patches,
        answer: model,
    };
    let mut put = |path: &str, operations: Vec<Operation<'_>>| {
        let entry = path_item(dialect, resource, path, model, &operations);
        paths.insert(path.to_owned(), entry);
    };
    if resource.namespaced {
        put(&everywhere, vec![read("get", "list", LIST, list)]);
    }
    let mut on_collection = vec![read("get", "list", LIST, list), write("post", "post")];
    if resource.builtin() != Some(Builtin::Namespace) {
        on_collection.push(read("delete", "deletecollection", LIST, ""));
    }
    put(&collection, on_collection);
    put(
        &object,
        vec![
            read("get", "get", &[], model),
            write("put", "put"),
            patch(),
            read("delete", "delete", DELETE, ""),
        ],
    );
    for sub in [Sub::Status, Sub::Finalize] {
        if resource.has(sub) {
            let mut operations = vec![write("put", "put")];
            if sub == Sub::Status {
                operations.extend([read("get", "get", &[], model), patch()]);
            }
            put(&format!("{object}/{}", sub.name()), operations);
        }
    }
}

fn path_item(
    dialect: Dialect,
    resource: &Resource,
    path: &str,
    model: &str,
    operations: &[Operation<'_>],
) -> Value {
    let mut item = Map::new();
    for operation in operations {
        let written = operation.write(dialect, resource, model);
        item.insert(operation.method.to_owned(), written);
    }
    let names = ["name", "namespace"].into_iter();
    let own: Vec<Value> = names
        .filter(|name| path.contains(&format!("{{{name}}}")))
        .map(|name| parameter(dialect, name, "path", "string"))
        .collect();
    if !own.is_empty() {
        item.insert("parameters".to_owned(), own.into());
    }
    item.into()
}

fn parameter(dialect: Dialect, name: &str, place: &str, kind: &str) -> Value {
    let mut parameter = json!({"name": name, "in": place});
    match dialect {
        Dialect::V2 => {
            parameter["type"] = json!(kind);
            parameter["uniqueItems"] = json!(true);
        }
        Dialect::V3 => parameter["schema"] = json!({"type": kind, "uniqueItems": true}),
    }
    if place == "path" {
        parameter["required"] = json!(true);
    }
    parameter
}

impl Operation<'_> {
    fn write(&self, dialect: Dialect, resource: &Resource, model: &str) -> Value {
        let mut parameters: Vec<Value> = self
            .parameters
            .iter()
            .map(|(name, kind)| parameter(dialect, name, "query", kind))
            .collect();
        let mut ok = json!({"description": "OK"});
        let schema = (!self.answer.is_empty()).then(|| dialect.reference(self.answer));
        let mut operation = json!({
            "x-kubernetes-action": self.action,
            "x-kubernetes-group-version-kind": own_kind(resource, &resource.kind),
        });
        // A patch can be anything.
        let body = if self.method == "patch" {
            json!({"type": "object"})
        } else {
            dialect.reference(model)
        };
        match dialect {
            Dialect::V2 => {
                if let Some(schema) = schema {
                    ok["schema"] = schema;
                }
                if !self.body.is_empty() {
                    operation["consumes"] = json!(self.body);
                    let body = json!({"name": "body", "in": "body", "required": true,
                        "schema": body});
                    parameters.insert(0, body);
                }
                operation["produces"] = json!(BODIES);
            }
            Dialect::V3 => {
                if let Some(schema) = schema {
                    ok["content"] = contents(&BODIES, &schema);
                }
                if !self.body.is_empty() {
                    operation["requestBody"] =
                        json!({"content": contents(self.body, &body), "required": true});
                }
            }
        }
        operation["responses"] = json!({"200": ok});
        if !parameters.is_empty() {
            operation["parameters"] = parameters.into();
        }
        operation
    }
}

fn contents(media: &[&str], schema: &Value) -> Value {
    let contents: Map<String, Value> = media
        .iter()
        .map(|media| ((*media).to_owned(), json!({"schema": schema})))
        .collect();
    contents.into()
}
