//! The manifests and writes on API servers: our definitions or the originals', and the policy.
//!
//! On the embedded one always, on the real one only where `FREEHOLD_TIER_CONTROL_PLANE=1` says that
//! it can be had; with the originals' own definitions where `FREEHOLD_UPSTREAM_CRDS` names their
//! folder.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod claims;
mod ids;
mod policies;

use std::io::Write as _;
use std::time::Duration;

use api::Condition;
use api::kkp::{self, Cluster, Id};
use api::manifests::{self, Installed};
use api::{Change, names};
use control_plane::ControlPlane;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::json;

const PATIENCE: Duration = Duration::from_mins(1);
const UUID: &str = "7f6a2f2e-58b5-4c1f-9d0e-0a3f4f1f2b11";

fn enabled() -> bool {
    let enabled = std::env::var_os("FREEHOLD_TIER_CONTROL_PLANE").is_some_and(|value| value == "1");
    if !enabled {
        say("SKIPPED: manifests on the real control plane (FREEHOLD_TIER_CONTROL_PLANE is not 1)");
    }
    enabled
}

/// Not `eprintln!`, which the test harness hides.
fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("standard error");
}

async fn plane() -> (ControlPlane, Client) {
    let binaries = control_plane::tools(|_| ()).expect("the programs");
    let plane = ControlPlane::start(&binaries).await.expect("it starts");
    let client = plane.client().await.expect("a client");
    (plane, client)
}

/// The operator's client: its account, with the administrator's rights.
async fn operator(plane: &ControlPlane) -> Client {
    let file = kube::config::Kubeconfig::read_from(plane.kubeconfig()).unwrap();
    let options = kube::config::KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(file, &options).await;
    let mut config = config.unwrap();
    config.auth_info.impersonate = Some(operator_user());
    config.auth_info.impersonate_groups = Some(vec!["system:masters".to_owned()]);
    Client::try_from(config).unwrap()
}

fn operator_user() -> String {
    names::user_of_account(names::OPERATOR_NAMESPACE, names::OPERATOR_ACCOUNT)
}

/// Asks until the answer is there: the server serves kinds and policies a moment after their creation.
async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut ask: impl FnMut() -> F) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let answer = tokio::time::timeout(PATIENCE, asking).await;
    answer.unwrap_or_else(|late| panic!("{what}: {late}"))
}

/// A cluster that the original's definition accepts too.
fn cluster(name: &str) -> Cluster {
    serde_json::from_value(json!({
        "metadata": {"name": name},
        "spec": {
            "humanReadableName": "A", "version": "1.34.1", "exposeStrategy": "NodePort",
            "cloud": {"dc": "frankfurt", "providerName": "aws", "aws": {
                "vpcID": "", "roleARN": "", "routeTableID": "", "instanceProfileName": "",
                "securityGroupID": "",
            }},
            "clusterNetwork": {
                "dnsDomain": "cluster.local", "proxyMode": "ipvs",
                "pods": {"cidrBlocks": ["10.0.0.0/16"]},
                "services": {"cidrBlocks": ["10.1.0.0/16"]},
            },
        },
    }))
    .unwrap()
}

async fn create(client: &Client, name: &str) -> Cluster {
    let api: Api<Cluster> = Api::all(client.clone());
    let object = cluster(name);
    eventually("clusters are served", || async {
        match api.create(&PostParams::default(), &object).await {
            Ok(created) => Some(created),
            Err(kube::Error::Api(status)) if status.code == 404 => None,
            Err(error) => panic!("{error}"),
        }
    })
    .await
}

/// Sends what differs, to the object and then to its status, as a controller does.
async fn send(client: &Client, edit: impl Fn(&mut Change<Cluster>), name: &str) -> (bool, bool) {
    let api: Api<Cluster> = Api::all(client.clone());
    let mut object = api.get(name).await.unwrap();
    let mut change = Change::new(&object).unwrap();
    edit(&mut change);
    let patch = change.object_patch();
    if let Some(patch) = &patch {
        let parameters = PatchParams::default();
        object = api
            .patch(name, &parameters, &Patch::Merge(patch))
            .await
            .unwrap();
    }
    let mut change = Change::new(&object).unwrap();
    edit(&mut change);
    assert_eq!(change.object_patch(), None, "it was written");
    let status = change.status_patch();
    if let Some(patch) = &status {
        let parameters = PatchParams::default();
        api.patch_status(name, &parameters, &Patch::Merge(patch))
            .await
            .unwrap();
    }
    (patch.is_some(), status.is_some())
}

