//! Strategic merge patches of built-in kinds: lists with merge keys, sets, and the directives.

use serde_json::{Value, json};

use crate::harness::{Script, run};

fn owner(name: &str, more: &Value) -> Value {
    let base = json!({"apiVersion": "v1", "kind": "Namespace", "name": name, "uid": name});
    crate::harness::merge(base, more.clone())
}

/// A config map whose owners are of the kind that no collector looks at here.
async fn owned(s: &mut Script, name: &str, owners: &[&str]) {
    let owners: Vec<Value> = owners
        .iter()
        .map(|one| json!({"apiVersion": "none.example.com/v1", "kind": "None", "name": one, "uid": one}))
        .collect();
    s.create(
        "configmaps",
        name,
        json!({"metadata": {"ownerReferences": owners}}),
    )
    .await;
}

#[test]
fn maps_are_merged_and_nulls_remove() {
    run(async |s| {
        s.create(
            "configmaps",
            "a",
            json!({"data": {"a": "1", "b": "2"}, "metadata": {"labels": {"x": "y"}}}),
        )
        .await;
        for patch in [
            json!({"data": {"a": null, "c": "3"}}),
            json!({"metadata": {"labels": {"z": "1", "none": null}}}),
            json!({"data": null}),
            json!({"data": {"d": "4", "none": null}}),
            json!({"metadata": {"annotations": {"n": null}}}),
            json!({}),
        ] {
            s.strategic("configmaps/a", patch).await;
        }
    });
}

#[test]
fn owner_references_are_merged_by_uid() {
    run(async |s| {
        owned(s, "a", &["u1", "u2"]).await;
        let none = |uid: &str, more: Value| {
            crate::harness::merge(
                json!({"apiVersion": "none.example.com/v1", "kind": "None", "name": uid, "uid": uid}),
                more,
            )
        };
        for owners in [
            json!([{"uid": "u2", "controller": true}]),
            json!([none("u3", json!({"blockOwnerDeletion": true}))]),
            json!([none("u0", json!({})), {"uid": "u1", "name": "renamed"}]),
            json!([{"uid": "u3", "blockOwnerDeletion": null}]),
            json!([{"$patch": "delete", "uid": "u2"}]),
            json!([{"$patch": "delete", "uid": "nobody"}]),
            json!([{"$patch": "replace"}, none("u9", json!({}))]),
            json!([{"$patch": "replace"}]),
        ] {
            s.strategic(
                "configmaps/a",
                json!({"metadata": {"ownerReferences": owners}}),
            )
            .await;
        }
    });
}

#[test]
fn items_without_their_merge_key_are_refused() {
    run(async |s| {
        owned(s, "a", &["u1"]).await;
        for owners in [
            json!([{"name": "x"}]),
            json!([{"$patch": "delete", "name": "x"}]),
            json!([{"$patch": "nonsense", "uid": "u1"}]),
            json!([{"$patch": "merge", "uid": "u1"}]),
        ] {
            s.strategic(
                "configmaps/a",
                json!({"metadata": {"ownerReferences": owners}}),
            )
            .await;
        }
        s.get("configmaps/a").await;
    });
}

#[test]
fn a_new_list_is_taken_as_it_is() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        let owners = json!([owner("u1", &json!({"controller": null})),
            {"$patch": "delete", "uid": "u2"}]);
        s.strategic(
            "configmaps/a?dryRun=All",
            json!({"metadata": {"ownerReferences": owners}}),
        )
        .await;
        s.strategic(
            "configmaps/a",
            json!({"metadata": {"finalizers": ["example.com/a", "example.com/b"]}}),
        )
        .await;
        s.strategic("configmaps/a", json!({"metadata": {"finalizers": null}}))
            .await;
    });
}

#[test]
fn finalizers_are_a_set() {
    run(async |s| {
        let names = |names: &[&str]| -> Value {
            names
                .iter()
                .map(|name| format!("example.com/{name}"))
                .collect()
        };
        s.create(
            "configmaps",
            "a",
            json!({"metadata": {"finalizers": names(&["a", "b", "c"])}}),
        )
        .await;
        for metadata in [
            json!({"finalizers": names(&["d"])}),
            json!({"finalizers": names(&["e", "b", "e"])}),
            json!({"finalizers": []}),
            json!({"$deleteFromPrimitiveList/finalizers": names(&["a", "none"])}),
            json!({"$deleteFromPrimitiveList/finalizers": []}),
            json!({"$setElementOrder/finalizers": names(&["c", "b"])}),
            json!({"$setElementOrder/finalizers": names(&["f", "e", "c"]), "finalizers": names(&["f"])}),
            json!({"$setElementOrder/finalizers": names(&["e"]), "finalizers": names(&["g"])}),
            json!({"$deleteFromPrimitiveList/finalizers": "no list"}),
            json!({"$deleteFromPrimitiveList": ["x"]}),
            json!({"$setElementOrder": ["x"]}),
            json!({"$setElementOrder/finalizers": "no list"}),
            json!({"$deleteFromPrimitiveList/labels": ["x"]}),
        ] {
            s.strategic("configmaps/a", json!({"metadata": metadata}))
                .await;
        }
        s.get("configmaps/a").await;
        s.merge("configmaps/a", json!({"metadata": {"finalizers": null}}))
            .await;
    });
}

