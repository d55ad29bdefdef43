//! Corners that a second reading of the real server's behaviour found.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::harness::{Script, merge, run};

fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        write!(escaped, "%{byte:02X}").expect("a string takes everything");
        escaped
    })
}

// Selectors.

#[test]
fn label_selectors_of_every_shape() {
    run(async |s| {
        for (name, labels) in [
            ("a", json!({"team": "x", "n": "5"})),
            ("b", json!({"team": "", "n": "-1"})),
            ("c", json!({"in": "notin"})),
        ] {
            s.create("configmaps", name, json!({"metadata": {"labels": labels}}))
                .await;
        }
        for selector in [
            "team in (x,)",
            "team in (,x)",
            "team in (,)",
            "team in (x,,y)",
            "team in (,,)",
            "team in ( x , y )",
            "team in (x y)",
            "team in (x",
            "team in (x,",
            "team in (=)",
            "team in (!)",
            "team in x)",
            "team notin ()",
            "team in (-x)",
            "team in (y,-x)",
            "team in (in)",
            "in",
            "in in (notin)",
            "in=notin",
            "in=in",
            "notin",
            "!in",
            "in notin (x)",
            "n>4",
            "n<4",
            "n>-5",
            "n>+4",
            "n>=4",
            "n>",
            "n>4.5",
            "n>99999999999999999999",
            "team=!x",
            "team!x",
            "team=x y",
            "team==",
            "team!=",
            "team===x",
            "!team=x",
            "!!team",
            "! team",
            "team ,n",
            "team x",
            "(team)",
            "team in (x)) ",
            "team in ((x))",
            "team%",
            "-team",
            "/team",
            "a/b/c",
            "UPPER.example.com/x=1",
            "a_b.com/x",
            "team=-x-",
            "team=ümlaut",
            "ü",
            "\tteam\n",
            "team&x",
            "team<x>",
            "a=b,,c=d",
            "a,!",
            ",a",
        ] {
            s.get(&format!("configmaps?labelSelector={}", escaped(selector)))
                .await;
        }
        let long = "k".repeat(70);
        for selector in [
            format!("{long}-"),
            format!("a={long}-"),
            format!("{long}-={long}-"),
            format!("a in ({long}-,-)"),
        ] {
            s.get(&format!("widgets?labelSelector={}", escaped(&selector)))
                .await;
        }
    });
}

#[test]
fn field_selectors_of_every_shape() {
    run(async |s| {
        for name in ["a", "b"] {
            s.create("configmaps", name, json!({})).await;
            s.create("widgets", name, json!({"spec": {"size": 1}}))
                .await;
        }
        for selector in [
            "metadata.name=a,metadata.name=b",
            "metadata.name=a,metadata.name!=b",
            "metadata.name!=a,metadata.name!=b",
            ",metadata.name=a",
            "metadata.name=a,",
            ",,",
            "metadata.name=a\\,b",
            "metadata.name=a\\=b",
            "metadata.name=a\\",
            "metadata.name=a\\x",
            "metadata.name=a\\\\",
            "metadata.name=a=b",
            "metadata.name=a!=b",
            "metadata.name",
            "!metadata.name",
            "=a",
            "==",
            "metadata.name=",
            " metadata.name=a",
            "metadata.name= a",
            "metadata.name===a",
            "metadata\\.name=a",
            "metadata.name in (a)",
            "metadata.namespace=other",
            "metadata.namespace!=other",
            "spec.size=1",
            "name=a",
        ] {
            for plural in ["configmaps", "widgets", "gadgets"] {
                s.get(&format!("{plural}?fieldSelector={}", escaped(selector)))
                    .await;
            }
        }
    });
}

#[test]
fn one_name_is_never_paged() {
    run(async |s| {
        for name in ["a", "b", "c"] {
            s.create("configmaps", name, json!({})).await;
            s.create("widgets", name, json!({"spec": {"size": 1}}))
                .await;
        }
        for plural in ["configmaps", "widgets"] {
            for query in [
                "limit=1&fieldSelector=metadata.name%3Da",
                "limit=1&fieldSelector=metadata.name%3Dnone",
                "limit=1&fieldSelector=metadata.name%3Da,metadata.namespace%3D{ns}",
                "limit=1&fieldSelector=metadata.name%3Da&labelSelector=x",
                "limit=1&fieldSelector=metadata.name%3Da&resourceVersion=0",
                "limit=1&fieldSelector=metadata.name%3Dx/y",
            ] {
                s.get(&format!("{plural}?{query}")).await;
            }
        }
        s.get(
            "/api/v1/configmaps?limit=1&fieldSelector=metadata.name%3Da,metadata.namespace%3D{ns}",
        )
        .await;
        s.get("/api/v1/configmaps?limit=1&fieldSelector=metadata.namespace%3D{ns}")
            .await;
    });
}

// Cursors.

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

// Versions.

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

// Options.

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

// Patches.

#[test]
fn nulls_in_lists_of_a_merge_patch() {
    run(async |s| {
        s.create(
            "notes",
            "a",
            json!({"list": [1], "map": {"x": 1}, "text": "t"}),
        )
        .await;
        for patch in [
            json!({"list": [{"a": null, "b": 1, "c": {"d": null}}, null, [null, {"e": null}]]}),
            json!({"fresh": [{"a": null, "b": [{"c": null}]}, null]}),
            json!({"map": [{"a": null}]}),
            json!({"text": {"a": null, "b": {"c": null, "d": [null, {"e": null}]}}}),
            json!({"map": {"a": null}, "other": {"a": null}}),
        ] {
            s.merge("notes/a", patch).await;
        }
    });
}

