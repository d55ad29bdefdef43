//! The operators: processes that crash, lose their Leases, and lead two at a time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cloud_port::driver::{Clock as _, Term};
use controllers::reconcile::{self, Guards, Reconciler, Settings, Sources, TokioClock};
use embedded_kube::Cluster;
use ownership::time::{Millis, REQUEST_TIMEOUT, Tick};
use ownership::{Freehold, Holder, Step};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::random::Random;
use super::weather::{SignedIn, Weather};

const RESYNC: Duration = Duration::from_mins(10);
/// For how long a renewal of a Lease is good.
const DURATION: Millis = Millis::seconds(60);
/// How often its holder renews it.
const RENEW_EVERY: Millis = Millis::seconds(10);

/// A Lease, as its holder knows it.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    clock: TokioClock,
    began: Tick,
    /// When it was taken away: it is not renewed from then on.
    taken: Arc<Mutex<Option<Tick>>>,
}

impl Lease {
    fn new(clock: TokioClock) -> Self {
        Self {
            clock,
            began: clock.now(),
            taken: Arc::default(),
        }
    }

    /// The term that the last renewal gave.
    fn term(&self) -> Term {
        let now = self.clock.now();
        let last = self.taken.lock().unwrap().map_or(now, |at| at.min(now));
        let held = (last - self.began).0;
        let renewed = self.began + Millis(held - held % RENEW_EVERY.0);
        Term {
            began: Some(self.began),
            ends: Some(renewed + DURATION),
        }
    }

    /// Whether a Step may be sent now: one that cannot be repeated safely needs T on both sides.
    pub(super) fn allows(&self, step: &Step) -> bool {
        let delicate = match step {
            Step::Create(create) => create.token.is_none(),
            Step::Delete { .. } | Step::RemoveInner { .. } | Step::Unmark { .. } => true,
            _ => false,
        };
        let (now, term) = (self.clock.now(), self.term());
        let began = term.began.is_none_or(|at| now >= at + REQUEST_TIMEOUT);
        let ends = term.ends.is_none_or(|at| now + REQUEST_TIMEOUT <= at);
        !delicate || began && ends
    }
}

/// One process.
#[derive(Debug)]
struct Operator {
    lease: Lease,
    task: JoinHandle<()>,
}

impl Drop for Operator {
    /// It crashes, wherever it is.
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// All processes that believe that they lead.
pub struct Operators<S> {
    cluster: Cluster,
    weather: Weather,
    clock: TokioClock,
    random: Random,
    /// How many there are when all is well.
    replicas: usize,
    guards: Guards,
    make: fn(SignedIn) -> S,
    running: Vec<Operator>,
}

impl<S: Sources> Operators<S> {
    /// None runs yet.
    pub(super) fn new(
        cluster: &Cluster,
        weather: &Weather,
        clock: TokioClock,
        random: &Random,
        replicas: usize,
        guards: Guards,
        make: fn(SignedIn) -> S,
    ) -> Self {
        Self {
            cluster: cluster.clone(),
            weather: weather.clone(),
            clock,
            random: random.clone(),
            replicas,
            guards,
            make,
            running: Vec::new(),
        }
    }

    /// All of them crash.
    pub fn crash(&mut self) {
        self.running.clear();
    }

    /// Whoever is missing starts.
    pub fn start(&mut self) {
        while self.running.len() < self.replicas {
            let operator = self.operator();
            self.running.push(operator);
        }
    }

    /// One of them crashes and starts again; or all.
    pub fn restart(&mut self) {
        if self.random.chance(50) {
            self.crash();
        } else {
            self.drop_one();
        }
        self.start();
    }

    /// Somebody else gets the Lease of one of them. It works on until its term is over, and the other
    /// starts then.
    pub(super) async fn lose_lease(&mut self) {
        let at = self.pick();
        let lease = self.running[at].lease.clone();
        let now = self.clock.now();
        *lease.taken.lock().unwrap() = Some(now);
        let ends = lease.term().ends.unwrap();
        sleep(Duration::from_millis((ends - now).0)).await;
        self.running.remove(at);
        self.start();
    }

    fn drop_one(&mut self) {
        let at = self.pick();
        self.running.remove(at);
    }

    fn pick(&self) -> usize {
        let all = u64::try_from(self.running.len()).unwrap();
        usize::try_from(self.random.below(all)).unwrap()
    }

    fn operator(&self) -> Operator {
        let settings = Settings {
            holder: Holder::of_cluster("here"),
            taken_over: std::collections::BTreeMap::new(),
            rules: Freehold,
            resync: RESYNC,
            retry: Duration::from_secs(1),
        };
        let lease = Lease::new(self.clock);
        let system = (self.make)(SignedIn::new(&self.weather.of(lease.clone())));
        let term = {
            let lease = lease.clone();
            Arc::new(move || lease.term())
        };
        let client = self.cluster.client();
        let reconciler = Reconciler::new(system, client, self.clock, settings, term);
        let reconciler = reconciler.guarded(self.guards);
        let work = reconcile::run(Arc::new(reconciler), std::future::pending());
        let task = tokio::spawn(work);
        Operator { lease, task }
    }
}
