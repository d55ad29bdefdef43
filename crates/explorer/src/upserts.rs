//! Creates that overwrite: the answer looks alike whatever was there, so it proves nothing.

use cloud_sim::Actor;
use ownership::kind::{BirthProof, CreateMode};
use ownership::step::Create;
use ownership::{Identity, Place, Query, Step};

use crate::fault::{Fault, Menu};
use crate::scenario::{CLUSTER, Expect, Scenario, UUID, identity, kkp, named};
use crate::world::World;

/// Who else has the claim: a restored backup knows every name that we would choose.
const ELSEWHERE: Actor = Actor::Engine(1);

/// What meets the answer of a create that overwrites: few faults, so that every pair is walked.
const FEW: Menu = Menu::of(&[
    Fault::TakenInFlight,
    Fault::CrashAfter,
    Fault::LoseAnswer,
    Fault::Refuse,
    Fault::Slow,
    Fault::NoTime,
    Fault::LoseStatus,
    Fault::EndNow,
]);

/// The scenario of another management cluster that makes the very same for the claim between our
/// look-up and our create.
pub(crate) fn scenarios(alone: &Scenario) -> Vec<Scenario> {
    if alone.blueprint.slots()[0].kind.create != CreateMode::Upsert {
        return Vec::new();
    }
    vec![Scenario {
        faults: FEW,
        depth: 2,
        expect: Expect::Reported,
        ..named(alone, "taken-in-flight")
    }]
}

/// Whether somebody could take the name of what this Step is about to make.
pub(crate) fn is_free(world: &mut World<'_>, step: &Step) -> Menu {
    let fault = Fault::TakenInFlight.bit();
    if world.allowed.and(fault).is_empty() {
        return Menu::default();
    }
    let Some(create) = overwriting(step) else {
        return Menu::default();
    };
    let query = Query::Name {
        place: Place::HOME,
        kind: create.kind,
        name: create.name.clone(),
        within: None,
    };
    let answer = world.account.read(&query, cloud_sim::Staleness::Settled);
    if answer.is_ok_and(|answer| answer.resources.is_empty()) {
        fault
    } else {
        Menu::default()
    }
}

/// The other management cluster makes it first, and marks it.
pub(crate) fn take(world: &mut World<'_>, step: &Step) {
    let claim = world.acting;
    let there: Identity = identity(UUID, CLUSTER, "management-b", kkp());
    let Some(create) = overwriting(step) else {
        return;
    };
    let Some(slot) = world.blueprint(claim).slot(&create.slot) else {
        return;
    };
    let tags = there
        .ownership_tags(create.kind, slot, create.attempt)
        .expect("legal tags");
    let (kind, name, props) = (create.kind, &create.name, &create.props);
    let tags = tags.into_iter().collect();
    let made = world.account.plant(ELSEWHERE, kind, name, props, &tags);
    made.expect("the name is free");
    world.stranger_was_here();
}

fn overwriting(step: &Step) -> Option<&Create> {
    match step {
        Step::Create(create)
            if create.kind.create == CreateMode::Upsert
                && create.kind.birth == BirthProof::Nonce =>
        {
            Some(create)
        }
        _ => None,
    }
}
