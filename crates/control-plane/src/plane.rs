//! Starts etcd, kube-apiserver and kube-controller-manager on loopback and stops them in order.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::json;
use test_programs::Process;

use crate::Binaries;

/// How long a program may take until it is ready, on a machine that is busy with a build besides.
const READY_WITHIN: Duration = Duration::from_mins(2);
const ASK_EVERY: Duration = Duration::from_millis(100);

/// Between choosing a free port and listening on it somebody else may take it.
const ATTEMPTS: u32 = 3;

/// The administrator's token. It opens a server on loopback that lives as long as a test.
const TOKEN: &str = "freehold-test-administrator";
/// The bearer token of a user without rights: `alice`, in the groups `dev` and `qa`.
pub const USER_TOKEN: &str = "alice-token";

/// A running control plane, with only the garbage-collector and namespace controllers.
///
/// # Guarantees
/// Dropping it stops the programs by their process ids, the API server before its etcd, and removes
/// their folders. The same happens when the process that holds it panics, exits without dropping it
/// (a `static`), or is killed.
///
/// # Assumptions
/// A Linux or another Unix with `sh`, `sleep`, `rm` and `kill`.
#[derive(Debug)]
pub struct ControlPlane {
    // Dropped in this order: an API server without its etcd can ignore SIGTERM.
    _controllers: Process,
    _api: Process,
    _etcd: Process,
    kubeconfig: PathBuf,
    url: String,
    etcd_url: String,
    binaries: Binaries,
}

/// Why a control plane could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Files could not be written or a program not be run.
    #[error("cannot prepare the control plane: {doing}")]
    Prepare {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A program ended instead of serving.
    #[error("{program} ended before it was ready; it last wrote:\n{last_words}")]
    Ended {
        /// The program.
        program: &'static str,
        /// The end of its log.
        last_words: String,
    },
    /// A program did not get ready.
    #[error("{program} was not ready within {} s; it last wrote:\n{last_words}", READY_WITHIN.as_secs())]
    NotReady {
        /// The program.
        program: &'static str,
        /// The end of its log.
        last_words: String,
    },
    /// The client could not be made from the kubeconfig that was written.
    #[error("cannot make a client for the control plane")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ControlPlane {
    /// Starts one and waits until it is ready.
    ///
    /// # Errors
    /// See [`StartError`]; what was started is stopped again.
    pub async fn start(binaries: &Binaries) -> Result<Self, StartError> {
        let mut attempt = 1;
        loop {
            match Self::try_start(binaries).await {
                Err(StartError::Ended { last_words, .. })
                    if attempt < ATTEMPTS && last_words.contains("address already in use") =>
                {
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    async fn try_start(binaries: &Binaries) -> Result<Self, StartError> {
        let base =
            test_programs::temporary_folder("control-plane").map_err(prepare("make a folder"))?;
        let etcd_url = format!("http://127.0.0.1:{}", free_port()?);
        let etcd_folder = subfolder(&base, "etcd")?;
        let etcd = run(
            binaries,
            "etcd",
            &etcd_arguments(&etcd_url, free_port()?),
            &etcd_folder,
        )?;

        let port = free_port()?;
        let url = format!("https://127.0.0.1:{port}");
        let api_folder = subfolder(&base, "kube-apiserver")?;
        let kubeconfig = api_folder.join("kubeconfig");
        write(
            &api_folder.join("tokens"),
            &format!(
                "{TOKEN},admin,admin,system:masters\n{USER_TOKEN},alice,alice-uid,\"dev,qa\"\n"
            ),
        )?;
        write(&kubeconfig, &kubeconfig_text(&url, &api_folder))?;
        let mut api = run(
            binaries,
            "kube-apiserver",
            &api_arguments(&etcd_url, port, &api_folder),
            &api_folder,
        )?;
        wait_until_ready(&mut api, &kubeconfig).await?;

        let folder = subfolder(&base, "kube-controller-manager")?;
        let controllers = run(
            binaries,
            "kube-controller-manager",
            &controller_arguments(&kubeconfig),
            &folder,
        )?;
        Ok(Self {
            _controllers: controllers,
            _api: api,
            _etcd: etcd,
            kubeconfig,
            url,
            etcd_url,
            binaries: binaries.clone(),
        })
    }

    /// A client with the administrator's rights. It belongs to the runtime it is made in.
    ///
    /// # Errors
    /// [`StartError::Client`].
    pub async fn client(&self) -> Result<kube::Client, StartError> {
        client(&self.kubeconfig).await
    }

    /// The kubeconfig of the administrator, for programs that read one.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Where the API is served.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where etcd serves its clients, for what only the store can do, such as compaction.
    pub fn etcd_url(&self) -> &str {
        &self.etcd_url
    }

    /// The administrator's bearer token.
    pub fn token(&self) -> &'static str {
        TOKEN
    }

    /// Runs kubectl as the administrator.
    ///
    /// # Errors
    /// Only if it cannot be run; whether it succeeded is in the [`Output`].
    pub fn kubectl<I: IntoIterator<Item = S>, S: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: I,
    ) -> io::Result<Output> {
        Command::new(self.binaries.program("kubectl"))
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(arguments)
            .output()
    }
}

fn etcd_arguments(url: &str, peer_port: u16) -> Vec<String> {
    let peer = format!("http://127.0.0.1:{peer_port}");
    vec![
        "--data-dir=data".into(),
        format!("--listen-client-urls={url}"),
        format!("--advertise-client-urls={url}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        // The data is gone with the test: a crash of the machine may lose it.
        "--unsafe-no-fsync".into(),
        "--log-level=warn".into(),
    ]
}

fn api_arguments(etcd_url: &str, port: u16, folder: &Path) -> Vec<String> {
    let file = |name: &str| folder.join(name).display().to_string();
    vec![
        format!("--etcd-servers={etcd_url}"),
        "--bind-address=127.0.0.1".into(),
        "--advertise-address=127.0.0.1".into(),
        format!("--secure-port={port}"),
        // Certificate and key are made by the server itself; the key also signs service accounts'
        // tokens, which nobody here asks for but the server insists on.
        format!("--cert-dir={}", folder.display()),
        format!("--service-account-key-file={}", file("apiserver.key")),
        format!(
            "--service-account-signing-key-file={}",
            file("apiserver.key")
        ),
        "--service-account-issuer=https://kubernetes.default.svc".into(),
        format!("--token-auth-file={}", file("tokens")),
        "--authorization-mode=RBAC".into(),
        "--service-cluster-ip-range=10.96.0.0/16".into(),
        "--endpoint-reconciler-type=none".into(),
        // Tests ask as fast as they can; being told to slow down is not what they are about.
        "--enable-priority-and-fairness=false".into(),
        "--max-requests-inflight=0".into(),
        "--max-mutating-requests-inflight=0".into(),
        "--profiling=false".into(),
    ]
}

fn controller_arguments(kubeconfig: &Path) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        "--controllers=garbage-collector-controller,namespace-controller".into(),
        "--leader-elect=false".into(),
        "--secure-port=0".into(),
        "--kube-api-qps=1000".into(),
        "--kube-api-burst=2000".into(),
    ]
}

/// JSON is YAML, so the client, kubectl and the controller manager all read it.
fn kubeconfig_text(url: &str, api_folder: &Path) -> String {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        "clusters": [{"name": "test", "cluster": {
            "server": url,
            "certificate-authority": api_folder.join("apiserver.crt"),
        }}],
        "users": [{"name": "admin", "user": {"token": TOKEN}}],
    })
    .to_string()
}

