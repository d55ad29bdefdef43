//! One replica after another: when the next one may make something, seen in the account.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cloud_port::aws::image::ImageQuery;
use cloud_port::aws::{Access, Accounts, AwsPlace};
use cloud_port::{Calls, Cloud, Deadline, Effect, Inventory, Survey, aws};
use cloud_sim::SharedAccount;
use freehold::accounts::{Call, Countable};
use freehold::operator::Settings;
use lease::Times;
use ownership::time::Millis;
use ownership::{Answer, Class, CloudError, Kind, Query, Step, Text};
use tokio::time::{Instant, sleep};

use super::{Replica, World, eventually};

/// How the answers to Steps fare; the Steps take effect all the same.
pub(super) const ANSWERED: u8 = 0;
pub(super) const LOST: u8 = 1;
pub(super) const HANGS: u8 = 2;

/// What somebody does while a Step is on its way, and how the answer to it fares: Steps are counted
/// from 0.
#[derive(Clone)]
pub(super) struct Meanwhile(Arc<dyn Fn(usize) -> Doing + Send + Sync>);

pub(super) type Doing = Pin<Box<dyn Future<Output = u8> + Send>>;

impl Meanwhile {
    pub(super) fn new(does: impl Fn(usize) -> Doing + Send + Sync + 'static) -> Self {
        Self(Arc::new(does))
    }
}

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meanwhile")
    }
}

/// The simulated account as one process sees it, over a bad line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    account: SharedAccount,
    fate: Arc<AtomicU8>,
    /// How many Steps were not answered.
    unanswered: Arc<Mutex<u32>>,
    /// How many Steps there were.
    steps: Arc<AtomicUsize>,
    meanwhile: Option<Meanwhile>,
    /// What somebody does while everything of a Kind is listed, in turn.
    listing: Option<Meanwhile>,
    listed: Arc<AtomicUsize>,
}

impl Cloud for Line {
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        self.account.read(query).await
    }

    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        let nth = self.steps.fetch_add(1, Ordering::Relaxed);
        let fate = match &self.meanwhile {
            Some(meanwhile) => meanwhile.0(nth).await,
            None => self.fate.load(Ordering::Relaxed),
        };
        let outcome = self.account.perform(step, by).await;
        if fate == ANSWERED {
            return outcome;
        }
        *self.unanswered.lock().unwrap() += 1;
        if fate == HANGS {
            std::future::pending::<()>().await;
        }
        Err(CloudError::new(Class::Unknown, "Timeout", "no answer"))
    }
}

impl Survey for Line {
    async fn survey(&self, kind: &'static Kind) -> Result<Answer, CloudError> {
        if let Some(listing) = &self.listing {
            let nth = self.listed.fetch_add(1, Ordering::Relaxed);
            if listing.0(nth).await == LOST {
                return Err(CloudError::new(Class::Retryable, "Busy", "not now"));
            }
        }
        self.account.survey(kind).await
    }
}

impl AwsPlace for Line {
    fn partition(&self) -> &str {
        self.account.partition()
    }

    fn account(&self) -> &str {
        self.account.account()
    }

    fn region(&self) -> &str {
        self.account.region()
    }

    async fn zones(&self) -> Result<Vec<Text>, CloudError> {
        self.account.zones().await
    }

    async fn image(&self, query: &ImageQuery) -> Result<Option<Text>, CloudError> {
        self.account.image(query).await
    }
}

/// The accounts of one process.
#[derive(Clone, Debug)]
pub(super) struct Process {
    line: Line,
    inventory: Arc<Inventory<Line>>,
    under_way: Calls,
}

impl Process {
    pub(super) fn new(world: &World) -> Self {
        Self::of(world, None, None)
    }

    /// One during whose Steps somebody does something.
    pub(super) fn disturbed(world: &World, meanwhile: Meanwhile) -> Self {
        Self::of(world, Some(meanwhile), None)
    }

    /// One that lists everything while somebody does something.
    pub(super) fn listing(world: &World, listing: Meanwhile) -> Self {
        Self::of(world, None, Some(listing))
    }

    /// How many Steps it has sent.
    pub(super) fn steps(&self) -> usize {
        self.line.steps.load(Ordering::Relaxed)
    }

    fn of(world: &World, meanwhile: Option<Meanwhile>, listing: Option<Meanwhile>) -> Self {
        let line = Line {
            account: world.accounts.account().clone(),
            fate: Arc::default(),
            unanswered: Arc::default(),
            steps: Arc::default(),
            meanwhile,
            listing,
            listed: Arc::default(),
        };
        let under_way = Calls::new(Arc::new(world.clock));
        let inventory = Inventory::new(line.clone(), &aws::KINDS).counted(under_way.clone());
        Self {
            line,
            inventory: Arc::new(inventory),
            under_way,
        }
    }
}

