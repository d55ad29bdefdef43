//! The outcome of a pass, as conditions that a person understands.

use std::collections::BTreeMap;

use api::Condition;
use cloud_port::PassEnd;
use cloud_port::driver::{Plan, Report};
use cloud_port::words;
use ownership::decide::Filled;
use ownership::error::Class;
use ownership::input::InputError;
use ownership::verdict::Owner;
use ownership::{Blueprint, CloudError, Finding, Phase, Reason, Verdict};

use super::events::{Note, REPORT};
use super::others::Names;
use super::system::Trouble;

/// What is told after a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The conditions by type.
    pub by_type: BTreeMap<&'static str, Condition>,
    /// Whether everything that is wanted was reconciled in full.
    pub reconciled: bool,
    /// The class of the cloud's error that ended the pass.
    pub failure: Option<&'static str>,
    /// Whether everything was looked at, so that what is not told here does not hold.
    pub looked: bool,
    /// Whether an event tells already what was refused.
    pub(crate) explained: bool,
}

pub(super) const READY: &str = "Ready";
pub(super) const PAUSED: &str = "Paused";
const SHARED: &str = "Shared";
/// The reason of `Invalid`.
pub(super) const INVALID_FIELD: &str = "InvalidField";
const REFUSED: &str = "Refused";
const OBSERVED: &str = "Observed";

/// Why an object is not ready where no other condition says it: told as an event, too. That something
/// settles or is being deleted is no news.
const ALONE: [&str; 4] = [REFUSED, "Waiting", "Retrying", "Throttled"];

/// What is told and warns of nothing.
const NORMAL: [&str; 4] = [READY, PAUSED, OBSERVED, "Waiting"];

impl Conditions {
    /// The types of conditions that we tell.
    pub(crate) const TYPES: [&'static str; 8] = [
        READY, "Conflict", "Blocked", "MarkLost", "Degraded", "Invalid", SHARED, PAUSED,
    ];

    /// Whether everything is as it should be.
    pub fn is_ready(&self) -> bool {
        self.ready().is_some_and(|ready| ready.holds)
    }

    /// Whether something is wrong that does not go by itself, or the cloud failed.
    pub(crate) fn is_trouble(&self) -> bool {
        let quiet = [READY, SHARED, PAUSED];
        let mut others = self
            .by_type
            .iter()
            .filter(|(kind, _)| !quiet.contains(kind));
        self.failure.is_some() || others.any(|(_, condition)| condition.holds)
    }

    /// Whether everything is as it should be, and why or why not.
    pub fn ready(&self) -> Option<&Condition> {
        self.by_type.get(READY)
    }

    /// Nobody may touch the object's resources.
    pub(crate) fn paused(by: &str) -> Self {
        let message = format!("nothing is created, changed or deleted: {by}");
        let mut told = Self::default();
        told.say(PAUSED, true, "Paused", message.clone());
        told.say(READY, false, "Paused", message);
        told
    }

    /// The object cannot be worked on.
    pub(crate) fn trouble(trouble: &Trouble) -> Self {
        let mut told = Self::default();
        match trouble {
            Trouble::Input(error) | Trouble::Unwatched(error) => told.blame(error),
            Trouble::Cloud(error) => told.failed(error),
            Trouble::Waits(_) => told.say(READY, false, "Waiting", trouble.to_string()),
            Trouble::Paused(by) => return Self::paused(by),
            Trouble::Kubernetes(words) => told.say(READY, false, "Retrying", words.clone()),
        }
        told
    }

    /// Something that a person wrote is wrong.
    pub(crate) fn blame(&mut self, error: &InputError) {
        self.say("Invalid", true, INVALID_FIELD, error.to_string());
        self.say(READY, false, "Invalid", error.to_string());
    }

    /// Nobody can tell which claim the object is, or another object is this claim.
    pub(crate) fn conflict(words: &str) -> Self {
        let mut told = Self::default();
        told.say("Conflict", true, "Identity", words.to_owned());
        told.say(READY, false, "Conflict", words.to_owned());
        told
    }

