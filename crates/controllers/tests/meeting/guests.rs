//! Guests and hosts where two things meet: whatever happens between two calls, no gate loses what it
//! needs to end, and nothing is held for nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use api::names::{LEDGER, guest_finalizer};
use embedded_kube::{Fault, FaultKind};
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::world::{Between, GATE, World};
use crate::lab::create_yard;

/// Longer than any activation takes, and much shorter than a resync.
const SOON: Duration = Duration::from_secs(90);

/// An operator on this connection never sees this gate itself.
fn blind(between: &Between, gate: &str) {
    let path = format!("/gates/{gate}");
    between.before("GET", &path, 0, std::future::pending());
}

/// Everything is gone: the gate, what it owned, and what it needed.
async fn assert_all_gone(world: &World, gate: &str, why: &str) {
    let people = &world.people;
    assert!(
        !people.has_gate(gate).await,
        "{why}: {}",
        people.said(gate).await
    );
    assert!(world.lab.marked().await.is_empty(), "{why}: law 3");
    assert_eq!(people.yard().await, None, "{why}: nobody needs the yard");
    assert_eq!(people.key("key").await, None, "{why}: nobody needs the key");
}

const FAULTS: [FaultKind; 4] = [
    FaultKind::Conflict,
    FaultKind::LostAnswer,
    FaultKind::InternalError,
    FaultKind::TooManyRequests { retry_after: 1 },
];

const CALLS: [(&str, &str); 8] = [
    ("patch", "gates"),
    ("patch", "yards"),
    ("patch", "secrets"),
    ("get", "gates"),
    ("get", "yards"),
    ("get", "secrets"),
    ("list", "gates"),
    ("create", "events"),
];

/// Every call of a gate's life fails once, in every way.
#[tokio::test(start_paused = true)]
async fn a_call_that_fails_while_a_gate_comes_holds_nothing_for_ever() {
    every_fault(true).await;
}

/// Every call of a gate's end fails once, in every way, while its hosts wait for it.
#[tokio::test(start_paused = true)]
async fn a_call_that_fails_while_a_gate_ends_holds_nothing_for_ever() {
    every_fault(false).await;
}

