//! A real controller runs on an embedded cluster for thirty simulated days, the same for the same
//! seed: the harness of whole-operator tests.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use embedded_kube::{
    Clock as _, Cluster, ClusterService, LostAnswer, Options, ResponseBody, TokioClock,
};
use futures_util::StreamExt as _;
use http::{Request, Response};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::client::Body;
use kube::runtime::Controller;
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use kube::{Client, ResourceExt as _};
use serde_json::json;
use tower_service::Service;

const OBJECTS: usize = 5;
const EVERY: Duration = Duration::from_hours(1);

/// A cluster that notes every call in the order in which it arrives.
#[derive(Clone)]
struct Recorded {
    inner: ClusterService,
    calls: Arc<Mutex<Vec<String>>>,
}

impl Service<Request<Body>> for Recorded {
    type Response = Response<ResponseBody>;
    type Error = LostAnswer;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, LostAnswer>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), LostAnswer>> {
        Service::<Request<Body>>::poll_ready(&mut self.inner, context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let call = format!("{} {}", request.method(), request.uri());
        self.calls.lock().unwrap().push(call);
        self.inner.call(request)
    }
}

/// What a pass needs.
struct Operator {
    client: Client,
    clock: TokioClock,
}

/// Writes the day into an annotation, and asks to be called again in an hour: most passes change
/// nothing, and what changes nothing causes no event.
async fn reconcile(object: Arc<ConfigMap>, operator: Arc<Operator>) -> Result<Action, kube::Error> {
    let api: Api<ConfigMap> = Api::namespaced(operator.client.clone(), "default");
    let day = operator.clock.now().strftime("%F").to_string();
    let patch = json!({"metadata": {"annotations": {"day": day}}});
    api.patch(
        &object.name_any(),
        &PatchParams::default(),
        &Patch::Merge(patch),
    )
    .await?;
    Ok(Action::requeue(EVERY))
}

/// All calls of so many days under a seed, and the last state.
fn simulate(seed: u64, days: u64) -> (Vec<String>, Vec<String>) {
    pinned_random::run(seed, move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async move {
            let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
            let options = Options {
                seed,
                ..Options::new(Arc::new(clock.clone()))
            };
            let cluster = Cluster::with_options("days", &options);
            let calls = Arc::new(Mutex::new(Vec::new()));
            let recorded = Recorded {
                inner: cluster.service(),
                calls: Arc::clone(&calls),
            };
            let client = Client::new(recorded, "default");
            let api: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
            for index in 0..OBJECTS {
                let object = ConfigMap {
                    metadata: kube::api::ObjectMeta {
                        generate_name: Some(format!("object-{index}-")),
                        ..kube::api::ObjectMeta::default()
                    },
                    ..ConfigMap::default()
                };
                api.create(&PostParams::default(), &object).await.unwrap();
            }
            let operator = Arc::new(Operator { client, clock });
            let controller = Controller::new(api.clone(), watcher::Config::default())
                .run(
                    reconcile,
                    |_, _: &kube::Error, _| Action::requeue(EVERY),
                    operator,
                )
                .for_each(|result| async move { drop(result.unwrap()) });
            let span = Duration::from_secs(days * 24 * 3600);
            let ended = tokio::time::timeout(span, controller).await;
            assert!(ended.is_err(), "the controller ran until time was up");
            let list = api.list(&kube::api::ListParams::default()).await.unwrap();
            let state = list
                .iter()
                .map(|object| format!("{} {}", object.name_any(), object.annotations()["day"]))
                .collect();
            let calls = calls.lock().unwrap().clone();
            (calls, state)
        })
    })
}

#[test]
fn a_seed_gives_the_same_thirty_days_again() {
    let (calls, state) = simulate(1, 30);
    let passes = calls
        .iter()
        .filter(|call| call.starts_with("PATCH"))
        .count();
    let hours = OBJECTS * 30 * 24;
    assert!(
        (hours..hours * 2).contains(&passes),
        "{passes} passes in {hours} hours"
    );
    assert_eq!(state.len(), OBJECTS);
    assert!(
        state.iter().all(|line| line.ends_with("2026-01-30")),
        "{state:?}"
    );
    let (again, same_state) = simulate(1, 30);
    let first_difference = calls.iter().zip(&again).position(|(a, b)| a != b);
    assert_eq!(first_difference, None, "the calls come in the same order");
    assert_eq!(calls.len(), again.len());
    assert_eq!(state, same_state);
}

#[test]
fn another_seed_gives_another_order() {
    // Names differ by seed as well: only the order of the objects' numbers counts.
    let order = |seed: u64| -> Vec<String> {
        let (calls, _) = simulate(seed, 30);
        calls
            .iter()
            .filter_map(|call| call.split("object-").nth(1))
            .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect())
            .collect()
    };
    let (first, second) = (order(1), order(2));
    assert_ne!(first, second);
    // Not only at the beginning: on the last day too the objects come in another order.
    let last_day = |order: &[String]| order[order.len() - OBJECTS * 24..].to_vec();
    assert_ne!(last_day(&first), last_day(&second));
}
