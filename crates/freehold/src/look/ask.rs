//! A running `freehold dev` is asked itself: it has the simulated cloud.

use anyhow::{Context as _, bail};
use controllers::registry::{Entry, Which};
use kube::Config;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Seen;
use crate::connect;

/// The name of the API server of `freehold dev`: the path of its API.
pub(crate) const SERVER: &str = "dev";

/// Where `freehold dev` answers, below the path of its API.
pub(crate) const PATH: &str = "/freehold";

/// What it answers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer<T> {
    /// What was asked for.
    Seen(T),
    /// Why there is nothing to be shown.
    Error(String),
}

impl<T> From<anyhow::Result<T>> for Answer<T> {
    fn from(outcome: anyhow::Result<T>) -> Self {
        match outcome {
            Ok(seen) => Self::Seen(seen),
            Err(error) => Self::Error(format!("{error:#}")),
        }
    }
}

/// Whether a kubeconfig leads to a `freehold dev`.
pub(crate) fn is_dev(config: &Config) -> bool {
    let url = &config.cluster_url;
    let is_here = matches!(url.host(), Some("127.0.0.1" | "localhost"));
    is_here && url.path().trim_end_matches('/') == format!("/clusters/{SERVER}")
}

/// Asks it for objects.
pub(super) async fn inspect(
    config: Config,
    entry: &Entry,
    which: Which<'_>,
) -> anyhow::Result<Vec<Seen>> {
    let kind = entry.name;
    let name = which.name.unwrap_or_default();
    let namespace = which.namespace.unwrap_or_default();
    let path = format!("inspect/{kind}?name={name}&namespace={namespace}");
    ask(config, http::Method::GET, &path, &()).await
}

/// Asks it for something.
pub(crate) async fn ask<T: DeserializeOwned>(
    config: Config,
    method: http::Method,
    path: &str,
    body: &impl Serialize,
) -> anyhow::Result<T> {
    let client = connect::client_of(config)?;
    let request = http::Request::builder().method(method);
    let request = request.header(http::header::CONTENT_TYPE, "application/json");
    let request = request.uri(format!("{PATH}/{path}"));
    let request = request
        .body(serde_json::to_vec(body)?)
        .context("the name")?;
    let answer = client.request::<Answer<T>>(request).await;
    match answer.map_err(|error| anyhow::anyhow!("freehold dev: {}", connect::words(&error)))? {
        Answer::Seen(seen) => Ok(seen),
        Answer::Error(words) => bail!("{words}"),
    }
}
