//! Scenarios in which the slot's name is taken, or its recorded id is wrong.

use std::collections::BTreeSet;

use cloud_port::Sample;
use cloud_sim::{Account, Actor};
use ownership::blueprint::{Empty, resolve_props};
use ownership::decide::Evidence;
use ownership::kind::{Kind, Marking};
use ownership::ledger::{Known, Origin};
use ownership::mark::{Dialect, Tags};
use ownership::{Freehold, Ledger, ResourceId, Target, Text};

use crate::fault::Fault;
use crate::scenario::{
    CLUSTER, Expect, OTHER_UUID, Scenario, UUID, identity, kkp, named, slot_name,
};
use crate::{run, samples};

/// The slot's name is taken, by different people in different ways.
pub(crate) fn taken_names(alone: &Scenario, sample: &'static Sample) -> Vec<Scenario> {
    let kind = sample.kind;
    let planted = |tags: &Tags| plant(alone, sample, tags);
    let mut all = Vec::new();
    let used = |what: &str, tags: &Tags| Scenario {
        account: planted(tags).0,
        expect: Expect::Used,
        faults: alone.faults.without(Fault::LoseStatus.bit()),
        ..named(alone, what)
    };
    all.push(Scenario {
        depth: 2,
        ..used("name-used", &Tags::new())
    });
    all.push(Scenario {
        writers: 2,
        ..used("name-used-two-writers", &Tags::new())
    });
    let cluster_mark = kkp().cluster(kind.carrier).expect("a legal mark");
    let keys = cluster_mark.iter().map(|(key, _)| key.clone());
    let cluster_key: Text = keys.collect::<Vec<_>>().concat().into();
    all.push(used("cluster-mark-there", &cluster_mark));
    all.push(used(
        "cluster-key-there",
        &[(cluster_key, "shared".into())].into_iter().collect(),
    ));

    let strict = Dialect::PowerVs {
        cluster: CLUSTER.into(),
        uuid: UUID.into(),
    };
    let conflict = |what: &str, account: Account| Scenario {
        account,
        expect: Expect::Conflict,
        ..named(alone, what)
    };
    all.push(Scenario {
        identity: identity(UUID, CLUSTER, "management-a", strict),
        ..conflict("name-taken", planted(&Tags::new()).0)
    });
    let namesake = Scenario {
        identity: identity(OTHER_UUID, CLUSTER, "management-a", kkp()),
        actor: Actor::Engine(1),
        ..alone.clone()
    };
    all.push(conflict("namesake", run::prepare(&namesake, &Freehold).0));
    let legacy_tags = kkp().ownership(kind.carrier, None).expect("legal tags");
    all.push(conflict("legacy", planted(&legacy_tags).0));

    let (account, target) = planted(&legacy_tags);
    let evidence = Evidence {
        adopt: BTreeSet::from([slot_name("thing")]),
        ..Evidence::default()
    };
    if kind.marking == Marking::Mutable {
        all.push(Scenario {
            account,
            evidence,
            adopts: BTreeSet::from([target]),
            expect: Expect::Adopted,
            ..named(alone, "legacy-with-evidence")
        });
    }
    all.extend(wrong_ids(alone, kind, planted(&Tags::new())));
    all
}

/// The account with a stranger's resource of the slot's name in it, and somebody's parts inside that.
pub(crate) fn plant(alone: &Scenario, sample: &Sample, tags: &Tags) -> (Account, Target) {
    let mut account = alone.account.clone();
    let slot = &alone.blueprint.slots()[0];
    let props = resolve_props(&slot.props, &Empty).unwrap_or_default();
    let target = account
        .plant(Actor::Stranger, sample.kind, &slot.label, &props, tags)
        .expect("the name is free");
    // What others lead to comes before them.
    let parts = sample.kind.inner.iter();
    for part in parts.filter_map(|inner| sample.part(inner.name)) {
        let somebodys = samples::part(part.others[0]);
        account
            .add_parts(Actor::Stranger, &target, part.inner, &[somebodys])
            .expect("room for it");
    }
    (account, target)
}

/// The recorded id is wrong: ours but dead, ours but somebody else's resource, or the user's wish.
fn wrong_ids(alone: &Scenario, kind: &'static Kind, planted: (Account, Target)) -> Vec<Scenario> {
    let recorded = |id: &ResourceId, ours: bool| {
        let mut ledger = Ledger {
            pinned: true,
            ..Ledger::default()
        };
        ledger.ids.insert(slot_name("thing"), id.clone());
        if ours {
            let known = Known {
                slot: slot_name("thing"),
                origin: Origin::Created,
                unique: None,
                wrote: None,
                tags: BTreeSet::new(),
            };
            let target = Target::new(kind, id.clone());
            ledger.known.insert(target, known);
        }
        ledger
    };
    let dead = ResourceId::new("dead-0123456789");
    let faults = alone.faults.without(Fault::LoseStatus.bit());
    vec![
        Scenario {
            ledger: recorded(&dead, true),
            faults,
            ..named(alone, "recorded-id-dead")
        },
        Scenario {
            ledger: recorded(&dead, false),
            faults,
            ..named(alone, "wish-dead")
        },
        Scenario {
            ledger: recorded(&planted.1.id, false),
            account: planted.0,
            expect: Expect::Used,
            faults,
            ..named(alone, "wish")
        },
    ]
}
