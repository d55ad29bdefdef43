//! Scenarios of single peculiarities: guests, blockers, namesakes, tokens that expire.

use cloud_port::Sample;
use cloud_port::sample::PartSample;
use cloud_sim::Actor;
use ownership::blueprint::{Empty, Expr, resolve_props};
use ownership::kind::{BirthProof, InnerProof, Kind, Marking, Naming};
use ownership::mark::{Dialect, OwnershipMark, Tags, part_key};
use ownership::part::InnerPart;
use ownership::time::Millis;
use ownership::{Blueprint, Freehold, Slot, Target};

use crate::fault::{Fault, Menu};
use crate::scenario::{
    CLUSTER, Expect, OTHER_UUID, Scenario, UUID, identity, kkp, named, slot_name,
};
use crate::{names, run, samples, twins};

/// The peculiarities that a Kind can have.
pub(crate) fn scenarios(alone: &Scenario, sample: &'static Sample) -> Vec<Scenario> {
    let kind = sample.kind;
    let mut all = Vec::new();
    // Where there is nothing else to put in, nobody can be a guest.
    let room = |part: &&PartSample| !part.wanted.contains(&part.others[0]);
    if let Some(part) = part_with(sample, InnerProof::ParentMark).filter(room) {
        all.push(guest_by_parent(alone, kind, part));
    }
    if let Some(part) = part_with(sample, InnerProof::OwnMark) {
        all.push(guest(alone, kind, part));
    }
    if kind.name_finds_marks() && kind.marking == Marking::Mutable {
        all.push(namesakes(alone, sample));
    }
    if kind.naming == Naming::Free {
        all.push(two_slots(alone, sample));
    }
    if kind.naming == Naming::Free && kind.birth == BirthProof::Marks {
        all.push(held_twin(alone, sample));
        if let Some(noun) = sample.blocked_by {
            all.push(blocked_twin(alone, sample, noun));
        }
    }
    if kind.birth == BirthProof::Token {
        all.push(expired_token(alone));
    }
    all
}

/// The examples of a sort of part that is known to be ours in this way.
fn part_with(sample: &Sample, proof: InnerProof) -> Option<&'static PartSample> {
    let mut inner = sample.kind.inner.iter();
    inner.find_map(|inner| sample.part(inner.name).filter(|_| inner.proof == proof))
}

/// Another claim has put a part into our resource, and its mark for it on the resource.
fn guest_by_parent(alone: &Scenario, kind: &'static Kind, part: &PartSample) -> Scenario {
    let (mut account, ledger) = run::prepare(alone, &Freehold);
    let dialect = Dialect::Kkp {
        cluster: "guest".into(),
    };
    let there = identity(OTHER_UUID, "guest", "management-a", dialect);
    let target = Target::new(kind, ledger.ids[&slot_name("thing")].clone());
    let guests = samples::part(part.others[0]);
    let key = part_key(kind.carrier, there.claim.hash(), part.inner, &guests.key);
    let tag = (key, format!("thing_0_{}", there.holder).into());
    account
        .tag(Actor::Engine(1), std::slice::from_ref(&target), &[tag])
        .expect("room for it");
    account
        .add_parts(Actor::Engine(1), &target, part.inner, &[guests])
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
fn namesakes(alone: &Scenario, sample: &'static Sample) -> Scenario {
    let mut scenario = Scenario {
        depth: 1,
        ..named(&names::taken_names(alone, sample).remove(0), "namesakes")
    };
    let mut slot = scenario.blueprint.slots()[0].clone();
    slot.user_tags.push(("team".into(), "blue".into()));
    scenario.blueprint = Blueprint::new(vec![slot]).expect("a legal blueprint");
    let ids = scenario
        .account
        .alive(sample.kind)
        .map(|used| used.id.clone());
    scenario.evidence.namesakes_use = ids.collect();
    scenario
}

/// Two slots of one Kind, whose resources must not be taken for each other.
fn two_slots(alone: &Scenario, sample: &Sample) -> Scenario {
    let thing = alone.blueprint.slots()[0].clone();
    let mut other = Slot {
        name: slot_name("other"),
        label: "prod-other".into(),
        ..thing.clone()
    };
    let mut account = alone.account.clone();
    for (name, value) in samples::beside(&mut account, sample) {
        samples::want_one(&mut other, name, Expr::Text(value));
    }
    Scenario {
        account,
        blueprint: Blueprint::new(vec![thing, other]).expect("a legal blueprint"),
        ..named(alone, "two-slots")
    }
}

/// The slot has a twin that another management cluster holds: reported.
fn held_twin(alone: &Scenario, sample: &Sample) -> Scenario {
    let kind = sample.kind;
    let (mut account, ledger) = run::prepare(alone, &Freehold);
    let there = identity(UUID, CLUSTER, "management-b", kkp());
    let slot = &alone.blueprint.slots()[0];
    let tags = there.ownership_tags(kind, slot, 1).expect("legal tags");
    let tags: Tags = tags.into_iter().collect();
    let mut props = resolve_props(&slot.props, &Empty).unwrap_or_default();
    for (name, value) in samples::beside(&mut account, sample) {
        props.set(name, value);
    }
    account
        .plant(Actor::Engine(1), kind, "prod-thing", &props, &tags)
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
fn blocked_twin(alone: &Scenario, sample: &'static Sample, noun: &str) -> Scenario {
    let mut scenario = named(&twins::twins(alone, sample), "blocked");
    let recorded = scenario.ledger.ids.get(&slot_name("thing")).cloned();
    let other = scenario
        .ledger
        .known
        .keys()
        .find(|target| Some(&target.id) != recorded.as_ref());
    scenario.blocker = other
        .cloned()
        .map(|other| scenario.account.pin(&other, noun));
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
    let props = resolve_props(&slot.props, &Empty).unwrap_or_default();
    let label = slot.label.clone();
    scenario
        .account
        .plant(Actor::Stranger, kind, &label, &props, &Tags::new())
        .expect("names are free");
    scenario
}

/// Another claim uses our resource and has put a part of its own inside.
fn guest(alone: &Scenario, kind: &'static Kind, part: &PartSample) -> Scenario {
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
    let guests = InnerPart {
        tags: mark.encode(kind.carrier).into_iter().collect(),
        ..samples::part(part.others[0])
    };
    let target = Target::new(kind, ledger.ids[&slot_name("thing")].clone());
    account
        .add_parts(Actor::Engine(1), &target, part.inner, &[guests])
        .expect("room for it");
    Scenario {
        account,
        ledger,
        expect: Expect::Reported,
        ..named(alone, "guest")
    }
}
