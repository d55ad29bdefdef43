//! The laboratory of Cluster API on AWS: an owner for the sample, and the manifests of clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::path::Path;

use api::capa::OwnerCluster;
use api::manifests;
use cloud_port::aws::AwsPlace;
use cloud_port::aws::network_load_balancer::NETWORK_LOAD_BALANCER;
use cloud_port::aws::target_group::TARGET_GROUP;
use cloud_sim::{Account, Actor, Settings, SharedAccount, VirtualClock};
use controllers::capa::Capa;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use laboratory::{During, Hands, One, Sample, merge};
use ownership::Kind;
use serde_json::{Value, json};

/// What a cluster owns in two zones: VPC, gateway, four subnets with their tables, two NAT gateways with
/// their addresses, four groups, a load balancer.
pub const TWO_ZONES: usize = network(2) + 1;

/// What only a cluster with a network load balancer has.
static LACKS: [&Kind; 2] = [&NETWORK_LOAD_BALANCER, &TARGET_GROUP];

/// What a cluster owns in so many zones, but for its load balancer.
#[must_use]
pub const fn network(zones: usize) -> usize {
    1 + 1 + 2 * zones + 2 * zones + zones + zones + 4
}

/// The definitions that the originals have, too.
const AWS_CLUSTERS: &str = "awsclusters.infrastructure.cluster.x-k8s.io";
const CLUSTERS: &str = "clusters.cluster.x-k8s.io";

/// The system, as the laboratory has it.
type System<C> = Capa<One<During<C>>>;

/// The laboratory without what is this system's own.
pub type Plain<C> = laboratory::Lab<System<C>, C>;

/// A laboratory.
pub struct Lab<C: AwsPlace + Clone + 'static> {
    /// What people do to the account, and what they see there.
    pub hands: Hands<C>,
    plain: Plain<C>,
}

impl<C: AwsPlace + Clone + 'static> Deref for Lab<C> {
    type Target = Plain<C>;

    fn deref(&self) -> &Self::Target {
        &self.plain
    }
}

impl<C: AwsPlace + Clone + 'static> DerefMut for Lab<C> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.plain
    }
}

/// What must be installed; the originals' own definitions, where `FREEHOLD_UPSTREAM_CRDS` names their
/// folder.
#[must_use]
pub fn definitions() -> Vec<String> {
    let mut all = manifests::CAPA_DEFINITIONS.map(str::to_owned).to_vec();
    if let Some(folder) = std::env::var_os("FREEHOLD_UPSTREAM_CRDS") {
        for name in [AWS_CLUSTERS, CLUSTERS] {
            let (plural, group) = name.split_once('.').unwrap();
            let path = Path::new(&folder).join(format!("{group}_{plural}.yaml"));
            let line = format!("\n  name: {name}\n");
            let ours = all.iter_mut().find(|text| text.contains(&line));
            *ours.unwrap() = std::fs::read_to_string(path).unwrap();
        }
    }
    all
}

/// Installs them.
pub async fn install(client: &Client) {
    let definitions = definitions();
    let definitions: Vec<&str> = definitions.iter().map(String::as_str).collect();
    let installed = manifests::install_all(client.clone(), &definitions).await;
    installed.unwrap();
}

