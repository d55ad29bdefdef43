//! `freehold run`.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, bail};
use api::names::OPERATOR_NAMESPACE;
use lease::Times;
use ownership::mark::Unmarked;
use ownership::time::Millis;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::logs::{self, Format};
use super::systems::{self, Systems};
use super::{Operator, Settings};
use crate::clock::ProcessClock;
use crate::look::ask::is_dev;
use crate::{accounts, connect, install};

/// What `freehold run` is told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The namespace of the Lease, and of the ConfigMap freehold-take-over
    #[arg(long, default_value = OPERATOR_NAMESPACE, value_parser = install::label)]
    namespace: String,
    /// Where /healthz, /readyz and /metrics are served
    #[arg(long, default_value = "127.0.0.1:8080", value_parser = address, value_name = "ADDRESS")]
    listen: SocketAddr,
    #[arg(long, value_parser = systems::parse, value_name = "SYSTEMS", help = systems::help())]
    systems: Option<Systems>,
    /// What a resource of a cluster's name without any owner's mark means; without it, as the served
    /// API has it. The annotation freehold.dev/unmarked says it for one object
    #[arg(long, value_enum, value_name = "MEANING")]
    unmarked: Option<Meaning>,
    /// How often an object at rest is looked at
    #[arg(long, default_value = "5m", value_parser = duration, value_name = "DURATION")]
    resync: Duration,
    /// For how long a leader that is not heard of is waited for: its Lease
    #[arg(long, default_value = "60s", value_parser = duration, value_name = "DURATION")]
    lease_duration: Duration,
    /// After which time a call to a cloud is given up, and cannot take effect any more
    #[arg(long, default_value = "30s", value_parser = duration, value_name = "DURATION")]
    request_timeout: Duration,
    #[command(flatten)]
    whom: connect::Whom,
    /// How log lines look
    #[arg(long, default_value = "text", value_enum)]
    log: Format,
    /// Which log lines there are: levels, for all or by module
    #[arg(long, default_value = "info", value_parser = logs::filter, value_name = "LEVELS")]
    log_filter: String,
}

/// What a resource of our name without any mark means.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Meaning {
    /// It is used, and stays its owner's
    Use,
    /// It is somebody else's: nothing is done before a person decides
    Conflict,
}

impl From<Meaning> for Unmarked {
    fn from(meaning: Meaning) -> Self {
        match meaning {
            Meaning::Use => Self::Use,
            Meaning::Conflict => Self::Conflict,
        }
    }
}

/// Runs the operator until it is told to stop.
pub(crate) fn command(options: Options) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("the runtime")?;
    runtime.block_on(run(options))
}

async fn run(options: Options) -> anyhow::Result<()> {
    let times = Times::new(
        millis(options.lease_duration),
        millis(options.request_timeout),
    )?;
    let clock = ProcessClock::real();
    let accounts = accounts::real(clock, times.request_timeout())?;
    let config = connect::config(&connect::Which::default()).await?;
    if is_dev(&config) {
        bail!("this is a freehold dev, which runs its own controllers on its own cloud");
    }
    let client = connect::client_of(config)?;
    logs::start(options.log, &options.log_filter)?;
    let settings = Settings {
        namespace: options.namespace,
        resync: options.resync,
        times,
        name: options.whom.holder,
        unmarked: options.unmarked.map(Meaning::into),
        systems: systems::choose(&client, options.systems.as_ref()).await?,
        ..Settings::of(&identity())
    };
    let listener = TcpListener::bind(options.listen).await;
    let listener = listener.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow::anyhow!(
            "--listen {}: another program listens there; name another address or port",
            options.listen
        ),
        _ => anyhow::Error::new(error).context(format!("--listen {}", options.listen)),
    })?;
    let address = listener.local_addr().context("--listen")?;
    tracing::info!(%address, "serving /healthz, /readyz and /metrics");
    let operator = Operator::new(client, accounts, clock, settings);
    let pages = axum::serve(listener, operator.health().router()).into_future();
    let work = operator.run(stop()?);
    tokio::select! {
        done = work => done.map_err(anyhow::Error::from),
        failed = pages => failed.context("--listen"),
    }
}

/// Comes true at the first SIGTERM or SIGINT.
pub(crate) fn stop() -> anyhow::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// The pod's name, else the process: two replicas on one machine must be told apart by people.
fn identity() -> String {
    let pod = std::env::var("HOSTNAME").ok();
    let pod = pod.filter(|name| !name.is_empty());
    format!(
        "{}_{}",
        pod.as_deref().unwrap_or("freehold"),
        std::process::id()
    )
}

/// A positive time such as `90s` or `5m`.
/// Reads an address with its port.
fn address(text: &str) -> Result<SocketAddr, String> {
    let rule = "must be an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080";
    text.parse().map_err(|_| rule.to_owned())
}

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let parsed = text.parse::<jiff::SignedDuration>();
    let parsed = parsed.map_err(|_| "must be a time such as 90s or 5m".to_owned())?;
    match Duration::try_from(parsed) {
        Ok(span) if span >= Duration::from_secs(1) => Ok(span),
        _ => Err("must be at least 1s".to_owned()),
    }
}

fn millis(span: Duration) -> Millis {
    Millis(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("5m"), Ok(Duration::from_mins(5)));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_mins(90)));
        for wrong in ["", "5", "soon", "0s", "-5m", "10ms"] {
            assert!(duration(wrong).is_err(), "{wrong:?}");
        }
    }
}
