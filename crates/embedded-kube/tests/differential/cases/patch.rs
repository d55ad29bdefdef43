//! JSON patch and JSON merge patch.

use serde_json::json;

use crate::harness::run;

#[test]
fn merge_adds_changes_and_removes() {
    run(async |s| {
        s.create(
            "configmaps",
            "a",
            json!({"data": {"keep": "1", "drop": "2", "change": "3"}}),
        )
        .await;
        s.merge(
            "configmaps/a",
            json!({"data": {"drop": null, "change": "4", "add": "5"}}),
        )
        .await;
        s.merge("configmaps/a", json!({"data": null})).await;
    });
}

#[test]
fn merge_replaces_lists() {
    run(async |s| {
        s.create(
            "widgets",
            "a",
            json!({"spec": {"size": 1, "tags": ["a", "b"]}}),
        )
        .await;
        s.merge("widgets/a", json!({"spec": {"tags": ["c"]}})).await;
        s.merge("widgets/a", json!({"spec": {"tags": []}})).await;
    });
}

#[test]
fn merge_of_what_is_not_there() {
    run(async |s| {
        s.merge("configmaps/a", json!({"data": {"a": "b"}})).await;
        s.merge("widgets/a", json!({"spec": {"size": 1}})).await;
        s.merge("leases/a", json!({"spec": {"holderIdentity": "x"}}))
            .await;
    });
}

#[test]
fn merge_without_effect_keeps_the_version() {
    run(async |s| {
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let same = s.merge("widgets/a", json!({"spec": {"size": 1}})).await;
        s.note("same version", json!(made.rv() == same.rv()));
        let empty = s.merge("widgets/a", json!({})).await;
        s.note("same version", json!(made.rv() == empty.rv()));
    });
}

#[test]
fn merge_with_a_version_is_a_precondition() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let made = s
                .create(plural, "a", json!({"spec": {"size": 1}, "data": {}}))
                .await;
            let item = format!("{plural}/a");
            let stale = json!({"metadata": {"resourceVersion": made.rv()},
                "spec": {"size": 2}, "data": {"a": "b"}});
            s.merge(&item, stale.clone()).await;
            s.merge(&item, stale).await;
            s.merge(&item, json!({"metadata": {"resourceVersion": "x"}}))
                .await;
            s.merge(&item, json!({"metadata": {"resourceVersion": null}}))
                .await;
        }
    });
}

#[test]
fn merge_defaults_and_prunes() {
    run(async |s| {
        s.create(
            "widgets",
            "a",
            json!({"spec": {"size": 1, "color": "blue"}}),
        )
        .await;
        s.merge("widgets/a", json!({"spec": {"color": null, "unknown": 1}}))
            .await;
        s.merge("widgets/a", json!({"unknown": 1})).await;
    });
}

#[test]
fn merge_to_an_invalid_object() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a", json!({"spec": {"size": -1}})).await;
        s.merge("widgets/a", json!({"spec": {"size": "x", "color": "pink"}}))
            .await;
        s.merge("widgets/a", json!({"spec": null})).await;
        s.merge(
            "widgets/a",
            json!({"metadata": {"labels": {"x": "not ok!"}}}),
        )
        .await;
        s.create("configmaps", "a", json!({})).await;
        s.merge("configmaps/a", json!({"data": {"a": 1}})).await;
        s.merge("configmaps/a", json!({"data": "x"})).await;
        s.merge("configmaps/a", json!({"data": {"bad key!": "x"}}))
            .await;
    });
}

#[test]
fn merge_that_renames() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.merge("configmaps/a", json!({"metadata": {"name": "b"}}))
            .await;
        s.merge("configmaps/a", json!({"metadata": {"namespace": "b"}}))
            .await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a", json!({"metadata": {"name": "b"}}))
            .await;
        s.merge("widgets/a", json!({"metadata": {"namespace": "b"}}))
            .await;
        s.merge("widgets/a", json!({"metadata": {"name": null}}))
            .await;
    });
}

#[test]
fn merge_that_changes_kind() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.merge("configmaps/a", json!({"kind": "Secret"})).await;
        s.merge("configmaps/a", json!({"apiVersion": "v2"})).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a", json!({"kind": "Note"})).await;
        s.merge(
            "widgets/a",
            json!({"apiVersion": "fixture.freehold.dev/v9"}),
        )
        .await;
        s.merge(
            "widgets/a",
            json!({"apiVersion": "fixture.freehold.dev/v1beta1"}),
        )
        .await;
    });
}

