//! The half of the seeded runs that is Cluster API's own.

use std::time::Duration;

use api::capa::OwnerCluster;
use api::manifests;
use cloud_port::aws::classic_load_balancer::CLASSIC_LOAD_BALANCER;
use cloud_sim::Account;
use controllers::capa::Capa;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use laboratory::seeded::{self, Check, Event, Live, Random, Runs, Seeded, SignedIn, TERM};
use serde_json::{Value, json};
use tokio::time::sleep;

/// Who may reach the node ports.
const RANGES: [&[&str]; 3] = [&[], &["10.0.0.0/8"], &["10.0.0.0/8", "192.0.2.0/24"]];
const OWNERS: [(&str, &str); 3] = [("north", "one"), ("north", "two"), ("south", "one")];

/// What one run knows.
pub(crate) struct World {
    /// The owner that is paused.
    paused: Option<(&'static str, &'static str)>,
}

/// What happens only to clusters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Own {
    /// An owner is paused, or goes on.
    Pause,
}

/// Who is to reach the node ports.
#[derive(Debug)]
pub(crate) struct Wish(Vec<String>);

impl Wish {
    fn of(ranges: &[&str]) -> Self {
        Self(ranges.iter().map(|&range| range.to_owned()).collect())
    }
}

impl seeded::Wish for Wish {
    fn change(&mut self, random: &Random) {
        *self = Self::of(random.pick(&RANGES).unwrap());
    }

    fn patch(&self) -> Value {
        json!({"spec": {"network": {"nodePortIngressRuleCidrBlocks": self.0}}})
    }
}

impl Seeded for World {
    type System = Capa<SignedIn>;
    type Wish = Wish;
    type Own = Own;

    const TEST: &'static str = "capa_seeded";
    const RUNS: Runs = Runs {
        few: 8,
        tier: 60,
        full: 1_000,
        missing: 50,
    };
    const EVENTS: &'static [Event<Own>] = &[
        Event::Restart,
        Event::LoseLease,
        Event::RestoreOne,
        Event::RestoreAll,
        Event::Edit,
        Event::Create("north/two"),
        Event::Create("south/one"),
        Event::End,
        Event::Compact,
        Event::Own(Own::Pause),
        Event::Meddle,
        Event::Meddle,
    ];
    const SWEEPS: bool = false;
    const CHECKS: &'static [Check] = &[TERM];

    fn begin(_: &mut Account) -> Self {
        Self { paused: None }
    }

    fn system(accounts: SignedIn) -> Capa<SignedIn> {
        Capa { accounts }
    }

    async fn install(client: &Client) {
        let definitions = &manifests::CAPA_DEFINITIONS;
        let installed = manifests::install_all(client.clone(), definitions).await;
        installed.unwrap();
        let namespaces: Api<Namespace> = Api::all(client.clone());
        for name in ["north", "south"] {
            let namespace = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
            let created = namespaces.create(&PostParams::default(), &namespace).await;
            created.unwrap();
        }
        for (namespace, name) in OWNERS {
            let owner = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
            let api = owners(client, namespace);
            api.create(&PostParams::default(), &owner).await.unwrap();
        }
    }

    async fn start(world: &mut seeded::World<Self>) {
        world.create("north/one").await;
    }

    async fn create(world: &mut seeded::World<Self>, name: &'static str) -> Wish {
        let wish = Wish::of(world.random.pick(&RANGES).unwrap());
        let (namespace, name) = name.split_once('/').unwrap();
        let client = &world.person.client;
        // Whoever makes it asks until he is told.
        let owner = loop {
            if let Ok(owner) = owners(client, namespace).get(name).await {
                break owner;
            }
            sleep(Duration::from_secs(1)).await;
        };
        let object = json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
            "kind": "AWSCluster",
            "metadata": {
                "namespace": namespace,
                "name": name,
                "ownerReferences": [{
                    "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": name,
                    "uid": owner.uid().unwrap(),
                }],
            },
            "spec": {
                "region": "eu-central-1",
                "network": {
                    "vpc": {"availabilityZoneUsageLimit": 1},
                    "nodePortIngressRuleCidrBlocks": wish.0,
                },
            },
        });
        world.person.create(object).await;
        wish
    }

    fn set_back(&self, wish: &mut Wish, object: &Value) {
        let ranges = object["spec"]["network"]["nodePortIngressRuleCidrBlocks"].clone();
        wish.0 = serde_json::from_value(ranges).unwrap_or_default();
    }

    async fn meddle(world: &mut seeded::World<Self>, at: usize) {
        let (person, live) = (&world.person, &world.live[at]);
        match world.random.below(5) {
            0 => person.delete_resource(&CLASSIC_LOAD_BALANCER, &balancer(live.name)),
            1 => person.forget_claim(live.name).await,
            2 => {
                person
                    .patch_status(live.name, json!({"status": null}))
                    .await;
            }
            3 => {
                let none = json!({"spec": {"network": {"vpc": {"id": null}}}});
                person.patch(live.name, none).await;
            }
            _ => {
                let none = json!({"spec": {"network": {"subnets": null}}});
                person.patch(live.name, none).await;
            }
        }
    }

    async fn happen(world: &mut seeded::World<Self>, event: Own) {
        let Own::Pause = event;
        if world.own.paused.is_some() {
            Self::put_right(world).await;
            return;
        }
        world.seen.insert("a pause");
        let owner = *world.random.pick(&OWNERS).unwrap();
        pause(&world.person.client, owner, true).await;
        world.own.paused = Some(owner);
    }

    fn faulty(random: &Random) -> &'static str {
        random
            .pick(&["awsclusters", "awsclusters", "clusters"])
            .unwrap()
    }

    async fn put_right(world: &mut seeded::World<Self>) {
        if let Some(owner) = world.own.paused.take() {
            pause(&world.person.client, owner, false).await;
        }
    }

    async fn while_it_ends(world: &mut seeded::World<Self>, _: &str) {
        if world.random.chance(20) {
            Self::put_right(world).await;
        }
    }

    /// In one zone: a VPC with its gateway, two subnets with their tables, a NAT gateway with its address,
    /// four groups and a load balancer.
    fn resources(live: &Live<Self>) -> (Vec<String>, Vec<String>) {
        let cluster = live.name.split('/').nth(1).unwrap();
        let nameless = [
            "vpc",
            "internet-gateway",
            "subnet",
            "subnet",
            "route-table",
            "route-table",
            "elastic-ip",
            "nat-gateway",
        ];
        let nameless = nameless.map(|kind| format!("aws/{kind} "));
        let groups = ["controlplane", "node", "apiserver-lb", "lb"];
        let groups = groups.map(|role| format!("aws/security-group {cluster}-{role}"));
        let balancer = format!("aws/classic-load-balancer {}", balancer(live.name));
        let all = nameless.into_iter().chain(groups).chain([balancer]);
        (all.collect(), Vec::new())
    }
}

/// The name of an object's load balancer.
fn balancer(object: &str) -> String {
    format!("{}-apiserver", object.replace('/', "-"))
}

fn owners(client: &Client, namespace: &str) -> Api<OwnerCluster> {
    Api::namespaced(client.clone(), namespace)
}

/// Somebody pauses an owner, or lets it go on, until it is so.
async fn pause(client: &Client, (namespace, name): (&str, &str), is_paused: bool) {
    let patch = Patch::Merge(json!({"spec": {"paused": is_paused}}));
    let (owners, parameters) = (owners(client, namespace), PatchParams::default());
    while owners.patch(name, &parameters, &patch).await.is_err() {
        sleep(Duration::from_secs(1)).await;
    }
}