#[test]
fn json_patch_indices() {
    run(async |s| {
        for (index, operation) in [
            json!({"op": "add", "path": "/l/-1", "value": 9}),
            json!({"op": "add", "path": "/l/-2", "value": 9}),
            json!({"op": "add", "path": "/l/-4", "value": 9}),
            json!({"op": "add", "path": "/l/-5", "value": 9}),
            json!({"op": "add", "path": "/l/-0", "value": 9}),
            json!({"op": "add", "path": "/l/+1", "value": 9}),
            json!({"op": "add", "path": "/l/01", "value": 9}),
            json!({"op": "add", "path": "/l/1e0", "value": 9}),
            json!({"op": "add", "path": "/l/", "value": 9}),
            json!({"op": "add", "path": "/l/3", "value": 9}),
            json!({"op": "add", "path": "/l/4", "value": 9}),
            json!({"op": "remove", "path": "/l/-0"}),
            json!({"op": "remove", "path": "/l/-3"}),
            json!({"op": "remove", "path": "/l/-4"}),
            json!({"op": "remove", "path": "/l/-"}),
            json!({"op": "remove", "path": "/l/3"}),
            json!({"op": "replace", "path": "/l/-1", "value": 9}),
            json!({"op": "replace", "path": "/l/-", "value": 9}),
            json!({"op": "replace", "path": "/l/-4", "value": 9}),
            json!({"op": "test", "path": "/l/-1", "value": 3}),
            json!({"op": "test", "path": "/l/-", "value": 3}),
            json!({"op": "test", "path": "/l/9", "value": null}),
            json!({"op": "copy", "from": "/l/-1", "path": "/x"}),
            json!({"op": "copy", "from": "/l/9", "path": "/x"}),
            json!({"op": "copy", "from": "/none", "path": "/x"}),
            json!({"op": "move", "from": "/l/0", "path": "/l/2"}),
            json!({"op": "move", "from": "/l/0", "path": "/l/3"}),
            json!({"op": "move", "from": "/l", "path": "/l/0"}),
            json!({"op": "move", "from": "/l/0", "path": "/l/-"}),
            json!({"op": "move", "from": "/none", "path": "/x"}),
            json!({"op": "add", "path": "", "value": {"x": 1}}),
            json!({"op": "remove", "path": ""}),
            json!({"op": "move", "from": "", "path": "/x"}),
            json!({"op": "copy", "from": "", "path": "/x"}),
            json!({"op": "copy", "from": "/l", "path": ""}),
            json!({"op": "test", "path": "", "value": {}}),
            json!({"op": "replace", "path": "", "value": []}),
            json!({"op": "replace", "path": "", "value": 5}),
            json!({"op": "replace", "path": "", "value": null}),
            json!({"op": "add", "path": "/", "value": 1}),
            json!({"op": "add", "path": "/m/a~0b~1c~01", "value": 1}),
            json!({"op": "add", "path": "/m/~2", "value": 1}),
            json!({"op": "add", "path": "/t/x", "value": 1}),
            json!({"op": "add", "path": "/n/x", "value": 1}),
            json!({"op": "remove", "path": "/n"}),
            json!({"op": "add", "path": "/x"}),
            json!({"op": "replace", "path": "/t"}),
            json!({"op": "add", "value": 1}),
            json!({"op": "add", "path": null, "value": 1}),
            json!({"path": "/x", "value": 1}),
            json!({"op": "ADD", "path": "/x", "value": 1}),
            json!({"op": "add", "path": "/x", "value": 1, "extra": 1}),
            json!({"op": "copy", "path": "/x"}),
            json!({"op": "test", "path": "/t", "value": "t"}),
            json!({"op": "test", "path": "/t"}),
            json!({"op": "test", "path": "/none"}),
            json!({"op": "test", "path": "/none", "value": null}),
            json!({"op": "test", "path": "/none/x", "value": null}),
            json!({"op": "test", "path": "/m", "value": {"b": [1, {"c": 2}], "a": "x"}}),
            json!({"op": "test", "path": "/m", "value": {"a": "x"}}),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("n{index}");
            let body = json!({"l": [1, 2, 3], "t": "t", "n": null,
                "m": {"a": "x", "b": [1, {"c": 2}]}});
            s.create("notes", &name, body).await;
            s.patch(&format!("notes/{name}"), json!([operation])).await;
        }
    });
}

#[test]
fn patches_of_the_header() {
    run(async |s| {
        for plural in ["configmaps", "widgets", "namespaces", "gadgets"] {
            let name = format!("{}-h", s.ns);
            s.create(plural, &name, json!({"spec": {"size": 1}})).await;
            let item = format!("{plural}/{name}");
            for patch in [
                json!({"metadata": null}),
                json!({"metadata": "x"}),
                json!({"metadata": []}),
                json!({"apiVersion": null}),
                json!({"apiVersion": "x/y/z"}),
                json!({"apiVersion": 5}),
                json!({"kind": null}),
                json!({"kind": ""}),
                json!({"kind": 5}),
                json!({"metadata": {"name": null}}),
                json!({"metadata": {"name": ""}}),
                json!({"metadata": {"name": 5}}),
                json!({"metadata": {"namespace": null}}),
                json!({"metadata": {"namespace": "other"}}),
                json!({"metadata": {"uid": null}}),
                json!({"metadata": {"uid": "other"}}),
                json!({"metadata": {"creationTimestamp": null}}),
                json!({"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}}),
                json!({"metadata": {"creationTimestamp": "x"}}),
                json!({"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}}),
                json!({"metadata": {"deletionGracePeriodSeconds": 5}}),
                json!({"metadata": {"generation": 77}}),
                json!({"metadata": {"generation": null}}),
                json!({"metadata": {"selfLink": "x"}}),
                json!({"metadata": {"generateName": "x-"}}),
                json!({"metadata": {"generateName": "X"}}),
                json!({"metadata": {"labels": null}}),
                json!({"metadata": {"labels": []}}),
                json!({"metadata": {"labels": {"a": 1}}}),
                json!({"metadata": {"labels": {"a": ""}}}),
                json!({"metadata": {"annotations": {"UPPER.example.com/A": "x"}}}),
                json!({"metadata": {"finalizers": "x"}}),
                json!({"metadata": {"finalizers": [null]}}),
                json!({"metadata": {"finalizers": [""]}}),
                json!({"metadata": {"finalizers": ["example.com/a", "example.com/a"]}}),
                json!({"metadata": {"finalizers": null}}),
                json!({"metadata": {"ownerReferences": {}}}),
                json!({"metadata": {"ownerReferences": [{}]}}),
                json!({"metadata": {"ownerReferences": [null]}}),
                json!({"metadata": {"unknown": 1}}),
                json!({"metadata": {"managedFields": "x"}}),
                json!({"metadata": {"managedFields": [{"operation": "x"}]}}),
            ] {
                // An object without a kind is quoted as a whole.
                let kind = patch.get("kind");
                if kind.is_some_and(|kind| *kind == "" || kind.is_null()) {
                    continue;
                }
                s.merge(&item, patch).await;
            }
        }
    });
}

#[test]
fn content_types_of_patches() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        for item in ["configmaps/a", "widgets/a"] {
            for kind in [
                "Application/Merge-Patch+JSON",
                "application/merge-patch+json;charset=utf-8",
                "application/merge-patch+json ; charset=utf-8",
                " application/merge-patch+json",
                "application/merge-patch+json;",
                "application/merge-patch+json, application/json",
                ";application/merge-patch+json",
                "",
                "application/json",
                "application/yaml",
                "application/apply-patch+cbor",
            ] {
                s.typed("PATCH", item, kind, "{}").await;
            }
            s.raw("PATCH", item, &[], "{}").await;
        }
    });
}

// Bodies.

#[test]
fn content_types_of_bodies() {
    run(async |s| {
        for plural in ["configmaps", "widgets"] {
            let body = s
                .object(plural, "a", json!({"spec": {"size": 1}}))
                .to_string();
            for kind in [
                "Application/JSON",
                "application/json;",
                "application/json;;",
                "application/json; charset",
                "application/json; charset=latin1",
                "application/json; a=b; a=c",
                "application/json, text/plain",
                " application/json ",
                "application/json; charset=\"utf-8",
                "application/vnd.kubernetes.protobuf",
                "application/cbor",
                "application/merge-patch+json",
                "text/json",
                "application/x-www-form-urlencoded",
            ] {
                if kind.ends_with("protobuf") {
                    continue;
                }
                s.typed("POST", &format!("{plural}?dryRun=All"), kind, body.clone())
                    .await;
            }
        }
    });
}

#[test]
fn accepted_answers() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        s.create("widgets", "a", json!({"spec": {"size": 1}})).await;
        for path in ["configmaps/a", "widgets/a", "configmaps"] {
            for accept in [
                "application/json;q=0.5, text/html",
                "text/html;q=0.9, application/json;q=0.1",
                "APPLICATION/JSON",
                "application/json;pretty=1",
                "application/json;stream=watch",
                "application/json;stream=nonsense",
                "application/json;sv=v1",
                "application/json; charset=utf-8",
                "application/json;foo=bar",
                "*/json",
                "application",
                "text/*",
                "*",
                ",",
                ";",
                "application/json;q=0",
                "application/json;q=x",
                "application/xml, */*;q=0.1",
            ] {
                s.raw("GET", path, &[("accept", accept)], "").await;
            }
        }
        for accept in ["text/html", "application/json;stream=watch"] {
            for plural in ["configmaps", "widgets"] {
                s.raw(
                    "GET",
                    &format!("{plural}?watch=1&timeoutSeconds=1&resourceVersion=x"),
                    &[("accept", accept)],
                    "",
                )
                .await;
                s.code(
                    "GET",
                    &format!("{plural}?watch=1&timeoutSeconds=1"),
                    &[("accept", accept)],
                    "",
                )
                .await;
            }
        }
    });
}

