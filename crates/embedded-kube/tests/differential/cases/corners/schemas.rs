//! Definitions that break a rule.

use serde_json::{Value, json};

use crate::harness::{Script, merge, run};

async fn refuse(s: &mut Script, schema: Value) {
    let crd = s.definition("things", "Thing", schema);
    s.post("customresourcedefinitions?dryRun=All", crd).await;
}

#[test]
fn schemas_with_fields_of_wrong_types() {
    run(async |s| {
        for field in [
            json!({"type": 5}),
            json!({"type": ["string"]}),
            json!({"type": "object", "properties": []}),
            json!({"type": "object", "properties": {"b": 5}}),
            json!({"type": "object", "properties": {"b": null}}),
            json!({"type": "object", "required": "b"}),
            json!({"type": "object", "required": [5]}),
            json!({"type": "string", "enum": "x"}),
            json!({"type": "string", "enum": {}}),
            json!({"type": "string", "minLength": "x"}),
            json!({"type": "string", "maxLength": 1.5}),
            json!({"type": "string", "maxLength": -1}),
            json!({"type": "string", "pattern": 5}),
            json!({"type": "string", "format": 5}),
            json!({"type": "integer", "minimum": "x"}),
            json!({"type": "integer", "exclusiveMinimum": 5}),
            json!({"type": "integer", "multipleOf": 0}),
            json!({"type": "array", "items": [{"type": "string"}]}),
            json!({"type": "array", "items": []}),
            json!({"type": "array", "items": true}),
            json!({"type": "array", "items": "x"}),
            json!({"type": "object", "additionalProperties": "x"}),
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "object", "additionalProperties": true}),
            json!({"type": "object", "additionalProperties": {}}),
            json!({"type": "object", "allOf": {}}),
            json!({"type": "object", "anyOf": [5]}),
            json!({"type": "object", "not": true}),
            json!({"type": "object", "nullable": "x"}),
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": "x"}),
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": false}),
            json!({"type": "object", "x-kubernetes-list-map-keys": "x"}),
            json!({"type": "object", "description": 5}),
            json!({"type": "object", "example": 5}),
            json!({"type": "object", "externalDocs": {"url": "x", "more": 1}}),
            json!({"type": "object", "externalDocs": "x"}),
            json!({"type": "null"}),
            json!({"type": "object", "dependencies": {"a": ["b"]}}),
            json!({"type": "object", "definitions": {"a": {}}}),
            json!({"type": "object", "x-unknown": 1}),
            json!(5),
            json!([]),
        ] {
            refuse(s, json!({"type": "object", "properties": {"a": field}})).await;
        }
        for schema in [json!(5), json!("x"), json!([]), json!(null), json!({})] {
            refuse(s, schema).await;
        }
    });
}

