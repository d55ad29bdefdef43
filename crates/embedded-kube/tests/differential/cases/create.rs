//! Creating objects.

use serde_json::json;

use crate::harness::run;

#[test]
fn sets_metadata() {
    run(async |s| {
        s.create("configmaps", "a", json!({"data": {"k": "v"}}))
            .await;
        s.get("configmaps/a").await;
    });
}

#[test]
fn custom_resource_has_generation_one() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.create("notes", "a", json!({"anything": [1, 2]})).await;
        s.get("widgets/a").await;
    });
}

#[test]
fn twice_is_a_conflict() {
    run(async |s| {
        for plural in ["configmaps", "widgets", "leases"] {
            s.create(plural, "a", json!({"spec": {"size": 1}})).await;
            s.create(plural, "a", json!({"spec": {"size": 2}})).await;
        }
    });
}

#[test]
fn generates_names() {
    run(async |s| {
        let first = s
            .create(
                "configmaps",
                "",
                json!({"metadata": {"generateName": "gen-"}}),
            )
            .await;
        assert!(first.name().starts_with("gen-"));
        s.create(
            "widgets",
            "",
            json!({"metadata": {"generateName": "w-"}, "spec": {"size": 1}}),
        )
        .await;
        // A name wins over a prefix.
        s.create(
            "configmaps",
            "named",
            json!({"metadata": {"generateName": "gen-"}}),
        )
        .await;
    });
}

#[test]
fn a_long_generate_name_is_cut() {
    run(async |s| {
        let long = "x".repeat(70);
        let made = s
            .create(
                "configmaps",
                "",
                json!({"metadata": {"generateName": long}}),
            )
            .await;
        let name = made.name();
        s.note("length", json!(name.len()));
    });
}

#[test]
fn a_bad_generate_name_is_refused() {
    run(async |s| {
        s.create(
            "configmaps",
            "",
            json!({"metadata": {"generateName": "Bad_"}}),
        )
        .await;
        s.create(
            "widgets",
            "",
            json!({"metadata": {"generateName": "Bad_"}, "spec": {"size": 1}}),
        )
        .await;
    });
}

#[test]
fn needs_a_name() {
    run(async |s| {
        s.create("configmaps", "", json!({})).await;
        s.create("widgets", "", json!({"spec": {"size": 1}})).await;
        s.create("leases", "", json!({})).await;
    });
}

#[test]
fn bad_names() {
    run(async |s| {
        for name in [
            "Upper",
            "under_score",
            "-dash",
            "dot.",
            "a/b",
            "space here",
            "..",
            "ok.name",
        ] {
            s.create("configmaps", name, json!({})).await;
            s.create("widgets", name, json!({"spec": {"size": 1}}))
                .await;
            s.create("leases", name, json!({})).await;
        }
        s.create("configmaps", &"a".repeat(254), json!({})).await;
        s.create("widgets", &"a".repeat(254), json!({"spec": {"size": 1}}))
            .await;
    });
}

#[test]
fn namespace_names_are_labels() {
    run(async |s| {
        s.create("namespaces", "with.dot", json!({})).await;
        s.create("namespaces", &"a".repeat(64), json!({})).await;
    });
}

#[test]
fn with_a_resource_version_is_refused() {
    run(async |s| {
        s.create(
            "configmaps",
            "a",
            json!({"metadata": {"resourceVersion": "1"}}),
        )
        .await;
        s.create(
            "configmaps",
            "b",
            json!({"metadata": {"resourceVersion": "nonsense"}}),
        )
        .await;
        s.create(
            "configmaps",
            "c",
            json!({"metadata": {"resourceVersion": "0"}}),
        )
        .await;
        let spec = json!({"metadata": {"resourceVersion": "12"}, "spec": {"size": 1}});
        s.create("widgets", "a", spec).await;
    });
}

#[test]
fn a_stale_version_of_a_deleted_object_is_refused() {
    run(async |s| {
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.delete("widgets/a").await;
        let stale = json!({"metadata": {"resourceVersion": made.rv(), "uid": made.uid()},
            "spec": {"size": 1}});
        s.create("widgets", "a", stale).await;
        let uid = json!({"metadata": {"uid": made.uid()}, "spec": {"size": 1}});
        let again = s.create("widgets", "a", uid).await;
        s.note("same uid", json!(again.uid() == made.uid()));
    });
}

