//! Input that means harm: the real server's status code, and nothing worse.

use serde_json::json;

use crate::harness::{run, run_alone};

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

fn config_map(name: &str, data: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}"}},"data":{data}}}"#
    )
}

fn note(name: &str, any: &str) -> String {
    format!(
        r#"{{"apiVersion":"fixture.freehold.dev/v1","kind":"Note","metadata":{{"name":"{name}"}},"any":{any}}}"#
    )
}

#[test]
fn ten_megabytes() {
    run(async |s| {
        let big = "x".repeat(10 << 20);
        s.hostile(
            "POST",
            "configmaps",
            &JSON,
            config_map("a", &format!(r#"{{"k":"{big}"}}"#)),
        )
        .await;
        s.hostile("POST", "notes", &JSON, note("a", &format!(r#""{big}""#)))
            .await;
        s.hostile("POST", "configmaps", &JSON, big.clone()).await;
        s.create("configmaps", "b", json!({})).await;
        let patch = [("content-type", "application/merge-patch+json")];
        s.hostile(
            "PATCH",
            "configmaps/b",
            &patch,
            format!(r#"{{"data":{{"k":"{big}"}}}}"#),
        )
        .await;
        s.hostile("DELETE", "configmaps/b", &JSON, big).await;
    });
}

#[test]
fn just_over_the_limit() {
    run(async |s| {
        for size in [3 * 1024 * 1024 - 200, 3 * 1024 * 1024 + 1] {
            let any = format!(r#""{}""#, "x".repeat(size));
            s.hostile("POST", "notes?dryRun=All", &JSON, note("a", &any))
                .await;
        }
    });
}

#[test]
fn too_big_for_the_store() {
    run(async |s| {
        let any = |size: usize| format!(r#""{}""#, "x".repeat(size));
        s.hostile("POST", "notes", &JSON, note("a", &any(1_800_000)))
            .await;
        // Here it is a client of the store that refuses, with a size that nobody else can tell.
        s.code("POST", "notes", &JSON, note("a", &any(2 * 1024 * 1024)))
            .await;
    });
}

fn lists(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

fn maps(depth: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
}

/// The deepest document has 10,000 levels; the object itself is the first of them. (At 9,998 the
/// real server fails to write its `managedFields`.)
const DEPTHS: [usize; 10] = [
    100, 400, 600, 5_000, 9_990, 9_999, 10_000, 10_001, 10_050, 100_000,
];

#[test]
fn deep_json() {
    run(async |s| {
        for depth in DEPTHS {
            for value in [lists(depth), maps(depth)] {
                s.code("POST", "notes?dryRun=All", &JSON, note("a", &value))
                    .await;
            }
            s.code(
                "POST",
                "configmaps?dryRun=All",
                &JSON,
                config_map("a", &maps(depth)),
            )
            .await;
            // What the schema does not know is pruned.
            let widget = format!(
                r#"{{"apiVersion":"fixture.freehold.dev/v1","kind":"Widget","metadata":{{"name":"w"}},"spec":{{"size":1}},"x":{}}}"#,
                maps(depth)
            );
            s.code("POST", "widgets?dryRun=All", &JSON, widget).await;
        }
        s.hostile("POST", "configmaps", &JSON, "[".repeat(1_000_000))
            .await;
        s.hostile("POST", "notes", &JSON, r#"{"a":"#.repeat(300_000))
            .await;
    });
}

#[test]
fn deep_patches() {
    // A busy real server takes too long over the deepest of them.
    run_alone(async |s| {
        s.create("notes", "a", json!({"any": {}})).await;
        s.create("configmaps", "a", json!({})).await;
        let merge = [("content-type", "application/merge-patch+json")];
        let strategic = [("content-type", "application/strategic-merge-patch+json")];
        let patch = [("content-type", "application/json-patch+json")];
        for depth in DEPTHS {
            let map = maps(depth);
            let body = format!(r#"{{"any":{map}}}"#);
            s.code("PATCH", "notes/a?dryRun=All", &merge, body).await;
            let body = format!(r#"[{{"op":"add","path":"/any","value":{map}}}]"#);
            s.code("PATCH", "notes/a?dryRun=All", &patch, body).await;
            let body = format!(r#"{{"data":{map}}}"#);
            s.code("PATCH", "configmaps/a?dryRun=All", &merge, body.clone())
                .await;
            s.code("PATCH", "configmaps/a?dryRun=All", &strategic, body)
                .await;
        }
    });
}

#[test]
fn deep_objects_live_and_die() {
    run_alone(async |s| {
        let merge = [("content-type", "application/merge-patch+json")];
        let patch = [("content-type", "application/json-patch+json")];
        for depth in [600, 5_000, 9_990] {
            let name = format!("n{depth}");
            let item = format!("notes/{name}");
            s.code("POST", "notes", &JSON, note(&name, &maps(depth)))
                .await;
            s.code("GET", &item, &[], "").await;
            s.code("GET", "notes?labelSelector=a", &[], "").await;
            s.code("GET", "notes?limit=1", &[], "").await;
            // The real server runs into its own timeout where it compares what is deeper.
            if depth > 5_000 {
                s.code("DELETE", &item, &[], "").await;
                continue;
            }
            let body = r#"{"metadata":{"labels":{"a":"b"}}}"#;
            s.code("PATCH", &item, &merge, body).await;
            let body = format!(r#"{{"any":{}}}"#, maps(depth - 10));
            s.code("PATCH", &item, &merge, body).await;
            // What is copied into itself can become too deep, or too big.
            for (from, path) in [
                ("/any", "/more"),
                ("/any", "/any/a/a"),
                ("/any", "/any/a/a/b"),
            ] {
                let body = format!(r#"[{{"op":"copy","from":"{from}","path":"{path}"}}]"#);
                s.code("PATCH", &format!("{item}?dryRun=All"), &patch, body)
                    .await;
            }
            let body = r#"[{"op":"move","from":"/any","path":"/moved"}]"#;
            s.code("PATCH", &item, &patch, body).await;
            s.code("PATCH", &item, &merge, r#"{"moved":null}"#).await;
            s.code("DELETE", &item, &[], "").await;
        }
    });
}

#[test]
fn copies_of_copies() {
    run(async |s| {
        s.create("notes", "a", json!({"any": {"x": "y".repeat(1_000)}}))
            .await;
        let patch = [("content-type", "application/json-patch+json")];
        for count in [5, 40, 2_000] {
            let copies: Vec<serde_json::Value> = (0..count)
                .map(
                    |index| json!({"op": "copy", "from": "/any", "path": format!("/any/c{index}")}),
                )
                .collect();
            s.code(
                "PATCH",
                "notes/a?dryRun=All",
                &patch,
                json!(copies).to_string(),
            )
            .await;
        }
        let many: Vec<serde_json::Value> = (0..10_001)
            .map(|_| json!({"op": "test", "path": "/any/x", "value": "z"}))
            .collect();
        s.hostile(
            "PATCH",
            "notes/a",
            &patch,
            json!(many[..10_000]).to_string(),
        )
        .await;
        s.hostile("PATCH", "notes/a", &patch, json!(many).to_string())
            .await;
    });
}

#[test]
fn many_unknown_fields() {
    run(async |s| {
        // Long names: warnings are cut at 4,096 characters, and this client takes a hundred headers.
        let tail = "x".repeat(90);
        for count in [30, 99, 100, 101, 500, 20_000] {
            let unknown: Vec<String> = (0..count)
                .map(|index| format!(r#""unknown{index:05}{tail}":1"#))
                .collect();
            let fields = unknown.join(",");
            for query in ["", "&fieldValidation=Strict", "&fieldValidation=Ignore"] {
                let body = format!(
                    r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}},{fields}}}"#
                );
                let path = format!("configmaps?dryRun=All{query}");
                s.hostile("POST", &path, &JSON, body).await;
                let body = format!(
                    r#"{{"apiVersion":"fixture.freehold.dev/v1","kind":"Widget","metadata":{{"name":"a"}},"spec":{{"size":1,{fields}}}}}"#
                );
                let path = format!("widgets?dryRun=All{query}");
                s.hostile("POST", &path, &JSON, body).await;
            }
        }
        let long = "x".repeat(100_000);
        let body = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}},"with \"quotes\"":1,"{long}":2,"ünknown":3}}"#
        );
        s.hostile("POST", "configmaps?dryRun=All", &JSON, body)
            .await;
    });
}

#[test]
fn many_fields_twice() {
    run(async |s| {
        for count in [20, 99, 100, 101, 500, 20_000] {
            let twice: Vec<String> = (0..count)
                .map(|index| format!(r#""k{index:05}":"1","k{index:05}":"2""#))
                .collect();
            let body = note("d", &format!("{{{}}}", twice.join(",")));
            let path = "notes?dryRun=All&fieldValidation=Strict";
            s.hostile("POST", path, &JSON, body).await;
            let body = config_map("d", &format!("{{{}}}", twice.join(",")));
            let path = "configmaps?dryRun=All&fieldValidation=Strict";
            s.hostile("POST", path, &JSON, body).await;
        }
        // The same field again and again is told once.
        let again = vec![r#""k":"1""#; 50_000].join(",");
        let body = note("d", &format!("{{{again}}}"));
        s.hostile("POST", "notes?dryRun=All", &JSON, body).await;
    });
}

#[test]
fn huge_names_and_labels() {
    run(async |s| {
        let long = "n".repeat(100_000);
        let item = format!("configmaps/{}", "n".repeat(5_000));
        s.hostile("GET", &item, &[], "").await;
        s.hostile("POST", "configmaps", &JSON, config_map(&long, "{}"))
            .await;
        s.hostile("POST", "notes", &JSON, note(&long, "1")).await;
        for (kind, metadata) in [
            ("label", json!({"labels": {&long: "v"}})),
            ("label value", json!({"labels": {"k": &long}})),
            ("annotation", json!({"annotations": {&long: "v"}})),
            (
                "annotation value",
                json!({"annotations": {"k": "v".repeat(262_144)}}),
            ),
            (
                "fitting annotation",
                json!({"annotations": {"k": "v".repeat(262_143)}}),
            ),
            ("finalizer", json!({"finalizers": [&long]})),
            ("generateName", json!({"generateName": &long, "name": null})),
            ("namespace", json!({"namespace": &long})),
        ] {
            let body = crate::harness::merge(
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}),
                json!({"metadata": metadata}),
            );
            let headers = [("content-type", "application/json"), ("x-about", kind)];
            // The name that is generated cannot be equal.
            if kind == "generateName" {
                s.code("POST", "configmaps?dryRun=All", &headers, body.to_string())
                    .await;
            } else {
                s.hostile("POST", "configmaps?dryRun=All", &headers, body.to_string())
                    .await;
            }
        }
    });
}

#[test]
fn bad_utf8() {
    run(async |s| {
        let mut body = config_map("a", r#"{"k":"#).into_bytes();
        body.extend_from_slice(b"\"\xff\xfe\"}}");
        let mut start =
            br#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"u"},"data":{"k":""#
                .to_vec();
        start.extend_from_slice(b"\xff\xfe\"}}");
        s.hostile("POST", "configmaps", &JSON, body).await;
        s.hostile("POST", "configmaps?dryRun=All", &JSON, start)
            .await;
        let mut any = br#"{"apiVersion":"fixture.freehold.dev/v1","kind":"Note","metadata":{"name":"u"},"any":""#.to_vec();
        any.extend_from_slice(b"\xc3\x28\"}");
        s.hostile("POST", "notes?dryRun=All", &JSON, any).await;
        s.hostile("POST", "configmaps", &JSON, vec![0xff; 100])
            .await;
        s.hostile("POST", "configmaps", &JSON, vec![0; 100]).await;
    });
}

#[test]
fn broken_json() {
    run(async |s| {
        for body in [
            "",
            "{",
            "}",
            "null",
            "[]",
            "1",
            "\"x\"",
            "{}",
            "{\"kind\":",
            "nonsense",
            "{'a':1}",
        ] {
            s.hostile("POST", "configmaps", &JSON, body).await;
            s.hostile("POST", "notes", &JSON, body).await;
        }
        let trailing = format!("{} trailing", config_map("a", "{}"));
        s.hostile("POST", "configmaps?dryRun=All", &JSON, trailing)
            .await;
    });
}

#[test]
fn broken_patches() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        for kind in [
            "application/merge-patch+json",
            "application/json-patch+json",
        ] {
            for body in ["", "{", "nonsense", "\u{feff}{}"] {
                s.hostile("PATCH", "configmaps/a", &[("content-type", kind)], body)
                    .await;
            }
        }
    });
}

#[test]
fn wrong_content_types() {
    run(async |s| {
        for kind in [
            "text/plain",
            "application/xml",
            "application/octet-stream",
            "nonsense",
            "a/b/c",
            "*/*",
        ] {
            s.hostile(
                "POST",
                "configmaps?dryRun=All",
                &[("content-type", kind)],
                config_map("a", "{}"),
            )
            .await;
            s.hostile(
                "POST",
                "notes?dryRun=All",
                &[("content-type", kind)],
                note("a", "1"),
            )
            .await;
        }
        s.hostile("POST", "configmaps?dryRun=All", &[], config_map("b", "{}"))
            .await;
        s.hostile("POST", "notes?dryRun=All", &[], note("b", "1"))
            .await;
        let charset = [("content-type", "application/json; charset=utf-8")];
        s.hostile(
            "POST",
            "configmaps?dryRun=All",
            &charset,
            config_map("c", "{}"),
        )
        .await;
    });
}

#[test]
fn yaml_bodies() {
    run(async |s| {
        let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n";
        s.typed("POST", "configmaps", "application/yaml", yaml)
            .await;
        let yaml =
            "apiVersion: fixture.freehold.dev/v1\nkind: Note\nmetadata:\n  name: a\nany: 5\n";
        s.typed("POST", "notes", "application/yaml", yaml).await;
        let quoted = "apiVersion: fixture.freehold.dev/v1\nkind: Note\nmetadata:\n  name: b\nany:\n  \
                      text: 'one\n  two\n  three'\n  more: 1\n";
        s.typed("POST", "notes", "application/yaml", quoted).await;
        // What is wrong is told in the words of the reader.
        s.code(
            "POST",
            "notes",
            &[("content-type", "application/yaml")],
            "a: b: c",
        )
        .await;
    });
}

/// Large and deep, but nothing bad.
#[test]
fn yaml_in_plenty() {
    run(async |s| {
        let kind = "apiVersion: fixture.freehold.dev/v1\nkind: Note\nmetadata: {name: NAME}\n";
        let block: Vec<String> = (1..300)
            .map(|level| format!("{}a:\n", " ".repeat(level)))
            .collect();
        let block = block.concat();
        let flow = format!("{}1{}", "[".repeat(300), "]".repeat(300));
        let items = vec!["1"; 300_000].join(",");
        let aliases = vec!["*a"; 500].join(",");
        for (name, rest) in [
            ("block", format!("any:\n{block}{}b: 1\n", " ".repeat(300))),
            ("flow", format!("any: {flow}\n")),
            ("items", format!("any: [{items}]\n")),
            ("aliases", format!("spec: {{a: &a [1], b: [{aliases}]}}\n")),
        ] {
            let body = kind.replace("NAME", name) + &rest;
            s.code(
                "POST",
                "notes",
                &[("content-type", "application/yaml")],
                body,
            )
            .await;
        }
    });
}

#[test]
fn huge_selectors() {
    run(async |s| {
        let label: Vec<String> = (0..3_000)
            .map(|index| format!("k{index}%3Dv{index}"))
            .collect();
        let label = label.join(",");
        s.hostile("GET", &format!("configmaps?labelSelector={label}"), &[], "")
            .await;
        s.hostile("GET", &format!("widgets?labelSelector={label}"), &[], "")
            .await;
        let values: Vec<String> = (0..5_000).map(|index| format!("v{index}")).collect();
        let values = values.join(",");
        s.hostile(
            "GET",
            &format!("widgets?labelSelector=a%20in%20({values})"),
            &[],
            "",
        )
        .await;
        let field: String =
            (0..1_000).map(|_| "metadata.name%3Da,").collect::<String>() + "metadata.name%3Db";
        s.hostile("GET", &format!("widgets?fieldSelector={field}"), &[], "")
            .await;
        s.hostile(
            "GET",
            &format!("widgets?labelSelector={}", "(".repeat(10_000)),
            &[],
            "",
        )
        .await;
        s.hostile(
            "GET",
            &format!("widgets?labelSelector={}", "!".repeat(10_000)),
            &[],
            "",
        )
        .await;
    });
}

#[test]
fn odd_paths() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        for path in [
            "configmaps/a/",
            "configmaps/",
            "configmaps/%2e%2e",
            "configmaps/a%2Fb",
            "configmaps/%00",
            "configmaps/%ff",
            "/api/v1/namespaces/{ns}//configmaps",
            "//api/v1/namespaces/{ns}/configmaps",
            "/api/v1/namespaces/{ns}/configmaps/a/b/c/d",
            "/apis//v1/x",
        ] {
            // Bytes that are no text are quoted as Go quotes them.
            if path.contains("%ff") {
                s.code("GET", path, &[], "").await;
            } else {
                s.hostile("GET", path, &[], "").await;
            }
        }
    });
}

#[test]
fn odd_queries() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        for query in [
            "%",
            "limit=%zz",
            "watch=nonsense",
            "limit=99999999999999999999",
            "a=b&&=&",
            "=",
            "?x",
            "pretty=nonsense",
            "labelSelector=%ff",
            "unknown=1",
            "limit=1;watch=true",
            "timeoutSeconds=-1",
        ] {
            let path = format!("configmaps?{query}");
            // A watch does not end, and bytes that are no text are quoted as Go quotes them.
            if query.contains("watch") || query.contains("%ff") {
                s.code("GET", &path, &[], "").await;
            } else {
                s.hostile("GET", &path, &[], "").await;
            }
        }
    });
}

#[test]
fn other_methods() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        for method in ["HEAD", "OPTIONS", "TRACE", "CONNECTED", "get"] {
            s.hostile(method, "configmaps/a", &[], "").await;
            s.hostile(method, "widgets", &[], "").await;
        }
    });
}