async fn every_fault(coming: bool) {
    let mut broken = Vec::new();
    for kind in FAULTS {
        for (verb, resource) in CALLS {
            for skip in 0..7 {
                let world = World::new("faults").await;
                let (people, faults) = (&world.people, world.cluster.faults());
                let operator = world.operate(&Between::default());
                let fault = Fault::new(kind).verb(verb).resource(resource).after(skip);
                sleep(SOON).await;
                if coming {
                    faults.add(fault.clone());
                }
                people.create_gate("gate").await;
                sleep(SOON).await;
                faults.clear();
                sleep(SOON).await;
                people.remove_yard().await;
                people.remove_key("key").await;
                sleep(SOON).await;
                let kept = (people.yard().await, people.key("key").await);
                let had = world.lab.marked().await.len();
                if kept != (Some(true), Some(true)) || had != 1 {
                    broken.push(format!("{kind:?} {verb} {resource} {skip}: {kept:?} {had}"));
                }
                if !coming {
                    faults.add(fault);
                }
                people.remove_gate("gate").await;
                sleep(SOON).await;
                faults.clear();
                sleep(SOON).await;
                let left = (
                    people.has_gate("gate").await,
                    world.lab.marked().await.len(),
                    people.yard().await,
                    people.key("key").await,
                );
                if left != (false, 0, None, None) {
                    broken.push(format!("{kind:?} {verb} {resource} {skip}: {left:?}"));
                }
                operator.abort();
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// People who gave up take the finalizers off a gate: its yard does not wait for nobody.
#[tokio::test(start_paused = true)]
async fn a_yard_does_not_wait_for_a_gate_that_was_removed_by_force() {
    let world = World::new("forced").await;
    let people = &world.people;
    let _operator = world.operate(&Between::default());
    people.create_gate("gate").await;
    sleep(SOON).await;
    people.remove_yard().await;
    sleep(SOON).await;
    let yard = people.yards().get("yard").await.unwrap();
    assert!(
        yard.annotations().contains_key(&guest_finalizer(GATE)),
        "it waits"
    );
    let pause = json!({"metadata": {"annotations": {"freehold.dev/management": "observe"}}});
    people.patch_gate("gate", pause).await;
    people.remove_gate("gate").await;
    sleep(SOON).await;
    let none = json!({"metadata": {"finalizers": null}});
    people.patch_gate("gate", none).await;
    assert!(!people.has_gate("gate").await);
    sleep(SOON).await;
    assert_eq!(people.yard().await, None, "nobody needs it");
}

/// A copy of a gate, record and all, is told to be one; the yard does not wait for it after its end.
#[tokio::test(start_paused = true)]
async fn a_yard_does_not_wait_for_a_copy_that_has_ended() {
    let world = World::new("copied").await;
    let people = &world.people;
    let _operator = world.operate(&Between::default());
    people.create_gate("gate").await;
    sleep(SOON).await;
    let mut copy = serde_json::to_value(people.gates().get("gate").await.unwrap()).unwrap();
    let metadata = copy["metadata"].as_object_mut().unwrap();
    for decided in [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "generation",
        "managedFields",
    ] {
        metadata.remove(decided);
    }
    copy["metadata"]["name"] = json!("copy");
    crate::object::create(&people.gates(), copy).await;
    sleep(SOON).await;
    people.remove_yard().await;
    people.remove_key("key").await;
    people.remove_gate("gate").await;
    sleep(SOON).await;
    people.remove_gate("copy").await;
    sleep(SOON).await;
    assert!(
        !people.has_gate("copy").await,
        "{}",
        people.said("copy").await
    );
    assert_all_gone(&world, "gate", "copied").await;
}

/// A record is a convenience: who lost it is still a guest.
#[tokio::test(start_paused = true)]
async fn a_gate_without_its_record_keeps_what_it_needs() {
    for record in [Value::Null, json!("{"), json!("")] {
        let world = World::new("recordless").await;
        let people = &world.people;
        let operator = world.operate(&Between::default());
        people.create_gate("gate").await;
        sleep(SOON).await;
        let patch = json!({"metadata": {"annotations": {LEDGER: record}}});
        people.patch_gate("gate", patch).await;
        people.remove_yard().await;
        people.remove_key("key").await;
        sleep(SOON).await;
        let kept = (people.yard().await, people.key("key").await);
        assert_eq!(
            kept,
            (Some(true), Some(true)),
            "{record}: it owns something"
        );
        // Somebody puts it right, as its condition says.
        let patch = json!({"metadata": {"annotations": {LEDGER: null}}});
        people.patch_gate("gate", patch).await;
        people.remove_gate("gate").await;
        sleep(SOON).await;
        assert_all_gone(&world, "gate", &record.to_string()).await;
        operator.abort();
    }
}

/// A gate that recorded its yard and could not hold it does not move in when the yard ends.
#[tokio::test]
async fn nobody_moves_in_with_a_yard_that_ends_and_does_not_wait() {
    let world = World::new("unheld").await;
    let (lab, people) = (&world.lab, &world.people);
    // Another one's: the yard is a served object itself.
    people
        .patch_yard(json!({"metadata": {"finalizers": ["example.com/own"]}}))
        .await;
    lab.create_sample().await;
    let fault = Fault::new(FaultKind::InternalError);
    let fault = fault.verb("patch").resource("yards");
    world.cluster.faults().add(fault);
    lab.pass().await;
    people.remove_yard().await;
    lab.settle().await;
    let made = lab.marked().await;
    assert!(
        made.is_empty(),
        "the yard goes, and cannot be held: {made:?}"
    );
}

/// The yard is deleted between a gate's first read of it and its record; the gate cannot take its
/// record back; somebody lets go of the yard at the same time.
#[tokio::test(start_paused = true)]
async fn a_record_in_vain_that_could_not_be_taken_back_is_no_right_to_move_in() {
    let world = World::new("vain").await;
    let (lab, people) = (&world.lab, world.people.clone());
    // What the last guest left.
    people
        .patch_yard(json!({"metadata": {"finalizers": [guest_finalizer(GATE)]}}))
        .await;
    lab.create_sample().await;
    let slow = Between::default();
    let (arrived, goes_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    {
        let (people, arrived, goes_on) = (people.clone(), arrived.clone(), goes_on.clone());
        let (slow, cluster) = (slow.clone(), world.cluster.clone());
        let operator = super::world::linked(&cluster, &slow);
        // Another operator, which looks after hosts alone: it stops before it lets go.
        blind(&slow, &lab.name);
        slow.before("PATCH", "/yards/yard", 0, async move {
            arrived.notify_one();
            goes_on.notified().await;
        });
        let account = lab.cloud().clone();
        let (name, faults) = (lab.name.clone(), cluster.clone());
        world
            .between
            .before("PATCH", &format!("/gates/{name}"), 0, async move {
                people.remove_yard().await;
                let task = super::world::operate_in(account, operator);
                std::mem::drop(task);
                sleep(Duration::from_secs(2)).await;
                // Its take-back will meet another version.
                let fault = Fault::new(FaultKind::Conflict)
                    .verb("patch")
                    .resource("gates");
                faults.faults().add(fault.after(1));
            });
    }
    lab.pass().await;
    arrived.notified().await;
    lab.wait(Duration::from_secs(5));
    lab.pass().await;
    goes_on.notify_one();
    sleep(SOON).await;
    if people.yard().await.is_none() {
        let made = lab.marked().await;
        assert!(
            made.is_empty(),
            "law 3: the yard is gone, and {made:?} stays"
        );
    }
}

/// A gate that was restored with its record, but without its finalizers, is a guest only when it is
/// pinned: it reads its yard after that.
#[tokio::test(start_paused = true)]
async fn a_restored_gate_reads_its_yard_after_it_is_known_as_a_guest() {
    let world = World::new("restored").await;
    let (lab, people) = (&world.lab, world.people.clone());
    lab.create_sample().await;
    lab.converge().await;
    let mut backup = lab.backup().await;
    lab.delete().await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    people
        .patch_yard(json!({"metadata": {"finalizers": [guest_finalizer(GATE)]}}))
        .await;
    let key = json!({"metadata": {"finalizers": [guest_finalizer(GATE)]}});
    people.patch_key(key).await;
    let metadata = backup["metadata"].as_object_mut().unwrap();
    metadata.remove("finalizers");
    // It is from before anything was made.
    let record = backup["metadata"]["annotations"][LEDGER].as_str().unwrap();
    let mut record: Value = serde_json::from_str(record).unwrap();
    let kept = ["claim", "holder", "place", "hosts"];
    record
        .as_object_mut()
        .unwrap()
        .retain(|field, _| kept.contains(&field.as_str()));
    backup["metadata"]["annotations"][LEDGER] = json!(record.to_string());
    lab.restore(&backup).await;
    let name = lab.name.clone();
    let account = lab.cloud().clone();
    let other = Between::default();
    blind(&other, &name);
    let client = super::world::linked(&world.cluster, &other);
    let was_gone = Arc::new(AtomicBool::new(false));
    {
        let (people, gone) = (people.clone(), was_gone.clone());
        let deleting = people.clone();
        // Before its first write: whatever it read, it read before.
        world
            .between
            .before("PATCH", &format!("/gates/{name}"), 0, async move {
                people.remove_yard().await;
                people.remove_key("key").await;
                let task = super::world::operate_in(account, client);
                sleep(Duration::from_secs(5)).await;
                gone.store(deleting.yard().await.is_none(), Ordering::Relaxed);
                task.abort();
            });
    }
    lab.pass().await;
    assert!(world.between.is_over());
    assert!(
        was_gone.load(Ordering::Relaxed),
        "nobody was known as its guest"
    );
    lab.settle().await;
    if people.yard().await.is_none() {
        let made = lab.marked().await;
        assert!(
            made.is_empty(),
            "law 3: the yard is gone, and {made:?} stays"
        );
    }
}

/// A gate whose yard went before it could move in owns nothing: it can go, too.
#[tokio::test]
async fn a_gate_that_came_in_vain_can_go() {
    let mut broken = Vec::new();
    for held in [false, true] {
        let world = World::new("invain").await;
        let (lab, people) = (&world.lab, world.people.clone());
        if held {
            let finalizers = json!({"metadata": {"finalizers": ["example.com/own"]}});
            people.patch_yard(finalizers).await;
        }
        lab.create_sample().await;
        let path = format!("/gates/{}", lab.name);
        let deleting = people.clone();
        world.between.before("PATCH", &path, 0, async move {
            deleting.remove_yard().await;
        });
        lab.settle().await;
        if held {
            let none = json!({"metadata": {"finalizers": null}});
            people.patch_yard(none).await;
        }
        assert_eq!(people.yard().await, None);
        lab.settle().await;
        assert!(lab.marked().await.is_empty());
        lab.delete().await;
        lab.settle().await;
        if !lab.is_gone().await {
            broken.push(format!("{held}: {}", people.said(&lab.name).await));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The same with the whole namespace: nobody can make the yard again there.
#[tokio::test(start_paused = true)]
async fn a_namespace_goes_with_a_gate_that_came_in_vain() {
    let world = World::new("novain").await;
    let people = world.people.clone();
    let between = Between::default();
    let deleting = people.clone();
    between.before("PATCH", "/gates/gate", 0, async move {
        let namespaces: Api<k8s_openapi::api::core::v1::Namespace> =
            Api::all(deleting.client.clone());
        let name = deleting.namespace.clone();
        namespaces
            .delete(&name, &DeleteParams::default())
            .await
            .unwrap();
    });
    let _operator = world.operate(&between);
    people.create_gate("gate").await;
    sleep(SOON).await;
    assert!(between.is_over());
    assert!(world.lab.marked().await.is_empty());
    assert!(
        !people.has_gate("gate").await,
        "{}",
        people.said("gate").await
    );
}

/// A namespace is deleted: gates end first, then what they need goes.
#[tokio::test(start_paused = true)]
async fn a_namespace_goes_with_its_gates() {
    let world = World::new("whole").await;
    let people = &world.people;
    let _operator = world.operate(&Between::default());
    people.create_gate("gate").await;
    people.create_gate("other").await;
    sleep(SOON).await;
    assert_eq!(world.lab.marked().await.len(), 2);
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(people.client.clone());
    namespaces
        .delete(&people.namespace, &DeleteParams::default())
        .await
        .unwrap();
    sleep(SOON).await;
    assert_all_gone(&world, "gate", "namespace").await;
    let there = namespaces.get_opt(&people.namespace).await.unwrap();
    assert!(there.is_none());
}

/// A gate gets another key and is deleted before it was looked at: the key is needed to the end, and
/// let go after it.
#[tokio::test(start_paused = true)]
async fn a_key_that_a_gate_got_last_is_needed_and_let_go() {
    let world = World::new("lastkey").await;
    let (lab, people) = (&world.lab, world.people.clone());
    lab.create_sample().await;
    lab.converge().await;
    people.create_key("next").await;
    people
        .patch_gate(&lab.name, json!({"spec": {"key": {"name": "next"}}}))
        .await;
    people.remove_gate(&lab.name).await;
    // The key is deleted while the gate ends: it is recorded and held by then.
    let deleting = people.clone();
    let path = format!("/gates/{}", lab.name);
    world.between.before("PATCH", &path, 1, async move {
        deleting.remove_key("next").await;
        assert_eq!(deleting.key("next").await, Some(true));
    });
    lab.settle().await;
    assert!(lab.is_gone().await, "{}", people.said(&lab.name).await);
    assert_eq!(
        people.key("next").await,
        None,
        "it was deleted, and nobody needs it"
    );
    assert_eq!(people.key("key").await, Some(false));
    assert_eq!(people.yard().await, Some(false));
}

/// The same, and nobody deletes the key: nothing is left on it.
#[tokio::test(start_paused = true)]
async fn nothing_is_left_on_a_key_that_a_gate_got_last() {
    let world = World::new("leftkey").await;
    let (lab, people) = (&world.lab, world.people.clone());
    lab.create_sample().await;
    lab.converge().await;
    people.create_key("next").await;
    people
        .patch_gate(&lab.name, json!({"spec": {"key": {"name": "next"}}}))
        .await;
    people.remove_gate(&lab.name).await;
    lab.settle().await;
    assert!(lab.is_gone().await);
    assert_eq!(people.key("next").await, Some(false), "law 7");
    assert_eq!(people.key("key").await, Some(false), "law 7");
}

/// A gate from before there were guests: its record names no hosts.
#[tokio::test(start_paused = true)]
async fn a_gate_that_an_older_version_made_ends_and_leaves_nothing() {
    for yard_ends in [false, true] {
        let world = World::new("older").await;
        let (lab, people) = (&world.lab, world.people.clone());
        lab.create_sample().await;
        lab.converge().await;
        let gate = people.gates().get(&lab.name).await.unwrap();
        let mut record: Value = serde_json::from_str(&gate.annotations()[LEDGER]).unwrap();
        record.as_object_mut().unwrap().remove("hosts");
        let record = json!({"metadata": {"annotations": {LEDGER: record.to_string()}}});
        people.patch_gate(&lab.name, record).await;
        people
            .patch_yard(json!({"metadata": {"finalizers": null}}))
            .await;
        people
            .patch_key(json!({"metadata": {"finalizers": null}}))
            .await;
        people.remove_gate(&lab.name).await;
        if yard_ends {
            // Its end has begun, and holds its hosts; now they are deleted.
            let deleting = people.clone();
            world
                .between
                .before("PATCH", &format!("/gates/{}", lab.name), 1, async move {
                    deleting.remove_yard().await;
                    deleting.remove_key("key").await;
                });
        }
        lab.settle().await;
        assert!(lab.is_gone().await, "{}", people.said(&lab.name).await);
        assert!(lab.marked().await.is_empty());
        let left = if yard_ends { None } else { Some(false) };
        assert_eq!((people.yard().await, people.key("key").await), (left, left));
    }
}

/// Who only looks, is paused or retains holds its hosts all the same, and lets go of them.
#[tokio::test(start_paused = true)]
async fn a_gate_that_is_not_worked_for_keeps_what_it_needs() {
    for (key, value) in [
        ("freehold.dev/management", "observe"),
        ("freehold.dev/deletion", "retain"),
    ] {
        let world = World::new("kept").await;
        let people = &world.people;
        let operator = world.operate(&Between::default());
        people.create_gate("gate").await;
        sleep(SOON).await;
        let switch = json!({"metadata": {"annotations": {key: value}}});
        people.patch_gate("gate", switch).await;
        people.remove_yard().await;
        people.remove_key("key").await;
        sleep(SOON).await;
        let kept = (people.yard().await, people.key("key").await);
        assert_eq!(kept, (Some(true), Some(true)), "{key}");
        people.remove_gate("gate").await;
        sleep(SOON).await;
        if value == "observe" {
            assert!(people.has_gate("gate").await);
            let switch = json!({"metadata": {"annotations": {key: null}}});
            people.patch_gate("gate", switch).await;
            sleep(SOON).await;
        }
        assert_all_gone(&world, "gate", key).await;
        operator.abort();
    }
}

/// A yard that is paused and deleted stays; so does its gate, until somebody goes on.
#[tokio::test(start_paused = true)]
async fn a_gate_of_a_paused_yard_ends_when_it_goes_on() {
    let world = World::new("paused").await;
    let people = &world.people;
    let _operator = world.operate(&Between::default());
    people.create_gate("gate").await;
    sleep(SOON).await;
    people.patch_yard(json!({"spec": {"paused": true}})).await;
    sleep(SOON).await;
    people.remove_gate("gate").await;
    people.remove_yard().await;
    people.remove_key("key").await;
    sleep(SOON).await;
    assert_eq!(world.lab.marked().await.len(), 1);
    let kept = (people.yard().await, people.key("key").await);
    assert_eq!(kept, (Some(true), Some(true)));
    people.patch_yard(json!({"spec": {"paused": false}})).await;
    sleep(SOON).await;
    assert_all_gone(&world, "gate", "paused").await;
}

/// Hosts that were restored with what guests had put on them, and no guests.
#[tokio::test(start_paused = true)]
async fn a_yard_that_was_restored_without_its_gates_is_let_go() {
    for word in [Value::Null, json!("(leaving)"), json!("here/gate")] {
        let world = World::new("alone").await;
        let people = &world.people;
        let _operator = world.operate(&Between::default());
        sleep(SOON).await;
        let finalizer = guest_finalizer(GATE);
        let held = json!({"finalizers": [&finalizer], "annotations": {&finalizer: word}});
        people.patch_yard(json!({"metadata": held})).await;
        sleep(SOON).await;
        assert_eq!(people.yard().await, Some(false), "{word}");
        people.remove_yard().await;
        assert_eq!(people.yard().await, None);
    }
}

/// A gate that was restored without its yard waits for it, and is a guest again when it comes.
#[tokio::test(start_paused = true)]
async fn a_gate_that_was_restored_without_its_yard_waits_for_it() {
    let world = World::new("without").await;
    let (lab, people) = (&world.lab, &world.people);
    lab.create_sample().await;
    lab.converge().await;
    let backup = lab.backup().await;
    lab.lose().await;
    people
        .patch_yard(json!({"metadata": {"finalizers": null}}))
        .await;
    people.remove_yard().await;
    assert_eq!(people.yard().await, None);
    lab.restore(&backup).await;
    let _operator = world.operate(&Between::default());
    sleep(SOON).await;
    assert!(people.said(&lab.name).await.contains("waits for the yard"));
    people.remove_gate(&lab.name).await;
    sleep(SOON).await;
    assert_eq!(lab.marked().await.len(), 1);
    create_yard(lab).await;
    sleep(SOON).await;
    assert!(!people.has_gate(&lab.name).await);
    assert!(lab.marked().await.is_empty());
    assert_eq!(people.yard().await, Some(false));
}

/// The yard is removed by force and made again, while its gate rests: the new one is held.
#[tokio::test(start_paused = true)]
async fn a_yard_that_was_made_again_is_held_again() {
    let world = World::new("again").await;
    let (lab, people) = (&world.lab, &world.people);
    let _operator = world.operate(&Between::default());
    people.create_gate("gate").await;
    sleep(SOON).await;
    people.remove_yard().await;
    people
        .patch_yard(json!({"metadata": {"finalizers": null}}))
        .await;
    create_yard(lab).await;
    sleep(SOON).await;
    assert_eq!(people.yard().await, Some(true));
    people.remove_yard().await;
    people.remove_key("key").await;
    people.remove_gate("gate").await;
    sleep(SOON).await;
    assert_all_gone(&world, "gate", "again").await;
}

/// The yard is removed and made again elsewhere, between a gate's read of it and its record: what was
/// read of the first one says nothing of the second.
#[tokio::test]
async fn a_gate_does_not_use_what_it_read_of_another_yard() {
    let world = World::new("stale").await;
    let (lab, people) = (&world.lab, world.people.clone());
    lab.create_sample().await;
    let path = format!("/gates/{}", lab.name);
    let (deleting, client) = (people.clone(), people.client.clone());
    let namespace = people.namespace.clone();
    world.between.before("PATCH", &path, 0, async move {
        deleting.remove_yard().await;
        let yards: Api<crate::object::Yard> = Api::namespaced(client, &namespace);
        let yard = json!({
            "apiVersion": "second.freehold.dev/v1",
            "kind": "Yard",
            "metadata": {"name": "yard"},
            "spec": {"region": "elsewhere", "from": "10.0.0.0/8"},
        });
        crate::object::create(&yards, yard).await;
    });
    lab.settle().await;
    let made = lab.marked().await;
    assert!(made.is_empty(), "there is no such yard any more: {made:?}");
}

/// Hosts and gates that were restored into another management cluster wait for the take-over.
#[tokio::test]
async fn hosts_in_another_management_cluster_wait_for_its_gates() {
    let mut world = World::new("moved").await;
    world.lab.create_sample().await;
    world.lab.converge().await;
    let backup = world.lab.backup().await;
    world.lab.lose().await;
    world.lab.restore(&backup).await;
    world.lab.move_to("elsewhere", &[]);
    let (lab, people) = (&world.lab, &world.people);
    lab.settle().await;
    people.remove_yard().await;
    people.remove_key("key").await;
    people.remove_gate(&lab.name).await;
    lab.settle().await;
    assert_eq!(lab.marked().await.len(), 1);
    let kept = (people.yard().await, people.key("key").await);
    assert_eq!(kept, (Some(true), Some(true)));
    world.lab.move_to("elsewhere", &["here"]);
    world.lab.settle().await;
    let name = world.lab.name.clone();
    assert_all_gone(&world, &name, "after the take-over").await;
}

/// A generated gate is copied to another name: it stays what it is.
#[tokio::test]
async fn a_copy_of_a_generated_gate_takes_nothing_of_it() {
    use controllers::reconcile::generated;
    use ownership::Claim;
    let world = World::new("generated").await;
    let (lab, people) = (&world.lab, &world.people);
    let uuid = "7f6a2f2e-58b5-4c1f-9d0e-0a3f4f1f2b11";
    let parent = Claim::new("Mesh.second.freehold.dev", "", "mesh", uuid).unwrap();
    let claim = Claim::derived(&parent, GATE, &people.namespace, &lab.name).unwrap();
    let mut gate = lab.sample.manifest.clone();
    gate["metadata"] = serde_json::to_value(generated(&claim, None)).unwrap();
    // The copy comes first: it is nobody's, until the original comes.
    let mut copy = gate.clone();
    copy["metadata"]["name"] = json!("copy");
    lab.create_object(&copy).await;
    lab.create_object(&gate).await;
    lab.settle_as("copy").await;
    lab.settle().await;
    lab.settle_as("copy").await;
    lab.settle().await;
    let made = lab.marked().await;
    assert_eq!(
        made.len(),
        1,
        "one of the two is a copy: {} {}",
        people.said("copy").await,
        people.said(&lab.name).await
    );
    people.remove_gate("copy").await;
    lab.settle_as("copy").await;
    lab.converge().await;
    people.remove_gate(&lab.name).await;
    lab.settle().await;
    assert!(lab.marked().await.is_empty());
    assert!(lab.is_gone().await && !people.has_gate("copy").await);
}
