//! What people are shown of an object: the same for text, JSON and YAML, and on the wire of
//! `freehold dev`.

use cloud_port::driver::{self, Planned, Wait};
use cloud_port::words;
use controllers::reconcile::{Conditions, Found, Inspection, Sight};
use ownership::decide::{Filled, Phase};
use ownership::ledger::Origin;
use ownership::mark::OwnershipMark;
use ownership::{Finding, Slot, SlotName, Step, Target, Verdict};
use serde::{Deserialize, Serialize};

/// An object, and what there is to say of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Seen {
    /// Which object: `Cluster demo`.
    pub(super) object: String,
    /// What its marks carry; none where nobody can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) claim: Option<String>,
    /// Whether it is wanted or being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) phase: Option<String>,
    /// What the operator has told of it.
    pub(super) conditions: Vec<Told>,
    /// Why nothing is done for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stopped: Option<String>,
    /// Why it could not be looked at from here: the operator may be able to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unseen: Option<String>,
    /// Its slots.
    pub(super) slots: Vec<SlotSeen>,
    /// Steps on what no slot wants.
    pub(super) besides: Vec<Next>,
    /// What a person should know that is about no slot.
    pub(super) findings: Vec<String>,
    /// When the operator looks at it again.
    pub(super) visit: String,
}

/// A condition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Told {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) status: bool,
    pub(super) reason: String,
    pub(super) message: String,
}

/// A slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SlotSeen {
    pub(super) name: String,
    /// What fills it: "security group".
    pub(super) kind: String,
    pub(super) filled: Vec<Fill>,
    /// Why nothing fills it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) empty: Option<String>,
    /// What a person should know.
    pub(super) findings: Vec<String>,
    /// What is done next.
    pub(super) next: Vec<Next>,
}

/// A resource that fills a slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fill {
    pub(super) id: String,
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub(super) name: String,
    pub(super) verdict: String,
    /// What the verdict rests on.
    pub(super) why: String,
    /// What is inside that matters here.
    pub(super) parts: Vec<PartSeen>,
}

/// A part inside a resource, or a tag on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartSeen {
    pub(super) what: String,
    pub(super) verdict: String,
    pub(super) why: String,
}

/// A Step to come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Next {
    /// What is done, and to what.
    pub(super) step: String,
    pub(super) because: String,
    /// After which wait; none if it could be done now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<String>,
}

/// How often the operator looks at an object at rest unless it is told otherwise.
const VISIT: &str = "at once when the object changes, else after --resync (5m)";

/// The same where somebody waits for the end.
const VISIT_AT_THE_END: &str = "at once when the object changes, else within 30 s";

impl Seen {
    /// An object as it was inspected.
    pub(crate) fn new(inspection: &Inspection) -> Self {
        let told = |(kind, condition): &(&str, api::Condition)| Told {
            kind: (*kind).to_owned(),
            status: condition.holds,
            reason: condition.reason.clone(),
            message: condition.message.clone(),
        };
        let mut seen = Self {
            object: inspection.object.clone(),
            claim: None,
            phase: None,
            conditions: inspection.conditions.iter().map(told).collect(),
            stopped: None,
            unseen: None,
            slots: Vec::new(),
            besides: Vec::new(),
            findings: Vec::new(),
            visit: VISIT.to_owned(),
        };
        match &inspection.sight {
            Ok(sight) => seen.take_in(sight),
            Err(unseen) if unseen.is_here() => seen.unseen = Some(why(&unseen.0)),
            Err(unseen) => seen.stopped = Some(why(&unseen.0)),
        }
        seen
    }

    fn take_in(&mut self, sight: &Sight) {
        let phase = match sight.phase {
            Phase::Live => "is wanted",
            Phase::Ending => "is being deleted",
            Phase::Retaining => "is being deleted, its resources are retained",
        };
        self.claim = Some(sight.claim.hash().to_string());
        self.phase = Some(phase.to_owned());
        self.stopped.clone_from(&sight.stop);
        let slots = sight.blueprint.slots();
        self.slots = slots.iter().map(|slot| slot_seen(sight, slot)).collect();
        let of_a_slot = |planned: &Planned| {
            let mut slots = slots.iter();
            slots.any(|slot| is_about(sight, planned, &slot.name))
        };
        self.besides = all_next(sight, |planned| !of_a_slot(planned));
        let of_none = |finding: &&Finding| !slots.iter().any(|it| is_of(sight, finding, &it.name));
        self.findings = findings(sight).filter(of_none).map(said).collect();
        if sight.phase != Phase::Live {
            VISIT_AT_THE_END.clone_into(&mut self.visit);
        }
        if let Some(wait) = sight.plan.wait.as_ref().filter(|_| self.stopped.is_none()) {
            let (at_most, reason) = (wait.at_most, &wait.reason);
            let visit = &self.visit;
            self.visit = format!("{visit}; then: {reason} (up to {at_most})");
        }
    }

