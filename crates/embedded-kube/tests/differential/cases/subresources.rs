//! `status` and `scale`.

use serde_json::json;

use crate::harness::{merge, run};

#[test]
fn status_is_dropped_on_create() {
    run(async |s| {
        s.create(
            "widgets",
            "a",
            json!({"spec": {"size": 1}, "status": {"phase": "x"}}),
        )
        .await;
        s.create("notes", "a", json!({"status": {"phase": "x"}}))
            .await;
    });
}

#[test]
fn status_is_kept_on_update() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let now = s
            .merge("widgets/a/status", json!({"status": {"phase": "x"}}))
            .await;
        let body = merge(
            now.body,
            json!({"spec": {"size": 2}, "status": {"phase": "y"}}),
        );
        s.put("widgets/a", body).await;
        s.merge("widgets/a", json!({"status": {"phase": "z"}}))
            .await;
        s.merge("widgets/a", json!({"status": null})).await;
    });
}

#[test]
fn status_update_changes_only_status() {
    run(async |s| {
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let change = json!({
            "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"},
                "finalizers": ["example.com/x"]},
            "spec": {"size": 50, "unknown": 1},
            "status": {"phase": "x", "unknown": 1},
        });
        s.put("widgets/a/status", merge(made.body, change)).await;
        s.get("widgets/a").await;
    });
}

#[test]
fn status_update_keeps_the_generation() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        s.merge("widgets/a/status", json!({"status": {"phase": "x"}}))
            .await;
    });
}

#[test]
fn status_get() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.get("widgets/a/status").await;
        s.get("widgets/none/status").await;
        s.get("notes/a/status").await;
        s.create("notes", "a", json!({})).await;
        s.get("notes/a/status").await;
        s.merge("notes/a/status", json!({})).await;
        s.get("configmaps/a/status").await;
    });
}

#[test]
fn status_with_a_stale_version() {
    run(async |s| {
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        s.put(
            "widgets/a/status",
            merge(made.body.clone(), json!({"status": {"phase": "x"}})),
        )
        .await;
        let patch = json!({"metadata": {"resourceVersion": made.rv()}, "status": {"phase": "x"}});
        s.merge("widgets/a/status", patch).await;
    });
}

#[test]
fn status_without_a_version() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let body = s.object(
            "widgets",
            "a",
            json!({"spec": {"size": 1}, "status": {"phase": "x"}}),
        );
        s.put("widgets/a/status", body).await;
    });
}

#[test]
fn status_that_is_invalid() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a/status", json!({"status": {"phase": 1}}))
            .await;
        s.merge(
            "widgets/a/status",
            json!({"status": {"conditions": [{"status": "x"}]}}),
        )
        .await;
        s.merge("widgets/a/status", json!({"status": "text"})).await;
        s.get("widgets/a").await;
    });
}

#[test]
fn status_of_what_is_not_there() {
    run(async |s| {
        s.merge("widgets/a/status", json!({"status": {"phase": "x"}}))
            .await;
        let body = s.object("widgets", "a", json!({"status": {"phase": "x"}}));
        s.put("widgets/a/status", body).await;
    });
}

#[test]
fn status_patch_without_effect() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let first = s
            .merge("widgets/a/status", json!({"status": {"phase": "x"}}))
            .await;
        let second = s
            .merge("widgets/a/status", json!({"status": {"phase": "x"}}))
            .await;
        s.note("same version", json!(first.rv() == second.rv()));
        let third = s
            .merge("widgets/a/status", json!({"spec": {"size": 9}}))
            .await;
        s.note("same version", json!(first.rv() == third.rv()));
    });
}

#[test]
fn status_of_a_deleting_object() {
    run(async |s| {
        let body = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        s.create("widgets", "a", body).await;
        s.delete("widgets/a").await;
        s.merge("widgets/a/status", json!({"status": {"phase": "x"}}))
            .await;
        s.patch(
            "widgets/a/status",
            json!([{"op": "remove", "path": "/metadata/finalizers"}]),
        )
        .await;
        s.get("widgets/a").await;
    });
}

#[test]
fn methods_that_status_does_not_have() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.delete("widgets/a/status").await;
        s.post("widgets/a/status", json!({})).await;
        s.get("widgets/a/nonsense").await;
        s.merge("widgets/a/nonsense", json!({})).await;
    });
}

#[test]
fn scale_get() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1, "replicas": 3}}))
            .await;
        s.get("widgets/a/scale").await;
        s.merge(
            "widgets/a/status",
            json!({"status": {"replicas": 2, "selector": "a=b"}}),
        )
        .await;
        s.get("widgets/a/scale").await;
        s.get("widgets/none/scale").await;
    });
}

#[test]
fn scale_of_an_object_without_replicas() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.get("widgets/a/scale").await;
        s.merge("widgets/a/scale", json!({"spec": {"replicas": 2}}))
            .await;
        s.get("widgets/a").await;
    });
}

#[test]
fn scale_update() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1, "replicas": 3}}))
            .await;
        let scale = s.get("widgets/a/scale").await;
        s.put(
            "widgets/a/scale",
            merge(scale.body.clone(), json!({"spec": {"replicas": 5}})),
        )
        .await;
        s.get("widgets/a").await;
        // The scale's version is the object's.
        s.put(
            "widgets/a/scale",
            merge(scale.body, json!({"spec": {"replicas": 6}})),
        )
        .await;
    });
}

#[test]
fn scale_patch() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1, "replicas": 3}}))
            .await;
        s.merge("widgets/a/scale", json!({"spec": {"replicas": 7}}))
            .await;
        s.patch(
            "widgets/a/scale",
            json!([{"op": "replace", "path": "/spec/replicas", "value": 8}]),
        )
        .await;
        s.merge("widgets/a/scale", json!({"spec": {"replicas": -1}}))
            .await;
        s.merge("widgets/a/scale", json!({"spec": {"replicas": "x"}}))
            .await;
        s.merge("widgets/a/scale", json!({"status": {"replicas": 4}}))
            .await;
        s.get("widgets/a").await;
    });
}

#[test]
fn scale_with_a_bad_body() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1, "replicas": 3}}))
            .await;
        let widget = s.object("widgets", "a", json!({"spec": {"size": 1, "replicas": 3}}));
        s.put("widgets/a/scale", widget).await;
        s.put(
            "widgets/a/scale",
            json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "b"}, "spec": {"replicas": 1}}),
        )
        .await;
        s.put(
            "widgets/a/scale",
            json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "a"}, "spec": {"replicas": 4}}),
        )
        .await;
    });
}
