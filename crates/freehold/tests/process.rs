//! The real binary as the operator: on an embedded API server over HTTP, with the AWS adapter, which
//! is given nothing to call.
#![cfg(feature = "aws")]
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use api::kkp::Cluster as Object;
use embedded_kube::{Options, Server};
use freehold::clock::ProcessClock;
use freehold::operator::LEASE;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_mins(1);

/// The operator's process; it does not outlive the test.
struct Replica {
    child: Child,
    logs: mpsc::UnboundedReceiver<Value>,
}

impl Replica {
    fn start(kubeconfig: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_freehold"))
            .args([
                "run",
                "--systems",
                "kkp",
                "--listen",
                "127.0.0.1:0",
                "--log",
                "json",
            ])
            .env("KUBECONFIG", kubeconfig)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let (sender, logs) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                // Structured: every line of it.
                let line = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, logs }
    }

    /// The fields of the next log line whose message contains this.
    async fn log(&mut self, words: &str) -> Value {
        let waiting = async {
            loop {
                let line = self.logs.recv().await.expect("more lines");
                assert!(line.is_object(), "{line}");
                let fields = &line["fields"];
                if fields["message"].as_str().unwrap().contains(words) {
                    return fields.clone();
                }
            }
        };
        timeout(PATIENCE, waiting).await.expect(words)
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn page(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// An embedded API server on a port of this machine, and its kubeconfig.
async fn serve() -> (Client, std::path::PathBuf) {
    let server = Server::new(Options::new(Arc::new(ProcessClock::real())));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = server.cluster("a").client();
    tokio::spawn(axum::serve(listener, server.router()).into_future());
    let text = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": format!("http://{address}/clusters/a")}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "users": [{"name": "a", "user": {}}],
    });
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("process-{}.kubeconfig", address.port()));
    std::fs::write(&file, text.to_string()).unwrap();
    (client, file)
}

#[tokio::test]
async fn the_operator_runs_tells_and_stops() {
    let (client, kubeconfig) = serve().await;
    api::manifests::install(client.clone()).await.unwrap();
    let post = PostParams::default();
    let namespace: Namespace =
        serde_json::from_value(json!({"metadata": {"name": "freehold-system"}})).unwrap();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&post, &namespace).await.unwrap();
    let clusters: Api<Object> = Api::all(client.clone());
    let cluster: Object = serde_json::from_value(json!({
        "metadata": {"name": "demo", "annotations": {"kubermatic.io/aws-region": "atlantis"}},
        "spec": {"cloud": {"dc": "d", "aws": {
            "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
            "instanceProfileName": "",
        }}},
    }))
    .unwrap();
    clusters.create(&post, &cluster).await.unwrap();

    let mut replica = Replica::start(&kubeconfig);
    let address = replica.log("serving").await["address"].clone();
    let address = address.as_str().unwrap();
    replica.log("leading").await;
    assert!(page(address, "/readyz").await.ends_with("leading\n"));
    replica.log("'atlantis' is not the name of a region").await;
    // A pass is told before it is counted.
    let counted = async {
        let lines = [
            "freehold_leader 1\n",
            "freehold_cloud_errors_total{kind=\"Cluster.kubermatic.k8c.io\",class=\"fatal\"} ",
            "freehold_objects{kind=\"Cluster.kubermatic.k8c.io\",condition=\"Ready\",status=\"False\"} 1\n",
        ];
        loop {
            let metrics = page(address, "/metrics").await;
            if lines.iter().all(|line| metrics.contains(line)) {
                break;
            }
        }
    };
    timeout(PATIENCE, counted).await.expect("it is counted");

    // The other commands find the same cluster, and say the same.
    let mut tree = Command::new(env!("CARGO_BIN_EXE_freehold"));
    tree.args(["tree", "cluster/demo"])
        .env("KUBECONFIG", &kubeconfig);
    // The API server needs this thread meanwhile.
    let output = tokio::task::spawn_blocking(move || tree.output());
    let output = timeout(PATIENCE, output).await.unwrap().unwrap().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8(output.stdout).unwrap();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("'atlantis' is not the name of a region"),
        "{said}"
    );

    let pid = replica.child.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(sent.unwrap().success());
    replica.log("stopping").await;
    let ended = tokio::task::spawn_blocking(move || replica.child.wait());
    let status = timeout(PATIENCE, ended).await.unwrap().unwrap().unwrap();
    assert!(status.success(), "{status}");
    let leases: Api<Lease> = Api::namespaced(client, "freehold-system");
    let lease = leases.get(LEASE).await.unwrap();
    assert_eq!(lease.spec.unwrap().holder_identity, None, "it is released");
    std::fs::remove_file(kubeconfig).unwrap();
}

/// What is wrong between us and AWS: the address, once, without debug output.
#[tokio::test]
async fn a_cloud_that_does_not_answer_is_named() {
    let (client, kubeconfig) = serve().await;
    api::manifests::install(client.clone()).await.unwrap();
    let clusters: Api<Object> = Api::all(client.clone());
    let cluster: Object = serde_json::from_value(json!({
        "metadata": {"name": "demo", "annotations": {"kubermatic.io/aws-region": "eu-central-1"}},
        "spec": {"cloud": {"dc": "d", "aws": {}}},
    }))
    .unwrap();
    let created = clusters.create(&PostParams::default(), &cluster).await;
    created.unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let refusing = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let keys = [
        ("AWS_ACCESS_KEY_ID", "AKIA"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
    ];
    let nobody = [("HOME", "/nowhere"), ("AWS_EC2_METADATA_DISABLED", "true")];
    for (environment, words) in [
        (
            &[&keys[..], &[("AWS_ENDPOINT_URL", &refusing)]].concat(),
            format!("{refusing} cannot be reached: Connection refused"),
        ),
        (
            &nobody.to_vec(),
            "there are no credentials: give the operator's environment an identity".into(),
        ),
    ] {
        let mut tree = Command::new(env!("CARGO_BIN_EXE_freehold"));
        for variable in ["AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_ENDPOINT_URL"] {
            tree.env_remove(variable);
        }
        tree.args(["tree", "cluster/demo"])
            .env("KUBECONFIG", &kubeconfig)
            .envs(environment.iter().copied());
        let output = tokio::task::spawn_blocking(move || tree.output());
        let output = timeout(PATIENCE, output).await.unwrap().unwrap().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        // Lines are as wide as a terminal.
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(said.matches(&words).count(), 1, "{said}");
        for noise in [
            "dispatch failure",
            "os error",
            "(Connect)",
            "Attempted",
            " again",
        ] {
            assert!(!said.contains(noise), "{said}");
        }
    }
    std::fs::remove_file(kubeconfig).unwrap();
}