#[test]
fn yaml_of_every_shape() {
    run(async |s| {
        let start = "apiVersion: fixture.freehold.dev/v1\nkind: Note\nmetadata:\n  name: note\n";
        for rest in [
            "any: yes",
            "any: Yes",
            "any: on",
            "any: off",
            "any: n",
            "any: y",
            "any: TRUE",
            "any: ~",
            "any: Null",
            "any:",
            "any: 0o17",
            "any: 0x1F",
            "any: 0b11",
            "any: 1_000",
            "any: 1:30",
            "any: +5",
            "any: .5",
            "any: 5.",
            "any: 1e3",
            "any: 1.0",
            "any: 2020-01-01",
            "any: 2020-01-01T00:00:00Z",
            "any: !!str 5",
            "any: !!int \"5\"",
            "any: !!binary aGVsbG8=",
            "any: !custom x",
            "any: &a [1]\nother: *a",
            "base: &b {x: 1}\nany:\n  <<: *b\n  z: 2",
            "any: [a, b, ]",
            "any: {a, b}",
            "any: |\n  one\n  two",
            "any: >-\n  one\n  two",
            "any: 'it''s'",
            "any: \"\\x41\\u00e9\"",
            "any: 99999999999999999999",
            "any: 9223372036854775808",
            "any: a # comment",
            "any: a#b",
            "---\nany: x",
            "any: =",
        ] {
            let body = format!("{start}{rest}\n");
            s.hostile(
                "POST",
                "notes?dryRun=All",
                &[("content-type", "application/yaml")],
                body,
            )
            .await;
        }
        // What is wrong is told in the words of the reader.
        for rest in [
            "any: .inf",
            "any: .nan",
            "any: {1: a, true: b, 1.5: c, null: d}",
            "any: {? [a] : b}",
            "any: x\n---\nother: y",
            "any: x\n...",
            "\tany: x",
            "any: @x",
            "any: `x`",
            "any: %x",
            "any: -",
            "any: - x",
        ] {
            s.note(rest, Value::Null);
            let body = format!("{start}{rest}\n");
            let yaml = [("content-type", "application/yaml")];
            s.code("POST", "notes?dryRun=All", &yaml, body).await;
        }
        for (name, body) in [
            ("empty", ""),
            ("comment", "# nothing"),
            ("scalar", "x"),
            ("list", "- x"),
            ("null", "null"),
            (
                "json",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"j\"}}",
            ),
            (
                "yes",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {a: yes}\n",
            ),
            (
                "number",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {a: 5}\n",
            ),
            (
                "twice",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {a: x, a: y}\n",
            ),
            (
                "unknown",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\nmore: {a: x}\n",
            ),
        ] {
            s.note(name, Value::Null);
            let yaml = [("content-type", "application/yaml")];
            s.code("POST", "configmaps?dryRun=All", &yaml, body).await;
        }
    });
}

#[test]
fn numbers_in_typed_fields() {
    run(async |s| {
        for number in [
            "1.0",
            "1e0",
            "1E1",
            "10e-1",
            "1.5",
            "-0",
            "0.0",
            "2147483648",
            "1e30",
        ] {
            for (path, body) in [
                (
                    "leases",
                    format!(
                        r#"{{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{{"name":"a"}},"spec":{{"leaseDurationSeconds":{number}}}}}"#
                    ),
                ),
                (
                    "configmaps",
                    format!(
                        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a","generation":{number}}}}}"#
                    ),
                ),
                (
                    "widgets",
                    format!(
                        r#"{{"apiVersion":"fixture.freehold.dev/v1","kind":"Widget","metadata":{{"name":"a","generation":{number}}},"spec":{{"size":{number},"ratio":{number},"port":{number}}}}}"#
                    ),
                ),
            ] {
                s.typed(
                    "POST",
                    &format!("{path}?dryRun=All"),
                    "application/json",
                    body,
                )
                .await;
            }
        }
    });
}

#[test]
fn times_of_every_shape() {
    run(async |s| {
        for (index, time) in [
            "2020-01-01T00:00:00Z",
            "2020-01-01T00:00:00.5Z",
            "2020-01-01T00:00:00,5Z",
            "2020-01-01T02:00:00+02:00",
            "2020-01-01T02:00:00+0200",
            "2020-01-01T02:00:00+02",
            "2020-01-01t00:00:00z",
            "2020-01-01 00:00:00Z",
            "2020-01-01T00:00Z",
            "2020-01-01T00Z",
            "2020-01-01",
            "20200101T000000Z",
            "2020-01-01T00:00:00",
            "2020-01-01T00:00:60Z",
            "2020-01-01T24:00:00Z",
            "2020-01-01T0:00:00Z",
            "2020-02-30T00:00:00Z",
            "0000-01-01T00:00:00Z",
            "-0001-01-01T00:00:00Z",
            "+002020-01-01T00:00:00Z",
            "2020-01-01T00:00:00Z[UTC]",
            "2020-01-01T00:00:00-00:00",
            "2020-01-01T00:00:00+24:00",
            "0001-01-01T00:00:00Z",
            " 2020-01-01T00:00:00Z",
            "",
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("e{index}");
            let ns = s.ns.clone();
            let event = json!({"firstTimestamp": time, "involvedObject": {"namespace": ns}});
            s.create("events", &name, event).await;
            let lease = json!({"spec": {"renewTime": time}});
            s.create("leases?dryRun=All", &name, lease).await;
            let widget = json!({"metadata": {"creationTimestamp": time}, "spec": {"size": 1}});
            s.create("widgets?dryRun=All", &name, widget).await;
        }
        for (index, time) in [
            "2020-01-01T00:00:00.000000Z",
            "2020-01-01T00:00:00.123456+02:00",
            "2020-01-01T00:00:00.1234567Z",
            "2020-01-01T00:00:00,123456Z",
            "2020-01-01 00:00:00.123456Z",
            "2020-01-01T00:00:00.12345Z",
        ]
        .into_iter()
        .enumerate()
        {
            let lease = json!({"spec": {"renewTime": time}});
            s.create("leases", &format!("l{index}"), lease).await;
        }
    });
}

#[test]
fn owners_of_odd_versions() {
    run(async |s| {
        for version in [
            "",
            "/",
            "v1",
            "/v1",
            "a/",
            "a/b",
            "a/b/c",
            "//",
            "events.k8s.io/v1",
        ] {
            for plural in ["configmaps", "widgets"] {
                let owner =
                    json!({"apiVersion": version, "kind": "Event", "name": "n", "uid": "u"});
                let body = json!({"metadata": {"ownerReferences": [owner]}, "spec": {"size": 1}});
                s.create(&format!("{plural}?dryRun=All"), "a", body).await;
            }
        }
    });
}

