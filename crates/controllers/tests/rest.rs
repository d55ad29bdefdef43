//! Law 8 from manifest to cloud: clusters at rest are looked at together, share what is read, and
//! cause no write, to the cloud or to Kubernetes.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use cloud_sim::{Counters, SharedAccount};
use controllers::reconcile::Next;
use embedded_kube::TokioClock;
use kkp_suite::{Lab, RESYNC};
use kube::api::ListParams;
use serde_json::json;

/// What the objects are, to the letter.
async fn versions(lab: &Lab<SharedAccount>) -> Vec<Option<String>> {
    let list = lab.api().list(&ListParams::default()).await.unwrap();
    let versions = list.items.into_iter();
    versions
        .map(|item| item.metadata.resource_version)
        .collect()
}

fn counters(lab: &Lab<SharedAccount>) -> Counters {
    lab.account().counters().clone()
}

#[tokio::test(start_paused = true)]
async fn law_8_clusters_at_rest_share_what_is_read_and_write_nothing() {
    let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let client = embedded_kube::Cluster::new(Arc::new(clock)).client();
    api::manifests::install(client.clone()).await.unwrap();
    let lab = Lab::simulated(client, cloud_sim::Settings::default(), "rest");
    let clusters = ["a", "b", "c"].map(str::to_owned);
    for name in &clusters {
        lab.create_as(name, json!({}), json!({}), json!({})).await;
        lab.settle_as(name).await;
    }
    let before = versions(&lab).await;
    let until_next = Next::After(RESYNC);
    for period in 1..10 {
        let then = counters(&lab);
        assert_eq!(lab.resync(&clusters).await, [until_next; 3]);
        let now = counters(&lab);
        let (reads, writes) = (now.reads() - then.reads(), now.writes() - then.writes());
        assert_eq!((reads, writes), (8, 0), "period {period}");
        assert_eq!(versions(&lab).await, before, "period {period}");
    }

    // Drift in the last period is found, and nothing but it is repaired.
    let group = lab.hands.group("kubernetes-b").await.unwrap();
    let rule = "ingress tcp 22-22 0.0.0.0/0";
    assert!(group.rules.contains(rule));
    lab.hands.remove_rule(&group.id, rule).await;
    assert_ne!(lab.hands.group("kubernetes-b").await.unwrap(), group);
    let then = counters(&lab);
    lab.resync(&clusters).await;
    assert_eq!(counters(&lab).writes() - then.writes(), 1);
    assert_eq!(lab.hands.group("kubernetes-b").await.unwrap(), group);
}
