//! The whole operator on an embedded API server and a simulated account, without a network, on a
//! virtual clock: Lease, controllers, health, metrics, stop.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod handover;
mod looking;
mod midway;
mod originals;
mod taking_over;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use api::kkp::Cluster as Object;
use axum::body::Body;
use cloud_sim::Actor;
use embedded_kube::Cluster;
use freehold::accounts::{Countable, Simulated};
use freehold::clock::ProcessClock;
use freehold::look::{self, Whose};
use freehold::operator::{Health, LEASE, Operator, Settings};
use freehold::take_over;
use http::Request;
use http_body_util::BodyExt as _;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use ownership::Holder;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tower_service::Service as _;

/// In virtual time.
const PATIENCE: Duration = Duration::from_mins(10);

struct World {
    client: Client,
    clock: ProcessClock,
    accounts: Simulated,
}

impl World {
    /// An API server with the operator's namespace.
    async fn new() -> Self {
        let clock = ProcessClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        let client = Cluster::new(Arc::new(clock)).client();
        let world = Self {
            client,
            clock,
            accounts: Simulated::new(clock),
        };
        world
            .create::<Namespace>(
                Api::all(world.client.clone()),
                json!({
                    "metadata": {"name": "freehold-system"},
                }),
            )
            .await;
        world
    }

    /// The same, with the served kinds.
    async fn with_kinds() -> Self {
        let world = Self::new().await;
        api::manifests::install(world.client.clone()).await.unwrap();
        world
    }

    async fn create<K>(&self, api: Api<K>, object: Value)
    where
        K: kube::Resource
            + serde::de::DeserializeOwned
            + serde::Serialize
            + Clone
            + std::fmt::Debug,
    {
        let object: K = serde_json::from_value(object).unwrap();
        api.create(&PostParams::default(), &object).await.unwrap();
    }

    /// What marks call this management cluster.
    async fn holder(&self) -> Holder {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let uid = namespaces.get("kube-system").await.unwrap().uid().unwrap();
        Holder::of_cluster(&uid)
    }

    fn clusters(&self) -> Api<Object> {
        Api::all(self.client.clone())
    }

    async fn create_cluster(&self) {
        self.create_cluster_named("demo").await;
    }

    async fn create_cluster_named(&self, name: &str) {
        let cluster = json!({
            "metadata": {"name": name, "annotations": {"kubermatic.io/aws-region": "eu-central-1"}},
            "spec": {"cloud": {"dc": "d", "aws": {
                "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
                "instanceProfileName": "",
            }}},
        });
        self.create(self.clusters(), cluster).await;
    }

    async fn restore(&self, backup: &Object) {
        let clusters = self.clusters();
        let restored = clusters.create(&PostParams::default(), backup).await;
        restored.unwrap();
    }

    async fn ready(&self) -> Option<String> {
        let cluster = self.clusters().get_opt("demo").await.unwrap()?;
        let status = cluster.status?;
        Some(status.conditions.get("Ready")?.status.clone())
    }

    async fn lease_holder(&self) -> Option<String> {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), "freehold-system");
        let lease = leases.get_opt(LEASE).await.unwrap()?;
        lease.spec?.holder_identity
    }

    fn replica(&self, identity: &str) -> Replica {
        self.replica_of(self.accounts.clone(), Settings::of(identity))
    }

    fn replica_of(&self, accounts: impl Countable, settings: Settings) -> Replica {
        let operator = Operator::new(self.client.clone(), accounts, self.clock, settings);
        let health = Arc::clone(operator.health());
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            operator
                .run(async { stopped.await.unwrap() })
                .await
                .unwrap();
        });
        Replica { health, stop, task }
    }

    /// How many calls have changed something, or tried to.
    fn writes(&self) -> u64 {
        self.accounts.account().lock().counters().writes()
    }

    /// How many resources there are that an engine made.
    fn made(&self) -> usize {
        let account = self.accounts.account().lock();
        let engines = |actor| matches!(actor, Actor::Engine(_));
        account
            .lives()
            .filter(|life| life.is_alive() && engines(life.by))
            .count()
    }
}

