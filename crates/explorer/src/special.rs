//! Scenarios of single peculiarities: guests, blockers, namesakes, tokens that expire.

use cloud_sim::Actor;
use ownership::kind::{BirthProof, InnerProof, Kind, Marking, Naming};
use ownership::mark::{Dialect, OwnershipMark, Tags, part_key};
use ownership::part::InnerPart;
use ownership::time::Millis;
use ownership::{Blueprint, Freehold, Slot, Target};

use crate::fault::{Fault, Menu};
use crate::scenario::{
    CLUSTER, Expect, OTHER_UUID, Scenario, UUID, identity, kkp, named, slot_name,
};
use crate::{names, run, twins};

/// The peculiarities that a Kind can have.
pub(crate) fn scenarios(alone: &Scenario, kind: &'static Kind) -> Vec<Scenario> {
    let mut all = Vec::new();
    let parent_marks = |inner: &&ownership::kind::InnerKind| inner.proof == InnerProof::ParentMark;
    if kind
        .inner
        .iter()
        .any(|inner| parent_marks(&inner) && !inner.single)
    {
        all.push(guest_by_parent(alone, kind));
    }
    if kind.name_finds_marks() && kind.marking == Marking::Mutable {
        all.push(namesakes(alone, kind));
    }
    if kind.naming == Naming::Free {
        all.push(two_slots(alone));
    }
    if kind.naming == Naming::Free && kind.birth == BirthProof::Marks {
        all.push(held_twin(alone, kind));
    }
    if kind.name == "aws/vpc" || kind.name == "aws/subnet" {
        all.push(blocked_twin(alone, kind));
    }
    if kind.birth == BirthProof::Token {
        all.push(expired_token(alone));
    }
    all
}

/// Another claim has put a part into our resource, and its mark for it on the resource.
fn guest_by_parent(alone: &Scenario, kind: &'static Kind) -> Scenario {
    let (mut account, ledger) = run::prepare(alone, &Freehold);
    let dialect = Dialect::Kkp {
        cluster: "guest".into(),
    };
    let there = identity(OTHER_UUID, "guest", "management-a", dialect);
    let target = Target::new(kind.name, ledger.ids[&slot_name("thing")].clone());
    let inner = "inline-policy";
    let key = part_key(kind.carrier, there.claim.hash(), inner, "guests");
    let tag = (key, format!("thing_0_{}", there.holder).into());
    account
        .tag(Actor::Engine(1), std::slice::from_ref(&target), &[tag])
        .expect("room for it");
    let part = InnerPart {
        key: "guests".into(),
        value: "{}".into(),
        tags: Tags::new(),
        id: None,
    };
    account
        .add_parts(Actor::Engine(1), &target, inner, &[part])
        .expect("room for it");
    Scenario {
        account,
        ledger,
        expect: Expect::Reported,
        ..named(alone, "guest-by-parent")
    }
}

/// We use somebody's resource, and so does another live claim of this cluster's name: the user's
/// tags go, the cluster mark stays.
fn namesakes(alone: &Scenario, kind: &'static Kind) -> Scenario {
    let mut scenario = Scenario {
        depth: 1,
        ..named(&names::taken_names(alone, kind).remove(0), "namesakes")
    };
    let mut slot = scenario.blueprint.slots()[0].clone();
    slot.user_tags.push(("team".into(), "blue".into()));
    scenario.blueprint = Blueprint::new(vec![slot]).expect("a legal blueprint");
    let ids = scenario
        .account
        .alive(kind.name)
        .map(|used| used.id.clone());
    scenario.evidence.namesakes_use = ids.collect();
    scenario
}

/// Two slots of one Kind, whose resources must not be taken for each other.
fn two_slots(alone: &Scenario) -> Scenario {
    let thing = alone.blueprint.slots()[0].clone();
    let mut other = Slot {
        name: slot_name("other"),
        label: "prod-other".into(),
        ..thing.clone()
    };
    for (name, wish) in &mut other.props {
        if *name == "cidr" {
            *wish = ownership::blueprint::Expr::Text(
                if alone.name == "aws/vpc" {
                    "10.2.0.0/16"
                } else {
                    "172.31.129.0/24"
                }
                .into(),
            );
        }
    }
    Scenario {
        blueprint: Blueprint::new(vec![thing, other]).expect("a legal blueprint"),
        ..named(alone, "two-slots")
    }
}

