//! The two servers that `kubectl` talks to.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::{fs, thread};

use control_plane::{Binaries, ControlPlane};
use embedded_kube::{Access, Certificate, Limits, Listener, Options, Server, TokioClock, User};
use serde_json::{Value, json};

/// The administrator's token.
const TOKEN: &str = "freehold-test-administrator";

/// A server, for one script.
pub(crate) struct Served {
    pub(crate) kubeconfig: Value,
    pub(crate) kubectl: PathBuf,
}

/// Writes past the test harness, which hides what a passing test prints.
pub(crate) fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("standard error is open");
}

/// Whether the tier runs; says that it does not.
pub(crate) fn enabled(script: &str) -> bool {
    let enabled = std::env::var_os("FREEHOLD_TIER_CONTROL_PLANE").is_some_and(|value| value == "1");
    if !enabled {
        static SAID: OnceLock<()> = OnceLock::new();
        SAID.get_or_init(|| {
            say(&format!(
                "SKIPPED: {script} and all other scripts: FREEHOLD_TIER_CONTROL_PLANE is not 1"
            ));
        });
    }
    enabled
}

fn binaries() -> &'static Binaries {
    static BINARIES: OnceLock<Binaries> = OnceLock::new();
    BINARIES.get_or_init(|| control_plane::tools(say).expect("the programs of the control plane"))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

impl Served {
    /// The real one, which all scripts share.
    pub(crate) fn real(_script: &str) -> Self {
        // A static is never dropped; the programs end when this process does, however it does.
        static PLANE: OnceLock<ControlPlane> = OnceLock::new();
        let plane = PLANE.get_or_init(|| {
            let plane = runtime().block_on(ControlPlane::start(binaries()));
            plane.expect("the control plane starts")
        });
        let text = fs::read_to_string(plane.kubeconfig()).expect("the kubeconfig");
        Self {
            kubeconfig: serde_json::from_str(&text).expect("a kubeconfig in JSON"),
            kubectl: binaries().program("kubectl"),
        }
    }

    /// A cluster of its own on an embedded one that listens with TLS, which all scripts share.
    pub(crate) fn embedded(script: &str) -> Self {
        static SERVER: OnceLock<(Server, SocketAddr, String)> = OnceLock::new();
        let (server, address, authority) = SERVER.get_or_init(serve);
        server.cluster(script);
        let url = format!("https://{address}/clusters/{script}");
        Self {
            kubeconfig: json!({
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "test",
                "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
                "clusters": [{"name": "test", "cluster": {
                    "server": url, "certificate-authority-data": authority}}],
                "users": [{"name": "admin", "user": {"token": TOKEN}}],
            }),
            kubectl: binaries().program("kubectl"),
        }
    }
}

/// Listens until this process ends.
fn serve() -> (Server, SocketAddr, String) {
    let (tell, told) = std::sync::mpsc::channel();
    thread::spawn(move || {
        runtime().block_on(async {
            // kubectl counts ages from the present.
            let clock = TokioClock::starting_at(jiff::Timestamp::now());
            let mut administrator = User::new("admin", &["system:masters"]);
            "admin".clone_into(&mut administrator.uid);
            let server = Server::new(Options {
                access: Some(Arc::new(Access::new().token(TOKEN, administrator))),
                ..Options::new(Arc::new(clock))
            });
            let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let certificate = Certificate::generate(&["127.0.0.1"]).expect("a certificate");
            let authority = certificate.authority_data();
            let listener = Listener::bind(any, Limits::default())
                .await
                .expect("a port");
            let listener = listener.with_certificate(certificate);
            let address = listener.local_addr().expect("an address");
            let told = tell.send((server.clone(), address, authority));
            told.expect("somebody waits");
            listener.serve(server.router()).await;
        });
    });
    told.recv().expect("the server listens")
}
