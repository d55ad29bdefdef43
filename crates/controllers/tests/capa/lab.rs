//! The laboratory of Cluster API on AWS.

use std::sync::Arc;

use api::capa::OwnerCluster;
use api::manifests;
use cloud_port::aws::network_load_balancer::NETWORK_LOAD_BALANCER;
use cloud_port::aws::target_group::TARGET_GROUP;
use cloud_sim::{Settings, SharedAccount};
use controllers::capa::Capa;
use embedded_kube::{Cluster, TokioClock};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use laboratory::{During, One, Sample, merge};
use ownership::Kind;
use serde_json::{Value, json};

pub(crate) type Lab = laboratory::Lab<Capa<One<During<SharedAccount>>>, SharedAccount>;

/// What a cluster owns in two zones: VPC, gateway, four subnets with their tables, two NAT gateways with
/// their addresses, four groups, a load balancer.
pub(crate) const TWO_ZONES: usize = 1 + 1 + 4 + 4 + 2 + 2 + 4 + 1;

/// What only a cluster with a network load balancer has.
static LACKS: [&Kind; 2] = [&NETWORK_LOAD_BALANCER, &TARGET_GROUP];

/// On the embedded API server, in a region with two zones.
pub(crate) async fn lab(case: &str) -> Option<Lab> {
    Some(with(case, settings(2)).await)
}

pub(crate) fn settings(zones: u8) -> Settings {
    Settings {
        zones,
        ..Settings::default()
    }
}

/// The same with another account.
pub(crate) async fn with(case: &str, settings: Settings) -> Lab {
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let cluster = Cluster::new(Arc::new(TokioClock::starting_at(began)));
    let client = cluster.client();
    let definitions = definitions();
    let definitions: Vec<&str> = definitions.iter().map(String::as_str).collect();
    let installed = manifests::install_all(client.clone(), &definitions).await;
    installed.unwrap();
    around(client, case, settings).await
}

/// What is installed: the original's own definition, where it is there.
fn definitions() -> Vec<String> {
    let mut all = manifests::CAPA_DEFINITIONS.map(str::to_owned).to_vec();
    if let Some(folder) = std::env::var_os("FREEHOLD_UPSTREAM_CRDS") {
        let file = "infrastructure.cluster.x-k8s.io_awsclusters.yaml";
        all[0] = std::fs::read_to_string(std::path::Path::new(&folder).join(file)).unwrap();
    }
    all
}

/// A laboratory in a namespace of its own, with a cluster that owns what is made there.
pub(crate) async fn around(client: Client, case: &str, settings: Settings) -> Lab {
    let namespace = case.replace('_', "-");
    let api: Api<Namespace> = Api::all(client.clone());
    let named = json!({"metadata": {"name": namespace, "labels": {"team": "blue"}}});
    let named = serde_json::from_value(named).unwrap();
    api.create(&PostParams::default(), &named).await.unwrap();
    let owner = create_owner(&client, &namespace).await;
    let sample = Sample {
        manifest: manifest(&namespace, &owner, json!({})),
        owns: TWO_ZONES,
        lacks: &LACKS,
        edit: json!({"spec": {"network": {"nodePortIngressRuleCidrBlocks": ["10.0.0.0/8"]}}}),
    };
    let make = |during| Capa {
        accounts: One::new(during),
    };
    laboratory::Lab::simulated(client, settings, case, sample, make)
}

/// Creates the cluster `prod` of a namespace.
pub(crate) async fn create_owner(client: &Client, namespace: &str) -> OwnerCluster {
    let owners: Api<OwnerCluster> = Api::namespaced(client.clone(), namespace);
    let owner = serde_json::from_value(json!({"metadata": {"name": "prod"}})).unwrap();
    owners.create(&PostParams::default(), &owner).await.unwrap()
}

/// An object without a name that belongs to a cluster, with these fields in its spec.
pub(crate) fn manifest(namespace: &str, owner: &OwnerCluster, spec: Value) -> Value {
    let mut object = json!({
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
        "spec": {"region": "eu-central-1"},
    });
    merge(&mut object["spec"], spec);
    object
}

/// Creates the sample with these fields in its spec.
pub(crate) async fn create(lab: &Lab, spec: Value) {
    let mut object = lab.sample.manifest.clone();
    merge(&mut object["spec"], spec);
    lab.create_object(&object).await;
}

/// Changes the owner by a merge patch.
pub(crate) async fn edit_owner(lab: &Lab, patch: Value) {
    let owners: Api<OwnerCluster> =
        Api::namespaced(lab.client.clone(), lab.namespace.as_deref().unwrap());
    let patch = Patch::Merge(patch);
    let patched = owners.patch("prod", &PatchParams::default(), &patch).await;
    patched.unwrap();
}

/// The object, as JSON.
pub(crate) async fn object(lab: &Lab) -> Value {
    serde_json::to_value(lab.object().await).unwrap()
}

/// The object is deleted, and nothing of it is left in the account.
pub(crate) async fn end(lab: &Lab) {
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
    let left = lab.marked().await;
    assert!(left.is_empty(), "law 3: {left:#?}");
}

laboratory::cases!(crate::lab::lab);
