//! The oracle: judges a run by hidden provenance, never by marks. Each claim is judged by its own
//! actor.

mod end;
mod rest;
mod secrets;
mod shrunk;

use cloud_sim::{Actor, Deed, Harm, Life};
use ownership::mark::{claim_key, part_key};
use ownership::part::InnerPart;
use ownership::step::{Create, MarkRight};
use ownership::{Kind, Slot, SlotName, Step};

use crate::scenario::{Expect, Scenario};
use crate::words;
use crate::world::World;

pub(crate) use end::at_end;
pub(crate) use rest::{at_most_one, at_rest, counted_on, disposable, rolled_back, still_there};
pub(crate) use secrets::{born_as_wished, one_token_one_secret};
pub(crate) use shrunk::may_be_unwanted;

/// A broken law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// Which.
    pub law: Law,
    /// What happened.
    pub what: String,
}

/// The laws, by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Law {
    /// 1. No theft.
    NoTheft,
    /// 2. No twins.
    NoTwins,
    /// 3. No orphans.
    NoOrphans,
    /// 4. No guessing.
    NoGuessing,
    /// 5. Status is disposable.
    StatusIsDisposable,
    /// 7. Leave no trace.
    LeaveNoTrace,
    /// 8. Rest is silent.
    RestIsSilent,
    /// 9. Errors have classes.
    ErrorsHaveClasses,
    /// Rest is reached after the faults stop, and stays.
    RestIsReached,
}

impl std::fmt::Display for Law {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoTheft => "1 no theft",
            Self::NoTwins => "2 no twins",
            Self::NoOrphans => "3 no orphans",
            Self::NoGuessing => "4 no guessing",
            Self::StatusIsDisposable => "5 status is disposable",
            Self::LeaveNoTrace => "7 leave no trace",
            Self::RestIsSilent => "8 rest is silent",
            Self::ErrorsHaveClasses => "9 errors have classes",
            Self::RestIsReached => "rest is reached",
        })
    }
}

/// A violation of `law`.
pub(crate) fn broken<T>(law: Law, what: impl Into<String>) -> Result<T, Violation> {
    Err(Violation {
        law,
        what: what.into(),
    })
}

/// A slot's resource is made only when those are recorded that it depends on (law 4).
pub(crate) fn after_what_it_needs(
    world: &World<'_>,
    claim: usize,
    create: &Create,
) -> Result<(), Violation> {
    let (blueprint, object) = (world.blueprint(claim), &world.objects[claim]);
    let Some(slot) = blueprint.slot(&create.slot) else {
        return Ok(());
    };
    let is_known = |name: &SlotName| {
        let known = object
            .ledger
            .known
            .values()
            .any(|known| known.slot == *name);
        known || object.recorded.iter().any(|(slot, _)| slot == name)
    };
    let own = |name: &&SlotName| blueprint.slot(name).is_some_and(Slot::is_own);
    match slot.dependencies().filter(own).find(|name| !is_known(name)) {
        Some(first) => broken(
            Law::NoGuessing,
            format!("{} is created before {first}, which it needs", create.slot),
        ),
        None => Ok(()),
    }
}

/// An announcement is good for one call (decision 5).
pub(crate) fn one_call_an_announcement(
    world: &mut World<'_>,
    claim: usize,
    create: &Create,
) -> Result<(), Violation> {
    let intent = world.objects[claim].ledger.intents.get(&create.slot);
    // Of two writers one may announce again while the other's call is on its way.
    let Some(intent) = intent.filter(|_| world.scenario.all_writers() == 1) else {
        return Ok(());
    };
    let announcement = (claim, create.slot.clone(), intent.attempt, intent.sends);
    if world.announced.insert(announcement) {
        return Ok(());
    }
    broken(
        Law::NoTwins,
        format!("{} is created twice on one announcement", create.slot),
    )
}

