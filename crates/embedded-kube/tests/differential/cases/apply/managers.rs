//! `managedFields` of writes that apply nothing.

use serde_json::{Value, json};

use crate::harness::run;

fn entry(manager: &str, version: &str, fields: &Value) -> Value {
    json!({"manager": manager, "operation": "Update", "apiVersion": version,
        "time": "2020-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields})
}

#[test]
fn a_client_is_called_after_its_program() {
    run(async |s| {
        let long = "x".repeat(200);
        let agents = [
            "kubectl/v1.36.0 (linux/amd64)",
            "two words/1",
            "/nothing",
            "noslash",
            long.as_str(),
        ];
        for (index, agent) in agents.iter().enumerate() {
            let name = format!("a{index}");
            let body = s.object("configmaps", &name, json!({"data": {"a": "b"}}));
            let headers = [("content-type", "application/json"), ("user-agent", agent)];
            s.raw("POST", "configmaps", &headers, body.to_string())
                .await;
        }
    });
}

#[test]
fn the_parameter_names_the_manager_of_every_write() {
    run(async |s| {
        s.create(
            "configmaps?fieldManager=maker",
            "a",
            json!({"data": {"a": "1"}}),
        )
        .await;
        s.replace(
            "configmaps?fieldManager=putter",
            "a",
            json!({"data": {"a": "1", "b": "1"}}),
        )
        .await;
        s.merge(
            "configmaps/a?fieldManager=merger",
            json!({"data": {"c": "1"}}),
        )
        .await;
        s.strategic(
            "configmaps/a?fieldManager=strategist",
            json!({"metadata": {"labels": {"x": "y"}}}),
        )
        .await;
        s.patch(
            "configmaps/a?fieldManager=patcher",
            json!([{"op": "add", "path": "/data/d", "value": "1"}]),
        )
        .await;
    });
}

#[test]
fn whoever_changes_a_field_manages_it() {
    run(async |s| {
        s.create(
            "widgets?fieldManager=one",
            "a",
            json!({"spec": {"size": 1, "note": "a"}}),
        )
        .await;
        s.merge("widgets/a?fieldManager=two", json!({"spec": {"size": 2}}))
            .await;
        // To say what is so already changes nobody's fields.
        s.merge("widgets/a?fieldManager=three", json!({"spec": {"size": 2}}))
            .await;
        s.merge(
            "widgets/a?fieldManager=one",
            json!({"spec": {"size": 3, "ratio": 1.5}}),
        )
        .await;
        s.merge(
            "widgets/a?fieldManager=two",
            json!({"spec": {"note": null, "ratio": null}}),
        )
        .await;
    });
}

#[test]
fn a_manager_without_fields_is_gone() {
    run(async |s| {
        s.create(
            "configmaps?fieldManager=one",
            "a",
            json!({"data": {"a": "1"}}),
        )
        .await;
        s.merge("configmaps/a?fieldManager=two", json!({"data": {"b": "1"}}))
            .await;
        s.merge(
            "configmaps/a?fieldManager=three",
            json!({"data": {"b": null}}),
        )
        .await;
        s.merge("configmaps/a?fieldManager=three", json!({"data": null}))
            .await;
        s.create("configmaps?fieldManager=one", "empty", json!({}))
            .await;
        s.merge(
            "configmaps/empty?fieldManager=two",
            json!({"data": {"a": "1"}}),
        )
        .await;
    });
}

#[test]
fn an_empty_list_takes_all_managers_away() {
    run(async |s| {
        for (name, list) in [("a", json!([])), ("b", json!([{}]))] {
            for plural in ["configmaps", "widgets"] {
                s.create(
                    plural,
                    name,
                    json!({"spec": {"size": 1}, "data": {"a": "1"}}),
                )
                .await;
                let item = format!("{plural}/{name}");
                s.merge(&item, json!({"metadata": {"managedFields": list}}))
                    .await;
                // From now on nobody is noted.
                s.merge(&item, json!({"metadata": {"labels": {"x": "y"}}}))
                    .await;
                s.patch(
                    &item,
                    json!([{"op": "add", "path": "/metadata/managedFields", "value": list}]),
                )
                .await;
                s.replace(
                    plural,
                    name,
                    json!({"spec": {"size": 2}, "data": {"a": "2"}, "metadata": {
                        "managedFields": list, "resourceVersion": s.peek(&item).await.rv()}}),
                )
                .await;
            }
        }
        s.create("configmaps", "c", json!({"data": {"a": "1"}}))
            .await;
        s.strategic("configmaps/c", json!({"metadata": {"managedFields": []}}))
            .await;
        s.merge("configmaps/c", json!({"metadata": {"managedFields": null}}))
            .await;
        s.create(
            "configmaps",
            "d",
            json!({"metadata": {"managedFields": []}, "data": {"a": "1"}}),
        )
        .await;
    });
}

#[test]
fn managers_that_a_body_names_count() {
    run(async |s| {
        let fields = json!({"f:data": {"f:a": {}, "f:gone": {}}});
        let listed = json!([entry("said", "v1", &fields)]);
        s.create(
            "configmaps",
            "a",
            json!({"metadata": {"managedFields": listed}, "data": {"a": "1"}}),
        )
        .await;
        s.create("configmaps", "b", json!({"data": {"a": "1"}}))
            .await;
        s.merge(
            "configmaps/b",
            json!({"metadata": {"managedFields": listed}, "data": {"b": "1"}}),
        )
        .await;
        s.replace(
            "configmaps",
            "b",
            json!({"metadata": {"managedFields": listed}, "data": {"a": "2", "b": "1"}}),
        )
        .await;
        s.strategic(
            "configmaps/b",
            json!({"metadata": {"managedFields": listed}}),
        )
        .await;
    });
}

#[test]
fn managers_that_make_no_sense() {
    run(async |s| {
        s.create("configmaps", "a", json!({"data": {"a": "1"}}))
            .await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let good = json!({"f:data": {}});
        for (index, list) in [
            json!([{"manager": "x"}]),
            json!([{"operation": "Neither", "apiVersion": "v1", "fieldsType": "FieldsV1"}]),
            json!([{"operation": "Update", "fieldsType": "FieldsV1"}]),
            json!([{"operation": "Update", "apiVersion": "v1"}]),
            json!([{"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV9"}]),
            json!([{"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}]),
            json!([entry("x", "v1", &json!({"data": {}}))]),
            json!([entry("x", "v1", &json!({"f:data": 1}))]),
            json!([entry("x", "v1", &json!({"v:nothing": {}}))]),
            json!([entry("x", "v1", &json!({"z:new": {}, "f:data": {}}))]),
            json!([
                entry("", "v1", &good),
                entry("", "v1", &json!({"f:binaryData": {}}))
            ]),
            json!([entry("x", "v1", &json!(null))]),
            json!([{"operation": "Update", "nope": 1, "apiVersion": "v1"}]),
        ]
        .into_iter()
        .enumerate()
        {
            let patch =
                json!({"metadata": {"managedFields": list, "labels": {"l": index.to_string()}}});
            s.merge("configmaps/a", patch.clone()).await;
            s.merge("widgets/a", patch).await;
        }
        for list in [
            json!("x"),
            json!({}),
            json!([1]),
            json!([{"time": "never"}]),
        ] {
            let patch = json!({"metadata": {"managedFields": list}});
            s.merge("configmaps/a", patch.clone()).await;
            s.merge("widgets/a", patch).await;
        }
    });
}

#[test]
fn managers_of_versions_that_are_not_there() {
    run(async |s| {
        s.create("configmaps", "a", json!({"data": {"a": "1"}}))
            .await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        for version in ["v1beta7", "apps/v1", "fixture.freehold.dev/v7", "a/b/c"] {
            let fields = json!({"f:data": {"f:a": {}}, "f:spec": {"f:size": {}}});
            let list = json!([entry("old", version, &fields)]);
            let patch = json!({"metadata": {"managedFields": list, "labels": {"x": "y"}}});
            s.merge("configmaps/a", patch.clone()).await;
            s.merge("widgets/a", patch).await;
            s.merge("configmaps/a", json!({"metadata": {"labels": {"x": "z"}}}))
                .await;
            s.merge("widgets/a", json!({"metadata": {"labels": {"x": "z"}}}))
                .await;
        }
    });
}

#[test]
fn a_status_has_managers_of_its_own() {
    run(async |s| {
        s.create(
            "widgets",
            "a",
            json!({"spec": {"size": 1}, "status": {"phase": "x"}}),
        )
        .await;
        s.merge("widgets/a/status", json!({"status": {"phase": "y"}}))
            .await;
        s.merge("widgets/a/status", json!({"status": {"replicas": 1}}))
            .await;
        let list = json!([entry(
            "said",
            "fixture.freehold.dev/v1",
            &json!({"f:status": {}})
        )]);
        s.merge(
            "widgets/a/status",
            json!({"metadata": {"managedFields": list}, "status": {"phase": "z"}}),
        )
        .await;
        s.merge(
            "widgets/a/status",
            json!({"metadata": {"managedFields": []}}),
        )
        .await;
        s.merge("widgets/a/status", json!({"status": null})).await;
    });
}

#[test]
fn what_a_status_cannot_change_is_not_managed() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge(
            "widgets/a/status",
            json!({"spec": {"size": 2, "note": "x"}, "metadata": {"labels": {"a": "b"}}}),
        )
        .await;
        s.merge("widgets@v1beta1/a/status", json!({"spec": {"older": "x"}}))
            .await;
        s.merge("widgets/a", json!({"status": {"phase": "x"}}))
            .await;
        // A status that does not fit its schema costs the managers.
        s.merge("widgets/a", json!({"status": {"phase": 1}})).await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        s.create(
            "widgets",
            "b",
            json!({"spec": {"size": 1}, "status": {"phase": 1}}),
        )
        .await;
    });
}

#[test]
fn what_the_server_sets_is_not_managed() {
    run(async |s| {
        s.create(
            "configmaps",
            "a",
            json!({"metadata": {"generation": 7, "generateName": "a-", "selfLink": "x"}}),
        )
        .await;
        s.post(
            "configmaps",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "g-"}}),
        )
        .await;
        let spec = json!({"spec": {"finalizers": ["example.com/x"]}});
        s.merge("namespaces/{ns}", spec.clone()).await;
        s.merge("namespaces/{ns}", spec.clone()).await;
        s.merge("namespaces/{ns}/status", spec).await;
        s.merge(
            "namespaces/{ns}/status",
            json!({"status": {"phase": "Active", "conditions": [
            {"type": "A", "status": "True"}]}}),
        )
        .await;
    });
}