// Sub-resources.

#[test]
fn scales_of_every_shape() {
    run(async |s| {
        let made = s
            .create("widgets", "a", json!({"spec": {"size": 1, "replicas": 3}}))
            .await;
        let base = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "a", "namespace": s.ns}, "spec": {"replicas": 4}});
        for change in [
            json!({"spec": {"replicas": 3_000_000_000_u32}}),
            json!({"spec": {"replicas": 1.5}}),
            json!({"spec": {"replicas": -1}}),
            json!({"spec": {"replicas": null}}),
            json!({"spec": "x"}),
            json!({"spec": []}),
            json!({"spec": null}),
            json!({"spec": {"replicas": 5, "more": 1}}),
            json!({"more": 1}),
            json!({"metadata": {"name": ""}}),
            json!({"metadata": {"name": null}}),
            json!({"metadata": {"namespace": "other"}}),
            json!({"metadata": {"namespace": ""}}),
            json!({"metadata": {"uid": "other"}}),
            json!({"metadata": {"uid": made.uid()}}),
            json!({"metadata": {"resourceVersion": "1"}}),
            json!({"metadata": {"resourceVersion": "x"}}),
            json!({"metadata": {"labels": {"a": "b"}}}),
            json!({"metadata": {"labels": {"a": 1}}}),
            json!({"metadata": "x"}),
            json!({"status": {"replicas": 9}}),
            json!({"status": "x"}),
            json!({"apiVersion": ""}),
            json!({"kind": ""}),
            json!({"apiVersion": "autoscaling/v2"}),
            json!({"apiVersion": "extensions/v1beta1"}),
            json!({"apiVersion": "apps/v1beta1"}),
            json!({"kind": "Other"}),
        ] {
            s.put("widgets/a/scale", merge(base.clone(), change.clone()))
                .await;
            s.put(
                "widgets/a/scale?fieldValidation=Strict",
                merge(base.clone(), change.clone()),
            )
            .await;
            s.merge("widgets/a/scale", change).await;
        }
        for body in ["", "null", "[]", "{", "5"] {
            s.typed("PUT", "widgets/a/scale", "application/json", body)
                .await;
        }
        s.put("widgets/a/scale?dryRun=All", base.clone()).await;
        s.put(
            "widgets/none/scale",
            merge(base, json!({"metadata": {"name": "none"}})),
        )
        .await;
        s.get("widgets/a").await;
    });
}

#[test]
fn paths_that_are_too_long() {
    run(async |s| {
        s.create("widgets", "a", json!({"spec": {"size": 1, "replicas": 1}}))
            .await;
        s.create("configmaps", "a", json!({})).await;
        for path in [
            "widgets/a/status/more",
            "widgets/a/scale/more/still",
            "widgets/a/more",
            "widgets/a/more/status",
            "widgets/a/finalize",
            "widgets/a/status/",
            "configmaps/a/status",
            "namespaces/{ns}/more",
            "namespaces/{ns}/finalize",
            "namespaces/{ns}/status/more",
            "/apis/fixture.freehold.dev/v1/namespaces/{ns}/status",
            "/apis/fixture.freehold.dev/v1/namespaces/{ns}",
            "/apis/fixture.freehold.dev/v1/namespaces",
            "/apis/fixture.freehold.dev/v1/widgets/a",
            "/apis/fixture.freehold.dev/v1/namespaces/{ns}/gadgets",
            "/apis/fixture.freehold.dev/v1/nothing",
            "/apis/fixture.freehold.dev/v2/widgets",
            "/apis/fixture.freehold.dev/v1/proxy/widgets",
            "/api/v1/proxy/namespaces/{ns}/configmaps/a",
            "/api/v1/nothing",
            "/api/v2/configmaps",
            "/apis/v1/configmaps",
            "/apis/coordination.k8s.io/v1beta9/leases",
            "/apis/coordination.k8s.io/v1/nothing",
            "/nothing",
            "/api/v1/namespaces/{ns}/configmaps/a%3F",
            "/API/v1/configmaps",
            "/apis/FIXTURE.freehold.dev/v1/widgets",
        ] {
            s.hostile("GET", path, &[], "").await;
        }
        for method in ["POST", "PUT", "DELETE", "PATCH"] {
            for path in [
                "widgets/a/status/more",
                "widgets/a/more",
                "configmaps/a/status",
                "configmaps/a/more",
                "/apis/fixture.freehold.dev/v1/nothing",
                "/api/v1/nothing",
            ] {
                s.hostile(
                    method,
                    path,
                    &[("content-type", "application/merge-patch+json")],
                    "{}",
                )
                .await;
            }
        }
    });
}

// Watches.

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

// Definitions.

async fn refuse(s: &mut Script, schema: Value) {
    let crd = s.definition("things", "Thing", schema);
    s.post("customresourcedefinitions?dryRun=All", crd).await;
}

#[test]
fn schemas_with_fields_of_wrong_types() {
    run(async |s| {
        for field in [
            json!({"type": 5}),
            json!({"type": ["string"]}),
            json!({"type": "object", "properties": []}),
            json!({"type": "object", "properties": {"b": 5}}),
            json!({"type": "object", "properties": {"b": null}}),
            json!({"type": "object", "required": "b"}),
            json!({"type": "object", "required": [5]}),
            json!({"type": "string", "enum": "x"}),
            json!({"type": "string", "enum": {}}),
            json!({"type": "string", "minLength": "x"}),
            json!({"type": "string", "maxLength": 1.5}),
            json!({"type": "string", "maxLength": -1}),
            json!({"type": "string", "pattern": 5}),
            json!({"type": "string", "format": 5}),
            json!({"type": "integer", "minimum": "x"}),
            json!({"type": "integer", "exclusiveMinimum": 5}),
            json!({"type": "integer", "multipleOf": 0}),
            json!({"type": "array", "items": [{"type": "string"}]}),
            json!({"type": "array", "items": []}),
            json!({"type": "array", "items": true}),
            json!({"type": "array", "items": "x"}),
            json!({"type": "object", "additionalProperties": "x"}),
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "object", "additionalProperties": true}),
            json!({"type": "object", "additionalProperties": {}}),
            json!({"type": "object", "allOf": {}}),
            json!({"type": "object", "anyOf": [5]}),
            json!({"type": "object", "not": true}),
            json!({"type": "object", "nullable": "x"}),
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": "x"}),
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": false}),
            json!({"type": "object", "x-kubernetes-list-map-keys": "x"}),
            json!({"type": "object", "description": 5}),
            json!({"type": "object", "example": 5}),
            json!({"type": "object", "externalDocs": {"url": "x", "more": 1}}),
            json!({"type": "object", "externalDocs": "x"}),
            json!({"type": "null"}),
            json!({"type": "object", "dependencies": {"a": ["b"]}}),
            json!({"type": "object", "definitions": {"a": {}}}),
            json!({"type": "object", "x-unknown": 1}),
            json!(5),
            json!([]),
        ] {
            refuse(s, json!({"type": "object", "properties": {"a": field}})).await;
        }
        for schema in [json!(5), json!("x"), json!([]), json!(null), json!({})] {
            refuse(s, schema).await;
        }
    });
}