/// What must hold for a claim at every time.
pub(crate) fn always(world: &World<'_>, claim: usize) -> Result<(), Violation> {
    let us = world.actor(claim);
    let scenario = world.claim(claim);
    for deed in world.account.deeds().iter().filter(|deed| deed.by == us) {
        theft(world, scenario, deed)?;
    }
    // A mark that was on its way when the stranger came is none that was given back (A2).
    for (target, at) in world.stripped.iter().filter(|_| !scenario.lifted.a2) {
        let Some(life) = world.account.life(target).filter(|life| life.is_alive()) else {
            continue;
        };
        if life.born <= *at && carries_mark(scenario, life) {
            return broken(
                Law::NoTheft,
                format!("{target} was released and is marked again"),
            );
        }
    }
    let others = world.account.lives();
    for life in others.filter(|life| life.is_alive() && life.by != us) {
        if scenario.adopts.contains(&life.target) {
            continue;
        }
        let own = |key: &str| is_own_key(scenario, life.target.kind, key);
        if life.tags.iter().any(|tag| own(&tag.key) && tag.by == us) {
            let what = format!(
                "{} is somebody else's and carries our ownership mark",
                life.target
            );
            return broken(Law::NoTheft, what);
        }
    }
    Ok(())
}

/// What a claim made for itself takes nothing from another: neither parts nor marks nor changes.
pub(crate) fn gave(world: &World<'_>, claim: usize, step: &Step) -> Result<(), Violation> {
    let gives = match step {
        Step::AddInner { .. } | Step::Update(_) => true,
        Step::Mark { right, .. } => *right != MarkRight::Trace,
        _ => false,
    };
    let us = world.actor(claim);
    for target in step.targets().iter().filter(|_| gives) {
        let life = world.account.life(target).filter(|life| life.is_alive());
        let by = life.map_or(us, |life| life.by);
        if by != us && matches!(by, Actor::Engine(_)) {
            let what = format!("{target} is another claim's, but we {}", words::step(step));
            return broken(Law::NoTheft, what);
        }
    }
    Ok(())
}

/// Whether a deed of a claim's took something that was not its to take.
fn theft(world: &World<'_>, scenario: &Scenario, deed: &Deed) -> Result<(), Violation> {
    let us = scenario.actor;
    let id = &deed.victim.id;
    let adopted = scenario.adopts.iter().any(|target| target.id == *id);
    if scenario.expect == Expect::Held {
        return broken(
            Law::StatusIsDisposable,
            format!("{id} is held elsewhere, but {}", words::deed(deed)),
        );
    }
    match &deed.harm {
        Harm::Deleted | Harm::Overwritten | Harm::Changed { .. } => {
            if deed.made_by != us && !adopted {
                let what = format!("{id} is not ours, but {}", words::deed(deed));
                return broken(Law::NoTheft, what);
            }
            if deed.harm == Harm::Deleted
                && !scenario.lifted.a2
                && stripped_before(world, scenario, deed)
            {
                return broken(
                    Law::NoTheft,
                    format!("{id} had been released and was deleted"),
                );
            }
            Ok(())
        }
        Harm::TagOverwritten { was, .. } | Harm::TagRemoved { was } => {
            if was.by != us && deed.made_by != us && !adopted && !sweeps(scenario, deed) {
                let what = format!("the tag {}={} of {id} is not ours", was.key, was.value);
                return broken(Law::LeaveNoTrace, what);
            }
            Ok(())
        }
        // What two claims need carries both marks, and goes with the last.
        Harm::InnerRemoved { was, part }
            if world.scenario.claims().any(|claim| claim.actor == was.by)
                && !is_marked_by_others(world, scenario, deed, part) =>
        {
            Ok(())
        }
        Harm::InnerOverwritten { was, .. } | Harm::InnerRemoved { was, .. } => {
            let host_is_ours = deed.made_by == us || adopted;
            let theirs = match was.by {
                // What has to go before a resource of ours can go with it.
                Actor::Stranger => !scenario.exclusive && !ends_with(world, scenario, deed),
                Actor::Engine(_) => true,
                Actor::Cloud => false,
            };
            if was.by != us && (!host_is_ours || theirs) {
                return broken(Law::NoTheft, format!("{} in {id} is not ours", was.key));
            }
            Ok(())
        }
    }
}