/// The slot has a twin that another management cluster holds: reported.
fn held_twin(alone: &Scenario, kind: &'static Kind) -> Scenario {
    let (mut account, ledger) = run::prepare(alone, &Freehold);
    let there = identity(UUID, CLUSTER, "management-b", kkp());
    let slot = &alone.blueprint.slots()[0];
    let tags = there.ownership_tags(kind, slot, 1).expect("legal tags");
    let tags: Tags = tags.into_iter().collect();
    let mut props = ownership::blueprint::resolve_props(&slot.props, &|_| None).unwrap_or_default();
    if kind.name == "aws/vpc" {
        props.set("cidr", "10.1.0.0/16".into());
    }
    if kind.name == "aws/subnet" {
        props.set("cidr", "172.31.140.0/24".into());
    }
    account
        .plant(Actor::Engine(1), kind.name, "prod-thing", &props, &tags)
        .expect("room for it");
    Scenario {
        account,
        ledger,
        expect: Expect::Reported,
        must_report: true,
        faults: alone.faults.without(Menu::of(&[Fault::EndNow])),
        ..named(alone, "held-twin")
    }
}

/// The twin that should go cannot be deleted: reported, and not tried again and again.
fn blocked_twin(alone: &Scenario, kind: &'static Kind) -> Scenario {
    let mut scenario = named(&twins::twins(alone, kind), "blocked");
    let recorded = scenario.ledger.ids.get(&slot_name("thing")).cloned();
    let other = scenario
        .ledger
        .known
        .keys()
        .find(|target| Some(&target.id) != recorded.as_ref());
    scenario.blocker = other
        .cloned()
        .map(|other| scenario.account.pin(&other, "network interface"));
    Scenario {
        expect: Expect::Reported,
        must_report: true,
        ..scenario
    }
}

/// The process is away for so long that the cloud has forgotten the client token of a create whose
/// answer was lost: nobody can tell what came of it, and that is said.
fn expired_token(alone: &Scenario) -> Scenario {
    Scenario {
        long: Millis::seconds(25 * 3600),
        faults: Menu::of(&[
            Fault::LoseAnswer,
            Fault::CrashAfter,
            Fault::LongTime,
            Fault::NoTime,
        ]),
        expect: Expect::AtMostOne,
        depth: 2,
        ..named(alone, "expired-token")
    }
}

/// Somebody else's resource looks just like ours, and was there before.
pub(crate) fn lookalike(alone: &Scenario, kind: &'static Kind) -> Scenario {
    let mut scenario = named(alone, "lookalike-before");
    let slot = &scenario.blueprint.slots()[0];
    let props = ownership::blueprint::resolve_props(&slot.props, &|_| None).unwrap_or_default();
    let label = slot.label.clone();
    scenario
        .account
        .plant(Actor::Stranger, kind.name, &label, &props, &Tags::new())
        .expect("names are free");
    scenario
}

/// Another claim uses our resource and has put a part of its own inside.
pub(crate) fn guest(alone: &Scenario, kind: &'static Kind) -> Scenario {
    let (mut account, ledger) = run::prepare(alone, &Freehold);
    let there = identity(
        OTHER_UUID,
        "guest",
        "management-a",
        Dialect::Kkp {
            cluster: "guest".into(),
        },
    );
    let mark = OwnershipMark {
        claim: there.claim.hash().clone(),
        slot: slot_name("thing"),
        attempt: 0,
        holder: there.holder.clone(),
        generation: 0,
    };
    let part = InnerPart {
        key: "ingress tcp 443-443 0.0.0.0/0".into(),
        value: "".into(),
        tags: mark.encode(kind.carrier).into_iter().collect(),
        id: None,
    };
    let id = ledger.ids[&slot_name("thing")].clone();
    account
        .add_parts(
            Actor::Engine(1),
            &Target::new(kind.name, id),
            "rule",
            &[part],
        )
        .expect("room for it");
    Scenario {
        account,
        ledger,
        expect: Expect::Reported,
        ..named(alone, "guest")
    }
}
