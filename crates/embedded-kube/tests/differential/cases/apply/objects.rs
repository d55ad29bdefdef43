//! What an apply makes of an object.

use serde_json::json;

use crate::harness::run;

#[test]
fn what_is_not_there_is_created() {
    run(async |s| {
        s.apply_as("one", "configmaps/a", json!({"data": {"a": "1"}}))
            .await;
        s.apply_as("one", "widgets/a", json!({"spec": {"size": 1}}))
            .await;
        s.apply_as(
            "one",
            "notes/a",
            json!({"spec": {"a": {"b": [1]}}, "status": {"x": 1}}),
        )
        .await;
        let gadget = format!("gadgets/{}", s.ns);
        s.apply_as("one", &gadget, json!({"spec": {"a": "x"}}))
            .await;
        s.delete(&gadget).await;
        s.apply_as("one", "configmaps/empty", json!({})).await;
        s.get("configmaps/empty").await;
    });
}

#[test]
fn the_same_again_changes_nothing() {
    run(async |s| {
        for (plural, rest) in [
            (
                "configmaps",
                json!({"data": {"a": "1"}, "metadata": {"labels": {"x": "y"}}}),
            ),
            (
                "widgets",
                json!({"spec": {"size": 1, "parts": [{"name": "p"}]}}),
            ),
            ("notes", json!({"spec": {"a": 1}})),
        ] {
            let item = format!("{plural}/a");
            s.apply_as("one", &item, rest.clone()).await;
            s.apply_as("one", &item, rest.clone()).await;
            // Another manager of the same is a change.
            s.apply_as("two", &item, rest.clone()).await;
            s.apply_as("two", &item, rest.clone()).await;
            s.get(&item).await;
        }
    });
}

#[test]
fn what_is_no_longer_applied_goes() {
    run(async |s| {
        s.apply_as(
            "one",
            "widgets/a",
            json!({"metadata": {"labels": {"a": "1", "b": "2"}, "annotations": {"n": "1"}},
                "spec": {"size": 1, "note": "x", "color": "blue", "labels": {"k": "v", "l": "w"},
                    "free": {"x": {"y": 1, "z": 2}}, "nested": {"level": "x", "deep": {"on": false}}}}),
        )
        .await;
        s.apply_as(
            "one",
            "widgets/a",
            json!({"metadata": {"labels": {"a": "1"}}, "spec": {"size": 1, "labels": {"l": "w"},
                "free": {"x": {"y": 1}}, "nested": {"deep": {}}}}),
        )
        .await;
        s.apply_as("one", "widgets/a", json!({"spec": {"size": 1}}))
            .await;
        // What must be there cannot go.
        s.apply_as("one", "widgets/a", json!({})).await;
        s.apply_as("one", "widgets/a", json!({"spec": {}})).await;
        s.get("widgets/a").await;
    });
}

#[test]
fn what_others_manage_stays() {
    run(async |s| {
        s.apply_as(
            "one",
            "configmaps/a",
            json!({"data": {"a": "1", "b": "1", "c": "1"}}),
        )
        .await;
        s.apply_as("two", "configmaps/a", json!({"data": {"a": "1"}}))
            .await;
        s.merge(
            "configmaps/a?fieldManager=three",
            json!({"data": {"d": "1"}}),
        )
        .await;
        s.merge(
            "configmaps/a?fieldManager=three",
            json!({"data": {"b": "2"}}),
        )
        .await;
        s.apply_as("one", "configmaps/a", json!({})).await;
        s.apply_as(
            "two",
            "configmaps/a",
            json!({"metadata": {"labels": {"x": "y"}}}),
        )
        .await;
        s.apply_as("two", "configmaps/a", json!({})).await;
    });
}

#[test]
fn fields_have_several_managers() {
    run(async |s| {
        s.apply_as(
            "one",
            "widgets/a",
            json!({"spec": {"size": 1, "color": "blue"}}),
        )
        .await;
        s.apply_as(
            "two",
            "widgets/a",
            json!({"spec": {"size": 1, "color": "blue", "note": "x"}}),
        )
        .await;
        s.apply_as("one", "widgets/a", json!({"spec": {"size": 1}}))
            .await;
        s.apply_as("two", "widgets/a", json!({"spec": {"size": 1}}))
            .await;
        s.apply_as("one", "widgets/a", json!({"spec": {"color": "green"}}))
            .await;
    });
}

