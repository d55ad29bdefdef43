//! What `freehold manifests` prints, installed: the whole operator runs as that account, with exactly
//! those rights, against a simulated account of AWS.
//!
//! On the embedded API server always, on the real one only where `FREEHOLD_TIER_CONTROL_PLANE=1` says
//! that it can be had.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod gitops;
mod install;
mod recorded;
mod unfit;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use api::kkp::Cluster;
use control_plane::ControlPlane;
use controllers::registry::ENTRIES;
use embedded_kube::{Access, Options, User};
use freehold::accounts::Simulated;
use freehold::clock::ProcessClock;
use freehold::install::rights::{Needed, needed, to_choose};
use freehold::operator::systems::{Systems, choose};
use freehold::operator::{Operator, Settings};
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::Client;
use kube::api::{Api, DeleteParams, PostParams};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use install::{ACCOUNT, NAMESPACE, install};
use recorded::{Recorder, Request};

const PATIENCE: Duration = Duration::from_mins(5);

/// What everybody may ask who is known to the API server at all.
const FOR_EVERYBODY: [&str; 2] = ["authentication.k8s.io", "authorization.k8s.io"];

#[tokio::test(start_paused = true)]
async fn the_rights_are_what_the_embedded_api_is_asked_for() {
    let clock = ProcessClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let cluster = guarded(clock);
    let admin = cluster.client();
    install(&admin, "kkp").await;
    let operator = cluster.client_as(account());
    rights_are_requests(&admin, operator, clock).await;
}

#[tokio::test]
async fn the_rights_are_what_a_real_api_server_is_asked_for() {
    if std::env::var_os("FREEHOLD_TIER_CONTROL_PLANE").is_none_or(|value| value != "1") {
        let line = "SKIPPED: the operator's rights (FREEHOLD_TIER_CONTROL_PLANE is not 1)";
        writeln!(std::io::stderr(), "{line}").expect("standard error");
        return;
    }
    let binaries = control_plane::tools(|_| ()).expect("the programs");
    let plane = ControlPlane::start(&binaries).await.expect("it starts");
    let admin = plane.client().await.unwrap();
    install::apply(&plane, &admin).await;
    install::pods_are_let_in(&admin).await;
    let operator = signed_in(&plane, &admin).await;
    rights_are_requests(&admin, operator, ProcessClock::real()).await;
}

/// An embedded API server on which roles and bindings count.
fn guarded(clock: ProcessClock) -> embedded_kube::Cluster {
    let options = Options {
        access: Some(Arc::new(Access::new())),
        ..Options::new(Arc::new(clock))
    };
    embedded_kube::Cluster::with_options("guarded", &options)
}

/// The operator's account, as the API server knows it.
fn account() -> User {
    let user = api::names::user_of_account(NAMESPACE, ACCOUNT);
    let own = format!("system:serviceaccounts:{NAMESPACE}");
    User::new(
        &user,
        &["system:serviceaccounts", &own, "system:authenticated"],
    )
}

/// A client with a token of the account.
async fn signed_in(plane: &ControlPlane, admin: &Client) -> Client {
    let accounts: Api<ServiceAccount> = Api::namespaced(admin.clone(), NAMESPACE);
    let (post, request) = (PostParams::default(), TokenRequest::default());
    let token = accounts.create_token_request(ACCOUNT, &post, &request);
    let token = token.await.unwrap().status.unwrap().token.unwrap();
    let file = kube::config::Kubeconfig::read_from(plane.kubeconfig()).unwrap();
    let options = kube::config::KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(file, &options).await;
    let mut config = config.unwrap();
    config.auth_info.token = Some(token.into());
    Client::try_from(config).unwrap()
}

/// A cluster is made and deleted. Nothing is refused; every request has its right, and every right a
/// request.
async fn rights_are_requests(admin: &Client, operator: Client, clock: ProcessClock) {
    create_cluster(admin).await;
    let recorder = Recorder::default();
    let settings = Settings {
        namespace: NAMESPACE.to_owned(),
        ..Settings::of("a")
    };
    let rights = needed(&settings.systems, NAMESPACE);
    let client = recorder.client(operator);
    let replica = Operator::new(client, Simulated::new(clock), clock, settings);
    let (stop, stopped) = oneshot::channel::<()>();
    let run = tokio::spawn(replica.run(async { stopped.await.unwrap() }));
    let clusters: Api<Cluster> = Api::all(admin.clone());
    eventually("ready", async || {
        assert!(!run.is_finished(), "it runs");
        let status = clusters.get("demo").await.unwrap().status;
        let ready = status.and_then(|status| status.conditions.get("Ready").cloned());
        ready.is_some_and(|ready| ready.status == "True")
    })
    .await;
    let deleted = clusters.delete("demo", &DeleteParams::default()).await;
    deleted.unwrap();
    eventually("gone", async || {
        clusters.get_opt("demo").await.unwrap().is_none()
    })
    .await;
    stop.send(()).unwrap();
    run.await.unwrap().unwrap();

    hold(&rights, &recorder.requests());
    gitops::own_manager(&recorder.requests());
}

