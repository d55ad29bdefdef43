//! A world in which something happens between any two calls of an operator to the API server.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use api::names::guest_finalizer;
use cloud_port::driver::Term;
use cloud_sim::SharedAccount;
use controllers::reconcile::{self, Reconciler, Settings, TokioClock};
use embedded_kube::{Cluster, ClusterService, LostAnswer, ResponseBody};
use http::{Request, Response};
use k8s_openapi::api::core::v1::Secret;
use kkp_suite::One;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::client::Body;
use kube::{Client, ResourceExt as _};
use ownership::{Freehold, Holder};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tower_service::Service;

use crate::lab::{Lab, around};
use crate::object::{Gate, Yard, create, install};
use crate::system::Gates;

pub(crate) const GATE: &str = "Gate.second.freehold.dev";

type Deed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What is to happen once, before a call.
struct Plan {
    method: &'static str,
    path: String,
    skip: usize,
    deed: Deed,
}

/// What is to happen between calls, and how long each of them takes.
#[derive(Clone, Default)]
pub(crate) struct Between {
    plans: Arc<Mutex<Vec<Plan>>>,
    /// The state of a generator of delays; none takes any time without it.
    delays: Arc<Mutex<Option<u64>>>,
}

impl Between {
    /// Something happens before the call of this method whose path ends so, after so many others.
    pub(crate) fn before(
        &self,
        method: &'static str,
        path: &str,
        skip: usize,
        deed: impl Future<Output = ()> + Send + 'static,
    ) {
        self.plans.lock().unwrap().push(Plan {
            method,
            path: path.to_owned(),
            skip,
            deed: Box::pin(deed),
        });
    }

    /// Whether everything that was planned has happened.
    pub(crate) fn is_over(&self) -> bool {
        self.plans.lock().unwrap().is_empty()
    }

    /// Calls take their time from now on; without a seed none.
    pub(crate) fn delay(&self, seed: Option<u64>) {
        *self.delays.lock().unwrap() = seed;
    }

    fn take(&self, method: &str, path: &str) -> Option<Deed> {
        let mut plans = self.plans.lock().unwrap();
        let it = |plan: &Plan| plan.method == method && path.ends_with(&plan.path);
        let at = plans.iter().position(it)?;
        if plans[at].skip > 0 {
            plans[at].skip -= 1;
            return None;
        }
        Some(plans.remove(at).deed)
    }

    fn wait(&self) -> Duration {
        let mut delays = self.delays.lock().unwrap();
        let Some(state) = delays.as_mut() else {
            return Duration::ZERO;
        };
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        // Most are quick, and some let everything else overtake them.
        let most = if z % 8 == 0 { 2000 } else { 40 };
        Duration::from_millis((z >> 8) % most)
    }
}

/// The connection of one operator.
#[derive(Clone)]
struct Link {
    inner: ClusterService,
    between: Between,
}

impl Service<Request<Body>> for Link {
    type Response = Response<ResponseBody>;
    type Error = LostAnswer;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, LostAnswer>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), LostAnswer>> {
        Service::<Request<Body>>::poll_ready(&mut self.inner, context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (mut inner, between) = (self.inner.clone(), self.between.clone());
        Box::pin(async move {
            let (method, path) = (request.method().as_str(), request.uri().path());
            if let Some(deed) = between.take(method, path) {
                deed.await;
            }
            let watches = request.uri().query().is_some_and(|q| q.contains("watch="));
            if !watches {
                tokio::time::sleep(between.wait()).await;
            }
            let answer = inner.call(request).await;
            if !watches {
                tokio::time::sleep(between.wait()).await;
            }
            answer
        })
    }
}

/// A client through which something can happen between two calls.
pub(crate) fn linked(cluster: &Cluster, between: &Between) -> Client {
    let link = Link {
        inner: cluster.service(),
        between: between.clone(),
    };
    Client::new(link, "default")
}

/// An API server, a laboratory whose operator is on such a connection, and people who are not.
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) between: Between,
    pub(crate) lab: Lab,
    pub(crate) people: People,
}

impl World {
    pub(crate) async fn new(case: &str) -> Self {
        let began = "2026-01-01T00:00:00Z".parse().unwrap();
        let clock = embedded_kube::TokioClock::starting_at(began);
        let cluster = Cluster::new(Arc::new(clock));
        install(&cluster.client()).await;
        let between = Between::default();
        let lab = around(linked(&cluster, &between), case).await;
        let people = People {
            client: cluster.client(),
            namespace: lab.namespace.clone().unwrap(),
        };
        Self {
            cluster,
            between,
            lab,
            people,
        }
    }