    /// Others need the object until they have ended.
    pub(crate) fn held(words: &str) -> Self {
        let mut told = Self::default();
        told.say("Blocked", true, "Guests", words.to_owned());
        told.say(READY, false, "Blocked", words.to_owned());
        told
    }

    /// The object names a cloud that is not served here, and did not always.
    pub(crate) fn not_served() -> Self {
        let mut told = Self {
            looked: true,
            ..Self::default()
        };
        let message = "it names no cloud that Freehold serves here: nothing is done for it";
        told.say(READY, false, "NotServed", message.to_owned());
        told
    }

    /// The deletion waits for something that a person must put right.
    pub(crate) fn waits_for(error: &InputError) -> Self {
        let message = format!("its deletion waits: {error}");
        let mut told = Self::default();
        told.say("Blocked", true, "Blocked", message.clone());
        told.say(READY, false, "Blocked", message);
        told
    }

    /// Only looking: what would be done.
    pub(crate) fn observed(steps: &[String], plan: &Plan) -> Self {
        let mut told = Self {
            looked: true,
            ..Self::default()
        };
        let findings = &plan.report.findings;
        told.found(findings);
        let would = match (steps, &plan.wait) {
            ([], None) => "nothing is to be done".to_owned(),
            ([], Some(wait)) => format!("this would be waited for: {}", wait.reason),
            (steps, _) => format!("this would be done: {}", steps.join("; ")),
        };
        told.say(
            READY,
            steps.is_empty() && plan.wait.is_none() && findings.is_empty(),
            OBSERVED,
            format!("freehold.dev/management is observe; {would}"),
        );
        told
    }

    /// A pass has ended.
    pub(crate) fn of(end: &PassEnd, phase: Phase, was_ready: bool) -> Self {
        let mut told = Self::default();
        match end {
            PassEnd::Rest(report, _) => {
                told.looked = true;
                if !told.found(&report.findings) {
                    told.reconciled = true;
                    let message = "all resources are in place";
                    told.say(READY, true, "Converged", message.to_owned());
                }
            }
            PassEnd::Wait(_, reason, report) => {
                let word = if phase == Phase::Live {
                    "Settling"
                } else {
                    "Deleting"
                };
                told.looked = true;
                // What a read does not show may still be there: that takes no readiness away.
                let may_be_there = matches!(reason, Reason::AwaitSettling(_)) && was_ready;
                let stays = may_be_there && phase == Phase::Live;
                if !told.found(&report.findings) && !stays {
                    told.say(READY, false, word, reason.to_string());
                }
            }
            PassEnd::Done(report) => {
                told.found(&report.findings);
                told.say(READY, false, "Ended", "nothing of it is left".to_owned());
            }
            PassEnd::Failed(error, report) => {
                told.found(&report.findings);
                told.failed(error);
            }
            PassEnd::Ledger(error) => told.say(READY, false, "Retrying", error.to_string()),
            PassEnd::NotNow(_) => {
                let message = "another replica has just led, or is about to";
                told.say(READY, false, "Retrying", message.to_owned());
            }
        }
        told
    }

    /// Tells of what is somebody else's and fills a slot of ours all the same: the object names it, or
    /// it has our name and the served API says so. That keeps nobody from being ready.
    pub(crate) fn share(&mut self, report: &Report, blueprint: &Blueprint, names: &Names) {
        let used = |filled: &&Filled| matches!(filled.verdict, Verdict::Used);
        let shared = report.filled.iter().filter(used).filter_map(|filled| {
            let slot = blueprint.slot(&filled.slot).filter(|slot| slot.is_own())?;
            let found = filled.owner.is_none() && filled.name == slot.label;
            Some((filled, found))
        });
        let mut told: Vec<String> = Vec::new();
        let mut found: Vec<String> = Vec::new();
        for (filled, by_name) in shared {
            let resource = words::resource(&filled.target);
            let resource = format!("{resource} ({})", filled.slot);
            let whose = match &filled.owner {
                Some(Owner::Claim(other) | Owner::Disputed(other)) => {
                    format!("which is {}'s", names.of(&other.hash))
                }
                Some(Owner::Named(name)) => format!("which is marked for the cluster {name}"),
                Some(Owner::Legacy) => "which is marked for a cluster of this name".to_owned(),
                None => "which has no owner's mark".to_owned(),
            };
            if by_name {
                found.push(resource);
            } else {
                told.push(format!(
                    "{resource}, {whose}, is used because this object names it"
                ));
            }
        }
        if !found.is_empty() {
            let (was, is) = if found.len() == 1 {
                ("was", "is")
            } else {
                ("were", "are")
            };
            told.push(format!(
                "{} {was} there with this cluster's name and without an owner's mark, and {is} used as \
                 the served API says (freehold.dev/unmarked: conflict refuses such)",
                found.join(", ")
            ));
        }
        if !told.is_empty() {
            let what = "only our own rules, policies and tags are added, and removed at the end";
            let message = format!("{}: {what}", told.join("; "));
            self.say(SHARED, true, SHARED, message);
            if let Some(ready) = self.by_type.get_mut(READY).filter(|ready| ready.holds) {
                "all resources are in place; some are used and not ours: see the condition Shared"
                    .clone_into(&mut ready.message);
            }
        }
    }

