//! Cursors, versions and options that no client sends by chance.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::harness::run;

fn cursor(token: &Value) -> String {
    URL_SAFE_NO_PAD.encode(token.to_string())
}

#[test]
fn cursors_that_nobody_gave() {
    run(async |s| {
        for name in ["a", "b", "c"] {
            s.create("configmaps", name, json!({})).await;
            s.create("widgets", name, json!({"spec": {"size": 1}}))
                .await;
        }
        let v = "meta.k8s.io/v1";
        for token in [
            json!({"v": v, "rv": -1, "start": "b"}),
            json!({"v": v, "rv": -1, "start": "a\u{0}"}),
            json!({"v": v, "rv": -1, "start": "/b"}),
            json!({"v": v, "rv": -1, "start": "../x"}),
            json!({"v": v, "rv": -1, "start": "x/../b"}),
            json!({"v": v, "rv": -1, "start": "b/"}),
            json!({"v": v, "rv": -1, "start": "."}),
            json!({"v": v, "rv": -1, "start": "zzz"}),
            json!({"v": v, "rv": -5, "start": "b"}),
            json!({"v": v, "rv": 0, "start": "b"}),
            json!({"v": v, "rv": -1, "start": ""}),
            json!({"v": v, "rv": 0, "start": ""}),
            json!({"v": v, "rv": 999_999_999, "start": "b"}),
            json!({"v": v, "rv": "x", "start": "b"}),
            json!({"v": v, "rv": 1.5, "start": "b"}),
            json!({"v": v, "rv": -1, "start": 5}),
            json!({"v": "meta.k8s.io/v2", "rv": -1, "start": "b"}),
            json!({"v": 5, "rv": -1, "start": "b"}),
            json!({"rv": -1, "start": "b"}),
            json!({}),
            json!([]),
            json!("x"),
            json!(null),
        ] {
            for plural in ["configmaps", "widgets"] {
                s.get(&format!("{plural}?limit=2&continue={}", cursor(&token)))
                    .await;
            }
        }
        for text in ["=", "a", "====", "%20", "e30"] {
            s.get(&format!("configmaps?continue={text}")).await;
        }
    });
}

#[test]
fn a_cursor_goes_on_in_another_place() {
    run(async |s| {
        for name in ["a", "b", "c", "d"] {
            s.create("configmaps", name, json!({})).await;
            s.create("secrets", name, json!({})).await;
            s.create("widgets", name, json!({"spec": {"size": 1}}))
                .await;
            s.create("notes", name, json!({})).await;
        }
        let first = s.get("configmaps?limit=2").await;
        s.get(&format!("secrets?continue={}", first.cursor())).await;
        s.get(&format!(
            "/api/v1/namespaces/none/configmaps?continue={}",
            first.cursor()
        ))
        .await;
        let first = s.get("widgets?limit=2").await;
        s.get(&format!("notes?continue={}", first.cursor())).await;
        s.get(&format!("widgets@v1beta1?continue={}", first.cursor()))
            .await;
        s.get(&format!(
            "widgets?continue={}&resourceVersion=0",
            first.cursor()
        ))
        .await;
    });
}

#[test]
fn versions_that_are_nearly_numbers() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        for version in [
            "%2B1",
            "01",
            "1_0",
            "0x1",
            "1.0",
            "%201",
            "99999999999999999999",
            "18446744073709551615",
            "9223372036854775807",
        ] {
            for plural in ["configmaps", "widgets"] {
                s.get(&format!("{plural}?resourceVersion={version}")).await;
                s.get(&format!("{plural}/a?resourceVersion={version}"))
                    .await;
            }
        }
        for version in ["%2B1", "1_0", "99999999999999999999", "%201"] {
            s.watch(&format!(
                "configmaps?watch=1&timeoutSeconds=1&resourceVersion={version}"
            ))
            .await;
        }
        for version in ["+1", "99999999999999999999", " 1", "0x1", "00", "-0"] {
            for plural in ["configmaps", "widgets"] {
                let body = json!({"metadata": {"resourceVersion": version}, "spec": {"size": 1}});
                s.replace(plural, "a", body.clone()).await;
                s.merge(&format!("{plural}/a"), body.clone()).await;
                s.create(&format!("{plural}?dryRun=All"), "n", body).await;
            }
        }
    });
}

#[test]
fn lists_in_the_future() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        s.create("configmaps", "a", json!({})).await;
        for plural in ["widgets", "configmaps"] {
            for query in [
                "limit=1&resourceVersion=999999999",
                "limit=1&resourceVersion=999999999&resourceVersionMatch=NotOlderThan",
                "limit=1&resourceVersion=999999999&resourceVersionMatch=Exact",
            ] {
                s.get(&format!("{plural}?{query}")).await;
            }
        }
    });
}

#[test]
fn options_are_checked_all_at_once() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        let long = "m".repeat(129);
        for plural in ["configmaps", "widgets"] {
            for query in [
                "dryRun=x&fieldValidation=y",
                "dryRun=",
                "dryRun=All&dryRun=x",
                "dryRun=x&dryRun=x",
                "dryRun=all",
                "fieldManager=a%07b%00",
                "fieldManager=%C2%85",
                "fieldManager=%E2%80%8B",
                "fieldManager=%C3%BC%20x",
                "fieldManager=%ff",
                "fieldValidation=strict",
                "fieldValidation=&fieldValidation=Nonsense",
                "fieldValidation=Nonsense&fieldValidation=Strict",
                &format!("fieldManager={long}&dryRun=x&fieldValidation=y"),
            ] {
                if query.contains("%ff") {
                    continue;
                }
                let body = json!({"spec": {"size": 2}});
                s.create(&format!("{plural}?{query}"), "n", body.clone())
                    .await;
                s.replace(&format!("{plural}?{query}"), "a", body.clone())
                    .await;
                s.merge(&format!("{plural}/a?{query}&force=true"), body)
                    .await;
            }
        }
        for query in ["force=true", "force=false", "force=", "force=0"] {
            s.merge(&format!("configmaps/a?{query}"), json!({})).await;
        }
    });
}

