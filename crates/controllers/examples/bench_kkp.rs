//! `cargo xtask bench kkp`: what a KKP cluster on AWS costs in cloud calls, by operation.
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use cloud_sim::{Account, Actor, SharedAccount, VirtualClock};
use embedded_kube::{Cluster, TokioClock};
use kkp_suite::Lab;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), say::Unheard> {
    let clock = VirtualClock::new();
    let account = Account::new(cloud_sim::Settings::default(), clock.clone());
    let cloud = SharedAccount::new(account, Actor::Engine(0));
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let client = Cluster::new(Arc::new(TokioClock::starting_at(began))).client();
    api::manifests::install(client.clone()).await.unwrap();
    let lab = Lab::new(
        client,
        cloud.clone(),
        cloud.as_actor(Actor::Stranger),
        clock,
        "bench",
    );

    lab.create(json!({}), json!({})).await;
    let before = calls(&cloud);
    lab.converge().await;
    report("kkp.first.calls", &before, &calls(&cloud))?;

    lab.delete().await;
    let before = calls(&cloud);
    lab.settle().await;
    assert!(lab.is_gone().await);
    report("kkp.cleanup.calls", &before, &calls(&cloud))?;
    Ok(())
}

fn calls(cloud: &SharedAccount) -> BTreeMap<&'static str, u64> {
    cloud
        .lock()
        .counters()
        .iter()
        .map(|(op, n)| (op.name(), n))
        .collect()
}

/// A figure, and the operations that it is made of.
fn report(
    figure: &str,
    before: &BTreeMap<&'static str, u64>,
    after: &BTreeMap<&'static str, u64>,
) -> Result<(), say::Unheard> {
    let mut all = 0;
    for (operation, n) in after {
        let n = n - before.get(operation).copied().unwrap_or_default();
        if n > 0 {
            say::line!("{figure}: {n} {operation}")?;
        }
        all += n;
    }
    say::line!("{figure} {all} calls")
}