    /// Whether it is being deleted.
    pub(super) fn is_ending(&self) -> bool {
        let phase = self.phase.as_deref();
        phase.is_some_and(|phase| phase.starts_with("is being deleted"))
    }

    /// Which object: `Cluster demo`.
    #[cfg(feature = "dev")]
    pub(crate) fn name(&self) -> &str {
        &self.object
    }

    /// Only what is about one slot.
    ///
    /// # Errors
    /// There is no such slot: which there are.
    pub(super) fn only(mut self, slot: &str) -> anyhow::Result<Self> {
        if !self.slots.iter().any(|seen| seen.name == slot) {
            let slots: Vec<_> = self.slots.iter().map(|slot| slot.name.as_str()).collect();
            anyhow::bail!("there is no slot {slot}; there are: {}", slots.join(", "));
        }
        self.slots.retain(|seen| seen.name == slot);
        self.besides.clear();
        self.findings.clear();
        Ok(self)
    }
}

/// Why the engine cannot be asked, as the condition will say it.
fn why(told: &Conditions) -> String {
    let ready = told.ready();
    ready.map_or_else(String::new, |ready| {
        format!("{}: {}", ready.reason, ready.message)
    })
}

fn said(finding: &Finding) -> String {
    format!("{}: {finding}", finding.condition())
}

fn after(wait: &Wait) -> String {
    format!("after {}", wait.at_most)
}

fn slot_seen(sight: &Sight, slot: &Slot) -> SlotSeen {
    let filled: Vec<Fill> = filled(sight, &slot.name)
        .map(|filled| fill(sight, filled))
        .collect();
    let findings: Vec<&Finding> = findings(sight)
        .filter(|finding| is_of(sight, finding, &slot.name))
        .collect();
    let empty = filled.is_empty().then(|| empty(sight, slot, &findings));
    SlotSeen {
        name: slot.name.to_string(),
        kind: slot.kind.noun.to_owned(),
        filled,
        empty,
        findings: findings.into_iter().map(said).collect(),
        next: all_next(sight, |planned| is_about(sight, planned, &slot.name)),
    }
}

/// What fills a slot: now; or, where a read that may be old shows nothing of it, by what the wait shows.
fn filled<'s>(sight: &'s Sight, slot: &'s SlotName) -> impl Iterator<Item = &'s Filled> {
    let imagined = sight.to_come().contains(&slot);
    let its = move |filled: &&Filled| filled.slot == *slot && !imagined;
    let (now, later) = (&sight.plan.report.filled, &sight.plan.later.filled);
    let all = if now.iter().any(|filled| its(&filled)) {
        now
    } else {
        later
    };
    all.iter().filter(its)
}

/// What a person should know: now, and what a wait does not change.
fn findings(sight: &Sight) -> impl Iterator<Item = &Finding> {
    let now = &sight.plan.report.findings;
    let later = sight.plan.later.findings.iter();
    now.iter()
        .chain(later.filter(move |finding| !now.contains(finding)))
}

/// Whether a finding is about a slot, or about what fills it.
fn is_of(sight: &Sight, finding: &Finding, slot: &SlotName) -> bool {
    if let Some(its) = finding.slot() {
        return its == slot;
    }
    let targets = finding.targets();
    filled(sight, slot).any(|filled| targets.contains(&&filled.target))
}

/// Why nothing fills a slot.
fn empty(sight: &Sight, slot: &Slot, findings: &[&Finding]) -> String {
    if !findings.is_empty() {
        return "nothing fills it, because of what was found".to_owned();
    }
    // What is only for something that is somebody else's comes with it.
    if let Some(host) = &slot.only_for
        && let Some(used) = filled(sight, host).find(|it| matches!(it.verdict, Verdict::Used))
    {
        let host = words::resource(&used.target);
        return format!("none of ours is needed: what {host} has is used with it");
    }
    let create = |planned: &&Planned| match &planned.step {
        Step::Create(create) => create.slot == slot.name,
        _ => false,
    };
    if sight.plan.now.iter().any(|planned| create(&planned)) {
        return "nothing fills it yet".to_owned();
    }
    let mut known = sight.ledger.known.iter();
    let known = known.find(|(_, known)| known.slot == slot.name && known.origin != Origin::Found);
    if let Some((target, _)) = known.filter(|_| sight.phase == Phase::Live) {
        return format!(
            "nothing fills it: {}, which did, is gone",
            words::resource(target)
        );
    }
    if sight.phase != Phase::Live {
        let words = if slot.is_own() {
            "nothing fills it any more"
        } else {
            "what was used for it stays, and loses what we added"
        };
        return words.to_owned();
    }
    match &sight.plan.wait {
        Some(wait) => format!("nothing fills it; the operator waits: {}", wait.reason),
        None if sight.plan.report.findings.is_empty() => "nothing fills it".to_owned(),
        None => "nothing fills it before what was found elsewhere is settled".to_owned(),
    }
}