async fn client(kubeconfig: &Path) -> Result<kube::Client, StartError> {
    let failed = |error: kube::config::KubeconfigError| StartError::Client(Box::new(error));
    let file = Kubeconfig::read_from(kubeconfig).map_err(failed)?;
    let mut config = kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
        .await
        .map_err(failed)?;
    // A test wants to see every answer, and loopback needs no proxy.
    config.default_retry = false;
    config.proxy_url = None;
    kube::Client::try_from(config).map_err(|error| StartError::Client(Box::new(error)))
}

async fn wait_until_ready(api: &mut Process, kubeconfig: &Path) -> Result<(), StartError> {
    let asking = async {
        loop {
            if api.has_ended().map_err(prepare("ask after a program"))? {
                return Err(StartError::Ended {
                    program: api.name(),
                    last_words: api.last_words(),
                });
            }
            // Until the server has written its certificate there is no client; then it refuses
            // connections, then it answers that it is not ready: all of it means "ask again".
            if let Ok(client) = client(kubeconfig).await {
                let request = http::Request::get("/readyz").body(Vec::new());
                let request = request.expect("the path is a constant");
                if client
                    .request_text(request)
                    .await
                    .is_ok_and(|answer| answer == "ok")
                {
                    return Ok(());
                }
            }
            tokio::time::sleep(ASK_EVERY).await;
        }
    };
    match tokio::time::timeout(READY_WITHIN, asking).await {
        Ok(result) => result,
        Err(_) => Err(StartError::NotReady {
            program: api.name(),
            last_words: api.last_words(),
        }),
    }
}

fn run(
    binaries: &Binaries,
    name: &'static str,
    arguments: &[String],
    folder: &Path,
) -> Result<Process, StartError> {
    Process::start(name, &binaries.program(name), arguments, folder)
        .map_err(prepare("run a program"))
}

fn free_port() -> Result<u16, StartError> {
    test_programs::free_port().map_err(prepare("find a free port"))
}

fn subfolder(base: &Path, name: &str) -> Result<PathBuf, StartError> {
    let folder = base.join(name);
    fs::create_dir(&folder).map_err(prepare("make a folder"))?;
    Ok(folder)
}

fn write(path: &Path, text: &str) -> Result<(), StartError> {
    fs::write(path, text).map_err(prepare("write a file"))
}

fn prepare(doing: &'static str) -> impl FnOnce(io::Error) -> StartError {
    move |source| StartError::Prepare { doing, source }
}
