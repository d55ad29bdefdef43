//! Several served versions with the `None` conversion.

use serde_json::json;

use crate::harness::{Script, run};

#[test]
fn written_in_the_old_read_in_the_new() {
    run(async |s| {
        s.create("widgets@v1beta1", "a", json!({"spec": {"size": 1}}))
            .await;
        s.get("widgets/a").await;
        s.get("widgets@v1beta1/a").await;
        s.get("widgets").await;
    });
}

#[test]
fn the_storage_version_prunes() {
    run(async |s| {
        // `older` is a field of v1beta1 alone, which is not the one stored.
        s.create(
            "widgets@v1beta1",
            "a",
            json!({"spec": {"size": 1, "older": "x"}}),
        )
        .await;
        s.get("widgets@v1beta1/a").await;
        s.create("widgets", "b", json!({"spec": {"size": 1, "newer": "x"}}))
            .await;
        s.get("widgets@v1beta1/b").await;
        s.get("widgets/b").await;
    });
}

#[test]
fn an_update_in_the_old_version_loses_new_fields() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1, "newer": "x"}}))
            .await;
        let old = s.get("widgets@v1beta1/a").await;
        s.put("widgets@v1beta1/a", old.body).await;
        s.get("widgets/a").await;
        s.merge("widgets@v1beta1/a", json!({"spec": {"size": 2}}))
            .await;
        s.get("widgets/a").await;
    });
}

#[test]
fn the_generation_over_versions() {
    run(async |s| {
        s.create("widgets@v1beta1", "a", json!({"spec": {"size": 1}}))
            .await;
        s.merge("widgets@v1beta1/a", json!({"spec": {"size": 1}}))
            .await;
        s.merge("widgets@v1beta1/a", json!({"spec": {"size": 2}}))
            .await;
        s.merge(
            "widgets@v1beta1/a/status",
            json!({"status": {"phase": "x"}}),
        )
        .await;
        s.get("widgets/a").await;
    });
}

async fn two_versions(s: &mut Script) -> String {
    let schema = |default: &str| {
        json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
            "properties": {"a": {"type": "string", "default": default}, default: {"type": "string"}}}}}})
    };
    let versions = json!([
        {"name": "v1", "served": true, "storage": true, "schema": schema("one")},
        {"name": "v2", "served": true, "storage": false, "schema": schema("two"),
            "deprecated": true, "deprecationWarning": "use v1"},
        {"name": "v3", "served": false, "storage": false, "schema": schema("three")},
    ]);
    let crd = s.definition_of("things", "Thing", versions);
    s.crd(crd).await.name()
}

#[test]
fn each_version_has_its_defaults() {
    run(async |s| {
        two_versions(s).await;
        s.create("things", "a", json!({"spec": {}})).await;
        s.create("things@v2", "b", json!({"spec": {}})).await;
        s.get("things@v2/a").await;
        s.get("things/b").await;
    });
}

#[test]
fn a_deprecated_version_warns() {
    run(async |s| {
        two_versions(s).await;
        s.create("things@v2", "a", json!({"spec": {}})).await;
        s.get("things@v2/a").await;
        s.get("things@v2").await;
        s.delete("things@v2/a").await;
    });
}

#[test]
fn a_version_that_is_not_served() {
    run(async |s| {
        two_versions(s).await;
        s.get("things@v3").await;
        s.create("things@v3", "a", json!({"spec": {}})).await;
        s.get("/apis/{group}/v3").await;
        s.get("/apis/{group}").await;
    });
}

#[test]
fn the_storage_version_moves() {
    run(async |s| {
        let name = two_versions(s).await;
        s.create("things", "a", json!({"spec": {"one": "1"}})).await;
        let patch = json!([
            {"op": "replace", "path": "/spec/versions/0/storage", "value": false},
            {"op": "replace", "path": "/spec/versions/1/storage", "value": true},
        ]);
        s.patch(&format!("customresourcedefinitions/{name}"), patch)
            .await;
        s.until(&format!("customresourcedefinitions/{name}"), |crd| {
            crd.body["status"]["storedVersions"] == json!(["v1", "v2"])
        })
        .await;
        // The version that was stored cannot go.
        let drop = json!([{"op": "remove", "path": "/spec/versions/0"}]);
        s.patch(&format!("customresourcedefinitions/{name}"), drop)
            .await;
        s.get("things/a").await;
    });
}

#[test]
fn patches_see_the_version_of_the_request() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let patch = json!([{"op": "test", "path": "/apiVersion", "value": "fixture.freehold.dev/v1beta1"},
            {"op": "replace", "path": "/spec/size", "value": 2}]);
        s.patch("widgets@v1beta1/a", patch.clone()).await;
        s.patch("widgets/a", patch).await;
    });
}

#[test]
fn validation_is_that_of_the_request() {
    run(async |s| {
        let schema = |maximum: u32| {
            json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
                "properties": {"n": {"type": "integer", "maximum": maximum}}}}}})
        };
        let versions = json!([
            {"name": "v1", "served": true, "storage": true, "schema": schema(10)},
            {"name": "v2", "served": true, "storage": false, "schema": schema(5)},
        ]);
        let crd = s.definition_of("things", "Thing", versions);
        s.crd(crd).await;
        s.create("things", "a", json!({"spec": {"n": 8}})).await;
        s.create("things@v2", "b", json!({"spec": {"n": 8}})).await;
        s.get("things@v2/a").await;
        s.merge("things@v2/a", json!({"metadata": {"labels": {"a": "b"}}}))
            .await;
        s.merge("things@v2/a", json!({"spec": {"n": 7}})).await;
    });
}

#[test]
fn owner_and_delete_in_the_old_version() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.delete("widgets@v1beta1/a").await;
        s.get("widgets/a").await;
        let body = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        s.create("widgets", "b", body).await;
        s.delete("widgets@v1beta1/b").await;
        s.delete("widgets@v1beta1").await;
    });
}