/// Whether a part, or the resource that it is in for it, carries another claim's mark.
fn is_marked_by_others(
    world: &World<'_>,
    scenario: &Scenario,
    deed: &Deed,
    part: &InnerPart,
) -> bool {
    let kind = deed.victim.kind;
    world
        .scenario
        .claims()
        .filter(|other| other.identity.claim != scenario.identity.claim)
        .any(|other| {
            let claim = other.identity.claim.hash();
            let on_parent = kind.inner.iter().any(|inner| {
                let key = part_key(kind.carrier, claim, inner.name, &part.key);
                deed.victim.tags.get(&key).is_some()
            });
            on_parent || part.tags.get(&claim_key(kind.carrier, claim)).is_some()
        })
}

/// Whether something was done to a resource of ours after its claim had begun to end.
fn ends_with(world: &World<'_>, scenario: &Scenario, deed: &Deed) -> bool {
    let ended = world.objects.iter().enumerate().find_map(|(at, object)| {
        (world.actor(at) == scenario.actor).then_some(object.ends_since)?
    });
    ended.is_some_and(|at| at <= deed.at)
}

/// Whether a removed tag was the cluster mark in our words, of a claim whose API says that it goes at
/// the end, whoever wrote it (decision 7). Whether a living claim counts on it is judged elsewhere.
fn sweeps(scenario: &Scenario, deed: &Deed) -> bool {
    let Harm::TagRemoved { was } = &deed.harm else {
        return false;
    };
    let mark = scenario.identity.dialect.cluster_on(deed.victim.kind);
    scenario.evidence.sweep && mark.is_ok_and(|mark| mark.has(&was.key, &was.value))
}

/// Whether a stranger had stripped the victim of our mark, and it did not carry it when it died.
fn stripped_before(world: &World<'_>, scenario: &Scenario, deed: &Deed) -> bool {
    let own = |key: &str| is_own_key(scenario, deed.victim.kind, key);
    let carries = deed.victim.tags.iter().any(|(key, _)| own(key));
    !carries && stripped_by_stranger(world, &own, &deed.victim.id)
}

/// What a stranger stripped of our mark is not ours any more.
fn released(world: &World<'_>, scenario: &Scenario, life: &Life) -> bool {
    let own = |key: &str| is_own_key(scenario, life.target.kind, key);
    !carries_mark(scenario, life) && stripped_by_stranger(world, &own, &life.target.id)
}

fn stripped_by_stranger(
    world: &World<'_>,
    own: &impl Fn(&str) -> bool,
    id: &ownership::ResourceId,
) -> bool {
    world.account.deeds().iter().any(|deed| {
        deed.by == Actor::Stranger
            && deed.victim.id == *id
            && matches!(&deed.harm, Harm::TagRemoved { was } if own(&was.key))
    })
}

/// Whether a resource carries a claim's ownership mark.
fn carries_mark(scenario: &Scenario, life: &Life) -> bool {
    let own = |key: &str| is_own_key(scenario, life.target.kind, key);
    life.tags.iter().any(|tag| own(&tag.key))
}

/// Whether a tag on a resource of that Kind is a claim's ownership mark, as its carrier spells it.
pub(crate) fn is_own_key(scenario: &Scenario, kind: &Kind, key: &str) -> bool {
    *claim_key(kind.carrier, scenario.identity.claim.hash()) == *key
}

/// The living resources that a claim created for a slot.
fn alive_in<'w>(
    world: &'w World<'_>,
    claim: usize,
    slot: &'w Slot,
) -> impl Iterator<Item = &'w Life> {
    let us = world.actor(claim);
    world.account.lives().filter(move |life| {
        life.is_alive() && life.by == us && life.slot.as_ref() == Some(&slot.name)
    })
}

/// Whether a deletion in the life of a claim has emptied a slot: twins must be reduced to one.
pub(crate) fn emptied(world: &World<'_>, claim: usize, slot: Option<&ownership::SlotName>) -> bool {
    let Some(slot) = slot else { return false };
    let us = world.actor(claim);
    let mut lives = world.account.lives();
    !lives.any(|life| life.is_alive() && life.by == us && life.slot.as_ref() == Some(slot))
}
