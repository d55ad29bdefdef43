//! Input that means harm: the real server's status code, and nothing worse.

use serde_json::json;

use crate::harness::run;

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
        s.code(
            "POST",
            "configmaps",
            &JSON,
            config_map("a", &format!(r#"{{"k":"{big}"}}"#)),
        )
        .await;
        s.code("POST", "notes", &JSON, note("a", &format!(r#""{big}""#)))
            .await;
        s.code("POST", "configmaps", &JSON, big.clone()).await;
        s.create("configmaps", "b", json!({})).await;
        let patch = [("content-type", "application/merge-patch+json")];
        s.code(
            "PATCH",
            "configmaps/b",
            &patch,
            format!(r#"{{"data":{{"k":"{big}"}}}}"#),
        )
        .await;
        s.code("DELETE", "configmaps/b", &JSON, big).await;
    });
}

#[test]
fn just_over_the_limit() {
    run(async |s| {
        for size in [3 * 1024 * 1024 - 200, 3 * 1024 * 1024 + 1] {
            let any = format!(r#""{}""#, "x".repeat(size));
            s.code("POST", "notes?dryRun=All", &JSON, note("a", &any))
                .await;
        }
    });
}

#[test]
fn too_big_for_the_store() {
    run(async |s| {
        let any = format!(r#""{}""#, "x".repeat(2 * 1024 * 1024));
        s.code("POST", "notes", &JSON, note("a", &any)).await;
    });
}

#[test]
fn deep_json() {
    run(async |s| {
        // Between 500 and 10,000 the embedded server is the stricter one: its stack is the caller's.
        for depth in [100, 400, 10_050, 100_000] {
            let list = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            s.code("POST", "notes?dryRun=All", &JSON, note("a", &list))
                .await;
            let map = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
            s.code("POST", "notes?dryRun=All", &JSON, note("a", &map))
                .await;
            s.code(
                "POST",
                "configmaps?dryRun=All",
                &JSON,
                config_map("a", &map),
            )
            .await;
        }
        s.code("POST", "configmaps", &JSON, "[".repeat(1_000_000))
            .await;
    });
}

#[test]
fn deep_patches() {
    run(async |s| {
        s.create("notes", "a", json!({"any": {}})).await;
        for depth in [100, 400, 100_000] {
            let map = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
            let merge = [("content-type", "application/merge-patch+json")];
            s.code(
                "PATCH",
                "notes/a?dryRun=All",
                &merge,
                format!(r#"{{"any":{map}}}"#),
            )
            .await;
            let patch = [("content-type", "application/json-patch+json")];
            let body = format!(r#"[{{"op":"add","path":"/any","value":{map}}}]"#);
            s.code("PATCH", "notes/a?dryRun=All", &patch, body).await;
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
        s.code("POST", "configmaps", &JSON, body).await;
        s.code("POST", "configmaps?dryRun=All", &JSON, start).await;
        let mut any = br#"{"apiVersion":"fixture.freehold.dev/v1","kind":"Note","metadata":{"name":"u"},"any":""#.to_vec();
        any.extend_from_slice(b"\xc3\x28\"}");
        s.code("POST", "notes?dryRun=All", &JSON, any).await;
        s.code("POST", "configmaps", &JSON, vec![0xff; 100]).await;
        s.code("POST", "configmaps", &JSON, vec![0; 100]).await;
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
            s.code("POST", "configmaps", &JSON, body).await;
            s.code("POST", "notes", &JSON, body).await;
        }
        let trailing = format!("{} trailing", config_map("a", "{}"));
        s.code("POST", "configmaps?dryRun=All", &JSON, trailing)
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
                s.code("PATCH", "configmaps/a", &[("content-type", kind)], body)
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
            s.code(
                "POST",
                "configmaps?dryRun=All",
                &[("content-type", kind)],
                config_map("a", "{}"),
            )
            .await;
            s.code(
                "POST",
                "notes?dryRun=All",
                &[("content-type", kind)],
                note("a", "1"),
            )
            .await;
        }
        s.code("POST", "configmaps?dryRun=All", &[], config_map("b", "{}"))
            .await;
        s.code("POST", "notes?dryRun=All", &[], note("b", "1"))
            .await;
        let charset = [("content-type", "application/json; charset=utf-8")];
        s.code(
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
        s.code(
            "POST",
            "notes",
            &[("content-type", "application/yaml")],
            "a: b: c",
        )
        .await;
    });
}

#[test]
fn huge_selectors() {
    run(async |s| {
        let label: Vec<String> = (0..3_000)
            .map(|index| format!("k{index}%3Dv{index}"))
            .collect();
        let label = label.join(",");
        s.code("GET", &format!("configmaps?labelSelector={label}"), &[], "")
            .await;
        s.code("GET", &format!("widgets?labelSelector={label}"), &[], "")
            .await;
        let values: Vec<String> = (0..5_000).map(|index| format!("v{index}")).collect();
        let values = values.join(",");
        s.code(
            "GET",
            &format!("widgets?labelSelector=a%20in%20({values})"),
            &[],
            "",
        )
        .await;
        let field: String =
            (0..1_000).map(|_| "metadata.name%3Da,").collect::<String>() + "metadata.name%3Db";
        s.code("GET", &format!("widgets?fieldSelector={field}"), &[], "")
            .await;
        s.code(
            "GET",
            &format!("widgets?labelSelector={}", "(".repeat(10_000)),
            &[],
            "",
        )
        .await;
        s.code(
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
            s.code("GET", path, &[], "").await;
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
            s.code("GET", &format!("configmaps?{query}"), &[], "").await;
        }
    });
}

#[test]
fn other_methods() {
    run(async |s| {
        s.create("configmaps", "a", json!({})).await;
        for method in ["HEAD", "OPTIONS", "TRACE", "CONNECTED", "get"] {
            s.code(method, "configmaps/a", &[], "").await;
            s.code(method, "widgets", &[], "").await;
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
            s.code("POST", "notes?dryRun=All", &JSON, note("a", number))
                .await;
            let widget = format!(
                r#"{{"apiVersion":"fixture.freehold.dev/v1","kind":"Widget","metadata":{{"name":"w"}},"spec":{{"size":{number}}}}}"#
            );
            s.code("POST", "widgets?dryRun=All", &JSON, widget).await;
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
        s.code("POST", "configmaps", &JSON, list.to_string()).await;
        let list = json!({"apiVersion": "v1", "kind": "ConfigMapList", "items": []});
        s.code("POST", "configmaps", &JSON, list.to_string()).await;
        let list =
            json!({"apiVersion": "fixture.freehold.dev/v1", "kind": "WidgetList", "items": []});
        s.code("POST", "widgets", &JSON, list.to_string()).await;
    });
}
