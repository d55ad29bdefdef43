//! The operator: one replica of it, from start to stop.
//!
//! ```text
//! start ──► is it fit: kinds, rights, account; else it says so and ends
//!   │
//!   └────► who are we (holder) ──► candidate for the Lease ──► leads: are the kinds served,
//!                                        ▲                      what was taken over, controllers
//!                                        └──── term over ◄──────────┘        │ stop
//!                                                          passes end, Lease released
//! ```

pub(crate) mod command;
mod fitness;
mod health;
mod logs;
mod metrics;
mod provider;
pub mod systems;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use api::names::OPERATOR_NAMESPACE;
use cloud_port::driver::Term;
use controllers::reconcile;
use controllers::registry::{self, Entry, Road};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::Api;
use lease::{Candidate, Elector, Leadership, Times};
use ownership::input::InputError;
use ownership::mark::Unmarked;
use ownership::time::Tick;
use ownership::{Freehold, Holder};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep};

use crate::accounts::Countable;
use crate::clock::ProcessClock;
use crate::{connect, take_over};
#[cfg(feature = "dev")]
pub(crate) use command::stop;
pub(crate) use command::{Options, command};
pub use health::Health;
use health::Stage;

/// The name of the Lease.
pub const LEASE: &str = "freehold";

/// How often something is asked for that must be there first.
const ASK_AGAIN: Duration = Duration::from_secs(5);
/// How often it is looked whether an original has come to work.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// How long passes that have begun may take to end; then they are dropped, as in a crash.
const GRACE: Duration = Duration::from_secs(20);
/// How soon a failed pass is repeated, at first.
const RETRY: Duration = Duration::from_secs(1);

/// What a replica is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The namespace of the Lease and of [`take_over::CONFIG_MAP`].
    pub namespace: String,
    /// What the Lease shows of its holder.
    pub identity: String,
    /// How often an object at rest is looked at.
    pub resync: Duration,
    /// How long its Lease is good, and T of assumption A3. The accounts must have the same T.
    pub times: Times,
    /// What tells this management cluster from the one that it is a clone of.
    pub name: Option<String>,
    /// What a resource of our name without any mark means, whatever the served API says.
    pub unmarked: Option<Unmarked>,
    /// What is served.
    pub systems: Vec<&'static Entry>,
}

impl Settings {
    /// The usual ones, for a replica of this identity that serves KKP.
    pub fn of(identity: &str) -> Self {
        Self {
            namespace: OPERATOR_NAMESPACE.to_owned(),
            identity: identity.to_owned(),
            resync: Duration::from_mins(5),
            times: Times::default(),
            name: None,
            unmarked: None,
            systems: vec![&controllers::kkp::ENTRY],
        }
    }
}

/// Why a replica cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An invalid setting.
    #[error(transparent)]
    Setting(#[from] InputError),
    /// What keeps it from working in this cluster, with the cure.
    #[error("{0}")]
    Unfit(String),
}

/// One replica.
pub struct Operator<A> {
    client: Client,
    accounts: A,
    clock: ProcessClock,
    settings: Settings,
    health: Arc<Health>,
}

impl<A: Countable> Operator<A> {
    /// A replica that has not begun yet.
    pub fn new(client: Client, accounts: A, clock: ProcessClock, settings: Settings) -> Self {
        let counted = accounts.clone();
        let health = Arc::new(Health::new(move || counted.calls()));
        Self {
            client,
            accounts,
            clock,
            settings,
            health,
        }
    }

    /// What others may ask it.
    pub fn health(&self) -> &Arc<Health> {
        &self.health
    }

