//! The foreign actor: what somebody else with access to the account may do, within A1 to A3.

use cloud_sim::{Actor, Life};
use ownership::kind::{BirthProof, InnerProof, Naming};
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props};
use ownership::{Slot, Target, Text};

use crate::fault::{Fault, Menu};
use crate::scenario::Scenario;
use crate::world::World;

const ENGINE: Actor = Actor::Engine(0);

/// What the stranger can do right now.
pub(crate) fn moves(world: &World, scenario: &Scenario) -> Menu {
    let mut menu = Menu::default();
    if world.allowed.and(Menu::of(ALL)).is_empty() {
        return menu;
    }
    if nameable(world, scenario).is_some() {
        menu = menu.or(Fault::StrangerCreates.bit());
    }
    if ours(world).any(|life| life.tags.iter().any(|tag| tag.by == ENGINE)) {
        menu = menu.or(Fault::StrangerUnmarks.bit());
    }
    if ours(world).any(|life| marked(life, scenario)) {
        menu = menu.or(Fault::StrangerUnmarksPartly.bit());
    }
    if ours(world).next().is_some() {
        menu = menu.or(Fault::StrangerDeletes.bit());
    }
    if inner_host(world, scenario).is_some() {
        menu = menu.or(Fault::StrangerAddsInner.bit());
    }
    if world
        .account
        .lives()
        .any(|life| life.is_alive() && !life.inner.is_empty())
    {
        menu = menu.or(Fault::StrangerRemovesInner.bit());
    }
    if used(world, scenario).is_some() {
        menu = menu.or(Fault::StrangerTags.bit());
    }
    menu
}

/// Everything that a stranger does.
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

/// Does it. A refusal of the cloud is the stranger's problem.
pub(crate) fn act(world: &mut World, fault: Fault, scenario: &Scenario) {
    match fault {
        Fault::StrangerCreates => {
            if let Some((slot, props)) = nameable(world, scenario) {
                let (kind, name) = (slot.kind.name, slot.label.clone());
                let _ = world
                    .account
                    .plant(Actor::Stranger, kind, &name, &props, &Tags::new());
            }
        }
        Fault::StrangerUnmarks => {
            let life = ours(world)
                .find(|life| life.tags.iter().any(|tag| tag.by == ENGINE))
                .cloned();
            if let Some(life) = life {
                strip(world, &life);
            }
        }
        Fault::StrangerUnmarksPartly => {
            let life = ours(world).find(|life| marked(life, scenario)).cloned();
            if let Some(life) = life {
                let tags: Vec<_> = life
                    .tags
                    .iter()
                    .filter(|tag| tag.key.starts_with("freehold.dev/"))
                    .map(|tag| (tag.key.clone(), tag.value.clone()))
                    .collect();
                let _ = world.account.untag(Actor::Stranger, &[life.target], &tags);
            }
        }
        Fault::StrangerDeletes => {
            // The newest: what others rest on cannot be deleted.
            let targets: Vec<Target> = ours(world).map(|life| life.target.clone()).collect();
            for target in targets.iter().rev() {
                if world.account.delete(Actor::Stranger, target).is_ok() {
                    break;
                }
            }
        }
        Fault::StrangerAddsInner => {
            if let Some((target, inner)) = inner_host(world, scenario) {
                let part = InnerPart {
                    key: "ingress tcp 4444-4444 192.0.2.0/24".into(),
                    value: "".into(),
                    tags: Tags::new(),
                    id: None,
                };
                let _ = world
                    .account
                    .add_parts(Actor::Stranger, &target, inner, &[part]);
            }
        }
        Fault::StrangerRemovesInner => {
            let host = world
                .account
                .lives()
                .find(|life| life.is_alive() && !life.inner.is_empty());
            if let Some(life) = host.cloned() {
                let part = &life.inner[0];
                let keys = [part.key.clone()];
                let _ =
                    world
                        .account
                        .remove_parts(Actor::Stranger, &life.target, part.inner, &keys);
            }
        }
        Fault::StrangerTags => {
            if let Some(target) = used(world, scenario) {
                let life = world.account.life(&target);
                let ours = life.and_then(|life| life.tags.iter().find(|tag| tag.by == ENGINE));
                let tag = match ours {
                    Some(tag) => (tag.key.clone(), "shared".into()),
                    None => ("team".into(), "blue".into()),
                };
                let _ = world.account.tag(Actor::Stranger, &[target], &[tag]);
            }
        }
        _ => {}
    }
}