#[test]
fn secrets_of_service_accounts() {
    run(async |s| {
        s.create(
            "serviceaccounts",
            "a",
            json!({"secrets": [{"name": "s1"}, {"name": "s2", "namespace": "n"}],
                "imagePullSecrets": [{"name": "p1"}, {"name": "p2"}]}),
        )
        .await;
        for patch in [
            json!({"secrets": [{"name": "s2", "kind": "Secret"}, {"name": "s3"}]}),
            json!({"imagePullSecrets": [{"name": "p3"}]}),
            json!({"secrets": [{"$patch": "delete", "name": "s1"}]}),
            json!({"$setElementOrder/secrets": [{"name": "s3"}, {"name": "s2"}],
                "secrets": [{"name": "s2", "uid": "u"}]}),
            json!({"$setElementOrder/secrets": [{"name": "s2"}, {"name": "s3"}]}),
            json!({"$setElementOrder/secrets": [{"name": "s2"}, {"name": "s4"}],
                "secrets": [{"name": "s4"}, {"$patch": "delete", "name": "s3"}]}),
            json!({"$setElementOrder/secrets": [{"name": "s2"}], "secrets": [{"name": "s5"}]}),
            json!({"$setElementOrder/secrets": [{"kind": "x"}]}),
            json!({"secrets": null, "imagePullSecrets": []}),
            json!({"$setElementOrder/secrets": [{"name": "s1"}]}),
            json!({"$setElementOrder/secrets": [{"name": "s1"}], "secrets": [{"name": "s1"}]}),
        ] {
            s.strategic("serviceaccounts/a", patch).await;
        }
    });
}

#[test]
fn directives_of_maps() {
    run(async |s| {
        let all = json!({"data": {"a": "1", "b": "2", "c": "3"},
            "metadata": {"labels": {"x": "1", "y": "2"}}});
        s.create("configmaps", "a", all).await;
        for patch in [
            json!({"data": {"$retainKeys": ["a", "d"], "d": "4"}}),
            json!({"data": {"$retainKeys": ["a"], "e": "5"}}),
            json!({"data": {"$retainKeys": "a"}}),
            json!({"data": {"$retainKeys": ["a"], "d": null}}),
            json!({"metadata": {"labels": {"$patch": "replace", "z": "3"}}}),
            json!({"metadata": {"labels": {"$patch": "delete"}}}),
            json!({"data": {"$patch": "delete", "x": "y"}}),
            json!({"data": {"$patch": "nonsense"}}),
            json!({"metadata": {"annotations": {"$patch": "replace", "a": "b"}}}),
            json!({"metadata": {"annotations": {"$patch": "delete"}}}),
            json!({"data": {"x": "y"}, "$retainKeys": ["data", "metadata", "kind", "apiVersion"]}),
        ] {
            s.strategic("configmaps/a", patch).await;
        }
    });
}

#[test]
fn a_replaced_object_needs_its_name() {
    run(async |s| {
        s.create("configmaps", "a", json!({"data": {"a": "1"}}))
            .await;
        for patch in [
            json!({"$patch": "replace", "data": {"b": "2"}}),
            json!({"$patch": "replace", "metadata": {"name": "a"}, "data": {"b": "2"}}),
            json!({"$patch": "delete"}),
            json!({"metadata": {"$patch": "replace", "name": "a", "labels": {"x": "y"}}}),
        ] {
            s.strategic("configmaps/a", patch).await;
        }
    });
}

