//! Scenarios in which a slot has two resources of ours.

use std::collections::BTreeSet;

use cloud_port::Sample;
use cloud_sim::Actor;
use ownership::blueprint::{Empty, Expr, resolve_props};
use ownership::ledger::{Known, Origin};
use ownership::part::Props;
use ownership::step::Create;
use ownership::{Blueprint, Ledger, Place, Slot, Step, Target, name};

use crate::samples;
use crate::scenario::{Scenario, named, slot_name};

/// Two resources of ours fill one slot. The recorded one has nothing that depends on it; the other
/// one has.
pub(crate) fn twins(alone: &Scenario, sample: &'static Sample) -> Scenario {
    let kind = sample.kind;
    let mut scenario = named(alone, "twins");
    let slot = scenario.blueprint.slots()[0].clone();
    let props = resolve_props(&slot.props, &Empty).unwrap_or_default();
    let mut second_props = props.clone();
    for (name, value) in samples::beside(&mut scenario.account, sample) {
        second_props.set(name, value);
    }
    let mut make = |slot: &Slot, attempt, props: &Props| {
        let tags = scenario
            .identity
            .ownership_tags(slot.kind, slot, attempt)
            .expect("legal tags");
        let cluster = scenario
            .identity
            .dialect
            .cluster(slot.kind.carrier)
            .expect("legal tags");
        let step = Step::Create(Create {
            place: Place::HOME,
            slot: slot.name.clone(),
            kind: slot.kind,
            attempt,
            name: slot.label.clone(),
            props: props.clone(),
            secrets: slot.secrets.clone(),
            tags: tags.into_iter().chain(cluster.iter().cloned()).collect(),
            token: slot
                .kind
                .token
                .map(|_| name::client_token(&scenario.identity.claim, &slot.name, attempt)),
        });
        let effect = scenario
            .account
            .perform(Actor::Engine(0), &step)
            .expect("room for it");
        effect.born.expect("a create makes something").id.clone()
    };
    let first = make(&slot, 1, &props);
    let second = make(&slot, 2, &second_props);
    let mut slots = vec![slot.clone()];
    if let Some(parent) = sample.nests {
        let mut child = Slot::own(slot_name("child"), kind, "prod-child");
        child.props = vec![(parent, Expr::Slot(slot.name.clone()))];
        child.cluster_mark = true;
        make(&child, 1, &[(parent, second.text())].into_iter().collect());
        slots.push(child);
    }
    scenario.blueprint = Blueprint::new(slots).expect("a legal blueprint");
    scenario.ledger = Ledger {
        pinned: true,
        ..Ledger::default()
    };
    scenario.ledger.ids.insert(slot.name.clone(), first.clone());
    scenario.ledger.attempts.insert(slot.name.clone(), 2);
    for id in [first, second] {
        let known = Known {
            slot: slot.name.clone(),
            origin: Origin::Created,
            unique: None,
            wrote: None,
            tags: BTreeSet::new(),
        };
        scenario.ledger.known.insert(Target::new(kind, id), known);
    }
    scenario
}

/// Twins that nothing depends on, the younger one recorded: who has lost the status keeps the other.
pub(crate) fn bare_twins(alone: &Scenario, sample: &'static Sample) -> Scenario {
    let mut scenario = twins(alone, sample);
    scenario.name = format!("{}/bare-twins", alone.name);
    let slot = slot_name("thing");
    let child = scenario
        .blueprint
        .slots()
        .iter()
        .find(|slot| slot.name.as_str() == "child")
        .cloned();
    if let Some(child) = child {
        let made = scenario
            .account
            .alive(child.kind)
            .find(|r| r.name == child.label)
            .cloned();
        if let Some(made) = made {
            let target = Target::new(child.kind, made.id.clone());
            scenario
                .account
                .delete(Actor::Engine(0), &target)
                .expect("nothing depends on it");
        }
    }
    scenario.blueprint = alone.blueprint.clone();
    let younger = scenario
        .ledger
        .known
        .keys()
        .find(|target| scenario.ledger.ids.get(&slot) != Some(&target.id));
    if let Some(target) = younger.cloned() {
        scenario.ledger.ids.insert(slot, target.id);
    }
    scenario
}
