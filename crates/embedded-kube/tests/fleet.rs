//! Many clusters in one process: each for itself, by handle and by URL.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use bytes::Bytes;
use embedded_kube::{Options, Server, TokioClock};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tower_service::Service as _;

fn server() -> Server {
    let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    Server::new(Options::new(Arc::new(clock)))
}

async fn send(
    router: &mut axum::Router,
    method: &str,
    path: &str,
    body: impl Into<Bytes>,
) -> (u16, Value) {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .body(axum::body::Body::new(Full::new(body.into())))
        .unwrap();
    let response = router.call(request).await.unwrap();
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&bytes).unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn clusters_share_nothing() {
    let server = server();
    for name in ["a", "b"] {
        server.cluster(name);
    }
    let mut router = server.router();
    let body = json!({"metadata": {"name": "x"}}).to_string();
    let path = |cluster: &str| format!("/clusters/{cluster}/api/v1/namespaces/default/secrets");
    let (code, made) = send(&mut router, "POST", &path("a"), body.clone()).await;
    assert_eq!(code, 201);
    assert_eq!(
        send(&mut router, "GET", &format!("{}/x", path("b")), "")
            .await
            .0,
        404
    );
    let (_, other) = send(&mut router, "POST", &path("b"), body).await;
    assert_ne!(made["metadata"]["uid"], other["metadata"]["uid"]);
    assert_eq!(
        send(&mut router, "GET", "/api/v1/namespaces", "").await.0,
        404
    );
    let by_handle: kube::Api<k8s_openapi::api::core::v1::Secret> =
        kube::Api::namespaced(server.cluster("a").client(), "default");
    assert_eq!(
        by_handle.get("x").await.unwrap().metadata.uid.as_deref(),
        made["metadata"]["uid"].as_str()
    );
}

#[tokio::test(start_paused = true)]
async fn only_a_handle_makes_a_cluster() {
    let server = server();
    let mut router = server.router();
    let body = json!({"metadata": {"name": "x"}}).to_string();
    for cluster in ["a", "b", "", "%61"] {
        let path = format!("/clusters/{cluster}/api/v1/namespaces");
        assert_eq!(send(&mut router, "GET", &path, "").await.0, 404);
        assert_eq!(send(&mut router, "POST", &path, body.clone()).await.0, 404);
        let root = format!("/clusters/{cluster}");
        assert_eq!(send(&mut router, "GET", &root, "").await.0, 404);
    }
    // A router that is already there serves what is made later, and still nothing else.
    server.cluster("a");
    for (cluster, code) in [("a", 200), ("b", 404)] {
        let path = format!("/clusters/{cluster}/api/v1/namespaces/default");
        assert_eq!(send(&mut router, "GET", &path, "").await.0, code);
    }
}

#[tokio::test(start_paused = true)]
async fn a_query_passes_the_prefix() {
    let server = server();
    server.cluster("a");
    let mut router = server.router();
    let path = "/clusters/a/api/v1/namespaces?fieldSelector=metadata.name%3Ddefault";
    let (code, list) = send(&mut router, "GET", path, "").await;
    assert_eq!(code, 200);
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}

/// Whatever comes, the answer is a `Status` and the cluster goes on.
#[tokio::test(start_paused = true)]
async fn hostile_bodies_are_refused() {
    let server = server();
    server.cluster("a");
    let mut router = server.router();
    let path = "/clusters/a/api/v1/namespaces/default/configmaps";
    let big = format!("{{\"data\":{{\"k\":\"{}\"}}}}", "x".repeat(10 << 20));
    let deep = "[".repeat(1_000_000);
    for (body, expected) in [
        (big.into_bytes(), 413),
        (deep.into_bytes(), 400),
        (b"{\"metadata\":{\"name\":\"\xff\xfe\"}}".to_vec(), 422),
        (b"\xff\xff".to_vec(), 400),
        (Vec::new(), 400),
    ] {
        let (code, status) = send(&mut router, "POST", path, body).await;
        assert_eq!(code, expected, "{status}");
        assert_eq!(status["kind"], "Status");
    }
    let selector = format!("{path}?labelSelector={}", "a%3Db,".repeat(9_000));
    assert_eq!(send(&mut router, "GET", &selector, "").await.0, 400);
    let expressions = format!("{path}?labelSelector=a%20in%20({}b)", "b,".repeat(10_000));
    assert_eq!(send(&mut router, "GET", &expressions, "").await.0, 200);
    let many: Vec<Value> = (0..10_001)
        .map(|_| json!({"op": "test", "path": "/kind", "value": "x"}))
        .collect();
    let (code, _) = send(
        &mut router,
        "POST",
        path,
        json!({"metadata": {"name": "a"}}).to_string(),
    )
    .await;
    assert_eq!(code, 201);
    let request = http::Request::patch(format!("{path}/a"))
        .header("content-type", "application/json-patch+json")
        .body(axum::body::Body::from(json!(many).to_string()))
        .unwrap();
    assert_eq!(router.call(request).await.unwrap().status(), 413);
}
