//! Elections on an embedded cluster in virtual time, with replicas that die, hang and lose answers.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod world;

use std::time::Duration;

use embedded_kube::{Fault, FaultKind};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use lease::{DURATION, RENEW_EVERY, RETRY_EVERY, Times};
use ownership::time::{Millis, REQUEST_TIMEOUT};
use ownership::{Class, CloudError};
use proptest::prelude::*;
use serde_json::json;
use world::{Link, Replica, World, leaders, pass};

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn span(millis: Millis) -> Duration {
    Duration::from_millis(millis.0)
}

#[tokio::test(start_paused = true)]
async fn the_first_candidate_leads_and_keeps_leading() {
    let world = World::new();
    let replicas = [world.replica("a", 0), world.replica("b", 0)];
    pass(seconds(3600), &replicas).await;
    assert_eq!(leaders(&replicas), ["a"]);
    assert!(
        replicas[0].leadership.left() >= Millis(DURATION.0 - RENEW_EVERY.0 - 1),
        "it is renewed in time"
    );
    assert!(
        replicas[0].may_send(),
        "a leader in peace may send anything"
    );
}

#[tokio::test(start_paused = true)]
async fn a_new_holder_waits_before_its_first_delicate_call() {
    let world = World::new();
    let mut replica = world.replica("a", 7);
    let term = replica.leadership.gained().await.unwrap();
    let began = term.began.unwrap();
    assert!(!replica.may_send());
    pass(span(REQUEST_TIMEOUT), std::slice::from_ref(&replica)).await;
    let term = replica.leadership.term().unwrap();
    assert_eq!(term.began, Some(began), "renewals are the same term");
    assert!(replica.may_send());
}

