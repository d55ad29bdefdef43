//! Definitions of custom resources themselves.

use serde_json::{Value, json};

use crate::harness::run;

fn set(mut crd: Value, pointer: &str, value: Value) -> Value {
    *crd.pointer_mut(pointer).expect("the pointer is right") = value;
    crd
}

#[test]
fn get_names_conditions_and_stored_versions() {
    run(async |s| {
        let crd = s.definition("things", "Thing", json!({"type": "object"}));
        s.crd(crd).await;
        s.get("customresourcedefinitions/things.{group}").await;
    });
}

#[test]
fn with_all_names() {
    run(async |s| {
        let mut crd = s.definition("things", "Thing", json!({"type": "object"}));
        crd["spec"]["names"] = json!({"plural": "things", "singular": "thingy", "kind": "Thing",
            "listKind": "ThingCollection", "shortNames": ["tg"], "categories": ["all"]});
        s.crd(crd).await;
        s.create("things", "a", json!({})).await;
        s.get("things").await;
    });
}

#[test]
fn of_the_whole_cluster() {
    run(async |s| {
        let crd = s.definition("things", "Thing", json!({"type": "object"}));
        s.crd(set(crd, "/spec/scope", json!("Cluster"))).await;
        s.create("things", "a", json!({})).await;
        s.get("/apis/{group}/v1/things/a").await;
        s.get("/apis/{group}/v1/namespaces/{ns}/things").await;
        s.get("/apis/{group}/v1/namespaces/{ns}/things/a").await;
    });
}

#[test]
fn that_are_refused() {
    run(async |s| {
        let good = s.definition("things", "Thing", json!({"type": "object"}));
        let bad = [
            set(good.clone(), "/metadata/name", json!("others.example.com")),
            set(good.clone(), "/spec/scope", json!("Nonsense")),
            set(good.clone(), "/spec/versions/0/storage", json!(false)),
            set(good.clone(), "/spec/versions/0/served", json!(false)),
            set(good.clone(), "/spec/versions/0/name", json!("V1")),
            set(good.clone(), "/spec/versions", json!([])),
            set(good.clone(), "/spec/names/kind", json!("")),
            set(good.clone(), "/spec/names/plural", json!("Things")),
            set(good.clone(), "/spec/group", json!("nodots")),
            set(good.clone(), "/spec/versions/0/schema", json!({})),
            set(good.clone(), "/spec/versions/0/schema", Value::Null),
        ];
        for crd in bad {
            s.post("customresourcedefinitions", crd).await;
        }
        let mut two = good;
        let version = two["spec"]["versions"][0].clone();
        two["spec"]["versions"] = json!([version.clone(), version]);
        s.post("customresourcedefinitions", two).await;
    });
}