#[test]
fn schemas_that_break_a_rule() {
    run(async |s| {
        for schema in [
            json!({"type": "object", "nullable": true}),
            json!({"type": "object", "default": {}}),
            json!({"type": "object", "properties": {"metadata": {"type": "object", "default": {}}}}),
            json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {
                "name": {"type": "string", "default": "x"}}}}}),
            json!({"type": "object", "properties": {"apiVersion": {"type": "string", "default": "x"}}}),
            json!({"type": "object", "properties": {"kind": {"type": "integer"}}}),
            json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {
                "name": {"type": "string", "maxLength": 5}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "nullable": true, "default": null}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "default": null}}}),
            json!({"type": "object", "properties": {"a": {"type": "integer", "default": 5, "minimum": 6}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string", "default": "x"}}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {"type": "string", "default": "x"}}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true, "default": {"apiVersion": "v1", "kind": "X", "metadata": {"name": "UPPER/x"}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true, "default": {"kind": "X"}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "set",
                "items": {"type": "string"}, "default": ["x", "x"]}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k", "k"],
                "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string", "nullable": true}}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "set",
                "items": {"type": "string", "nullable": true}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "set",
                "items": {"type": "array", "items": {"type": "string"}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"]}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "x-kubernetes-list-type": "set"}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "x-kubernetes-map-type": "set"}}}),
            json!({"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": true,
                "x-kubernetes-preserve-unknown-fields": true}}}),
            json!({"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": true,
                "anyOf": [{"type": "string"}, {"type": "integer"}]}}}),
            json!({"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": true,
                "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"maximum": 5}]}}}),
            json!({"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": true,
                "anyOf": [{"type": "integer"}]}}}),
            json!({"type": "object", "properties": {"a": {"x-kubernetes-int-or-string": true,
                "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}}}),
            json!({"type": "object", "properties": {"a": {"x-kubernetes-embedded-resource": true}}}),
            json!({"type": "object", "x-kubernetes-embedded-resource": true}),
            json!({"type": "object", "properties": {"a": {"type": "object", "anyOf": [
                {"x-kubernetes-preserve-unknown-fields": true}, {"x-kubernetes-int-or-string": true},
                {"x-kubernetes-embedded-resource": true}, {"x-kubernetes-list-type": "set"},
                {"x-kubernetes-map-type": "atomic"}, {"x-kubernetes-list-map-keys": ["a"]}]}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "anyOf": [
                {"type": "object"}, {"default": 1}, {"description": "x"}, {"title": "x"},
                {"nullable": true}, {"additionalProperties": true}, {"additionalProperties": false}]}}}),
            json!({"type": "object", "properties": {"a": {"type": "object", "not": {"properties": {"b": {}}}}}}),
            json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"},
                "allOf": [{"items": {"properties": {"z": {}}}}]}}}),
            json!({"type": "object", "anyOf": [{"properties": {"metadata": {"properties": {"name": {"pattern": "^a"}}}}}]}),
            json!({"type": "object", "anyOf": [{"properties": {"metadata": {"properties": {"labels": {}}}}}]}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^[a-z[]+$"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "a{,5}"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "a{1001}"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "\\Qa.b\\E"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "(a)\\1"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "\\<x"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "[a-z&&[^b]]"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "\\_\\-\\/\\ "}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "\\h"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "(?x) a b"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "[]a]"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "\\u0041"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "x**"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "\\pL\\PN[[:alpha:]]"}}}),
        ] {
            refuse(s, schema).await;
        }
    });
}

#[test]
fn definitions_that_break_a_rule() {
    run(async |s| {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
            "properties": {"n": {"type": "integer"}, "l": {"type": "array", "items": {"type": "string"}},
                "o": {"type": "object", "properties": {"p": {"type": "string"}}}}}}});
        let good = s.definition("things", "Thing", schema);
        let versions = |change: Value| {
            let mut crd = good.clone();
            let version = merge(crd["spec"]["versions"][0].clone(), change);
            crd["spec"]["versions"] = json!([version]);
            crd
        };
        let spec = |change: Value| merge(good.clone(), json!({"spec": change}));
        let root = |change: Value| {
            versions(json!({"subresources": {"status": {}}, "schema": {"openAPIV3Schema": change}}))
        };
        let scale = |spec: &str, status: &str, selector: &str| {
            versions(json!({"subresources": {"scale": {"specReplicasPath": spec,
                "statusReplicasPath": status, "labelSelectorPath": selector}}}))
        };
        let column = |column: Value| versions(json!({"additionalPrinterColumns": [column]}));
        let selectable = |path: &str| versions(json!({"selectableFields": [{"jsonPath": path}]}));
        let hook = |conversion: Value| spec(json!({"conversion": conversion}));
        let many: Vec<Value> = (0..9).map(|_| json!({"jsonPath": ".spec.n"})).collect();
        for crd in [
            root(json!({"anyOf": [{"required": ["spec"]}]})),
            root(json!({"required": ["spec"]})),
            root(json!({"minProperties": 1})),
            root(json!({"x-kubernetes-preserve-unknown-fields": true})),
            root(json!({"title": "x", "description": "y"})),
            root(json!({"example": {"a": 1}})),
            root(json!({"maxProperties": 9})),
            root(json!({"nullable": true})),
            scale(".spec.n", ".status.n", ".status.s"),
            scale("spec.n", "status.n", "status.s"),
            scale(".spec.l[0]", ".status.n", ""),
            scale(".spec", ".status", ".spec"),
            scale(".spec.", ".status.x.", ".spec.a b"),
            scale("", "", ""),
            scale(".spec.n", ".spec.n", ".metadata.x"),
            scale(".spec.a-b", ".status['x']", ".status.\"x\""),
            column(json!({"name": "A", "type": "integer", "jsonPath": ".spec.n"})),
            column(json!({"name": "A", "type": "integer", "jsonPath": "spec.n"})),
            column(json!({"name": "A", "type": "integer", "jsonPath": "{.spec.n}"})),
            column(json!({"name": "A", "type": "integer", "jsonPath": ".spec.l[*]"})),
            column(json!({"name": "A", "type": "integer", "jsonPath": ".spec["})),
            column(json!({"name": "A", "type": "integer", "jsonPath": ".spec.l[?(@.x==\"y\")].z"})),
            column(
                json!({"name": "A", "type": "integer", "format": "nonsense", "jsonPath": ".spec.n"}),
            ),
            column(
                json!({"name": "A", "type": "string", "format": "date-time", "jsonPath": ".spec.n", "priority": -1}),
            ),
            column(json!({"name": "", "type": "", "jsonPath": ""})),
            selectable(".spec.n"),
            selectable("spec.n"),
            selectable(".spec.o.p"),
            selectable(".spec.l"),
            selectable(".spec.l[0]"),
            selectable(".spec.none"),
            selectable(".spec"),
            selectable(".metadata.name"),
            selectable("."),
            selectable(".spec['n']"),
            selectable(".spec..n"),
            selectable(".spec.n "),
            versions(json!({"selectableFields": many})),
            hook(json!({"strategy": "Webhook"})),
            hook(json!({"strategy": "Webhook", "webhook": {}})),
            hook(json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}})),
            hook(
                json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://example.com/x"}}}),
            ),
            hook(
                json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                "clientConfig": {"url": "http://example.com/x"}}}),
            ),
            hook(
                json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v9"],
                "clientConfig": {"service": {"name": "a", "namespace": "b"}}}}),
            ),
            hook(
                json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": [],
                "clientConfig": {"url": "https://example.com/x", "service": {"name": "a", "namespace": "b"}}}}),
            ),
            hook(
                json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                "clientConfig": {"service": {"name": "", "namespace": "", "port": 0, "path": "x"}}}}),
            ),
            hook(json!({"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}})),
            hook(
                json!({"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://example.com/x"}}}),
            ),
            hook(json!({"strategy": "none"})),
            hook(json!({})),
            hook(json!("x")),
            spec(json!({"names": {"shortNames": ["A", "b c"], "categories": ["X"]}})),
            spec(json!({"names": {"shortNames": "a"}})),
            spec(json!({"names": {"singular": "Thing", "listKind": "Thing"}})),
            spec(json!({"names": {"singular": ""}})),
            spec(json!({"names": {"kind": "thing kind"}})),
            spec(json!({"preserveUnknownFields": true})),
            spec(json!({"preserveUnknownFields": "x"})),
            spec(json!({"scope": ""})),
            spec(json!({"group": "UPPER.example.com"})),
            spec(json!({"versions": {}})),
            versions(json!({"deprecationWarning": "x"})),
            versions(json!({"deprecated": true, "deprecationWarning": "x".repeat(257)})),
            versions(json!({"deprecated": true, "deprecationWarning": ""})),
            versions(json!({"deprecated": true, "deprecationWarning": "a\nb"})),
            versions(json!({"name": "1v"})),
            versions(json!({"name": ""})),
            versions(json!({"served": "x"})),
            merge(good.clone(), json!({"status": {"storedVersions": ["x"]}})),
            merge(good.clone(), json!({"metadata": {"finalizers": ["x"]}})),
            merge(
                good.clone(),
                json!({"metadata": {"name": null, "generateName": "x-"}}),
            ),
        ] {
            s.post("customresourcedefinitions?dryRun=All", crd).await;
        }
    });
}

