//! The world of the demonstration: an API server, an account that somebody else uses too, the
//! controllers, and what they work on.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use api::kkp::{Cluster as Object, Condition};
use api::names::{OPERATOR_ACCOUNT, OPERATOR_NAMESPACE, user_of_account};
use cloud_port::aws;
use cloud_port::driver::Term;
use cloud_sim::{Account, Actor};
use console::style;
use controllers::reconcile::{Conditions, Inspection, Monitor, Next, Passed, Settings};
use controllers::registry::{self, Entry, Road, Which};
use embedded_kube::{Options, Server, User};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use k8s_openapi::api::events::v1::Event;
use kube::Client;
use kube::api::{Api, ListParams};
use ownership::mark::Tags;
use ownership::part::Props;
use ownership::{Freehold, Holder, Text};

use crate::accounts::Simulated;
use crate::clock::ProcessClock;
use crate::connect;
use crate::look::ask::SERVER;
use crate::look::{self, Around, Whose};

use super::samples::{self, DEMO};

/// How often the controllers look at an object at rest.
const RESYNC: Duration = Duration::from_mins(5);

/// Everything that the demonstration works with.
pub(super) struct World {
    pub(super) server: Server,
    pub(super) client: Client,
    pub(super) accounts: Simulated,
    clock: ProcessClock,
    holder: Holder,
    passes: Arc<Passes>,
}

/// Counts the passes that have ended, and tells what a deletion waits for.
#[derive(Debug, Default)]
struct Passes {
    count: AtomicU64,
    tells: AtomicBool,
    /// What was told last.
    told: Mutex<String>,
}

impl Monitor for Passes {
    fn passed(&self, pass: &Passed<'_>) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let ready = pass.told.and_then(Conditions::ready);
        let (Some(ready), Next::After(wait)) = (ready, pass.next) else {
            return;
        };
        if !self.tells.load(Ordering::Relaxed) || ready.reason != "Deleting" {
            return;
        }
        let (object, why) = (pass.object, &ready.message);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if *told == format!("{object} {why}") {
            return;
        }
        *told = format!("{object} {why}");
        let seconds = wait.as_millis().div_ceil(1000);
        let object = style(object).bold();
        // Who does not listen is told of it elsewhere.
        let _ = say::line!("  {object} … waits up to {seconds} s: {why}");
    }

    fn forgotten(&self, _: &'static str, _: &str) {}
}

impl World {
    /// The world before the samples.
    pub(super) async fn new(clock: ProcessClock) -> anyhow::Result<Self> {
        Self::around(Server::new(Options::new(Arc::new(clock))), clock).await
    }

    /// The same with the objects that were left in a folder.
    pub(super) async fn kept(clock: ProcessClock, folder: &Path) -> anyhow::Result<Self> {
        let server = Server::open(Options::new(Arc::new(clock)), folder);
        let server = server.with_context(|| format!("--state {}", folder.display()))?;
        Self::around(server, clock).await
    }

    async fn around(server: Server, clock: ProcessClock) -> anyhow::Result<Self> {
        let cluster = server.cluster(SERVER);
        let administrator = cluster.client();
        for entry in registry::ENTRIES {
            api::manifests::install_all(administrator.clone(), entry.definitions)
                .await
                .context("the definitions")?;
        }
        api::manifests::protect(administrator, &registry::policies(registry::ENTRIES))
            .await
            .context("the policies")?;
        // The account that the policies trust.
        let user = user_of_account(OPERATOR_NAMESPACE, OPERATOR_ACCOUNT);
        let client = cluster.client_as(User::new(&user, &["system:authenticated"]));
        let holder = connect::holder(&client, None)
            .await
            .context("kube-system")?;
        let accounts = Simulated::new(clock);
        move_in(&mut accounts.account().lock())?;
        Ok(Self {
            server,
            client,
            accounts,
            clock,
            holder,
            passes: Arc::default(),
        })
    }

    pub(super) fn clusters(&self) -> Api<Object> {
        Api::all(self.client.clone())
    }

