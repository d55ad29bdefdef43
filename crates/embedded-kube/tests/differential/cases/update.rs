//! Replacing objects.

use serde_json::json;

use crate::harness::{merge, run};

#[test]
fn with_the_current_version() {
    run(async |s| {
        let made = s
            .create("configmaps", "a", json!({"data": {"k": "1"}}))
            .await;
        let body = json!({"metadata": {"resourceVersion": made.rv()}, "data": {"k": "2"}});
        s.replace("configmaps", "a", body).await;
        s.get("configmaps/a").await;
    });
}

#[test]
fn with_a_stale_version() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let made = s
                .create(
                    plural,
                    "a",
                    json!({"spec": {"size": 1}, "data": {"k": "1"}}),
                )
                .await;
            let body = json!({"metadata": {"resourceVersion": made.rv()},
                "spec": {"size": 2}, "data": {"k": "2"}});
            s.replace(plural, "a", body.clone()).await;
            s.replace(
                plural,
                "a",
                merge(body, json!({"spec": {"size": 3}, "data": {"k": "3"}})),
            )
            .await;
        }
    });
}

#[test]
fn without_a_version() {
    run(async |s| {
        s.create("configmaps", "a", json!({"data": {"k": "1"}}))
            .await;
        s.replace("configmaps", "a", json!({"data": {"k": "2"}}))
            .await;
        s.create("leases", "a", json!({})).await;
        s.replace("leases", "a", json!({"spec": {"holderIdentity": "x"}}))
            .await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.replace("widgets", "a", json!({"spec": {"size": 2}}))
            .await;
        s.create("notes", "a", json!({"x": 1})).await;
        s.replace("notes", "a", json!({"x": 2})).await;
    });
}

#[test]
fn with_a_version_that_is_no_number() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.replace(
            "configmaps",
            "a",
            json!({"metadata": {"resourceVersion": "x"}}),
        )
        .await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let body = json!({"metadata": {"resourceVersion": "x"}, "spec": {"size": 1}});
        s.replace("widgets", "a", body).await;
        let zero = json!({"metadata": {"resourceVersion": "0"}, "spec": {"size": 1}});
        s.replace("widgets", "a", zero).await;
    });
}

#[test]
fn of_what_is_not_there() {
    run(async |s| {
        s.replace("configmaps", "a", json!({})).await;
        s.replace("widgets", "a", json!({"spec": {"size": 1}}))
            .await;
        s.replace(
            "widgets",
            "b",
            json!({"metadata": {"resourceVersion": "1"}, "spec": {"size": 1}}),
        )
        .await;
        s.replace(
            "configmaps",
            "b",
            json!({"metadata": {"resourceVersion": "1"}}),
        )
        .await;
        // Leases may be created by an update.
        s.replace("leases", "a", json!({"spec": {"holderIdentity": "x"}}))
            .await;
        s.replace("leases", "b", json!({"metadata": {"resourceVersion": "5"}}))
            .await;
        s.replace(
            "leases",
            "c",
            json!({"metadata": {"uid": "12345678-1234-1234-1234-123456789abc"}}),
        )
        .await;
        s.get("leases").await;
    });
}

#[test]
fn of_nothing_keeps_the_version() {
    run(async |s| {
        let made = s
            .create("configmaps", "a", json!({"data": {"k": "1"}}))
            .await;
        let again = s.put("configmaps/a", made.body.clone()).await;
        s.note("same version", json!(made.rv() == again.rv()));
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let again = s.put("widgets/a", made.body.clone()).await;
        s.note("same version", json!(made.rv() == again.rv()));
    });
}

#[test]
fn generation_follows_the_spec_only() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let labelled = s
            .merge("widgets/a", json!({"metadata": {"labels": {"a": "b"}}}))
            .await;
        let body = merge(labelled.body, json!({"spec": {"size": 2}}));
        s.put("widgets/a", body).await;
        // Without a status sub-resource everything but metadata counts.
        s.create("notes", "a", json!({"status": {"x": 1}})).await;
        s.merge("notes/a", json!({"status": {"x": 2}})).await;
        s.merge("notes/a", json!({"metadata": {"labels": {"a": "b"}}}))
            .await;
        s.merge("notes/a", json!({"other": true})).await;
    });
}

