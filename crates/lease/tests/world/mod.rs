//! Replicas on one embedded cluster, each with its own clock and its own bad connection.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use cloud_port::{Calls, driver};
use embedded_kube::{Cluster, ClusterService, LostAnswer, ResponseBody, TokioClock};
use http::{Request, Response};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::client::Body;
use lease::{Candidate, Clock, Elector, Leadership, Times};
use ownership::time::{REQUEST_TIMEOUT, Tick};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tower_service::Service;

/// How often it is checked that at most one leads.
const LOOK_EVERY: Duration = Duration::from_millis(97);

/// No two replicas have the same number, whatever their names.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

pub(crate) struct World {
    pub(crate) server: Cluster,
    started: Instant,
    sent: Sent,
}

/// The delicate calls whose outcome is not known: which replica sent them, and when.
type Sent = Arc<Mutex<Vec<(u64, Instant)>>>;

/// How a replica's requests fare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Up,
    /// Nothing arrives, nothing is answered.
    Cut,
    /// Everything arrives, nothing is answered.
    Deaf,
    /// Everything takes effect at once and is answered so many milliseconds later.
    Slow(u64),
    /// Everything takes effect only after so many milliseconds, wanted or not.
    Late(u64),
}

pub(crate) struct Replica {
    pub(crate) name: &'static str,
    pub(crate) leadership: Leadership,
    /// What its process has sent to clouds.
    pub(crate) calls: Calls,
    times: Times,
    sent: Sent,
    number: u64,
    clock: Arc<TestClock>,
    link: Arc<Mutex<Link>>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    /// A dead process asks nobody whether it leads.
    dead: bool,
}

struct TestClock {
    started: Instant,
    skew: u64,
    origin: Timestamp,
    wall_runs: bool,
}

impl driver::Clock for TestClock {
    fn now(&self) -> Tick {
        let elapsed = self.started.elapsed().as_millis();
        Tick(u64::try_from(elapsed).unwrap() + self.skew)
    }
}

impl Clock for TestClock {
    fn wall(&self) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.started.elapsed()).unwrap();
        if self.wall_runs {
            self.origin + elapsed
        } else {
            self.origin
        }
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        Self {
            server: Cluster::new(Arc::new(clock)),
            started: Instant::now(),
            sent: Sent::default(),
        }
    }

    /// A replica whose clocks are off by so many milliseconds.
    pub(crate) fn replica(&self, name: &'static str, skew: u64) -> Replica {
        let origin: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let origin = origin + SignedDuration::from_millis(i64::try_from(skew).unwrap());
        self.start(name, skew, origin, true, Times::default())
    }

    /// A replica with other times.
    pub(crate) fn replica_with(&self, name: &'static str, times: Times) -> Replica {
        let origin = "2026-01-01T00:00:00Z".parse().unwrap();
        self.start(name, 0, origin, true, times)
    }

    pub(crate) fn replica_at(
        &self,
        name: &'static str,
        skew: u64,
        origin: &str,
        wall_runs: bool,
    ) -> Replica {
        let origin = origin.parse().unwrap();
        self.start(name, skew, origin, wall_runs, Times::default())
    }

    fn start(
        &self,
        name: &'static str,
        skew: u64,
        origin: Timestamp,
        wall_runs: bool,
        times: Times,
    ) -> Replica {
        let clock = Arc::new(TestClock {
            started: self.started,
            skew,
            origin,
            wall_runs,
        });
        let link = Arc::new(Mutex::new(Link::Up));
        let service = Linked {
            inner: self.server.service(),
            link: Arc::clone(&link),
        };
        let candidate = Candidate {
            namespace: "default".to_owned(),
            name: "freehold".to_owned(),
            identity: name.to_owned(),
        };
        let client = Client::new(service, "default");
        let calls = Calls::new(clock.clone());
        let elector = Elector::new(client, candidate, times, calls.clone(), clock.clone());
        let (elector, leadership) = elector.unwrap();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(elector.run(async {
            stopped.await.ok();
        }));
        Replica {
            name,
            leadership,
            calls,
            times,
            sent: Arc::clone(&self.sent),
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            clock,
            link,
            stop: Some(stop),
            task,
            dead: false,
        }
    }

    pub(crate) async fn lease(&self) -> Option<Lease> {
        self.leases().get_opt("freehold").await.unwrap()
    }

    pub(crate) async fn delete_lease(&self) {
        if self.lease().await.is_some() {
            self.leases()
                .delete("freehold", &DeleteParams::default())
                .await
                .unwrap();
        }
    }

    /// Makes it nobody's, as somebody might by hand.
    pub(crate) async fn free_lease(&self) {
        let free = serde_json::json!({"spec": {"holderIdentity": null}});
        let parameters = PatchParams::default();
        self.leases()
            .patch("freehold", &parameters, &Patch::Merge(free))
            .await
            .unwrap();
    }

    fn leases(&self) -> Api<Lease> {
        Api::namespaced(self.server.client(), "default")
    }
}

