//! The KKP suite, from manifest to cloud and back, on the adapter: an embedded API server in front,
//! moto behind.

use std::sync::Arc;

use cloud_aws::Place;
use cloud_sim::VirtualClock;
use embedded_kube::{Cluster, TokioClock};
use kkp_suite::Lab;

use crate::clouds;

async fn lab(case: &str) -> Option<Lab<Place>> {
    let moto = clouds::moto().await?;
    let began = "2026-01-01T00:00:00Z".parse().expect("a time");
    let client = Cluster::new(Arc::new(TokioClock::starting_at(began))).client();
    let installed = api::manifests::install(client.clone()).await;
    installed.expect("the definitions");
    let place = Place::open(moto.set).await.expect("an account");
    let clock = VirtualClock::new();
    let mut lab = Lab::new(client, place.clone(), place, clock, case);
    // See the row `group-references` of docs/aws.md.
    lab.keeps_referenced = false;
    Some(lab)
}

kkp_suite::cases!(lab);
