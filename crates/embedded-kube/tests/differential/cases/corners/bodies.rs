//! Bodies and answers: content types, YAML, numbers, times.

use serde_json::{Value, json};

use crate::harness::run;

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
