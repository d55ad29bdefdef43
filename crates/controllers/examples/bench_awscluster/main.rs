//! `cargo xtask bench awscluster`: what clusters of Cluster API on AWS cost, each a whole network in two
//! zones, in cloud calls and in time.
//!
//! `create` is all from the first pass until the cluster is Ready and every create has been seen by its
//! marks; `rest` one resync period of so many clusters of one account; `delete` the whole end.
//!
//! `create.over_chain` is the simulated time until the object says Ready, over the longest dependency
//! chain, where every call takes its time and NAT gateways take as long as in a real account. The chain is
//! what no order of the calls can beat: a look before the first create; then, along the blueprint's longest
//! path, for each slot the ledger write that announces it, its create, the ledger write that records it,
//! where it takes its time that time and the read that shows it ready, and the calls for what is inside it
//! (attachments, routes, rules), which refer to others that are made by then. `create.over_calls` is the
//! same where everything is ready at once, so that only calls count: no budget, but where the time goes.
//!
//! `vpc.calls` is the most that the VPC's slot has cost in any of a hundred clusters, made one after the
//! other, until it rests; reading and writing its DNS attributes, which no list shows, is `vpc.dns.calls`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark stops at the first surprise"
)]

mod chain;
mod slow;
mod world;

use blueprints::capa::Cluster;
use cloud_sim::Pace;
use ownership::Kind;
use ownership::time::Millis;
use say::Unheard;

use chain::Chain;
use slow::Latency;
use world::{Calls, World, since, sums};

/// What calls take, about as AWS and an API server answer.
const LATENCY: Latency = Latency {
    read: Millis(100),
    step: Millis(700),
    kube: Millis(20),
};

const PERIODS: u64 = 10;

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Unheard> {
    life().await?;
    over_chain("awscluster.create.over_chain", cloud_sim::aws_paces()).await?;
    over_chain("awscluster.create.over_calls", Vec::new()).await?;
    vpcs(100).await?;
    let mut writes = 0;
    for clusters in [1, 10, 100] {
        writes += rest(clusters).await?;
    }
    say::line!("awscluster.rest.writes {writes} calls")
}

/// A cluster from nothing to Ready to gone.
async fn life() -> Result<(), Unheard> {
    let world = World::new(Latency::default(), cloud_sim::aws_paces()).await;
    world.create(1).await;
    let new = world.calls();
    let (passes, _) = world.until_ready().await;
    say::line!("awscluster.create.passes {passes} passes")?;
    report("awscluster.ready.calls", &since(&new, &world.calls()))?;
    world.lab.converge().await;
    report("awscluster.create.calls", &since(&new, &world.calls()))?;
    let before = world.calls();
    world.lab.delete().await;
    world.lab.settle().await;
    assert!(world.lab.is_gone().await);
    report("awscluster.delete.calls", &since(&before, &world.calls()))
}

/// How long until a cluster is Ready, over its longest chain.
async fn over_chain(figure: &str, paces: Vec<(&'static Kind, Pace)>) -> Result<(), Unheard> {
    let world = World::new(LATENCY, paces.clone()).await;
    world.create(1).await;
    let (passes, took) = world.until_ready().await;
    let cluster = Cluster::new("bench", "c0", &["zone-a", "zone-b"]);
    let blueprint = cluster.blueprint().unwrap();
    let steps = world.lab.cloud().steps();
    let chain = Chain::longest(&blueprint, LATENCY, &paces, &steps);
    say::line!("{figure}: Ready after {took} in {passes} passes; the longest chain is {chain}")?;
    let hundredths = (took.0 * 100).div_ceil(chain.0);
    say::line!("{figure} {}.{:02} x", hundredths / 100, hundredths % 100)
}

/// What a VPC's slot costs, cluster by cluster.
async fn vpcs(clusters: usize) -> Result<(), Unheard> {
    let world = World::new(Latency::default(), cloud_sim::aws_paces()).await;
    let (mut most, mut most_dns, mut all) = (0, 0, 0);
    for at in 0..clusters {
        let name = format!("c{at}");
        let before = world.calls();
        world.create_one(&name).await;
        world.lab.settle_as(&name).await;
        let calls = since(&before, &world.calls());
        let of = |names: [&str; 2]| -> u64 {
            let those = names.iter().filter_map(|name| calls.get(name));
            those.map(|(_, n)| n).sum()
        };
        let own = of(["DescribeVpcs", "CreateVpc"]);
        all += own;
        most = most.max(own);
        most_dns = most_dns.max(of(["DescribeVpcAttribute", "ModifyVpcAttribute"]));
        if at == 0 || at + 1 == clusters {
            for operation in [
                "CreateVpc",
                "DescribeVpcs",
                "DescribeVpcAttribute",
                "ModifyVpcAttribute",
            ] {
                let n = calls.get(operation).map_or(0, |(_, n)| *n);
                say::line!(
                    "awscluster.vpc.calls: {n} {operation} for cluster {}",
                    at + 1
                )?;
            }
        }
    }
    assert_eq!(
        world.calls().get("CreateVpc"),
        Some(&(false, clusters as u64))
    );
    say::line!("awscluster.vpc.calls: {all} for {clusters} clusters")?;
    say::line!("awscluster.vpc.calls {most} calls")?;
    say::line!("awscluster.vpc.dns.calls {most_dns} calls")
}

/// So many clusters at rest. Prints the reads of a period, and returns all writes.
async fn rest(clusters: usize) -> Result<u64, Unheard> {
    let world = World::new(Latency::default(), cloud_sim::aws_paces()).await;
    let names = world.create(clusters).await;
    for name in &names {
        world.lab.settle_as(name).await;
    }
    world.lab.resync(&names).await;
    let before = world.calls();
    for _ in 0..PERIODS {
        world.lab.resync(&names).await;
    }
    let calls = since(&before, &world.calls());
    let (reads, writes) = sums(&calls);
    for (operation, (_, n)) in &calls {
        say::line!("awscluster.rest.reads.{clusters}: {n} {operation} in {PERIODS} periods")?;
    }
    say::line!(
        "awscluster.rest.reads.{clusters} {} calls",
        reads.div_ceil(PERIODS)
    )?;
    Ok(writes)
}

/// A figure, and the operations that it is made of.
fn report(figure: &str, calls: &Calls) -> Result<(), Unheard> {
    for (operation, (_, n)) in calls {
        say::line!("{figure}: {n} {operation}")?;
    }
    let (reads, writes) = sums(calls);
    say::line!("{figure} {} calls", reads + writes)
}