// Values.

async fn things(s: &mut Script, fields: Value) {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
        "properties": fields}}});
    let crd = s.definition("things", "Thing", schema);
    s.crd(crd).await;
}

#[test]
fn texts_of_every_format() {
    run(async |s| {
        let formats: [(&str, &[&str]); 24] = [
            (
                "email",
                &[
                    "a@b",
                    "A <a@b.c>",
                    "a b@c",
                    "\"a b\"@c",
                    "a@",
                    "@b",
                    "a@b@c",
                    "a@b.c, d@e.f",
                    "a@[1.2.3.4]",
                    "<a@b>",
                    "ü@b.c",
                ],
            ),
            (
                "hostname",
                &[
                    "a",
                    "a.b",
                    "a.bc",
                    "a.b1",
                    "1.2",
                    "-a",
                    "a-",
                    "a_b",
                    "a..b",
                    "a.",
                    "ümlaut.de",
                    "a.b.c1",
                    "A.COM",
                    "x--y.com",
                    "☃.com",
                    "",
                ],
            ),
            (
                "uri",
                &[
                    "/a",
                    "a",
                    "http:",
                    "http://",
                    "http://[::1]",
                    "http://[::1",
                    "http://a b",
                    "http://a/%zz",
                    "//x",
                    "mailto:a@b",
                    "1:a",
                    ":a",
                    "http://a:b",
                    "http://a:99999",
                    "/a b",
                    "/a%20b",
                    "*",
                    "?x",
                    "#x",
                    "http://a#b",
                    "/ü",
                    "http://a/\u{7f}",
                ],
            ),
            (
                "ipv4",
                &[
                    "1.2.3.4",
                    "01.02.03.04",
                    "::ffff:1.2.3.4",
                    "1.2.3",
                    "1.2.3.4.5",
                    "256.1.1.1",
                    "1.2.3.4 ",
                    "::1.2.3.4",
                ],
            ),
            (
                "ipv6",
                &[
                    "::",
                    "1::2",
                    "::ffff:1.2.3.4",
                    "fe80::1%eth0",
                    "1.2.3.4",
                    "1:2:3:4:5:6:7:8:9",
                    "::ffff:01.2.3.4",
                    "[::1]",
                ],
            ),
            (
                "cidr",
                &[
                    "1.2.3.4/32",
                    "1.2.3.4/33",
                    "1.2.3.4/032",
                    "01.2.3.4/8",
                    "::1/129",
                    "::/0",
                    "1.2.3.4",
                    "1.2.3.4/",
                    "1.2.3.4/-1",
                    "1.2.3.4/+1",
                ],
            ),
            (
                "mac",
                &[
                    "00:11:22:33:44:55",
                    "00-11-22-33-44-55",
                    "0011.2233.4455",
                    "001122334455",
                    "00:11:22:33:44",
                    "00:11:22:33:44:55:66:77",
                    "00:11-22:33:44:55",
                    "0:1:2:3:4:5",
                    "GG:11:22:33:44:55",
                ],
            ),
            (
                "uuid",
                &[
                    "12345678123412341234123456789abc",
                    "12345678-1234123412341234-56789abc",
                    "1-2345678123412341234123456789abc",
                    "12345678-1234-1234-1234-123456789ABC",
                    "{12345678-1234-1234-1234-123456789abc}",
                ],
            ),
            (
                "uuid3",
                &[
                    "12345678-1234-3234-1234-123456789abc",
                    "12345678-1234-4234-1234-123456789abc",
                ],
            ),
            (
                "uuid4",
                &[
                    "12345678-1234-4234-1234-123456789abc",
                    "12345678-1234-4234-8234-123456789abc",
                ],
            ),
            (
                "uuid5",
                &[
                    "12345678-1234-5234-b234-123456789abc",
                    "12345678-1234-5234-c234-123456789abc",
                ],
            ),
            (
                "byte",
                &[
                    "",
                    "YQ==",
                    "YQ",
                    "YQ=",
                    "Y===",
                    "YR==",
                    "YW Jj",
                    "YWJj\n",
                    "-_-_",
                    "YWJjZA==YQ==",
                ],
            ),
            (
                "date",
                &[
                    "2020-01-01",
                    "2020-1-1",
                    "0000-01-01",
                    "2020-02-29",
                    "2021-02-29",
                    "2020-01-01Z",
                    "12020-01-01",
                ],
            ),
            (
                "date-time",
                &[
                    "2020-01-01T00:00:00Z",
                    "2020-01-01t00:00:00z",
                    "2020-01-01T24:00:00Z",
                    "2020-01-01T00:00:60Z",
                    "2020-01-01T00:00:00",
                    "2020-01-01T00:00:00+99:99",
                    "2020-01-01T00:00:00x5Z",
                    "2020-01-01 00:00:00Z",
                    "2020-01-01T00:00Z",
                    "2020-01-01T0:00:00Z",
                    "2020-01-01T00:00:00.Z",
                    "2020-01-01T00:00:00ZT",
                ],
            ),
            (
                "duration",
                &[
                    "1h",
                    "1.5h",
                    "-1h",
                    "+1h",
                    "1",
                    "0",
                    "",
                    "1 h",
                    "1 day",
                    "2days",
                    "3 weeks ago",
                    "x1hx",
                    "1x",
                    "1h 2x",
                    "1µs",
                    "1us",
                    "1H",
                    "1 MIN",
                    "1 minutes",
                    "hours",
                    ".5s",
                    "1..5s",
                    "9999999999999999999h",
                    "1 hrs",
                    "1wk",
                    "1nanoseconds",
                    "5 s 6",
                ],
            ),
            (
                "isbn",
                &["0-306-40615-2", "978-0-306-40615-7", "0306406153", "x"],
            ),
            (
                "isbn10",
                &[
                    "0306406152",
                    "080442957X",
                    "0306406153",
                    "978-0-306-40615-7",
                ],
            ),
            ("isbn13", &["9780306406157", "9780306406158", "0306406152"]),
            (
                "creditcard",
                &[
                    "4111111111111111",
                    "4111-1111-1111-1111",
                    "4111111111111112",
                    "x",
                ],
            ),
            (
                "ssn",
                &["123-45-6789", "123456789", "123 45 6789", "123-45-678"],
            ),
            ("hexcolor", &["#fff", "fff", "#ffff", "#FFFFFF", "red", ""]),
            (
                "rgbcolor",
                &[
                    "rgb(1,2,3)",
                    "rgb( 1 , 2 , 3 )",
                    "rgb(256,0,0)",
                    "rgb(1,2)",
                    "rgba(1,2,3,4)",
                ],
            ),
            (
                "bsonobjectid",
                &["507f1f77bcf86cd799439011", "507f1f77bcf86cd79943901", "x"],
            ),
            ("k8s-short-name", &["a", "a.b", "A", "-a", ""]),
        ];
        let mut fields = json!({});
        for (format, _) in formats {
            fields[format] = json!({"type": "string", "format": format});
        }
        things(s, fields).await;
        for (format, values) in formats {
            for value in values {
                let body = json!({"spec": {format: value}});
                s.create("things?dryRun=All", "a", body).await;
            }
        }
    });
}

