//! The foreign actor: what somebody else with access to the account may do, within A1 to A3. It
//! meddles with the first claim.

use cloud_port::sample::PartSample;
use cloud_sim::{Actor, Life};
use ownership::blueprint::{Empty, Ids, resolve_props};
use ownership::kind::{BirthProof, InnerProof, Naming};
use ownership::mark::Tags;
use ownership::part::Props;
use ownership::{Slot, Target, Text};

use crate::fault::{Fault, Menu};
use crate::laws::is_own_key;
use crate::samples;
use crate::world::World;

/// What the stranger can do right now.
pub(crate) fn moves(world: &World<'_>) -> Menu {
    let mut menu = Menu::default();
    if world.allowed.and(Menu::of(ALL).or(RECREATES)).is_empty() {
        return menu;
    }
    let us = world.actor(0);
    if nameable(world).is_some() {
        menu = menu.or(Fault::StrangerCreates.bit());
    }
    if ours(world).any(|life| life.tags.iter().any(|tag| tag.by == us)) {
        menu = menu.or(Fault::StrangerUnmarks.bit());
    }
    if ours(world).any(|life| marked(world, life)) {
        menu = menu.or(Fault::StrangerUnmarksPartly.bit());
    }
    if ours(world).next().is_some() {
        menu = menu.or(Fault::StrangerDeletes.bit());
    }
    if ours(world).any(is_its_name) {
        menu = menu.or(RECREATES);
    }
    if inner_host(world).is_some() {
        menu = menu.or(Fault::StrangerAddsInner.bit());
    }
    if world
        .account
        .lives()
        .any(|life| life.is_alive() && !life.inner.is_empty())
    {
        menu = menu.or(Fault::StrangerRemovesInner.bit());
    }
    if used(world).is_some() {
        menu = menu.or(Fault::StrangerTags.bit());
    }
    menu
}

/// What a stranger does everywhere.
pub(crate) const ALL: &[Fault] = &[
    Fault::StrangerCreates,
    Fault::StrangerUnmarks,
    Fault::StrangerUnmarksPartly,
    Fault::StrangerDeletes,
    Fault::StrangerAddsInner,
    Fault::StrangerRemovesInner,
    Fault::StrangerTags,
    Fault::SlowAndUnmarked,
    Fault::AnsweredThenUnmarked,
];

const RECREATES: Menu = Fault::StrangerRecreates.bit();

/// Does it, and says whether it happened: a refusal of the cloud is the stranger's problem.
pub(crate) fn act(world: &mut World<'_>, fault: Fault) -> bool {
    act_if_possible(world, fault).unwrap_or(false)
}

/// `None` if there is nothing to do it to.
fn act_if_possible(world: &mut World<'_>, fault: Fault) -> Option<bool> {
    let (us, stranger) = (world.actor(0), Actor::Stranger);
    let done = match fault {
        Fault::StrangerCreates => {
            let (slot, props) = nameable(world)?;
            let (kind, name) = (slot.kind, &slot.label);
            let born = world
                .account
                .plant(stranger, kind, name, &props, &Tags::new());
            born.is_ok()
        }
        Fault::StrangerUnmarks => {
            let mut lives = ours(world);
            let life = lives.find(|life| life.tags.iter().any(|tag| tag.by == us));
            let life = life?.clone();
            drop(lives);
            strip(world, &life)
        }
        Fault::StrangerUnmarksPartly => {
            let life = ours(world).find(|life| marked(world, life))?.clone();
            let own = |key: &str| is_own_key(world.scenario, life.target.kind, key);
            let tags = life.tags.iter().filter(|tag| own(&tag.key));
            let tags: Vec<_> = tags
                .map(|tag| (tag.key.clone(), tag.value.clone()))
                .collect();
            let done = world.account.untag(stranger, &[life.target], &tags);
            done.is_ok() && !tags.is_empty()
        }
        Fault::StrangerDeletes => {
            // The newest: what others rest on cannot be deleted.
            let targets: Vec<Target> = ours(world).map(|life| life.target.clone()).collect();
            let mut newest_first = targets.iter().rev();
            newest_first.any(|target| world.account.delete(stranger, target).is_ok())
        }
        Fault::StrangerRecreates => {
            let lives: Vec<Life> = ours(world)
                .filter(|life| is_its_name(life))
                .cloned()
                .collect();
            lives.iter().rev().any(|life| recreate(world, life))
        }
        Fault::StrangerAddsInner => {
            let (target, sample) = inner_host(world)?;
            let part = samples::part(sample.others[2]);
            let added = world
                .account
                .add_parts(stranger, &target, sample.inner, &[part]);
            added.is_ok()
        }
        Fault::StrangerRemovesInner => {
            let mut lives = world.account.lives();
            let host = lives.find(|life| life.is_alive() && !life.inner.is_empty());
            let life = host?.clone();
            drop(lives);
            let part = &life.inner[0];
            let keys = [part.key.clone()];
            let removed = world
                .account
                .remove_parts(stranger, &life.target, part.inner, &keys);
            removed.is_ok()
        }
        Fault::StrangerTags => {
            let target = used(world)?;
            let life = world.account.life(&target);
            let ours = life.and_then(|life| life.tags.iter().find(|tag| tag.by == us));
            let tag = match ours {
                Some(tag) => (tag.key.clone(), "shared".into()),
                None => ("team".into(), "blue".into()),
            };
            world.account.tag(stranger, &[target], &[tag]).is_ok()
        }
        _ => false,
    };
    Some(done)
}

