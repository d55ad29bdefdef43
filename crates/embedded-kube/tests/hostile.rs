//! Input that means harm, without a real server beside: it costs little memory and no panic.
//!
//! The status codes are the real server's; `tests/differential` compares them. Here one process is
//! asked everything at its worst, and its own peak of memory is read from the kernel.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use embedded_kube::{Cluster, TokioClock};
use http_body_util::{BodyExt as _, Full};
use serde_json::json;
use tower_service::Service as _;

/// What all of this may take besides. A map of one key takes some 650 bytes where its JSON takes six:
/// the worst body of 3 MiB becomes a tree of 300 MB, and a patch holds two.
const MOST: usize = 768 << 20;

const JSON: &str = "application/json";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const NOTES: &str = "/apis/hostile.example.com/v1/namespaces/default/notes";

/// The most memory that this process ever had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kilobytes: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes << 10
}

async fn code(
    cluster: &Cluster,
    method: &str,
    path: &str,
    kind: &str,
    body: impl Into<Bytes>,
) -> u16 {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", kind)
        .body(Full::new(body.into()))
        .unwrap();
    let response = cluster.service().call(request).await.unwrap();
    let code = response.status().as_u16();
    response.into_body().collect().await.unwrap();
    code
}

async fn cluster() -> Cluster {
    let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let cluster = Cluster::new(Arc::new(clock));
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
        "spec": {"type": "object", "properties": {
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
            "list": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "required": ["k"],
                    "properties": {"k": {"type": "integer"}}}}}}}});
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": {"name": "notes.hostile.example.com"},
        "spec": {"group": "hostile.example.com", "scope": "Namespaced",
            "names": {"plural": "notes", "kind": "Note"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}]}});
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(
        code(&cluster, "POST", path, JSON, definition.to_string()).await,
        201
    );
    cluster
}

fn note(name: &str, rest: &str) -> String {
    format!(
        r#"{{"apiVersion":"hostile.example.com/v1","kind":"Note","metadata":{{"name":"{name}"}},{rest}}}"#
    )
}

fn maps(depth: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
}

/// A deep place with very many fields.
fn deep_and_wide(depth: usize, fields: &str) -> String {
    format!(
        "{}{{{fields}}}{}",
        r#"{"a":"#.repeat(depth),
        "}".repeat(depth)
    )
}

