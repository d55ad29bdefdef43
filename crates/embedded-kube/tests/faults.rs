//! The faults of a cluster hit what they are planned for, and nothing else.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

use std::sync::Arc;

use embedded_kube::{Cluster, Fault, FaultKind, TokioClock};
use futures_util::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{
    Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams, WatchEvent,
    WatchParams,
};
use kube::runtime::watcher;
use serde_json::json;

fn cluster() -> Cluster {
    Cluster::new(Arc::new(TokioClock::starting_at(
        "2026-01-01T00:00:00Z".parse().unwrap(),
    )))
}

fn maps(cluster: &Cluster) -> Api<ConfigMap> {
    Api::namespaced(cluster.client(), "default")
}

fn map(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

fn code<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> u16 {
    match result.unwrap_err() {
        kube::Error::Api(status) => status.code,
        other => panic!("{other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn refusals_have_no_effect() {
    let cluster = cluster();
    let api = maps(&cluster);
    let post = PostParams::default();
    for (kind, expected) in [(FaultKind::Conflict, 409), (FaultKind::InternalError, 500)] {
        cluster.faults().add(Fault::new(kind).verb("create"));
        assert_eq!(code(api.create(&post, &map("a")).await), expected);
        assert_eq!(code(api.get("a").await), 404);
    }
    api.create(&post, &map("a")).await.unwrap();
    assert_eq!(cluster.faults().pending(), 0);
    assert_eq!(cluster.faults().fired().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn too_many_requests_names_a_time() {
    use tower_service::Service as _;
    let cluster = cluster();
    cluster
        .faults()
        .add(Fault::new(FaultKind::TooManyRequests { retry_after: 7 }));
    let request = http::Request::get("/api/v1/namespaces")
        .body(kube::client::Body::empty())
        .unwrap();
    let response = cluster.service().call(request).await.unwrap();
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "7");
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_a_done_deed() {
    let cluster = cluster();
    let api = maps(&cluster);
    cluster.faults().add(
        Fault::new(FaultKind::LostAnswer)
            .resource("configmaps")
            .name("b"),
    );
    cluster
        .faults()
        .add(Fault::new(FaultKind::LostAnswer).verb("create").after(1));
    api.create(&PostParams::default(), &map("a")).await.unwrap();
    let lost = api
        .create(&PostParams::default(), &map("b"))
        .await
        .unwrap_err();
    assert!(!matches!(lost, kube::Error::Api(_)), "{lost}");
    assert_eq!(
        api.list(&ListParams::default()).await.unwrap().items.len(),
        2
    );
}

#[tokio::test(start_paused = true)]
async fn a_stale_read_shows_the_past() {
    let cluster = cluster();
    let api = maps(&cluster);
    api.create(&PostParams::default(), &map("a")).await.unwrap();
    api.create(&PostParams::default(), &map("b")).await.unwrap();
    cluster
        .faults()
        .add(Fault::new(FaultKind::StaleRead { by: 1 }).verb("list"));
    let names = |list: kube::core::ObjectList<ConfigMap>| -> Vec<String> {
        list.into_iter()
            .filter_map(|object| object.metadata.name)
            .collect()
    };
    assert_eq!(
        names(api.list(&ListParams::default()).await.unwrap()),
        ["a"]
    );
    assert_eq!(
        names(api.list(&ListParams::default()).await.unwrap()),
        ["a", "b"]
    );
    cluster
        .faults()
        .add(Fault::new(FaultKind::StaleRead { by: 1 }).verb("get"));
    assert_eq!(code(api.get("b").await), 404);
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_cut_after_what_it_had_to_tell() {
    let cluster = cluster();
    let api = maps(&cluster);
    api.create(&PostParams::default(), &map("a")).await.unwrap();
    cluster.faults().add(Fault::new(FaultKind::WatchCut));
    let watch = api.watch(&WatchParams::default(), "0").await.unwrap();
    let events: Vec<WatchEvent<ConfigMap>> = watch.try_collect().await.unwrap();
    assert_eq!(events.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_unobserved_event_is_missing() {
    let cluster = cluster();
    let api = maps(&cluster);
    api.create(&PostParams::default(), &map("a")).await.unwrap();
    let version = api
        .list(&ListParams::default())
        .await
        .unwrap()
        .metadata
        .resource_version
        .unwrap();
    cluster.faults().add(Fault::new(FaultKind::UnobservedEvent));
    let mut watch = api
        .watch(&WatchParams::default(), &version)
        .await
        .unwrap()
        .boxed();
    for value in ["1", "2"] {
        let patch = Patch::Merge(json!({"data": {"k": value}}));
        api.patch("a", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }
    let Some(Ok(WatchEvent::Modified(seen))) = watch.next().await else {
        panic!("an event")
    };
    assert_eq!(seen.data.unwrap()["k"], "2");
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_told_as_one_and_gone_at_the_next_try() {
    let cluster = cluster();
    let api = maps(&cluster);
    let made = api.create(&PostParams::default(), &map("a")).await.unwrap();
    cluster
        .faults()
        .add(Fault::new(FaultKind::Conflict).verb("update"));
    let mut changed = made.clone();
    changed.data = Some([("k".to_owned(), "v".to_owned())].into());
    let refused = api.replace("a", &PostParams::default(), &changed).await;
    let Err(kube::Error::Api(status)) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    assert!(status.message.contains("the object has been modified"));
    let unchanged = api.get("a").await.unwrap();
    assert_eq!(
        unchanged.metadata.resource_version,
        made.metadata.resource_version
    );
    api.replace("a", &PostParams::default(), &changed)
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_deletion_whose_answer_is_lost_has_happened() {
    let cluster = cluster();
    let api = maps(&cluster);
    for name in ["a", "b"] {
        api.create(&PostParams::default(), &map(name))
            .await
            .unwrap();
    }
    cluster
        .faults()
        .add(Fault::new(FaultKind::LostAnswer).verb("delete"));
    let lost = api.delete("a", &DeleteParams::default()).await;
    assert!(!matches!(lost, Err(kube::Error::Api(_)) | Ok(_)));
    assert_eq!(code(api.get("a").await), 404);
    assert_eq!(code(api.delete("a", &DeleteParams::default()).await), 404);
    api.get("b").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn too_many_requests_and_errors_hit_as_often_as_planned() {
    let cluster = cluster();
    let api = maps(&cluster);
    let busy = FaultKind::TooManyRequests { retry_after: 1 };
    cluster.faults().add(Fault::new(busy).verb("list").times(2));
    cluster
        .faults()
        .add(Fault::new(FaultKind::InternalError).verb("get").times(2));
    for _ in 0..2 {
        assert_eq!(code(api.list(&ListParams::default()).await), 429);
        assert_eq!(code(api.get("a").await), 500);
    }
    api.list(&ListParams::default()).await.unwrap();
    assert_eq!(code(api.get("a").await), 404);
}

/// The names that a client's watcher has heard of, up to this one.
async fn heard_until(cluster: &Cluster, last: &str) -> Vec<String> {
    let mut heard = Vec::new();
    let mut events = watcher(maps(cluster), watcher::Config::default()).boxed();
    while let Some(event) = events.next().await {
        // A client hears of an error and goes on.
        let Ok(watcher::Event::Apply(object) | watcher::Event::InitApply(object)) = event else {
            continue;
        };
        heard.extend(object.metadata.name);
        if heard.last().is_some_and(|name| name == last) {
            break;
        }
    }
    heard
}

#[tokio::test(start_paused = true)]
async fn a_client_survives_cut_watches_and_stale_lists() {
    for fault in [
        Fault::new(FaultKind::WatchCut).times(3),
        Fault::new(FaultKind::StaleRead { by: 1 }).verb("list"),
        Fault::new(FaultKind::TooManyRequests { retry_after: 1 }).times(2),
        Fault::new(FaultKind::InternalError).times(2),
    ] {
        let cluster = cluster();
        let api = maps(&cluster);
        for name in ["a", "b"] {
            api.create(&PostParams::default(), &map(name))
                .await
                .unwrap();
        }
        cluster.faults().add(fault.clone());
        let create = async {
            // Long after the first list.
            tokio::time::sleep(std::time::Duration::from_mins(10)).await;
            api.create(&PostParams::default(), &map("c")).await.unwrap();
        };
        let (heard, ()) = tokio::join!(heard_until(&cluster, "c"), create);
        for name in ["a", "b", "c"] {
            assert!(heard.iter().any(|one| one == name), "{fault:?}: {heard:?}");
        }
        assert_eq!(cluster.faults().pending(), 0, "{fault:?} did not happen");
    }
}
