//! What would stop an operator later is told at its start: in `/readyz`, and as the end of its run.

use std::time::Duration;

use axum::body::Body;
use embedded_kube::{Cluster, Fault, FaultKind, User};
use freehold::accounts::Simulated;
use freehold::clock::ProcessClock;
use freehold::operator::{Operator, RunError, Settings};
use http_body_util::BodyExt as _;
use kube::api::DynamicObject;
use kube::{Client, ResourceExt as _};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tower_service::Service as _;

use crate::install::{NAMESPACE, create, install, without_pods};
use crate::recorded::Recorder;
use crate::{FOR_EVERYBODY, account, eventually, guarded};

struct Replica {
    pages: axum::Router,
    run: JoinHandle<Result<(), RunError>>,
}

impl Replica {
    fn start(client: Client) -> Self {
        let clock = clock();
        let settings = Settings {
            namespace: NAMESPACE.to_owned(),
            ..Settings::of("a")
        };
        let operator = Operator::new(client, Simulated::new(clock), clock, settings);
        let pages = operator.health().router();
        let run = tokio::spawn(operator.run(std::future::pending()));
        Self { pages, run }
    }

    async fn readiness(&self) -> (u16, String) {
        let request = http::Request::get("/readyz").body(Body::empty()).unwrap();
        let answer = self.pages.clone().call(request).await.unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    async fn leads(&self) {
        eventually("it leads", async || self.readiness().await.1 == "leading\n").await;
    }

    /// It says what is wrong, and after half a minute ends with the same words.
    async fn ends_because(self, words: &[&str]) {
        let began = Instant::now();
        sleep(Duration::from_secs(10)).await;
        let (status, said) = self.readiness().await;
        assert_eq!(status, 503, "{said}");
        let ended = self.run.await.unwrap().unwrap_err().to_string();
        assert!(said.contains(&ended), "{said}: {ended}");
        for word in words {
            assert!(ended.contains(word), "{word}: {ended}");
        }
        let took = began.elapsed();
        assert!((30..40).contains(&took.as_secs()), "{took:?}");
    }
}

fn clock() -> ProcessClock {
    ProcessClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap())
}

/// The API server with everything installed, but for what `keep` leaves out.
async fn installed(keep: impl Fn(&mut DynamicObject) -> bool) -> Cluster {
    let cluster = guarded(clock());
    let admin = cluster.client();
    api::manifests::install(admin.clone()).await.unwrap();
    for mut object in without_pods() {
        if keep(&mut object) {
            create(&admin, &object).await;
        }
    }
    cluster
}

fn kind(object: &DynamicObject) -> &str {
    &object.types.as_ref().unwrap().kind
}

/// Takes a rule out of a role in the whole cluster.
fn take_right(object: &mut DynamicObject, resource: &str) {
    if kind(object) == "ClusterRole" {
        let rules = object.data["rules"].as_array_mut().unwrap();
        let before = rules.len();
        rules.retain(|rule| rule["resources"][0] != resource);
        assert_eq!(rules.len() + 1, before);
    }
}

#[tokio::test(start_paused = true)]
async fn kinds_that_are_not_served() {
    let cluster = guarded(clock());
    for object in without_pods() {
        create(&cluster.client(), &object).await;
    }
    let replica = Replica::start(cluster.client_as(account()));
    let words = [
        "the kind clusters.kubermatic.k8c.io is not installed",
        "the kind seeds.kubermatic.k8c.io is not installed",
        "freehold crds | kubectl create -f -",
    ];
    replica.ends_because(&words).await;
}

#[tokio::test(start_paused = true)]
async fn a_right_that_is_missing() {
    let without_status = |object: &mut DynamicObject| {
        take_right(object, "clusters/status");
        kind(object) != "RoleBinding"
    };
    let cluster = installed(without_status).await;
    let words = [
        "may not patch clusters/status.kubermatic.k8c.io, create leases.coordination.k8s.io, ",
        "get configmaps freehold-take-over",
        "apply what freehold manifests --systems kkp prints",
    ];
    let replica = Replica::start(cluster.client_as(account()));
    replica.ends_because(&words).await;
}

/// Secrets may be read in single namespaces only.
#[tokio::test(start_paused = true)]
async fn a_right_that_is_given_in_parts() {
    let without_secrets = |object: &mut DynamicObject| {
        take_right(object, "secrets");
        true
    };
    let cluster = installed(without_secrets).await;
    let client = cluster.client_as(account());
    Replica::start(client).leads().await;
}

/// Whoever has every right is still not who the policy trusts: each of its writes would be refused.
#[tokio::test(start_paused = true)]
async fn an_account_that_the_policy_does_not_trust() {
    let cluster = installed(|_| true).await;
    let alice = User::new("alice", &["system:masters"]);
    let replica = Replica::start(cluster.client_as(alice));
    let words = [
        "this process is alice, but the admission policy claims.freehold.dev trusts \
         system:serviceaccount:infra:landlord",
        "--namespace and --service-account",
    ];
    replica.ends_because(&words).await;
}

#[tokio::test(start_paused = true)]
async fn without_the_policy_anybody_may_run_it() {
    let no_policy = |object: &mut DynamicObject| !object.name_any().contains("freehold.dev");
    let cluster = installed(no_policy).await;
    let alice = User::new("alice", &["system:masters"]);
    Replica::start(cluster.client_as(alice)).leads().await;
}

/// Everything may come from one file: what is on its way is waited for.
#[tokio::test(start_paused = true)]
async fn what_is_installed_meanwhile_is_found() {
    let cluster = guarded(clock());
    let replica = Replica::start(cluster.client_as(account()));
    sleep(Duration::from_secs(20)).await;
    install(&cluster.client(), "kkp").await;
    replica.leads().await;
}

/// What nobody can tell is no reason to end.
#[tokio::test(start_paused = true)]
async fn an_api_server_that_answers_no_such_questions() {
    let cluster = installed(|_| true).await;
    let recorder = Recorder::hiding(&FOR_EVERYBODY);
    let client = recorder.client(cluster.client_as(account()));
    Replica::start(client).leads().await;
    let asked = recorder.requests();
    for group in FOR_EVERYBODY {
        assert!(asked.iter().any(|it| it.group == group), "{group}");
    }
}

/// An API server that fails is waited for, for as long as it takes.
#[tokio::test(start_paused = true)]
async fn an_api_server_that_is_not_well() {
    let cluster = installed(|_| true).await;
    let fails = Fault::new(FaultKind::InternalError).resource("selfsubjectreviews");
    cluster.faults().add(fails.times(20));
    let replica = Replica::start(cluster.client_as(account()));
    sleep(Duration::from_mins(1)).await;
    let (status, said) = replica.readiness().await;
    assert_eq!(status, 503);
    assert!(said.starts_with("waiting: the API server: "), "{said}");
    replica.leads().await;
}