impl Replica {
    pub(crate) fn leads(&self) -> bool {
        !self.dead && self.leadership.term().is_some()
    }

    pub(crate) fn now(&self) -> Tick {
        driver::Clock::now(&*self.clock)
    }

    /// Whether it may send a call that cannot be repeated safely.
    pub(crate) fn may_send(&self) -> bool {
        let term = self.leadership.term();
        let timeout = self.times.request_timeout();
        !self.dead && term.is_some_and(|term| term.may_send(self.now(), timeout))
    }

    /// Sends a delicate call, if it may, and learns nothing of what came of it.
    pub(crate) fn send(&self) {
        if self.may_send() {
            drop(self.calls.begin());
            let sent = (self.number, Instant::now());
            self.sent.lock().unwrap().push(sent);
        }
    }

    /// Whether another's call may still take effect.
    fn has_company(&self) -> bool {
        let timeout = Duration::from_millis(REQUEST_TIMEOUT.0);
        let sent = self.sent.lock().unwrap();
        let mut others = sent.iter().filter(|(by, _)| *by != self.number);
        others.any(|(_, at)| at.elapsed() < timeout)
    }

    pub(crate) fn link(&self, link: Link) {
        *self.link.lock().unwrap() = link;
    }

    /// Ends it without a word.
    pub(crate) fn kill(&mut self) {
        self.task.abort();
        self.dead = true;
    }

    pub(crate) fn request_stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.send(()).ok();
        }
    }

    /// Stops it as a person would want it, and waits for that.
    pub(crate) async fn stop(&mut self) {
        self.request_stop();
        (&mut self.task).await.unwrap();
    }
}

/// Those that lead now.
pub(crate) fn leaders(replicas: &[Replica]) -> Vec<&'static str> {
    let leading = replicas.iter().filter(|replica| replica.leads());
    leading.map(|replica| replica.name).collect()
}

/// Lets time pass, and asserts all the way that at most one leads, and that it sends nothing delicate
/// while a call of another may take effect.
pub(crate) async fn pass(span: Duration, replicas: &[Replica]) {
    let end = Instant::now() + span;
    loop {
        let leaders = leaders(replicas);
        assert!(leaders.len() <= 1, "{leaders:?} all lead");
        for replica in replicas.iter().filter(|replica| replica.may_send()) {
            assert!(!replica.has_company(), "{} does not wait", replica.name);
        }
        let now = Instant::now();
        if now >= end {
            return;
        }
        tokio::time::sleep(LOOK_EVERY.min(end - now)).await;
    }
}

/// The connection of one replica.
#[derive(Clone)]
struct Linked {
    inner: ClusterService,
    link: Arc<Mutex<Link>>,
}

impl Service<Request<Body>> for Linked {
    type Response = Response<ResponseBody>;
    type Error = LostAnswer;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, LostAnswer>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), LostAnswer>> {
        Service::<Request<Body>>::poll_ready(&mut self.inner, context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let link = *self.link.lock().unwrap();
        let mut inner = self.inner.clone();
        Box::pin(async move {
            match link {
                Link::Up => inner.call(request).await,
                Link::Cut => std::future::pending().await,
                Link::Deaf => {
                    inner.call(request).await.ok();
                    std::future::pending().await
                }
                Link::Slow(delay) => {
                    let answer = inner.call(request).await;
                    tokio::time::sleep(Duration::from_millis(delay)).await;
                    answer
                }
                Link::Late(delay) => {
                    // A task of its own: it arrives although the sender has given up.
                    let late = tokio::spawn(async move {
                        tokio::time::sleep(Duration::from_millis(delay)).await;
                        inner.call(request).await
                    });
                    late.await
                        .unwrap_or_else(|_| unreachable!("it is not stopped"))
                }
            }
        })
    }
}
