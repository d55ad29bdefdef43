//! Metadata alone.

use serde_json::json;

use crate::harness::run;

const PARTIAL: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

#[test]
fn of_an_object() {
    run(async |s| {
        let rest = json!({"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"},
            "finalizers": ["example.com/f"]}});
        s.create("configmaps", "a", rest.clone()).await;
        let mut widget = rest;
        widget["spec"] = json!({"size": 1});
        s.create("widgets", "a", widget).await;
        for path in ["configmaps/a", "widgets/a", "widgets@v1beta1/a"] {
            s.raw("GET", path, &[("accept", PARTIAL)], "").await;
        }
        s.raw("GET", "configmaps/none", &[("accept", PARTIAL)], "")
            .await;
        let beta = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1";
        s.raw("GET", "configmaps/a", &[("accept", beta)], "").await;
        s.raw("GET", "widgets/a/status", &[("accept", PARTIAL)], "")
            .await;
        s.raw("GET", "widgets/a/scale", &[("accept", PARTIAL)], "")
            .await;
    });
}

#[test]
fn of_a_list() {
    run(async |s| {
        for plural in ["secrets", "widgets"] {
            s.raw("GET", plural, &[("accept", LIST)], "").await;
            for name in ["a", "b", "c"] {
                s.create(plural, name, json!({"spec": {"size": 1}})).await;
            }
            s.raw("GET", plural, &[("accept", LIST)], "").await;
            s.raw("GET", &format!("{plural}?limit=2"), &[("accept", LIST)], "")
                .await;
        }
        let beta = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1";
        s.raw("GET", "widgets", &[("accept", beta)], "").await;
    });
}

#[test]
fn of_the_wrong_number() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("leases", "a", json!({})).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        for plural in ["configmaps", "leases", "widgets"] {
            s.raw("GET", plural, &[("accept", PARTIAL)], "").await;
            s.raw("GET", &format!("{plural}/a"), &[("accept", LIST)], "")
                .await;
        }
        let events = "/apis/events.k8s.io/v1/namespaces/{ns}/events";
        s.raw("GET", events, &[("accept", PARTIAL)], "").await;
        let crds = "customresourcedefinitions?labelSelector=none=such";
        s.raw("GET", crds, &[("accept", PARTIAL)], "").await;
    });
}

#[test]
fn with_fallbacks() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        for accept in [
            "application/json;as=PartialObjectMetadata;g=other.io;v=v1,application/json",
            "application/json;as=PartialObjectMetadata;g=other.io;v=v1",
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
            "*/*;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        ] {
            for path in ["configmaps/a", "widgets/a"] {
                s.raw("GET", path, &[("accept", accept)], "").await;
            }
        }
    });
}

#[test]
fn watched() {
    run(async |s| {
        s.create(
            "widgets",
            "a",
            json!({"metadata": {"labels": {"x": "y"}}, "spec": {"size": 1}}),
        )
        .await;
        let mut watch = s
            .watch_with("widgets?watch=true", &[("accept", PARTIAL)])
            .await;
        watch.take(s, 1).await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        watch.take(s, 1).await;
        s.delete("widgets/a").await;
        watch.take(s, 1).await;
        let path = "configmaps?watch=true&sendInitialEvents=true&allowWatchBookmarks=true\
                    &resourceVersionMatch=NotOlderThan&timeoutSeconds=1\
                    &fieldSelector=metadata.name=none";
        let mut watch = s.watch_with(path, &[("accept", PARTIAL)]).await;
        watch.take(s, 1).await;
    });
}

#[test]
fn of_what_is_written() {
    run(async |s| {
        let headers = [("accept", PARTIAL), ("content-type", "application/json")];
        let body = s.object("widgets", "a", json!({"spec": {"size": 1}}));
        s.raw("POST", "widgets", &headers, body.to_string()).await;
        s.raw("POST", "widgets", &headers, body.to_string()).await;
        let patch = [
            ("accept", PARTIAL),
            ("content-type", "application/merge-patch+json"),
        ];
        let finalizer = r#"{"metadata":{"finalizers":["example.com/f"]}}"#;
        s.raw("PATCH", "widgets/a", &patch, finalizer).await;
        s.raw("DELETE", "widgets/a", &headers, "").await;
        let none = r#"{"metadata":{"finalizers":null}}"#;
        s.raw("PATCH", "widgets/a", &patch, none).await;
        s.raw("DELETE", "widgets/a", &headers, "").await;
    });
}
