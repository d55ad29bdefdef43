//! Deleting, with preconditions, finalizers and collections.

use serde_json::json;

use crate::harness::run;

#[test]
fn answers_with_status() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.delete("configmaps/a").await;
        s.get("configmaps/a").await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.delete("widgets/a").await;
        s.get("widgets/a").await;
        s.create("leases", "a", json!({})).await;
        s.delete("leases/a").await;
        s.create("secrets", "a", json!({})).await;
        s.delete("secrets/a").await;
        s.create("serviceaccounts", "a", json!({})).await;
        s.delete("serviceaccounts/a").await;
    });
}

#[test]
fn of_what_is_not_there() {
    run(async |s| {
        s.delete("configmaps/a").await;
        s.delete("widgets/a").await;
        s.delete("namespaces/none").await;
    });
}

#[test]
fn with_finalizers_marks_only() {
    run(async |s| {
        for plural in ["configmaps", "widgets", "notes"] {
            let body = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
            s.create(plural, "a", body).await;
            let item = format!("{plural}/a");
            s.delete(&item).await;
            s.get(&item).await;
            s.delete(&item).await;
            s.merge(&item, json!({"metadata": {"finalizers": []}}))
                .await;
            s.get(&item).await;
        }
    });
}

#[test]
fn the_last_finalizer_of_two() {
    run(async |s| {
        let body = json!({"metadata": {"finalizers": ["example.com/x", "example.com/y"]},
            "spec": {"size": 1}});
        s.create("widgets", "a", body).await;
        s.delete("widgets/a").await;
        s.merge(
            "widgets/a",
            json!({"metadata": {"finalizers": ["example.com/y"]}}),
        )
        .await;
        s.merge(
            "widgets/a",
            json!({"metadata": {"finalizers": ["example.com/z"]}}),
        )
        .await;
        s.patch(
            "widgets/a",
            json!([{"op": "remove", "path": "/metadata/finalizers"}]),
        )
        .await;
        s.get("widgets/a").await;
    });
}

#[test]
fn the_last_finalizer_by_update() {
    run(async |s| {
        let body = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        s.create("widgets", "a", body).await;
        s.delete("widgets/a").await;
        let now = s.get("widgets/a").await;
        let mut body = now.body;
        body["metadata"]["finalizers"] = json!([]);
        body["spec"]["size"] = json!(5);
        s.put("widgets/a", body).await;
        s.get("widgets/a").await;
    });
}

#[test]
fn finalizer_removal_by_status_patch() {
    run(async |s| {
        let body = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        s.create("widgets", "a", body).await;
        s.delete("widgets/a").await;
        s.merge("widgets/a/status", json!({"metadata": {"finalizers": []}}))
            .await;
        s.get("widgets/a").await;
        s.merge(
            "widgets/a/status",
            json!({"metadata": {"finalizers": []}, "status": {"phase": "x"}}),
        )
        .await;
        s.get("widgets/a").await;
    });
}

#[test]
fn generation_of_a_deleting_object() {
    run(async |s| {
        let body = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        s.create("widgets", "a", body).await;
        s.delete("widgets/a").await;
        s.merge(
            "widgets/a",
            json!({"metadata": {"finalizers": ["example.com/x"]}}),
        )
        .await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
    });
}

#[test]
fn uid_precondition() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let made = s.create(plural, "a", json!({"spec": {"size": 1}})).await;
            let item = format!("{plural}/a");
            let other = "12345678-1234-1234-1234-123456789abc";
            s.delete_with(&item, json!({"preconditions": {"uid": other}}))
                .await;
            s.delete_with(&item, json!({"preconditions": {"uid": made.uid()}}))
                .await;
        }
    });
}

#[test]
fn version_precondition() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let made = s.create(plural, "a", json!({"spec": {"size": 1}})).await;
            let item = format!("{plural}/a");
            let now = s
                .merge(&item, json!({"metadata": {"labels": {"a": "b"}}}))
                .await;
            s.delete_with(
                &item,
                json!({"preconditions": {"resourceVersion": made.rv()}}),
            )
            .await;
            s.delete_with(
                &item,
                json!({"preconditions": {"resourceVersion": now.rv()}}),
            )
            .await;
        }
    });
}

