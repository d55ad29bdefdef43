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

use std::io::Write as _;
use std::time::Duration;

use api::Condition;
use api::kkp::{self, Cluster, Id};
use api::manifests::{self, Installed};
use api::{Change, names};
use control_plane::ControlPlane;
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_mins(1);
const UUID: &str = "7f6a2f2e-58b5-4c1f-9d0e-0a3f4f1f2b11";
const ARN: &str = "arn:aws:iam::123456789012:role/kubernetes-a-control-plane";

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
    let (namespace, name) = (names::OPERATOR_NAMESPACE, names::OPERATOR_ACCOUNT);
    config.auth_info.impersonate = Some(format!("system:serviceaccount:{namespace}:{name}"));
    config.auth_info.impersonate_groups = Some(vec!["system:masters".to_owned()]);
    Client::try_from(config).unwrap()
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
    the_policy_holds(&client).await;
    the_policy_lets_the_operator_repair(&client, &operator(&plane).await).await;
}

/// The same on the embedded API, where the operator needs no right to be who it is.
#[tokio::test]
async fn our_definitions_serve_on_the_embedded_api() {
    let clock = embedded_kube::TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let cluster = embedded_kube::Cluster::new(std::sync::Arc::new(clock));
    let client = cluster.client();
    let first = manifests::install(client.clone()).await.unwrap();
    assert!(first.iter().all(|one| matches!(one, Installed::Created(_))));
    writes_land_and_rest_is_silent(&client).await;
    the_policy_holds(&client).await;
    let (namespace, name) = (names::OPERATOR_NAMESPACE, names::OPERATOR_ACCOUNT);
    let account = format!("system:serviceaccount:{namespace}:{name}");
    let operator = cluster.client_as(embedded_kube::User::new(&account, &[]));
    the_policy_lets_the_operator_repair(&client, &operator).await;
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
    the_policy_holds(&client).await;
    the_policy_lets_the_operator_repair(&client, &operator(&plane).await).await;
}

/// Tries a change of the object; the refusal's message, if it was refused.
async fn attempt(client: &Client, patch: Value) -> Result<(), String> {
    attempt_on(client, "policy", patch).await
}

async fn attempt_on(client: &Client, name: &str, patch: Value) -> Result<(), String> {
    let api: Api<Cluster> = Api::all(client.clone());
    let sent = Patch::Merge(patch);
    match api.patch(name, &PatchParams::default(), &sent).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 422 || status.code == 403 => {
            Err(status.message.clone())
        }
        Err(error) => panic!("{error}"),
    }
}

fn aws(field: &str, value: impl Into<Value>) -> Value {
    json!({"spec": {"cloud": {"aws": {field: value.into()}}}})
}

fn claim(value: impl Into<Value>) -> Value {
    json!({"metadata": {"annotations": {names::CLAIM_UUID: value.into()}}})
}

async fn turn_the_policy_on(client: &Client) {
    let post = PostParams::default();
    let [policy, binding] = manifests::POLICIES;
    let policy: ValidatingAdmissionPolicy = serde_saphyr::from_str(policy).unwrap();
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(client.clone());
    policies.create(&post, &policy).await.unwrap();
    let binding: ValidatingAdmissionPolicyBinding = serde_saphyr::from_str(binding).unwrap();
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(client.clone());
    bindings.create(&post, &binding).await.unwrap();
}

async fn the_policy_holds(client: &Client) {
    create(client, "policy").await;
    create(client, "probe").await;
    turn_the_policy_on(client).await;

    // An object of its own shows when the policy has come into force: whichever claim it has then
    // cannot become the other.
    eventually("the policy is in force", || async {
        let other = "00000000-0000-0000-0000-000000000000";
        let there = attempt_on(client, "probe", claim(other)).await;
        let back = attempt_on(client, "probe", claim(UUID)).await;
        (there.is_err() || back.is_err()).then_some(())
    })
    .await;
    attempt(client, claim(UUID)).await.unwrap();
    let refusal = attempt(client, claim("another")).await.unwrap_err();
    assert!(refusal.contains("freehold.dev/claim-uuid"), "{refusal}");
    assert!(refusal.contains(UUID), "{refusal}");
    for change in [
        claim(""),
        claim(Value::Null),
        json!({"metadata": {"annotations": null}}),
    ] {
        attempt(client, change).await.unwrap_err();
    }
    attempt(client, claim(UUID)).await.unwrap();
    attempt(
        client,
        json!({"metadata": {"annotations": {"theirs": "1"}}}),
    )
    .await
    .unwrap();

    for field in [
        "vpcID",
        "routeTableID",
        "securityGroupID",
        "instanceProfileName",
    ] {
        attempt(client, aws(field, "")).await.unwrap();
        attempt(client, aws(field, "first")).await.unwrap();
        attempt(client, aws(field, "first")).await.unwrap();
        for other in ["second", ""] {
            let refusal = attempt(client, aws(field, other)).await.unwrap_err();
            assert!(refusal.contains(field), "{refusal}");
        }
    }
    attempt(client, json!({"spec": {"cloud": {"aws": null}}}))
        .await
        .unwrap_err();

    the_policy_lets_a_role_name_become_its_arn(client).await;
    the_policy_lets_mistakes_be_corrected(client).await;
    the_policy_keeps_the_record(client).await;

    // What is not ours is nobody's business here.
    attempt(
        client,
        json!({"spec": {"pause": true, "version": "1.34.2"}}),
    )
    .await
    .unwrap();
    attempt(client, aws("nodePortsAllowedIPRange", "10.0.0.0/8"))
        .await
        .unwrap();
}