    /// Another operator works on the same account, on a connection of its own.
    pub(crate) fn operate(&self, between: &Between) -> JoinHandle<()> {
        operate(&self.lab, linked(&self.cluster, between))
    }
}

/// Runs an operator in the laboratory's account.
pub(crate) fn operate(lab: &Lab, client: Client) -> JoinHandle<()> {
    operate_in(lab.cloud().clone(), client)
}

/// Runs an operator in an account.
pub(crate) fn operate_in(account: SharedAccount, client: Client) -> JoinHandle<()> {
    let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let settings = Settings {
        holder: Holder::of_cluster("here"),
        taken_over: std::collections::BTreeMap::new(),
        resync: Duration::from_hours(10),
        retry: Duration::from_secs(1),
        rules: Freehold,
    };
    let accounts = One::new(account);
    let reconciler = Reconciler::new(
        Gates { accounts },
        client,
        clock,
        settings,
        Arc::new(Term::alone),
    );
    tokio::spawn(reconcile::run(Arc::new(reconciler), std::future::pending()))
}

/// Asks until there is an answer: what fails is for operators.
async fn ask<T, F: Future<Output = Result<T, kube::Error>>>(call: impl Fn() -> F) -> T {
    loop {
        if let Ok(answer) = call().await {
            return answer;
        }
    }
}

/// Who works with kubectl.
#[derive(Clone)]
pub(crate) struct People {
    pub(crate) client: Client,
    pub(crate) namespace: String,
}

impl People {
    pub(crate) fn gates(&self) -> Api<Gate> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) fn yards(&self) -> Api<Yard> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) async fn remove_yard(&self) {
        self.yards()
            .delete("yard", &DeleteParams::default())
            .await
            .ok();
    }

    pub(crate) async fn remove_key(&self, name: &str) {
        self.secrets()
            .delete(name, &DeleteParams::default())
            .await
            .ok();
    }

    pub(crate) async fn remove_gate(&self, name: &str) {
        self.gates()
            .delete(name, &DeleteParams::default())
            .await
            .ok();
    }

    pub(crate) async fn patch_gate(&self, name: &str, patch: Value) {
        let patch = Patch::Merge(patch);
        let (gates, parameters) = (self.gates(), PatchParams::default());
        ask(|| gates.patch(name, &parameters, &patch)).await;
    }

    pub(crate) async fn patch_yard(&self, patch: Value) {
        let patch = Patch::Merge(patch);
        self.yards()
            .patch("yard", &PatchParams::default(), &patch)
            .await
            .unwrap();
    }

    pub(crate) async fn patch_key(&self, patch: Value) {
        let (keys, parameters) = (self.secrets(), PatchParams::default());
        let patch = Patch::Merge(patch);
        ask(|| keys.patch("key", &parameters, &patch)).await;
    }

    pub(crate) async fn create_key(&self, name: &str) {
        let data = json!({"id": "AKIA", "secret": "hush"});
        let secret = json!({"metadata": {"name": name}, "stringData": data});
        create(&self.secrets(), secret).await;
    }

    pub(crate) async fn create_gate(&self, name: &str) {
        create(&self.gates(), self.gate(name)).await;
    }

    pub(crate) fn gate(&self, name: &str) -> Value {
        json!({
            "apiVersion": "second.freehold.dev/v1",
            "kind": "Gate",
            "metadata": {"namespace": self.namespace, "name": name},
            "spec": {"yard": "yard", "key": {"name": "key"}, "ports": [443]},
        })
    }

    /// Whether the yard is there, and whether it is held for gates.
    pub(crate) async fn yard(&self) -> Option<bool> {
        let yard = ask(|| async { self.yards().get_opt("yard").await }).await?;
        Some(yard.finalizers().contains(&guest_finalizer(GATE)))
    }

    /// The same for a key.
    pub(crate) async fn key(&self, name: &str) -> Option<bool> {
        let key = ask(|| async { self.secrets().get_opt(name).await }).await?;
        Some(key.finalizers().contains(&guest_finalizer(GATE)))
    }

    /// Whether a gate is there.
    pub(crate) async fn has_gate(&self, name: &str) -> bool {
        let gate = ask(|| async { self.gates().get_opt(name).await }).await;
        gate.is_some()
    }

    /// What a gate says of its readiness.
    pub(crate) async fn said(&self, name: &str) -> String {
        let Some(gate) = self.gates().get_opt(name).await.unwrap() else {
            return "(gone)".to_owned();
        };
        let status = gate.status.unwrap_or_default();
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let mut ready = conditions.iter().filter(|one| one["type"] == "Ready");
        ready
            .next()
            .map_or_else(String::new, |ready| ready["message"].to_string())
    }
}