/// Strips every resource of ours of all our tags.
pub(crate) fn strip_all(world: &mut World) {
    let lives: Vec<Life> = ours(world).cloned().collect();
    for life in lives {
        strip(world, &life);
    }
}

/// Removes all our tags, and notes it where nobody can take it for a mark that was never written.
fn strip(world: &mut World, life: &Life) {
    let tags: Vec<(Text, Text)> = life
        .tags
        .iter()
        .filter(|tag| tag.by == ENGINE)
        .map(|tag| (tag.key.clone(), tag.value.clone()))
        .collect();
    let open = life
        .slot
        .as_ref()
        .is_some_and(|s| world.object.ledger.intents.contains_key(s));
    let done = world
        .account
        .untag(Actor::Stranger, std::slice::from_ref(&life.target), &tags);
    if done.is_ok() && !open && !tags.is_empty() {
        world
            .stripped
            .push((life.target.clone(), world.clock.now()));
    }
}

fn ours(world: &World) -> impl Iterator<Item = &Life> {
    world
        .account
        .lives()
        .filter(|life| life.is_alive() && life.by == ENGINE)
}

/// Whether a resource has both a dialect's mark and Freehold's: then losing one is a partial loss.
fn marked(life: &Life, scenario: &Scenario) -> bool {
    let slot = scenario
        .blueprint
        .slots()
        .iter()
        .find(|slot| Some(&slot.name) == life.slot.as_ref());
    let own = life
        .tags
        .iter()
        .any(|tag| tag.key.starts_with("freehold.dev/"));
    own && life.tags.len() > 1 && slot.is_some()
}

/// A slot that we mean to create, whose name the stranger could take. Not while an intent is open
/// whose only proof is circumstances; with A1 lifted, not before our own has come, because one that
/// is alone cannot be told from it.
fn nameable<'s>(world: &World, scenario: &'s Scenario) -> Option<(&'s Slot, Props)> {
    let slot = scenario
        .blueprint
        .slots()
        .iter()
        .find(|slot| slot.is_own())?;
    let open = world.object.ledger.intents.contains_key(&slot.name);
    let circumstantial = slot.kind.birth == BirthProof::Circumstantial;
    if circumstantial && open && !(scenario.lifted.a1 && ours(world).next().is_some()) {
        return None;
    }
    if slot.kind.naming == Naming::Free && !circumstantial {
        return None;
    }
    let id_of = |name: &ownership::SlotName| world.object.ledger.ids.get(name).cloned();
    let props = ownership::blueprint::resolve_props(&slot.props, &id_of)?;
    Some((slot, props))
}

/// A resource that we work on and that has parts with marks of their own.
fn inner_host(world: &World, scenario: &Scenario) -> Option<(Target, &'static str)> {
    let slots = scenario.blueprint.slots().iter();
    slots
        .filter(|slot| !slot.inner.is_empty())
        .find_map(|slot| {
            let inner = slot
                .kind
                .inner
                .iter()
                .find(|inner| inner.proof == InnerProof::OwnMark)?;
            let id = world.object.ledger.ids.get(&slot.name)?.clone();
            Some((Target::new(slot.kind.name, id), inner.name))
        })
}

/// A resource that we only use.
fn used(world: &World, scenario: &Scenario) -> Option<Target> {
    let slots = scenario.blueprint.slots().iter();
    slots.filter(|slot| slot.cluster_mark).find_map(|slot| {
        let id = world.object.ledger.ids.get(&slot.name)?.clone();
        let target = Target::new(slot.kind.name, id);
        let life = world.account.life(&target)?;
        (life.is_alive() && life.by != ENGINE).then_some(target)
    })
}