#[test]
fn a_manager_can_update_and_apply() {
    run(async |s| {
        s.create(
            "configmaps?fieldManager=one",
            "a",
            json!({"data": {"a": "1", "b": "1"}}),
        )
        .await;
        s.apply_as("one", "configmaps/a", json!({"data": {"a": "1"}}))
            .await;
        s.apply_as("one", "configmaps/a", json!({"data": {"a": "2"}}))
            .await;
        s.apply_as(
            "one&force=true",
            "configmaps/a",
            json!({"data": {"a": "2"}}),
        )
        .await;
        s.merge("configmaps/a?fieldManager=one", json!({"data": {"a": "3"}}))
            .await;
        s.apply_as("one", "configmaps/a", json!({"data": {"b": "1"}}))
            .await;
    });
}

#[test]
fn objects_without_managers_get_one_for_what_was_there() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            s.create(
                plural,
                "a",
                json!({"data": {"a": "1"}, "spec": {"size": 1}}),
            )
            .await;
            let item = format!("{plural}/a");
            s.merge(&item, json!({"metadata": {"managedFields": [{}]}}))
                .await;
            s.apply_as("one", &item, json!({"metadata": {"labels": {"x": "y"}}}))
                .await;
            s.apply_as(
                "one",
                &item,
                json!({"data": {"a": "2"}, "spec": {"size": 2}}),
            )
            .await;
        }
    });
}

#[test]
fn through_status_only_the_status_is_applied() {
    run(async |s| {
        s.apply_as("one", "widgets/a/status", json!({"status": {"phase": "x"}}))
            .await;
        s.create(
            "widgets?fieldManager=maker",
            "a",
            json!({"spec": {"size": 1}}),
        )
        .await;
        s.apply_as(
            "one",
            "widgets/a/status",
            json!({"metadata": {"labels": {"x": "y"}}, "spec": {"size": 2},
                "status": {"phase": "x", "replicas": 1}}),
        )
        .await;
        s.apply_as("two", "widgets/a/status", json!({"status": {"phase": "y"}}))
            .await;
        s.apply_as(
            "two&force=true",
            "widgets/a/status",
            json!({"status": {"phase": "y"}}),
        )
        .await;
        s.apply_as("one", "widgets/a/status", json!({"status": {}}))
            .await;
        s.apply_as("one", "widgets/a/status", json!({})).await;
        s.apply_as("one", "widgets/a", json!({"status": {"phase": "z"}}))
            .await;
        s.apply_as("one", "notes/a/status", json!({"status": {}}))
            .await;
    });
}

#[test]
fn versions_are_applied_side_by_side() {
    run(async |s| {
        s.apply_as(
            "one",
            "widgets/a",
            json!({"spec": {"size": 1, "note": "x", "newer": "n"}}),
        )
        .await;
        s.apply_as(
            "two",
            "widgets@v1beta1/a",
            json!({"spec": {"size": 1, "older": "o"}}),
        )
        .await;
        // The same manager in another version is the same manager.
        s.apply_as("one", "widgets@v1beta1/a", json!({"spec": {"size": 1}}))
            .await;
        s.apply_as("two", "widgets/a", json!({"spec": {"size": 2}}))
            .await;
        s.apply_as("two&force=true", "widgets/a", json!({"spec": {"size": 2}}))
            .await;
        s.get("widgets@v1beta1/a").await;
    });
}

