//! The laboratory of Cluster API on Power Virtual Server.

use std::collections::BTreeSet;
use std::sync::Arc;

use api::capa::OwnerCluster;
use api::manifests;
use cloud_sim::{Actor, Lag, Settings, SharedAccount};
use controllers::powervs::PowerVs;
use embedded_kube::{Cluster, TokioClock};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt as _};
use laboratory::{IbmAccount, Sample, merge};
use ownership::time::Millis;
use serde_json::{Value, json};

pub(crate) type Lab = laboratory::Lab<PowerVs<IbmAccount>, SharedAccount>;

/// What a cluster owns: workspace, network, VPC, three subnets, a load balancer and a gateway.
pub(crate) const WHOLE: usize = 1 + 1 + 1 + 3 + 1 + 1;

/// On the embedded API server, in an account whose search lags and where things take their time.
pub(crate) async fn lab(case: &str) -> Lab {
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let cluster = Cluster::new(Arc::new(TokioClock::starting_at(began)));
    let client = cluster.client();
    let installed = manifests::install_all(client.clone(), &manifests::POWERVS_DEFINITIONS).await;
    installed.unwrap();
    let settings = Settings {
        paces: cloud_sim::ibm_paces(),
        lag: Lag {
            by_id: Millis::seconds(2),
            by_filter: Millis::seconds(30),
        },
        ..Settings::ibm()
    };
    around(client, case, settings).await
}

/// A laboratory in a namespace of its own, with a cluster and a key.
pub(crate) async fn around(client: Client, case: &str, settings: Settings) -> Lab {
    let namespace = case.replace('_', "-");
    let api: Api<Namespace> = Api::all(client.clone());
    let named = serde_json::from_value(json!({"metadata": {"name": namespace}})).unwrap();
    api.create(&PostParams::default(), &named).await.unwrap();
    let owners: Api<OwnerCluster> = Api::namespaced(client.clone(), &namespace);
    let owner = serde_json::from_value(json!({"metadata": {"name": "prod"}})).unwrap();
    let owner = owners.create(&PostParams::default(), &owner).await.unwrap();
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &namespace);
    let secret = json!({
        "metadata": {"name": "ibmcloud-credentials"},
        "stringData": {"ibmcloud_api_key": "right"},
        "data": {"ibmcloud_api_key": "cmlnaHQ="},
    });
    let secret = serde_json::from_value(secret).unwrap();
    secrets
        .create(&PostParams::default(), &secret)
        .await
        .unwrap();
    let sample = Sample {
        manifest: manifest(&namespace, &owner),
        owns: WHOLE,
        lacks: &[],
        edit: json!({"spec": {"tags": [{"key": "team", "value": "blue"}]}}),
    };
    let make = |during| PowerVs {
        accounts: IbmAccount::new(during),
    };
    laboratory::Lab::simulated(client, settings, case, sample, make)
}

/// An object without a name that belongs to a cluster.
fn manifest(namespace: &str, owner: &OwnerCluster) -> Value {
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "kind": "IBMPowerVSCluster",
        "metadata": {
            "namespace": namespace,
            "annotations": {"powervs.cluster.x-k8s.io/create-infra": "true"},
            "labels": {"cluster.x-k8s.io/cluster-name": "prod"},
            "ownerReferences": [{
                "apiVersion": "cluster.x-k8s.io/v1beta2",
                "kind": "Cluster",
                "name": "prod",
                "uid": owner.uid().unwrap(),
            }],
        },
        "spec": {"zone": "dal10", "network": {}, "serviceInstanceID": ""},
    })
}

/// Creates the sample with these fields in its spec.
pub(crate) async fn create(lab: &Lab, spec: Value) {
    let mut object = lab.sample.manifest.clone();
    merge(&mut object["spec"], spec);
    lab.create_object(&object).await;
}

/// The object, as JSON.
pub(crate) async fn object(lab: &Lab) -> Value {
    serde_json::to_value(lab.object().await).unwrap()
}

/// What lives that the operator made, by the simulation's own record.
pub(crate) fn made(lab: &Lab) -> BTreeSet<String> {
    let account = lab.account();
    let ours = account
        .lives()
        .filter(|life| life.is_alive() && matches!(life.by, Actor::Engine(_)));
    ours.map(|life| format!("{} {}", life.target.kind.name, life.name))
        .collect()
}

/// The object is deleted, and nothing that the operator made is left.
pub(crate) async fn end(lab: &Lab) {
    lab.delete().await;
    // What takes minutes to go holds the rest for longer than the laboratory waits at once.
    for _ in 0..4 {
        if !lab.is_gone().await {
            lab.settle().await;
        }
    }
    assert!(lab.is_gone().await, "{:?}", lab.condition("Ready").await);
    let left = made(lab);
    assert!(left.is_empty(), "law 3: {left:#?}");
}
