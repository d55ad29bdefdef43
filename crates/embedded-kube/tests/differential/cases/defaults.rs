//! Defaults of structural schemas.

use serde_json::json;

use crate::harness::run;

#[test]
fn on_create() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.create(
            "widgets",
            "b",
            json!({"spec": {"size": 1, "nested": {"deep": {}}}}),
        )
        .await;
        s.create(
            "widgets",
            "c",
            json!({"spec": {"size": 1, "parts": [{"name": "x"}]}}),
        )
        .await;
        s.create(
            "widgets",
            "d",
            json!({"spec": {"size": 1, "nested": {"level": "high"}}}),
        )
        .await;
    });
}

#[test]
fn on_update_and_patch() {
    run(async |s| {
        let made = s
            .create(
                "widgets",
                "a",
                json!({"spec": {"size": 1, "color": "blue"}}),
            )
            .await;
        let body = json!({"metadata": {"resourceVersion": made.rv()}, "spec": {"size": 1}});
        s.replace("widgets", "a", body).await;
        s.patch(
            "widgets/a",
            json!([{"op": "remove", "path": "/spec/nested"}]),
        )
        .await;
        s.merge("widgets/a", json!({"spec": {"nested": null}}))
            .await;
    });
}

#[test]
fn null_is_defaulted_unless_nullable() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "plain": {"type": "string", "default": "d"},
            "nullable": {"type": "string", "nullable": true, "default": "d"},
            "undefaulted": {"type": "string"},
            "object": {"type": "object", "default": {"x": "y"}, "properties": {
                "x": {"type": "string"}, "z": {"type": "integer", "default": 3}}},
            "list": {"type": "array", "items": {"type": "object", "default": {},
                "properties": {"v": {"type": "integer", "default": 1}}}},
            "map": {"type": "object", "additionalProperties": {"type": "object",
                "properties": {"v": {"type": "integer", "default": 1}}}},
        }}}});
        let crd = s.definition("things", "Thing", schema);
        s.crd(crd).await;
        for (index, spec) in [
            json!({}),
            json!({"plain": null, "nullable": null, "undefaulted": null, "object": null}),
            json!({"list": [{}, {"v": 2}, null]}),
            json!({"map": {"a": {}, "b": {"v": 5}, "c": null}}),
            json!({"object": {}}),
        ]
        .iter()
        .enumerate()
        {
            s.create("things", &format!("t{index}"), json!({"spec": spec}))
                .await;
        }
        s.create("things", "none", json!({})).await;
    });
}

#[test]
fn a_default_at_the_top_makes_the_spec() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "default": {},
            "properties": {"a": {"type": "string", "default": "x"}}}}});
        let crd = s.definition("things", "Thing", schema);
        s.crd(crd).await;
        s.create("things", "a", json!({})).await;
        s.create("things", "b", json!({"spec": null})).await;
    });
}

#[test]
fn are_applied_when_read() {
    run(async |s| {
        let schema = |extra: serde_json::Value| {
            json!({"type": "object", "properties": {"spec": {"type": "object",
                "properties": crate::harness::merge(json!({"a": {"type": "string"}}), extra)}}})
        };
        let crd = s.definition("things", "Thing", schema(json!({})));
        let made = s.crd(crd).await;
        s.create("things", "old", json!({"spec": {"a": "x"}})).await;
        let value = schema(json!({"b": {"type": "string", "default": "new"}}));
        let path = "/spec/versions/0/schema/openAPIV3Schema";
        let name = made.name();
        s.patch(
            &format!("customresourcedefinitions/{name}"),
            json!([{"op": "replace", "path": path, "value": value}]),
        )
        .await;
        s.until("things/old", |it| it.body["spec"]["b"] == "new")
            .await;
        s.get("things").await;
        let now = s.merge("things/old", json!({})).await;
        s.note("spec", now.body["spec"].clone());
    });
}

#[test]
fn of_status() {
    run(async |s| {
        let versions = json!([{"name": "v1", "served": true, "storage": true,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "status": {"type": "object", "default": {"phase": "Pending"},
                "properties": {"phase": {"type": "string"}, "n": {"type": "integer", "default": 1}}},
        }}}}]);
        let crd = s.definition_of("things", "Thing", versions);
        s.crd(crd).await;
        s.create("things", "a", json!({})).await;
        s.create("things", "b", json!({"status": {"phase": "mine"}}))
            .await;
        s.merge("things/a/status", json!({"status": {"phase": "x"}}))
            .await;
    });
}

#[test]
fn of_embedded_metadata_and_booleans() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "default": {},
        "properties": {
            "on": {"type": "boolean", "default": false},
            "zero": {"type": "integer", "default": 0},
            "empty": {"type": "string", "default": ""},
            "list": {"type": "array", "default": [], "items": {"type": "string"}},
            "port": {"x-kubernetes-int-or-string": true, "default": "http"},
        }}}});
        let crd = s.definition("things", "Thing", schema);
        s.crd(crd).await;
        s.create("things", "a", json!({})).await;
    });
}
