//! kubectl: what it applies by itself, and how that becomes the server's business.

use serde_json::{Value, json};

use crate::harness::{Script, run};

const LAST: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object as `kubectl apply` makes it.
fn annotated(s: &Script, plural: &str, rest: Value) -> Value {
    let mut object = s.object(plural, "a", rest);
    let last = format!("{object}\n");
    object["metadata"]["annotations"][LAST] = json!(last);
    object
}

#[test]
fn client_side() {
    run(async |s| {
        let first = annotated(s, "configmaps", json!({"data": {"a": "1", "b": "1"}}));
        s.post("configmaps?fieldManager=kubectl-client-side-apply", first)
            .await;
        // Another adds something, which the next apply leaves alone.
        s.merge(
            "configmaps/a?fieldManager=other",
            json!({"data": {"c": "1"}}),
        )
        .await;
        let second = annotated(s, "configmaps", json!({"data": {"a": "2"}}));
        let patch = json!({"data": {"a": "2", "b": null},
            "metadata": {"annotations": {LAST: second["metadata"]["annotations"][LAST]}}});
        s.strategic("configmaps/a?fieldManager=kubectl-client-side-apply", patch)
            .await;
        let first = annotated(
            s,
            "widgets",
            json!({"spec": {"size": 1, "tags": ["a"], "note": "x"}}),
        );
        s.post("widgets?fieldManager=kubectl-client-side-apply", first)
            .await;
        let second = annotated(s, "widgets", json!({"spec": {"size": 2, "tags": ["b"]}}));
        let patch = json!({"spec": {"size": 2, "tags": ["b"], "note": null},
            "metadata": {"annotations": {LAST: second["metadata"]["annotations"][LAST]}}});
        s.merge("widgets/a?fieldManager=kubectl-client-side-apply", patch)
            .await;
    });
}

#[test]
fn what_was_applied_from_the_outside_is_taken_over() {
    run(async |s| {
        for (plural, one, two) in [
            (
                "configmaps",
                json!({"data": {"a": "1", "b": "1"}}),
                json!({"data": {"a": "2"}}),
            ),
            (
                "widgets",
                json!({"spec": {"size": 1, "note": "x"}}),
                json!({"spec": {"size": 2}}),
            ),
        ] {
            let first = annotated(s, plural, one);
            s.post(
                &format!("{plural}?fieldManager=kubectl-client-side-apply"),
                first,
            )
            .await;
            let item = format!("{plural}/a");
            // Any other manager conflicts.
            s.apply_as("someone", &item, two.clone()).await;
            s.apply_as("kubectl", &item, two.clone()).await;
            s.apply_as("kubectl", &item, two).await;
        }
    });
}

#[test]
fn what_others_changed_is_not_taken_over() {
    run(async |s| {
        let first = annotated(
            s,
            "configmaps",
            json!({"data": {"a": "1", "b": "1", "c": "<&>"}}),
        );
        s.post("configmaps?fieldManager=kubectl-client-side-apply", first)
            .await;
        s.merge(
            "configmaps/a?fieldManager=other",
            json!({"data": {"b": "2"}}),
        )
        .await;
        s.apply_as(
            "kubectl",
            "configmaps/a",
            json!({"data": {"a": "3", "b": "3"}}),
        )
        .await;
        s.apply_as(
            "kubectl&force=true",
            "configmaps/a",
            json!({"data": {"a": "3", "c": "<&>"}}),
        )
        .await;
        s.apply_as(
            "kubectl",
            "configmaps/a",
            json!({"metadata": {"annotations": {"x": "y"}}}),
        )
        .await;
        s.apply_as(
            "kubectl",
            "configmaps/a",
            json!({"metadata": {"annotations": {LAST: "{}"}}}),
        )
        .await;
    });
}

#[test]
fn an_annotation_that_says_nothing() {
    run(async |s| {
        for (index, last) in [
            "",
            "x",
            "{}",
            "null",
            "[]",
            r#"{"apiVersion":"v2","kind":"ConfigMap"}"#,
            r#"{"apiVersion":"v1","kind":"ConfigMap","nope":1}"#,
        ]
        .iter()
        .enumerate()
        {
            let name = format!("c{index}");
            let rest = json!({"metadata": {"annotations": {LAST: last}}, "data": {"a": "1"}});
            s.create("configmaps?fieldManager=maker", &name, rest).await;
            s.apply_as(
                "kubectl",
                &format!("configmaps/{name}"),
                json!({"data": {"a": "2"}}),
            )
            .await;
            s.apply_as(
                "kubectl&force=true",
                &format!("configmaps/{name}"),
                json!({"data": {"a": "2"}}),
            )
            .await;
        }
    });
}
