//! What must hold for a claim at rest.

use cloud_port::driver::Report;
use cloud_sim::{Account, Life};
use ownership::blueprint::{Fills, Source};
use ownership::kind::{BirthProof, Change, Marking};
use ownership::mark::claim_key;
use ownership::{Finding, Slot, SlotName, Step, Target, Text, Verdict};

use super::shrunk;
use super::{Law, Violation, alive_in, always, born_as_wished, broken, released};
use crate::fault::Fault;
use crate::scenario::{Expect, Scenario};
use crate::words;
use crate::world::World;

/// What must hold when a live claim is at rest.
pub(crate) fn at_rest(world: &World<'_>, claim: usize, report: &Report) -> Result<(), Violation> {
    always(world, claim)?;
    born_as_wished(world, claim)?;
    let scenario = world.claim(claim);
    let own = world.blueprint(claim).slots().iter();
    for slot in own.filter(|slot| slot.is_own()) {
        slot_at_rest(world, claim, slot, report)?;
    }
    if !world.disturbed && report.findings.is_empty() {
        converged(world, claim, report)?;
        shrunk::shrunk(world, claim)?;
    }
    let expected = |finding: &&Finding| is_expected(world, claim, finding);
    match scenario.expect {
        Expect::Reported if scenario.must_report && report.findings.is_empty() => {
            broken(Law::NoGuessing, "nothing is reported")
        }
        Expect::Filled if !world.disturbed && !report.findings.iter().all(|f| expected(&f)) => {
            let all: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
            let what = format!("nobody interfered, but: {}", all.join("; "));
            broken(Law::RestIsReached, what)
        }
        Expect::Conflict if report.findings.is_empty() => {
            broken(Law::NoGuessing, "the conflict is not reported")
        }
        Expect::Held
            if !report
                .findings
                .iter()
                .any(|f| matches!(f, Finding::Held { .. })) =>
        {
            broken(
                Law::StatusIsDisposable,
                "the claim is not shown as held elsewhere",
            )
        }
        _ => Ok(()),
    }
}

/// How many resources a slot may have.
fn slot_at_rest(
    world: &World<'_>,
    claim: usize,
    slot: &Slot,
    report: &Report,
) -> Result<(), Violation> {
    let scenario = world.claim(claim);
    let count = alive_in(world, claim, slot)
        .filter(|life| !released(world, scenario, life))
        .count();
    let expected = match scenario.expect {
        Expect::Filled if is_wish(scenario, slot) => count == 0,
        Expect::Filled if slot.kind.valuable => count >= 1 || world.disturbed,
        // What lies in what has failed is not there, either.
        Expect::Filled if report.findings.iter().any(is_left_failed) => count <= 1,
        Expect::Filled if !world.disturbed => count == 1,
        Expect::Filled => count <= 1,
        Expect::Taken => count == 1,
        Expect::Used | Expect::Conflict | Expect::Held | Expect::Adopted => count == 0,
        Expect::Reported => true,
        Expect::AtMostOne => count <= 1,
    };
    if !expected {
        return broken(
            Law::NoTwins,
            format!("slot {} has {count} resources", slot.name),
        );
    }
    let filled = report.filled.iter().any(|filled| filled.slot == slot.name);
    if count == 0 && !filled && is_wanted(slot, report) && report.findings.is_empty() {
        return broken(
            Law::RestIsReached,
            format!("slot {} is empty, and nothing is reported", slot.name),
        );
    }
    Ok(())
}

/// Whether a slot is wanted: not one that is only for a resource of ours, where that is somebody's.
fn is_wanted(slot: &Slot, report: &Report) -> bool {
    let mut filled = report.filled.iter();
    let host = filled.find(|filled| Some(&filled.slot) == slot.only_for.as_ref());
    host.is_none_or(|host| matches!(host.verdict, Verdict::Owned(_)))
}

/// Whether the object's author named somebody's resource for a slot, and it is there.
fn is_wish(scenario: &Scenario, slot: &Slot) -> bool {
    let named = scenario.ledger.ids.get(&slot.name);
    let target = named.map(|id| slot.target(id.clone()));
    target.is_some_and(|target| {
        let life = scenario.account.life(&target);
        life.is_some_and(|life| life.is_alive() && life.by != scenario.actor)
    })
}

/// What a claim that says it is at rest has made of its slots: everything that it wants is there,
/// marked, and as it is wished for.
fn converged(world: &World<'_>, claim: usize, report: &Report) -> Result<(), Violation> {
    let scenario = world.claim(claim);
    let ids = &world.objects[claim].ledger.ids;
    for slot in world.blueprint(claim).slots() {
        let recorded = ids.get(&slot.name).filter(|_| slot.is_own());
        let recorded = recorded.map(|id| slot.target(id.clone()));
        let made = alive_in(world, claim, slot).filter(|_| !slot.kind.recorded);
        let recorded = recorded
            .into_iter()
            .chain(made.map(|life| life.target.clone()));
        let found = report.filled.iter().filter(|_| !slot.is_own());
        let found = found.filter(|filled| filled.slot == slot.name);
        for target in recorded.chain(found.map(|filled| filled.target.clone())) {
            as_wished(world, claim, scenario, slot, &target).or_else(|what| {
                broken(Law::RestIsReached, format!("slot {}: {what}", slot.name))
            })?;
        }
    }
    Ok(())
}

