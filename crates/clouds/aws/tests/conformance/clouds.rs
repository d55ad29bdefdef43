//! The two clouds: a simulated account, and an account of moto's that nobody else has.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cloud_aws::{ClientSet, ClientSets, Settings};
use cloud_port::aws::{Access, AssumeRole, Credentials, Secret};
use cloud_sim::{Account, Actor, SharedAccount, VirtualClock};
use moto_server::MotoServer;
use tokio::sync::OnceCell;

use crate::raw::Raw;

pub(crate) const REGION: &str = "eu-central-1";

/// A new simulated account.
pub(crate) fn simulated() -> SharedAccount {
    simulated_on(VirtualClock::new())
}

/// A new simulated account on this clock.
pub(crate) fn simulated_on(clock: VirtualClock) -> SharedAccount {
    let account = Account::new(cloud_sim::Settings::default(), clock);
    SharedAccount::new(account, Actor::Engine(0))
}

/// A new account of moto's, through the adapter and past it.
pub(crate) struct Moto {
    pub(crate) set: Arc<ClientSet>,
    /// For what people do: its calls are not those of `set`.
    pub(crate) hands: Arc<ClientSet>,
    pub(crate) raw: Raw,
}

/// How many servers share the work: each of them computes on one core.
const SERVERS: usize = 2;

/// A new account of moto's; `None` if this is not its tier.
pub(crate) async fn moto() -> Option<Moto> {
    let server = server().await?;
    Some(account(server, server.url()).await)
}

/// One of moto's servers; `None` if this is not its tier.
pub(crate) async fn server() -> Option<&'static MotoServer> {
    static STARTED: [OnceCell<MotoServer>; SERVERS] = [const { OnceCell::const_new() }; SERVERS];
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    if std::env::var_os("FREEHOLD_TIER_AWS").is_none_or(|value| value != "1") {
        // Not `eprintln!`, which the test harness hides.
        let line = "SKIPPED: moto's server (FREEHOLD_TIER_AWS is not 1)";
        writeln!(std::io::stderr(), "{line}").expect("standard error");
        return None;
    }
    let start = || async {
        let moto = moto_server::install(|_| ()).expect("moto is installed");
        MotoServer::start(&moto).await.expect("moto starts")
    };
    let next = NEXT.fetch_add(1, Ordering::Relaxed) % SERVERS;
    Some(STARTED[next].get_or_init(start).await)
}

/// A new account of a server's, whose controllers and people find AWS at this endpoint.
pub(crate) async fn account(server: &MotoServer, endpoint: &str) -> Moto {
    let account = server.new_account();
    let sets = ClientSets::new(Settings {
        endpoint: Some(endpoint.to_owned()),
        ..Settings::from_env()
    });
    let set = sets.get(&access(&account, "tests")).await;
    let set = set.expect("a legal access");
    let hands = sets.get(&access(&account, "hands")).await;
    let hands = hands.expect("a legal access");
    let raw = Raw::new(server.url(), &account).await;
    assert_eq!(**set.account().await.expect("an account"), *account);
    Moto { set, hands, raw }
}

/// The access to an account of moto's: any role of it.
fn access(account: &str, external_id: &str) -> Access {
    Access {
        credentials: Credentials::Keys {
            id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: Secret::new("moto takes any"),
        },
        assume: Some(AssumeRole {
            arn: format!("arn:aws:iam::{account}:role/freehold"),
            external_id: Some(external_id.to_owned()),
        }),
        region: REGION.to_owned(),
    }
}
