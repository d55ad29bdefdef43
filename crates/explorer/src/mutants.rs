//! Mutants: engines that are broken on purpose, one rule each. The explorer must catch them all.

use ownership::claim::ClaimHash;
use ownership::error::{Class, CloudError};
use ownership::mark::{Dialect, OwnershipMark, Unmarked};
use ownership::time::{Millis, Tick};
use ownership::{Identity, Kind, Rules};

use crate::run::{Outcome, run};
use crate::scenario::Scenario;
use crate::search::Runner;

/// A broken engine.
#[derive(Clone, Copy)]
pub(crate) struct Mutant {
    /// What is broken.
    pub name: &'static str,
    /// Runs a schedule with it.
    pub runner: Runner,
    /// What is wrong around it.
    pub flaw: Option<Flaw>,
}

/// What can be wrong around an engine whose rules are the product's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Intents are lost with the status: the place where they must not be.
    IntentsInStatus,
}

macro_rules! mutants {
    ($($name:literal: $mutant:ident { $($body:tt)* })*) => {
        $(struct $mutant;
        impl Rules for $mutant { $($body)* })*

        /// Every mutant.
        pub(crate) fn all() -> Vec<Mutant> {
            let mut all = vec![$(Mutant {
                name: $name,
                runner: |scenario, chooser, turns| run(scenario, &$mutant, chooser, turns),
                flaw: None,
            },)*];
            all.extend(FLAWED.map(|(name, flaw)| Mutant {
                name,
                runner: product,
                flaw: Some(flaw),
            }));
            all
        }
    };
}

const FLAWED: [(&str, Flaw); 1] = [("intent in status", Flaw::IntentsInStatus)];

fn product(scenario: &Scenario, chooser: crate::chooser::Chooser, turns: &[bool]) -> Outcome {
    run(scenario, &ownership::Freehold, chooser, turns)
}

mutants! {
    "skip the UUID check": SkipUuid {
        fn same_claim(&self, _: &ClaimHash, _: &ClaimHash) -> bool { true }
    }
    "ignore the holder": IgnoreHolder {
        fn holds(&self, _: &Identity, _: &OwnershipMark) -> bool { true }
    }
    "trust the recorded id": TrustRecordedId {
        fn recorded_id_is_proof(&self) -> bool { true }
    }
    "own by name alone": OwnByName {
        fn name_is_proof(&self) -> bool { true }
    }
    "adopt a legacy mark at first sight": AdoptLegacy {
        fn legacy_needs_evidence(&self) -> bool { false }
    }
    "use what a strict dialect refuses": UseUnmarked {
        fn unmarked(&self, _: &Dialect) -> Unmarked { Unmarked::Use }
    }
    "create before look-up": CreateBlindly {
        fn looks_before_create(&self) -> bool { false }
    }
    "no intent": NoIntent {
        fn announces_creates(&self) -> bool { false }
    }
    "second create inside the settling time": CreateTwice {
        fn repeats_create_at(&self, _: &Kind, _: u32, since: Tick) -> Tick { since }
    }
    "believe every absence at once": BelieveAbsence {
        fn settled_at(&self, _: &Kind, since: Tick) -> Tick { since }
    }
    "late effects never come": NoLateEffects {
        fn late_effects_over_at(&self, _: &Kind, since: Tick) -> Tick { since }
    }
    "reuse the attempt after a refusal": ReuseAttempt {
        fn next_attempt(&self, last: u32) -> u32 { last.max(1) }
    }
    "forget rollback": NoRollback {
        fn rolls_back(&self, _: &Kind, _: bool) -> bool { false }
    }
    "adopt whatever looks like the create's result": AdoptLookalike {
        fn before_image_counts(&self) -> bool { false }
    }
    "reduce twins without condemning first": NoCondemning {
        fn condemns_twins(&self) -> bool { false }
    }
    "keep the recorded twin, whoever needs the other": KeepWrongTwin {
        fn keeps_needed_twin(&self) -> bool { false }
    }
    "reduce twins that hold data": ReduceValuables {
        fn spares_valuables(&self, _: &Kind) -> bool { false }
    }
    "mark again what was released": MarkAgain {
        fn releases_unmarked(&self) -> bool { false }
    }
    "remove a guest's rule from our group": RemoveGuestRules {
        fn spares_marked_inner(&self) -> bool { false }
    }
    "remove the owner's rules from a used group": RemoveOwnersRules {
        fn spares_inner_of_used(&self) -> bool { false }
    }
    "overwrite an existing tag": OverwriteTags {
        fn respects_existing_tags(&self) -> bool { false }
    }
    "remove tags we did not add": RemoveAnyTag {
        fn removes_only_traces(&self) -> bool { false }
    }
    "leave traces without a note": NoTraceNotes {
        fn announces_traces(&self) -> bool { false }
    }
    "end one resource a slot": EndByRecord {
        fn ends_by_marks(&self) -> bool { false }
        fn looks_again_at_the_end(&self) -> bool { false }
    }
    "drop the finalizer with an open intent": ForgetIntents {
        fn intents_hold_the_end(&self) -> bool { false }
    }
    "drop the finalizer although something blocks": IgnoreBlockers {
        fn blockers_hold_the_end(&self) -> bool { false }
    }
    "drop the finalizer while a record does not show": ForgetRecords {
        fn records_hold_the_end(&self) -> bool { false }
    }
    "delete what was to be retained": IgnoreRetain {
        fn honours_retain(&self) -> bool { false }
    }
    "forget that calls can be late": NothingIsLate {
        fn late_effects_over_at(&self, kind: &Kind, since: Tick) -> Tick { since + kind.settling }
    }
    "repeat under an expired token": TokensNeverExpire {
        fn token_expired(&self, _: &Kind, _: Millis, _: Millis) -> bool { false }
    }
    "take a recorded name for proof": TrustNames {
        fn names_prove_nothing(&self) -> bool { false }
    }
    "remove what others put into ours": RemoveGuests {
        fn spares_guests(&self) -> bool { false }
    }
    "count on another claim's part": CountOnOthers {
        fn joins_marked_parts(&self) -> bool { false }
    }
    "trust the co-mark at once": TrustCoMark {
        fn joined_at(&self, _: &Kind, since: Tick) -> Tick { since }
    }
    "end while a call may still land": ForgetCalls {
        fn waits_out_calls(&self) -> bool { false }
    }
    "forget that a name can be taken again": ForgetNames {
        fn names_outlive_claims(&self) -> bool { false }
    }
    "free a name while a call may still land": FreeAtOnce {
        fn frees_names_last(&self) -> bool { false }
    }
    "overlook who holds what is inside": OverlookHolders {
        fn parts_name_holders(&self) -> bool { false }
    }
    "sweep a namesake's marks": SweepNamesakes {
        fn spares_namesakes(&self) -> bool { false }
    }
    "treat throttled as fatal": FatalThrottling {
        fn class(&self, error: &CloudError) -> Class {
            match &error.class {
                Class::Throttled => Class::Fatal,
                class => class.clone(),
            }
        }
    }
    "treat a lost answer as a failure": LostIsFailed {
        fn class(&self, error: &CloudError) -> Class {
            match &error.class {
                Class::Unknown => Class::Retryable,
                class => class.clone(),
            }
        }
    }
}
