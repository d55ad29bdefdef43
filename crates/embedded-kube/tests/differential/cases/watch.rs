//! Watching.

use serde_json::json;

use crate::harness::{Script, run, run_forgetful};

/// The version of the (empty) list: what a watch begins with.
async fn now(s: &Script, plural: &str) -> String {
    s.peek(plural).await.rv()
}

#[test]
fn sees_every_change() {
    run(async |s| {
        let rv = now(s, "widgets").await;
        let mut watch = s
            .watch(&format!("widgets?watch=true&resourceVersion={rv}"))
            .await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        s.merge("widgets/a/status", json!({"status": {"phase": "x"}}))
            .await;
        s.delete("widgets/a").await;
        watch.take(s, 4).await;
    });
}

#[test]
fn of_a_built_in_kind() {
    run(async |s| {
        let rv = now(s, "configmaps").await;
        let mut watch = s
            .watch(&format!("configmaps?watch=1&resourceVersion={rv}"))
            .await;
        s.create("configmaps", "a", json!({"data": {"a": "b"}}))
            .await;
        s.merge("configmaps/a", json!({"data": {"a": "c"}})).await;
        s.delete("configmaps/a").await;
        watch.take(s, 3).await;
    });
}

#[test]
fn a_deletion_event_has_the_last_state_and_a_new_version() {
    run(async |s| {
        let made = s.create("widgets", "a", json!({"spec": {"size": 7}})).await;
        let mut watch = s
            .watch(&format!("widgets?watch=true&resourceVersion={}", made.rv()))
            .await;
        s.delete("widgets/a").await;
        let events = watch.take(s, 1).await;
        let version = events[0]["object"]["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default();
        s.note("a new version", json!(version != made.rv()));
    });
}

#[test]
fn a_deletion_with_finalizers() {
    run(async |s| {
        let rv = now(s, "widgets").await;
        let body = json!({"metadata": {"finalizers": ["example.com/x"]}, "spec": {"size": 1}});
        s.create("widgets", "a", body).await;
        s.delete("widgets/a").await;
        s.delete("widgets/a").await;
        s.merge("widgets/a", json!({"metadata": {"finalizers": null}}))
            .await;
        let mut watch = s
            .watch(&format!("widgets?watch=true&resourceVersion={rv}"))
            .await;
        watch.take(s, 3).await;
    });
}

#[test]
fn without_a_version_begins_with_the_present() {
    run(async |s| {
        for name in ["b", "a"] {
            s.create("widgets", name, json!({"spec": {"size": 1}}))
                .await;
        }
        let mut watch = s.watch("widgets?watch=true").await;
        watch.take(s, 2).await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        watch.take(s, 1).await;
    });
}

#[test]
fn version_zero_begins_with_the_present() {
    run(async |s| {
        s.create("configmaps", "b", json!({})).await;
        let last = s.create("configmaps", "a", json!({})).await;
        s.freshen("configmaps", &last).await;
        let mut watch = s.watch("configmaps?watch=true&resourceVersion=0").await;
        watch.take(s, 2).await;
        s.delete("configmaps/a").await;
        watch.take(s, 1).await;
    });
}

#[test]
fn resumes_after_a_version() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let second = s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        s.merge("widgets/a", json!({"spec": {"size": 3}})).await;
        s.create("widgets", "b", json!({"spec": {"size": 1}})).await;
        let mut watch = s
            .watch(&format!(
                "widgets?watch=true&resourceVersion={}",
                second.rv()
            ))
            .await;
        watch.take(s, 2).await;
    });
}

#[test]
fn resume_after_compaction_is_too_old() {
    run_forgetful(async |s| {
        // The real server remembers a resource's changes from when it was first served.
        let old = s.peek(&format!("namespaces/{}", s.ns)).await.rv();
        let crd = s.definition("olds", "Old", json!({"type": "object"}));
        s.crd(crd).await;
        s.create("olds", "a", json!({})).await;
        s.compact().await;
        let mut watch = s
            .watch(&format!("olds?watch=true&resourceVersion={old}"))
            .await;
        watch.take(s, 1).await;
        let mut watch = s
            .watch(&format!(
                "olds?watch=true&resourceVersion={old}&allowWatchBookmarks=true"
            ))
            .await;
        watch.take(s, 1).await;
    });
}