#[test]
fn patterns_are_those_of_go() {
    run(async |s| {
        let patterns: [(&str, &[&str]); 16] = [
            (r"^\d+$", &["12", "٣", "x"]),
            (r"^\w+$", &["aZ_9", "é", "-"]),
            (r"^\s$", &[" ", "\u{a0}", "\u{b}", "\t"]),
            (r"^\D$", &["٣", "1"]),
            (r"^[\d\-]+$", &["1-2", "٣"]),
            (r"^[^\w]$", &["é", "a"]),
            (r"\bé", &["é", "aé", "x é"]),
            (r"\bx\B", &["éxy", "xy", "x"]),
            (r"^.$", &["\n", "é", "ab"]),
            (r"^a$", &["a", "a\n"]),
            (r"(?i)^k$", &["K", "\u{212a}"]),
            (r"^[[:alpha:]]$", &["a", "é"]),
            (r"^[^a]$", &["\n", "b"]),
            (r"(?m)^a$", &["b\na", "a\r\nb"]),
            (r"^\x{e9}\pL$", &["éé", "é1"]),
            (r"^[a-z[]+$", &["a[", "]"]),
        ];
        let mut fields = json!({});
        for (index, (pattern, _)) in patterns.iter().enumerate() {
            fields[format!("p{index}")] = json!({"type": "string", "pattern": pattern});
        }
        things(s, fields).await;
        for (index, (_, values)) in patterns.iter().enumerate() {
            for value in *values {
                let body = json!({"spec": {format!("p{index}"): value}});
                s.create("things?dryRun=All", "a", body).await;
            }
        }
    });
}

#[test]
fn numbers_and_their_limits() {
    run(async |s| {
        let fields = json!({
            "tenth": {"type": "number", "multipleOf": 0.1},
            "three": {"type": "integer", "multipleOf": 3},
            "big": {"type": "integer", "maximum": 9_007_199_254_740_993_i64},
            "i32": {"type": "integer", "format": "int32"},
            "i64": {"type": "integer", "format": "int64"},
            "float": {"type": "number", "format": "float"},
            "double": {"type": "number", "format": "double"},
            "open": {"type": "number", "minimum": 0, "exclusiveMinimum": true, "maximum": 1, "exclusiveMaximum": true},
            "one": {"enum": [1, 2.5, "x", null, true, {"a": 1}, [1]], "x-kubernetes-preserve-unknown-fields": true},
            "text": {"type": "string", "minLength": 2, "maxLength": 3},
            "map": {"type": "object", "minProperties": 1, "maxProperties": 2, "additionalProperties": {"type": "integer"}},
            "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "integer"}},
        });
        things(s, fields).await;
        for spec in [
            r#"{"tenth":0.3}"#,
            r#"{"tenth":0.35}"#,
            r#"{"three":9}"#,
            r#"{"three":10}"#,
            r#"{"three":-3}"#,
            r#"{"three":0}"#,
            r#"{"big":9007199254740993}"#,
            r#"{"big":9007199254740994}"#,
            r#"{"i32":2147483647}"#,
            r#"{"i32":2147483648}"#,
            r#"{"i32":-2147483649}"#,
            r#"{"i32":1.0}"#,
            r#"{"i32":1.5}"#,
            r#"{"i32":1e3}"#,
            r#"{"i64":9223372036854775807}"#,
            r#"{"i64":9223372036854775808}"#,
            r#"{"i64":1e18}"#,
            r#"{"i64":1e19}"#,
            r#"{"float":1e38}"#,
            r#"{"float":1e39}"#,
            r#"{"float":1}"#,
            r#"{"double":1e308}"#,
            r#"{"double":"1"}"#,
            r#"{"open":0}"#,
            r#"{"open":1}"#,
            r#"{"open":0.5}"#,
            r#"{"one":1}"#,
            r#"{"one":1.0}"#,
            r#"{"one":2.5}"#,
            r#"{"one":2}"#,
            r#"{"one":"1"}"#,
            r#"{"one":null}"#,
            r#"{"one":false}"#,
            r#"{"one":{"a":1}}"#,
            r#"{"one":{"a":2}}"#,
            r#"{"one":[1]}"#,
            r#"{"text":"é"}"#,
            r#"{"text":"ééé"}"#,
            r#"{"text":"éééé"}"#,
            r#"{"map":{}}"#,
            r#"{"map":{"a":1,"b":2,"c":"x"}}"#,
            r#"{"map":null}"#,
            r#"{"list":[]}"#,
            r#"{"list":[1,2,3]}"#,
            r#"{"list":[null]}"#,
            r#"{"list":["x",{},1.5]}"#,
            r#"{"list":{}}"#,
        ] {
            let group = s.group.clone();
            let body = format!(
                r#"{{"apiVersion":"{group}/v1","kind":"Thing","metadata":{{"name":"a"}},"spec":{spec}}}"#
            );
            s.typed("POST", "things?dryRun=All", "application/json", body)
                .await;
        }
    });
}

// Built-in kinds.

