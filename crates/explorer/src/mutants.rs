//! Mutants: engines that are broken on purpose, one rule each. The explorer must catch them all.

use ownership::claim::ClaimHash;
use ownership::error::{Class, CloudError};
use ownership::mark::{Dialect, OwnershipMark, Unmarked};
use ownership::secret::Digests;
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
    /// How the names of the scenarios begin that are walked first: there it has shown before.
    pub shows: &'static str,
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
    ($($name:literal in $shows:literal: $mutant:ident { $($body:tt)* })*) => {
        $(struct $mutant;
        impl Rules for $mutant { $($body)* })*

        /// Every mutant.
        pub(crate) fn all() -> Vec<Mutant> {
            let mut all = vec![$(Mutant {
                name: $name,
                shows: $shows,
                runner: |scenario, chooser, turns| run(scenario, &$mutant, chooser, turns),
                flaw: None,
            },)*];
            all.extend(FLAWED.map(|(name, shows, flaw)| Mutant {
                name,
                shows,
                runner: product,
                flaw: Some(flaw),
            }));
            all
        }
    };
}

const FLAWED: [(&str, &str, Flaw); 1] = [(
    "intent in status",
    "synthetic/narrow-nonce/taken-in-flight",
    Flaw::IntentsInStatus,
)];

fn product(scenario: &Scenario, chooser: crate::chooser::Chooser, turns: &[bool]) -> Outcome {
    run(scenario, &ownership::Freehold, chooser, turns)
}