fn everything(change: &mut Change<Cluster>) {
    let now = Time("2026-01-01T00:00:00Z".parse().unwrap());
    change.annotate(names::CLAIM_UUID, UUID);
    change.annotate(names::CLAIM_PINNED_FOR, UUID);
    change.annotate(kkp::AWS_REGION, "eu-central-1");
    change.add_finalizer(kkp::CLEANUP_AWS);
    change.add_finalizer(&names::claim_finalizer(UUID));
    for id in Id::ALL {
        change.record(id, "recorded");
    }
    change.reconciled(&now);
    let report = Condition {
        holds: true,
        reason: "Converged".to_owned(),
        message: "all is well".to_owned(),
    };
    change.condition(&kkp::STATUS, "Ready", &report, "0.1.0", &now);
}

/// Every write lands, a second one writes nothing, and what is not ours is as it was.
async fn writes_land_and_rest_is_silent(client: &Client) {
    let before = create(client, "writes").await;
    assert_eq!(send(client, everything, "writes").await, (true, true));
    assert_eq!(send(client, everything, "writes").await, (false, false));
    let api: Api<Cluster> = Api::all(client.clone());
    let after = api.get("writes").await.unwrap();
    assert_eq!(after.spec.rest, before.spec.rest);
    assert_eq!(after.spec.cloud.rest, before.spec.cloud.rest);
    assert_eq!(after.spec.cluster_network, before.spec.cluster_network);
    assert_eq!(after.finalizers().len(), 2);
    assert_eq!(after.spec.cloud.aws.unwrap().vpc_id, "recorded");
    let status = after.status.unwrap();
    assert!(status.last_provider_reconciliation.is_some());
    assert_eq!(status.conditions["Ready"].status, "True");
}

#[tokio::test]
async fn our_definitions_serve() {
    if !enabled() {
        return;
    }
    let (plane, client) = plane().await;
    let first = manifests::install(client.clone()).await.unwrap();
    assert!(first.iter().all(|one| matches!(one, Installed::Created(_))));
    let second = manifests::install(client.clone()).await.unwrap();
    assert!(second.iter().all(|one| matches!(one, Installed::Found(_))));
    writes_land_and_rest_is_silent(&client).await;
    policies_hold(&client, &operator(&plane).await).await;
}

fn embedded() -> embedded_kube::Cluster {
    let clock = embedded_kube::TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    embedded_kube::Cluster::new(std::sync::Arc::new(clock))
}

fn embedded_operator(cluster: &embedded_kube::Cluster) -> Client {
    cluster.client_as(embedded_kube::User::new(&operator_user(), &[]))
}

/// The generated policy for two kinds, and KKP's own.
async fn policies_hold(client: &Client, operator: &Client) {
    claims::install_gates(client).await;
    let (generated, own) = (policies::generated(), policies::kkp());
    policies::turn_on(client, &[generated, own]).await;
    claims::the_policy_holds(client, operator).await;
    ids::the_policy_holds(client, operator).await;
}

/// The same on the embedded API, where the operator needs no right to be who it is.
#[tokio::test]
async fn our_definitions_serve_on_the_embedded_api() {
    let cluster = embedded();
    let client = cluster.client();
    let first = manifests::install(client.clone()).await.unwrap();
    assert!(first.iter().all(|one| matches!(one, Installed::Created(_))));
    writes_land_and_rest_is_silent(&client).await;
    policies_hold(&client, &embedded_operator(&cluster)).await;
}

#[tokio::test]
async fn the_originals_definitions_serve_and_stay() {
    if !enabled() {
        return;
    }
    let Some(folder) = std::env::var_os("FREEHOLD_UPSTREAM_CRDS") else {
        say("SKIPPED: the originals' definitions (FREEHOLD_UPSTREAM_CRDS is not set)");
        return;
    };
    let (plane, client) = plane().await;
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for plural in ["clusters", "seeds"] {
        let path = std::path::Path::new(&folder).join(format!("kubermatic.k8c.io_{plural}.yaml"));
        let text = std::fs::read_to_string(path).unwrap();
        let definition = serde_saphyr::from_str(&text).unwrap();
        api.create(&PostParams::default(), &definition)
            .await
            .unwrap();
    }
    let versions = || async {
        let list = api.list(&kube::api::ListParams::default()).await.unwrap();
        list.iter().map(|one| one.spec.clone()).collect::<Vec<_>>()
    };
    let before = versions().await;
    let installed = manifests::install(client.clone()).await.unwrap();
    assert!(
        installed
            .iter()
            .all(|one| matches!(one, Installed::Found(_)))
    );
    assert_eq!(versions().await, before);
    writes_land_and_rest_is_silent(&client).await;
    policies_hold(&client, &operator(&plane).await).await;
}
