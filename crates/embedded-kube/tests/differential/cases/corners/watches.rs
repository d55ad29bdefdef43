//! Bookmarks and timeouts.

use serde_json::json;

use crate::harness::run;

#[test]
fn bookmarks_have_the_shape_of_their_kind() {
    run(async |s| {
        let query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
                     &allowWatchBookmarks=true&labelSelector=no%3Dbody";
        for plural in [
            "configmaps",
            "secrets",
            "serviceaccounts",
            "persistentvolumes",
            "persistentvolumeclaims",
            "events",
            "leases",
            "namespaces",
            "customresourcedefinitions",
            "widgets",
            "widgets@v1beta1",
            "gadgets",
            "/apis/events.k8s.io/v1/namespaces/{ns}/events",
        ] {
            let mut watch = s.watch(&format!("{plural}?{query}")).await;
            watch.take(s, 1).await;
        }
    });
}

#[test]
fn a_bookmark_comes_before_the_end() {
    run(async |s| {
        for plural in ["widgets", "configmaps"] {
            let now = s.peek(plural).await.rv();
            let mut watch = s
                .watch(&format!(
                    "{plural}?watch=1&allowWatchBookmarks=1&timeoutSeconds=5&resourceVersion={now}"
                ))
                .await;
            // The real server may send a second one.
            watch.take(s, 1).await;
            let mut watch = s
                .watch(&format!(
                    "{plural}?watch=1&allowWatchBookmarks=1&timeoutSeconds=1&resourceVersion={now}"
                ))
                .await;
            watch.rest(s).await;
        }
    });
}

#[test]
fn odd_timeouts() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        for plural in ["widgets", "configmaps"] {
            for timeout in ["-1", "9223372036854775807", "1.5", ""] {
                let watch = format!("{plural}?watch=1&timeoutSeconds={timeout}");
                s.code("GET", &watch, &[], "").await;
                s.get(&format!("{plural}?timeoutSeconds={timeout}")).await;
            }
            for query in [
                "watch=1&timeoutSeconds=1&limit=x",
                "watch=x&timeoutSeconds=1&limit=1",
                "watch=FALSE",
                "watch=",
                "watch=0&watch=1",
                "allowWatchBookmarks=x",
            ] {
                let query = format!("{plural}?timeoutSeconds=1&{query}");
                s.code("GET", &query, &[], "").await;
            }
        }
    });
}

#[test]
fn initial_events_of_the_future() {
    run(async |s| {
        let query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
                     &allowWatchBookmarks=true&timeoutSeconds=5&resourceVersion=999999999";
        for plural in ["widgets", "configmaps"] {
            let mut watch = s.watch(&format!("{plural}?{query}")).await;
            watch.rest(s).await;
        }
    });
}