#[test]
fn deletions_with_odd_options() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            s.create(plural, "a", json!({"spec": {"size": 1}})).await;
            let item = format!("{plural}/a");
            for options in [
                json!({"dryRun": ["All"], "apiVersion": "meta.k8s.io/v1"}),
                json!({"dryRun": ["All"], "apiVersion": "apps/v1"}),
                json!({"dryRun": ["All"], "apiVersion": "foo/v1"}),
                json!({"dryRun": ["All"], "apiVersion": "v2"}),
                json!({"dryRun": ["All"], "apiVersion": "fixture.freehold.dev/v1"}),
                json!({"dryRun": ["All"], "apiVersion": ""}),
                json!({"dryRun": ["All"], "kind": "Status"}),
                json!({"dryRun": ["All"], "kind": "ListOptions"}),
                json!({"dryRun": ["All"], "kind": ""}),
                json!({"dryRun": ["All"], "unknown": 1}),
                json!({"dryRun": ["All", "x"], "propagationPolicy": "x", "orphanDependents": true}),
                json!({"dryRun": ["x"]}),
                json!({"dryRun": "All"}),
                json!({"dryRun": null, "gracePeriodSeconds": "x"}),
                json!({"dryRun": ["All"], "gracePeriodSeconds": -5}),
                json!({"dryRun": ["All"], "gracePeriodSeconds": 1.5}),
                json!({"dryRun": ["All"], "gracePeriodSeconds": 30}),
                json!({"dryRun": ["All"], "propagationPolicy": ""}),
                json!({"dryRun": ["All"], "propagationPolicy": null}),
                json!({"dryRun": ["All"], "propagationPolicy": "background"}),
                json!({"dryRun": ["All"], "preconditions": {"uid": ""}}),
                json!({"dryRun": ["All"], "preconditions": {"resourceVersion": ""}}),
                json!({"dryRun": ["All"], "preconditions": {"uid": "x", "resourceVersion": "1"}}),
                json!({"dryRun": ["All"], "preconditions": []}),
                json!({"dryRun": ["All"], "preconditions": {}}),
                json!({"dryRun": ["All"],
                    "ignoreStoreReadErrorWithClusterBreakingPotential": true}),
                json!({"dryRun": ["All"],
                    "ignoreStoreReadErrorWithClusterBreakingPotential": true,
                    "propagationPolicy": "Orphan"}),
            ] {
                s.delete_with(&item, options.clone()).await;
                s.delete_with(plural, options).await;
            }
            for body in [
                "null",
                "[]",
                "1",
                "\"x\"",
                "{}x",
                "{",
                " ",
                "{\"dryRun\":[\"All\"]}",
            ] {
                let dry = format!("{item}?dryRun=All");
                if matches!(body, "null" | " ") {
                    s.code(
                        "DELETE",
                        &dry,
                        &[("content-type", "application/json")],
                        body,
                    )
                    .await;
                    s.create(plural, "a", json!({"spec": {"size": 1}})).await;
                    continue;
                }
                s.typed("DELETE", &dry, "application/json", body).await;
            }
            s.typed(
                "DELETE",
                &item,
                "application/yaml",
                "kind: DeleteOptions\napiVersion: v1\ndryRun: [All]\n",
            )
            .await;
            s.typed("DELETE", &item, "text/plain", "{}").await;
            for query in [
                "dryRun=x",
                "dryRun=All&gracePeriodSeconds=x",
                "dryRun=All&gracePeriodSeconds=",
                "dryRun=All&orphanDependents=x",
                "dryRun=All&orphanDependents=false&propagationPolicy=Orphan",
                "dryRun=All&propagationPolicy=",
                "dryRun=All&propagationPolicy=x",
                "dryRun=All&preconditions=x",
            ] {
                s.delete(&format!("{item}?{query}")).await;
            }
            s.get(&item).await;
        }
    });
}

#[test]
fn collections_are_deleted_page_by_page() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            for name in ["a", "b", "c", "d"] {
                s.create(plural, name, json!({"spec": {"size": 1}})).await;
            }
            let first = s.delete(&format!("{plural}?limit=1")).await;
            s.get(plural).await;
            s.delete(&format!("{plural}?continue={}", first.cursor()))
                .await;
            s.get(plural).await;
            s.create(plural, "e", json!({"spec": {"size": 1}})).await;
            let kept = json!({"metadata": {"finalizers": ["example.com/f"]}, "spec": {"size": 1}});
            s.create(plural, "f", kept).await;
            s.delete(&format!("{plural}?resourceVersion=0")).await;
            s.delete(plural).await;
            s.get(plural).await;
            s.merge(
                &format!("{plural}/f"),
                json!({"metadata": {"finalizers": null}}),
            )
            .await;
        }
        for name in ["a", "b"] {
            s.create("configmaps", name, json!({})).await;
        }
        let b = s.get("configmaps/b").await;
        s.delete_with("configmaps", json!({"preconditions": {"uid": b.uid()}}))
            .await;
        s.get("configmaps").await;
    });
}
