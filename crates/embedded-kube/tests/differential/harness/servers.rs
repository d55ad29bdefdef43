//! The two servers a case runs on.

use std::sync::{Arc, OnceLock};

use control_plane::ControlPlane;
use embedded_kube::{Cluster, TokioClock};

use super::{fixtures, say};

/// One of the two, with a client of its own.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    pub(crate) client: kube::Client,
    store: Store,
}

#[derive(Clone)]
enum Store {
    Etcd(String),
    Memory(Cluster),
}

impl Server {
    pub(crate) fn is_real(&self) -> bool {
        matches!(self.store, Store::Etcd(_))
    }

    /// Makes the store forget every version before the present one.
    pub(crate) async fn compact(&self) {
        match &self.store {
            Store::Etcd(url) => compact_etcd(url).await,
            Store::Memory(cluster) => cluster.compact(),
        }
    }
}

/// Whether the tier runs; says once per case that it does not.
pub(crate) fn enabled(case: &str) -> bool {
    let enabled = std::env::var_os("FREEHOLD_TIER_CONTROL_PLANE").is_some_and(|value| value == "1");
    if !enabled {
        static SAID: OnceLock<()> = OnceLock::new();
        SAID.get_or_init(|| {
            say(&format!(
                "SKIPPED: {case} and the rest of the differential suite: \
                 FREEHOLD_TIER_CONTROL_PLANE is not 1"
            ));
        });
    }
    enabled
}

/// The real server: one for all tests of this process.
pub(crate) async fn real() -> Server {
    server(plane()).await
}

/// A YAML file as kubectl reads it, which is more lenient than YAML's own rules.
pub(crate) fn read_with_kubectl(file: &std::path::Path) -> serde_json::Value {
    let arguments = ["create", "--dry-run=client", "--validate=false", "--output=json", "--filename"];
    let arguments = arguments.map(std::ffi::OsStr::new).into_iter().chain([file.as_os_str()]);
    let output = plane().kubectl(arguments).expect("kubectl runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// A static is never dropped; the programs end when this process does, however it does.
fn plane() -> &'static ControlPlane {
    static PLANE: OnceLock<Option<ControlPlane>> = OnceLock::new();
    // Started on a thread of its own, since the caller is inside a runtime already, and only once:
    // what failed for the first test fails for all.
    let plane = PLANE.get_or_init(|| std::thread::spawn(start).join().ok());
    plane.as_ref().expect("the control plane starts (see the first failure)")
}

async fn server(plane: &ControlPlane) -> Server {
    let client = plane.client().await.expect("the control plane's own kubeconfig");
    Server { name: "real", client, store: Store::Etcd(plane.etcd_url().to_owned()) }
}

fn start() -> ControlPlane {
    let binaries = control_plane::tools(say).expect("the programs of the control plane");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let plane = ControlPlane::start(&binaries).await.expect("the control plane starts");
        fixtures::install(&server(&plane).await).await;
        plane
    })
}

/// A new embedded cluster.
pub(crate) async fn embedded() -> Server {
    let origin = "2026-01-01T00:00:00Z".parse().expect("a time");
    let cluster = Cluster::new(Arc::new(TokioClock::starting_at(origin)));
    let client = cluster.client();
    let server = Server { name: "embedded", client, store: Store::Memory(cluster) };
    fixtures::install(&server).await;
    server
}

/// Over etcd's JSON gateway, which needs no client library.
async fn compact_etcd(url: &str) {
    let post = async |path: &str, body: serde_json::Value| -> serde_json::Value {
        let config = kube::Config::new(url.parse().expect("etcd's URL"));
        let client = kube::Client::try_from(config).expect("a plain HTTP client");
        let request = http::Request::post(path).body(body.to_string().into_bytes());
        client.request(request.expect("a request")).await.expect("etcd answers")
    };
    let key = serde_json::json!({"key": "AA=="});
    let answer = post("/v3/kv/range", key).await;
    let revision = answer["header"]["revision"].clone();
    post("/v3/kv/compaction", serde_json::json!({"revision": revision, "physical": true})).await;
}