#[test]
fn owners_and_finalizers_are_managed_one_by_one() {
    run(async |s| {
        let owner = s.create("configmaps", "owner", json!({})).await;
        let other = s.create("configmaps", "other", json!({})).await;
        let reference = |name: &str, uid: String| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid});
        for plural in ["configmaps", "widgets"] {
            s.create(
                plural,
                "a",
                json!({"spec": {"size": 1}, "metadata": {
                    "ownerReferences": [reference("owner", owner.uid())],
                    "finalizers": ["example.com/a"]}}),
            )
            .await;
            let item = format!("{plural}/a?fieldManager=two");
            let both = [
                reference("owner", owner.uid()),
                reference("other", other.uid()),
            ];
            s.merge(
                &item,
                json!({"metadata": {"finalizers": ["example.com/b", "example.com/a"],
                    "ownerReferences": both}}),
            )
            .await;
            let mut changed = reference("owner", owner.uid());
            changed["controller"] = json!(true);
            s.merge(&item, json!({"metadata": {"ownerReferences": [changed]}}))
                .await;
            s.merge(&item, json!({"metadata": {"finalizers": null}}))
                .await;
        }
    });
}

#[test]
fn of_many_that_update_the_oldest_become_one() {
    run(async |s| {
        s.create(
            "configmaps?fieldManager=m00",
            "a",
            json!({"data": {"k00": "0"}}),
        )
        .await;
        // The names are in the order of the times.
        for index in 1..14 {
            let key = format!("k{index:02}");
            s.merge(
                &format!("configmaps/a?fieldManager=m{index:02}"),
                json!({"data": {key: "1"}}),
            )
            .await;
        }
    });
}

