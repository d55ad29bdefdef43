//! What an administrator applies.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use control_plane::ControlPlane;
use freehold::install::documents;
use freehold::operator::systems::parse;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Client, ResourceExt as _};
use serde_json::json;

/// Not the usual ones, so that nothing works by chance.
pub(crate) const NAMESPACE: &str = "infra";
pub(crate) const ACCOUNT: &str = "landlord";

/// What `freehold manifests` prints.
fn printed(systems: &str) -> String {
    let systems = parse(systems).unwrap();
    let documents = documents(&systems, "example.com/freehold:1", NAMESPACE, ACCOUNT, &[]);
    api::manifests::stream(&documents)
}

/// All of it that an API server needs which runs no pods.
pub(crate) fn without_pods() -> Vec<DynamicObject> {
    without_pods_for("kkp")
}

fn without_pods_for(systems: &str) -> Vec<DynamicObject> {
    let mut objects: Vec<DynamicObject> = serde_saphyr::from_multiple(&printed(systems)).unwrap();
    let pods = ["Deployment", "PodDisruptionBudget"];
    objects.retain(|object| !pods.contains(&object.types.as_ref().unwrap().kind.as_str()));
    objects
}

/// Installs definitions and what is printed for these systems, into an embedded API server.
pub(crate) async fn install(admin: &Client, systems: &str) {
    api::manifests::install(admin.clone()).await.unwrap();
    for object in without_pods_for(systems) {
        create(admin, &object).await;
    }
}

/// Installs KKP's own definitions, where they can be had.
pub(crate) async fn originals(admin: &Client) -> bool {
    let Some(folder) = std::env::var_os("FREEHOLD_UPSTREAM_CRDS") else {
        let line = "SKIPPED: KKP's own definitions (FREEHOLD_UPSTREAM_CRDS is not set)";
        writeln!(std::io::stderr(), "{line}").expect("standard error");
        return false;
    };
    let definitions: Api<CustomResourceDefinition> = Api::all(admin.clone());
    for plural in ["clusters", "seeds"] {
        let path = Path::new(&folder).join(format!("kubermatic.k8c.io_{plural}.yaml"));
        let text = std::fs::read_to_string(path).unwrap();
        let definition = serde_saphyr::from_str(&text).unwrap();
        let created = definitions
            .create(&PostParams::default(), &definition)
            .await;
        created.unwrap();
    }
    true
}

/// The same as people do it, twice. Fields that the API server does not know are refused.
pub(crate) async fn apply(plane: &ControlPlane, admin: &Client) {
    api::manifests::install(admin.clone()).await.unwrap();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("manifests.yaml");
    std::fs::write(&file, printed("kkp")).unwrap();
    for _ in 0..2 {
        let file = file.to_str().unwrap();
        let applied = plane.kubectl(["apply", "--validate=strict", "-f", file]);
        let applied = applied.unwrap();
        let said = String::from_utf8_lossy(&applied.stderr);
        // A warning would be about pod security, or a field.
        assert!(applied.status.success() && said.is_empty(), "{said}");
    }
    let clusters: Api<api::kkp::Cluster> = Api::all(admin.clone());
    let seeds: Api<api::kkp::Seed> = Api::all(admin.clone());
    let all = ListParams::default();
    while clusters.list(&all).await.is_err() || seeds.list(&all).await.is_err() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The Deployment's pods are let into its namespace, which takes only restricted ones.
pub(crate) async fn pods_are_let_in(admin: &Client) {
    let deployments: Api<Deployment> = Api::namespaced(admin.clone(), NAMESPACE);
    let deployment = deployments.get(ACCOUNT).await.unwrap();
    let template = deployment.spec.unwrap().template;
    let mut pod = Pod {
        metadata: template.metadata.unwrap(),
        spec: template.spec,
        ..Pod::default()
    };
    pod.metadata.name = Some("one".to_owned());
    let pods: Api<Pod> = Api::namespaced(admin.clone(), NAMESPACE);
    let dry = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    pods.create(&dry, &pod).await.unwrap();
    pod.spec.as_mut().unwrap().security_context = None;
    let refused = pods.create(&dry, &pod).await.unwrap_err().to_string();
    assert!(refused.contains("restricted"), "{refused}");
}

/// The definition of clusters is a Crossplane provider's, which is not active.
pub(crate) async fn of_a_provider(admin: &Client) {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "providerrevisions.pkg.crossplane.io"},
        "spec": {
            "group": "pkg.crossplane.io",
            "scope": "Cluster",
            "names": {"kind": "ProviderRevision", "plural": "providerrevisions"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                },
            }}],
        },
    });
    create(admin, &serde_json::from_value(definition).unwrap()).await;
    let (version, kind) = ("pkg.crossplane.io/v1", "ProviderRevision");
    let revision = json!({
        "apiVersion": version, "kind": kind, "metadata": {"name": "old"},
        "spec": {"desiredState": "Inactive"},
    });
    let uid = create(admin, &serde_json::from_value(revision).unwrap()).await;
    let owner = json!({"apiVersion": version, "kind": kind, "name": "old", "uid": uid});
    let patch = Patch::Merge(json!({"metadata": {"ownerReferences": [owner]}}));
    let definitions: Api<CustomResourceDefinition> = Api::all(admin.clone());
    let patched = definitions
        .patch(
            "clusters.kubermatic.k8c.io",
            &PatchParams::default(),
            &patch,
        )
        .await;
    patched.unwrap();
}

/// Creates an object; its uid.
pub(crate) async fn create(admin: &Client, object: &DynamicObject) -> String {
    let types = object.types.clone().unwrap();
    let kind = GroupVersionKind::try_from(&types).unwrap();
    let kind = ApiResource::from_gvk(&kind);
    let api: Api<DynamicObject> = match object.namespace() {
        Some(namespace) => Api::namespaced_with(admin.clone(), &namespace, &kind),
        None => Api::all_with(admin.clone(), &kind),
    };
    let created = api.create(&PostParams::default(), object).await;
    let created = created.unwrap_or_else(|error| panic!("{types:?}: {error}"));
    created.uid().unwrap()
}