#[test]
fn system_metadata_is_overwritten() {
    run(async |s| {
        let body = json!({
            "metadata": {
                "uid": "12345678-1234-1234-1234-123456789abc",
                "creationTimestamp": "2001-01-01T00:00:00Z",
                "deletionTimestamp": "2001-01-01T00:00:00Z",
                "deletionGracePeriodSeconds": 30,
                "generation": 7,
                "selfLink": "/nowhere",
            },
            "spec": {"size": 1},
        });
        s.create("widgets", "a", body.clone()).await;
        s.create("configmaps", "a", body).await;
    });
}

#[test]
fn body_of_another_kind() {
    run(async |s| {
        let secret = s.object("secrets", "a", json!({}));
        s.post("configmaps", secret).await;
        let widget = s.object("widgets", "a", json!({"spec": {"size": 1}}));
        s.post("configmaps", widget.clone()).await;
        let configmap = s.object("configmaps", "a", json!({}));
        s.post("widgets", configmap).await;
        s.post("notes", widget).await;
    });
}

#[test]
fn body_without_kind_or_version() {
    run(async |s| {
        s.post(
            "configmaps",
            json!({"metadata": {"name": "a"}, "data": {"a": "b"}}),
        )
        .await;
        s.post(
            "configmaps",
            json!({"kind": "ConfigMap", "metadata": {"name": "b"}}),
        )
        .await;
        s.post(
            "configmaps",
            json!({"apiVersion": "v1", "metadata": {"name": "c"}}),
        )
        .await;
        s.post(
            "widgets",
            json!({"metadata": {"name": "a"}, "spec": {"size": 1}}),
        )
        .await;
        s.post(
            "widgets",
            json!({"kind": "Widget", "metadata": {"name": "b"}, "spec": {"size": 1}}),
        )
        .await;
    });
}

#[test]
fn body_of_another_version() {
    run(async |s| {
        let old = s.object("widgets@v1beta1", "a", json!({"spec": {"size": 1}}));
        s.post("widgets", old).await;
        let unknown = s.object("widgets@v9", "a", json!({"spec": {"size": 1}}));
        s.post("widgets", unknown).await;
    });
}

#[test]
fn body_of_another_namespace() {
    run(async |s| {
        let elsewhere = json!({"metadata": {"namespace": "default"}, "spec": {"size": 1}});
        s.create("configmaps", "a", elsewhere.clone()).await;
        s.create("widgets", "a", elsewhere).await;
        let here = json!({"metadata": {"namespace": s.ns}, "spec": {"size": 1}});
        s.create("widgets", "b", here).await;
        // Of the whole cluster: a namespace has no place there.
        let name = format!("g-{}", s.ns);
        s.create(
            "gadgets",
            &name,
            json!({"metadata": {"namespace": "default"}}),
        )
        .await;
    });
}

#[test]
fn in_a_namespace_that_is_not_there() {
    run(async |s| {
        let body = s.object("configmaps", "a", json!({}));
        s.post("/api/v1/namespaces/nowhere/configmaps", body).await;
        let body = s.object("widgets", "a", json!({"spec": {"size": 1}}));
        s.post(
            "/apis/fixture.freehold.dev/v1/namespaces/nowhere/widgets",
            body,
        )
        .await;
    });
}

#[test]
fn on_the_collection_of_all_namespaces() {
    run(async |s| {
        let body = s.object("configmaps", "a", json!({"metadata": {"namespace": s.ns}}));
        s.post("/api/v1/configmaps", body).await;
        let body = s.object("widgets", "a", json!({"spec": {"size": 1}}));
        s.post("/apis/fixture.freehold.dev/v1/widgets", body).await;
    });
}

#[test]
fn on_an_item() {
    run(async |s| {
        let body = s.object("configmaps", "a", json!({}));
        s.post("configmaps/a", body).await;
        let body = s.object("widgets", "a", json!({"spec": {"size": 1}}));
        s.post("widgets/a", body).await;
    });
}