#[test]
fn on_a_deleting_object() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let held = json!({"metadata": {"finalizers": ["example.com/a"]}, "spec": {"size": 1}});
            let item = format!("{plural}/a");
            s.apply_as(
                "one",
                &item,
                if plural == "widgets" {
                    held
                } else {
                    json!({"metadata": {"finalizers": ["example.com/a"]}})
                },
            )
            .await;
            s.delete(&item).await;
            let rest = |finalizers: serde_json::Value| match plural {
                "widgets" => json!({"metadata": {"finalizers": finalizers}, "spec": {"size": 2}}),
                _ => json!({"metadata": {"finalizers": finalizers}, "data": {"a": "1"}}),
            };
            s.apply_as("one", &item, rest(json!(["example.com/a"])))
                .await;
            s.apply_as(
                "one",
                &item,
                rest(json!(["example.com/a", "example.com/b"])),
            )
            .await;
            s.apply_as("one", &item, rest(json!([]))).await;
            s.get(&item).await;
        }
    });
}

#[test]
fn preconditions_are_part_of_the_configuration() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let item = format!("{plural}/a");
            let rest = |metadata: serde_json::Value, size: i64| match plural {
                "widgets" => json!({"metadata": metadata, "spec": {"size": size}}),
                _ => json!({"metadata": metadata, "data": {"a": size.to_string()}}),
            };
            let uid = "11111111-2222-4333-8444-555555555555";
            s.apply_as("one", &item, rest(json!({"uid": uid}), 1)).await;
            s.apply_as("one", &item, rest(json!({"resourceVersion": "5"}), 1))
                .await;
            s.apply_as("one", &item, rest(json!({"resourceVersion": "x"}), 1))
                .await;
            let made = s.apply_as("one", &item, rest(json!({}), 1)).await;
            s.apply_as("one", &item, rest(json!({"uid": uid}), 2)).await;
            s.apply_as("one", &item, rest(json!({"uid": made.uid()}), 2))
                .await;
            s.apply_as("one", &item, rest(json!({"resourceVersion": made.rv()}), 3))
                .await;
            let now = s.peek(&item).await.rv();
            s.apply_as("one", &item, rest(json!({"resourceVersion": now}), 3))
                .await;
            s.get(&item).await;
        }
    });
}

#[test]
fn what_is_merged_must_be_valid() {
    run(async |s| {
        s.apply_as("one", "widgets/a", json!({"spec": {"note": "x"}}))
            .await;
        s.apply_as("one", "widgets/a", json!({"spec": {"size": -1}}))
            .await;
        s.apply_as("one", "widgets/a", json!({"spec": {"size": 1}}))
            .await;
        s.apply_as("two", "widgets/a", json!({"spec": {"color": "pink"}}))
            .await;
        s.apply_as(
            "two",
            "widgets/a",
            json!({"metadata": {"labels": {"a": "not ok!"}}}),
        )
        .await;
        s.apply_as(
            "one",
            "configmaps/a",
            json!({"immutable": true, "data": {"a": "1"}}),
        )
        .await;
        s.apply_as(
            "one",
            "configmaps/a",
            json!({"immutable": true, "data": {"a": "2"}}),
        )
        .await;
        s.apply_as("one", "configmaps/a", json!({"data": {"a": "1"}}))
            .await;
        s.apply_as("one", "configmaps/Bad_Name", json!({})).await;
    });
}

#[test]
fn namespaces_must_live() {
    run(async |s| {
        let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        let path = "/api/v1/namespaces/nowhere-at-all/configmaps/a?fieldManager=one";
        s.apply(path, config.clone()).await;
        s.create(
            "configmaps",
            "held",
            json!({"metadata": {"finalizers": ["example.com/a"]}}),
        )
        .await;
        s.delete("namespaces/{ns}").await;
        s.until_peek("configmaps/held", |held| {
            !held.text("/metadata/deletionTimestamp").is_empty()
        })
        .await;
        s.apply_as("one", "configmaps/a", json!({})).await;
        s.apply_as("one", "widgets/a", json!({"spec": {"size": 1}}))
            .await;
        s.merge("configmaps/held", json!({"metadata": {"finalizers": null}}))
            .await;
    });
}

#[test]
fn watches_tell_of_managers() {
    run(async |s| {
        let begin = s.peek("widgets?limit=1").await.rv();
        s.apply_as("one", "widgets/a", json!({"spec": {"size": 1}}))
            .await;
        s.apply_as("one", "widgets/a", json!({"spec": {"size": 1}}))
            .await;
        s.apply_as("two", "widgets/a", json!({"spec": {"size": 1}}))
            .await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        s.delete("widgets/a").await;
        s.create("widgets", "zz-last", json!({"spec": {"size": 1}}))
            .await;
        let mut watch = s
            .watch(&format!("widgets?watch=true&resourceVersion={begin}"))
            .await;
        watch.take_until(s, "zz-last").await;
    });
}

