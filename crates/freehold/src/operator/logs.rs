//! Logs on standard error: for people, or for programs.

use anyhow::Context as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What logs of the client of Kubernetes are called.
const CLIENT: &str = "kube_client";

/// How lines look: for people, or one JSON object a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// Reads a filter.
pub(crate) fn filter(text: &str) -> Result<String, String> {
    let rule = "must be levels such as info,controllers=debug";
    let read = text.parse::<Targets>();
    read.map(|_| text.to_owned()).map_err(|_| rule.to_owned())
}

/// Begins to write logs.
///
/// # Errors
/// Not a filter.
pub(crate) fn start(format: Format, filter: &str) -> anyhow::Result<()> {
    let targets: Targets = filter.parse().context("--log-filter")?;
    // The client of Kubernetes logs what it also returns, and then it is told once more by whoever asked.
    let targets = if filter.contains(CLIENT) {
        targets
    } else {
        targets.with_target(CLIENT, LevelFilter::OFF)
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry().with(targets);
    match format {
        Format::Text => registry.with(lines.with_ansi(false)).try_init(),
        Format::Json => registry.with(lines.json()).try_init(),
    }
    .context("the logs")
}