impl<C: AwsPlace + Clone + 'static> Lab<C> {
    /// A laboratory around an account, in a namespace of its own with the cluster `prod`: `cloud` is what
    /// the controller talks to, `hands` what people do. The served kinds must be installed.
    pub async fn new(client: Client, cloud: C, hands: C, clock: VirtualClock, case: &str) -> Self {
        let hands = Hands::new(hands, clock.clone());
        let plain = plain(client, cloud, clock, case).await;
        Self { hands, plain }
    }

    /// Another cluster of the same name in another namespace, in the same account.
    pub async fn beside(&self, case: &str) -> Self {
        let (client, cloud) = (self.client.clone(), self.cloud().clone());
        let clock = self.clock().clone();
        Self {
            hands: self.hands.clone(),
            plain: plain(client, cloud, clock, case).await,
        }
    }

    /// The laboratory without what is this system's own.
    pub fn plain(self) -> Plain<C> {
        self.plain
    }

    /// The zones of the region.
    pub async fn zones(&self) -> Vec<String> {
        let zones = self.cloud().zones().await.unwrap();
        let mut zones: Vec<String> = zones.iter().map(ToString::to_string).collect();
        zones.sort();
        zones
    }

    /// Creates the sample with these fields in its spec.
    pub async fn create(&self, spec: Value) {
        let mut object = self.sample.manifest.clone();
        merge(&mut object["spec"], spec);
        self.create_object(&object).await;
    }

    /// Changes the spec by a merge patch.
    pub async fn edit(&self, spec: Value) {
        self.patch(json!({"spec": spec})).await;
    }

    /// Changes the owner by a merge patch.
    pub async fn edit_owner(&self, patch: Value) {
        let namespace = self.namespace.as_deref().unwrap();
        let owners: Api<OwnerCluster> = Api::namespaced(self.client.clone(), namespace);
        let patch = Patch::Merge(patch);
        let patched = owners.patch("prod", &PatchParams::default(), &patch).await;
        patched.unwrap();
    }

    /// The object, as JSON.
    pub async fn said(&self) -> Value {
        serde_json::to_value(self.object().await).unwrap()
    }

    /// What it says of its network.
    pub async fn network(&self) -> Value {
        self.said().await["spec"]["network"].take()
    }

    /// Everything of the system's Kinds that is in the account, byte by byte.
    pub async fn everything(&self) -> BTreeMap<String, String> {
        self.hands.everything(self.owns()).await
    }

    /// Says that everything in the account is as it was.
    pub async fn assert_same(&self, before: &BTreeMap<String, String>, law: &str) {
        let after = self.everything().await;
        let differ = |(id, said): &(&String, &String), others: &BTreeMap<String, String>| {
            others.get(*id) != Some(*said)
        };
        let gone: Vec<_> = before.iter().filter(|it| differ(it, &after)).collect();
        let new: Vec<_> = after.iter().filter(|it| differ(it, before)).collect();
        assert!(
            gone.is_empty() && new.is_empty(),
            "{law}: {gone:#?} became {new:#?}"
        );
    }

    /// Everything of the system's Kinds that is in the account, by Kind and id.
    pub async fn census(&self) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        for kind in self.owns() {
            let found = self.hands.all(kind).await;
            all.extend(found.iter().map(|it| format!("{kind} {}", it.id)));
        }
        all
    }

    /// The object is deleted, and nothing of it is left in the account.
    pub async fn end(&self) {
        self.delete().await;
        self.settle().await;
        assert!(self.is_gone().await, "{:?}", self.condition("Ready").await);
        let left = self.marked().await;
        assert!(left.is_empty(), "law 3: {left:#?}");
    }
}

impl Lab<SharedAccount> {
    /// A laboratory around a simulated account.
    pub async fn simulated(client: Client, settings: Settings, case: &str) -> Self {
        let clock = VirtualClock::new();
        let account = Account::new(settings, clock.clone());
        let cloud = SharedAccount::new(account, Actor::Engine(0));
        let hands = cloud.as_actor(Actor::Stranger);
        Self::new(client, cloud, hands, clock, case).await
    }
}

/// A laboratory in a namespace of its own, with a cluster that owns what is made there.
async fn plain<C: AwsPlace + Clone + 'static>(
    client: Client,
    cloud: C,
    clock: VirtualClock,
    case: &str,
) -> Plain<C> {
    let namespace = case.replace('_', "-");
    let api: Api<Namespace> = Api::all(client.clone());
    let named = json!({"metadata": {"name": namespace, "labels": {"team": "blue"}}});
    let named = serde_json::from_value(named).unwrap();
    api.create(&PostParams::default(), &named).await.unwrap();
    let owner = create_owner(&client, &namespace).await;
    let sample = Sample {
        manifest: manifest(&namespace, &owner, cloud.region()),
        owns: TWO_ZONES,
        lacks: &LACKS,
        edit: json!({"spec": {"network": {"nodePortIngressRuleCidrBlocks": ["10.0.0.0/8"]}}}),
    };
    let make = |during| Capa {
        accounts: One::new(during),
    };
    laboratory::Lab::new(client, cloud, clock, case, sample, make)
}

/// Creates the cluster `prod` of a namespace.
async fn create_owner(client: &Client, namespace: &str) -> OwnerCluster {
    let owners: Api<OwnerCluster> = Api::namespaced(client.clone(), namespace);
    let owner =
        serde_json::from_value(json!({"metadata": {"name": "prod"}, "spec": {"paused": false}}));
    let owner = owner.unwrap();
    owners.create(&PostParams::default(), &owner).await.unwrap()
}

/// An object without a name that belongs to a cluster, for two zones.
fn manifest(namespace: &str, owner: &OwnerCluster, region: &str) -> Value {
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "kind": "AWSCluster",
        "metadata": {
            "namespace": namespace,
            "labels": {"cluster.x-k8s.io/cluster-name": "prod"},
            "ownerReferences": [{
                "apiVersion": "cluster.x-k8s.io/v1beta2",
                "kind": "Cluster",
                "name": "prod",
                "uid": owner.uid().unwrap(),
            }],
        },
        "spec": {
            "region": region,
            "network": {"vpc": {"availabilityZoneUsageLimit": 2}},
        },
    })
}