mutants! {
    "skip the UUID check" in "synthetic/narrow/namesake": SkipUuid {
        fn same_claim(&self, _: &ClaimHash, _: &ClaimHash) -> bool { true }
    }
    "ignore the holder" in "synthetic/narrow/two-claims/taken-over-twice": IgnoreHolder {
        fn holds(&self, _: &Identity, _: &OwnershipMark) -> bool { true }
    }
    "trust the recorded id" in "synthetic/narrow/glancing": TrustRecordedId {
        fn recorded_id_is_proof(&self) -> bool { true }
    }
    "own by name alone" in "synthetic/narrow/legacy-with-evidence": OwnByName {
        fn name_is_proof(&self) -> bool { true }
    }
    "adopt a legacy mark at first sight" in "synthetic/narrow/legacy": AdoptLegacy {
        fn legacy_needs_evidence(&self) -> bool { false }
    }
    "use what a strict dialect refuses" in "synthetic/narrow/name-taken": UseUnmarked {
        fn unmarked(&self, _: &Dialect) -> Unmarked { Unmarked::Use }
    }
    "refer to a recorded id, not to what fills the slot" in "synthetic/valuable/twins": ReferToRecords {
        fn refers_to_records(&self) -> bool { true }
    }
    "repeat while its operation runs" in "synthetic/operated/glancing": RepeatWhileRunning {
        fn follows_operations(&self) -> bool { false }
        fn hidden_for(&self, _: &Kind) -> Millis { Millis(0) }
    }
    "forget how long a create may not show" in "synthetic/operated/glancing": ForgetHidden {
        fn hidden_for(&self, _: &Kind) -> Millis { Millis(0) }
    }
    "wait for ever for what failed" in "synthetic/shrinking-data/replaced": WaitForFailed {
        fn believes_failures(&self) -> bool { false }
    }
    "delete again what is going" in "synthetic/kept/glancing": DeleteAgain {
        fn waits_for_what_goes(&self) -> bool { false }
    }
    "remake what may only be reported" in "synthetic/kept/stranger": RemakeLost {
        fn only_reports_lost(&self, _: &Kind) -> bool { false }
    }
    "end before what replaces it is there" in "synthetic/shrinking-data/replaced": EndFirst {
        fn moves_first(&self) -> bool { false }
    }
    "end a slot that this build does not know" in "synthetic/shrinking/unknown": EndUnknown {
        fn ends_only_what_it_knows(&self) -> bool { false }
    }
    "shrink by a blueprint that is not whole" in "synthetic/shrinking/partial": ShrinkByPart {
        fn shrinks_by_what_is_partial(&self) -> bool { true }
    }
    "end data because a fact changed" in "synthetic/shrinking-data/facts": EndDataByFact {
        fn keeps_data_that_facts_drop(&self) -> bool { false }
    }
    "end what is still needed" in "synthetic/shrinking/needed": EndNeeded {
        fn spares_what_is_needed(&self) -> bool { false }
    }
    "make children without a note" in "synthetic/objects/late": ChildrenWithoutNote {
        fn announces_unrecorded(&self) -> bool { false }
    }
    "shrink by the ledger alone" in "synthetic/objects/glancing": ShrinkByLedger {
        fn finds_unrecorded(&self) -> bool { false }
    }
    "ask the first place" in "synthetic/in-places": AskTheFirstPlace {
        fn asks_each_place(&self) -> bool { false }
    }
    "let a slot move to another place" in "synthetic/in-places": LetSlotsMove {
        fn refuses_to_move(&self) -> bool { false }
    }
    "create before look-up" in "synthetic/narrow/term-100": CreateBlindly {
        fn looks_before_create(&self) -> bool { false }
    }
    "no intent" in "synthetic/narrow/two-writers": NoIntent {
        fn announces_creates(&self) -> bool { false }
    }
    "second create inside the settling time" in "synthetic/circumstantial-free-timed/lookalike-before": CreateTwice {
        fn repeats_create_at(&self, _: &Kind, _: u32, since: Tick) -> Tick { since }
    }
    "believe every absence at once" in "synthetic/narrow/lag": BelieveAbsence {
        fn settled_at(&self, _: &Kind, since: Tick) -> Tick { since }
    }
    "late effects never come" in "aws/iam-role/two-claims/one-comes-one-goes": NoLateEffects {
        fn late_effects_over_at(&self, _: &Kind, since: Tick) -> Tick { since }
    }
    "repeat a token with another secret" in "synthetic/secret-token/spec": RepeatAnySecret {
        fn repeats_with(&self, _: &Digests, _: &Digests) -> bool { true }
    }
    "give up what only its token shows" in "synthetic/secret-token/spec": GiveUpBlindly {
        fn doubts_given_up(&self) -> bool { false }
    }
    "reuse the attempt after a refusal" in "synthetic/secret-token/alone": ReuseAttempt {
        fn next_attempt(&self, last: u32) -> u32 { last.max(1) }
    }
    "forget rollback" in "synthetic/circumstantial-free-timed/lookalike-before": NoRollback {
        fn rolls_back(&self, _: &Kind, _: bool) -> bool { false }
    }
    "adopt whatever looks like the create's result" in "synthetic/circumstantial-free-timed/lookalike-before": AdoptLookalike {
        fn before_image_counts(&self) -> bool { false }
    }
    "reduce twins without condemning first" in "aws/internet-gateway/twins/two-writers": NoCondemning {
        fn condemns_twins(&self) -> bool { false }
    }
    "keep the recorded twin, whoever needs the other" in "synthetic/valuable/twins": KeepWrongTwin {
        fn keeps_needed_twin(&self) -> bool { false }
    }
    "reduce twins that hold data" in "synthetic/valuable/twins": ReduceValuables {
        fn spares_valuables(&self, _: &Kind) -> bool { false }
    }
    "mark again what was released" in "synthetic/narrow/glancing": MarkAgain {
        fn releases_unmarked(&self) -> bool { false }
    }
    "remove a guest's rule from our group" in "aws/iam-role/guest-by-parent": RemoveGuestRules {
        fn spares_marked_inner(&self) -> bool { false }
    }
    "remove the owner's rules from a used group" in "aws/iam-role/used/two-claims/taken-over-twice": RemoveOwnersRules {
        fn spares_inner_of_used(&self) -> bool { false }
    }
    "overwrite an existing tag" in "synthetic/narrow/cluster-key-there": OverwriteTags {
        fn respects_existing_tags(&self) -> bool { false }
    }
    "remove tags we did not add" in "kkp/cluster/glancing": RemoveAnyTag {
        fn removes_only_traces(&self) -> bool { false }
    }
    "leave traces without a note" in "synthetic/narrow/name-used/namesakes": NoTraceNotes {
        fn announces_traces(&self) -> bool { false }
    }
    "end one resource a slot" in "synthetic/narrow/term-100": EndByRecord {
        fn ends_by_marks(&self) -> bool { false }
        fn looks_again_at_the_end(&self) -> bool { false }
    }
    "drop the finalizer with an open intent" in "synthetic/narrow/legacy-with-evidence": ForgetIntents {
        fn intents_hold_the_end(&self) -> bool { false }
    }
    "drop the finalizer although something blocks" in "aws/iam-role/guest-by-parent": IgnoreBlockers {
        fn blockers_hold_the_end(&self) -> bool { false }
    }
    "drop the finalizer while a record does not show" in "synthetic/narrow/lag": ForgetRecords {
        fn records_hold_the_end(&self) -> bool { false }
    }
    "delete what was to be retained" in "synthetic/narrow/two-writers-end/retain": IgnoreRetain {
        fn honours_retain(&self) -> bool { false }
    }
    "forget that calls can be late" in "synthetic/circumstantial-free-timed/lookalike-before": NothingIsLate {
        fn late_effects_over_at(&self, kind: &Kind, since: Tick) -> Tick { since + kind.settling }
    }
    "repeat under an expired token" in "synthetic/token-token-free-timed/expired-token": TokensNeverExpire {
        fn token_expired(&self, _: &Kind, _: Millis, _: Millis) -> bool { false }
    }
    "take a recorded name for proof" in "aws/instance-profile/recreated": TrustNames {
        fn names_prove_nothing(&self) -> bool { false }
    }
    "an upsert's answer proves" in "synthetic/narrow-nonce/taken-in-flight": TrustUpserts {
        fn answer_proves(&self, _: &Kind) -> bool { true }
    }
    "use the first of two" in "synthetic/found/two-by-property": UseTheFirst {
        fn refuses_to_choose(&self) -> bool { false }
    }
    "another claim's parent mark proves" in "aws/iam-role/two-claims/one-comes-one-goes": TrustParentMarks {
        fn names_our_part(&self, _: &str, _: &str) -> bool { true }
    }
    "remove what others put into ours" in "aws/security-group/others-parts": RemoveGuests {
        fn spares_guests(&self) -> bool { false }
    }
    "count on another claim's part" in "aws/iam-role/used/two-claims/taken-over-twice": CountOnOthers {
        fn joins_marked_parts(&self) -> bool { false }
    }
    "trust the co-mark at once" in "aws/iam-role/two-claims/one-comes-one-goes": TrustCoMark {
        fn joined_at(&self, _: &Kind, since: Tick) -> Tick { since }
    }
    "end while a call may still land" in "aws/instance-profile/two-claims/one-name": ForgetCalls {
        fn waits_out_calls(&self) -> bool { false }
    }
    "forget that a name can be taken again" in "aws/iam-role/heir/late": ForgetNames {
        fn names_outlive_claims(&self) -> bool { false }
    }
    "free a name while a call may still land" in "aws/instance-profile/two-claims/one-name": FreeAtOnce {
        fn frees_names_last(&self) -> bool { false }
    }
    "let dependents go before what they need" in "synthetic/at-once": DependentsFirst {
        fn waits_for_dependencies(&self) -> bool { false }
    }
    "two Steps on one resource at once" in "synthetic/at-once": TwoSteps {
        fn one_step_a_resource(&self) -> bool { false }
    }
    "forget the other outcomes when one fails" in "synthetic/at-once": ForgetOutcomes {
        fn takes_in_every_outcome(&self) -> bool { false }
    }
    "overlook who holds what is inside" in "aws/iam-role/used/two-claims/taken-over-twice": OverlookHolders {
        fn parts_name_holders(&self) -> bool { false }
    }
    "end what was left behind in somebody's network" in "synthetic/left-behind": EndElsewhere {
        fn ends_leftovers_only_in_ours(&self) -> bool { false }
    }
    "end what was left behind without being asked" in "synthetic/left-behind": EndUnasked {
        fn asks_before_leftovers_end(&self) -> bool { false }
    }
    "sweep a namesake's marks" in "synthetic/narrow/two-claims/namesakes/last-first": SweepNamesakes {
        fn spares_namesakes(&self) -> bool { false }
    }
    "treat throttled as fatal" in "synthetic/narrow/two-writers-end": FatalThrottling {
        fn class(&self, error: &CloudError) -> Class {
            match &error.class {
                Class::Throttled => Class::Fatal,
                class => class.clone(),
            }
        }
    }
    "treat a lost answer as a failure" in "synthetic/circumstantial-free-timed/a1-lifted": LostIsFailed {
        fn class(&self, error: &CloudError) -> Class {
            match &error.class {
                Class::Unknown => Class::Retryable,
                class => class.clone(),
            }
        }
    }
}
