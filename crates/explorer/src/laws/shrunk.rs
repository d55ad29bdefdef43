//! What no spec wants any more is ended in life, and nothing else is.

use cloud_sim::{InnerFact, Life, TagFact};
use ownership::blueprint::InnerWish;
use ownership::mark::part_key;
use ownership::step::Deletion;
use ownership::{Slot, Text};

use super::rest::InCloud;
use super::{Law, Violation, broken};
use crate::world::World;

/// Nothing of a claim that is at rest and right is there but what its spec wants.
pub(super) fn shrunk(world: &World<'_>, claim: usize) -> Result<(), Violation> {
    let blueprint = world.blueprint(claim);
    if !blueprint.shrinks() || blueprint.is_partial() {
        return Ok(());
    }
    let us = world.actor(claim);
    for life in world.account.lives().filter(|life| life.is_alive()) {
        if life.by == us {
            let slot = life.slot.as_ref().and_then(|name| blueprint.slot(name));
            if slot.is_none_or(|slot| !slot.is_own()) {
                let what = format!("{} is there, and no slot wants it", life.target);
                return broken(Law::NoOrphans, what);
            }
            user_tags(world, claim, life)?;
        } else {
            traces(world, claim, life)?;
        }
    }
    Ok(())
}

/// Whether a resource that is deleted in life may be one whose slot a spec has given up: whoever deletes it
/// may not have read the newest.
pub(crate) fn may_be_unwanted(world: &World<'_>, claim: usize, deletion: &Deletion) -> bool {
    let Some(mark) = deletion.owned().mark() else {
        return false;
    };
    let specs = 0..=world.objects[claim].spec;
    specs
        .map(|spec| world.claim(claim).spec(spec))
        .any(|spec| spec.shrinks() && spec.slot(&mark.slot).is_none_or(|slot| !slot.is_own()))
}

/// A resource of ours carries no user's tag that we wrote and that is not wanted any more.
fn user_tags(world: &World<'_>, claim: usize, life: &Life) -> Result<(), Violation> {
    let slot = life
        .slot
        .as_ref()
        .and_then(|name| world.blueprint(claim).slot(name));
    let wanted = slot
        .map(|slot| slot.user_tags.as_slice())
        .unwrap_or_default();
    let stale = |tag: &&TagFact| {
        *tag.key == *"team" && !wanted.iter().any(|(k, v)| *k == tag.key && *v == tag.value)
    };
    match life.tags.iter().find(stale) {
        Some(tag) => {
            let what = format!("{} has {}={} still", life.target, tag.key, tag.value);
            broken(Law::LeaveNoTrace, what)
        }
        None => Ok(()),
    }
}

/// Somebody's resource has nothing of ours that no slot asks for.
fn traces(world: &World<'_>, claim: usize, life: &Life) -> Result<(), Violation> {
    let us = world.actor(claim);
    let scenario = world.claim(claim);
    let rested = world.objects[claim].rested.iter();
    let filled = rested.flat_map(|report| &report.filled);
    let on: Vec<&Slot> = filled
        .filter(|it| it.target == life.target)
        .filter_map(|it| world.blueprint(claim).slot(&it.slot))
        .collect();
    let kind = life.target.kind;
    let wishes = || on.iter().flat_map(|slot| &slot.inner);
    let fills = InCloud { world, claim };
    let wished = |part: &&InnerFact| {
        wishes().any(|wish: &InnerWish| wish.key.resolve(&fills).as_ref() == Some(&part.key))
    };
    if let Some(part) = life
        .inner
        .iter()
        .find(|part| part.by == us && !wished(part))
    {
        let what = format!("{} is in {} still", part.key, life.target);
        return broken(Law::LeaveNoTrace, what);
    }
    let cluster = scenario.identity.dialect.cluster_on(kind);
    let asked = |tag: &TagFact| {
        let user = |slot: &&Slot| {
            let mut tags = slot.user_tags.iter();
            tags.any(|(key, value): &(Text, Text)| *key == tag.key && *value == tag.value)
        };
        let mark = |slot: &&Slot| {
            let mark = cluster.as_ref();
            slot.cluster_mark && mark.is_ok_and(|mark| mark.has(&tag.key, &tag.value))
        };
        let names = |wish: &InnerWish| {
            let key = wish.key.resolve(&fills).unwrap_or_else(|| "".into());
            *part_key(
                kind.carrier,
                scenario.identity.claim.hash(),
                wish.kind,
                &key,
            ) == *tag.key
        };
        on.iter().any(|slot| user(slot) || mark(slot)) || wishes().any(names)
    };
    match life.tags.iter().find(|tag| tag.by == us && !asked(tag)) {
        Some(tag) => {
            let what = format!("{} has {}={} still", life.target, tag.key, tag.value);
            broken(Law::LeaveNoTrace, what)
        }
        None => Ok(()),
    }
}