#[test]
fn generation_cannot_be_set() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a", json!({"metadata": {"generation": 42}}))
            .await;
        s.merge(
            "widgets/a",
            json!({"metadata": {"generation": 42}, "spec": {"size": 2}}),
        )
        .await;
    });
}

#[test]
fn name_in_body_and_path() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        let other = s.object("configmaps", "b", json!({}));
        s.put("configmaps/a", other).await;
        let nameless = s.object("configmaps", "", json!({}));
        s.put("configmaps/a", nameless).await;
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let with = json!({"metadata": {"resourceVersion": made.rv()}, "spec": {"size": 2}});
        let other = s.object("widgets", "b", with.clone());
        s.put("widgets/a", other).await;
        let nameless = s.object("widgets", "", with);
        s.put("widgets/a", nameless).await;
    });
}

#[test]
fn namespace_in_body_and_path() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.replace(
            "configmaps",
            "a",
            json!({"metadata": {"namespace": "default"}}),
        )
        .await;
        s.replace(
            "configmaps",
            "a",
            json!({"metadata": {"namespace": ""}, "data": {"a": "b"}}),
        )
        .await;
    });
}

#[test]
fn another_uid_is_a_conflict() {
    run(async |s| {
        let uid = "12345678-1234-1234-1234-123456789abc";
        for plural in ["configmaps", "widgets"] {
            let made = s.create(plural, "a", json!({"spec": {"size": 1}})).await;
            let body = json!({"metadata": {"uid": uid, "resourceVersion": made.rv()},
                "spec": {"size": 1}});
            s.replace(plural, "a", body).await;
            s.merge(&format!("{plural}/a"), json!({"metadata": {"uid": uid}}))
                .await;
        }
    });
}

#[test]
fn creation_time_cannot_be_changed() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let made = s.create(plural, "a", json!({"spec": {"size": 1}})).await;
            let body = json!({"metadata": {"creationTimestamp": "2001-01-01T00:00:00Z",
                "resourceVersion": made.rv()}, "spec": {"size": 2}, "data": {"a": "b"}});
            s.replace(plural, "a", body).await;
            let item = format!("{plural}/a");
            s.merge(&item, json!({"metadata": {"creationTimestamp": null}}))
                .await;
            s.merge(
                &item,
                json!({"metadata": {"creationTimestamp": "2001-01-01T00:00:00Z"}}),
            )
            .await;
        }
    });
}

#[test]
fn deletion_time_cannot_be_set() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            s.create(plural, "a", json!({"spec": {"size": 1}})).await;
            let metadata = json!({"metadata": {"deletionTimestamp": "2001-01-01T00:00:00Z"}});
            s.merge(&format!("{plural}/a"), metadata).await;
        }
    });
}

#[test]
fn a_replaced_object_loses_what_is_not_in_the_body() {
    run(async |s| {
        let made = s
            .create(
                "widgets",
                "a",
                json!({
                    "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"},
                        "finalizers": ["example.com/x"]},
                    "spec": {"size": 1, "note": "hello"},
                }),
            )
            .await;
        let body = json!({"metadata": {"resourceVersion": made.rv()}, "spec": {"size": 1}});
        s.replace("widgets", "a", body).await;
    });
}

#[test]
fn an_invalid_object_is_refused() {
    run(async |s| {
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let body = json!({"metadata": {"resourceVersion": made.rv()}, "spec": {"size": 1000}});
        s.replace("widgets", "a", body).await;
        s.replace(
            "widgets",
            "a",
            json!({"metadata": {"resourceVersion": made.rv()}}),
        )
        .await;
        s.get("widgets/a").await;
    });
}

#[test]
fn conflict_comes_before_validation() {
    run(async |s| {
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        let body = json!({"metadata": {"resourceVersion": made.rv()}, "spec": {"size": 1000}});
        s.replace("widgets", "a", body).await;
    });
}

#[test]
fn of_the_collection_is_not_allowed() {
    run(async |s| {
        let body = s.object("configmaps", "a", json!({}));
        s.put("configmaps", body).await;
        let body = s.object("widgets", "a", json!({"spec": {"size": 1}}));
        s.put("widgets", body).await;
    });
}
