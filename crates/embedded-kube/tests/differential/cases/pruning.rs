//! Unknown fields: what is dropped and what is kept.

use serde_json::json;

use crate::harness::run;

#[test]
fn unknown_fields_are_dropped() {
    run(async |s| {
        s.create(
            "widgets",
            "a",
            json!({"spec": {"size": 1, "nope": 1, "nested": {"nope": 2}}, "top": 3}),
        )
        .await;
        s.create(
            "widgets",
            "b",
            json!({"spec": {"size": 1, "parts": [{"name": "x", "nope": 1}]}}),
        )
        .await;
        s.get("widgets").await;
    });
}

#[test]
fn inside_preserved_fields() {
    run(async |s| {
        let free = json!({"anything": {"goes": [1, {"x": "y"}]}, "known": {"a": "b", "nope": 1}});
        s.create("widgets", "a", json!({"spec": {"size": 1, "free": free}}))
            .await;
        s.merge(
            "widgets/a",
            json!({"spec": {"free": {"known": {"nope": 2}, "more": {"z": null}}}}),
        )
        .await;
    });
}

#[test]
fn preserved_deep_down() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "keep": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    "properties": {
                        "drop": {"type": "object", "properties": {
                            "keep": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                            "a": {"type": "integer"},
                        }},
                        "list": {"type": "array", "items": {"type": "object",
                            "properties": {"a": {"type": "integer"}}}},
                    }},
            }},
        }});
        let crd = s.definition("things", "Thing", schema);
        s.crd(crd).await;
        let body = json!({"spec": {
            "gone": 1,
            "keep": {"x": {"y": 1}, "drop": {"gone": 1, "a": 1, "keep": {"x": 1}},
                "list": [{"a": 1, "gone": 1}]},
        }});
        s.create("things", "a", body).await;
    });
}

#[test]
fn at_the_root() {
    run(async |s| {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}});
        let crd = s.definition("things", "Thing", schema);
        s.crd(crd).await;
        let body = json!({"top": 1, "spec": {"a": "x", "gone": 1}, "metadata": {"gone": 1}});
        s.create("things", "a", body).await;
    });
}

#[test]
fn everything_without_properties() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "spec": {"type": "object"},
            "list": {"type": "array", "items": {"type": "object"}},
            "map": {"type": "object", "additionalProperties": {"type": "object"}},
            "any": {"x-kubernetes-preserve-unknown-fields": true},
            "open": {"type": "object", "additionalProperties": true},
        }});
        let crd = s.definition("things", "Thing", schema);
        s.crd(crd).await;
        let body = json!({
            "spec": {"gone": 1},
            "list": [{"gone": 1}, {}],
            "map": {"stays": {"gone": 1}},
            "any": [1, {"x": 1}],
            "open": {"x": {"y": 1}},
        });
        s.create("things", "a", body).await;
    });
}

#[test]
fn embedded_resources_keep_their_header() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {
            "template": {"type": "object", "x-kubernetes-embedded-resource": true,
                "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}},
        }});
        let crd = s.definition("things", "Thing", schema);
        s.crd(crd).await;
        let body = json!({"template": {
            "apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "labels": {"x": "y"}, "gone": 1},
            "spec": {"a": "b", "gone": 1}, "gone": 1}});
        s.create("things", "a", body).await;
    });
}

#[test]
fn of_the_whole_definition() {
    run(async |s| {
        let mut crd = s.definition(
            "things",
            "Thing",
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        );
        crd["spec"]["preserveUnknownFields"] = json!(false);
        s.crd(crd).await;
        s.create("things", "a", json!({"x": {"y": 1}})).await;
        let mut crd = s.definition("others", "Other", json!({"type": "object"}));
        crd["spec"]["preserveUnknownFields"] = json!(true);
        s.crd(crd).await;
    });
}

#[test]
fn on_status() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge(
            "widgets/a/status",
            json!({"status": {"phase": "x", "gone": 1}, "gone": 2}),
        )
        .await;
        s.create(
            "gadgets",
            &format!("g-{}", s.ns),
            json!({"spec": {"a": "x", "b": "y"}}),
        )
        .await;
    });
}