#[test]
fn labels_and_annotations_are_validated() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let with = |metadata| json!({"metadata": metadata, "spec": {"size": 1}});
            s.create(plural, "a", with(json!({"labels": {"bad key": "v"}})))
                .await;
            s.create(plural, "b", with(json!({"labels": {"k": "bad value!"}})))
                .await;
            s.create(plural, "c", with(json!({"labels": {"k": "x".repeat(64)}})))
                .await;
            s.create(plural, "d", with(json!({"annotations": {"bad key": "v"}})))
                .await;
            s.create(
                plural,
                "e",
                with(json!({"labels": {"a.b/c": "", "A": "B-1"}})),
            )
            .await;
            s.create(
                plural,
                "f",
                with(json!({"labels": {"/x": "v", "a/b/c": "v"}})),
            )
            .await;
            s.create(plural, "g", with(json!({"labels": {"k": 1}})))
                .await;
            s.create(
                plural,
                "h",
                with(json!({"annotations": {"k": "x".repeat(300_000)}})),
            )
            .await;
        }
    });
}

#[test]
fn finalizers_are_validated() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let with = |list| json!({"metadata": {"finalizers": list}, "spec": {"size": 1}});
            s.create(plural, "a", with(json!(["plain"]))).await;
            s.create(plural, "b", with(json!(["example.com/ok"]))).await;
            s.create(plural, "c", with(json!(["bad finalizer/!"])))
                .await;
            s.create(plural, "d", with(json!(["orphan"]))).await;
            s.create(plural, "e", with(json!(["foregroundDeletion"])))
                .await;
            s.create(plural, "f", with(json!(["orphan", "foregroundDeletion"])))
                .await;
            s.create(plural, "g", with(json!(["example.com/a", "example.com/a"])))
                .await;
        }
    });
}

#[test]
fn owner_references_are_validated() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let with =
                |owner| json!({"metadata": {"ownerReferences": [owner]}, "spec": {"size": 1}});
            let uid = "12345678-1234-1234-1234-123456789abc";
            s.create(
                plural,
                "a",
                with(json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "x"})),
            )
            .await;
            s.create(
                plural,
                "b",
                with(json!({"apiVersion": "v1", "kind": "", "name": "", "uid": uid})),
            )
            .await;
            s.create(
                plural,
                "c",
                with(json!({"apiVersion": "", "kind": "A", "name": "x", "uid": uid})),
            )
            .await;
            s.create(
                plural,
                "d",
                with(json!({"apiVersion": "v1", "kind": "Event", "name": "x", "uid": uid})),
            )
            .await;
            let two = json!([
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": uid, "controller": true},
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "y", "uid": uid, "controller": true},
            ]);
            let body = json!({"metadata": {"ownerReferences": two}, "spec": {"size": 1}});
            s.create(plural, "e", body).await;
        }
    });
}

#[test]
fn unknown_fields_of_built_in_kinds_are_dropped() {
    run(async |s| {
        s.create(
            "configmaps",
            "a",
            json!({"spec": {"x": 1}, "metadata": {"nope": 1}}),
        )
        .await;
        s.create(
            "leases",
            "a",
            json!({"spec": {"nope": 1, "holderIdentity": "me"}}),
        )
        .await;
    });
}

#[test]
fn wrong_types_in_built_in_kinds() {
    run(async |s| {
        s.create("configmaps", "a", json!({"data": {"k": 1}})).await;
        s.create("configmaps", "b", json!({"data": []})).await;
        s.create("configmaps", "c", json!({"metadata": {"labels": []}}))
            .await;
        s.create("configmaps", "d", json!({"immutable": "yes"}))
            .await;
    });
}

#[test]
fn wrong_types_in_custom_metadata() {
    run(async |s| {
        let with = |metadata| json!({"metadata": metadata, "spec": {"size": 1}});
        s.create("widgets", "a", with(json!({"labels": []}))).await;
        s.create("widgets", "b", with(json!({"finalizers": "x"})))
            .await;
        s.create("widgets", "c", with(json!({"ownerReferences": {}})))
            .await;
        s.create("widgets", "d", with(json!({"annotations": {"a": {}}})))
            .await;
        s.create("widgets", "e", with(json!({"nope": 1}))).await;
        s.create("widgets", "f", with(json!({"generation": "x"})))
            .await;
    });
}

#[test]
fn null_fields() {
    run(async |s| {
        s.create(
            "configmaps",
            "a",
            json!({"data": null, "metadata": {"labels": null}}),
        )
        .await;
        s.create(
            "widgets",
            "a",
            json!({"spec": {"size": 1, "color": null, "note": null}}),
        )
        .await;
        s.create("widgets", "b", json!({"spec": {"size": 1, "maybe": null}}))
            .await;
        s.create("widgets", "c", json!({"spec": {"size": null}}))
            .await;
        s.create("widgets", "d", json!({"spec": null})).await;
    });
}
