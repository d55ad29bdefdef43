//! The oracle: judges a run by hidden provenance, never by marks.

use cloud_port::driver::Report;
use cloud_sim::{Actor, Deed, Harm, Life};
use ownership::blueprint::Expr;
use ownership::kind::{BirthProof, Marking};
use ownership::mark::claim_key;
use ownership::{Finding, Slot, Target};

use crate::scenario::{Expect, Scenario};
use crate::words;
use crate::world::World;

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

const US: Actor = Actor::Engine(0);

/// What must hold when a live claim is at rest.
pub(crate) fn at_rest(
    world: &World,
    scenario: &Scenario,
    report: &Report,
) -> Result<(), Violation> {
    always(world, scenario)?;
    let disturbed = world
        .chooser
        .fired
        .iter()
        .any(|choice| choice.fault.is_strangers());
    for slot in scenario
        .blueprint
        .slots()
        .iter()
        .filter(|slot| slot.is_own())
    {
        let count = alive_in(world, slot)
            .filter(|life| !released(world, scenario, life))
            .count();
        let expected = match scenario.expect {
            Expect::Filled if slot.kind.valuable => count >= 1,
            Expect::Filled if !disturbed => count == 1,
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
    }
    if !disturbed && report.findings.is_empty() {
        converged(world, scenario)?;
    }
    match scenario.expect {
        Expect::Reported if scenario.must_report && report.findings.is_empty() => {
            broken(Law::NoGuessing, "nothing is reported")
        }
        Expect::Filled
            if !disturbed && report.findings.iter().any(|f| !is_expected(f, scenario)) =>
        {
            let all: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
            broken(
                Law::RestIsReached,
                format!("nobody interfered, but: {}", all.join("; ")),
            )
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

/// What a claim that says it is at rest has made of its slots: marked, and as they are wished for.
fn converged(world: &World, scenario: &Scenario) -> Result<(), Violation> {
    let differs = |slot: &Slot, what: String| {
        broken(Law::RestIsReached, format!("slot {}: {what}", slot.name))
    };
    for slot in scenario
        .blueprint
        .slots()
        .iter()
        .filter(|slot| slot.is_own())
    {
        let Some(id) = world.object.ledger.ids.get(&slot.name) else {
            continue;
        };
        let target = Target::new(slot.kind.name, id.clone());
        let Some(resource) = world.account.resource(&target) else {
            return differs(slot, format!("{target} is not there"));
        };
        let key = claim_key(slot.kind.carrier, scenario.identity.claim.hash());
        let ours = matches!(
            scenario.expect,
            Expect::Filled | Expect::Taken | Expect::Adopted
        );
        if ours && resource.tags.get(&key).is_none() {
            return differs(slot, format!("{target} has no mark of ours"));
        }
        let cluster = scenario.identity.dialect.cluster(slot.kind.carrier);
        let cluster = cluster.unwrap_or_default();
        let wanted = cluster
            .iter()
            .filter(|_| slot.cluster_mark && slot.kind.marking == Marking::Mutable);
        if let Some((key, _)) = wanted
            .into_iter()
            .find(|(key, _)| resource.tags.get(key).is_none())
        {
            return differs(slot, format!("{target} lacks the cluster mark {key}"));
        }
        for (name, wish) in slot.props.iter().filter(|_| ours) {
            let Expr::Text(wish) = wish else { continue };
            if resource.props.get(name) != Some(wish) {
                return differs(slot, format!("{name} of {target} is not {wish:?}"));
            }
        }
        for wish in &slot.inner {
            let Expr::Text(key) = &wish.key else { continue };
            let parts = world.account.parts(&target, wish.kind);
            if !parts
                .iter()
                .any(|part| part.key == *key && part.value == wish.value)
            {
                return differs(slot, format!("{target} lacks the {} {key}", wish.kind));
            }
        }
    }
    Ok(())
}

/// Twins that hold data are reported.
fn is_expected(finding: &Finding, scenario: &Scenario) -> bool {
    match finding {
        Finding::Twins { .. } => scenario.kinds.iter().any(|kind| kind.valuable),
        _ => false,
    }
}

/// What must hold when a claim has ended.
pub(crate) fn at_end(world: &World, scenario: &Scenario) -> Result<(), Violation> {
    always(world, scenario)?;
    for life in world.account.lives().filter(|life| life.is_alive()) {
        let kept = scenario.retains
            || released(world, scenario, life)
            || matches!(scenario.expect, Expect::Held | Expect::Reported)
            || (scenario.expect == Expect::AtMostOne && !world.object.gone);
        if life.by == US && !kept {
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
        let forgiving = matches!(scenario.expect, Expect::Held | Expect::Reported);
        if life.by != US && !forgiving {
            left_traces(scenario, life)?;
        }
        if life.by == US && scenario.retains && strippable(scenario, life) {
            left_tags(scenario, life)?;
            given_back_whole(world, scenario, life)?;
        }
    }
    Ok(())
}

/// What must hold at every time.
pub(crate) fn always(world: &World, scenario: &Scenario) -> Result<(), Violation> {
    for deed in world.account.deeds().iter().filter(|deed| deed.by == US) {
        theft(world, scenario, deed)?;
    }
    // A mark that was on its way when the stranger came is none that was given back (A2).
    for (target, at) in world.stripped.iter().filter(|_| !scenario.lifted.a2) {
        let Some(life) = world.account.life(target).filter(|life| life.is_alive()) else {
            continue;
        };
        if life.born <= *at && life.tags.iter().any(|tag| is_own_key(scenario, &tag.key)) {
            return broken(
                Law::NoTheft,
                format!("{target} was released and is marked again"),
            );
        }
    }
    for life in world
        .account
        .lives()
        .filter(|life| life.is_alive() && life.by != US)
    {
        if scenario.adopts.contains(&life.target) {
            continue;
        }
        let Some(slot) = scenario
            .blueprint
            .slots()
            .iter()
            .find(|s| s.kind.name == life.target.kind)
        else {
            continue;
        };
        let key = claim_key(slot.kind.carrier, scenario.identity.claim.hash());
        if life.tags.iter().any(|tag| tag.key == key && tag.by == US) {
            let what = format!(
                "{} is somebody else's and carries our ownership mark",
                life.target
            );
            return broken(Law::NoTheft, what);
        }
    }
    Ok(())
}

/// Whether a deed of ours took something that was not ours to take.
fn theft(world: &World, scenario: &Scenario, deed: &Deed) -> Result<(), Violation> {
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
            if deed.made_by != US && !adopted {
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
            if was.by != US && deed.made_by != US && !adopted {
                let what = format!("the tag {}={} of {id} is not ours", was.key, was.value);
                return broken(Law::LeaveNoTrace, what);
            }
            Ok(())
        }
        Harm::InnerOverwritten { was, .. } | Harm::InnerRemoved { was, .. } => {
            let host_is_ours = deed.made_by == US || adopted;
            let another_claims = matches!(was.by, Actor::Engine(n) if n != 0);
            if was.by != US && (!host_is_ours || another_claims) {
                return broken(Law::NoTheft, format!("{} in {id} is not ours", was.key));
            }
            Ok(())
        }
    }
}

/// Whether a stranger had stripped the victim of our mark, and it did not carry it when it died.
fn stripped_before(world: &World, scenario: &Scenario, deed: &Deed) -> bool {
    let own = |key: &str| is_own_key(scenario, key);
    let carries = deed.victim.tags.iter().any(|(key, _)| own(key));
    !carries
        && world.account.deeds().iter().any(|other| {
            other.by == Actor::Stranger
                && other.victim.id == deed.victim.id
                && matches!(&other.harm, Harm::TagRemoved { was } if own(&was.key))
        })
}

/// What a stranger stripped of our mark is not ours any more.
fn released(world: &World, scenario: &Scenario, life: &Life) -> bool {
    let own = |key: &str| is_own_key(scenario, key);
    let carries = life.tags.iter().any(|tag| own(&tag.key));
    !carries
        && world.account.deeds().iter().any(|deed| {
            deed.by == Actor::Stranger
                && deed.victim.id == life.target.id
                && matches!(&deed.harm, Harm::TagRemoved { was } if own(&was.key))
        })
}

/// Whether a tag is our claim's ownership mark.
fn is_own_key(scenario: &Scenario, key: &str) -> bool {
    key.strip_prefix("freehold.dev/") == Some(scenario.identity.claim.hash().as_str())
}

/// What is retained keeps what is inside it, without any mark of ours.
fn given_back_whole(world: &World, scenario: &Scenario, life: &Life) -> Result<(), Violation> {
    let kind = scenario
        .kinds
        .iter()
        .find(|kind| kind.name == life.target.kind);
    for inner in kind.iter().flat_map(|kind| kind.inner) {
        for part in world.account.parts(&life.target, inner.name) {
            if part.tags.iter().any(|(key, _)| is_own_key(scenario, key)) {
                let what = format!("our mark is left on {} in {}", part.key, life.target);
                return broken(Law::LeaveNoTrace, what);
            }
        }
    }
    Ok(())
}

/// Whether the marks of a resource can be taken off again.
fn strippable(scenario: &Scenario, life: &Life) -> bool {
    let kind = scenario
        .kinds
        .iter()
        .find(|kind| kind.name == life.target.kind);
    kind.is_some_and(|kind| kind.marking == Marking::Mutable)
}

fn left_traces(scenario: &Scenario, life: &Life) -> Result<(), Violation> {
    left_tags(scenario, life)?;
    if let Some(part) = life.inner.iter().find(|part| part.by == US) {
        return broken(
            Law::LeaveNoTrace,
            format!("{} is left in {}", part.key, life.target),
        );
    }
    Ok(())
}

fn left_tags(scenario: &Scenario, life: &Life) -> Result<(), Violation> {
    // The cluster mark is for all claims of that name.
    let shared = |key: &str| {
        key.starts_with("kubernetes.io/cluster/")
            && scenario.evidence.namesakes_use.contains(&life.target.id)
    };
    let ours = |tag: &&cloud_sim::TagFact| tag.by == US && !shared(&tag.key);
    if let Some(tag) = life.tags.iter().find(ours) {
        let what = format!(
            "the tag {}={} is left on {}",
            tag.key, tag.value, life.target
        );
        return broken(Law::LeaveNoTrace, what);
    }
    Ok(())
}

fn alive_in<'w>(world: &'w World, slot: &'w Slot) -> impl Iterator<Item = &'w Life> {
    world
        .account
        .lives()
        .filter(|life| life.is_alive() && life.by == US && life.slot.as_ref() == Some(&slot.name))
}

/// After a pass in which the ledger refused to record a new resource and nothing else went wrong:
/// what has no mark yet must have been taken back (law 3). What an open intent of another slot has
/// made is still to be recorded.
pub(crate) fn rolled_back(world: &World, scenario: &Scenario) -> Result<(), Violation> {
    for slot in scenario
        .blueprint
        .slots()
        .iter()
        .filter(|slot| slot.is_own() && world.refused_records.contains(&slot.name))
    {
        if slot.kind.birth == BirthProof::Marks {
            continue;
        }
        for life in alive_in(world, slot) {
            let unmarked = !life.tags.iter().any(|tag| tag.by == US);
            let unknown = !world.object.ledger.known.contains_key(&life.target);
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

/// How many resources we have created.
pub(crate) fn creations(world: &World) -> usize {
    world.account.lives().filter(|life| life.by == US).count()
}

/// Whether a deletion in the life of the claim has emptied a slot: twins must be reduced to one.
pub(crate) fn emptied(world: &World, slot: Option<&ownership::SlotName>) -> bool {
    let Some(slot) = slot else { return false };
    !world
        .account
        .lives()
        .any(|life| life.is_alive() && life.slot.as_ref() == Some(slot))
}