#[test]
fn preconditions_on_a_deleting_object() {
    run(async |s| {
        let body = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        let made = s.create("widgets", "a", body).await;
        s.delete("widgets/a").await;
        s.delete_with(
            "widgets/a",
            json!({"preconditions": {"resourceVersion": made.rv()}}),
        )
        .await;
        s.delete_with("widgets/a", json!({"preconditions": {"uid": made.uid()}}))
            .await;
    });
}

#[test]
fn bad_options() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        for item in ["configmaps/a", "widgets/a"] {
            s.delete_with(item, json!({"propagationPolicy": "Nonsense"}))
                .await;
            let both = json!({"propagationPolicy": "Orphan", "orphanDependents": true});
            s.delete_with(item, both).await;
            s.delete_with(item, json!({"dryRun": ["Nonsense"]})).await;
            s.delete_with(item, json!({"gracePeriodSeconds": "x"}))
                .await;
            s.delete_with(item, json!({"kind": "Nonsense"})).await;
            s.delete_with(item, json!({"preconditions": 1})).await;
            s.delete(&format!("{item}?propagationPolicy=Nonsense"))
                .await;
            s.delete(&format!("{item}?gracePeriodSeconds=x")).await;
            s.get(item).await;
        }
    });
}

#[test]
fn options_in_the_query() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.delete("widgets/a?propagationPolicy=Background&gracePeriodSeconds=0")
            .await;
        s.get("widgets/a").await;
        s.create("configmaps", "a", json!({})).await;
        s.delete("configmaps/a?gracePeriodSeconds=30").await;
        s.get("configmaps/a").await;
    });
}

#[test]
fn grace_periods() {
    run(async |s| {
        let body = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        s.create("widgets", "a", body.clone()).await;
        s.delete_with("widgets/a", json!({"gracePeriodSeconds": 30}))
            .await;
        s.create("widgets", "b", body.clone()).await;
        s.delete_with("widgets/b", json!({"gracePeriodSeconds": 0}))
            .await;
        s.create("widgets", "c", body).await;
        s.delete_with("widgets/c", json!({"gracePeriodSeconds": -1}))
            .await;
    });
}

#[test]
fn collection() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            for name in ["a", "b", "c"] {
                let body = json!({"metadata": {"labels": {"n": name}}, "spec": {"size": 1}});
                s.create(plural, name, body).await;
            }
            s.delete(&format!("{plural}?labelSelector=n%20in%20(a,b)"))
                .await;
            s.get(plural).await;
            s.delete(&format!("{plural}?fieldSelector=metadata.name%3Dnone"))
                .await;
            s.delete(plural).await;
            s.get(plural).await;
        }
    });
}

#[test]
fn collection_with_finalizers() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let body = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        s.create("widgets", "b", body).await;
        s.delete("widgets").await;
        s.get("widgets").await;
        s.delete("widgets").await;
        s.get("widgets").await;
    });
}

#[test]
fn collection_with_options() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.delete_with("widgets", json!({"dryRun": ["All"]})).await;
        s.get("widgets").await;
        s.delete_with("widgets", json!({"preconditions": {"uid": "x"}}))
            .await;
        s.get("widgets").await;
        s.delete_with("widgets", json!({"propagationPolicy": "Foreground"}))
            .await;
        s.until("widgets", |answer| {
            answer.body["items"].as_array().is_some_and(Vec::is_empty)
        })
        .await;
    });
}

#[test]
fn collection_that_is_not_allowed() {
    run(async |s| {
        s.delete("/api/v1/configmaps").await;
        s.delete("/apis/fixture.freehold.dev/v1/widgets").await;
        s.delete("/api/v1/namespaces").await;
    });
}

#[test]
fn a_name_can_be_used_again() {
    run(async |s| {
        let first = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        s.delete("widgets/a").await;
        let second = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.note("another uid", json!(first.uid() != second.uid()));
    });
}

#[test]
fn create_beside_a_deleting_object() {
    run(async |s| {
        let body = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        s.create("widgets", "a", body.clone()).await;
        s.delete("widgets/a").await;
        s.create("widgets", "a", body).await;
    });
}