/// With `auto` it is found out what can be served, and that takes rights, too.
#[tokio::test(start_paused = true)]
async fn auto_has_the_rights_to_choose() {
    let clock = ProcessClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let cluster = guarded(clock);
    let admin = cluster.client();
    install(&admin, "auto").await;
    install::of_a_provider(&admin).await;
    let recorder = Recorder::default();
    let client = recorder.client(cluster.client_as(account()));
    let chosen = choose(&client, Some(&Systems::Auto)).await.unwrap();
    let names: Vec<_> = chosen.iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["kkp"]);
    let mut rights = to_choose(ENTRIES);
    let all = needed(ENTRIES, NAMESPACE).into_iter();
    rights.extend(all.filter(|needed| needed.right.verbs == ["list"]));
    hold(&rights, &recorder.requests());
}

/// Nothing was refused, no request is without its right, and no right without a request.
fn hold(rights: &[Needed], requests: &[Request]) {
    let refused = requests.iter().filter(|request| request.forbidden);
    assert_eq!(refused.collect::<Vec<_>>(), Vec::<&Request>::new());
    let ours = |request: &&Request| {
        !request.resource.is_empty() && !FOR_EVERYBODY.contains(&request.group.as_str())
    };
    let mut unused = all(rights);
    for request in requests.iter().filter(ours) {
        let uses = |right: &Single| right.covers(request);
        let used: Vec<_> = all(rights).into_iter().filter(uses).collect();
        assert!(!used.is_empty(), "no right for {request:?}");
        unused.retain(|right| !used.contains(right));
    }
    assert_eq!(unused, BTreeSet::new(), "nobody needs these");
}

/// One verb of a right, on one object where it names them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Single {
    group: String,
    resource: String,
    verb: String,
    own: bool,
    name: Option<String>,
}

impl Single {
    fn covers(&self, request: &Request) -> bool {
        self.group == request.group
            && self.resource == request.resource
            && self.verb == request.verb
            && (!self.own || request.namespace == NAMESPACE)
            && self.name.as_ref().is_none_or(|name| *name == request.name)
    }
}

fn all(rights: &[Needed]) -> BTreeSet<Single> {
    let mut all = BTreeSet::new();
    for needed in rights {
        let names = needed.names.iter().cloned().map(Some);
        let names: Vec<_> = names
            .chain(needed.names.is_empty().then_some(None))
            .collect();
        for verb in needed.right.verbs {
            all.extend(names.iter().map(|name| Single {
                group: needed.right.group.to_owned(),
                resource: needed.right.resource(),
                verb: (*verb).to_owned(),
                own: needed.own,
                name: name.clone(),
            }));
        }
    }
    all
}

/// A cluster that leads everywhere: its region stands in a Seed, its keys in a Secret.
async fn create_cluster(admin: &Client) {
    let post = PostParams::default();
    let seed = json!({
        "metadata": {"name": "seed"},
        "spec": {"datacenters": {"frankfurt": {"spec": {"aws": {"region": "eu-central-1"}}}}},
    });
    let seeds: Api<api::kkp::Seed> = Api::namespaced(admin.clone(), "default");
    let seed = serde_json::from_value(seed).unwrap();
    seeds.create(&post, &seed).await.unwrap();
    let secret = json!({
        "metadata": {"name": "keys"},
        "stringData": {"accessKeyId": "AKIA", "secretAccessKey": "hush"},
    });
    let secrets: Api<Secret> = Api::namespaced(admin.clone(), "default");
    let secret = serde_json::from_value(secret).unwrap();
    secrets.create(&post, &secret).await.unwrap();
    let cluster = json!({
        "metadata": {"name": "demo"},
        "spec": {"cloud": {"dc": "frankfurt", "aws": {
            "credentialsReference": {"namespace": "default", "name": "keys"},
            "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
            "instanceProfileName": "",
        }}},
    });
    let clusters: Api<Cluster> = Api::all(admin.clone());
    let cluster = serde_json::from_value(cluster).unwrap();
    clusters.create(&post, &cluster).await.unwrap();
}

async fn eventually(what: &str, mut is: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !is().await {
        assert!(began.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(100)).await;
    }
}