#[test]
fn resume_after_compaction_from_the_present_works() {
    run_forgetful(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let last = s.create("widgets", "b", json!({"spec": {"size": 1}})).await;
        s.compact().await;
        let mut watch = s
            .watch(&format!("widgets?watch=true&resourceVersion={}", last.rv()))
            .await;
        s.delete("widgets/a").await;
        watch.take(s, 1).await;
    });
}

#[test]
fn in_the_future_waits() {
    run(async |s| {
        let mut watch = s
            .watch("widgets?watch=true&resourceVersion=999999999&timeoutSeconds=1")
            .await;
        watch.rest(s).await;
    });
}

#[test]
fn with_bad_versions() {
    run(async |s| {
        s.watch("widgets?watch=true&resourceVersion=x").await;
        s.watch("widgets?watch=true&resourceVersion=-5").await;
        s.watch("configmaps?watch=true&resourceVersion=x").await;
        s.watch("configmaps?watch=true&resourceVersionMatch=Exact&resourceVersion=1")
            .await;
        s.watch("configmaps?watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=1")
            .await;
    });
}

#[test]
fn ends_after_its_timeout() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let mut watch = s.watch("widgets?watch=true&timeoutSeconds=1").await;
        watch.rest(s).await;
        s.watch("widgets?watch=true&timeoutSeconds=x").await;
        let mut watch = s.watch("configmaps?watch=true&timeoutSeconds=1").await;
        watch.rest(s).await;
    });
}

#[test]
fn initial_events_end_with_a_bookmark() {
    run(async |s| {
        for name in ["b", "a", "c"] {
            s.create("widgets", name, json!({"spec": {"size": 1}}))
                .await;
        }
        let query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
                     &allowWatchBookmarks=true";
        let mut watch = s.watch(&format!("widgets?{query}")).await;
        watch.take(s, 4).await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        watch.take(s, 1).await;
        let mut watch = s.watch(&format!("configmaps?{query}")).await;
        watch.take(s, 1).await;
        let last = s.get("widgets/a").await;
        s.freshen("widgets", &last).await;
        let mut watch = s.watch(&format!("widgets?{query}&resourceVersion=0")).await;
        watch.take(s, 4).await;
    });
}

#[test]
fn initial_events_with_a_selector() {
    run(async |s| {
        for (name, color) in [("a", "red"), ("b", "blue")] {
            s.create(
                "widgets",
                name,
                json!({"spec": {"size": 1, "color": color}}),
            )
            .await;
        }
        let query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
                     &allowWatchBookmarks=true&fieldSelector=spec.color%3Dblue";
        let mut watch = s.watch(&format!("widgets?{query}")).await;
        watch.take(s, 2).await;
    });
}

#[test]
fn initial_events_need_their_match() {
    run(async |s| {
        s.watch("widgets?watch=true&sendInitialEvents=true").await;
        s.watch("widgets?watch=true&sendInitialEvents=true&allowWatchBookmarks=true")
            .await;
        s.watch("widgets?watch=true&sendInitialEvents=false").await;
        s.get("widgets?sendInitialEvents=true&resourceVersionMatch=NotOlderThan")
            .await;
        s.watch("widgets?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1")
            .await;
        s.watch("configmaps?watch=true&sendInitialEvents=true")
            .await;
    });
}

#[test]
fn no_initial_events() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let query = "watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
        let mut watch = s.watch(&format!("widgets?{query}")).await;
        s.create("widgets", "b", json!({"spec": {"size": 1}})).await;
        watch.take(s, 1).await;
    });
}

#[test]
fn with_a_label_selector_objects_come_and_go() {
    run(async |s| {
        let rv = now(s, "widgets").await;
        let query = format!("watch=true&resourceVersion={rv}&labelSelector=in%3Dyes");
        let mut watch = s.watch(&format!("widgets?{query}")).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a", json!({"metadata": {"labels": {"in": "yes"}}}))
            .await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        s.merge(
            "widgets/a",
            json!({"metadata": {"labels": {"in": "no"}}, "spec": {"size": 3}}),
        )
        .await;
        s.merge("widgets/a", json!({"spec": {"size": 4}})).await;
        s.merge("widgets/a", json!({"metadata": {"labels": {"in": "yes"}}}))
            .await;
        s.delete("widgets/a").await;
        watch.take(s, 5).await;
    });
}