#[test]
fn schemas_that_break_a_rule() {
    run(async |s| {
        for schema in [
            json!({"type": "object", "nullable": true}),
            json!({"type": "object", "default": {}}),
            json!({"type": "object", "properties": {"metadata": {"type": "object", "default": {}}}}),
            json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {
                "name": {"type": "string", "default": "x"}}}}}),
            json!({"type": "object", "properties": {"apiVersion": {"type": "string", "default": "x"}}}),
            json!({"type": "object", "properties": {"kind": {"type": "integer"}}}),
            json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {
                "name": {"type": "string", "maxLength": 5}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "nullable": true, "default": null}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "default": null}}}),
            json!({"type": "object", "properties": {"a": {"type": "integer", "default": 5, "minimum": 6}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string", "default": "x"}}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "string", "default": "x"}}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true, "default": {"apiVersion": "v1", "kind": "X", "metadata": {"name": "UPPER/x"}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true, "default": {"kind": "X"}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "set",
                "items": {"type": "string"}, "default": ["x", "x"]}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k", "k"],
                "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string", "nullable": true}}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "set",
                "items": {"type": "string", "nullable": true}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "set",
                "items": {"type": "array", "items": {"type": "string"}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"]}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "x-kubernetes-list-type": "set"}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "x-kubernetes-map-type": "set"}}}),
            json!({"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": true,
                "x-kubernetes-preserve-unknown-fields": true}}}),
            json!({"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": true,
                "anyOf": [{"type": "string"}, {"type": "integer"}]}}}),
            json!({"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": true,
                "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"maximum": 5}]}}}),
            json!({"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": true,
                "anyOf": [{"type": "integer"}]}}}),
            json!({"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": true,
                "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}}}),
            json!({"type": "object", "properties": {"a": {"x-kubernetes-embedded-resource": true}}}),
            json!({"type": "object", "x-kubernetes-embedded-resource": true}),
            json!({"type": "object", "properties": {"a": {"type": "object", "anyOf": [
                {"x-kubernetes-preserve-unknown-fields": true}, {"x-kubernetes-int-or-string": true},
                {"x-kubernetes-embedded-resource": true}, {"x-kubernetes-list-type": "set"},
                {"x-kubernetes-map-type": "atomic"}, {"x-kubernetes-list-map-keys": ["a"]}]}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "anyOf": [
                {"type": "object"}, {"default": 1}, {"description": "x"}, {"title": "x"},
                {"nullable": true}, {"additionalProperties": true}, {"additionalProperties": false}]}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "not": {"properties": {"b": {}}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"},
                "allOf": [{"items": {"properties": {"z": {}}}}]}}}),
            json!({"type": "object", "anyOf": [{"properties": {"metadata": {"properties": {"name": {"pattern": "^a"}}}}}]}),
            json!({"type": "object", "anyOf": [{"properties": {"metadata": {"properties": {"labels": {}}}}}]}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^[a-z[]+$"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "a{,5}"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "a{1001}"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "\\Qa.b\\E"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "(a)\\1"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "\\<x"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "[a-z&&[^b]]"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "\\_\\-\\/\\ "}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "\\h"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "(?x) a b"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "[]a]"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "\\u0041"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "x**"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "\\pL\\PN[[:alpha:]]"}}}),
        ] {
            refuse(s, schema).await;
        }
    });
}

