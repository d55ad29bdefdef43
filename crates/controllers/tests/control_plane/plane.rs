//! The control plane: one for all cases.

use std::io::Write as _;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use api::capa::{AwsCluster, ControllerIdentity, OwnerCluster, RoleIdentity, StaticIdentity};
use api::kkp::{Cluster, Seed};
use control_plane::ControlPlane;
use controllers::reconcile::Object;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, ListParams, PostParams};

const PATIENCE: Duration = Duration::from_mins(1);

/// A client of it; `None` if this is not its tier.
pub(crate) async fn client() -> Option<Client> {
    if std::env::var_os("FREEHOLD_TIER_CONTROL_PLANE").is_none_or(|value| value != "1") {
        say("SKIPPED: the suites on a real API server (FREEHOLD_TIER_CONTROL_PLANE is not 1)");
        return None;
    }
    Some(plane().client().await.unwrap())
}

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
        capa_suite::install(&client).await;
        let all_served = async {
            served::<Cluster>(&client).await;
            served::<Seed>(&client).await;
            served::<AwsCluster>(&client).await;
            served::<OwnerCluster>(&client).await;
            served::<ControllerIdentity>(&client).await;
            served::<StaticIdentity>(&client).await;
            served::<RoleIdentity>(&client).await;
        };
        tokio::time::timeout(PATIENCE, all_served)
            .await
            .expect("the kinds are served");
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

/// The server serves a new kind a moment later.
async fn served<K: Object>(client: &Client) {
    let all: Api<K> = Api::all(client.clone());
    while all.list(&ListParams::default()).await.is_err() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Not `eprintln!`, which the test harness hides.
fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("standard error");
}