#[tokio::test(start_paused = true)]
async fn the_worst_costs_little() {
    let cluster = cluster().await;
    let before = peak();
    let mut peaks = Vec::new();
    let mut note_peak = |what: &str| peaks.push(format!("{what}: {} MB", (peak() - before) >> 20));

    let big = "x".repeat(10 << 20);
    for _ in 0..5 {
        assert_eq!(code(&cluster, "POST", MAPS, JSON, big.clone()).await, 413);
    }
    drop(big);
    note_peak("large bodies");

    for (depth, expected) in [
        (600, 201),
        (5_000, 201),
        (9_999, 201),
        (10_050, 400),
        (500_000, 400),
    ] {
        let body = note(&format!("d{depth}"), &format!(r#""any":{}"#, maps(depth)));
        assert_eq!(
            code(&cluster, "POST", NOTES, JSON, body).await,
            expected,
            "{depth}"
        );
    }
    // Deep objects are listed, watched, selected, patched and deleted like others.
    let watch = format!("{NOTES}?watch=true&timeoutSeconds=1&resourceVersion=0");
    for path in [NOTES, &watch, &format!("{NOTES}?labelSelector=a")] {
        assert_eq!(code(&cluster, "GET", path, JSON, "").await, 200);
    }
    let item = format!("{NOTES}/d9999");
    let merge = "application/merge-patch+json";
    let labels = r#"{"metadata":{"labels":{"a":"b"}}}"#;
    assert_eq!(code(&cluster, "PATCH", &item, merge, labels).await, 200);
    note_peak("deep objects");

    // Copies of copies, as deep and as large as one can ask for.
    let patch = "application/json-patch+json";
    let copies: Vec<_> = (0..10_000)
        .map(|index| json!({"op": "copy", "from": "/any", "path": format!("/any/c{index}")}))
        .collect();
    let escaped = r#"[{"op":"\u0063opy","from":"/any","path":"/any/a/a"}]"#;
    for copies in [json!(copies).to_string(), escaped.to_owned()] {
        let item = format!("{NOTES}/d5000");
        let answer = code(&cluster, "PATCH", &item, patch, copies).await;
        assert!(matches!(answer, 200 | 422), "{answer}");
    }
    note_peak("copies");

    // Fields that come twice, or that nobody knows, far down.
    let twice = vec![r#""k":1"#; 400_000].join(",");
    let body = note(
        "twice",
        &format!(r#""any":{}"#, deep_and_wide(4_000, &twice)),
    );
    assert_eq!(code(&cluster, "POST", NOTES, JSON, body).await, 201);
    let unknown: Vec<String> = (0..200_000)
        .map(|index| format!(r#""k{index}":1"#))
        .collect();
    let body = note(
        "unknown",
        &format!(r#""spec":{{"numbers":[],{}}}"#, unknown.join(",")),
    );
    for query in ["", "?fieldValidation=Strict", "?fieldValidation=Ignore"] {
        let expected = if query.contains("Strict") { 400 } else { 201 };
        let path = format!("{NOTES}{query}");
        let body = body.replace("unknown", &format!("unknown{}", query.len()));
        assert_eq!(code(&cluster, "POST", &path, JSON, body).await, expected);
    }
    note_peak("unknown fields");

    // Lists with very many wrong or equal items.
    let wrong = format!(
        r#""spec":{{"numbers":[{}]}}"#,
        vec![r#""x""#; 600_000].join(",")
    );
    assert_eq!(
        code(&cluster, "POST", NOTES, JSON, note("wrong", &wrong)).await,
        422
    );
    let numbers: Vec<String> = (0..150_000).map(|number| number.to_string()).collect();
    let set = format!(r#""spec":{{"set":[{}]}}"#, numbers.join(","));
    assert_eq!(
        code(&cluster, "POST", NOTES, JSON, note("set", &set)).await,
        201
    );
    let keys: Vec<String> = (0..60_000).map(|key| format!(r#"{{"k":{key}}}"#)).collect();
    let list = format!(r#""spec":{{"list":[{}]}}"#, keys.join(","));
    assert_eq!(
        code(&cluster, "POST", NOTES, JSON, note("list", &list)).await,
        201
    );
    let list = format!(r#"{{"spec":{{"list":[{}]}}}}"#, keys[1..].join(","));
    let item = format!("{NOTES}/list");
    assert_eq!(code(&cluster, "PATCH", &item, merge, list).await, 200);
    note_peak("long lists");

    let dense = vec![r#"{"a":1}"#; 390_000].join(",");
    let body = note("dense", &format!(r#""any":[{dense}]"#));
    assert_eq!(code(&cluster, "POST", NOTES, JSON, body).await, 500);
    let dense = vec![r#"{"a":1}"#; 190_000].join(",");
    let body = note("dense", &format!(r#""any":[{dense}]"#));
    assert_eq!(code(&cluster, "POST", NOTES, JSON, body).await, 201);
    let item = format!("{NOTES}/dense");
    assert_eq!(code(&cluster, "PATCH", &item, merge, labels).await, 200);
    note_peak("small maps");

    // YAML that grows when it is read.
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let before = vec![format!("*a{}", level - 1); 10].join(",");
        writeln!(bomb, "a{level}: &a{level} [{before}]").unwrap();
    }
    for yaml in [
        bomb,
        "- ".repeat(1_000_000),
        "[".repeat(1_000_000),
        "a: 'x\n".to_owned() + &"y\n".repeat(500_000),
    ] {
        assert_eq!(
            code(&cluster, "POST", NOTES, "application/yaml", yaml).await,
            400
        );
    }
    note_peak("YAML");

    // Selectors that are as long as an address may be.
    for selector in [
        vec!["a%3Db"; 8_000].join(","),
        "(".repeat(60_000),
        "!".repeat(60_000),
        format!("a%20in%20({})", vec!["b"; 25_000].join(",")),
    ] {
        for parameter in ["labelSelector", "fieldSelector"] {
            let path = format!("{NOTES}?{parameter}={selector}");
            let answer = code(&cluster, "GET", &path, JSON, "").await;
            assert!(matches!(answer, 200 | 400), "{answer}");
        }
    }

    note_peak("selectors");
    assert!(peak() - before < MOST, "{}", peaks.join(", "));
}

/// Documents inside of texts nest as deep as their writer likes, and nothing around them shows it.
#[tokio::test(start_paused = true)]
async fn deep_documents_inside_of_texts() {
    let cluster = cluster().await;
    let deep = "[".repeat(9_990) + &"]".repeat(9_990);
    let managed = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
        "managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": {format!("v:{deep}"): {}}}]}});
    assert_eq!(
        code(&cluster, "POST", MAPS, JSON, managed.to_string()).await,
        201
    );
    let logins = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"},
        "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": format!(r#"{{"a":{deep}}}"#)}});
    let secrets = "/api/v1/namespaces/default/secrets";
    assert_eq!(
        code(&cluster, "POST", secrets, JSON, logins.to_string()).await,
        201
    );
    let token = URL_SAFE_NO_PAD.encode(&deep);
    let path = format!("{MAPS}?limit=1&continue={token}");
    assert_eq!(code(&cluster, "GET", &path, JSON, "").await, 400);

    let apply = "application/apply-patch+yaml";
    let noted = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": deep}},
        "data": {"k": "1"}});
    assert_eq!(
        code(&cluster, "POST", MAPS, JSON, noted.to_string()).await,
        201
    );
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"},
        "data": {"k": "2"}});
    let path = format!("{MAPS}/b?fieldManager=kubectl");
    assert_eq!(
        code(&cluster, "PATCH", &path, apply, config.to_string()).await,
        409
    );
}

/// Keys that come in the order that suits a list of fields least.
#[tokio::test(start_paused = true)]
async fn many_managed_fields_backwards() {
    let cluster = cluster().await;
    let mut fields = String::new();
    for index in 0..200_000 {
        write!(fields, r#","i:-{index}":{{}}"#).unwrap();
    }
    let body = format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a","managedFields":[{{
        "manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",
        "fieldsV1":{{"f:data":{{}}{fields}}}}}]}}}}"#
    );
    let code = code(&cluster, "POST", MAPS, JSON, body).await;
    assert!(code == 201 || code == 413, "{code}");
}

/// A column whose path names the last place that there can be.
#[tokio::test(start_paused = true)]
async fn the_last_place_of_a_list() {
    let cluster = cluster().await;
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/notes.hostile.example.com";
    let columns = json!([{"op": "add", "path": "/spec/versions/0/additionalPrinterColumns",
        "value": [{"name": "x", "type": "string", "jsonPath": ".a[9223372036854775807]"}]}]);
    let patch = "application/json-patch+json";
    assert_eq!(
        code(&cluster, "PATCH", path, patch, columns.to_string()).await,
        200
    );
}
