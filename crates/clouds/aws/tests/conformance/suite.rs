//! The KKP suite, from manifest to cloud and back, on the adapter: an embedded API server in front,
//! moto behind.

use std::sync::Arc;

use cloud_aws::Place;
use cloud_sim::VirtualClock;
use embedded_kube::{Cluster, TokioClock};
use kkp_suite::Lab;

use crate::clouds::{self, Moto};

async fn lab(case: &str) -> Option<Lab<Place>> {
    seen(case).await.map(|(lab, _)| lab)
}

/// A laboratory, with the account: only the controller calls by its client set.
pub(crate) async fn seen(case: &str) -> Option<(Lab<Place>, Moto)> {
    let moto = clouds::moto().await?;
    let began = "2026-01-01T00:00:00Z".parse().expect("a time");
    let client = Cluster::new(Arc::new(TokioClock::starting_at(began))).client();
    let installed = api::manifests::install(client.clone()).await;
    installed.expect("the definitions");
    let place = Place::open(moto.set.clone()).await.expect("an account");
    let hands = Place::open(moto.hands.clone()).await.expect("an account");
    let clock = VirtualClock::new();
    let mut lab = Lab::new(client, place, hands, clock, case);
    // See the row `group-references` of docs/aws.md.
    lab.keeps_referenced = false;
    Some((lab, moto))
}

kkp_suite::cases!(lab);
