//! The public handles: a server with its clusters.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::access::{self, Access, User};
use crate::clock::Clock;
use crate::deep;
use crate::faults::FaultPlan;
use crate::http::ClusterService;
use crate::journal::{ClusterJournal, Journal, Restored, StateError};
use crate::state::State;
use crate::status::ApiResult;

/// How a server and its clusters behave.
#[derive(Clone)]
pub struct Options {
    /// Where time stamps come from.
    pub clock: Arc<dyn Clock>,
    /// What uids and generated names are derived from, together with the cluster's name.
    pub seed: u64,
    /// How many changes of a resource type a watch can resume over; older ones answer 410.
    pub history: usize,
    /// Who may ask over HTTP, and what roles and bindings are for; without it everybody may do
    /// everything. [`Cluster::client`] needs no token in any case.
    pub access: Option<Arc<Access>>,
}

impl Options {
    /// The usual options on this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            seed: 0,
            history: 1024,
            access: None,
        }
    }
}

/// An embedded Kubernetes API server: many clusters in one process, each with its own storage.
#[derive(Clone)]
pub struct Server {
    inner: Arc<ServerInner>,
}

struct ServerInner {
    options: Options,
    journal: Option<Journal>,
    clusters: Mutex<BTreeMap<String, Cluster>>,
}

impl Server {
    /// A server without clusters.
    pub fn new(options: Options) -> Self {
        Self {
            inner: Arc::new(ServerInner {
                options,
                journal: None,
                clusters: Mutex::default(),
            }),
        }
    }

    /// A server whose clusters are kept in a folder, and are there again when it is opened anew:
    /// nothing that was answered is lost, however the process ends. One process at a time.
    pub fn open(options: Options, folder: &Path) -> Result<Self, StateError> {
        let (journal, restored) = Journal::open(folder)?;
        let clusters = restored.iter().map(|restored| {
            let cluster = Cluster::restore(restored, &options, &journal);
            (restored.name.clone(), cluster)
        });
        let clusters = Mutex::new(clusters.collect());
        Ok(Self {
            inner: Arc::new(ServerInner {
                options,
                journal: Some(journal),
                clusters,
            }),
        })
    }

    /// The cluster of this name, created on first use.
    pub fn cluster(&self, name: &str) -> Cluster {
        let mut clusters = self.clusters();
        if let Some(cluster) = clusters.get(name) {
            return cluster.clone();
        }
        let mut cluster = Cluster::with_options(name, &self.inner.options);
        if let Some(journal) = &self.inner.journal {
            cluster = Cluster::kept(name, &self.inner.options, journal);
        }
        clusters.insert(name.to_owned(), cluster.clone());
        cluster
    }

    /// All clusters over HTTP: the API of cluster `a` is below `/clusters/a/`. A name that was never
    /// given to [`Server::cluster`] answers 404: whoever sends requests cannot make clusters.
    pub fn router(&self) -> axum::Router {
        crate::http::router(self.clone())
    }

    /// The cluster of this name, if it was ever asked for.
    pub(crate) fn existing(&self, name: &str) -> Option<Cluster> {
        self.clusters().get(name).cloned()
    }

    fn clusters(&self) -> MutexGuard<'_, BTreeMap<String, Cluster>> {
        self.inner
            .clusters
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handle to one cluster.
#[derive(Clone)]
pub struct Cluster {
    inner: Arc<ClusterInner>,
}

struct ClusterInner {
    state: Mutex<State>,
    faults: FaultPlan,
    journal: Option<ClusterJournal>,
    access: Option<Arc<Access>>,
}

impl Cluster {
    /// A cluster of its own, outside any server.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self::with_options("", &Options::new(clock))
    }

    /// A cluster of its own with these options; the name goes into uids and generated names.
    pub fn with_options(name: &str, options: &Options) -> Self {
        let mut state = State::new(
            name,
            options.seed,
            options.history,
            Arc::clone(&options.clock),
        );
        if options.access.is_some() {
            access::install(&mut state);
        }
        Self::made(state, options, None)
    }

    fn made(state: State, options: &Options, journal: Option<ClusterJournal>) -> Self {
        Self {
            inner: Arc::new(ClusterInner {
                state: Mutex::new(state),
                faults: FaultPlan::default(),
                journal,
                access: options.access.clone(),
            }),
        }
    }

    /// A new cluster that is written down.
    fn kept(name: &str, options: &Options, journal: &Journal) -> Self {
        let clock = Arc::clone(&options.clock);
        let mut state = State::kept(name, options.seed, options.history, clock);
        if options.access.is_some() {
            access::install(&mut state);
        }
        let cluster = Self::made(state, options, Some(journal.of(name, 0)));
        cluster.write_down(&mut cluster.lock());
        cluster
    }

    /// A cluster that was written down.
    fn restore(restored: &Restored, options: &Options, journal: &Journal) -> Self {
        let clock = Arc::clone(&options.clock);
        let mut state = deep::with_room(restored.depth(), || {
            State::restore(restored, options.history, clock)
        });
        state.storage.note_changes();
        if options.access.is_some() {
            // It may have been made without.
            access::install(&mut state);
        }
        let journal = journal.of(&restored.name, restored.revision);
        let cluster = Self::made(state, options, Some(journal));
        cluster.write_down(&mut cluster.lock());
        cluster
    }

    /// Hands over what was changed, to be written down.
    fn write_down(&self, state: &mut State) {
        if let Some(journal) = &self.inner.journal {
            let changes = state.storage.take_changes();
            journal.submit(state.storage.revision(), state.ids.position(), changes);
        }
    }