#[test]
fn with_schemas_that_are_not_structural() {
    run(async |s| {
        for schema in [
            json!({"properties": {"spec": {"type": "object"}}}),
            json!({"type": "object", "properties": {"spec": {"properties": {"a": {"type": "string"}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array"}}}),
            json!({"type": "object", "properties": {"a": {"type": "nonsense"}}}),
            json!({"type": "string"}),
            json!({"type": "object", "properties": {"metadata": {"type": "object",
                "properties": {"labels": {"type": "object"}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "default": 5}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "default": {"x": 1},
                "properties": {"y": {"type": "string"}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"},
                "x-kubernetes-list-type": "map"}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"},
                "x-kubernetes-list-type": "set"}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "uniqueItems": true,
                "items": {"type": "string"}}}}),
            json!({"type": "object", "additionalProperties": {"type": "string"},
                "properties": {"a": {"type": "string"}}}),
            json!({"type": "object", "$ref": "#/x"}),
            json!({"type": "object", "properties": {"a": {"type": "integer",
                "x-kubernetes-int-or-string": true}}}),
        ] {
            let crd = s.definition("things", "Thing", schema);
            s.post("customresourcedefinitions", crd).await;
        }
    });
}

#[test]
fn changes_that_are_refused() {
    run(async |s| {
        let crd = s.definition("things", "Thing", json!({"type": "object"}));
        let name = s.crd(crd).await.name();
        let item = format!("customresourcedefinitions/{name}");
        for (path, value) in [
            ("/spec/group", json!("other.example.com")),
            ("/spec/scope", json!("Cluster")),
            ("/spec/names/kind", json!("Other")),
            ("/spec/names/plural", json!("others")),
            ("/spec/versions/0/name", json!("v2")),
            ("/spec/versions/0/storage", json!(false)),
        ] {
            s.patch(
                &item,
                json!([{"op": "replace", "path": path, "value": value}]),
            )
            .await;
        }
    });
}

#[test]
fn a_new_version_is_served() {
    run(async |s| {
        let crd = s.definition("things", "Thing", json!({"type": "object"}));
        let name = s.crd(crd).await.name();
        s.create("things", "a", json!({})).await;
        let version = json!({"name": "v2", "served": true, "storage": false,
            "schema": {"openAPIV3Schema": {"type": "object"}}});
        let patch = json!([{"op": "add", "path": "/spec/versions/-", "value": version}]);
        s.patch(&format!("customresourcedefinitions/{name}"), patch)
            .await;
        s.until("things@v2/a", |answer| answer.status == 200).await;
    });
}

#[test]
fn deletion_takes_the_objects() {
    run(async |s| {
        let crd = s.definition("things", "Thing", json!({"type": "object"}));
        let name = s.crd(crd.clone()).await.name();
        s.create("things", "a", json!({})).await;
        let item = format!("customresourcedefinitions/{name}");
        s.delete(&item).await;
        s.until_gone(&item).await;
        s.until("/apis/{group}/v1/namespaces/{ns}/things", |answer| {
            answer.status == 404
        })
        .await;
        // Installed again it is empty.
        s.crd(crd).await;
        s.get("things").await;
    });
}

#[test]
fn deletion_waits_for_finalizers_of_objects() {
    run(async |s| {
        let crd = s.definition("things", "Thing", json!({"type": "object"}));
        let name = s.crd(crd).await.name();
        s.create(
            "things",
            "a",
            json!({"metadata": {"finalizers": ["example.com/x"]}}),
        )
        .await;
        let item = format!("customresourcedefinitions/{name}");
        s.delete(&item).await;
        s.until("things/a", |it| {
            !it.body["metadata"]["deletionTimestamp"].is_null()
        })
        .await;
        s.create("things", "b", json!({})).await;
        s.merge("things/a", json!({"metadata": {"finalizers": null}}))
            .await;
        s.until_gone(&item).await;
    });
}

#[test]
fn names_that_are_taken() {
    run(async |s| {
        let crd = s.definition("things", "Thing", json!({"type": "object"}));
        s.crd(crd).await;
        let other = s.definition("others", "Thing", json!({"type": "object"}));
        s.post("customresourcedefinitions", other).await;
        s.until("customresourcedefinitions/others.{group}", |crd| {
            crd.body["status"]["conditions"]
                .as_array()
                .is_some_and(|all| {
                    all.iter()
                        .any(|one| one["type"] == "NamesAccepted" && one["status"] == "False")
                })
        })
        .await;
        s.get("/apis/{group}/v1/namespaces/{ns}/others").await;
    });
}

#[test]
fn lists_have_their_kind() {
    run(async |s| {
        let crd = s.definition("things", "Thing", json!({"type": "object"}));
        s.crd(crd).await;
        s.get("customresourcedefinitions?fieldSelector=metadata.name%3Dthings.{group}")
            .await;
        s.get("customresourcedefinitions?labelSelector=none").await;
    });
}

#[test]
fn of_kubernetes_groups_need_approval() {
    run(async |s| {
        let crd = s.definition("things", "Thing", json!({"type": "object"}));
        let crd = set(crd, "/spec/group", json!("x.k8s.io"));
        let crd = set(crd, "/metadata/name", json!("things.x.k8s.io"));
        s.post("customresourcedefinitions", crd).await;
    });
}

#[test]
fn a_status_sub_resource_that_comes_later() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {"status": {"type": "object",
            "properties": {"p": {"type": "string"}}}}});
        let crd = s.definition("things", "Thing", schema);
        let name = s.crd(crd).await.name();
        s.create("things", "a", json!({"status": {"p": "x"}})).await;
        let patch = json!([{"op": "add", "path": "/spec/versions/0/subresources",
            "value": {"status": {}}}]);
        s.patch(&format!("customresourcedefinitions/{name}"), patch)
            .await;
        s.until("things/a/status", |answer| answer.status == 200)
            .await;
        s.merge("things/a", json!({"status": {"p": "ignored"}}))
            .await;
        s.merge("things/a/status", json!({"status": {"p": "y"}}))
            .await;
    });
}