#[test]
fn secrets_of_every_type() {
    run(async |s| {
        let b64 = |text: &str| {
            use base64::engine::general_purpose::STANDARD;
            STANDARD.encode(text)
        };
        for (kind, data) in [
            ("kubernetes.io/dockercfg", json!({".dockercfg": b64("{}")})),
            ("kubernetes.io/dockercfg", json!({".dockercfg": b64("x")})),
            (
                "kubernetes.io/dockerconfigjson",
                json!({".dockerconfigjson": b64("{\"auths\":{}}")}),
            ),
            (
                "kubernetes.io/dockerconfigjson",
                json!({".dockerconfigjson": b64("[]")}),
            ),
            (
                "kubernetes.io/dockerconfigjson",
                json!({".dockerconfigjson": b64("null")}),
            ),
            (
                "kubernetes.io/dockerconfigjson",
                json!({".dockerconfigjson": ""}),
            ),
            ("kubernetes.io/ssh-auth", json!({"ssh-privatekey": ""})),
            (
                "kubernetes.io/ssh-auth",
                json!({"ssh-privatekey": b64("x")}),
            ),
            ("kubernetes.io/basic-auth", json!({"username": ""})),
            ("kubernetes.io/basic-auth", json!({})),
            ("kubernetes.io/tls", json!({"tls.crt": "", "tls.key": ""})),
            ("bootstrap.kubernetes.io/token", json!({})),
            ("nonsense", json!({})),
            ("", json!({})),
        ] {
            s.create(
                "secrets?dryRun=All",
                "a",
                json!({"type": kind, "data": data}),
            )
            .await;
        }
        s.create("secrets", "a", json!({"type": "x"})).await;
        s.replace("secrets", "a", json!({"data": {"a": "eA=="}}))
            .await;
        s.replace("secrets", "a", json!({"type": "", "data": {"a": "eA=="}}))
            .await;
        s.replace("secrets", "a", json!({"type": "y"})).await;
        for data in [
            json!({"a": "eA"}),
            json!({"a": "eA=\n="}),
            json!({"a": "e A=="}),
            json!({"a": "-_=="}),
            json!({"a": "eB=="}),
            json!({"a": 5}),
            json!({"": "eA=="}),
            json!({".": "eA=="}),
            json!({"..a": "eA=="}),
            json!({"a/b": "eA=="}),
            json!([]),
            json!("x"),
        ] {
            s.create("secrets?dryRun=All", "b", json!({"data": data}))
                .await;
        }
        s.create(
            "secrets?dryRun=All",
            "c",
            json!({"stringData": {"a": "x", "b": ""}, "data": {"a": "eQ==", "c": ""}}),
        )
        .await;
        s.create(
            "secrets?dryRun=All",
            "c",
            json!({"stringData": {"a": null}}),
        )
        .await;
        s.create("secrets?dryRun=All", "c", json!({"stringData": {}}))
            .await;
    });
}

#[test]
fn volumes_that_warn() {
    run(async |s| {
        let volume = |change: Value| {
            merge(
                json!({"spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
                    "nfs": {"server": "s", "path": "/"}}}),
                change,
            )
        };
        for change in [
            json!({"spec": {"persistentVolumeReclaimPolicy": "Recycle"}}),
            json!({"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "x"}}}),
            json!({"metadata": {"annotations": {"volume.beta.kubernetes.io/mount-options": "x"}}}),
            json!({"spec": {"capacity": {"storage": "1500m"}}}),
            json!({"spec": {"capacity": {"storage": "1", "other": "2"}}}),
            json!({"spec": {"capacity": {"storage": 5}}}),
            json!({"spec": {"capacity": {"storage": "1e3"}}}),
            json!({"spec": {"capacity": {"storage": "1.5Gi"}}}),
            json!({"spec": {"capacity": {"storage": "x"}}}),
            json!({"spec": {"accessModes": []}}),
            json!({"spec": {"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]}}),
            json!({"spec": {"mountOptions": ["a"]}}),
            json!({"spec": {"volumeMode": "Nonsense"}}),
            json!({"spec": {"storageClassName": "X"}}),
            json!({"spec": {"claimRef": {"name": "a", "namespace": "b"}}}),
            json!({"spec": {"nfs": {"server": "s", "path": "x"}}}),
            json!({"spec": {"nfs": {"server": "s", "path": "/", "readOnly": true}}}),
            json!({"spec": {"nfs": null, "csi": {"driver": "d", "volumeHandle": "h", "fsType": "ext4"}}}),
        ] {
            let name = format!("{}-v", s.ns);
            s.create("persistentvolumes?dryRun=All", &name, volume(change))
                .await;
        }
        let claim = |change: Value| {
            merge(
                json!({"spec": {"accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}}}}),
                change,
            )
        };
        for change in [
            json!({"spec": {"resources": {"requests": {"storage": "1500m"}}}}),
            json!({"spec": {"resources": {"limits": {"storage": "1500m"}}}}),
            json!({"spec": {"resources": {"limits": {"storage": "1Mi"}}}}),
            json!({"spec": {"resources": {"requests": {"storage": "0"}}}}),
            json!({"spec": {"resources": {"requests": {"cpu": "1"}}}}),
            json!({"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "x"}}}),
            json!({"spec": {"selector": {"matchLabels": {"a": "b"}}}}),
            json!({"spec": {"volumeName": "x"}}),
            json!({"spec": {"storageClassName": ""}}),
            json!({"spec": {"volumeAttributesClassName": "x"}}),
        ] {
            s.create("persistentvolumeclaims?dryRun=All", "c", claim(change))
                .await;
        }
    });
}

#[test]
fn leases_events_and_accounts() {
    run(async |s| {
        for spec in [
            json!({"holderIdentity": ""}),
            json!({"leaseDurationSeconds": 0}),
            json!({"leaseTransitions": -1}),
            json!({"strategy": "OldestEmulationVersion"}),
            json!({"strategy": "nonsense"}),
            json!({"preferredHolder": "x"}),
            json!(null),
            json!([]),
            json!("x"),
        ] {
            s.create("leases?dryRun=All", "a", json!({"spec": spec}))
                .await;
        }
        for body in [
            json!({"secrets": [{"name": "a", "kind": "x"}, {"name": "a"}]}),
            json!({"imagePullSecrets": [{"name": "a"}, {"name": "a"}]}),
            json!({"imagePullSecrets": [{"more": "a"}]}),
            json!({"automountServiceAccountToken": "x"}),
            json!({"automountServiceAccountToken": false}),
        ] {
            s.create("serviceaccounts?dryRun=All", "a", body).await;
        }
        let ns = s.ns.clone();
        for body in [
            json!({"involvedObject": {"namespace": ns}, "type": "Nonsense", "count": -1}),
            json!({"involvedObject": {"namespace": ns}, "series": {"count": 1}}),
            json!({"involvedObject": {"namespace": ns}, "related": {"kind": "x"}}),
            json!({"involvedObject": {"namespace": ns}, "source": {"component": "c", "host": "h"}}),
            json!({"involvedObject": {"namespace": ns}, "message": "m".repeat(2000)}),
            json!({"involvedObject": {"namespace": ns}, "count": 2_147_483_648_u32}),
            json!({}),
        ] {
            s.create("events?dryRun=All", "a", body).await;
        }
    });
}

// Owners.

#[test]
fn owners_that_cannot_be_judged() {
    run(async |s| {
        s.collects("notes").await;
        let gone = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "gone",
            "uid": "00000000-0000-4000-8000-000000000001"});
        let strange = json!({"apiVersion": "strange.example.com/v1", "kind": "Strange",
            "name": "s", "uid": "00000000-0000-4000-8000-000000000002"});
        for (name, owners) in [
            ("a", json!([strange, gone])),
            ("b", json!([gone, strange])),
            ("c", json!([strange])),
        ] {
            s.create(
                "configmaps",
                name,
                json!({"metadata": {"ownerReferences": owners}}),
            )
            .await;
            s.create(
                "notes",
                name,
                json!({"metadata": {"ownerReferences": owners}}),
            )
            .await;
        }
        // What comes later is looked at later.
        s.create(
            "configmaps",
            "z",
            json!({"metadata": {"ownerReferences": [gone]}}),
        )
        .await;
        s.until_gone("configmaps/z").await;
        s.get("configmaps?fieldSelector=metadata.name!%3Dz").await;
        s.get("notes?fieldSelector=metadata.name!%3Dz").await;
    });
}