#[tokio::test(start_paused = true)]
async fn a_dead_holder_is_replaced_after_the_duration_of_its_lease() {
    let world = World::new();
    let mut replicas = vec![world.replica("a", 0), world.replica("b", 0)];
    pass(seconds(100), &replicas).await;
    assert_eq!(leaders(&replicas), ["a"]);
    let last_renewal = DURATION.0 - replicas[0].leadership.left().0;
    replicas[0].kill();
    pass(Duration::from_millis(DURATION.0 - last_renewal), &replicas).await;
    assert_eq!(leaders(&replicas), Vec::<&str>::new(), "its time is over");
    pass(span(RETRY_EVERY) + span(RETRY_EVERY), &replicas).await;
    assert_eq!(leaders(&replicas), ["b"]);
    let spec = world.lease().await.unwrap().spec.unwrap();
    assert_eq!(spec.holder_identity.as_deref(), Some("b"));
    assert_eq!(spec.lease_transitions, Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_graceful_stop_hands_over_at_once() {
    let world = World::new();
    let mut replicas = vec![world.replica("a", 0), world.replica("b", 0)];
    pass(seconds(100), &replicas).await;
    replicas[0].stop().await;
    assert_eq!(
        world.lease().await.unwrap().spec.unwrap().holder_identity,
        None
    );
    pass(span(RETRY_EVERY) + seconds(1), &replicas).await;
    assert_eq!(leaders(&replicas), ["b"]);
    assert!(replicas[1].may_send(), "there is nothing to wait for");
}

/// How long after it began to lead the only replica that is left waits before its first delicate
/// call, to within a step.
async fn waits(replicas: &mut [Replica]) -> Duration {
    let next = replicas.last_mut().unwrap();
    next.leadership.gained().await.unwrap();
    let began = tokio::time::Instant::now();
    while !replicas.last().unwrap().may_send() {
        pass(seconds(1), replicas).await;
    }
    began.elapsed()
}

#[tokio::test(start_paused = true)]
async fn only_a_release_with_nothing_under_way_spares_the_next_holder_the_wait() {
    let unknown = CloudError::new(Class::Unknown, "Timeout", "no answer");
    for (what, age, expected) in [
        ("an answered call", 0, seconds(0)),
        ("a call that timed out", 0, span(REQUEST_TIMEOUT)),
        ("a call that timed out", 29, span(REQUEST_TIMEOUT)),
        ("a call that timed out", 30, seconds(0)),
        ("a call that was given up", 29, span(REQUEST_TIMEOUT)),
        (
            "a call that nobody answered yet",
            300,
            span(REQUEST_TIMEOUT),
        ),
    ] {
        let world = World::new();
        let mut replicas = vec![world.replica("a", 0), world.replica("b", 0)];
        pass(seconds(100), &replicas).await;
        assert_eq!(leaders(&replicas), ["a"]);
        let calls = replicas[0].calls.clone();
        let call = calls.begin();
        let open = match what {
            "an answered call" => {
                call.end(Ok(&()));
                None
            }
            "a call that timed out" => {
                call.end::<()>(Err(&unknown));
                None
            }
            "a call that was given up" => {
                drop(call);
                None
            }
            _ => Some(call),
        };
        pass(seconds(age), &replicas).await;
        replicas[0].stop().await;
        assert_eq!(waits(&mut replicas).await, expected, "{what}, {age} s ago");
        drop(open);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_ran_out_or_was_deleted_or_freed_by_others_is_not_clean() {
    for how in ["killed", "deleted", "freed by hand"] {
        let world = World::new();
        // The first holder releases it cleanly: that must not count for the second.
        let mut first = world.replica("z", 0);
        pass(seconds(100), std::slice::from_ref(&first)).await;
        first.stop().await;
        let mut replicas = vec![world.replica("a", 0)];
        pass(seconds(5), &replicas).await;
        assert!(replicas[0].may_send(), "{how}");
        replicas[0].kill();
        match how {
            "deleted" => world.delete_lease().await,
            "freed by hand" => world.free_lease().await,
            _ => {}
        }
        replicas.push(world.replica("b", 0));
        assert_eq!(waits(&mut replicas).await, span(REQUEST_TIMEOUT), "{how}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_holder_that_has_not_waited_itself_passes_the_wait_on() {
    let world = World::new();
    let mut replicas = vec![world.replica("a", 0)];
    pass(seconds(100), &replicas).await;
    // Its calls may take effect until T after the next one has begun to lead.
    replicas[0].kill();
    let mut second = world.replica("b", 0);
    second.leadership.gained().await.unwrap();
    pass(seconds(29), std::slice::from_ref(&second)).await;
    second.stop().await;
    replicas.push(second);
    replicas.push(world.replica("c", 0));
    assert_eq!(waits(&mut replicas).await, span(REQUEST_TIMEOUT));
}

#[tokio::test(start_paused = true)]
async fn a_clean_release_survives_a_lost_answer_to_who_takes_it() {
    let world = World::new();
    let mut replicas = vec![world.replica("a", 0)];
    pass(seconds(100), &replicas).await;
    replicas[0].stop().await;
    let faults = world.server.faults();
    let fault = Fault::new(FaultKind::LostAnswer).verb("update");
    faults.add(fault.resource("leases"));
    replicas.push(world.replica("b", 0));
    assert_eq!(waits(&mut replicas).await, seconds(0));
    assert_eq!(faults.pending(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_wait_is_for_the_calls_of_the_holder_before_whatever_its_timeout() {
    let long = Times::new(Millis::seconds(150), Millis::seconds(120)).unwrap();
    let short = Times::new(Millis::seconds(40), Millis::seconds(5)).unwrap();
    for (times, next, expected) in [
        (long, Times::default(), 120),
        (long, short, 120),
        (short, Times::default(), 30),
    ] {
        let world = World::new();
        let mut first = world.replica_with("a", times);
        first.leadership.gained().await.unwrap();
        // Too early to be clean.
        pass(seconds(1), std::slice::from_ref(&first)).await;
        let released = first.now();
        first.stop().await;
        let mut replicas = vec![first, world.replica_with("b", next)];
        waits(&mut replicas).await;
        let waited = replicas[1].now() - released;
        assert_eq!(waited, Millis::seconds(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_in_the_middle_of_a_call_releases_too() {
    let world = World::new();
    let mut replica = world.replica("a", 0);
    pass(seconds(5), std::slice::from_ref(&replica)).await;
    replica.link(Link::Deaf);
    // Its renewal at ten seconds takes effect, and hangs.
    pass(seconds(6), std::slice::from_ref(&replica)).await;
    replica.link(Link::Up);
    replica.stop().await;
    assert_eq!(
        world.lease().await.unwrap().spec.unwrap().holder_identity,
        None
    );
    assert_eq!(replica.leadership.term(), None);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_day_does_not_matter() {
    let world = World::new();
    // Years apart, in both directions; the first one's clock stands still, and it leads all the same.
    let mut replicas = vec![
        world.replica_at("a", 0, "2026-01-01T00:00:00Z", false),
        world.replica_at("b", 5_000_000, "2099-01-01T00:00:00Z", true),
        world.replica_at("c", 77, "1999-01-01T00:00:00Z", true),
    ];
    for expected in ["a", "b", "c"] {
        pass(seconds(600), &replicas).await;
        assert_eq!(leaders(&replicas), [expected]);
        let leader = replicas.iter_mut().find(|r| r.name == expected).unwrap();
        leader.kill();
        // The others stand in line by name.
        pass(seconds(61), &replicas).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_holder_that_cannot_reach_the_server_stops_before_another_begins() {
    let world = World::new();
    for link in [Link::Cut, Link::Deaf] {
        let mut replicas = vec![world.replica("a", 0), world.replica("b", 0)];
        pass(seconds(100), &replicas).await;
        let (cut, other) = if replicas[0].leads() { (0, 1) } else { (1, 0) };
        replicas[cut].link(link);
        // A last renewal may arrive that it never hears of: nobody else begins before its end.
        let longest = span(RENEW_EVERY) + span(DURATION) + span(RETRY_EVERY) + seconds(1);
        pass(longest, &replicas).await;
        assert_eq!(leaders(&replicas), [replicas[other].name]);
        replicas[cut].link(Link::Up);
        pass(seconds(200), &replicas).await;
        assert_eq!(leaders(&replicas).len(), 1);
        for replica in &mut replicas {
            replica.stop().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_term_counts_from_before_its_renewal_was_sent() {
    let world = World::new();
    let replicas = [world.replica("a", 0), world.replica("b", 0)];
    pass(seconds(5), &replicas).await;
    // The renewal takes effect at once, its answer comes late, and it is the last.
    replicas[0].link(Link::Slow(7000));
    pass(seconds(6), &replicas).await;
    replicas[0].link(Link::Cut);
    pass(seconds(80), &replicas).await;
    assert_eq!(leaders(&replicas), ["b"]);
}

#[tokio::test(start_paused = true)]
async fn a_conflict_never_gives_two() {
    let world = World::new();
    let kinds = [
        FaultKind::Conflict,
        FaultKind::LostAnswer,
        FaultKind::InternalError,
    ];
    for (verb, times) in [("create", 1), ("update", 3)] {
        for kind in kinds {
            world.delete_lease().await;
            let faults = world.server.faults();
            faults.add(Fault::new(kind).verb(verb).resource("leases").times(times));
            let mut replicas = vec![world.replica("a", 0), world.replica("b", 0)];
            pass(seconds(300), &replicas).await;
            assert_eq!(faults.pending(), 0, "{kind:?} {verb}");
            assert_eq!(leaders(&replicas).len(), 1, "{kind:?} {verb}");
            for replica in &mut replicas {
                replica.stop().await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn two_processes_with_one_identity_do_not_both_lead() {
    let world = World::new();
    let replicas = [world.replica("twin", 0), world.replica("twin", 3)];
    pass(seconds(600), &replicas).await;
    assert_eq!(leaders(&replicas).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_lease_is_made_again_and_overlaps_no_delicate_call() {
    let world = World::new();
    let replicas = [world.replica("a", 0), world.replica("b", 0)];
    pass(seconds(100), &replicas).await;
    world.delete_lease().await;
    // `b` has seen `a`'s record: it waits for its end, and `a` is back before that.
    pass(seconds(100), &replicas).await;
    assert_eq!(leaders(&replicas), ["a"]);
    assert!(world.lease().await.is_some());
}

#[tokio::test(start_paused = true)]
async fn what_others_write_on_the_lease_stays() {
    let world = World::new();
    let replicas = [world.replica("a", 0)];
    pass(seconds(5), &replicas).await;
    let api: Api<Lease> = Api::namespaced(world.server.client(), "default");
    let label = json!({"metadata": {"labels": {"theirs": "yes"}}});
    api.patch("freehold", &PatchParams::default(), &Patch::Merge(label))
        .await
        .unwrap();
    pass(seconds(100), &replicas).await;
    assert_eq!(leaders(&replicas), ["a"], "a conflict, and on");
    assert_eq!(
        world.lease().await.unwrap().metadata.labels.unwrap()["theirs"],
        "yes"
    );
    api.delete("freehold", &DeleteParams::default())
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_is_told() {
    let world = World::new();
    let mut first = world.replica("a", 0);
    assert!(first.leadership.gained().await.is_some());
    first.link(Link::Cut);
    let before = first.now();
    first.leadership.lost().await;
    assert!(first.now() - before <= DURATION);
    first.kill();
    assert_eq!(
        first.leadership.gained().await,
        None,
        "nobody stands any more"
    );
}

/// What happens to a replica, and how long before the next event.
#[derive(Clone, Debug)]
enum Event {
    Link(usize, Link),
    Kill(usize),
    Stop(usize),
    Start(usize, u64),
    Send,
    Fault(u8),
    Nothing,
}

fn event() -> impl Strategy<Value = (Event, u64)> {
    let link = prop_oneof![
        3 => Just(Link::Up),
        1 => Just(Link::Cut),
        1 => Just(Link::Deaf),
        1 => (1_u64..20_000).prop_map(Link::Slow),
        1 => (1_u64..90_000).prop_map(Link::Late),
    ];
    let event = prop_oneof![
        4 => (0_usize..3, link).prop_map(|(index, link)| Event::Link(index, link)),
        1 => (0_usize..3).prop_map(Event::Kill),
        2 => (0_usize..3).prop_map(Event::Stop),
        2 => (0_usize..3, 0_u64..1_000_000).prop_map(|(index, skew)| Event::Start(index, skew)),
        3 => Just(Event::Send),
        2 => (0_u8..4).prop_map(Event::Fault),
        2 => Just(Event::Nothing),
    ];
    (event, 0_u64..80_000)
}

async fn play(events: Vec<(Event, u64)>) {
    let world = World::new();
    let names = ["a", "b", "c"];
    let mut replicas: Vec<Replica> = names.iter().map(|name| world.replica(name, 0)).collect();
    for (event, pause) in events {
        match event {
            Event::Link(index, link) => replicas[index].link(link),
            Event::Kill(index) => replicas[index].kill(),
            Event::Stop(index) => replicas[index].request_stop(),
            Event::Start(index, skew) => {
                replicas[index].kill();
                replicas[index] = world.replica(names[index], skew);
            }
            Event::Send => replicas.iter().for_each(Replica::send),
            Event::Fault(kind) => {
                let kind = match kind {
                    0 => FaultKind::Conflict,
                    1 => FaultKind::LostAnswer,
                    2 => FaultKind::InternalError,
                    _ => FaultKind::StaleRead { by: 2 },
                };
                world
                    .server
                    .faults()
                    .add(Fault::new(kind).resource("leases").times(2));
            }
            Event::Nothing => {}
        }
        // Asserts all the way that at most one leads, and waits for the calls of the others.
        pass(Duration::from_millis(pause), &replicas).await;
    }
    world.server.faults().clear();
    for (replica, name) in replicas.iter_mut().zip(names) {
        replica.kill();
        *replica = world.replica(name, 0);
    }
    pass(seconds(300), &replicas).await;
    assert_eq!(leaders(&replicas).len(), 1, "faults over: somebody leads");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn two_replicas_never_both_lead_nor_send(events in proptest::collection::vec(event(), 1..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(play(events));
    }
}