#[test]
fn with_a_field_selector_objects_come_and_go() {
    run(async |s| {
        let rv = now(s, "widgets").await;
        let query = format!("watch=true&resourceVersion={rv}&fieldSelector=spec.color%3Dblue");
        let mut watch = s.watch(&format!("widgets?{query}")).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a", json!({"spec": {"color": "blue"}}))
            .await;
        s.merge("widgets/a", json!({"spec": {"color": "green"}}))
            .await;
        s.create(
            "widgets",
            "b",
            json!({"spec": {"size": 1, "color": "blue"}}),
        )
        .await;
        s.delete("widgets/b").await;
        watch.take(s, 4).await;
    });
}

#[test]
fn of_one_object_by_name() {
    run(async |s| {
        let rv = now(s, "configmaps").await;
        let query = format!("watch=true&resourceVersion={rv}&fieldSelector=metadata.name%3Db");
        let mut watch = s.watch(&format!("configmaps?{query}")).await;
        s.create("configmaps", "a", json!({})).await;
        s.create("configmaps", "b", json!({})).await;
        s.delete("configmaps/a").await;
        s.delete("configmaps/b").await;
        watch.take(s, 2).await;
    });
}

#[test]
fn with_bad_selectors() {
    run(async |s| {
        s.watch("widgets?watch=true&labelSelector=%3Dx").await;
        s.watch("widgets?watch=true&fieldSelector=spec.note%3Dx")
            .await;
        s.watch("configmaps?watch=true&fieldSelector=data%3Dx")
            .await;
    });
}

#[test]
fn of_all_namespaces() {
    run(async |s| {
        let rv = now(s, "widgets").await;
        let ns = s.ns.clone();
        let path = format!(
            "/apis/fixture.freehold.dev/v1/widgets?watch=true&resourceVersion={rv}\
             &fieldSelector=metadata.namespace%3D{ns}"
        );
        let mut watch = s.watch(&path).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.delete("widgets/a").await;
        watch.take(s, 2).await;
    });
}

#[test]
fn in_another_version() {
    run(async |s| {
        let rv = now(s, "widgets").await;
        let mut watch = s
            .watch(&format!("widgets@v1beta1?watch=true&resourceVersion={rv}"))
            .await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.delete("widgets/a").await;
        watch.take(s, 2).await;
    });
}

#[test]
fn a_write_without_effect_is_no_event() {
    run(async |s| {
        let made = s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let mut watch = s
            .watch(&format!("widgets?watch=true&resourceVersion={}", made.rv()))
            .await;
        s.merge("widgets/a", json!({"spec": {"size": 1}})).await;
        s.merge("widgets/a?dryRun=All", json!({"spec": {"size": 5}}))
            .await;
        s.merge("widgets/a", json!({"spec": {"size": 2}})).await;
        watch.take(s, 1).await;
    });
}

#[test]
fn the_old_watch_path() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        let mut watch = s
            .watch("/api/v1/watch/namespaces/{ns}/configmaps?timeoutSeconds=1")
            .await;
        watch.rest(s).await;
    });
}

#[test]
fn of_an_item_watches_its_name() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("configmaps", "b", json!({})).await;
        let mut watch = s.watch("configmaps/a?watch=true&timeoutSeconds=1").await;
        watch.take(s, 1).await;
        let mut watch = s.watch("widgets/none?watch=true&timeoutSeconds=1").await;
        watch.take(s, 1).await;
    });
}

#[test]
fn collection_deletion_is_one_event_each() {
    run(async |s| {
        for name in ["a", "b", "c"] {
            s.create("widgets", name, json!({"spec": {"size": 1}}))
                .await;
        }
        let rv = now(s, "widgets").await;
        let mut watch = s
            .watch(&format!("widgets?watch=true&resourceVersion={rv}"))
            .await;
        s.delete("widgets?labelSelector=none").await;
        s.delete("widgets?fieldSelector=metadata.name%3Db").await;
        s.delete("widgets?fieldSelector=metadata.name%3Da").await;
        watch.take(s, 2).await;
    });
}

#[test]
fn ends_when_the_definition_goes() {
    run(async |s| {
        let crd = s.definition("goers", "Goer", json!({"type": "object"}));
        let made = s.crd(crd).await;
        s.create("goers", "a", json!({})).await;
        let rv = now(s, "goers").await;
        let mut watch = s
            .watch(&format!(
                "goers?watch=true&resourceVersion={rv}&timeoutSeconds=60"
            ))
            .await;
        s.delete(&format!("customresourcedefinitions/{}", made.name()))
            .await;
        watch.take(s, 2).await;
        s.until_gone(&format!("customresourcedefinitions/{}", made.name()))
            .await;
    });
}
