//! A proxy before moto: it adds what AWS has and moto lacks, and faults.
//!
//! ```text
//! client ──► faults ──► one write after the other ──► rules ──► moto ──► what AWS does besides ──► faults ──► client
//! ```
//!
//! It understands as much of AWS' query protocol as its rules need, and passes on everything else
//! as it is. The rules are listed, with what AWS and moto do, in `docs/aws.md`.

mod balancers;
mod call;
mod caller;
mod faults;
mod in_use;
mod instances;
mod nat_gateways;
mod quotas;
mod record;
mod refusal;
mod rules;
mod serve;
mod taken;
mod tokens;
mod upstream;
mod xml;

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use caller::{Caller, Said};
pub use faults::{Fault, Faults, Planned, Weather, When};
pub use quotas::Quotas;
pub use record::{Calls, Count, Seen};
pub use refusal::Refusal;
pub use tokens::TOKEN_LIFETIME;

use record::Log;
use rules::Turns;
use tokens::Tokens;
use upstream::Upstream;

/// How the proxy differs from AWS' own ways.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long a client token is remembered.
    pub token_lifetime: Duration,
    /// How many there may be of what.
    pub quotas: Quotas,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            token_lifetime: TOKEN_LIFETIME,
            quotas: Quotas::default(),
        }
    }
}

/// A running proxy.
///
/// ```no_run
/// use moto_server::proxy::{Fault, Proxy, Quotas, Settings, When};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// # let moto_url = "http://127.0.0.1:5000";
/// let proxy = Proxy::start(moto_url, Settings::default()).await?;
/// // Whoever is tested gets this address as `AWS_ENDPOINT_URL`.
/// let endpoint = proxy.url();
///
/// // The answer to the next CreateVpc is lost, after moto has made the VPC.
/// let mut lost = proxy.faults().next(When::operation("CreateVpc"), Fault::LoseAnswer);
/// // …whoever is tested runs…
/// lost.struck().await;
///
/// // Nobody gets another VPC, until there is room again.
/// proxy.set_quotas(Quotas { vpcs: 5, ..Quotas::default() });
/// proxy.set_quotas(Quotas::default());
///
/// let calls = proxy.calls();
/// println!("{} writes, {} VPCs", calls.writes(), calls.of("CreateVpc"));
/// assert!(calls.slowest_answer() < std::time::Duration::from_secs(5));
/// # Ok(())
/// # }
/// ```
///
/// # Guarantees
/// - A request that has come in whole is done, also when who sent it goes away or the proxy is
///   dropped: as in the cloud.
/// - Writes to one account and region go one after the other. They take longer for that; the faults'
///   delays are not in it.
/// - Whoever uses moto past the proxy sees what everybody sees: the proxy keeps nothing to itself
///   but client tokens.
///
/// # Assumptions
/// It lives as long as the runtime in which it was started.
#[derive(Debug)]
pub struct Proxy {
    url: String,
    shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

/// What every connection needs.
#[derive(Debug)]
struct Shared {
    upstream: Upstream,
    faults: Faults,
    log: Log,
    tokens: Tokens,
    turns: Turns,
    quotas: Mutex<Quotas>,
}

impl Shared {
    fn quotas(&self) -> Quotas {
        *self.quotas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Proxy {
    /// Starts one before moto, on a port of this machine that the system chooses.
    ///
    /// # Errors
    /// There is no port, or the address is not of the form `http://HOST:PORT`.
    pub async fn start(moto_url: &str, settings: Settings) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            upstream: Upstream::new(moto_url)?,
            faults: Faults::default(),
            log: Log::new(),
            tokens: Tokens::new(settings.token_lifetime),
            turns: Turns::default(),
            quotas: Mutex::new(settings.quotas),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let serve = serve::serve(listener, Arc::clone(&shared));
        let serving = tokio::spawn(async move {
            serve.await;
        });
        Ok(Self {
            url,
            shared,
            serving,
        })
    }

    /// Where AWS is: what `AWS_ENDPOINT_URL` must say.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What goes wrong.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// The calls so far.
    pub fn calls(&self) -> Calls {
        self.shared.log.calls()
    }

    /// How many writes have come in and are not answered yet.
    pub fn writes_under_way(&self) -> usize {
        self.shared.log.writes_under_way()
    }

    /// What went wrong and no test has asked for: moto was not there, or did what it never does.
    /// Whoever had asked got no answer.
    pub fn trouble(&self) -> Vec<String> {
        self.shared.log.troubles()
    }

    /// From now on there may be so many.
    pub fn set_quotas(&self, quotas: Quotas) {
        *self
            .shared
            .quotas
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = quotas;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
