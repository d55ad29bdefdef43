//! The KKP suite on the embedded API server and the simulated AWS.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::sync::Arc;

use cloud_sim::SharedAccount;
use embedded_kube::{Cluster, TokioClock};
use kkp_suite::Lab;

async fn lab(case: &str) -> Option<Lab<SharedAccount>> {
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let cluster = Cluster::new(Arc::new(TokioClock::starting_at(began)));
    let client = cluster.client();
    api::manifests::install(client.clone()).await.unwrap();
    let settings = cloud_sim::Settings::default();
    Some(Lab::simulated(client, settings, case))
}

kkp_suite::cases!(lab);
