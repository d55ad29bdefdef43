//! One or two operators on slow connections, an API server that fails, people who make, change and remove
//! gates, keys and yards at any time. When all of it is removed in the end, nothing is left.

use std::time::Duration;

use embedded_kube::{Fault, FaultKind};
use serde_json::json;
use tokio::time::sleep;

use super::world::{Between, World};
use crate::lab::create_yard;

const GATES: [&str; 3] = ["one", "two", "three"];
const KEYS: [&str; 2] = ["key", "next"];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

fn fault(random: &mut Random) -> Fault {
    let kinds = [
        FaultKind::Conflict,
        FaultKind::LostAnswer,
        FaultKind::InternalError,
    ];
    let skip = u32::try_from(random.below(6)).unwrap();
    let kind = random.one(&kinds);
    let resource = random.one(&["gates", "yards", "secrets"]);
    let fault = Fault::new(kind).resource(resource).after(skip);
    // People's own deletes are not to fail.
    if random.below(2) == 0 || kind != FaultKind::InternalError {
        fault.verb("patch")
    } else {
        fault.verb("get")
    }
}

async fn day(seed: u64, faults: bool) {
    let world = World::new("day").await;
    let (lab, people) = (&world.lab, &world.people);
    let mut random = Random(seed);
    let betweens: Vec<Between> = (0..=seed % 2).map(|_| Between::default()).collect();
    let mut operators = Vec::new();
    for (at, between) in betweens.iter().enumerate() {
        between.delay(Some(seed.wrapping_mul(31).wrapping_add(at as u64)));
        operators.push(world.operate(between));
    }
    sleep(Duration::from_secs(5)).await;
    let mut story = Vec::new();
    for _ in 0..24 {
        let name = random.one(&GATES);
        let key = random.one(&KEYS);
        let deed = random.below(10);
        story.push(format!("{deed} {name} {key}"));
        let there = people.has_gate(name).await;
        match deed {
            0..=2 if !there => {
                let mut gate = people.gate(name);
                gate["spec"]["key"]["name"] = json!(key);
                crate::object::create(&people.gates(), gate).await;
            }
            3 | 4 => people.remove_gate(name).await,
            5 => people.remove_yard().await,
            6 => people.remove_key(key).await,
            7 if there => {
                let patch = json!({"spec": {"key": {"name": key}}});
                people.patch_gate(name, patch).await;
            }
            0..=2 | 7 => {}
            8 => {
                if people.yard().await.is_none() {
                    create_yard(lab).await;
                }
                for key in KEYS {
                    if people.key(key).await.is_none() {
                        people.create_key(key).await;
                    }
                }
            }
            _ if faults => {
                let at = usize::try_from(random.below(betweens.len() as u64)).unwrap();
                match random.below(3) {
                    // It is killed, and another one starts.
                    0 => {
                        operators[at].abort();
                        operators[at] = world.operate(&betweens[at]);
                    }
                    _ => world.cluster.faults().add(fault(&mut random)),
                }
            }
            _ => {}
        }
        let most = random.one(&[50, 500, 3000, 20_000]);
        sleep(Duration::from_millis(random.below(most))).await;
    }
    world.cluster.faults().clear();
    for between in &betweens {
        between.delay(None);
    }
    sleep(Duration::from_mins(5)).await;
    // A gate whose yard or key a person has removed needs it to end: it was never held, or is there.
    let marked = lab.marked().await;
    for name in GATES {
        people.remove_gate(name).await;
    }
    sleep(Duration::from_mins(5)).await;
    let mut left = Vec::new();
    for name in GATES {
        if people.has_gate(name).await {
            left.push(format!("{name}: {}", people.said(name).await));
        }
    }
    let owned = lab.marked().await;
    // A person may have named a key that is none; the yard is always the same one.
    let has_yard = people.yard().await.is_some();
    assert!(
        owned.is_empty() || has_yard,
        "law 3, seed {seed}: {owned:?} of {marked:?}; {left:?}; {story:#?}"
    );
    if !left.is_empty() {
        // Nothing of theirs is in the cloud; what they wait for may come again.
        if people.yard().await.is_none() {
            create_yard(lab).await;
        }
        for key in KEYS {
            if people.key(key).await.is_none() {
                people.create_key(key).await;
            }
        }
        sleep(Duration::from_mins(5)).await;
    }
    people.remove_yard().await;
    for key in KEYS {
        people.remove_key(key).await;
    }
    sleep(Duration::from_mins(5)).await;
    for name in GATES {
        assert!(!people.has_gate(name).await, "seed {seed}: {story:#?}");
    }
    let yard = people.yard().await;
    assert_eq!(yard, None, "seed {seed}: the yard stays; {story:#?}");
    for key in KEYS {
        let key = people.key(key).await;
        assert_eq!(key, None, "seed {seed}: a key stays; {story:#?}");
    }
    assert!(lab.marked().await.is_empty(), "law 3, seed {seed}");
}

fn days(seeds: std::ops::Range<u64>, faults: bool) {
    let seeds: Vec<u64> = match std::env::var("FREEHOLD_SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => seeds.collect(),
    };
    for seed in seeds {
        pinned_random::run(seed, move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .unwrap();
            runtime.block_on(day(seed, faults));
        });
    }
}

#[test]
fn whatever_people_do_meanwhile_everything_ends() {
    days(0..150, false);
}

#[test]
fn whatever_fails_everything_ends() {
    days(1000..1150, true);
}
