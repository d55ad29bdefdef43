//! The laboratory of the second system.

use std::sync::Arc;

use cloud_sim::SharedAccount;
use embedded_kube::{Cluster, TokioClock};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kkp_suite::One;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use laboratory::{During, Sample};
use serde_json::{Value, json};

use crate::object::Yard;
use crate::system::Gates;

pub(crate) type Lab = laboratory::Lab<Gates<One<During<SharedAccount>>>, SharedAccount>;

/// On the embedded API server.
pub(crate) async fn lab(case: &str) -> Option<Lab> {
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let cluster = Cluster::new(Arc::new(TokioClock::starting_at(began)));
    let client = cluster.client();
    install(&client).await;
    Some(around(client, case).await)
}

/// A laboratory in a namespace of its own, with a yard and a key.
pub(crate) async fn around(client: Client, case: &str) -> Lab {
    let namespace = case.replace('_', "-");
    create::<k8s_openapi::api::core::v1::Namespace>(
        &Api::all(client.clone()),
        json!({"metadata": {"name": namespace}}),
    )
    .await;
    create::<k8s_openapi::api::core::v1::Secret>(
        &Api::namespaced(client.clone(), &namespace),
        json!({"metadata": {"name": "key"}, "stringData": {"id": "AKIA", "secret": "hush"}}),
    )
    .await;
    let lab = bare(client, case, &namespace);
    create_yard(&lab).await;
    lab
}

/// The same, without anything in its namespace.
fn bare(client: Client, case: &str, namespace: &str) -> Lab {
    let sample = Sample {
        manifest: json!({
            "apiVersion": "second.freehold.dev/v1",
            "kind": "Gate",
            "metadata": {"namespace": namespace},
            "spec": {"yard": "yard", "key": {"name": "key"}, "ports": [443]},
        }),
        owns: 1,
        edit: json!({"spec": {"ports": [443, 80]}}),
    };
    let make = |during| Gates {
        accounts: One::new(during),
    };
    let settings = cloud_sim::Settings::default();
    laboratory::Lab::simulated(client, settings, case, sample, make)
}

/// Somebody changes the yard by a merge patch.
pub(crate) async fn edit_yard(lab: &Lab, patch: Value) {
    let (yards, patch) = (yards(lab), Patch::Merge(patch));
    let patched = yards.patch("yard", &PatchParams::default(), &patch).await;
    patched.unwrap();
}

/// Somebody removes the yard.
pub(crate) async fn remove_yard(lab: &Lab) {
    let deleted = yards(lab).delete("yard", &DeleteParams::default()).await;
    deleted.unwrap();
}

/// The yards of a laboratory.
pub(crate) fn yards(lab: &Lab) -> Api<Yard> {
    Api::namespaced(lab.client.clone(), lab.namespace.as_deref().unwrap())
}

pub(crate) async fn create_yard(lab: &Lab) {
    let spec = json!({"region": "eu-central-1", "from": "10.0.0.0/8"});
    let yard = json!({
        "apiVersion": "second.freehold.dev/v1",
        "kind": "Yard",
        "metadata": {"name": "yard"},
        "spec": spec,
    });
    create(&yards(lab), yard).await;
}

/// The definitions of the second system.
pub(crate) async fn install(client: &Client) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for text in include_str!("definitions.yaml").split("---\n") {
        let definition: CustomResourceDefinition = serde_saphyr::from_str(text).unwrap();
        let created = api.create(&PostParams::default(), &definition).await;
        created.unwrap();
    }
}

pub(crate) async fn create<K>(api: &Api<K>, object: Value)
where
    K: serde::de::DeserializeOwned + serde::Serialize + Clone + std::fmt::Debug,
{
    let object: K = serde_json::from_value(object).unwrap();
    let created = api.create(&PostParams::default(), &object).await;
    created.unwrap();
}

laboratory::cases!(crate::lab::lab);