#[test]
fn each_version_has_its_own_oldest() {
    run(async |s| {
        s.create(
            "widgets?fieldManager=m00",
            "a",
            json!({"spec": {"size": 1}}),
        )
        .await;
        for index in 1..14 {
            let version = if index % 2 == 0 { "v1" } else { "v1beta1" };
            let key = format!("k{index:02}");
            s.merge(
                &format!("widgets@{version}/a?fieldManager=m{index:02}"),
                json!({"spec": {"labels": {key: "1"}}}),
            )
            .await;
        }
    });
}

#[test]
fn a_dry_run_shows_its_manager() {
    run(async |s| {
        s.create(
            "widgets?dryRun=All&fieldManager=one",
            "a",
            json!({"spec": {"size": 1}}),
        )
        .await;
        s.create(
            "widgets?fieldManager=one",
            "a",
            json!({"spec": {"size": 1}}),
        )
        .await;
        s.merge(
            "widgets/a?dryRun=All&fieldManager=two",
            json!({"spec": {"size": 2}}),
        )
        .await;
        s.get("widgets/a").await;
        s.apply_as(
            "three&dryRun=All",
            "widgets/a",
            json!({"spec": {"note": "x"}}),
        )
        .await;
        s.apply_as(
            "three&dryRun=All",
            "widgets/b",
            json!({"spec": {"size": 1}}),
        )
        .await;
        s.get("widgets/a").await;
        s.get("widgets/b").await;
    });
}

