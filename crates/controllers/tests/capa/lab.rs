//! The suite on the embedded API server and the simulated AWS.

use std::sync::Arc;

use capa_suite::{Lab, Plain};
use cloud_sim::{Settings, SharedAccount};
use embedded_kube::{Cluster, TokioClock};

/// In a region with three zones.
pub(crate) async fn lab(case: &str) -> Option<Lab<SharedAccount>> {
    Some(with(case, Settings::default()).await)
}

/// The same with another account.
pub(crate) async fn with(case: &str, settings: Settings) -> Lab<SharedAccount> {
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let cluster = Cluster::new(Arc::new(TokioClock::starting_at(began)));
    let client = cluster.client();
    capa_suite::install(&client).await;
    Lab::simulated(client, settings, case).await
}

capa_suite::cases!(lab);

/// The same laboratory without what is this system's own.
async fn plain(case: &str) -> Option<Plain<SharedAccount>> {
    Some(lab(case).await?.plain())
}

laboratory::cases!(plain);