fn fill(sight: &Sight, filled: &Filled) -> Fill {
    let (verdict, mut why) = words::verdict(&filled.verdict);
    let mut known = sight.ledger.known.iter();
    let was_ours = known.any(|(target, it)| *target == filled.target && it.origin != Origin::Found);
    if was_ours && matches!(filled.verdict, Verdict::Unmarked) {
        "it was ours, and somebody removed our mark: adopt it, or delete it".clone_into(&mut why);
    }
    let nothing = Found::default();
    let found = sight.found.get(&filled.target).unwrap_or(&nothing);
    let id = filled.target.id.to_string();
    Fill {
        name: match &*found.name {
            name if name == id => String::new(),
            name => name.to_owned(),
        },
        id,
        verdict: verdict.to_owned(),
        why,
        parts: parts(sight, filled, found),
    }
}

/// What is inside a resource, and what we added to one that is not ours.
fn parts(sight: &Sight, filled: &Filled, found: &Found) -> Vec<PartSeen> {
    let part = |what, verdict: &str, why: &str| PartSeen {
        what,
        verdict: verdict.to_owned(),
        why: why.to_owned(),
    };
    let target = &filled.target;
    if !matches!(filled.verdict, Verdict::Owned(_)) {
        let traces = sight.ledger.traces.keys();
        return traces
            .filter(|trace| trace.on == *target)
            .map(|trace| part(words::trace(trace), "Owned", "added by us"))
            .collect();
    }
    let known = sight.ledger.known.get(target);
    let wrote = known.and_then(|known| known.wrote.as_ref());
    let inside = found.inside.iter().map(|inside| {
        let what = format!("{} {}", inside.kind.noun, inside.part.key);
        let this = (inside.kind.name, inside.part.key.clone());
        let others = inside.others.iter().map(|claim| sight.names.of(claim));
        let others: Vec<String> = others.collect();
        if !others.is_empty() {
            let others = others.join(", ");
            let own = sight.claim.hash();
            let mut marks = OwnershipMark::all(target.kind.carrier, &inside.part.tags);
            let ours = marks.any(|mark| mark.claim == *own);
            return if ours {
                part(
                    what,
                    "Owned",
                    &format!("inside what we own; needed by {others}, too"),
                )
            } else {
                part(what, "Foreign", &format!("put there by {others}, and left"))
            };
        }
        if wrote.is_none_or(|parts| parts.contains(&this)) {
            return part(what, "Owned", "inside what we own");
        }
        part(what, "Foreign", "put there by somebody else, and left")
    });
    inside.collect()
}

/// The Steps to come, each with its wait.
fn all_next(sight: &Sight, of: impl Fn(&Planned) -> bool) -> Vec<Next> {
    let plan = &sight.plan;
    let after = plan.wait.as_ref().map(after);
    let next = |planned: &Planned, after: Option<String>| Next {
        step: step(planned, sight),
        because: planned.reason.to_string(),
        after,
    };
    let now = plan.now.iter().filter(|planned| of(planned));
    let then = plan.then.iter().filter(|planned| of(planned));
    now.map(|planned| next(planned, None))
        .chain(then.map(|planned| next(planned, after.clone())))
        .collect()
}

/// A Step with the resources that it is about.
fn step(planned: &Planned, sight: &Sight) -> String {
    let step = &planned.step;
    let parts = words::parts(step).join(", ");
    let Some(preposition) = words::preposition(step) else {
        return format!("{} {parts}", step.verb());
    };
    let name = |target: &Target| {
        let found = sight.found.get(target);
        found.map_or("", |found| &*found.name)
    };
    let on = words::resources(step.targets(), name);
    format!("{} {parts} {preposition} {on}", step.verb())
}

/// Whether a Step is about what fills a slot, or will.
fn is_about(sight: &Sight, planned: &Planned, slot: &SlotName) -> bool {
    if let Step::Create(create) = &planned.step {
        return create.slot == *slot;
    }
    let targets = planned.step.targets();
    let new = |target: &Target| target.id.as_str() == driver::new_id(slot);
    if targets.iter().any(new) {
        return true;
    }
    filled(sight, slot).any(|filled| targets.contains(&filled.target))
}