/// Whether one resource is as a slot wishes; else what it lacks.
fn as_wished(
    world: &World<'_>,
    claim: usize,
    scenario: &Scenario,
    slot: &Slot,
    target: &Target,
) -> Result<(), String> {
    let Some(resource) = world.account.resource(target) else {
        return Err(format!("{target} is not there"));
    };
    let key = claim_key(slot.kind.carrier, scenario.identity.claim.hash());
    let ours = slot.is_own()
        && matches!(
            scenario.expect,
            Expect::Filled | Expect::Taken | Expect::Adopted
        );
    let ours = ours && !is_wish(scenario, slot);
    if ours && resource.tags.get(&key).is_none() {
        return Err(format!("{target} has no mark of ours"));
    }
    let cluster = scenario.identity.dialect.cluster_on(slot.kind);
    let cluster = cluster.unwrap_or_default();
    let tags = cluster.iter().filter(|_| slot.cluster_mark);
    let mut tags = tags
        .chain(&slot.user_tags)
        .filter(|_| slot.kind.marking == Marking::Mutable);
    if let Some((key, _)) = tags.find(|(key, _)| resource.tags.get(key).is_none()) {
        return Err(format!("{target} lacks the tag {key}"));
    }
    let fills = InCloud { world, claim };
    if let Source::Find { by, tags, .. } = &slot.source {
        let by = by
            .iter()
            .map(|(name, wish)| (*name, wish, resource.props.get(name)));
        let tags = tags
            .iter()
            .map(|(key, wish)| (&**key, wish, resource.tags.get(key)));
        for (name, wish, found) in by.chain(tags) {
            if found != wish.resolve(&fills).as_ref() {
                return Err(format!(
                    "{target} is not what was to be found: its {name} differs"
                ));
            }
        }
    }
    for (name, wish) in slot.props.iter().filter(|_| ours) {
        let Some(wish) = wish.resolve(&fills) else {
            return Err(format!("{name} of {target} refers to nothing: {wish}"));
        };
        let rule = slot.kind.props.iter().find(|rule| rule.name == *name);
        let says_nothing = rule.is_some_and(|rule| rule.change == Change::Irrelevant);
        if !says_nothing && resource.props.get(name) != Some(&wish) {
            return Err(format!("{name} of {target} is not {wish:?}"));
        }
    }
    for wish in &slot.inner {
        let (Some(key), Some(value)) = (wish.key.resolve(&fills), wish.value.resolve(&fills))
        else {
            // What it refers to is not wanted, or not there: that is judged where it should be.
            continue;
        };
        let parts = world.account.parts(target, wish.kind);
        if !parts
            .iter()
            .any(|part| part.key == key && part.value == value)
        {
            return Err(format!("{target} lacks the {} {key}", wish.kind));
        }
    }
    let wanted = |inner: &str, key: &Text| {
        slot.inner.iter().any(|wish| {
            let wish_key = wish.key.resolve(&fills);
            wish.kind == inner && wish_key.is_none_or(|wish_key| wish_key == *key)
        })
    };
    let life = world.account.life(target);
    let mut inside = life.iter().flat_map(|life| &life.inner);
    let surplus = inside.find(|part| part.by == scenario.actor && !wanted(part.inner, &part.key));
    if let Some(part) = surplus {
        return Err(format!(
            "{target} has the {} {}, which we put there and want no longer",
            part.inner, part.key
        ));
    }
    Ok(())
}

/// What really fills the slots of a claim: what was made for them and lives, else what is recorded.
pub(super) struct InCloud<'w> {
    pub(super) world: &'w World<'w>,
    pub(super) claim: usize,
}

impl InCloud<'_> {
    fn target(&self, name: &SlotName) -> Option<Target> {
        let slot = self.world.blueprint(self.claim).slot(name)?;
        let made = alive_in(self.world, self.claim, slot).next();
        let recorded = || {
            let id = self.world.objects[self.claim].ledger.ids.get(name)?;
            Some(slot.target(id.clone()))
        };
        made.map(|life| life.target.clone()).or_else(recorded)
    }
}

impl Fills for InCloud<'_> {
    fn id(&self, slot: &SlotName) -> Option<Text> {
        self.target(slot).map(|target| target.id.text())
    }

    fn prop(&self, slot: &SlotName, name: &str) -> Option<Text> {
        let resource = self.world.account.resource(&self.target(slot)?)?;
        resource.props.get(name).cloned()
    }
}