#[test]
fn owners_and_finalizers_are_applied() {
    run(async |s| {
        let owner = s.create("configmaps", "owner", json!({})).await;
        let reference = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
            "uid": owner.uid()});
        for plural in ["configmaps", "notes"] {
            let item = format!("{plural}/a");
            s.apply_as(
                "one",
                &item,
                json!({"metadata": {"finalizers": ["example.com/a"],
                "ownerReferences": [reference]}}),
            )
            .await;
            let mut changed = reference.clone();
            changed["blockOwnerDeletion"] = json!(true);
            let config = json!({"metadata": {"ownerReferences": [changed],
                "finalizers": ["example.com/b", "example.com/a"]}});
            s.apply_as("two", &item, config.clone()).await;
            s.apply_as("two&force=true", &item, config).await;
            s.apply_as("one", &item, json!({})).await;
            s.apply_as(
                "two",
                &item,
                json!({"metadata": {"ownerReferences": [reference, reference]}}),
            )
            .await;
            s.apply_as(
                "two",
                &item,
                json!({"metadata": {"ownerReferences": [{"name": "x"}]}}),
            )
            .await;
        }
    });
}

#[test]
fn through_scale() {
    run(async |s| {
        let scale = |replicas: i64| {
            json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"},
                "spec": {"replicas": replicas}})
        };
        let path = "widgets/a/scale?fieldManager=one";
        s.apply(path, scale(1)).await;
        s.create(
            "widgets?fieldManager=maker",
            "a",
            json!({"spec": {"size": 1}}),
        )
        .await;
        s.apply(path, scale(1)).await;
        s.merge(
            "widgets/a?fieldManager=maker",
            json!({"spec": {"replicas": 1}}),
        )
        .await;
        s.apply(path, scale(1)).await;
        s.get("widgets/a").await;
        s.apply(path, scale(2)).await;
        s.apply("widgets/a/scale?fieldManager=one&force=true", scale(2))
            .await;
        s.apply_as("one", "widgets/a", json!({"spec": {"replicas": 1}}))
            .await;
        s.apply(path, scale(3)).await;
        s.apply(path, s.object("widgets", "a", json!({}))).await;
    });
}

#[test]
fn scaling_takes_the_replicas() {
    run(async |s| {
        s.apply_as(
            "one",
            "widgets/a",
            json!({"spec": {"size": 1, "replicas": 1}}),
        )
        .await;
        s.merge(
            "widgets/a/scale?fieldManager=hpa",
            json!({"spec": {"replicas": 1}}),
        )
        .await;
        s.get("widgets/a").await;
        s.merge(
            "widgets/a/scale?fieldManager=hpa",
            json!({"spec": {"replicas": 2}}),
        )
        .await;
        s.get("widgets/a").await;
        s.merge(
            "widgets/a/scale?fieldManager=other",
            json!({"spec": {"replicas": 3}}),
        )
        .await;
        s.get("widgets/a").await;
        s.apply_as(
            "one",
            "widgets/a",
            json!({"spec": {"size": 1, "replicas": 1}}),
        )
        .await;
        s.create(
            "widgets?fieldManager=maker",
            "b",
            json!({"spec": {"size": 1, "replicas": 1}}),
        )
        .await;
        s.merge(
            "widgets/b/scale?fieldManager=maker",
            json!({"spec": {"replicas": 1}}),
        )
        .await;
        s.get("widgets/b").await;
        s.merge(
            "widgets/b?fieldManager=maker",
            json!({"spec": {"note": "x"}}),
        )
        .await;
        s.merge(
            "widgets@v1beta1/b/scale?fieldManager=maker",
            json!({"spec": {"replicas": 5}, "metadata": {"labels": {"x": "y"}}}),
        )
        .await;
        s.get("widgets/b").await;
    });
}