/// What Freehold complains about can be corrected or cleared, and nothing else.
async fn the_policy_lets_mistakes_be_corrected(client: &Client) {
    let clusters: Api<Cluster> = Api::all(client.clone());
    let complain = async |status: &str, words: &str| {
        let condition = json!({"status": status, "message": words, "reason": "InvalidField",
            "kubermaticVersion": "v2.29", "lastHeartbeatTime": "2026-01-01T00:00:00Z"});
        let patch = json!({"status": {"conditions": {"Invalid": condition}}});
        let (parameters, patch) = (PatchParams::default(), Patch::Merge(patch));
        let patched = clusters.patch_status("policy", &parameters, &patch);
        patched.await.unwrap();
    };
    for (field, words) in [
        ("vpcID", "spec.cloud.aws.vpcID: first does not exist"),
        ("roleARN", "spec.cloud.aws.roleARN: \"x\" is no ARN"),
    ] {
        complain("False", words).await;
        attempt(client, aws(field, "")).await.unwrap_err();
        complain("True", "spec.cloud.aws.vpcIDs: another field").await;
        attempt(client, aws(field, "")).await.unwrap_err();
        complain("True", words).await;
        attempt(client, aws("securityGroupID", ""))
            .await
            .unwrap_err();
        attempt(client, aws(field, "")).await.unwrap();
        attempt(client, aws(field, "second")).await.unwrap();
    }
    complain("False", "").await;
}

async fn the_policy_lets_a_role_name_become_its_arn(client: &Client) {
    let role = |value: &str| attempt(client, aws("roleARN", value));
    role("kubernetes-a-control-plane").await.unwrap();
    for refused in [
        "",
        "another-name",
        "control-plane",
        "arn:aws:iam::123456789012:role/another",
        // Its name ends like ours and is another.
        "arn:aws:iam::123456789012:role/not-kubernetes-a-control-plane",
        "arn:aws:iam::123456789012:user/kubernetes-a-control-plane",
        "arn:aws:iam::12:role/kubernetes-a-control-plane",
        "arn:aws:s3:::role/kubernetes-a-control-plane",
    ] {
        let refusal = role(refused).await.unwrap_err();
        assert!(
            refusal.contains("spec.cloud.aws.roleARN"),
            "{refused}: {refusal}"
        );
    }
    role(ARN).await.unwrap();
    role(ARN).await.unwrap();
    for refused in [
        "",
        "kubernetes-a-control-plane",
        "arn:aws:iam::123456789012:role/path/kubernetes-a-control-plane",
        "arn:aws:iam::210987654321:role/kubernetes-a-control-plane",
    ] {
        role(refused).await.unwrap_err();
    }
}

/// The record is the operator's; only of a copy the whole claim may be taken off.
async fn the_policy_keeps_the_record(client: &Client) {
    let annotations = |values: Value| json!({"metadata": {"annotations": values}});
    let record = |value: Value| annotations(json!({names::LEDGER: value}));
    attempt(client, record(json!("{}"))).await.unwrap();
    for change in [json!("{\"traces\":[]}"), json!(""), Value::Null] {
        let refusal = attempt(client, record(change)).await.unwrap_err();
        assert!(refusal.contains(names::LEDGER), "{refusal}");
    }
    let api: Api<Cluster> = Api::all(client.clone());
    let uid = api.get("policy").await.unwrap().metadata.uid.unwrap();
    let without = annotations(json!({names::CLAIM_UUID: null, names::LEDGER: null}));
    for (pinned_for, is_copy) in [(uid.as_str(), false), (UUID, true)] {
        let pinned_for = annotations(json!({names::CLAIM_PINNED_FOR: pinned_for}));
        attempt(client, pinned_for).await.unwrap();
        let took = attempt(client, without.clone()).await;
        assert_eq!(took.is_ok(), is_copy, "{took:?}");
    }
    attempt(client, claim(UUID)).await.unwrap();
    attempt(client, record(json!("{}"))).await.unwrap();
}

/// After [`the_policy_holds`]: everything is recorded, and nobody else may change it.
async fn the_policy_lets_the_operator_repair(client: &Client, operator: &Client) {
    for (field, value) in [
        ("securityGroupID", "second"),
        ("instanceProfileName", ""),
        (
            "roleARN",
            "arn:aws:iam::210987654321:role/kubernetes-a-control-plane",
        ),
    ] {
        attempt(client, aws(field, value)).await.unwrap_err();
        attempt(operator, aws(field, value)).await.unwrap();
    }
    let record = json!({"metadata": {"annotations": {names::LEDGER: "{\"ids\":{}}"}}});
    attempt(client, record.clone()).await.unwrap_err();
    attempt(operator, record).await.unwrap();
    let uid = Api::<Cluster>::all(client.clone())
        .get("policy")
        .await
        .unwrap();
    let pinned = json!({names::CLAIM_PINNED_FOR: uid.metadata.uid});
    attempt(client, json!({"metadata": {"annotations": pinned}}))
        .await
        .unwrap();
    let other = "00000000-0000-0000-0000-000000000000";
    for change in [claim(other), claim(Value::Null)] {
        let refusal = attempt(operator, change).await.unwrap_err();
        assert!(refusal.contains("freehold.dev/claim-uuid"), "{refusal}");
    }
}
