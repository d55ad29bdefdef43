//! The KKP suite on a real API server, with the original's own definitions where
//! `FREEHOLD_UPSTREAM_CRDS` names their folder, and the simulated AWS.
//!
//! Runs only where `FREEHOLD_TIER_CONTROL_PLANE=1` says that a control plane can be had.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::io::Write as _;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use api::kkp::Cluster;
use cloud_sim::SharedAccount;
use control_plane::ControlPlane;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kkp_suite::Lab;
use kube::Client;
use kube::api::{Api, ListParams, PostParams};

const PATIENCE: Duration = Duration::from_mins(1);

async fn lab(case: &str) -> Option<Lab<SharedAccount>> {
    if std::env::var_os("FREEHOLD_TIER_CONTROL_PLANE").is_none_or(|value| value != "1") {
        say("SKIPPED: the KKP suite on a real API server (FREEHOLD_TIER_CONTROL_PLANE is not 1)");
        return None;
    }
    let client = plane().client().await.unwrap();
    let settings = cloud_sim::Settings::default();
    Some(Lab::simulated(client, settings, case))
}

kkp_suite::cases!(lab);

/// One for all cases. A static is never dropped; the programs end when this process does.
fn plane() -> &'static ControlPlane {
    static PLANE: OnceLock<Option<ControlPlane>> = OnceLock::new();
    // On a thread of its own, since the caller is inside a runtime already.
    let plane = PLANE.get_or_init(|| std::thread::spawn(start).join().ok());
    plane
        .as_ref()
        .expect("the control plane starts (see the first failure)")
}

fn start() -> ControlPlane {
    let binaries = control_plane::tools(say).expect("the programs of the control plane");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let plane = ControlPlane::start(&binaries)
            .await
            .expect("the control plane starts");
        let client = plane.client().await.unwrap();
        if let Some(folder) = std::env::var_os("FREEHOLD_UPSTREAM_CRDS") {
            install_originals(&client, Path::new(&folder)).await;
        }
        api::manifests::install(client.clone()).await.unwrap();
        served(client).await;
        plane
    })
}

async fn install_originals(client: &Client, folder: &Path) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for plural in ["clusters", "seeds"] {
        let path = folder.join(format!("kubermatic.k8c.io_{plural}.yaml"));
        let text = std::fs::read_to_string(path).unwrap();
        let definition = serde_saphyr::from_str(&text).unwrap();
        api.create(&PostParams::default(), &definition)
            .await
            .unwrap();
    }
}

/// The server serves new kinds a moment later.
async fn served(client: Client) {
    let clusters: Api<Cluster> = Api::all(client.clone());
    let seeds: Api<api::kkp::Seed> = Api::all(client);
    let asking = async {
        let all = ListParams::default();
        while clusters.list(&all).await.is_err() || seeds.list(&all).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking)
        .await
        .expect("the kinds are served");
}

/// Not `eprintln!`, which the test harness hides.
fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("standard error");
}