impl Accounts for Process {
    type Cloud = Line;

    async fn open(&self, _: &Access) -> Result<Arc<Inventory<Line>>, CloudError> {
        Ok(Arc::clone(&self.inventory))
    }
}

impl Countable for Process {
    fn under_way(&self) -> &Calls {
        &self.under_way
    }

    fn calls(&self) -> BTreeMap<Call, u64> {
        BTreeMap::new()
    }
}

/// A replica that leads and has made everything for the first cluster.
async fn at_rest(world: &World) -> (Replica, Process) {
    world.create_cluster().await;
    let process = Process::new(world);
    let first = world.replica_of(process.clone(), Settings::of("first"));
    eventually("ready", async || {
        world.ready().await.as_deref() == Some("True")
    })
    .await;
    (first, process)
}

/// How long after now the next replica makes its first resource, for another cluster.
async fn first_create(world: &World, settings: Settings) -> Duration {
    let made = world.made();
    world.create_cluster_named("other").await;
    let next = world.replica_of(Process::new(world), settings);
    let began = Instant::now();
    while world.made() == made {
        assert!(began.elapsed() < super::PATIENCE, "nothing is made");
        sleep(Duration::from_millis(100)).await;
    }
    let took = began.elapsed();
    next.stop().await;
    took
}

#[tokio::test(start_paused = true)]
async fn after_a_stop_with_nothing_under_way_the_next_one_works_at_once() {
    let world = World::with_kinds().await;
    let (first, _) = at_rest(&world).await;
    first.stop().await;
    let took = first_create(&world, Settings::of("next")).await;
    assert!(took <= Duration::from_secs(3), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_stop_with_calls_of_unknown_outcome_the_next_one_waits() {
    for fate in [LOST, HANGS] {
        let world = World::with_kinds().await;
        let (first, process) = at_rest(&world).await;
        process.line.fate.store(fate, Ordering::Relaxed);
        world.create_cluster_named("lost").await;
        eventually("a call goes unanswered", async || {
            *process.line.unanswered.lock().unwrap() > 0
        })
        .await;
        let took = first.stop().await;
        // A pass that hangs is waited for, and dropped.
        assert_eq!(took >= Duration::from_secs(20), fate == HANGS, "{took:?}");
        let took = first_create(&world, Settings::of("next")).await;
        assert!(took >= Duration::from_secs(30), "{fate}: {took:?}");
        assert!(took <= Duration::from_secs(33), "{fate}: {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_of_unknown_outcome_is_waited_for_only_while_it_can_take_effect() {
    let world = World::with_kinds().await;
    let (first, process) = at_rest(&world).await;
    process.line.fate.store(LOST, Ordering::Relaxed);
    world.create_cluster_named("lost").await;
    eventually("a call goes unanswered", async || {
        *process.line.unanswered.lock().unwrap() > 0
    })
    .await;
    process.line.fate.store(ANSWERED, Ordering::Relaxed);
    sleep(Duration::from_secs(31)).await;
    first.stop().await;
    let took = first_create(&world, Settings::of("next")).await;
    assert!(took <= Duration::from_secs(3), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_the_next_one_waits_for_the_lease_and_for_the_calls() {
    let world = World::with_kinds().await;
    let (first, _) = at_rest(&world).await;
    first.task.abort();
    assert!(first.task.await.unwrap_err().is_cancelled());
    let took = first_create(&world, Settings::of("next")).await;
    // The last renewal was at most ten seconds ago.
    assert!(took >= Duration::from_secs(50 + 30), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_shorter_request_timeout_is_a_shorter_wait() {
    let world = World::with_kinds().await;
    let times = Times::new(Millis::seconds(40), Millis::seconds(5)).unwrap();
    let settings = |identity| Settings {
        times,
        ..Settings::of(identity)
    };
    // A first Lease says nothing of who was there before: the usual T.
    let took = first_create(&world, settings("first")).await;
    assert!(took >= Duration::from_secs(30), "{took:?}");
    assert!(took <= Duration::from_secs(33), "{took:?}");
    let next = world.replica_of(Process::new(&world), settings("next"));
    eventually("it leads", async || next.is("leading").await).await;
    next.task.abort();
    assert!(next.task.await.unwrap_err().is_cancelled());
    let made = world.made();
    world.create_cluster().await;
    let last = world.replica_of(Process::new(&world), settings("last"));
    eventually("it leads", async || last.is("leading").await).await;
    let leads = Instant::now();
    eventually("something is made", async || world.made() > made).await;
    let took = leads.elapsed();
    assert!(took >= Duration::from_secs(4), "{took:?}");
    assert!(took <= Duration::from_secs(8), "{took:?}");
    last.stop().await;
}
