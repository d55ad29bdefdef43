//! What a schema leaves open, and what does not fit it.

use serde_json::{Value, json};

use crate::harness::{Script, run};

async fn boxes(s: &mut Script) {
    let crd = s.definition(
        "boxes",
        "Box",
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "text": {"type": "string"}, "size": {"type": "integer"}, "ratio": {"type": "number"},
            "flag": {"type": "boolean"}, "when": {"type": "string", "format": "date-time"},
            "odd": {"type": "string", "format": "nobody-knows"},
            "bytes": {"type": "string", "format": "byte"},
            "port": {"x-kubernetes-int-or-string": true},
            "ports": {"type": "array", "items": {"x-kubernetes-int-or-string": true}},
            "anything": {"x-kubernetes-preserve-unknown-fields": true},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                "known": {"type": "object", "properties": {"a": {"type": "string"}}},
                "list": {"type": "array", "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object",
                        "required": ["k"], "properties": {"k": {"type": "string"}}}}}},
            "bare": {"type": "object"},
            "pod": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true},
            "strict": {"type": "object", "x-kubernetes-embedded-resource": true,
                "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}},
            "maybe": {"type": "string", "nullable": true},
            "made": {"type": "object", "default": {"a": "x"}, "properties": {
                "a": {"type": "string"}, "b": {"type": "string", "default": "y"}}},
        }}}}),
    );
    s.crd(crd).await;
}

#[test]
fn values_of_another_type() {
    run(async |s| {
        boxes(s).await;
        for spec in [
            json!({"text": 1}),
            json!({"text": 1.5}),
            json!({"text": true}),
            json!({"text": ["a"]}),
            json!({"text": {"a": 1}}),
            json!({"size": "x"}),
            json!({"size": true}),
            json!({"size": [1]}),
            json!({"size": {"a": null}}),
            json!({"size": 1.5}),
            json!({"flag": "x"}),
            json!({"flag": 1}),
            json!({"flag": {"a": [1, "b"]}}),
            json!({"when": 1}),
            json!({"when": "x"}),
            json!({"odd": 1}),
            json!({"odd": []}),
            json!({"bytes": 1}),
            json!({"ratio": "x"}),
            json!({"ports": "x"}),
            json!({"ports": {"a": 1}}),
            json!({"bare": "x"}),
            json!({"bare": [1]}),
            json!({"nope": 1}),
            json!({"open": {"known": {"b": 1}}}),
            json!({"open": {"known": {"a": 1}}}),
            json!({"open": {"list": [{"k": "x", "extra": 1}]}}),
            json!({"open": {"list": [{"extra": 1}]}}),
        ] {
            s.apply_as("one", "boxes/a", json!({"spec": spec})).await;
        }
        s.apply_as("one", "boxes/a", json!({"spec": "x"})).await;
        s.apply_as("one", "boxes/a", json!({"spec": [1]})).await;
        s.apply_as("one", "boxes/a", json!({"nope": 1})).await;
        s.apply_as("one", "boxes/a", json!({"status": {"x": 1}}))
            .await;
        s.apply_as("one", "boxes/a", json!({"metadata": {"nope": 1}}))
            .await;
        s.apply_as("one", "boxes/a", json!({"metadata": {"labels": {"a": 1}}}))
            .await;
        s.apply_as("one", "boxes/a", json!({"metadata": {"finalizers": [1]}}))
            .await;
    });
}

#[test]
fn numbers_or_texts() {
    run(async |s| {
        boxes(s).await;
        s.apply_as(
            "one",
            "boxes/a",
            json!({"spec": {"port": 80, "ports": [80, "http"]}}),
        )
        .await;
        s.apply_as("two", "boxes/a", json!({"spec": {"port": "80"}}))
            .await;
        s.apply_as(
            "two&force=true",
            "boxes/a",
            json!({"spec": {"port": "http"}}),
        )
        .await;
        s.apply_as("one", "boxes/a", json!({"spec": {"port": {"a": 1}}}))
            .await;
        s.apply_as("one", "boxes/a", json!({"spec": {"port": [1]}}))
            .await;
        s.apply_as("one", "boxes/a", json!({"spec": {"port": 1.5}}))
            .await;
    });
}

#[test]
fn what_nobody_knows_has_managers() {
    run(async |s| {
        boxes(s).await;
        s.apply_as(
            "one",
            "boxes/a",
            json!({"spec": {"anything": {"a": {"b": 1}, "l": [1, {"x": 1}]},
                "open": {"free": {"x": 1}, "known": {"a": "1"}, "list": [{"k": "1", "other": {"y": 1}}]},
                "bare": {}}}),
        )
        .await;
        s.apply_as(
            "two",
            "boxes/a",
            json!({"spec": {"anything": {"a": {"c": 1}, "l": [2]}, "open": {"free": {"y": 1},
                "list": [{"k": "1", "other": {"z": 1}}, {"k": "2"}]}}}),
        )
        .await;
        s.apply_as(
            "two&force=true",
            "boxes/a",
            json!({"spec": {"anything": [1, 2], "open": {"free": "x"}}}),
        )
        .await;
        s.apply_as("one", "boxes/a", json!({"spec": {"anything": "text"}}))
            .await;
        s.merge(
            "boxes/a",
            json!({"spec": {"anything": {"z": {"y": {"x": null}}}}}),
        )
        .await;
        s.apply_as("one", "boxes/a", json!({"spec": {}})).await;
        s.apply_as("two", "boxes/a", json!({"spec": {}})).await;
    });
}

