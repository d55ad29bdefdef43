//! What must hold for a claim that has ended, or that waits for its end and may not have it.

use cloud_sim::{Life, TagFact};
use ownership::Text;
use ownership::kind::Marking;

use super::{Law, Violation, always, broken, is_own_key, released};
use crate::scenario::{Expect, Scenario};
use crate::world::World;

/// What must hold when a claim has ended.
pub(crate) fn at_end(world: &World<'_>, claim: usize) -> Result<(), Violation> {
    always(world, claim)?;
    let scenario = world.claim(claim);
    let us = scenario.actor;
    let gone = world.objects[claim].gone;
    // What holds the end keeps what it holds.
    let held = !gone && matches!(scenario.expect, Expect::Reported | Expect::AtMostOne);
    // A request without end may take effect when nobody looks any more; and what cannot be told
    // from a stranger's is left to whoever was told so.
    let late = scenario.lifted.a3 || scenario.lifted.a1 && world.disturbed;
    // Another management cluster has the same claim, and lives.
    let elsewhere = (0..world.objects.len())
        .any(|other| other != claim && world.actor(other) == us && world.objects[other].lives());
    for life in world.account.lives().filter(|life| life.is_alive()) {
        let released = released(world, scenario, life);
        // What was taken back before it had a mark, and takes its time to go: its deletion was accepted.
        let unmarked = !life.tags.iter().any(|tag| tag.by == us);
        let goes = unmarked && world.account.is_going(&life.target);
        let kept = scenario.retains || released || held || late || elsewhere || goes;
        if life.by == us && !kept {
            let slot = life.slot.as_ref().map_or("none", |slot| slot.as_str());
            let what = format!("{} is left, created for slot {slot}", life.target);
            return broken(Law::NoOrphans, what);
        }
        if scenario.adopts.contains(&life.target) && !scenario.retains {
            return broken(
                Law::NoOrphans,
                format!("{}, which was adopted, is left", life.target),
            );
        }
        if life.by != us && !held && !late {
            left_traces(world, claim, life)?;
        }
        if life.by == us && scenario.retains && strippable(life) {
            left_tags(world, claim, life)?;
            given_back_whole(world, scenario, life)?;
        }
    }
    Ok(())
}

/// What is retained keeps what is inside it, without any mark of ours.
fn given_back_whole(world: &World<'_>, scenario: &Scenario, life: &Life) -> Result<(), Violation> {
    for inner in life.target.kind.inner {
        for part in world.account.parts(&life.target, inner.name) {
            let own = |(key, _): &(Text, Text)| is_own_key(scenario, life.target.kind, key);
            if part.tags.iter().any(own) {
                let what = format!("our mark is left on {} in {}", part.key, life.target);
                return broken(Law::LeaveNoTrace, what);
            }
        }
    }
    Ok(())
}

/// Whether the marks of a resource can be taken off again.
fn strippable(life: &Life) -> bool {
    life.target.kind.marking == Marking::Mutable
}

fn left_traces(world: &World<'_>, claim: usize, life: &Life) -> Result<(), Violation> {
    left_tags(world, claim, life)?;
    let us = world.actor(claim);
    let ours = life.inner.iter().filter(|part| part.by == us);
    for part in ours {
        if !wanted_by_others(world, claim, life, |slot, _| {
            let mut keys = slot.inner.iter().map(|wish| &wish.key);
            keys.any(|key| *key == ownership::blueprint::Expr::Text(part.key.clone()))
        }) {
            return broken(
                Law::LeaveNoTrace,
                format!("{} is left in {}", part.key, life.target),
            );
        }
    }
    Ok(())
}

fn left_tags(world: &World<'_>, claim: usize, life: &Life) -> Result<(), Violation> {
    let scenario = world.claim(claim);
    let cluster = |scenario: &Scenario, tag: &TagFact| {
        let mark = scenario.identity.dialect.cluster_on(life.target.kind);
        mark.is_ok_and(|mark| mark.has(&tag.key, &tag.value))
    };
    // The cluster mark is for all claims of that name, and goes with the last of them.
    let lives = |(at, other): (usize, &Scenario)| {
        at != claim && world.objects[at].lives() && other.evidence.sweep
    };
    let namesake = |tag: &TagFact| {
        let mut others = world.scenario.claims().enumerate();
        others.any(|(at, other)| lives((at, other)) && cluster(other, tag))
    };
    let shared = |tag: &TagFact| {
        let used = scenario.evidence.namesakes_use.contains(&life.target.id);
        cluster(scenario, tag) && (used || namesake(tag))
    };
    let ours = life.tags.iter().filter(|tag| tag.by == scenario.actor);
    for tag in ours.filter(|tag| !shared(tag)) {
        if !wanted_by_others(world, claim, life, |slot, other| {
            let of_user = slot.user_tags.iter().any(|(key, _)| *key == tag.key);
            of_user || slot.cluster_mark && cluster(other, tag)
        }) {
            let what = format!(
                "the tag {}={} is left on {}",
                tag.key, tag.value, life.target
            );
            return broken(Law::LeaveNoTrace, what);
        }
    }
    Ok(())
}

/// Whether another living claim uses a resource, and wants something of it.
fn wanted_by_others(
    world: &World<'_>,
    claim: usize,
    life: &Life,
    wants: impl Fn(&ownership::Slot, &Scenario) -> bool,
) -> bool {
    let others = (0..world.objects.len()).filter(|other| *other != claim);
    others
        .filter(|other| world.objects[*other].lives())
        .any(|other| {
            let object = &world.objects[other];
            let uses = |slot: &&ownership::Slot| {
                let recorded = object.ledger.ids.get(&slot.name) == Some(&life.target.id);
                let filled = object.rested.iter().flat_map(|report| &report.filled);
                slot.kind == life.target.kind
                    && (recorded
                        || filled
                            .into_iter()
                            .any(|f| f.slot == slot.name && f.target == life.target))
            };
            let slots = world.blueprint(other).slots().iter();
            slots
                .filter(uses)
                .any(|slot| wants(slot, world.claim(other)))
        })
}
