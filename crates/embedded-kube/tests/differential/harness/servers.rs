//! The two servers a case runs on.

use std::sync::{Arc, OnceLock};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use control_plane::ControlPlane;
use embedded_kube::{Access, Cluster, Options, TokioClock, User};
use kube::config::KubeConfigOptions;
use serde_json::{Value, json};

use super::{fixtures, say};

/// One of the two, with a client of its own.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    pub(crate) client: kube::Client,
    /// A client that shows no credentials of its own.
    pub(crate) stranger: kube::Client,
    store: Store,
}

#[derive(Clone)]
enum Store {
    Etcd(&'static ControlPlane),
    Memory(Cluster),
}

impl Server {
    pub(crate) fn is_real(&self) -> bool {
        matches!(self.store, Store::Etcd(_))
    }

    /// Makes the store forget every version before the present one.
    pub(crate) async fn compact(&self) {
        match &self.store {
            Store::Etcd(plane) => compact_etcd(plane.etcd_url()).await,
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
    static PLANE: OnceLock<Option<ControlPlane>> = OnceLock::new();
    server(plane(&PLANE)).await
}

/// A second one for the cases that make the store forget its past: the others' cursors and watches
/// must not lose theirs.
pub(crate) async fn forgetful() -> Server {
    static PLANE: OnceLock<Option<ControlPlane>> = OnceLock::new();
    server(plane(&PLANE)).await
}

/// A YAML file as kubectl reads it, which is more lenient than YAML's own rules.
pub(crate) fn read_with_kubectl(server: &Server, file: &std::path::Path) -> Value {
    let arguments = [
        "create",
        "--dry-run=client",
        "--validate=false",
        "--output=json",
        "--filename",
    ];
    let arguments = arguments
        .map(std::ffi::OsStr::new)
        .into_iter()
        .chain([file.as_os_str()]);
    let Store::Etcd(plane) = server.store else {
        panic!("only the real server has a kubectl")
    };
    let output = plane.kubectl(arguments).expect("kubectl runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// A static is never dropped; the programs end when this process does, however it does.
fn plane(once: &'static OnceLock<Option<ControlPlane>>) -> &'static ControlPlane {
    // Started on a thread of its own, since the caller is inside a runtime already, and only once:
    // what failed for the first test fails for all.
    let plane = once.get_or_init(|| std::thread::spawn(start).join().ok());
    plane
        .as_ref()
        .expect("the control plane starts (see the first failure)")
}

async fn server(plane: &'static ControlPlane) -> Server {
    let client = plane
        .client()
        .await
        .expect("the control plane's own kubeconfig");
    let file = kube::config::Kubeconfig::read_from(plane.kubeconfig()).expect("a kubeconfig");
    let config = kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
    let mut config = config.expect("a configuration");
    config.auth_info = kube::config::AuthInfo::default();
    Server {
        name: "real",
        client,
        stranger: kube::Client::try_from(config).expect("a client"),
        store: Store::Etcd(plane),
    }
}

fn start() -> ControlPlane {
    let binaries = control_plane::tools(say).expect("the programs of the control plane");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let plane = ControlPlane::start(&binaries)
            .await
            .expect("the control plane starts");
        fixtures::install(&plane.client().await.expect("a client")).await;
        plane
    })
}

/// A new embedded cluster.
pub(crate) async fn embedded() -> Server {
    start_embedded(None).await
}

/// The same with the users of the real one.
pub(crate) async fn guarded() -> Server {
    let mut alice = User::new("alice", &["dev", "qa"]);
    "alice-uid".clone_into(&mut alice.uid);
    let access = Access::new().token(control_plane::USER_TOKEN, alice);
    start_embedded(Some(Arc::new(access))).await
}

async fn start_embedded(access: Option<Arc<Access>>) -> Server {
    let origin = "2026-01-01T00:00:00Z".parse().expect("a time");
    let mut options = Options::new(Arc::new(TokioClock::starting_at(origin)));
    options.access = access;
    let cluster = Cluster::with_options("", &options);
    let server = Server {
        name: "embedded",
        client: cluster.client(),
        stranger: kube::Client::new(cluster.service(), "default"),
        store: Store::Memory(cluster),
    };
    fixtures::install(&server.client).await;
    server
}

/// Compacts as the API server does itself every few minutes: it tells the others by a key, and they
/// drop what they have cached of the past within seconds. Over etcd's JSON gateway, which needs no
/// client library.
async fn compact_etcd(url: &str) {
    let post = async |path: &str, body: Value| -> Result<Value, kube::Error> {
        let config = kube::Config::new(url.parse().expect("etcd's URL"));
        let client = kube::Client::try_from(config).expect("a plain HTTP client");
        let request = http::Request::post(path).body(body.to_string().into_bytes());
        client.request(request.expect("a request")).await
    };
    let key = BASE64.encode("compact_rev_key");
    let answer = post("/v3/kv/range", json!({"key": key}))
        .await
        .expect("etcd answers");
    let revision = answer["header"]["revision"]
        .as_str()
        .expect("a revision")
        .to_owned();
    let value = BASE64.encode(&revision);
    post("/v3/kv/put", json!({"key": key, "value": value}))
        .await
        .expect("etcd answers");
    let compaction = json!({"revision": revision, "physical": true});
    match post("/v3/kv/compaction", compaction).await {
        // Another case was quicker and compacted more.
        Err(kube::Error::Api(status)) if status.message.contains("has been compacted") => {}
        answer => assert!(answer.is_ok(), "{answer:?}"),
    }
}