    /// Works until `stop`.
    ///
    /// # Guarantees
    /// - It only works while it holds the Lease, and releases that when the last pass has ended.
    /// - What is missing (the API server, the namespace) is waited for, and said. What its installation
    ///   lacks is waited for half a minute.
    /// - Dropping the future is a crash: the Lease runs out by itself.
    ///
    /// # Errors
    /// An invalid setting, or what keeps it from working here: see [`RunError`].
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), RunError> {
        let mut stop = std::pin::pin!(stop);
        tokio::select! {
            biased;
            () = &mut stop => return Ok(()),
            fit = fitness::check(&self.client, &self.settings, &self.health) => fit?,
        }
        let candidate = Candidate {
            namespace: self.settings.namespace.clone(),
            name: LEASE.to_owned(),
            identity: self.settings.identity.clone(),
        };
        let calls = self.accounts.under_way().clone();
        let (client, clock) = (self.client.clone(), Arc::new(self.clock));
        let (elector, leadership) =
            Elector::new(client, candidate, self.settings.times, calls, clock)?;
        let (halt, halted) = watch::channel(false);
        let (ended, work_ended) = oneshot::channel::<()>();
        let work = async {
            self.work(leadership, halted).await;
            // Only now may the Lease go.
            drop(ended);
        };
        let stand = elector.run(async {
            // Resolves when the sender is dropped.
            let _ = work_ended.await;
        });
        let stop = async {
            stop.await;
            self.health.enter(Stage::Stopping);
            halt.send_replace(true);
        };
        tokio::join!(work, stand, stop);
        Ok(())
    }

    async fn work(&self, mut leadership: Leadership, halted: watch::Receiver<bool>) {
        let mut halt = halted.clone();
        let holder = tokio::select! {
            biased;
            () = halt_of(&mut halt) => return,
            holder = self.holder() => holder,
        };
        loop {
            self.health.enter(Stage::Standby);
            tokio::select! {
                biased;
                () = halt_of(&mut halt) => return,
                term = leadership.gained() => if term.is_none() { return },
            }
            let over = self.lead(&holder, &mut leadership, halted.clone()).await;
            self.health.metrics.leads(false);
            match over {
                _ if *halted.borrow() => return,
                Over::Original(words) => tracing::warn!("{words}: nothing is done beside it"),
                Over::Confirmed => {
                    tracing::info!("a take-over was confirmed: all is looked at again");
                }
                Over::Term => tracing::warn!("the Lease is lost: another replica may lead"),
            }
        }
    }

    /// Works until the term is over, an original comes to work, or until it is told to stop and all
    /// passes have ended.
    async fn lead(
        &self,
        holder: &Holder,
        leadership: &mut Leadership,
        mut halted: watch::Receiver<bool>,
    ) -> Over {
        self.health.metrics.leads(true);
        let term = leadership.clone();
        let (stop, mut stopped) = oneshot::channel::<()>();
        let controllers = async {
            let before = async {
                self.kinds_are_served().await;
                self.originals_are_away().await;
                self.taken_over().await
            };
            let taken_over = tokio::select! {
                biased;
                _ = &mut stopped => return Over::Term,
                taken_over = before => taken_over,
            };
            let settings = reconcile::Settings {
                holder: holder.clone(),
                taken_over,
                resync: self.settings.resync,
                retry: RETRY,
                rules: Freehold {
                    request_timeout: self.settings.times.request_timeout(),
                    unmarked: self.settings.unmarked,
                },
            };
            self.health.enter(Stage::Leading);
            let stopped = async {
                // Resolves when the sender is dropped.
                let _ = stopped.await;
            }
            .shared();
            let systems = self.settings.systems.iter().map(|entry| {
                let term = term.clone();
                let road = Road {
                    client: self.client.clone(),
                    clock: self.clock,
                    settings: settings.clone(),
                    term: Arc::new(move || term.term().unwrap_or(OVER)),
                    monitor: Some(self.health.metrics.clone()),
                };
                let system = registry::system(entry, &self.accounts);
                system.run(road, Box::pin(stopped.clone()))
            });
            // What an original meets half done is no worse than what a crash leaves.
            tokio::select! {
                _ = join_all(systems) => Over::Term,
                words = self.an_original_comes() => Over::Original(words),
                () = self.more_is_taken_over(&settings.taken_over) => Over::Confirmed,
            }
        };
        let patience = async {
            halt_of(&mut halted).await;
            drop(stop);
            sleep(GRACE).await;
            tracing::warn!("a pass does not end: it is dropped, and the next leader goes on");
        };
        tokio::select! {
            over = controllers => over,
            () = leadership.lost() => Over::Term,
            () = patience => Over::Term,
        }
    }

    /// Waits until the original of something that is served comes to work: its Lease is renewed. Its
    /// and our own passes may overlap by then, for as long as it takes to see it; marks and intents hold
    /// what two operators could break, but an original knows neither.
    async fn an_original_comes(&self) -> String {
        let mut seen = BTreeMap::new();
        loop {
            for entry in &self.settings.systems {
                // Who cannot be asked is asked again: it was away when the work began.
                let Ok(Some(renewed)) = systems::original(&self.client, entry).await else {
                    continue;
                };
                let was = seen.insert(entry.name, renewed.clone());
                if was.is_some_and(|was| was != renewed) {
                    return renewed.words(entry);
                }
            }
            sleep(LOOK_AGAIN).await;
        }
    }

    /// Waits until somebody confirms something else than what was known when the work began.
    async fn more_is_taken_over(&self, known: &BTreeMap<Holder, u32>) {
        loop {
            sleep(LOOK_AGAIN).await;
            // Who cannot be asked is asked again.
            let now = take_over::read(&self.client, &self.settings.namespace).await;
            if now.is_ok_and(|now| now != *known) {
                return;
            }
        }
    }

    /// Asks until the cluster tells who it is, and has the Lease's namespace.
    async fn holder(&self) -> Holder {
        loop {
            let waits_for = match connect::holder(&self.client, self.settings.name.as_deref()).await
            {
                Ok(holder) => match self.namespace_is_there().await {
                    Ok(()) => {
                        tracing::info!(%holder, "this management cluster");
                        return holder;
                    }
                    Err(words) => words,
                },
                Err(error) => format!("the API server: {}", connect::words(&error)),
            };
            self.health.enter(Stage::Waiting(waits_for));
            sleep(ASK_AGAIN).await;
        }
    }

    async fn namespace_is_there(&self) -> Result<(), String> {
        let name = &self.settings.namespace;
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        match namespaces.get_opt(name).await {
            Ok(None) => Err(format!(
                "there is no namespace {name} for the Lease: kubectl create namespace {name}"
            )),
            // Whoever may not look may still find it there.
            _ => Ok(()),
        }
    }

    /// Asks until the API server serves what is reconciled.
    async fn kinds_are_served(&self) {
        for entry in &self.settings.systems {
            loop {
                let words = match systems::is_installed(&self.client, entry).await {
                    Ok(true) => break,
                    Ok(false) => systems::not_installed(entry),
                    Err(words) => words,
                };
                self.health.enter(Stage::Waiting(words));
                sleep(ASK_AGAIN).await;
            }
        }
    }

    /// Waits until no original of what is served is at work: two controllers for one object make twins.
    /// A Lease is over when it has stood still for as long as it lasts, by our own clock.
    async fn originals_are_away(&self) {
        for entry in &self.settings.systems {
            let mut seen = None;
            loop {
                let renewed = match systems::original(&self.client, entry).await {
                    Ok(Some(renewed)) => renewed,
                    Ok(None) => break,
                    Err(words) => {
                        tracing::warn!("{words}; it is taken for gone, as you say what is served");
                        break;
                    }
                };
                match &seen {
                    Some((was, since)) if *was == renewed => {
                        if Instant::now().duration_since(*since) > renewed.lasts {
                            break;
                        }
                    }
                    _ => seen = Some((renewed.clone(), Instant::now())),
                }
                let words = renewed.words(entry);
                self.health
                    .enter(Stage::Waiting(format!("{words}; stop it first")));
                sleep(ASK_AGAIN).await;
            }
        }
    }

    /// Asks until it is known whose claims are ours.
    async fn taken_over(&self) -> BTreeMap<Holder, u32> {
        loop {
            match take_over::read(&self.client, &self.settings.namespace).await {
                Ok(holders) => {
                    for (holder, generation) in &holders {
                        tracing::info!(%holder, generation, "taken over");
                    }
                    return holders;
                }
                Err(error) => {
                    let name = take_over::CONFIG_MAP;
                    let words = format!("the ConfigMap {name}: {}", connect::words(&error));
                    self.health.enter(Stage::Waiting(words));
                    sleep(ASK_AGAIN).await;
                }
            }
        }
    }
}

/// Why work has ended.
enum Over {
    /// Another replica may lead, or all is done.
    Term,
    /// An original is at work, in these words.
    Original(String),
    /// Other claims are this management cluster's now.
    Confirmed,
}

/// A term that is over: nothing delicate is sent.
const OVER: Term = Term {
    began: None,
    ends: Some(Tick(0)),
};

/// Waits for the word to stop.
async fn halt_of(halted: &mut watch::Receiver<bool>) {
    // An error says that nobody can give it any more: the operator itself is gone.
    let _ = halted.wait_for(|halted| *halted).await;
}
