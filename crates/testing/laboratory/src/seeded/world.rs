//! One run: bad times, then good times, then the end of everything.

use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use cloud_sim::{Account, Actor, Lag, SharedAccount, VirtualClock};
use controllers::reconcile::{Guards, TokioClock};
use embedded_kube::{Cluster, Options};
use ownership::time::Millis;
use tokio::time::{sleep, timeout};

use super::Seeded;
use super::objects::Snapshot;
use super::operators::Operators;
use super::people::Person;
use super::random::Random;
use super::switches::TWO_OPERATORS;
use super::weather::Weather;

/// Long enough for every wait of the engine and a few resyncs.
pub(super) const PEACE: Duration = Duration::from_hours(1);

/// Longer than any run, even if ends are held up.
const LONGEST: Duration = Duration::from_hours(24 * 30);

/// What came of a run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// The calls to the cloud, in order.
    pub(super) calls: Vec<String>,
    /// What happened in it.
    pub(super) seen: BTreeSet<&'static str>,
}

/// Lives through a run in which everything happens once.
pub(super) fn live_through_everything<S: Seeded>() -> Run {
    begin::<S>(1, true, Guards::ALL)
}

/// Lives through a run.
pub(super) fn live<S: Seeded>(seed: u64) -> Run {
    begin::<S>(seed, false, Guards::ALL)
}

/// Lives through a run with operators that lack a check.
pub(super) fn live_without<S: Seeded>(guards: Guards, seed: u64) -> Run {
    begin::<S>(seed, false, guards)
}

fn begin<S: Seeded>(seed: u64, everything: bool, guards: Guards) -> Run {
    pinned_random::run(seed, move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async move {
            let run = World::<S>::new(seed, guards).run(everything);
            timeout(LONGEST, run)
                .await
                .expect("the run comes to an end")
        })
    })
}

/// An object that is to live.
#[derive(Debug)]
pub struct Live<S: Seeded> {
    /// Its name.
    pub name: &'static str,
    /// What people want of it.
    pub wish: S::Wish,
}

/// One run.
pub struct World<S: Seeded> {
    /// The API server.
    pub cluster: Cluster,
    /// The choices of the run.
    pub random: Random,
    /// Whoever does something to objects or resources.
    pub person: Person<S::System>,
    /// The processes.
    pub operators: Operators<S::System>,
    /// The objects that are to live.
    pub live: Vec<Live<S>>,
    /// What only this system has.
    pub own: S,
    /// What happened, in words.
    pub seen: BTreeSet<&'static str>,
    /// The name of a copy of a manifest, if there is one.
    pub(super) copy: Option<String>,
    /// Objects as they were at some time.
    pub(super) history: Vec<Snapshot>,
}

impl<S: Seeded> World<S> {
    fn new(seed: u64, guards: Guards) -> Self {
        let random = Random::new(seed);
        let began = "2026-01-01T00:00:00Z".parse().unwrap();
        let api_clock = embedded_kube::TokioClock::starting_at(began);
        let options = Options {
            seed,
            ..Options::new(Arc::new(api_clock))
        };
        let cluster = Cluster::with_options("faults", &options);
        let clock = TokioClock::starting_at(began);
        let virtual_clock = VirtualClock::new();
        let lag = |most: u64| Millis(random.below(most) * u64::from(random.chance(50)));
        let settings = cloud_sim::Settings {
            seed,
            lag: Lag {
                by_id: lag(10_000),
                by_filter: lag(15_000),
            },
            ..cloud_sim::Settings::default()
        };
        let mut account = Account::new(settings, virtual_clock.clone());
        let own = S::begin(&mut account);
        // Every Step is told whose it is.
        let account = SharedAccount::new(account, Actor::Stranger);
        let weather = Weather::new(account, virtual_clock, clock, random.clone());
        let replicas = if TWO_OPERATORS && random.chance(30) {
            2
        } else {
            1
        };
        let operators = Operators::new(
            &cluster,
            &weather,
            clock,
            &random,
            replicas,
            guards,
            S::system,
        );
        let person = Person {
            client: cluster.client(),
            weather,
            random: random.clone(),
            system: PhantomData,
        };
        Self {
            cluster,
            random,
            person,
            operators,
            live: Vec::new(),
            own,
            seen: (replicas > 1)
                .then_some("two operators")
                .into_iter()
                .collect(),
            copy: None,
            history: Vec::new(),
        }
    }

    async fn run(mut self, everything: bool) -> Run {
        S::install(&self.person.client).await;
        self.operators.start();
        self.bad_times(everything).await;
        self.person.weather.calm(true);
        self.cluster.faults().clear();
        self.operators.crash();
        self.operators.start();
        // By then there is something that others can add to, and time enough to take it away again.
        sleep(PEACE / 2).await;
        S::tend(&self);
        sleep(PEACE / 2).await;
        self.assert_rest().await;
        self.assert_silent().await;
        for live in &mut self.live {
            S::leave(&self.person, live);
            self.person.delete(live.name).await;
        }
        sleep(PEACE).await;
        self.assert_end().await;
        self.operators.crash();
        Run {
            calls: self.person.weather.calls(),
            seen: self.seen,
        }
    }
}
