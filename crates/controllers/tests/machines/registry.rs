//! Machines of the control plane and the load balancer of the API server.

use cloud_port::aws::classic_load_balancer::INSTANCE as REGISTERED;
use cloud_port::aws::target_group::TARGET;
use cloud_sim::{Actor, Harm};
use ownership::Target;

use crate::lab::{Lab, behind, end, instances, namespace};
use crate::world;

/// What is registered, by its id.
fn registered(lab: &Lab, at: &Target, part: &str) -> Vec<String> {
    let account = lab.account();
    let parts = account.parts(at, part).iter();
    parts.map(|part| part.key.to_string()).collect()
}

async fn registers(case: &str, kind: &str, part: &'static str) {
    let lab = behind(case, kind).await;
    let at = world::registry(&lab.account(), namespace(&lab), kind);
    let before = lab.account().resource(&at).unwrap().tags.clone();
    lab.create_sample().await;
    lab.converge().await;
    let made = instances(&lab);
    assert_eq!(registered(&lab, &at, part), [made[0].id.to_string()]);
    lab.assert_silent().await;
    // Somebody takes it out: it comes back.
    let key = made[0].id.text();
    let removed = lab
        .account()
        .remove_parts(Actor::Stranger, &at, part, &[key]);
    removed.unwrap();
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    assert_eq!(registered(&lab, &at, part).len(), 1);
    end(&lab).await;
    assert!(registered(&lab, &at, part).is_empty(), "law 7");
    assert_eq!(lab.account().resource(&at).unwrap().tags, before, "law 7");
    assert_deregistered_first(&lab, &at, &made[0]);
}

/// Nobody is sent to a machine that is about to end.
fn assert_deregistered_first(lab: &Lab, at: &Target, instance: &Target) {
    let account = lab.account();
    let ours: Vec<_> = account
        .deeds()
        .iter()
        .filter(|deed| matches!(deed.by, Actor::Engine(_)))
        .collect();
    let out = ours.iter().rposition(|deed| {
        deed.victim.target() == *at && matches!(deed.harm, Harm::InnerRemoved { .. })
    });
    let ended = ours
        .iter()
        .rposition(|deed| deed.victim.target() == *instance && matches!(deed.harm, Harm::Deleted));
    assert!(out.is_some() && ended.is_some(), "{ours:#?}");
    assert!(out < ended, "{ours:#?}");
}

#[tokio::test]
async fn a_classic_load_balancer_knows_a_machine_while_it_lives() {
    registers("classic", "classic", REGISTERED).await;
}

#[tokio::test]
async fn a_target_group_knows_a_machine_while_it_lives() {
    registers("targets", "nlb", TARGET).await;
}

/// A load balancer that is gone is told; the machine runs on, and is registered with the next one.
#[tokio::test]
async fn a_load_balancer_that_is_gone_is_told() {
    let lab = behind("gone", "classic").await;
    lab.create_sample().await;
    lab.converge().await;
    let at = world::registry(&lab.account(), "gone", "classic");
    lab.account().delete(Actor::Stranger, &at).unwrap();
    lab.wait(laboratory::RESYNC);
    lab.settle().await;
    lab.assert_condition("Invalid", &["classic load balancer", "name"])
        .await;
    assert_eq!(instances(&lab).len(), 1);
    let again = world::plant_registry(&mut lab.account(), "gone", "classic");
    lab.wait(laboratory::RESYNC);
    lab.converge().await;
    assert_eq!(registered(&lab, &again, REGISTERED).len(), 1);
    end(&lab).await;
    assert!(registered(&lab, &again, REGISTERED).is_empty());
}

/// Without its record a machine knows what it added by the marks.
#[tokio::test]
async fn a_machine_that_has_forgotten_everything_is_deregistered() {
    let mut lab = behind("forgotten", "classic").await;
    lab.create_sample().await;
    lab.converge().await;
    let at = world::registry(&lab.account(), "forgotten", "classic");
    lab.patch(serde_json::json!({
        "metadata": {"annotations": {"freehold.dev/ledger": null}},
        "spec": {"instanceID": null, "providerID": null},
    }))
    .await;
    lab.restart();
    end(&lab).await;
    assert!(registered(&lab, &at, REGISTERED).is_empty());
    assert!(instances(&lab).is_empty());
}
