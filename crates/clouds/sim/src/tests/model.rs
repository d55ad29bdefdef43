//! Random calls: what must hold after every one of them.

use std::collections::BTreeMap;

use cloud_port::aws::{instance_profile, internet_gateway, role};
use ownership::Query;
use ownership::kind::{CreateMode, Kind, Naming};
use proptest::prelude::*;

use super::*;
use crate::Staleness;

static THING: Kind = PLAIN;
static UPSERT: Kind = Kind {
    name: "test/upsert",
    birth: BirthProof::Nonce,
    create: CreateMode::Upsert,
    naming: Naming::Within("parent"),
    ..PLAIN
};

/// One call: what to do, to which resource, with what, by whom.
type Call = (u8, u8, u8, bool);

/// What a resource is: itself and the parts inside it.
type Whole = (Arc<Resource>, Vec<Vec<InnerPart>>);

fn world(account: &Account) -> BTreeMap<Target, Whole> {
    let mut world = BTreeMap::new();
    for shelf in &account.shelves {
        for resource in account.alive(shelf.kind) {
            let target = Target::new(shelf.kind, resource.id.clone());
            let inner = shelf.kind.inner.iter();
            let inner = inner
                .map(|i| account.parts(&target, i.name).to_vec())
                .collect();
            world.insert(target, (resource.clone(), inner));
        }
    }
    world
}

fn call(account: &mut Account, (what, which, with, stranger): Call) -> Result<(), CloudError> {
    let actor = if stranger { Actor::Stranger } else { ENGINE };
    let all: Vec<Target> = account.lives().map(|life| life.target.clone()).collect();
    let target = all[usize::from(which) % all.len()].clone();
    let (name, key) = (format!("n{}", with % 3), format!("k{}", with % 4));
    let tag = pairs(&[(&key, if with % 2 == 0 { "" } else { "v" })]);
    let plant = |account: &mut Account, kind, props| {
        account
            .plant(actor, kind, &name, &props, &Tags::new())
            .map(|_| ())
    };
    let inner = target.kind.inner.first();
    let part = if target.kind == GROUP {
        part(&format!("ingress tcp {0}-{0} self", with % 4), "")
    } else if *target.kind == instance_profile::INSTANCE_PROFILE {
        part(&name, "")
    } else if *target.kind == internet_gateway::INTERNET_GATEWAY {
        let vpc = account.default_vpc();
        part(vpc.map_or("vpc-gone", |vpc| vpc.id.as_str()), "")
    } else {
        part(&key, &format!("value {}", with % 2))
    };
    match what % 11 {
        0 => {
            // Once everything else in it is gone, so may be the default VPC.
            if account.default_vpc().is_none() {
                return Ok(());
            }
            let props = in_default_vpc(account);
            plant(account, GROUP, props)
        }
        1 => plant(account, &role::ROLE, props(&[("trust", TRUST)])),
        2 => plant(account, &instance_profile::INSTANCE_PROFILE, Props::new()),
        3 => plant(account, &THING, props(&[("parent", target.id.as_str())])),
        4 => {
            let size = (with % 2).to_string();
            plant(account, &UPSERT, props(&[("parent", "p"), ("size", &size)]))
        }
        5 => plant(account, &internet_gateway::INTERNET_GATEWAY, Props::new()),
        6 => account.tag(actor, &[target], &tag),
        7 => account.untag(actor, &[target], &tag),
        8 => account.add_parts(actor, &target, inner.map_or("none", |i| i.name), &[part]),
        9 => account.remove_parts(
            actor,
            &target,
            inner.map_or("none", |i| i.name),
            &[part.key],
        ),
        _ => account.delete(actor, &target),
    }
}

/// Provenance tells of each tag and each part that is there, and of no other.
fn check_facts(account: &Account) {
    for life in account.lives().filter(|life| life.is_alive()) {
        let resource = account.resource(&life.target).unwrap();
        let facts: Tags = life
            .tags
            .iter()
            .map(|fact| (fact.key.clone(), fact.value.clone()))
            .collect();
        assert_eq!(facts, resource.tags);
        assert_eq!(life.tags.len(), resource.tags.len());
        for inner in life.target.kind.inner {
            let parts = account.parts(&life.target, inner.name);
            let facts = life.inner.iter().filter(|fact| fact.inner == inner.name);
            assert_eq!(facts.count(), parts.len());
            assert!(
                parts
                    .iter()
                    .all(|part| life.inner(inner.name, &part.key).is_some())
            );
        }
    }
}

/// Names are unique where the Kinds say so, and the shelves know how many are alive.
fn check_shelves(account: &Account) {
    for shelf in &account.shelves {
        let alive: Vec<_> = account.alive(shelf.kind).collect();
        assert_eq!(alive.len(), shelf.alive);
        let scope = |resource: &Resource| match shelf.kind.naming {
            Naming::Account => Some(text("")),
            Naming::Within(prop) => resource.props.get(prop).cloned(),
            Naming::Free => None,
        };
        let names = alive
            .iter()
            .filter_map(|r| Some((scope(r)?, r.name.clone())));
        let (all, unique): (Vec<_>, BTreeSet<_>) = (names.clone().collect(), names.collect());
        assert_eq!(all.len(), unique.len());
    }
}

proptest! {
    #[test]
    fn the_account_stays_consistent(calls in prop::collection::vec(any::<Call>(), 1..60)) {
        let mut account = account().with_kinds(&[&THING, &UPSERT]);
        for one in calls {
            let (before, deeds) = (world(&account), account.deeds().len());
            let result = call(&mut account, one);
            let after = world(&account);
            if result.is_err() {
                prop_assert_eq!(&before, &after);
                prop_assert_eq!(deeds, account.deeds().len());
            }
            check_facts(&account);
            check_shelves(&account);
            for target in before.keys().chain(after.keys()) {
                let (was, is) = (before.get(target), after.get(target));
                let mut read = |staleness| {
                    let answer = account.read(&Query::Id(target.clone()), staleness).unwrap();
                    answer.resources.into_iter().next()
                };
                prop_assert_eq!(read(Staleness::Settled), is.map(|(r, _)| r.clone()));
                if was != is {
                    prop_assert_eq!(read(Staleness::Before(1)), was.map(|(r, _)| r.clone()));
                }
            }
            // Nothing that was there changes without a deed to tell of it, unless something was
            // only added.
            let harmed = before.iter().any(|(target, (was, parts))| match after.get(target) {
                None => true,
                Some((is, now)) => {
                    was.props != is.props
                        || was.tags.iter().any(|(k, v)| !is.tags.has(k, v))
                        || parts.iter().zip(now).any(|(a, b)| a.iter().any(|p| !b.contains(p)))
                }
            });
            prop_assert_eq!(harmed, account.deeds().len() > deeds);
        }
    }
}
