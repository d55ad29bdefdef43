//! Many clusters of one operator in one account: a namespace, and in it an owner and an object for each.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::capa::OwnerCluster;
use api::manifests;
use cloud_port::aws::classic_load_balancer::CLASSIC_LOAD_BALANCER;
use cloud_port::aws::elastic_ip::ELASTIC_IP;
use cloud_port::aws::internet_gateway::INTERNET_GATEWAY;
use cloud_port::aws::nat_gateway::NAT_GATEWAY;
use cloud_port::aws::vpc::VPC;
use cloud_sim::{Account, Actor, Pace, Quotas, Settings, SharedAccount, VirtualClock};
use controllers::capa::Capa;
use controllers::reconcile::Next;
use embedded_kube::{Cluster, TokioClock};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt as _};
use laboratory::{During, Lab, One, Sample};
use ownership::Kind;
use ownership::time::Millis;
use serde_json::json;

use crate::slow::{Latency, Slow, SlowKube, Time};

const NAMESPACE: &str = "bench";

/// How often each operation was called; whether it only reads.
pub(crate) type Calls = BTreeMap<&'static str, (bool, u64)>;

/// An operator of the system, its account, and an API server.
pub(crate) struct World {
    pub(crate) lab: Lab<Capa<One<During<Slow>>>, Slow>,
    people: Client,
}

impl World {
    /// A region with two zones, in which resources come as slowly as these.
    pub(crate) async fn new(latency: Latency, paces: Vec<(&'static Kind, Pace)>) -> Self {
        let began = "2026-01-01T00:00:00Z".parse().unwrap();
        let cluster = Cluster::new(Arc::new(TokioClock::starting_at(began)));
        let people = cluster.client();
        let definitions = manifests::CAPA_DEFINITIONS;
        manifests::install_all(people.clone(), &definitions)
            .await
            .unwrap();
        let named = json!({"metadata": {"name": NAMESPACE}});
        let named = serde_json::from_value(named).unwrap();
        let namespaces: Api<Namespace> = Api::all(people.clone());
        let created = namespaces.create(&PostParams::default(), &named).await;
        created.unwrap();

        let clock = VirtualClock::new();
        let time = Time(clock.clone());
        let settings = Settings {
            zones: 2,
            paces,
            quotas: Quotas::default()
                .resources(&VPC, 1000)
                .resources(&INTERNET_GATEWAY, 1000)
                .resources(&ELASTIC_IP, 1000)
                .resources(&NAT_GATEWAY, 1000)
                .resources(&CLASSIC_LOAD_BALANCER, 1000),
            ..Settings::default()
        };
        let account = Account::new(settings, clock.clone());
        let account = SharedAccount::new(account, Actor::Engine(0));
        let cloud = Slow::new(account, &time, latency);
        let link = SlowKube {
            inner: cluster.service(),
            time,
            latency: latency.kube,
        };
        let sample = Sample {
            manifest: json!({"metadata": {"namespace": NAMESPACE}}),
            ..Sample::default()
        };
        let client = Client::new(link, "default");
        let make = |during| Capa {
            accounts: One::new(during),
        };
        let lab = Lab::new(client, cloud, clock, "c0", sample, make);
        Self { lab, people }
    }

    /// Clusters that leave everything to us.
    pub(crate) async fn create(&self, clusters: usize) -> Vec<String> {
        let names: Vec<String> = (0..clusters).map(|at| format!("c{at}")).collect();
        for name in &names {
            self.create_one(name).await;
        }
        names
    }

    /// One of them, and who owns it.
    pub(crate) async fn create_one(&self, name: &str) {
        let owners: Api<OwnerCluster> = Api::namespaced(self.people.clone(), NAMESPACE);
        let owner = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        let owner = owners.create(&PostParams::default(), &owner).await.unwrap();
        let object = json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
            "kind": "AWSCluster",
            "metadata": {
                "name": name,
                "namespace": NAMESPACE,
                "labels": {"cluster.x-k8s.io/cluster-name": name},
                "ownerReferences": [{
                    "apiVersion": "cluster.x-k8s.io/v1beta2",
                    "kind": "Cluster",
                    "name": name,
                    "uid": owner.uid().unwrap(),
                }],
            },
            "spec": {"region": "eu-central-1"},
        });
        self.lab.create_object(&object).await;
    }

    /// Passes over the first cluster, with the time between them that the controller asks for, until it is
    /// Ready: how many, and how long they took.
    pub(crate) async fn until_ready(&self) -> (u64, Millis) {
        let clock = self.lab.clock();
        let began = clock.now();
        for passes in 1..1000 {
            let next = self.lab.pass().await;
            // To look takes no time of the cluster's.
            let now = clock.now();
            let ready = self.lab.condition("Ready").await;
            if ready.is_some_and(|ready| ready.holds) {
                return (passes, now - began);
            }
            if let Next::After(wait) = next {
                self.lab.wait(wait);
            }
        }
        panic!("the cluster does not become Ready");
    }

    pub(crate) fn account(&self) -> std::sync::MutexGuard<'_, Account> {
        self.lab.cloud().account.lock()
    }

    pub(crate) fn calls(&self) -> Calls {
        let mut calls = Calls::new();
        // Two services have an operation of one name.
        for (op, n) in self.account().counters().iter() {
            calls.entry(op.name()).or_insert((op.is_read(), 0)).1 += n;
        }
        calls
    }
}

/// What was called since.
pub(crate) fn since(before: &Calls, after: &Calls) -> Calls {
    let new = after.iter().map(|(operation, (reads, n))| {
        let known = before.get(operation).map_or(0, |(_, n)| *n);
        (*operation, (*reads, n - known))
    });
    new.filter(|(_, (_, n))| *n > 0).collect()
}

/// Reads and writes.
pub(crate) fn sums(calls: &Calls) -> (u64, u64) {
    let sum = |reads| {
        let those = calls.values().filter(|(only, _)| *only == reads);
        those.map(|(_, n)| n).sum()
    };
    (sum(true), sum(false))
}