struct Replica {
    health: Arc<Health>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Replica {
    async fn page(&self, path: &str) -> (u16, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = self.health.router().call(request).await.unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    async fn is(&self, stage: &str) -> bool {
        self.page("/readyz").await.1.starts_with(stage)
    }

    /// Stops it, and says how long that took.
    async fn stop(self) -> Duration {
        let began = Instant::now();
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
        began.elapsed()
    }
}

async fn eventually(what: &str, mut is: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !is().await {
        assert!(began.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_replica_works_and_tells() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    let replica = world.replica("a");
    assert_eq!(replica.page("/healthz").await, (200, "ok\n".to_owned()));
    assert_eq!(replica.page("/readyz").await.0, 503, "it has just started");
    eventually("it leads", async || replica.is("leading").await).await;
    assert_eq!(world.lease_holder().await.as_deref(), Some("a"));
    eventually("ready", async || {
        world.ready().await.as_deref() == Some("True")
    })
    .await;
    let (status, metrics) = replica.page("/metrics").await;
    assert_eq!(status, 200);
    for line in [
        "freehold_leader 1",
        r#"freehold_objects{kind="Cluster.kubermatic.k8c.io",condition="Ready",status="True"} 1"#,
        r#"freehold_passes_total{kind="Cluster.kubermatic.k8c.io",outcome="Converged"} "#,
        r#"freehold_cloud_calls_total{service="simulated",operation="CreateSecurityGroup",outcome="ok"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }

    assert_eq!(replica.page("/elsewhere").await.0, 404);
    replica.stop().await;
    assert_eq!(world.lease_holder().await, None, "it is released");
}

#[tokio::test(start_paused = true)]
async fn the_second_replica_goes_on_where_the_first_stopped() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    let first = world.replica("first");
    eventually("it leads", async || first.is("leading").await).await;
    let second = world.replica("second");
    eventually("it stands by", async || second.is("standing by").await).await;
    eventually("ready", async || {
        world.ready().await.as_deref() == Some("True")
    })
    .await;
    assert!(second.is("standing by").await);
    assert!(
        second
            .page("/metrics")
            .await
            .1
            .contains("freehold_leader 0")
    );

    let took = first.stop().await;
    assert!(
        took < Duration::from_secs(1),
        "nothing to wait for: {took:?}"
    );
    eventually("it leads", async || second.is("leading").await).await;
    assert_eq!(world.lease_holder().await.as_deref(), Some("second"));
    assert!(world.made() > 0);
    let deleted = world
        .clusters()
        .delete("demo", &DeleteParams::default())
        .await;
    deleted.unwrap();
    eventually("gone", async || world.ready().await.is_none()).await;
    assert_eq!(world.made(), 0);
    let metrics = second.page("/metrics").await.1;
    assert!(metrics.contains("freehold_leader 1"), "{metrics}");
    eventually("forgotten", async || {
        !second
            .page("/metrics")
            .await
            .1
            .contains("freehold_objects{")
    })
    .await;
    second.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_dies_is_replaced_when_its_lease_has_run_out() {
    let world = World::with_kinds().await;
    let first = world.replica("first");
    eventually("it leads", async || first.is("leading").await).await;
    first.task.abort();
    assert!(first.task.await.unwrap_err().is_cancelled());
    let second = world.replica("second");
    let began = Instant::now();
    eventually("it leads", async || second.is("leading").await).await;
    let took = began.elapsed();
    assert!(
        took >= Duration::from_secs(40),
        "not before its time: {took:?}"
    );
    second.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_is_said_and_waited_for() {
    let world = World::with_kinds().await;
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    let deleted = namespaces
        .delete("freehold-system", &DeleteParams::default())
        .await;
    deleted.unwrap();
    let replica = world.replica("a");
    let missing = "waiting: there is no namespace freehold-system for the Lease: \
                   kubectl create namespace freehold-system";
    eventually("no namespace", async || replica.is(missing).await).await;
    assert_eq!(replica.page("/readyz").await.0, 503);
    world
        .create(namespaces, json!({"metadata": {"name": "freehold-system"}}))
        .await;
    eventually("it leads", async || replica.is("leading").await).await;

    // The next leader finds that the kind is gone.
    let next = world.replica("b");
    eventually("it stands by", async || next.is("standing by").await).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(world.client.clone());
    let deleted = definitions
        .delete("clusters.kubermatic.k8c.io", &DeleteParams::default())
        .await;
    deleted.unwrap();
    replica.stop().await;
    let missing = "waiting: the kind clusters.kubermatic.k8c.io is not installed: \
                   freehold crds | kubectl create -f -";
    eventually("no kinds", async || next.is(missing).await).await;
    let took = next.stop().await;
    assert!(took < Duration::from_secs(1), "{took:?}");
    let replica = world.replica("c");
    eventually("no kinds", async || replica.is(missing).await).await;
    api::manifests::install(world.client.clone()).await.unwrap();
    eventually("it leads", async || replica.is("leading").await).await;
    world.create_cluster().await;
    eventually("ready", async || {
        world.ready().await.as_deref() == Some("True")
    })
    .await;
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_clone_with_a_name_of_its_own_touches_nothing_of_the_original() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    let original = world.replica("original");
    eventually("ready", async || {
        world.ready().await.as_deref() == Some("True")
    })
    .await;
    original.stop().await;
    let (made, writes) = (world.made(), world.writes());
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    let uid = namespaces.get("kube-system").await.unwrap().uid().unwrap();
    let original = Holder::of_cluster(&uid);

    // The same objects with the same uids: what a snapshot of etcd has.
    let settings = |name: Option<&str>| Settings {
        name: name.map(str::to_owned),
        ..Settings::of("clone")
    };
    let clone = world.replica_of(world.accounts.clone(), settings(Some("clone")));
    eventually("told", async || {
        world.ready().await.as_deref() == Some("False")
    })
    .await;
    let status = world.clusters().get("demo").await.unwrap().status.unwrap();
    let message = status.conditions["Ready"].message.clone().unwrap();
    assert!(message.contains(original.as_str()), "{message}");
    let deleted = world
        .clusters()
        .delete("demo", &DeleteParams::default())
        .await;
    deleted.unwrap();
    sleep(Duration::from_mins(10)).await;
    assert_eq!((world.made(), world.writes()), (made, writes));
    clone.stop().await;

    let without = world.replica_of(world.accounts.clone(), settings(None));
    eventually("gone", async || world.ready().await.is_none()).await;
    assert_eq!(world.made(), 0);
    without.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_is_explained_before_and_after() {
    let world = World::with_kinds().await;
    world.create_cluster().await;
    let namespaces: Api<Namespace> = Api::all(world.client.clone());
    let uid = namespaces.get("kube-system").await.unwrap().uid().unwrap();
    let whose = Whose {
        holder: Holder::of_cluster(&uid),
        taken_over: BTreeMap::new(),
    };
    let look = async |name: &str| {
        let (client, accounts) = (world.client.clone(), world.accounts.clone());
        look::texts(
            &controllers::kkp::ENTRY,
            &accounts,
            client,
            world.clock,
            whose.clone(),
            name,
        )
        .await
    };
    let error = look("nobody").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no Cluster.kubermatic.k8c.io \"nobody\""
    );
    let (explained, tree) = look("demo").await.unwrap();
    for words in [
        "slot security-group (security group)\n  nothing fills it yet\n  next: create security group kubernetes-demo\n",
        "because no existing security-group found",
        "next: mark tag kubernetes.io/cluster/demo on 3 subnets subnet-",
    ] {
        assert!(explained.contains(words), "{words}\n{explained}");
    }
    assert!(tree.contains("to be created"), "{tree}");
    assert_eq!(world.made(), 0, "nothing was done");

    let replica = world.replica("a");
    eventually("ready", async || {
        world.ready().await.as_deref() == Some("True")
    })
    .await;
    replica.stop().await;
    let (explained, tree) = look("demo").await.unwrap();
    assert!(!explained.contains("nothing fills it"), "{explained}");
    assert!(!explained.contains("because"), "{explained}");
    assert!(explained.contains("Owned, by its mark: slot security-group, attempt 1"));
    assert!(tree.contains("rule ingress tcp 22-22 0.0.0.0/0"), "{tree}");
    assert!(!tree.contains("to be created"), "{tree}");

    let pause = Patch::Merge(json!({"spec": {"pause": true}}));
    let paused = world
        .clusters()
        .patch("demo", &PatchParams::default(), &pause)
        .await;
    paused.unwrap();
    let (explained, _) = look("demo").await.unwrap();
    assert!(explained.contains("nothing is done: spec.pause is set"));
}