#[test]
fn huge_numbers() {
    run(async |s| {
        for number in [
            "1e400",
            "9223372036854775808",
            "-9223372036854775809",
            "1e18",
            "0.1e-400",
            "-0",
            "01",
            "1.",
        ] {
            s.hostile("POST", "notes?dryRun=All", &JSON, note("a", number))
                .await;
            let widget = format!(
                r#"{{"apiVersion":"fixture.freehold.dev/v1","kind":"Widget","metadata":{{"name":"w"}},"spec":{{"size":{number}}}}}"#
            );
            s.hostile("POST", "widgets?dryRun=All", &JSON, widget).await;
        }
    });
}

#[test]
fn many_labels_and_finalizers() {
    run(async |s| {
        let labels: serde_json::Map<String, serde_json::Value> = (0..2_000)
            .map(|index| (format!("k{index}"), json!("v")))
            .collect();
        s.create(
            "configmaps?dryRun=All",
            "a",
            json!({"metadata": {"labels": labels}}),
        )
        .await;
        let finalizers: Vec<String> = (0..500)
            .map(|index| format!("example.com/f{index}"))
            .collect();
        s.create(
            "widgets?dryRun=All",
            "a",
            json!({"metadata": {"finalizers": finalizers}, "spec": {"size": 1}}),
        )
        .await;
    });
}

