//! Trouble makes no hot loop: the whole controller runs for an hour on objects that people wrote
//! wrongly, and what it asks is counted.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use api::kkp::{Cluster as Object, Condition};
use cloud_port::driver::{Clock, Term};
use cloud_sim::{Account, Actor, SharedAccount, VirtualClock};
use controllers::kkp::Kkp;
use controllers::reconcile::{self, Monitor, Passed, Reconciler, Settings, TokioClock};
use embedded_kube::Cluster;
use kkp_suite::{One, WRONG_KEY};
use kube::Client;
use kube::api::{Api, PostParams};
use ownership::{Freehold, Holder};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const RESYNC: Duration = Duration::from_mins(5);

/// Counts passes.
#[derive(Default)]
struct Passes(AtomicU64);

impl Monitor for Passes {
    fn passed(&self, _: &Passed<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn forgotten(&self, _: &'static str, _: &str) {}
}

/// An API server, an account, and everything that an operator needs beside them.
struct Desk {
    client: Client,
    account: SharedAccount,
    passes: Arc<Passes>,
    clock: TokioClock,
}

impl Desk {
    async fn new() -> Self {
        let began = "2026-01-01T00:00:00Z".parse().unwrap();
        let server = Cluster::new(Arc::new(embedded_kube::TokioClock::starting_at(began)));
        let client = server.client();
        api::manifests::install(client.clone()).await.unwrap();
        let account = Account::new(cloud_sim::Settings::default(), VirtualClock::new());
        Self {
            client,
            account: SharedAccount::new(account, Actor::Engine(0)),
            passes: Arc::new(Passes::default()),
            clock: TokioClock::starting_at(began),
        }
    }

    fn operator(&self, term: Arc<dyn Fn() -> Term + Send + Sync>) -> JoinHandle<()> {
        let accounts = One::new(self.account.clone());
        let settings = Settings {
            holder: Holder::of_cluster("here"),
            taken_over: BTreeMap::new(),
            resync: RESYNC,
            retry: Duration::from_secs(1),
            rules: Freehold,
        };
        let (client, clock) = (self.client.clone(), self.clock);
        let reconciler = Reconciler::new(Kkp { accounts }, client, clock, settings, term)
            .monitored(self.passes.clone());
        tokio::spawn(reconcile::run(Arc::new(reconciler), std::future::pending()))
    }

    /// Creates the object that the tests look at.
    async fn create(&self, aws: Value, region: &str) -> Object {
        let mut object = json!({
            "metadata": {"name": "demo", "annotations": {"kubermatic.io/aws-region": region}},
            "spec": {"cloud": {"dc": "frankfurt", "aws": {
                "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
                "instanceProfileName": "",
            }}},
        });
        let fields = object["spec"]["cloud"]["aws"].as_object_mut().unwrap();
        fields.extend(aws.as_object().unwrap().clone());
        let object: Object = serde_json::from_value(object).unwrap();
        let clusters: Api<Object> = Api::all(self.client.clone());
        clusters
            .create(&PostParams::default(), &object)
            .await
            .unwrap()
    }

    async fn object(&self) -> Object {
        let clusters: Api<Object> = Api::all(self.client.clone());
        clusters.get("demo").await.unwrap()
    }

    fn passes(&self) -> u64 {
        self.passes.0.load(Ordering::Relaxed)
    }
}

fn ready(object: &Object) -> &Condition {
    &object.status.as_ref().unwrap().conditions["Ready"]
}

/// An hour of the controller with one object: how many passes it made, how often it asked the cloud,
/// and how often it wrote.
async fn hour_with(aws: Value, region: &str) -> (u64, u64, u64) {
    let desk = Desk::new().await;
    let operator = desk.operator(Arc::new(Term::alone));
    let version = |object: &Object| -> u64 {
        let version = object.metadata.resource_version.as_ref().unwrap();
        version.parse().unwrap()
    };
    let before = version(&desk.create(aws, region).await);
    tokio::time::sleep(Duration::from_hours(1)).await;
    operator.abort();
    let after = desk.object().await;
    assert_eq!(ready(&after).status, "False", "{:?}", ready(&after));
    let asked = desk.account.lock().counters().iter().map(|(_, n)| n).sum();
    let wrote = version(&after) - before;
    (desk.passes(), asked, wrote)
}

#[tokio::test(start_paused = true)]
async fn trouble_makes_no_hot_loop() {
    let periods = 3600 / RESYNC.as_secs();
    let secret = json!({"credentialsReference": {"namespace": "kubermatic", "name": "missing"}});
    let keys = json!({"accessKeyID": WRONG_KEY, "secretAccessKey": "hush"});
    let range = json!({"nodePortsAllowedIPRanges": {"cidrBlocks": ["10.0.0.0/33"]}});
    let here = "eu-central-1";
    // Nobody tells of a Secret that comes: it is looked for every 30 s.
    for (what, aws, region, looks) in [
        ("a missing Secret", secret, here, 3600 / 30),
        ("wrong credentials", keys, here, periods),
        ("an unknown region", json!({}), "mars-north-1", periods),
        ("an unparsable range", range, here, periods),
    ] {
        let (passes, asked, wrote) = hour_with(aws, region).await;
        assert!(passes <= looks + 2, "{what}: {passes} passes");
        assert_eq!(asked, 0, "{what}: the cloud was asked");
        // The status once, and its event.
        assert!(wrote <= 2, "{what}: {wrote} revisions");
    }
    let vpc = json!({"vpcID": "vpc-0123456789abcdef0", "disableIAMReconciling": true});
    let (passes, asked, wrote) = hour_with(vpc, here).await;
    assert!(passes <= periods + 10, "{passes} passes");
    assert!(asked <= 4 * periods + 20, "asked {asked} times");
    // Pin, status, events.
    assert!(wrote <= 6, "{wrote} revisions");
}

/// A new leader announces nothing before it may send it (A3), and then does all of it at once: what
/// is announced without being sent holds its slot for the settling time.
#[tokio::test(start_paused = true)]
async fn a_new_leader_waits_once() {
    let desk = Desk::new().await;
    let began = desk.clock.now();
    let operator = desk.operator(Arc::new(move || Term {
        began: Some(began),
        ends: None,
    }));
    desk.create(json!({}), "eu-central-1").await;
    tokio::time::sleep(Duration::from_secs(29)).await;
    let waiting = desk.object().await;
    let record = serde_json::to_string(&waiting.metadata.annotations).unwrap();
    assert!(!record.contains("intent"), "{record}");
    assert!(desk.passes() <= 3, "{} passes", desk.passes());
    assert_eq!(ready(&waiting).status, "False");

    tokio::time::sleep(Duration::from_secs(31)).await;
    let object = desk.object().await;
    assert_eq!(ready(&object).status, "True", "{:?}", ready(&object));
    operator.abort();
}
