//! A running `freehold dev` is asked itself: it has the simulated cloud.

use anyhow::{Context as _, bail};
use controllers::registry::Entry;
use kube::Config;
use serde::{Deserialize, Serialize};

use super::Seen;
use crate::connect;

/// The name of the API server of `freehold dev`: the path of its API.
pub(crate) const SERVER: &str = "dev";

/// Where `freehold dev` answers, below the path of its API.
pub(crate) const PATH: &str = "/freehold/inspect";

/// What it answers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    /// What people are shown.
    Seen(Seen),
    /// Why there is nothing to be shown.
    Error(String),
}

/// Whether a kubeconfig leads to a `freehold dev`.
pub(super) fn is_dev(config: &Config) -> bool {
    let url = &config.cluster_url;
    let is_here = matches!(url.host(), Some("127.0.0.1" | "localhost"));
    is_here && url.path().trim_end_matches('/') == format!("/clusters/{SERVER}")
}

/// Asks it.
pub(super) async fn ask(
    config: Config,
    entry: &Entry,
    name: &str,
    slot: Option<&str>,
) -> anyhow::Result<Seen> {
    let client = connect::client_of(config)?;
    let kind = entry.name;
    let slot = slot.unwrap_or_default();
    let request = http::Request::get(format!("{PATH}/{kind}/{name}?slot={slot}"));
    let request = request.body(Vec::new()).context("the name")?;
    let answer = client.request::<Answer>(request).await;
    match answer.map_err(|error| anyhow::anyhow!("freehold dev: {}", connect::words(&error)))? {
        Answer::Seen(seen) => Ok(seen),
        Answer::Error(words) => bail!("{words}"),
    }
}