#[test]
fn merge_that_is_no_object() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.create("configmaps", "a", json!({})).await;
        for item in ["widgets/a", "configmaps/a"] {
            s.merge(item, json!([])).await;
            s.merge(item, json!("text")).await;
            s.merge(item, json!(null)).await;
            s.merge(item, json!(7)).await;
        }
    });
}

#[test]
fn json_patch_operations() {
    run(async |s| {
        s.create("configmaps", "a", json!({"data": {"a": "1", "b": "2"}}))
            .await;
        s.patch(
            "configmaps/a",
            json!([{"op": "add", "path": "/data/c", "value": "3"}]),
        )
        .await;
        s.patch(
            "configmaps/a",
            json!([{"op": "replace", "path": "/data/a", "value": "9"}]),
        )
        .await;
        s.patch("configmaps/a", json!([{"op": "remove", "path": "/data/b"}]))
            .await;
        s.patch(
            "configmaps/a",
            json!([{"op": "move", "from": "/data/a", "path": "/data/z"}]),
        )
        .await;
        s.patch(
            "configmaps/a",
            json!([{"op": "copy", "from": "/data/z", "path": "/data/y"}]),
        )
        .await;
        let test = json!([{"op": "test", "path": "/data/z", "value": "9"},
            {"op": "add", "path": "/data/t", "value": "ok"}]);
        s.patch("configmaps/a", test).await;
    });
}

#[test]
fn json_patch_test_that_fails() {
    run(async |s| {
        s.create("configmaps", "a", json!({"data": {"a": "1"}}))
            .await;
        let patch = json!([{"op": "test", "path": "/data/a", "value": "2"},
            {"op": "add", "path": "/data/b", "value": "3"}]);
        s.patch("configmaps/a", patch).await;
        s.patch(
            "configmaps/a",
            json!([{"op": "test", "path": "/data/none", "value": "2"}]),
        )
        .await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.patch(
            "widgets/a",
            json!([{"op": "test", "path": "/spec/size", "value": 2}]),
        )
        .await;
        s.get("configmaps/a").await;
    });
}

#[test]
fn json_patch_of_missing_paths() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.patch(
            "configmaps/a",
            json!([{"op": "add", "path": "/data/a", "value": "2"}]),
        )
        .await;
        s.patch("configmaps/a", json!([{"op": "remove", "path": "/data"}]))
            .await;
        s.patch(
            "configmaps/a",
            json!([{"op": "replace", "path": "/data", "value": {}}]),
        )
        .await;
        s.patch(
            "configmaps/a",
            json!([{"op": "move", "from": "/data", "path": "/x"}]),
        )
        .await;
        s.patch(
            "configmaps/a",
            json!([{"op": "copy", "from": "/data", "path": "/x"}]),
        )
        .await;
    });
}

#[test]
fn json_patch_on_lists() {
    run(async |s| {
        s.create(
            "widgets",
            "a",
            json!({"spec": {"size": 1, "tags": ["a", "b"]}}),
        )
        .await;
        s.patch(
            "widgets/a",
            json!([{"op": "add", "path": "/spec/tags/-", "value": "c"}]),
        )
        .await;
        s.patch(
            "widgets/a",
            json!([{"op": "add", "path": "/spec/tags/0", "value": "z"}]),
        )
        .await;
        s.patch(
            "widgets/a",
            json!([{"op": "remove", "path": "/spec/tags/1"}]),
        )
        .await;
        s.patch(
            "widgets/a",
            json!([{"op": "replace", "path": "/spec/tags/9", "value": "z"}]),
        )
        .await;
        s.patch(
            "widgets/a",
            json!([{"op": "add", "path": "/spec/tags/9", "value": "z"}]),
        )
        .await;
        s.patch(
            "widgets/a",
            json!([{"op": "remove", "path": "/spec/tags/-1"}]),
        )
        .await;
    });
}

