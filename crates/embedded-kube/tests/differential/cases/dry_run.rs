//! Requests that change nothing.

use serde_json::json;

use crate::harness::run;

#[test]
fn create() {
    run(async |s| {
        s.create("configmaps?dryRun=All", "a", json!({"data": {"a": "b"}}))
            .await;
        s.get("configmaps/a").await;
        s.create("widgets?dryRun=All", "a", json!({"spec": {"size": 1}}))
            .await;
        s.get("widgets/a").await;
        s.create("widgets?dryRun=All", "a", json!({"spec": {"size": 1000}}))
            .await;
        s.create(
            "configmaps?dryRun=All",
            "",
            json!({"metadata": {"generateName": "g-"}}),
        )
        .await;
    });
}

#[test]
fn create_of_what_exists() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.create("widgets?dryRun=All", "a", json!({"spec": {"size": 1}}))
            .await;
    });
}

#[test]
fn update_and_patch() {
    run(async |s| {
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let body = json!({"metadata": {"resourceVersion": made.rv()}, "spec": {"size": 2}});
        s.replace("widgets?dryRun=All", "a", body.clone()).await;
        s.merge("widgets/a?dryRun=All", json!({"spec": {"size": 3}}))
            .await;
        s.merge(
            "widgets/a/status?dryRun=All",
            json!({"status": {"phase": "x"}}),
        )
        .await;
        s.merge(
            "widgets/a/scale?dryRun=All",
            json!({"spec": {"replicas": 3}}),
        )
        .await;
        s.get("widgets/a").await;
        s.replace("widgets", "a", body.clone()).await;
        s.replace("widgets?dryRun=All", "a", body).await;
    });
}

#[test]
fn delete() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.delete("widgets/a?dryRun=All").await;
        s.delete_with("widgets/a", json!({"dryRun": ["All"]})).await;
        s.get("widgets/a").await;
        let held = json!({"metadata": {"finalizers": ["example.com/x"]}});
        s.create("configmaps", "a", held).await;
        s.delete("configmaps/a?dryRun=All").await;
        s.get("configmaps/a").await;
        s.delete("widgets?dryRun=All").await;
        s.get("widgets").await;
    });
}

#[test]
fn bad_values() {
    run(async |s| {
        s.create("widgets?dryRun=Nonsense", "a", json!({"spec": {"size": 1}}))
            .await;
        s.create("configmaps?dryRun=true", "a", json!({})).await;
        s.create("configmaps?dryRun=", "b", json!({})).await;
        s.create("configmaps?dryRun=All&dryRun=All", "c", json!({}))
            .await;
        s.get("configmaps").await;
    });
}