/// Strips every resource of ours of all our tags; says whether there was any.
pub(crate) fn strip_all(world: &mut World<'_>) -> bool {
    let lives: Vec<Life> = ours(world).cloned().collect();
    let mut any = false;
    for life in lives {
        any |= strip(world, &life);
    }
    any
}

/// Removes all our tags, and notes it where nobody can take it for a mark that was never written.
fn strip(world: &mut World<'_>, life: &Life) -> bool {
    let us = world.actor(0);
    let tags = life.tags.iter().filter(|tag| tag.by == us);
    let tags: Vec<(Text, Text)> = tags
        .map(|tag| (tag.key.clone(), tag.value.clone()))
        .collect();
    let intents = &world.objects[0].ledger.intents;
    let open = life.slot.as_ref().is_some_and(|s| intents.contains_key(s));
    let done = world
        .account
        .untag(Actor::Stranger, std::slice::from_ref(&life.target), &tags);
    let done = done.is_ok() && !tags.is_empty();
    if done && !open {
        world
            .stripped
            .push((life.target.clone(), world.clock.now()));
    }
    done
}

/// Deletes a resource with all that is inside it, and makes another one of its name with the
/// dialect's mark: whoever goes by names takes it for ours.
fn recreate(world: &mut World<'_>, life: &Life) -> bool {
    let Some(resource) = world.account.resource(&life.target).cloned() else {
        return false;
    };
    let identity = &world.claim(0).identity;
    let kind = life.target.kind;
    let Ok(tags) = identity.dialect.ownership(kind.carrier, None) else {
        return false;
    };
    for part in &life.inner {
        let keys = [part.key.clone()];
        let _ = world
            .account
            .remove_parts(Actor::Stranger, &life.target, part.inner, &keys);
    }
    if world.account.delete(Actor::Stranger, &life.target).is_err() {
        return false;
    }
    // Only what a create takes: the cloud adds the rest itself.
    let wished = world.blueprint(0).slots().iter();
    let wished = wished
        .filter(|slot| Some(&slot.name) == life.slot.as_ref())
        .flat_map(|slot| &slot.props);
    let props = wished
        .filter_map(|(name, wish)| {
            // What only a create call says is nowhere else.
            let there = resource.props.get(name).cloned();
            Some((*name, there.or_else(|| wish.resolve(&Empty))?))
        })
        .collect();
    let born = world
        .account
        .plant(Actor::Stranger, kind, &resource.name, &props, &tags);
    born.is_ok()
}

fn ours<'w>(world: &'w World<'_>) -> impl Iterator<Item = &'w Life> {
    let us = world.actor(0);
    world
        .account
        .lives()
        .filter(move |life| life.is_alive() && life.by == us)
}

/// Whether a resource's id is nothing but its name: another one of that name has the same.
pub(crate) fn is_its_name(life: &Life) -> bool {
    *life.target.id.text() == *life.name
}

/// Whether a resource has both a dialect's mark and Freehold's: then losing one is a partial loss.
fn marked(world: &World<'_>, life: &Life) -> bool {
    let mut slots = world.blueprint(0).slots().iter();
    let slot = slots.find(|slot| Some(&slot.name) == life.slot.as_ref());
    let own = |key: &str| is_own_key(world.scenario, life.target.kind, key);
    let own = life.tags.iter().any(|tag| own(&tag.key));
    own && life.tags.len() > 1 && slot.is_some()
}

/// A slot that we mean to create, whose name the stranger could take. Not while an intent is open
/// whose only proof is circumstances; with A1 lifted, not before our own has come, because one that
/// is alone cannot be told from it.
fn nameable<'w>(world: &World<'w>) -> Option<(&'w Slot, Props)> {
    let mut slots = world.blueprint(0).slots().iter();
    let slot = slots.find(|slot| slot.is_own())?;
    let ledger = &world.objects[0].ledger;
    let open = ledger.intents.contains_key(&slot.name);
    let circumstantial = slot.kind.birth == BirthProof::Circumstantial;
    let lifted = world.scenario.lifted.a1 && ours(world).next().is_some();
    if circumstantial && open && !lifted {
        return None;
    }
    if slot.kind.naming == Naming::Free && !circumstantial {
        return None;
    }
    let id_of = |name: &ownership::SlotName| ledger.ids.get(name).cloned();
    let props = resolve_props(&slot.props, &Ids(id_of))?;
    Some((slot, props))
}

/// A resource that we work on and that has parts with marks of their own.
fn inner_host(world: &World<'_>) -> Option<(Target, &'static PartSample)> {
    let slots = world.blueprint(0).slots().iter();
    slots
        .filter(|slot| !slot.inner.is_empty())
        .find_map(|slot| {
            let mut inner = slot.kind.inner.iter();
            let inner = inner.find(|inner| inner.proof == InnerProof::OwnMark)?;
            let id = world.objects[0].ledger.ids.get(&slot.name)?.clone();
            let mut samples = cloud_port::samples();
            let sample = samples.find(|sample| sample.kind == slot.kind)?;
            Some((slot.target(id), sample.part(inner.name)?))
        })
}

/// A resource that we only use.
fn used(world: &World<'_>) -> Option<Target> {
    let us = world.actor(0);
    let slots = world.blueprint(0).slots().iter();
    slots.filter(|slot| slot.cluster_mark).find_map(|slot| {
        let id = world.objects[0].ledger.ids.get(&slot.name)?.clone();
        let target = slot.target(id);
        let life = world.account.life(&target)?;
        (life.is_alive() && life.by != us).then_some(target)
    })
}
