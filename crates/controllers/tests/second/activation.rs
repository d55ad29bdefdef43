//! The loop: a change of what an object asked for activates it, and only if it says something else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cloud_port::driver::Term;
use cloud_sim::{Account, Actor, SharedAccount, VirtualClock};
use controllers::reconcile::{self, Monitor, Passed, Reconciler, Settings, TokioClock};
use laboratory::One;
use ownership::{Freehold, Holder};
use serde_json::json;
use tokio::time::sleep;

use crate::lab::{Lab, create_yard, edit_yard, lab, remove_yard};
use crate::system::Gates;

/// Longer than any activation takes, and much shorter than a resync.
pub(crate) const SOON: Duration = Duration::from_secs(90);

#[derive(Default)]
pub(crate) struct Passes(AtomicUsize);

impl Monitor for Passes {
    fn passed(&self, _: &Passed<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn forgotten(&self, _: &'static str, _: &str) {}
}

/// Runs the operator; its passes are counted.
pub(crate) fn operate(lab: &Lab) -> Arc<Passes> {
    let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let account = Account::new(cloud_sim::Settings::default(), VirtualClock::new());
    let accounts = One::new(SharedAccount::new(account, Actor::Engine(0)));
    let settings = Settings {
        holder: Holder::of_cluster("here"),
        taken_over: std::collections::BTreeMap::new(),
        resync: Duration::from_hours(10),
        retry: Duration::from_secs(1),
        rules: Freehold,
    };
    let passes = Arc::new(Passes::default());
    let reconciler = Reconciler::new(
        Gates { accounts },
        lab.client.clone(),
        clock,
        settings,
        Arc::new(Term::alone),
    );
    let reconciler = reconciler.monitored(passes.clone());
    tokio::spawn(reconcile::run(Arc::new(reconciler), std::future::pending()));
    passes
}

pub(crate) async fn ready(lab: &Lab) -> bool {
    lab.condition("Ready")
        .await
        .is_some_and(|ready| ready.holds)
}

#[tokio::test(start_paused = true)]
async fn what_an_object_waits_for_activates_it() {
    let lab = lab("activated").await.unwrap();
    remove_yard(&lab).await;
    operate(&lab);
    lab.create_sample().await;
    sleep(SOON).await;
    assert!(!ready(&lab).await);
    create_yard(&lab).await;
    sleep(SOON).await;
    assert!(ready(&lab).await, "{:?}", lab.condition("Ready").await);
}

#[tokio::test(start_paused = true)]
async fn a_change_that_says_nothing_new_causes_no_pass() {
    let lab = lab("unchanged").await.unwrap();
    let passes = operate(&lab);
    lab.create_sample().await;
    sleep(SOON * 10).await;
    assert!(ready(&lab).await);
    let before = passes.0.load(Ordering::Relaxed);
    let patch = |patch| async {
        edit_yard(&lab, patch).await;
        sleep(SOON).await;
        passes.0.load(Ordering::Relaxed)
    };
    let noise = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(patch(noise).await, before, "its facts are the same");
    let news = json!({"spec": {"from": "10.1.0.0/16"}});
    assert!(patch(news).await > before, "its facts have changed");
}
