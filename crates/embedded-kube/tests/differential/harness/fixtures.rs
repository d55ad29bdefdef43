//! The custom resources that every case may use, so that the real server need not learn new ones.

use serde_json::{Value, json};

use super::script;

/// The group of the fixtures.
pub(crate) const GROUP: &str = "fixture.freehold.dev";

/// Installs all of them and waits until they are served.
pub(crate) async fn install(client: &kube::Client) {
    for crd in [widgets(), notes(), gadgets()] {
        script::install_crd(client, &crd).await;
    }
}

/// A kind with everything: two versions, defaults, sub-resources, selectable fields.
fn widgets() -> Value {
    let spec = json!({"type": "object", "required": ["size"], "properties": {
        "size": {"type": "integer", "minimum": 0, "maximum": 100},
        "color": {"type": "string", "enum": ["red", "green", "blue"], "default": "red"},
        "note": {"type": "string", "maxLength": 20, "pattern": "^[a-z ]*$"},
        "replicas": {"type": "integer"},
        "selector": {"type": "string"},
        "port": {"x-kubernetes-int-or-string": true},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "known": {"type": "object", "properties": {"a": {"type": "string"}}},
        }},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "parts": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"},
                "weight": {"type": "integer", "default": 1},
            }}},
        "nested": {"type": "object", "default": {}, "properties": {
            "level": {"type": "string", "default": "low"},
            "deep": {"type": "object", "properties": {"on": {"type": "boolean", "default": true}}},
        }},
        "ratio": {"type": "number"},
        "ruled": {"type": "object", "properties": {
            "low": {"type": "integer"},
            "high": {"type": "integer"},
            "tag": {"type": "string", "maxLength": 20, "x-kubernetes-validations": [
                {"rule": "self == oldSelf", "message": "the tag cannot change"}]},
        }, "x-kubernetes-validations": [
            {"rule": "!has(self.low) || self.low <= self.high",
             "messageExpression": "'%d is above %d'.format([self.low, self.high])"},
            {"rule": "!has(oldSelf.tag) || has(self.tag)", "reason": "FieldValueForbidden",
             "fieldPath": ".tag", "message": "the tag cannot go"},
            {"rule": "oldSelf.hasValue() || !has(self.high) || self.high < 9",
             "optionalOldSelf": true, "message": "begin below nine"},
        ]},
        "maybe": {"type": "string", "nullable": true},
    }});
    let status = json!({"type": "object", "properties": {
        "phase": {"type": "string"},
        "replicas": {"type": "integer"},
        "selector": {"type": "string"},
        "conditions": {"type": "array", "items": {"type": "object", "required": ["type"],
            "properties": {"type": {"type": "string"}, "status": {"type": "string"}}}},
    }});
    // The selectable fields must not be the same in both versions: the real server would take them for
    // one set of the whole definition and then miss a schema of the whole definition.
    let version = |name: &str, storage: bool, extra: &str, selectable: Value| {
        let mut spec = spec.clone();
        spec["properties"][extra] = json!({"type": "string"});
        json!({
            "name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "required": ["spec"],
                "properties": {"spec": spec, "status": status}}},
            "subresources": {"status": {}, "scale": {
                "specReplicasPath": ".spec.replicas",
                "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.selector",
            }},
            "selectableFields": selectable,
            "additionalPrinterColumns": [
                {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
        })
    };
    crd(
        "widgets",
        "Widget",
        "Namespaced",
        json!([
            version(
                "v1",
                true,
                "newer",
                json!([{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}]),
            ),
            version(
                "v1beta1",
                false,
                "older",
                json!([{"jsonPath": ".spec.color"}])
            ),
        ]),
    )
}

/// A kind without sub-resources, to be written in one go, status and all.
fn notes() -> Value {
    crd(
        "notes",
        "Note",
        "Namespaced",
        json!([{
            "name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object",
                "x-kubernetes-preserve-unknown-fields": true}},
        }]),
    )
}

/// A kind of the whole cluster.
fn gadgets() -> Value {
    crd(
        "gadgets",
        "Gadget",
        "Cluster",
        json!([{
            "name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {"a": {"type": "string"}}},
                "status": {"type": "object", "properties": {"b": {"type": "string"}}},
            }}},
            "subresources": {"status": {}},
        }]),
    )
}

fn crd(plural: &str, kind: &str, scope: &str, versions: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP,
            "scope": scope,
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind,
                "listKind": format!("{kind}List"), "shortNames": [&plural[..2]],
                "categories": ["fixtures"]},
            "versions": versions,
        },
    })
}