    /// Creates the samples of every system.
    pub(super) async fn create_all(&self) -> anyhow::Result<()> {
        for sample in samples::all() {
            sample.create(&self.client).await?;
        }
        Ok(())
    }

    /// Runs the controllers, the same that `freehold run` runs, until `stop`.
    pub(super) fn control(
        &self,
        stop: impl Future<Output = ()> + Send + Sync + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        let stop = stop.shared();
        let road = || Road {
            client: self.client.clone(),
            clock: self.clock,
            settings: Settings {
                holder: self.holder.clone(),
                taken_over: BTreeMap::new(),
                resync: RESYNC,
                retry: Duration::from_secs(1),
                rules: Freehold,
            },
            term: Arc::new(Term::alone),
            monitor: Some(self.passes.clone()),
        };
        let systems = registry::ENTRIES.iter().map(|entry| {
            let system = registry::system(entry, &self.accounts);
            system.run(road(), Box::pin(stop.clone()))
        });
        join_all(systems).map(drop)
    }

    /// From now on it is printed what a deletion waits for.
    pub(super) fn tell_waits(&self) {
        self.passes.tells.store(true, Ordering::Relaxed);
    }

    /// How many passes the controllers have done.
    pub(super) fn passes(&self) -> u64 {
        self.passes.count.load(Ordering::Relaxed)
    }

    /// Objects as the engine sees them.
    pub(super) async fn inspect(
        &self,
        entry: &'static Entry,
        which: Which<'_>,
    ) -> anyhow::Result<Vec<Inspection>> {
        let (client, clock) = (self.client.clone(), self.clock);
        look::inspect(entry, &self.accounts, client, clock, self.whose(), which).await
    }

    /// Everything that can be seen from here.
    pub(super) async fn look_around(&self) -> anyhow::Result<Around> {
        let (accounts, client) = (&self.accounts, &self.client);
        Around::look(accounts, client, self.clock, self.whose(), &[]).await
    }

    fn whose(&self) -> Whose {
        Whose {
            holder: self.holder.clone(),
            taken_over: BTreeMap::new(),
        }
    }

    /// The condition `Ready` of the cluster; `None` if it has none yet, an error if it is gone.
    pub(super) async fn ready(&self) -> anyhow::Result<Option<Condition>> {
        let object = self.clusters().get(DEMO).await.context("the cluster")?;
        let status = object.status.unwrap_or_default();
        Ok(status.conditions.get("Ready").cloned())
    }

    /// The events of the cluster, from the first on.
    pub(super) async fn events(&self) -> anyhow::Result<Vec<Event>> {
        let list = events(&self.client).list(&ListParams::default()).await?;
        let mut events = list.items;
        events.sort_by_key(|event| {
            let name = event.metadata.name.clone().unwrap_or_default();
            let number = name.rsplit('.').next().and_then(|text| text.parse().ok());
            let number: u64 = number.unwrap_or(0);
            (event.event_time.clone(), number)
        });
        Ok(events)
    }

    /// The id of the cluster's group, as the object records it.
    pub(super) async fn group(&self) -> anyhow::Result<String> {
        let object = self.clusters().get(DEMO).await.context("the cluster")?;
        let group = object.spec.cloud.aws.unwrap_or_default().security_group_id;
        ensure!(!group.is_empty(), "the object records no security group");
        Ok(group)
    }
}

/// Events of objects without a namespace.
pub(super) fn events(client: &Client) -> Api<Event> {
    Api::namespaced(client.clone(), "default")
}

/// Somebody else's resources, which must come to no harm.
fn move_in(account: &mut Account) -> anyhow::Result<()> {
    let vpc = account.default_vpc().context("the default VPC")?.id.text();
    let props: Props = [("vpc", vpc), ("description", Text::from("a web shop"))]
        .into_iter()
        .collect();
    let group = &aws::security_group::SECURITY_GROUP;
    account.plant(Actor::Stranger, group, "web-shop", &props, &Tags::new())?;
    Ok(())
}