#[test]
fn json_patch_with_escaped_paths() {
    run(async |s| {
        let labels = json!({"metadata": {"labels": {"example.com/a": "1"}}, "spec": {"size": 1}});
        s.create("widgets", "a", labels).await;
        let path = "/metadata/labels/example.com~1a";
        s.patch(
            "widgets/a",
            json!([{"op": "replace", "path": path, "value": "2"}]),
        )
        .await;
        s.patch("widgets/a", json!([{"op": "remove", "path": path}]))
            .await;
    });
}

#[test]
fn json_patch_that_is_malformed() {
    run(async |s| {
        s.create("configmaps", "a", json!({"data": {"a": "b"}}))
            .await;
        for patch in [
            json!({"op": "add"}),
            json!([{"op": "nonsense", "path": "/data/a", "value": "x"}]),
            json!([{"op": "add", "value": "x"}]),
            json!([{"path": "/data/a", "value": "x"}]),
            json!([{"op": "add", "path": "data/a", "value": "x"}]),
            json!(["x"]),
            json!([]),
        ] {
            s.patch("configmaps/a", patch).await;
        }
    });
}

#[test]
fn json_patch_of_the_whole_object() {
    run(async |s| {
        s.create("configmaps", "a", json!({"data": {"a": "b"}}))
            .await;
        s.patch(
            "configmaps/a",
            json!([{"op": "replace", "path": "", "value": {}}]),
        )
        .await;
        let whole = s.object("configmaps", "a", json!({"data": {"x": "y"}}));
        s.patch(
            "configmaps/a",
            json!([{"op": "replace", "path": "", "value": whole}]),
        )
        .await;
    });
}

#[test]
fn json_patch_with_a_version_test() {
    run(async |s| {
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let patch = json!([
            {"op": "test", "path": "/metadata/resourceVersion", "value": made.rv()},
            {"op": "replace", "path": "/spec/size", "value": 2},
        ]);
        s.patch("widgets/a", patch.clone()).await;
        let answer = s.patch("widgets/a", patch).await;
        s.note("status", json!(answer.status));
    });
}

#[test]
fn json_patch_with_too_many_operations() {
    run(async |s| {
        s.create("configmaps", "a", json!({"data": {"a": "b"}}))
            .await;
        let one = json!({"op": "replace", "path": "/data/a", "value": "x"});
        s.patch("configmaps/a", json!(vec![one; 10_001])).await;
    });
}

#[test]
fn of_a_deleting_object() {
    run(async |s| {
        let with = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        s.create("widgets", "a", with).await;
        s.delete("widgets/a").await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        s.merge("widgets/a", json!({"metadata": {"labels": {"a": "b"}}}))
            .await;
        let add = json!({"metadata": {"finalizers": ["example.com/x", "example.com/y"]}});
        s.merge("widgets/a", add).await;
        s.merge(
            "widgets/a",
            json!({"metadata": {"deletionTimestamp": null}}),
        )
        .await;
        s.merge(
            "widgets/a",
            json!({"metadata": {"deletionGracePeriodSeconds": 5}}),
        )
        .await;
        s.merge("widgets/a", json!({"metadata": {"finalizers": null}}))
            .await;
        s.get("widgets/a").await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
    });
}

#[test]
fn with_an_unknown_content_type() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        for item in ["configmaps/a", "widgets/a"] {
            s.typed("PATCH", item, "application/json", "{}").await;
            s.typed("PATCH", item, "text/plain", "{}").await;
            s.typed("PATCH", item, "", "{}").await;
        }
        s.typed(
            "PATCH",
            "widgets/a",
            "application/strategic-merge-patch+json",
            "{}",
        )
        .await;
    });
}

#[test]
fn with_a_charset() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        let body = r#"{"data":{"a":"b"}}"#;
        s.typed(
            "PATCH",
            "configmaps/a",
            "application/merge-patch+json; charset=utf-8",
            body,
        )
        .await;
    });
}

#[test]
fn of_a_collection_is_not_allowed() {
    run(async |s| {
        s.merge("configmaps", json!({})).await;
        s.merge("widgets", json!({})).await;
    });
}

#[test]
fn finalizers_added_by_patch() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let patch =
            json!([{"op": "add", "path": "/metadata/finalizers", "value": ["example.com/x"]}]);
        s.patch("widgets/a", patch).await;
        s.merge(
            "widgets/a",
            json!({"metadata": {"finalizers": ["bad one!"]}}),
        )
        .await;
        s.merge("widgets/a", json!({"metadata": {"finalizers": []}}))
            .await;
    });
}