#[test]
fn other_lists_are_replaced() {
    run(async |s| {
        let name = format!("volume-{}", s.ns);
        s.create(
            "persistentvolumes",
            &name,
            json!({"spec": {"capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
                "mountOptions": ["a", "b"], "nfs": {"server": "s", "path": "/p"}}}),
        )
        .await;
        let path = format!("persistentvolumes/{name}");
        for patch in [
            json!({"spec": {"mountOptions": ["c"]}}),
            json!({"spec": {"accessModes": ["ReadWriteMany"], "capacity": {"storage": "2Gi"}}}),
            json!({"spec": {"$deleteFromPrimitiveList/mountOptions": ["c"]}}),
            json!({"spec": {"claimRef": {"name": "c", "namespace": "n"}}}),
            json!({"spec": {"claimRef": {"namespace": "m"}}}),
        ] {
            s.strategic(&path, patch).await;
        }
        s.merge(&path, json!({"metadata": {"finalizers": null}}))
            .await;
        s.delete(&path).await;
    });
}

#[test]
fn conditions_are_merged_by_type() {
    run(async |s| {
        s.create(
            "persistentvolumeclaims",
            "a",
            json!({"spec": {"accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}}}}),
        )
        .await;
        let path = "persistentvolumeclaims/a/status";
        for conditions in [
            json!([{"type": "One", "status": "True"}, {"type": "Two", "status": "False"}]),
            json!([{"type": "Two", "status": "True", "reason": "Because"}]),
            json!([{"type": "Three", "status": "True"}, {"type": "One", "$patch": "delete"}]),
        ] {
            s.strategic(path, json!({"status": {"conditions": conditions}}))
                .await;
        }
        let merge = json!({"metadata": {"finalizers": null}});
        s.merge("persistentvolumeclaims/a", merge).await;
        let path = "/api/v1/namespaces/{ns}/status";
        for patch in [
            json!({"status": {"conditions": [
                {"type": "A", "status": "True"}, {"type": "B", "status": "True"}]}}),
            json!({"status": {"conditions": [{"type": "B", "status": "False"}]}}),
        ] {
            s.strategic(path, patch).await;
        }
    });
}

#[test]
fn versions_and_unknown_fields() {
    run(async |s| {
        let made = s
            .create("configmaps", "a", json!({"data": {"a": "1"}}))
            .await;
        s.strategic(
            "configmaps/a",
            json!({"metadata": {"resourceVersion": made.rv()}, "data": {"a": "2"}}),
        )
        .await;
        s.strategic(
            "configmaps/a",
            json!({"metadata": {"resourceVersion": made.rv()}, "data": {"a": "3"}}),
        )
        .await;
        s.strategic(
            "configmaps/a",
            json!({"nope": 1, "metadata": {"what": {"$patch": "delete"}}}),
        )
        .await;
        s.strategic(
            "configmaps/a?fieldValidation=Ignore",
            json!({"nope": 1, "data": {"b": "1"}}),
        )
        .await;
        for (kind, item) in [("secrets", "secrets/s"), ("leases", "leases/l")] {
            let name = &item[item.len() - 1..];
            s.create(kind, name, json!({})).await;
            s.strategic(item, json!({"metadata": {"labels": {"x": "y"}}}))
                .await;
        }
    });
}

#[test]
fn definitions_take_them_too() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object"}}});
        let made = s.crd(s.definition("patched", "Patched", schema)).await;
        let path = format!("customresourcedefinitions/{}", made.name());
        for patch in [
            json!({"metadata": {"annotations": {"a": "b"}}}),
            json!({"spec": {"names": {"shortNames": ["pp"]}}}),
            json!({"spec": {"names": {"$deleteFromPrimitiveList/shortNames": ["pp"]}}}),
        ] {
            s.strategic(&path, patch).await;
            s.until(&path, |answer| {
                let accepted = &answer.body["status"]["acceptedNames"];
                accepted["shortNames"] == answer.body["spec"]["names"]["shortNames"]
            })
            .await;
        }
    });
}

#[test]
fn of_an_object_that_is_gone_or_going() {
    run(async |s| {
        s.strategic("configmaps/none", json!({"data": {"a": "1"}}))
            .await;
        s.create(
            "configmaps",
            "a",
            json!({"metadata": {"finalizers": ["example.com/a", "example.com/b"]}}),
        )
        .await;
        s.delete("configmaps/a").await;
        s.strategic(
            "configmaps/a",
            json!({"metadata": {"finalizers": ["example.com/c"]}}),
        )
        .await;
        for finalizer in ["example.com/a", "example.com/b"] {
            s.strategic(
                "configmaps/a",
                json!({"metadata": {"$deleteFromPrimitiveList/finalizers": [finalizer]}}),
            )
            .await;
        }
        s.get("configmaps/a").await;
    });
}
