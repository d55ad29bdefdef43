//! Law 8 from manifest to cloud: clusters at rest are looked at together, share what is read, and
//! cause no write, to the cloud or to Kubernetes.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use api::kkp::{AwsCredentials, Cluster};
use api::manifests;
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_port::driver::Term;
use cloud_port::{Clock, Inventory, aws};
use cloud_sim::{Account, Actor, Counters, SharedAccount, VirtualClock};
use controllers::kkp::{Accounts, Kkp};
use controllers::reconcile::{Next, Reconciler, Settings, WallClock};
use embedded_kube::TokioClock;
use jiff::Timestamp;
use kube::Client;
use kube::api::{Api, ListParams, PostParams};
use ownership::time::{Millis, Tick};
use ownership::{CloudError, Holder, Target};
use serde_json::json;

const RESYNC: Millis = Millis::seconds(300);
const CLUSTERS: [&str; 3] = ["a", "b", "c"];

/// The only account there is.
struct One(Arc<Inventory<SharedAccount>>);

impl Accounts for One {
    type Cloud = SharedAccount;

    async fn open(
        &self,
        _: &AwsCredentials,
        _: &str,
    ) -> Result<Arc<Inventory<SharedAccount>>, CloudError> {
        Ok(self.0.clone())
    }
}

#[derive(Clone)]
struct TestClock(VirtualClock);

impl Clock for TestClock {
    fn now(&self) -> Tick {
        self.0.now()
    }
}

impl WallClock for TestClock {
    fn wall(&self) -> Timestamp {
        let seconds = i64::try_from(self.0.now().0 / 1000).unwrap();
        Timestamp::from_second(1_790_000_000 + seconds).unwrap()
    }
}

struct World {
    client: Client,
    account: SharedAccount,
    clock: VirtualClock,
    reconciler: Reconciler<Kkp<One>, TestClock>,
}

impl World {
    async fn new() -> Self {
        let kube_clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        let client = embedded_kube::Cluster::new(Arc::new(kube_clock)).client();
        manifests::install(client.clone()).await.unwrap();
        let clock = VirtualClock::new();
        let account = Account::new(cloud_sim::Settings::default(), clock.clone());
        let account = SharedAccount::new(account, Actor::Engine(0));
        let inventory = Arc::new(Inventory::new(account.clone(), &aws::KINDS));
        let reconciler = Reconciler::new(
            Kkp {
                accounts: One(inventory),
            },
            client.clone(),
            TestClock(clock.clone()),
            Settings {
                holder: Holder::of_cluster("here"),
                taken_over: BTreeSet::new(),
                resync: Duration::from_millis(RESYNC.0),
                retry: Duration::from_secs(1),
            },
            Arc::new(Term::alone),
        );
        Self {
            client,
            account,
            clock,
            reconciler,
        }
    }

    fn api(&self) -> Api<Cluster> {
        Api::all(self.client.clone())
    }

    async fn create(&self, name: &str) {
        let cluster = json!({
            "metadata": {
                "name": name,
                "annotations": {"kubermatic.io/aws-region": "eu-central-1"},
            },
            "spec": {"cloud": {"dc": "frankfurt", "providerName": "aws", "aws": {
                "accessKeyID": "AKIAIOSFODNN7EXAMPLE", "secretAccessKey": "any",
                "vpcID": "", "roleARN": "", "routeTableID": "", "instanceProfileName": "",
                "securityGroupID": "",
            }}},
        });
        let cluster: Cluster = serde_json::from_value(cluster).unwrap();
        let created = self.api().create(&PostParams::default(), &cluster).await;
        created.unwrap();
    }

    /// Looks at a cluster until it is left alone until all are looked at.
    async fn converge(&self, name: &str) {
        for _ in 0..100 {
            let Next::After(wait) = self.reconciler.reconcile(name, None).await else {
                unreachable!("a live cluster is looked at again");
            };
            let wait = Millis(u64::try_from(wait.as_millis()).unwrap());
            if (self.clock.now() + wait).0.is_multiple_of(RESYNC.0) {
                return;
            }
            self.clock.advance(wait);
        }
        unreachable!("{name} does not come to rest");
    }

    /// The next time at which all are looked at comes.
    async fn resync(&self) -> Vec<Next> {
        let left = RESYNC.0 - self.clock.now().0 % RESYNC.0;
        self.clock.advance(Millis(left));
        let mut nexts = Vec::new();
        for name in CLUSTERS {
            nexts.push(self.reconciler.reconcile(name, None).await);
        }
        nexts
    }

    /// What the objects are, to the letter.
    async fn versions(&self) -> Vec<Option<String>> {
        let list = self.api().list(&ListParams::default()).await.unwrap();
        let versions = list.items.into_iter();
        versions
            .map(|item| item.metadata.resource_version)
            .collect()
    }

    fn counters(&self) -> Counters {
        *self.account.lock().counters()
    }

    fn group(&self, name: &str) -> Target {
        let account = self.account.lock();
        let mut groups = account.alive(SECURITY_GROUP.name);
        let group = groups.find(|group| &*group.name == name).unwrap();
        Target::new(SECURITY_GROUP.name, group.id.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn law_8_clusters_at_rest_share_what_is_read_and_write_nothing() {
    let world = World::new().await;
    for name in CLUSTERS {
        world.create(name).await;
        world.converge(name).await;
    }
    let versions = world.versions().await;
    let until_next = Next::After(Duration::from_millis(RESYNC.0));
    for period in 1..10 {
        let before = world.counters();
        assert_eq!(world.resync().await, [until_next; 3]);
        let after = world.counters();
        let reads = after.reads() - before.reads();
        let writes = after.writes() - before.writes();
        assert_eq!((reads, writes), (8, 0), "period {period}");
        assert_eq!(world.versions().await, versions, "period {period}");
    }

    // Drift in the last period is found, and nothing but it is repaired.
    let group = world.group("kubernetes-b");
    let rules = || world.account.lock().parts(&group, RULE).to_vec();
    let wanted = rules();
    let rule = wanted[0].key.clone();
    let removed = world
        .account
        .lock()
        .remove_parts(Actor::Stranger, &group, RULE, &[rule]);
    removed.unwrap();
    assert_ne!(rules().len(), wanted.len());
    let before = world.counters();
    world.resync().await;
    assert_eq!(world.counters().writes() - before.writes(), 1);
    assert_eq!(rules().len(), wanted.len());
}