    /// Waits until everything up to a revision is on disk, where there is one.
    pub(crate) async fn written(&self, revision: u64) -> ApiResult<()> {
        match &self.inner.journal {
            Some(journal) => journal.reached(revision).await,
            None => Ok(()),
        }
    }

    /// Waits until everything that an answer can show by now is on disk.
    pub(crate) async fn settled(&self) -> ApiResult<()> {
        if !self.is_kept() {
            return Ok(());
        }
        let revision = self.lock().storage.revision();
        self.written(revision).await
    }

    /// Whether there is a disk that takes nothing any more.
    pub(crate) fn is_broken(&self) -> bool {
        let journal = self.inner.journal.as_ref();
        journal.is_some_and(ClusterJournal::is_broken)
    }

    /// Whether answers wait for a disk.
    pub(crate) fn is_kept(&self) -> bool {
        self.inner.journal.is_some()
    }

    /// A client of this cluster, without any socket. It needs no token: it is the administrator.
    pub fn client(&self) -> kube::Client {
        self.client_as(User::administrator())
    }

    /// A client of this cluster that is this user, without a token.
    pub fn client_as(&self, user: User) -> kube::Client {
        kube::Client::new(ClusterService::trusted(self.clone(), user), "default")
    }

    /// The cluster's API as a service, for `kube::Client::new`, `axum` or a test. Where there is
    /// [`Access`], a request needs a token.
    pub fn service(&self) -> ClusterService {
        ClusterService::new(self.clone())
    }

    /// The faults that this cluster is to commit.
    pub fn faults(&self) -> &FaultPlan {
        &self.inner.faults
    }

    /// Forgets the history of changes: a watch from before now answers 410.
    pub fn compact(&self) {
        self.lock().storage.compact();
    }

    /// Who may ask, if that is not everybody.
    pub(crate) fn access(&self) -> Option<&Access> {
        self.inner.access.as_deref()
    }

    /// Does one step on the state; nothing waits meanwhile. `added` is how much deeper than what
    /// is stored its documents can get.
    pub(crate) fn step<T>(&self, added: usize, work: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let depth = state.deepest.saturating_add(added);
        let done = deep::with_room(depth, || work(&mut state));
        self.write_down(&mut state);
        done
    }

    /// The state, for a look that reads no document.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.inner
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use http_body_util::{BodyExt as _, Full};
    use tower_service::Service as _;

    use super::*;
    use crate::TokioClock;

    /// Answers that show what is stored, a refusal among them.
    const SHOWING: [(&str, u16); 9] = [
        ("/", 200),
        ("/api", 200),
        ("/apis", 200),
        ("/api/v1", 200),
        ("/openapi/v2", 200),
        ("/openapi/v3", 200),
        ("/api/v1/namespaces", 200),
        ("/apis/example.com/v1/things", 404),
        ("/nowhere", 404),
    ];

    /// A cluster whose disk has not taken anything yet.
    fn waiting(access: Option<Arc<Access>>) -> (Cluster, crate::journal::Writer) {
        let epoch = jiff::Timestamp::UNIX_EPOCH;
        let options = Options {
            access,
            ..Options::new(Arc::new(TokioClock::starting_at(epoch)))
        };
        let (journal, writer) = Journal::new();
        (Cluster::kept("a", &options, &journal), writer)
    }

    async fn get(cluster: &Cluster, path: &str) -> (u16, String) {
        let request = http::Request::get(path).body(Full::<bytes::Bytes>::default());
        let answer = cluster.service().call(request.unwrap()).await.unwrap();
        let code = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (code, String::from_utf8_lossy(&body).into_owned())
    }

    #[tokio::test]
    async fn nothing_is_told_before_it_is_on_disk() {
        let (cluster, writer) = waiting(None);
        for (path, _) in SHOWING {
            assert!(get(&cluster, path).now_or_never().is_none(), "{path}");
        }
        for path in ["/version", "/readyz", "/livez/etcd"] {
            assert!(get(&cluster, path).now_or_never().is_some(), "{path}");
        }
        std::thread::spawn(|| writer.run(|_| Ok::<_, String>(())));
        for (path, code) in SHOWING {
            assert_eq!(get(&cluster, path).await.0, code, "{path}");
        }
    }

    #[tokio::test]
    async fn nobody_is_refused_for_what_is_not_on_disk() {
        let access = Access::read("t,alice,1\n").unwrap();
        let (cluster, writer) = waiting(Some(Arc::new(access)));
        let path = "/api/v1/namespaces";
        assert!(get(&cluster, path).now_or_never().is_none());
        std::thread::spawn(|| writer.run(|_| Ok::<_, String>(())));
        assert!([401, 403].contains(&get(&cluster, path).await.0));
    }

    #[tokio::test]
    async fn a_disk_that_fails_is_no_secret() {
        let (cluster, writer) = waiting(None);
        std::thread::spawn(|| writer.run(|_| Err("the disk is full")));
        for (path, _) in SHOWING {
            assert_eq!(get(&cluster, path).await.0, 500, "{path}");
        }
        for name in ["healthz", "livez", "readyz"] {
            let (code, text) = get(&cluster, &format!("/{name}")).await;
            assert_eq!(code, 500, "{name}");
            assert!(text.contains("[-]etcd failed: reason withheld\n"), "{text}");
            assert!(text.ends_with(&format!("{name} check failed\n")), "{text}");
            assert_eq!(get(&cluster, &format!("/{name}/ping")).await.0, 200);
            assert_eq!(get(&cluster, &format!("/{name}/etcd")).await.0, 500);
        }
        let left_out = "/livez?exclude=etcd";
        assert_eq!(get(&cluster, left_out).await, (200, "ok".to_owned()));
    }
}
