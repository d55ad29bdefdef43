//! The laboratory of the second system.

use std::sync::Arc;

use cloud_sim::SharedAccount;
use embedded_kube::{Cluster, TokioClock};
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use laboratory::{During, One, Sample};
use serde_json::{Value, json};

use crate::object::{Yard, create, create_namespace, gate, install, key, yard};
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
    create_namespace(&client, &namespace).await;
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &namespace);
    create(&secrets, key("AKIA")).await;
    let lab = bare(client, case, &namespace);
    create_yard(&lab).await;
    lab
}

/// The same, without anything in its namespace.
fn bare(client: Client, case: &str, namespace: &str) -> Lab {
    let sample = Sample {
        manifest: gate(namespace, &[443]),
        owns: 1,
        lacks: &[],
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
    create(&yards(lab), yard("10.0.0.0/8")).await;
}

laboratory::cases!(crate::lab::lab);