#[test]
fn resources_in_resources() {
    run(async |s| {
        boxes(s).await;
        let pod = |labels: Value| {
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": labels,
                "finalizers": ["example.com/a"]}, "spec": {"containers": [{"name": "c"}]}})
        };
        s.apply_as(
            "one",
            "boxes/a",
            json!({"spec": {"pod": pod(json!({"a": "1"}))}}),
        )
        .await;
        s.apply_as(
            "two",
            "boxes/a",
            json!({"spec": {"pod": {"metadata": {"labels": {"b": "1"},
            "finalizers": ["example.com/b"]}, "spec": {"nodeName": "n"}}}}),
        )
        .await;
        s.apply_as(
            "two",
            "boxes/a",
            json!({"spec": {"pod": {"metadata": {"nope": 1}}}}),
        )
        .await;
        s.apply_as(
            "two",
            "boxes/a",
            json!({"spec": {"pod": {"metadata": {"labels": {"a": 2}}}}}),
        )
        .await;
        s.apply_as(
            "two",
            "boxes/a",
            json!({"spec": {"strict": {"apiVersion": "v1", "kind": "X",
            "spec": {"a": "1"}}}}),
        )
        .await;
        s.apply_as("two", "boxes/a", json!({"spec": {"strict": {"nope": 1}}}))
            .await;
        s.apply_as("one", "boxes/a", json!({"spec": {}})).await;
    });
}

#[test]
fn nothing_is_a_value() {
    run(async |s| {
        boxes(s).await;
        s.apply_as("one", "boxes/a", json!({"spec": {"maybe": null}}))
            .await;
        s.apply_as(
            "one",
            "boxes/a",
            json!({"spec": {"maybe": null, "text": null}}),
        )
        .await;
        s.apply_as("one", "boxes/a", json!({"spec": {"made": null}}))
            .await;
        s.apply_as("one", "boxes/a", json!({"spec": null})).await;
        s.apply_as("one", "boxes/a", json!({"metadata": {"labels": null}}))
            .await;
        s.apply_as(
            "one",
            "boxes/a",
            json!({"metadata": {"labels": {"a": null}}}),
        )
        .await;
        s.apply_as(
            "one",
            "boxes/a",
            json!({"spec": {"anything": null, "bare": null}}),
        )
        .await;
        s.get("boxes/a").await;
    });
}

#[test]
fn nobody_manages_a_default() {
    run(async |s| {
        boxes(s).await;
        s.apply_as("one", "boxes/a", json!({"spec": {"text": "x"}}))
            .await;
        s.apply_as("two", "boxes/a", json!({"spec": {"made": {"b": "z"}}}))
            .await;
        s.apply_as("two", "boxes/a", json!({"spec": {}})).await;
        s.create(
            "boxes?fieldManager=maker",
            "b",
            json!({"spec": {"text": "x"}}),
        )
        .await;
        s.apply_as("two", "boxes/b", json!({"spec": {"made": {"b": "z"}}}))
            .await;
    });
}

#[test]
fn a_schema_that_becomes_atomic() {
    run(async |s| {
        let schema = |kind: &str, probe: bool| {
            let mut properties = json!({
                "pair": {"type": "object", "x-kubernetes-map-type": kind, "properties": {
                    "a": {"type": "string"}, "b": {"type": "string"}}},
                "parts": {"type": "array", "items": {"type": "object", "required": ["name"],
                    "properties": {"name": {"type": "string"}, "w": {"type": "integer"}}}}});
            properties["parts"]["x-kubernetes-list-type"] =
                json!(if kind == "atomic" { "atomic" } else { "map" });
            if kind != "atomic" {
                properties["parts"]["x-kubernetes-list-map-keys"] = json!(["name"]);
            }
            if probe {
                properties["probe"] = json!({"type": "string", "enum": ["never"]});
            }
            json!({"type": "object", "properties": {"spec": {"type": "object",
                "properties": properties}}})
        };
        let crd = s.definition("molds", "Mold", schema("granular", false));
        s.crd(crd.clone()).await;
        s.apply_as(
            "one",
            "molds/a",
            json!({"spec": {"pair": {"a": "1"}, "parts": [{"name": "p"}]}}),
        )
        .await;
        s.apply_as(
            "two",
            "molds/a",
            json!({"spec": {"pair": {"b": "1"}, "parts": [{"name": "q"}]}}),
        )
        .await;
        let mut changed = crd;
        changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema("atomic", true);
        let path = format!("customresourcedefinitions/molds.{}", s.group);
        s.merge(&path, json!({"spec": changed["spec"]})).await;
        let body = s.object("molds", "probe", json!({"spec": {"probe": "x"}}));
        s.until_code("POST", "molds?dryRun=All", body, 422).await;
        s.merge(
            "molds/a?fieldManager=three",
            json!({"metadata": {"labels": {"x": "y"}}}),
        )
        .await;
        s.apply_as(
            "one",
            "molds/a",
            json!({"spec": {"pair": {"a": "1", "b": "1"}}}),
        )
        .await;
        s.apply_as("one", "molds/a", json!({"spec": {"pair": {"a": "2"}}}))
            .await;
    });
}

#[test]
fn a_kind_without_any_schema() {
    run(async |s| {
        let crd = s.definition("voids", "Void", json!({"type": "object"}));
        s.crd(crd).await;
        s.apply_as(
            "one",
            "voids/a",
            json!({"metadata": {"labels": {"x": "y"}}}),
        )
        .await;
        s.apply_as("one", "voids/a", json!({"spec": {"a": 1}}))
            .await;
        s.create("voids", "b", json!({"spec": {"a": 1}})).await;
    });
}
