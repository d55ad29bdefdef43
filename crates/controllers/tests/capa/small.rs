//! A laboratory in a region with two zones, for what only the simulated account can show.

pub(crate) use capa_suite::TWO_ZONES;
use cloud_sim::{Settings, SharedAccount};
use kube::Client;
use serde_json::Value;

pub(crate) use crate::lab::with;

pub(crate) type Lab = capa_suite::Lab<SharedAccount>;

/// On an API server of its own.
pub(crate) async fn lab(case: &str) -> Option<Lab> {
    Some(with(case, settings(2)).await)
}

/// Another one on the same API server.
pub(crate) async fn around(client: Client, case: &str, settings: Settings) -> Lab {
    Lab::simulated(client, settings, case).await
}

pub(crate) fn settings(zones: u8) -> Settings {
    Settings {
        zones,
        ..Settings::default()
    }
}

/// Creates the sample with these fields in its spec.
pub(crate) async fn create(lab: &Lab, spec: Value) {
    lab.create(spec).await;
}

/// The object is deleted, and nothing of it is left in the account.
pub(crate) async fn end(lab: &Lab) {
    lab.end().await;
}

/// The object, as JSON.
pub(crate) async fn object(lab: &Lab) -> Value {
    serde_json::to_value(lab.object().await).unwrap()
}
