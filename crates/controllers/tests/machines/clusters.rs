//! A cluster and its machines under both controllers: made together, and ended in every order.

use std::sync::Arc;
use std::time::Duration;

use api::capa::{AwsCluster, AwsMachine, OwnerCluster, OwnerMachine};
use cloud_port::aws::instance::INSTANCE;
use cloud_port::driver::Term;
use cloud_sim::{Account, Actor, Settings as Sky, SharedAccount, VirtualClock};
use controllers::capa::Capa;
use controllers::capa::machine::CapaMachines;
use controllers::reconcile::{self, Reconciler, Settings, Sources, TokioClock};
use embedded_kube::Cluster;
use kube::api::{Api, DeleteParams};
use kube::{Client, Resource, ResourceExt as _};
use laboratory::One;
use ownership::{Freehold, Holder};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::time::sleep;

use crate::world;

const NAMESPACE: &str = "default";
/// Longer than anything takes.
const LONG: Duration = Duration::from_mins(30);

struct World {
    client: Client,
    account: SharedAccount,
}

fn run<S: Sources>(client: &Client, system: S) {
    let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let settings = Settings {
        holder: Holder::of_cluster("here"),
        taken_over: std::collections::BTreeMap::new(),
        resync: Duration::from_mins(5),
        retry: Duration::from_secs(1),
        rules: Freehold,
    };
    let term = Arc::new(Term::alone);
    let reconciler = Reconciler::new(system, client.clone(), clock, settings, term);
    tokio::spawn(reconcile::run(Arc::new(reconciler), std::future::pending()));
}

impl World {
    /// A cluster with a machine of the control plane and a worker, all ready.
    async fn new(balancer: &str) -> Self {
        let began = "2026-01-01T00:00:00Z".parse().unwrap();
        let cluster = Cluster::new(Arc::new(embedded_kube::TokioClock::starting_at(began)));
        let client = cluster.client();
        world::install(&client).await;
        let sky = Sky {
            zones: 1,
            ..Sky::default()
        };
        let account = SharedAccount::new(Account::new(sky, VirtualClock::new()), Actor::Engine(0));
        let accounts = || One::new(account.clone());
        run(
            &client,
            Capa {
                accounts: accounts(),
            },
        );
        run(
            &client,
            CapaMachines {
                accounts: accounts(),
            },
        );
        let owner = world::owner_cluster(&client, NAMESPACE).await;
        // As people apply it: machines before there is a network.
        for (name, is_control_plane) in [("cp", true), ("worker", false)] {
            let machine = world::owner_machine(&client, NAMESPACE, name, is_control_plane).await;
            let mut object = world::manifest(NAMESPACE, &machine);
            object["metadata"]["name"] = json!(name);
            let _: AwsMachine = world::create(&client, NAMESPACE, object).await;
        }
        let object = json!({
            "metadata": {
                "name": "prod",
                "ownerReferences": [{
                    "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "prod",
                    "uid": owner.uid().unwrap(),
                }],
            },
            "spec": {
                "region": "eu-central-1",
                "controlPlaneLoadBalancer": {"loadBalancerType": balancer},
            },
        });
        let _: AwsCluster = world::create(&client, NAMESPACE, object).await;
        sleep(LONG).await;
        let world = Self { client, account };
        for name in ["cp", "worker"] {
            let said = world::object(&world.client, NAMESPACE, name).await;
            assert_eq!(said["status"]["ready"], true, "{said:#}");
            assert!(said["spec"]["providerID"].is_string(), "{said:#}");
        }
        world
    }

    async fn delete<K>(&self, name: &str)
    where
        K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.client.clone(), NAMESPACE);
        let _ = api.delete(name, &DeleteParams::default()).await;
    }

    /// How many instances live.
    fn instances(&self) -> usize {
        self.account.lock().alive(&INSTANCE).count()
    }

    /// Everything is gone, here and there.
    async fn ended(&self) {
        sleep(LONG).await;
        let machines: Api<AwsMachine> = Api::namespaced(self.client.clone(), NAMESPACE);
        for name in ["cp", "worker"] {
            let left = machines.get_opt(name).await.unwrap();
            assert!(left.is_none(), "{left:#?}");
        }
        let clusters: Api<AwsCluster> = Api::namespaced(self.client.clone(), NAMESPACE);
        let left = clusters.get_opt("prod").await.unwrap();
        assert!(left.is_none(), "{left:#?}");
        let account = self.account.lock();
        let ours = account.lives();
        let ours = ours.filter(|life| life.is_alive() && matches!(life.by, Actor::Engine(_)));
        let left: Vec<String> = ours.map(|life| life.target.to_string()).collect();
        assert!(left.is_empty(), "law 3: {left:#?}");
        let ever = account.lives().filter(|life| life.target.kind == &INSTANCE);
        assert_eq!(ever.count(), 2, "never one more");
    }
}

#[tokio::test(start_paused = true)]
async fn machines_end_before_their_cluster() {
    let world = World::new("classic").await;
    world.delete::<AwsMachine>("worker").await;
    sleep(LONG).await;
    assert_eq!(world.instances(), 1);
    world.delete::<AwsMachine>("cp").await;
    sleep(LONG).await;
    assert_eq!(world.instances(), 0);
    world.delete::<AwsCluster>("prod").await;
    world.ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_waits_for_its_machines() {
    let world = World::new("nlb").await;
    world.delete::<AwsCluster>("prod").await;
    sleep(LONG).await;
    assert_eq!(world.instances(), 2);
    let clusters: Api<AwsCluster> = Api::namespaced(world.client.clone(), NAMESPACE);
    let said = serde_json::to_string(&clusters.get("prod").await.unwrap()).unwrap();
    assert!(
        said.contains("AWSMachine default/cp, default/worker"),
        "{said}"
    );
    world.delete::<AwsMachine>("cp").await;
    world.delete::<AwsMachine>("worker").await;
    world.ended().await;
}

#[tokio::test(start_paused = true)]
async fn owners_go_first() {
    let world = World::new("nlb").await;
    for name in ["cp", "worker"] {
        world.delete::<OwnerMachine>(name).await;
    }
    world.delete::<OwnerCluster>("prod").await;
    for name in ["worker", "cp"] {
        world.delete::<AwsMachine>(name).await;
    }
    world.delete::<AwsCluster>("prod").await;
    world.ended().await;
}

#[tokio::test(start_paused = true)]
async fn all_at_once() {
    let world = World::new("classic").await;
    world.delete::<AwsCluster>("prod").await;
    world.delete::<AwsMachine>("worker").await;
    world.delete::<AwsMachine>("cp").await;
    world.ended().await;
}
