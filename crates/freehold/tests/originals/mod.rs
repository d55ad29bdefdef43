//! The original of a served system: nothing is done beside it, whenever it comes to work.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::{World, eventually};

const AT_WORK: &str = "waiting: KKP's seed-controller-manager is at work";

/// An original that renews its Lease.
async fn original(world: &World) -> JoinHandle<()> {
    let leases: Api<Lease> = Api::namespaced(world.client.clone(), "default");
    let name = "kkp-seed-controller-manager-leader-election";
    let lease = json!({"metadata": {"name": name}});
    if leases.get_opt(name).await.unwrap().is_none() {
        world.create(leases.clone(), lease).await;
    }
    let clock = world.clock;
    tokio::spawn(async move {
        loop {
            let spec = json!({
                "holderIdentity": "seed-1",
                "leaseDurationSeconds": 15,
                "renewTime": lease::Clock::wall(&clock).strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string(),
            });
            let patch = Patch::Merge(json!({"spec": spec}));
            let renewed = leases.patch(name, &PatchParams::default(), &patch).await;
            renewed.unwrap();
            sleep(Duration::from_secs(5)).await;
        }
    })
}

#[tokio::test(start_paused = true)]
async fn an_original_that_is_at_work_is_waited_for() {
    let world = World::with_kinds().await;
    let original = original(&world).await;
    world.create_cluster().await;
    let replica = world.replica("a");
    eventually("it waits", async || replica.is(AT_WORK).await).await;
    sleep(Duration::from_mins(5)).await;
    assert!(replica.is(AT_WORK).await);
    assert_eq!(world.made(), 0);
    original.abort();
    eventually("it leads", async || replica.is("leading").await).await;
    eventually("ready", async || {
        world.ready().await.as_deref() == Some("True")
    })
    .await;
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_original_that_comes_to_work_ends_ours() {
    let world = World::with_kinds().await;
    let replica = world.replica("a");
    eventually("it leads", async || replica.is("leading").await).await;
    let first = original(&world).await;
    eventually("it sees that", async || replica.is(AT_WORK).await).await;
    world.create_cluster().await;
    sleep(Duration::from_mins(5)).await;
    assert_eq!(world.made(), 0, "nothing is done beside it");
    first.abort();
    eventually("it leads again", async || replica.is("leading").await).await;
    eventually("ready", async || {
        world.ready().await.as_deref() == Some("True")
    })
    .await;
    // What is left of its Lease is no reason to end again.
    sleep(Duration::from_mins(5)).await;
    assert!(replica.is("leading").await);
    replica.stop().await;
}
