//! `cargo xtask bench kkp`: what KKP clusters on AWS cost in cloud calls, by operation.
//!
//! `first` is the pass that makes everything, `ready.waits` how often it takes another one after a wait
//! until the cluster is Ready; `settle` what is read afterwards, until all creates were seen by their
//! marks and the ledger forgets them: of one cluster alone, and of a hundred that were made at once;
//! `rest` one resync period of so many clusters of one account; `cleanup` the whole end.
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use cloud_port::aws::instance_profile::INSTANCE_PROFILE;
use cloud_port::aws::role::ROLE;
use cloud_port::aws::vpc::VPC;
use cloud_sim::{Quotas, SharedAccount};
use controllers::reconcile::Next;
use embedded_kube::{Cluster, TokioClock};
use kkp_suite::Lab;
use say::Unheard;
use serde_json::json;

type Calls = BTreeMap<&'static str, (bool, u64)>;

/// AWS has 50 tags a resource, and each cluster marks the subnets of its VPC.
const CLUSTERS_PER_VPC: usize = 40;
const PERIODS: usize = 10;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Unheard> {
    let lab = laboratory().await;
    lab.create(json!({}), json!({})).await;
    let new = calls(&lab);
    lab.pass().await;
    report("kkp.first.calls", &new, &calls(&lab))?;
    say::line!("kkp.ready.waits {} waits", waits_until_ready(&lab).await)?;
    // To look is to ask, too.
    assert_eq!(lab.hands.census().await, (2, 2, 1), "everything is made");
    let made = calls(&lab);
    lab.converge().await;
    report("kkp.settle.calls", &made, &calls(&lab))?;

    lab.delete().await;
    let before = calls(&lab);
    lab.settle().await;
    assert!(lab.is_gone().await);
    report("kkp.cleanup.calls", &before, &calls(&lab))?;

    settle(100).await?;
    let mut writes = 0;
    for clusters in [1, 10, 100, 1000] {
        writes += rest(clusters).await?;
    }
    say::line!("kkp.rest.writes {writes} calls")
}

/// How many times the cluster is waited for until it is Ready.
async fn waits_until_ready(lab: &Lab<SharedAccount>) -> u64 {
    let mut waits = 0;
    while lab
        .condition("Ready")
        .await
        .is_none_or(|ready| !ready.holds)
    {
        waits += 1;
        if let Next::After(wait) = lab.pass().await {
            lab.wait(wait);
        }
    }
    waits
}

/// So many clusters, made at once: what they cost from then on until all are at rest.
async fn settle(clusters: usize) -> Result<(), Unheard> {
    let lab = laboratory().await;
    let names = create(&lab, clusters).await;
    let mut nexts = Vec::with_capacity(clusters);
    for name in &names {
        nexts.push((name.as_str(), lab.pass_over(name).await));
    }
    let made = calls(&lab);
    lab.settle_together(&nexts).await;
    report(&format!("kkp.settle.calls.{clusters}"), &made, &calls(&lab))
}

/// Objects of so many clusters, in as many VPCs as they need.
async fn create(lab: &Lab<SharedAccount>, clusters: usize) -> Vec<String> {
    let mut names = Vec::with_capacity(clusters);
    let mut vpc = String::new();
    for at in 0..clusters {
        if at % CLUSTERS_PER_VPC == 0 {
            let number = at / CLUSTERS_PER_VPC;
            vpc = lab.hands.make_vpc(&format!("10.{number}.0.0/16")).await;
            lab.hands
                .make_subnet(&vpc, &format!("10.{number}.1.0/24"))
                .await;
        }
        let name = format!("c{at}");
        lab.create_as(&name, json!({"vpcID": vpc}), json!({}), json!({}))
            .await;
        names.push(name);
    }
    names
}

/// So many clusters at rest. Prints the reads of a period, and returns all writes.
async fn rest(clusters: usize) -> Result<u64, Unheard> {
    let lab = laboratory().await;
    let names = create(&lab, clusters).await;
    for name in &names {
        lab.settle_as(name).await;
    }
    lab.resync(&names).await;
    let before = calls(&lab);
    for _ in 0..PERIODS - 1 {
        lab.resync(&names).await;
    }
    // Drift in the last period is found, and put right.
    let after_nine = calls(&lab);
    let (nine, writes) = difference(&before, &after_nine);
    let drifted = format!("kubernetes-c{}", clusters / 2);
    let group = lab.hands.group(&drifted).await.unwrap();
    lab.hands
        .remove_rule(&group.id, "ingress tcp 22-22 0.0.0.0/0")
        .await;
    lab.resync(&names).await;
    assert_eq!(
        lab.hands.group(&drifted).await.unwrap().rules,
        group.rules,
        "drift is found"
    );
    let periods = u64::try_from(PERIODS - 1).unwrap();
    for (operation, (_, n)) in &after_nine {
        let n = n - before.get(operation).map_or(0, |(_, n)| *n);
        if n > 0 {
            say::line!("kkp.rest.reads.{clusters}: {} {operation}", n / periods)?;
        }
    }
    assert_eq!(nine % periods, 0, "every period is like the others");
    say::line!("kkp.rest.reads.{clusters} {} calls", nine / periods)?;
    Ok(writes)
}

async fn laboratory() -> Lab<SharedAccount> {
    let settings = cloud_sim::Settings {
        quotas: Quotas::default()
            .resources(&VPC, 100)
            .resources(&ROLE, 10_000)
            .resources(&INSTANCE_PROFILE, 10_000),
        ..cloud_sim::Settings::default()
    };
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let client = Cluster::new(Arc::new(TokioClock::starting_at(began))).client();
    api::manifests::install(client.clone()).await.unwrap();
    Lab::simulated(client, settings, "bench")
}

/// How often each operation was called; whether it only reads.
fn calls(lab: &Lab<SharedAccount>) -> Calls {
    let account = lab.account();
    let counted = account.counters().iter();
    counted
        .map(|(op, n)| (op.name(), (op.is_read(), n)))
        .collect()
}

/// Reads and writes since.
fn difference(before: &Calls, after: &Calls) -> (u64, u64) {
    let mut sums = (0, 0);
    for (operation, (is_read, n)) in after {
        let n = n - before.get(operation).map_or(0, |(_, n)| *n);
        *(if *is_read { &mut sums.0 } else { &mut sums.1 }) += n;
    }
    sums
}

/// A figure, and the operations that it is made of.
fn report(figure: &str, before: &Calls, after: &Calls) -> Result<(), Unheard> {
    for (operation, (_, n)) in after {
        let n = n - before.get(operation).map_or(0, |(_, n)| *n);
        if n > 0 {
            say::line!("{figure}: {n} {operation}")?;
        }
    }
    let (reads, writes) = difference(before, after);
    say::line!("{figure} {} calls", reads + writes)
}
