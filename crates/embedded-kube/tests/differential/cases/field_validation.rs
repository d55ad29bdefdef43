//! `fieldValidation`: strict, warning, silent.

use serde_json::json;

use crate::harness::run;

#[test]
fn of_unknown_fields() {
    run(async |s| {
        for mode in ["Strict", "Warn", "Ignore", "Nonsense", ""] {
            let (name, query) = (
                format!("a{}", mode.to_lowercase()),
                format!("fieldValidation={mode}"),
            );
            let body = json!({"spec": {"size": 1, "nope": 1, "nested": {"also": 2}}, "top": true});
            s.create(&format!("widgets?{query}"), &name, body).await;
            let body = json!({"nope": 1, "data": {"a": "b"}});
            s.create(&format!("configmaps?{query}"), &name, body).await;
        }
    });
}

#[test]
fn of_duplicate_fields() {
    run(async |s| {
        let widget = |name: &str| {
            format!(
                r#"{{"apiVersion":"fixture.freehold.dev/v1","kind":"Widget",
                "metadata":{{"name":"{name}"}},"spec":{{"size":1,"size":2,"note":"a","note":"b"}}}}"#
            )
        };
        let map = |name: &str| {
            format!(
                r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}"}},
                "data":{{"a":"1","a":"2"}},"immutable":false,"immutable":false}}"#
            )
        };
        for mode in ["Strict", "Warn", "Ignore"] {
            let name = mode.to_lowercase();
            let json = "application/json";
            s.typed(
                "POST",
                &format!("widgets?fieldValidation={mode}"),
                json,
                widget(&name),
            )
            .await;
            s.typed(
                "POST",
                &format!("configmaps?fieldValidation={mode}"),
                json,
                map(&name),
            )
            .await;
        }
    });
}

#[test]
fn on_patch_and_update() {
    run(async |s| {
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge(
            "widgets/a?fieldValidation=Strict",
            json!({"spec": {"nope": 1}}),
        )
        .await;
        s.merge(
            "widgets/a?fieldValidation=Warn",
            json!({"spec": {"nope": 1}}),
        )
        .await;
        s.merge(
            "widgets/a?fieldValidation=Ignore",
            json!({"spec": {"nope": 1}}),
        )
        .await;
        let patch = json!([{"op": "add", "path": "/spec/nope", "value": 1}]);
        s.patch("widgets/a?fieldValidation=Strict", patch).await;
        let body =
            json!({"metadata": {"resourceVersion": made.rv()}, "spec": {"size": 1, "nope": 1}});
        s.replace("widgets?fieldValidation=Strict", "a", body).await;
        s.merge(
            "widgets/a/status?fieldValidation=Strict",
            json!({"status": {"nope": 1}}),
        )
        .await;
        s.create("configmaps", "a", json!({})).await;
        s.merge("configmaps/a?fieldValidation=Strict", json!({"nope": 1}))
            .await;
        s.merge("configmaps/a", json!({"nope": 1})).await;
    });
}

#[test]
fn in_preserved_fields() {
    run(async |s| {
        let body = json!({"spec": {"size": 1, "free": {"x": 1, "known": {"nope": 1}}}});
        s.create("widgets?fieldValidation=Strict", "a", body.clone())
            .await;
        s.create("widgets", "b", body).await;
        s.create(
            "notes?fieldValidation=Strict",
            "a",
            json!({"any": 1, "metadata": {"nope": 1}}),
        )
        .await;
    });
}

#[test]
fn in_lists_and_maps() {
    run(async |s| {
        let parts = json!([{"name": "a", "x": 1}, {"name": "b", "y": 1}]);
        s.create("widgets", "a", json!({"spec": {"size": 1, "parts": parts}}))
            .await;
        let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "x",
            "uid": "12345678-1234-1234-1234-123456789abc", "nope": 1}]);
        let body = json!({"metadata": {"ownerReferences": owner}, "spec": {"size": 1}});
        s.create("widgets?dryRun=All", "b", body).await;
    });
}

#[test]
fn of_definitions() {
    run(async |s| {
        let mut crd = s.definition("things", "Thing", json!({"type": "object", "nope": 1}));
        crd["spec"]["also"] = json!(1);
        s.post(
            "customresourcedefinitions?fieldValidation=Strict",
            crd.clone(),
        )
        .await;
        s.post("customresourcedefinitions", crd).await;
    });
}
