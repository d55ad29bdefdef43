//! `freehold dev`: the same world in real time, with its API on a port of this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use axum::extract::{Path as UrlPath, Query as UrlQuery, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use console::style;
use controllers::reconcile::WallClock as _;
use controllers::registry::{self, Which};
use embedded_kube::{Limits, Listener};
use futures_util::StreamExt as _;
use jiff::Timestamp;
use kube::Client;
use kube::runtime::{WatchStreamExt as _, watcher};
use tokio::sync::oneshot;

use super::once::line;
use super::sim::{self, Deed};
use super::world::{DEMO, World, events};
use crate::clock::ProcessClock;
use crate::look::Seen;
use crate::look::ask::{Answer, PATH, SERVER};
use crate::look::everywhere::{self, Found, Told};
use crate::operator::stop;

/// Runs until it is told to stop.
pub(super) fn run(
    port: u16,
    kubeconfig: Option<&Path>,
    state: Option<&Path>,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime")?;
    runtime.block_on(live(port, kubeconfig, state))
}

async fn live(port: u16, kubeconfig: Option<&Path>, state: Option<&Path>) -> anyhow::Result<()> {
    let stop = stop()?;
    let clock = ProcessClock::real();
    let world = match state {
        Some(folder) => World::kept(clock, folder).await?,
        None => World::new(clock).await?,
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = Listener::bind(address, Limits::default()).await;
    let listener = listener.with_context(|| format!("--port {port}"))?;
    let Door {
        listener,
        scheme,
        authority,
    } = Door::new(listener)?;
    let address = listener.local_addr()?;
    let url = format!("{scheme}://{address}/clusters/{SERVER}");
    let file = Kubeconfig::write(kubeconfig, &url, &authority)?;
    introduce(&url, &file.path, state)?;
    let began = clock.wall();
    world.create().await?;
    world.tell_waits();

    let world = Arc::new(world);
    let below = |path: &str| format!("/clusters/{SERVER}{PATH}/{path}");
    let asked = Router::new()
        .route(&below("inspect/{system}"), get(inspect))
        .route(&below("whose"), post(whose))
        .route(&below("orphans"), get(orphans))
        .route(&below("orphans/{claim}"), post(end))
        .route(&below("sim"), post(by_hand))
        .with_state(world.clone());
    let api = listener.serve(asked.merge(world.server.router()));
    let (halt, halted) = oneshot::channel::<()>();
    let controllers = world.control(async {
        // Resolves when the sender is dropped.
        let _ = halted.await;
    });
    let controllers = tokio::spawn(controllers);
    tokio::select! {
        () = stop => {}
        never = api => match never {},
        failed = show_events(world.client.clone(), began) => failed?,
    }
    drop(halt);
    controllers.await.context("the controllers")?;
    match state {
        None => say::line!("stopped: the API server and the account are gone with this process")?,
        Some(folder) => say::line!(
            "stopped: the account is gone with this process; the objects are in {}",
            folder.display()
        )?,
    }
    Ok(())
}

/// What `freehold explain` and `freehold tree` ask for.
async fn inspect(
    State(world): State<Arc<World>>,
    UrlPath(system): UrlPath<String>,
    UrlQuery(query): UrlQuery<BTreeMap<String, String>>,
) -> Json<Answer<Vec<Seen>>> {
    let told = |key: &str| query.get(key).filter(|value| !value.is_empty());
    let which = Which {
        name: told("name").map(String::as_str),
        namespace: told("namespace").map(String::as_str),
    };
    let seen = async {
        let entry = registry::entry(&system).context("it is not served here")?;
        let seen = world.inspect(entry, which).await?;
        Ok(seen.iter().map(Seen::new).collect())
    };
    Json(seen.await.into())
}

/// What `freehold whose` asks for.
async fn whose(
    State(world): State<Arc<World>>,
    Json(ids): Json<Vec<String>>,
) -> Json<Answer<Vec<Told>>> {
    let told = async { Ok(everywhere::tell(&world.look_around().await?, &ids).await) };
    Json(told.await.into())
}

/// What `freehold orphans` asks for.
async fn orphans(State(world): State<Arc<World>>) -> Json<Answer<Found>> {
    let again = || -> registry::Future<'_, _> { Box::pin(world.look_around()) };
    Json(everywhere::find(&again).await.into())
}

/// What `freehold orphans --apply` asks for: what is left of a claim.
async fn end(
    State(world): State<Arc<World>>,
    UrlPath(claim): UrlPath<String>,
) -> Json<Answer<Vec<String>>> {
    let left = async {
        let again = || -> registry::Future<'_, _> { Box::pin(world.look_around()) };
        let orphan = everywhere::orphan(&again, &claim).await?;
        everywhere::end(&again, orphan).await
    };
    Json(left.await.into())
}

/// What `freehold sim` asks for.
async fn by_hand(State(world): State<Arc<World>>, Json(deed): Json<Deed>) -> Json<Answer<String>> {
    let mut account = world.accounts.account().lock();
    Json(sim::perform(&mut account, &deed).into())
}

/// How the API is reached.
struct Door {
    listener: Listener,
    scheme: &'static str,
    /// What a kubeconfig says of the certificate; nothing without one.
    authority: String,
}

impl Door {
    #[cfg(feature = "https")]
    fn new(listener: Listener) -> anyhow::Result<Self> {
        let names = ["127.0.0.1", "localhost"];
        let certificate = embedded_kube::Certificate::generate(&names).context("a certificate")?;
        let data = certificate.authority_data();
        Ok(Self {
            listener: listener.with_certificate(certificate),
            scheme: "https",
            authority: format!("    certificate-authority-data: {data}\n"),
        })
    }

    #[cfg(not(feature = "https"))]
    #[expect(clippy::unnecessary_wraps, reason = "a certificate can fail")]
    fn new(listener: Listener) -> anyhow::Result<Self> {
        Ok(Self {
            listener,
            scheme: "http",
            authority: String::new(),
        })
    }
}

fn introduce(url: &str, kubeconfig: &Path, state: Option<&Path>) -> Result<(), say::Unheard> {
    let bold = |text: &str| style(text.to_owned()).bold();
    say::line!("{} {}", bold("Freehold"), env!("CARGO_PKG_VERSION"))?;
    say::line!("Kubernetes API   {url}")?;
    if let Some(folder) = state {
        say::line!("objects          kept in {}", folder.display())?;
    }
    say::line!("AWS account      simulated; nothing leaves this machine")?;
    say::line!("cluster          {DEMO}, which leaves everything to Freehold\n")?;
    say::line!("{}", bold("In another terminal:"))?;
    let absolute = std::path::absolute(kubeconfig);
    let kubeconfig = absolute.as_deref().unwrap_or(kubeconfig);
    say::line!("  export KUBECONFIG={}", kubeconfig.display())?;
    // Whoever runs it from a clone has none on the PATH.
    let program = std::env::current_exe().ok();
    let program = program.map_or("freehold".to_owned(), |path| path.display().to_string());
    for (command, about) in [
        (
            "kubectl get clusters -o wide".to_owned(),
            "what there is; --watch shows it change",
        ),
        (
            "kubectl explain cluster.spec.cloud.aws".to_owned(),
            "what can be said",
        ),
        (
            format!("kubectl get cluster {DEMO} -o yaml"),
            "ids, conditions, the ledger",
        ),
        (
            format!("kubectl describe cluster {DEMO}"),
            "its events: what was done, and why",
        ),
        (
            format!(
                "kubectl patch cluster {DEMO} --type merge -p \
                 '{{\"spec\":{{\"cloud\":{{\"aws\":{{\"nodePortsAllowedIPRange\":\"10.0.0.0/8\"}}}}}}}}'"
            ),
            "its rules follow",
        ),
        (
            format!("{program} tree cluster/{DEMO}"),
            "what belongs to it, and why; explain says what comes next",
        ),
        (
            format!("{program} whose kubernetes-{DEMO} web-shop"),
            "whose resources are",
        ),
        (
            format!("{program} sim remove kubernetes-{DEMO} 'ingress tcp 22-22 0.0.0.0/0'"),
            "drift, by hand, in the simulated cloud; it is repaired at the next look",
        ),
        (
            format!("kubectl annotate cluster {DEMO} freehold.dev/management=observe"),
            "from now on it only says what it would do",
        ),
        (
            format!("kubectl delete cluster {DEMO}"),
            "everything goes, and nothing else",
        ),
    ] {
        say::line!("  {command}  {}", style(format!("# {about}")).dim())?;
    }
    say::line!("\n{}", bold("What happens here (Ctrl-C ends it):"))
}

/// Shows every event since `began`, once: a watch that breaks begins anew.
async fn show_events(client: Client, began: Timestamp) -> anyhow::Result<()> {
    let all = watcher(events(&client), watcher::Config::default());
    let mut all = std::pin::pin!(all.default_backoff().applied_objects());
    let mut shown = BTreeSet::new();
    while let Some(event) = all.next().await {
        let Ok(event) = event else { continue };
        let time = event.event_time.as_ref();
        let is_old = time.is_some_and(|time| time.0 < began);
        if !is_old && shown.insert(event.metadata.name.clone()) {
            let about = event.regarding.as_ref();
            let about = about.and_then(|about| about.name.as_deref());
            let about = style(about.unwrap_or_default()).bold();
            say::line!("  {about} {}", line(&event))?;
        }
    }
    Ok(())
}

/// How a kubeconfig that may be overwritten and removed begins.
const OURS: &str = "# Written by freehold dev, and gone with it.\n";

/// A kubeconfig, for as long as there is a server behind it.
struct Kubeconfig {
    path: PathBuf,
}

impl Kubeconfig {
    fn write(path: Option<&Path>, url: &str, authority: &str) -> anyhow::Result<Self> {
        let name = format!("freehold-dev-{}.kubeconfig", std::process::id());
        let path = path.map_or_else(|| std::env::temp_dir().join(name), Path::to_owned);
        if let Ok(there) = std::fs::read_to_string(&path)
            && !there.starts_with(OURS)
        {
            anyhow::bail!(
                "{} is there already, and is somebody's: name another file",
                path.display()
            );
        }
        // kubectl asks for a name and a password where nothing is said; everybody is let in.
        let text = format!(
            "{OURS}apiVersion: v1\nkind: Config\ncurrent-context: {SERVER}\n\
             clusters:\n- name: {SERVER}\n  cluster:\n    server: {url}\n{authority}\
             contexts:\n- name: {SERVER}\n  context:\n    cluster: {SERVER}\n    user: {SERVER}\n\
             users:\n- name: {SERVER}\n  user:\n    token: anybody\n"
        );
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path })
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        // Where it is gone already, there is nothing to remove.
        let _ = std::fs::remove_file(&self.path);
    }
}
