//! Patches of every kind and content type.

use serde_json::json;

use crate::harness::run;

#[test]
fn nulls_in_lists_of_a_merge_patch() {
    run(async |s| {
        s.create(
            "notes",
            "a",
            json!({"list": [1], "map": {"x": 1}, "text": "t"}),
        )
        .await;
        for patch in [
            json!({"list": [{"a": null, "b": 1, "c": {"d": null}}, null, [null, {"e": null}]]}),
            json!({"fresh": [{"a": null, "b": [{"c": null}]}, null]}),
            json!({"map": [{"a": null}]}),
            json!({"text": {"a": null, "b": {"c": null, "d": [null, {"e": null}]}}}),
            json!({"map": {"a": null}, "other": {"a": null}}),
        ] {
            s.merge("notes/a", patch).await;
        }
    });
}

#[test]
fn json_patch_indices() {
    run(async |s| {
        for (index, operation) in [
            json!({"op": "add", "path": "/l/-1", "value": 9}),
            json!({"op": "add", "path": "/l/-2", "value": 9}),
            json!({"op": "add", "path": "/l/-4", "value": 9}),
            json!({"op": "add", "path": "/l/-5", "value": 9}),
            json!({"op": "add", "path": "/l/-0", "value": 9}),
            json!({"op": "add", "path": "/l/+1", "value": 9}),
            json!({"op": "add", "path": "/l/01", "value": 9}),
            json!({"op": "add", "path": "/l/1e0", "value": 9}),
            json!({"op": "add", "path": "/l/", "value": 9}),
            json!({"op": "add", "path": "/l/3", "value": 9}),
            json!({"op": "add", "path": "/l/4", "value": 9}),
            json!({"op": "remove", "path": "/l/-0"}),
            json!({"op": "remove", "path": "/l/-3"}),
            json!({"op": "remove", "path": "/l/-4"}),
            json!({"op": "remove", "path": "/l/-"}),
            json!({"op": "remove", "path": "/l/3"}),
            json!({"op": "replace", "path": "/l/-1", "value": 9}),
            json!({"op": "replace", "path": "/l/-", "value": 9}),
            json!({"op": "replace", "path": "/l/-4", "value": 9}),
            json!({"op": "test", "path": "/l/-1", "value": 3}),
            json!({"op": "test", "path": "/l/-", "value": 3}),
            json!({"op": "test", "path": "/l/9", "value": null}),
            json!({"op": "copy", "from": "/l/-1", "path": "/x"}),
            json!({"op": "copy", "from": "/l/9", "path": "/x"}),
            json!({"op": "copy", "from": "/none", "path": "/x"}),
            json!({"op": "move", "from": "/l/0", "path": "/l/2"}),
            json!({"op": "move", "from": "/l/0", "path": "/l/3"}),
            json!({"op": "move", "from": "/l", "path": "/l/0"}),
            json!({"op": "move", "from": "/l/0", "path": "/l/-"}),
            json!({"op": "move", "from": "/none", "path": "/x"}),
            json!({"op": "add", "path": "", "value": {"x": 1}}),
            json!({"op": "remove", "path": ""}),
            json!({"op": "move", "from": "", "path": "/x"}),
            json!({"op": "copy", "from": "", "path": "/x"}),
            json!({"op": "copy", "from": "/l", "path": ""}),
            json!({"op": "test", "path": "", "value": {}}),
            json!({"op": "replace", "path": "", "value": []}),
            json!({"op": "replace", "path": "", "value": 5}),
            json!({"op": "replace", "path": "", "value": null}),
            json!({"op": "add", "path": "/", "value": 1}),
            json!({"op": "add", "path": "/m/a~0b~1c~01", "value": 1}),
            json!({"op": "add", "path": "/m/~2", "value": 1}),
            json!({"op": "add", "path": "/t/x", "value": 1}),
            json!({"op": "add", "path": "/n/x", "value": 1}),
            json!({"op": "remove", "path": "/n"}),
            json!({"op": "add", "path": "/x"}),
            json!({"op": "replace", "path": "/t"}),
            json!({"op": "add", "value": 1}),
            json!({"op": "add", "path": null, "value": 1}),
            json!({"path": "/x", "value": 1}),
            json!({"op": "ADD", "path": "/x", "value": 1}),
            json!({"op": "add", "path": "/x", "value": 1, "extra": 1}),
            json!({"op": "copy", "path": "/x"}),
            json!({"op": "test", "path": "/t", "value": "t"}),
            json!({"op": "test", "path": "/t"}),
            json!({"op": "test", "path": "/none"}),
            json!({"op": "test", "path": "/none", "value": null}),
            json!({"op": "test", "path": "/none/x", "value": null}),
            json!({"op": "test", "path": "/m", "value": {"b": [1, {"c": 2}], "a": "x"}}),
            json!({"op": "test", "path": "/m", "value": {"a": "x"}}),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("n{index}");
            let body = json!({"l": [1, 2, 3], "t": "t", "n": null,
                "m": {"a": "x", "b": [1, {"c": 2}]}});
            s.create("notes", &name, body).await;
            s.patch(&format!("notes/{name}"), json!([operation])).await;
        }
    });
}