#[test]
fn versions_have_managers_of_their_own() {
    run(async |s| {
        s.create(
            "widgets?fieldManager=one",
            "a",
            json!({"spec": {"size": 1, "newer": "n"}}),
        )
        .await;
        s.merge(
            "widgets@v1beta1/a?fieldManager=one",
            json!({"spec": {"note": "x", "older": "o"}}),
        )
        .await;
        s.merge("widgets/a?fieldManager=two", json!({"spec": {"note": "y"}}))
            .await;
        s.get("widgets@v1beta1/a").await;
        s.merge(
            "widgets@v1beta1/a?fieldManager=two",
            json!({"spec": {"newer": null}}),
        )
        .await;
    });
}

#[test]
fn a_deletion_manages_nothing() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let held = json!({"metadata": {"finalizers": ["example.com/a"]}, "spec": {"size": 1}});
            s.create(&format!("{plural}?fieldManager=one"), "a", held)
                .await;
            let item = format!("{plural}/a");
            s.delete_with(&item, json!({"propagationPolicy": "Foreground"}))
                .await;
            s.until(&item, |answer| {
                answer.body["metadata"]["finalizers"]
                    .as_array()
                    .is_some_and(|all| all.len() == 1)
            })
            .await;
            s.merge(
                &format!("{item}?fieldManager=two"),
                json!({"metadata": {"finalizers": null}}),
            )
            .await;
        }
    });
}

#[test]
fn duplicates_are_one_field() {
    run(async |s| {
        let crd = s.definition(
            "bags",
            "Bag",
            json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
                "tags": {"type": "array", "items": {"type": "string"}}}}}}),
        );
        s.crd(crd).await;
        s.create("bags", "a", json!({"spec": {"tags": ["a", "a", "b"]}}))
            .await;
        s.apply_as("one", "bags/a", json!({"spec": {"tags": ["c", "c"]}}))
            .await;
    });
}

/// The garbage collector takes owners away.
#[test]
fn the_collector_is_a_manager() {
    run(async |s| {
        let owner = s.create("configmaps", "owner", json!({})).await;
        let reference = |name: &str, uid: String| {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid,
                "blockOwnerDeletion": true})
        };
        let owned = json!({"metadata": {"ownerReferences": [reference("owner", owner.uid())]}});
        s.create("configmaps?fieldManager=maker", "owned", owned)
            .await;
        s.delete_with("configmaps/owner", json!({"propagationPolicy": "Orphan"}))
            .await;
        s.until_gone("configmaps/owner").await;
        s.get("configmaps/owned").await;
    });
}