#[test]
fn list_bodies_are_not_objects() {
    run(async |s| {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": []});
        s.hostile("POST", "configmaps", &JSON, list.to_string())
            .await;
        let list = json!({"apiVersion": "v1", "kind": "ConfigMapList", "items": []});
        s.hostile("POST", "configmaps", &JSON, list.to_string())
            .await;
        let list =
            json!({"apiVersion": "fixture.freehold.dev/v1", "kind": "WidgetList", "items": []});
        s.hostile("POST", "widgets", &JSON, list.to_string()).await;
    });
}

/// A few hundred bytes of YAML that stand for hundreds of millions of values.
#[test]
fn yaml_that_repeats_itself() {
    run(async |s| {
        let bomb = |levels: usize, width: usize| {
            let mut text =
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\ndata:\n  a: &a0 [x]\n"
                    .to_owned();
            for level in 1..levels {
                let items = vec![format!("*a{}", level - 1); width].join(",");
                text = format!("{text}  b{level}: &a{level} [{items}]\n");
            }
            text
        };
        for (levels, width) in [(9, 9), (20, 3), (5, 40)] {
            for plural in ["configmaps", "notes"] {
                s.code(
                    "POST",
                    plural,
                    &[("content-type", "application/yaml")],
                    bomb(levels, width),
                )
                .await;
            }
        }
        // A few anchors are nothing bad.
        let kind = "apiVersion: fixture.freehold.dev/v1\nkind: Note\nmetadata: {name: fine}\n";
        let fine = format!("{kind}spec: {{a: &a [1, 2], b: *a, c: [*a, *a]}}\n");
        s.typed("POST", "notes", "application/yaml", fine).await;
        let round = format!("{kind}spec: &a {{b: *a}}\n");
        s.code(
            "POST",
            "notes",
            &[("content-type", "application/yaml")],
            round,
        )
        .await;
    });
}