    fn failed(&mut self, error: &CloudError) {
        self.failure = Some(class(&error.class));
        let word = match error.class {
            Class::Fatal => REFUSED,
            Class::Throttled => "Throttled",
            _ => "Retrying",
        };
        self.say(READY, false, word, format!("the cloud says {error}"));
    }

    /// Tells what was found; whether that is anything. A finding is why the object is not ready,
    /// whatever else is waited for.
    fn found(&mut self, findings: &[Finding]) -> bool {
        if let Some(first) = findings.first() {
            self.say(READY, false, first.condition(), first.to_string());
        }
        for finding in findings {
            let condition = self
                .by_type
                .entry(finding.condition())
                .or_insert_with(|| Condition {
                    holds: true,
                    reason: finding.condition().to_owned(),
                    message: String::new(),
                });
            if !condition.message.is_empty() {
                condition.message.push_str("; ");
            }
            condition.message.push_str(&finding.to_string());
        }
        !findings.is_empty()
    }

    /// What people should hear of at once, where `said` is what they were told before.
    pub(crate) fn news(&self, said: impl Fn(&str) -> Option<Condition>) -> Vec<Note> {
        let mut news = Vec::new();
        for (kind, condition) in &self.by_type {
            let before = said(kind);
            let held = before.as_ref().is_some_and(|before| before.holds);
            let newly = before.is_none_or(|before| before.reason != condition.reason);
            let reason = match *kind {
                READY if condition.reason == OBSERVED => Some(OBSERVED),
                READY if condition.holds => (!held || newly).then_some(READY),
                READY if condition.reason == REFUSED && self.explained => None,
                READY => ALONE.into_iter().find(|word| *word == condition.reason),
                _ => condition.holds.then_some(*kind),
            };
            if let Some(reason) = reason.filter(|_| said(kind).as_ref() != Some(condition)) {
                news.push(Note {
                    warns: !NORMAL.contains(&reason),
                    reason,
                    action: REPORT,
                    words: condition.message.clone(),
                });
            }
        }
        news
    }

    fn say(&mut self, kind: &'static str, holds: bool, reason: &str, message: String) {
        let condition = Condition {
            holds,
            reason: reason.to_owned(),
            message,
        };
        self.by_type.insert(kind, condition);
    }
}

/// A class of errors in one word.
fn class(class: &Class) -> &'static str {
    match class {
        Class::Fatal => "fatal",
        Class::Retryable => "retryable",
        Class::Throttled => "throttled",
        Class::Blocked(_) => "blocked",
        Class::Unknown => "unknown",
        Class::NotFound => "not-found",
        Class::Exists => "exists",
        Class::TokenMismatch => "token-mismatch",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_has_a_page_that_says_what_to_do() {
        let page = include_str!("../../../../docs/conditions.md");
        let headings: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .filter(|heading| *heading != "Alerts")
            .collect();
        assert_eq!(headings, Conditions::TYPES);
        for reason in ALONE
            .into_iter()
            .chain([OBSERVED, "Settling", "Deleting", "Converged"])
        {
            assert!(page.contains(&format!("| `{reason}` |")), "{reason}");
        }
    }
}