#[test]
fn patches_of_the_header() {
    run(async |s| {
        for plural in ["configmaps", "widgets", "namespaces", "gadgets"] {
            let name = format!("{}-h", s.ns);
            s.create(plural, &name, json!({"spec": {"size": 1}})).await;
            let item = format!("{plural}/{name}");
            for patch in [
                json!({"metadata": null}),
                json!({"metadata": "x"}),
                json!({"metadata": []}),
                json!({"apiVersion": null}),
                json!({"apiVersion": "x/y/z"}),
                json!({"apiVersion": 5}),
                json!({"kind": null}),
                json!({"kind": ""}),
                json!({"kind": 5}),
                json!({"metadata": {"name": null}}),
                json!({"metadata": {"name": ""}}),
                json!({"metadata": {"name": 5}}),
                json!({"metadata": {"namespace": null}}),
                json!({"metadata": {"namespace": "other"}}),
                json!({"metadata": {"uid": null}}),
                json!({"metadata": {"uid": "other"}}),
                json!({"metadata": {"creationTimestamp": null}}),
                json!({"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}}),
                json!({"metadata": {"creationTimestamp": "x"}}),
                json!({"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}}),
                json!({"metadata": {"deletionGracePeriodSeconds": 5}}),
                json!({"metadata": {"generation": 77}}),
                json!({"metadata": {"generation": null}}),
                json!({"metadata": {"selfLink": "x"}}),
                json!({"metadata": {"generateName": "x-"}}),
                json!({"metadata": {"generateName": "X"}}),
                json!({"metadata": {"labels": null}}),
                json!({"metadata": {"labels": []}}),
                json!({"metadata": {"labels": {"a": 1}}}),
                json!({"metadata": {"labels": {"a": ""}}}),
                json!({"metadata": {"annotations": {"UPPER.example.com/A": "x"}}}),
                json!({"metadata": {"finalizers": "x"}}),
                json!({"metadata": {"finalizers": [null]}}),
                json!({"metadata": {"finalizers": [""]}}),
                json!({"metadata": {"finalizers": ["example.com/a", "example.com/a"]}}),
                json!({"metadata": {"finalizers": null}}),
                json!({"metadata": {"ownerReferences": {}}}),
                json!({"metadata": {"ownerReferences": [{}]}}),
                json!({"metadata": {"ownerReferences": [null]}}),
                json!({"metadata": {"unknown": 1}}),
                json!({"metadata": {"managedFields": "x"}}),
                json!({"metadata": {"managedFields": [{"operation": "x"}]}}),
            ] {
                // An object without a kind is quoted as a whole.
                let kind = patch.get("kind");
                if kind.is_some_and(|kind| *kind == "" || kind.is_null()) {
                    continue;
                }
                s.merge(&item, patch).await;
            }
        }
    });
}

#[test]
fn content_types_of_patches() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        for item in ["configmaps/a", "widgets/a"] {
            for kind in [
                "Application/Merge-Patch+JSON",
                "application/merge-patch+json;charset=utf-8",
                "application/merge-patch+json ; charset=utf-8",
                " application/merge-patch+json",
                "application/merge-patch+json;",
                "application/merge-patch+json, application/json",
                ";application/merge-patch+json",
                "",
                "application/json",
                "application/yaml",
                "application/apply-patch+cbor",
            ] {
                s.typed("PATCH", item, kind, "{}").await;
            }
            s.raw("PATCH", item, &[], "{}").await;
        }
    });
}