#[test]
fn definitions_that_break_a_rule() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
            "properties": {"n": {"type": "integer"}, "l": {"type": "array", "items": {"type": "string"}},
                "o": {"type": "object", "properties": {"p": {"type": "string"}}}}}}});
        let good = s.definition("things", "Thing", schema);
        let versions = |change: Value| {
            let mut crd = good.clone();
            let version = merge(crd["spec"]["versions"][0].clone(), change);
            crd["spec"]["versions"] = json!([version]);
            crd
        };
        let spec = |change: Value| merge(good.clone(), json!({"spec": change}));
        let root = |change: Value| {
            versions(json!({"subresources": {"status": {}}, "schema": {"openAPIV3Schema": change}}))
        };
        let scale = |spec: &str, status: &str, selector: &str| {
            versions(json!({"subresources": {"scale": {"specReplicasPath": spec,
                "statusReplicasPath": status, "labelSelectorPath": selector}}}))
        };
        let column = |column: Value| versions(json!({"additionalPrinterColumns": [column]}));
        let selectable = |path: &str| versions(json!({"selectableFields": [{"jsonPath": path}]}));
        let hook = |conversion: Value| spec(json!({"conversion": conversion}));
        let many: Vec<Value> = (0..9).map(|_| json!({"jsonPath": ".spec.n"})).collect();
        for crd in [
            root(json!({"anyOf": [{"required": ["spec"]}]})),
            root(json!({"required": ["spec"]})),
            root(json!({"minProperties": 1})),
            root(json!({"x-kubernetes-preserve-unknown-fields": true})),
            root(json!({"title": "x", "description": "y"})),
            root(json!({"example": {"a": 1}})),
            root(json!({"maxProperties": 9})),
            root(json!({"nullable": true})),
            scale(".spec.n", ".status.n", ".status.s"),
            scale("spec.n", "status.n", "status.s"),
            scale(".spec.l[0]", ".status.n", ""),
            scale(".spec", ".status", ".spec"),
            scale(".spec.", ".status.x.", ".spec.a b"),
            scale("", "", ""),
            scale(".spec.n", ".spec.n", ".metadata.x"),
            scale(".spec.a-b", ".status['x']", ".status.\"x\""),
            column(json!({"name": "A", "type": "integer", "jsonPath": ".spec.n"})),
            column(json!({"name": "A", "type": "integer", "jsonPath": "spec.n"})),
            column(json!({"name": "A", "type": "integer", "jsonPath": "{.spec.n}"})),
            column(json!({"name": "A", "type": "integer", "jsonPath": ".spec.l[*]"})),
            column(json!({"name": "A", "type": "integer", "jsonPath": ".spec["})),
            column(json!({"name": "A", "type": "integer", "jsonPath": ".spec.l[?(@.x==\"y\")].z"})),
            column(
                json!({"name": "A", "type": "integer", "format": "nonsense", "jsonPath": ".spec.n"}),
            ),
            column(
                json!({"name": "A", "type": "string", "format": "date-time", "jsonPath": ".spec.n", "priority": -1}),
            ),
            column(json!({"name": "", "type": "", "jsonPath": ""})),
            selectable(".spec.n"),
            selectable("spec.n"),
            selectable(".spec.o.p"),
            selectable(".spec.l"),
            selectable(".spec.l[0]"),
            selectable(".spec.none"),
            selectable(".spec"),
            selectable(".metadata.name"),
            selectable("."),
            selectable(".spec['n']"),
            selectable(".spec..n"),
            selectable(".spec.n "),
            versions(json!({"selectableFields": many})),
            hook(json!({"strategy": "Webhook"})),
            hook(json!({"strategy": "Webhook", "webhook": {}})),
            hook(json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}})),
            hook(
                json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://example.com/x"}}}),
            ),
            hook(
                json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                "clientConfig": {"url": "http://example.com/x"}}}),
            ),
            hook(
                json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v9"],
                "clientConfig": {"service": {"name": "a", "namespace": "b"}}}}),
            ),
            hook(
                json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": [],
                "clientConfig": {"url": "https://example.com/x", "service": {"name": "a", "namespace": "b"}}}}),
            ),
            hook(
                json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                "clientConfig": {"service": {"name": "", "namespace": "", "port": 0, "path": "x"}}}}),
            ),
            hook(json!({"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}})),
            hook(
                json!({"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://example.com/x"}}}),
            ),
            hook(json!({"strategy": "none"})),
            hook(json!({})),
            hook(json!("x")),
            spec(json!({"names": {"shortNames": ["A", "b c"], "categories": ["X"]}})),
            spec(json!({"names": {"shortNames": "a"}})),
            spec(json!({"names": {"singular": "Thing", "listKind": "Thing"}})),
            spec(json!({"names": {"singular": ""}})),
            spec(json!({"names": {"kind": "thing kind"}})),
            spec(json!({"preserveUnknownFields": true})),
            spec(json!({"preserveUnknownFields": "x"})),
            spec(json!({"scope": ""})),
            spec(json!({"group": "UPPER.example.com"})),
            spec(json!({"versions": {}})),
            versions(json!({"deprecationWarning": "x"})),
            versions(json!({"deprecated": true, "deprecationWarning": "x".repeat(257)})),
            versions(json!({"deprecated": true, "deprecationWarning": ""})),
            versions(json!({"deprecated": true, "deprecationWarning": "a\nb"})),
            versions(json!({"name": "1v"})),
            versions(json!({"name": ""})),
            versions(json!({"served": "x"})),
            merge(good.clone(), json!({"status": {"storedVersions": ["x"]}})),
            merge(good.clone(), json!({"metadata": {"finalizers": ["x"]}})),
            merge(
                good.clone(),
                json!({"metadata": {"name": null, "generateName": "x-"}}),
            ),
        ] {
            s.post("customresourcedefinitions?dryRun=All", crd).await;
        }
    });
}