/// The other claims that are at rest and right, before a Step that takes something away: each
/// counts on what is there.
pub(crate) fn counted_on(world: &World<'_>, claim: usize, step: &Step) -> Vec<usize> {
    let takes = matches!(
        step,
        Step::Delete(_) | Step::RemoveInner(_) | Step::Unmark { .. } | Step::Update(_)
    );
    let mut others = Vec::new();
    if takes && world.objects.len() > 1 {
        // The same claim in another management cluster is whoever's holds it.
        let us = world.actor(claim);
        others.extend((0..world.objects.len()).filter(|other| world.actor(*other) != us));
        others.retain(|other| right(world, *other).is_ok_and(|rests| rests));
    }
    others
}

/// Whether a claim is at rest without findings; an error if what it wants is not there.
fn right(world: &World<'_>, claim: usize) -> Result<bool, Violation> {
    let object = &world.objects[claim];
    match &object.rested {
        Some(report) if object.lives() && report.findings.is_empty() => {
            converged(world, claim, report).map(|()| true)
        }
        _ => Ok(false),
    }
}

/// Claims that were right before a Step of another still are: it took nothing that they count on.
pub(crate) fn still_there(
    world: &World<'_>,
    claims: &[usize],
    step: &Step,
) -> Result<(), Violation> {
    for claim in claims {
        if let Err(violation) = right(world, *claim) {
            let law = match step {
                Step::Unmark { .. } => Law::LeaveNoTrace,
                _ => Law::NoTheft,
            };
            let what = format!(
                "{}, on which the living claim {claim} counts: {}",
                words::step(step),
                violation.what
            );
            return broken(law, what);
        }
    }
    Ok(())
}

/// Twins that hold data are reported, and so is what cannot become as a new spec wants it.
fn is_expected(world: &World<'_>, claim: usize, finding: &Finding) -> bool {
    match finding {
        Finding::Twins { .. } => world.claim(claim).kinds.iter().any(|at| at.kind.valuable),
        Finding::Drift { .. } => world.objects[claim].spec > 0,
        finding if is_left_failed(finding) => true,
        _ => false,
    }
}

/// Whether something has failed that a person must decide about.
fn is_left_failed(finding: &Finding) -> bool {
    matches!(finding, Finding::Failed { replaced, .. } if !replaced)
}

/// Law 5: a lost status alone makes nobody create anything again.
pub(crate) fn disposable(world: &World<'_>, claim: usize) -> Result<(), Violation> {
    let harmless = [Fault::LoseStatus, Fault::NoTime, Fault::LongTime];
    let mut fired = world.chooser.fired.iter();
    let only = fired.all(|choice| harmless.contains(&choice.fault));
    let scenario = world.claim(claim);
    if only
        && scenario.expect == Expect::Filled
        && !scenario.status_refuses
        && made_again(world, claim)
    {
        return broken(
            Law::StatusIsDisposable,
            "a lost status led to another create",
        );
    }
    Ok(())
}

/// Whether more was created for a slot than it lacked when the run began.
fn made_again(world: &World<'_>, claim: usize) -> bool {
    let us = world.actor(claim);
    let made = |account: &Account, slot: &SlotName| {
        let lives = account.lives();
        let its = |life: &&Life| life.by == us && life.slot.as_ref() == Some(slot);
        lives.filter(its).count()
    };
    let mut slots = world.blueprint(claim).slots().iter();
    slots.any(|slot| {
        let before = made(&world.scenario.account, &slot.name);
        made(&world.account, &slot.name) > before.max(1)
    })
}

/// A status that refuses every write still yields at most one resource a slot.
pub(crate) fn at_most_one(world: &World<'_>, claim: usize) -> Result<(), Violation> {
    let slots = world.blueprint(claim).slots().iter();
    for slot in slots.filter(|slot| slot.is_own()) {
        if alive_in(world, claim, slot).count() > 1 {
            return broken(
                Law::NoTwins,
                format!("slot {} was filled again and again", slot.name),
            );
        }
    }
    Ok(())
}

/// After a pass in which the ledger refused to record a new resource and nothing else went wrong:
/// what has no mark yet must have been taken back (law 3). What an open intent of another slot has
/// made is still to be recorded.
pub(crate) fn rolled_back(world: &World<'_>, claim: usize) -> Result<(), Violation> {
    let object = &world.objects[claim];
    let us = world.actor(claim);
    let slots = world.blueprint(claim).slots().iter();
    for slot in slots.filter(|slot| slot.is_own() && object.refused_records.contains(&slot.name)) {
        if slot.kind.birth == BirthProof::Marks {
            continue;
        }
        let stays = |life: &&cloud_sim::Life| !world.account.is_going(&life.target);
        for life in alive_in(world, claim, slot).filter(stays) {
            let unmarked = !life.tags.iter().any(|tag| tag.by == us);
            let unknown = !object.ledger.known.contains_key(&life.target);
            if unmarked && unknown {
                let what = format!(
                    "{} could not be recorded and was not taken back",
                    life.target
                );
                return broken(Law::NoOrphans, what);
            }
        }
    }
    Ok(())
}
