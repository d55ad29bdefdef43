//! The rules that keep the laws, one small decision each.
//!
//! Every method is a place where an engine could go wrong, with the law that would break. The
//! product uses [`struct@Freehold`], which takes them all as they stand here. Tests replace one at a time
//! and require that the explorer notices (`crates/explorer`, mutants).

use crate::claim::ClaimHash;
use crate::error::{Class, CloudError};
use crate::kind::{BirthProof, CreateMode, Kind};
use crate::life::Lost;
use crate::mark::{Dialect, OwnershipMark, Unmarked};
use crate::secret::Digests;
use crate::time::{FRESH, Millis, REQUEST_TIMEOUT, Tick};
use crate::verdict::Identity;

/// The rules of the ownership engine.
pub trait Rules: Sync {
    /// Law 1, identity: a mark is ours only if it names this very claim, UUID included.
    fn same_claim(&self, ours: &ClaimHash, mark: &ClaimHash) -> bool {
        ours == mark
    }

    /// Law 5, identity: a part marked by another management cluster is not changed before its
    /// take-over has been confirmed; and not after that one has taken it back, which its higher
    /// generation says.
    fn holds(&self, ours: &Identity, mark: &OwnershipMark) -> bool {
        let confirmed = || ours.taken_over.get(&mark.holder);
        ours.holder == mark.holder || confirmed().is_some_and(|upto| mark.generation <= *upto)
    }

    /// Law 1: a mark on the parent proves what it names only if it is this very claim's.
    fn names_our_part(&self, ours: &str, tag: &str) -> bool {
        ours == tag
    }

    /// Law 6: a recorded id proves nothing; the mark on the resource does.
    fn recorded_id_is_proof(&self) -> bool {
        false
    }

    /// Law 1: a name proves nothing.
    fn name_is_proof(&self) -> bool {
        false
    }

    /// Law 4: our name in a dialect, without Freehold's mark, is adopted only on evidence.
    fn legacy_needs_evidence(&self) -> bool {
        true
    }

    /// Law 4: what our name without any mark means is the dialect's to say.
    fn unmarked(&self, dialect: &Dialect) -> Unmarked {
        dialect.unmarked()
    }

    /// Law 2: nothing is created before recorded id, marks and name have been looked up.
    fn looks_before_create(&self) -> bool {
        true
    }

    /// Law 2: before an intent closes because its name is taken, whoever has the name is looked up.
    fn looks_at_what_exists(&self) -> bool {
        true
    }

    /// Law 6: an id that is only a name proves no origin; the cloud's own unique id beside it does.
    fn names_prove_nothing(&self) -> bool {
        true
    }

    /// Law 2: what may be in a place is looked for there.
    fn asks_each_place(&self) -> bool {
        true
    }

    /// Law 2: a slot does not move. What fills it elsewhere is told, and nothing is made.
    fn refuses_to_move(&self) -> bool {
        true
    }

    /// Law 3: every create is announced in the ledger first.
    fn announces_creates(&self) -> bool {
        true
    }

    /// Law 3: creates that the ledger does not list one by one are announced together.
    fn announces_unrecorded(&self) -> bool {
        true
    }

    /// Law 3: what the ledger does not list is looked for by marks before the rest is told to be wanted.
    fn finds_unrecorded(&self) -> bool {
        true
    }

    /// Law 2: a create that may have taken effect is repeated at once only under a client token, and
    /// only once; otherwise not before every late effect has come and shown.
    fn repeats_create_at(&self, kind: &Kind, sends: u32, since: Tick) -> Tick {
        if kind.token.is_some() && sends == 1 {
            since
        } else {
            self.late_effects_over_at(kind, since)
        }
    }

    /// Assumption A3: T, the time within which a request takes effect after it was sent, or never.
    fn request_timeout(&self) -> Millis {
        REQUEST_TIMEOUT
    }

    /// Law 3: after this time an announced create, or trace, has taken effect and shows, or never
    /// will: it was sent within [`FRESH`] of the announcement, took effect within T (A3), and reads
    /// have caught up.
    fn late_effects_over_at(&self, kind: &Kind, since: Tick) -> Tick {
        since + FRESH + self.request_timeout() + self.hidden_for(kind) + kind.settling
    }

    /// Laws 2 and 3: what was accepted may not show for as long as its Kind says.
    fn hidden_for(&self, kind: &Kind) -> Millis {
        kind.course.hidden_for
    }

    /// Law 2: while the operation of a create runs, nothing is sent again; what became of it decides.
    fn follows_operations(&self) -> bool {
        true
    }

    /// Law 9: what has failed is told, and replaced where the Kind allows it.
    fn believes_failures(&self) -> bool {
        true
    }

    /// Law 9: what is being deleted is waited for, and not deleted again.
    fn waits_for_what_goes(&self) -> bool {
        true
    }

    /// Law 2: what is gone is not made again where the Kind says that it is only reported.
    fn only_reports_lost(&self, kind: &Kind) -> bool {
        kind.course.lost == Lost::Reported
    }

    /// Laws 1 and 3: what a slot no longer wants is ended only when all that is wanted is there.
    fn moves_first(&self) -> bool {
        true
    }

    /// Law 1: what this build does not know is never ended.
    fn ends_only_what_it_knows(&self) -> bool {
        true
    }

    /// Law 1: a blueprint that could not be computed in full, or is older than the ledger, ends nothing.
    fn shrinks_by_what_is_partial(&self) -> bool {
        false
    }

    /// Law 1: what holds data ends when a person stops asking, not when a fact does.
    fn keeps_data_that_facts_drop(&self) -> bool {
        true
    }

    /// Law 1: what something still refers to is not ended.
    fn spares_what_is_needed(&self) -> bool {
        true
    }

    /// Law 2: what is not there, or has lost its mark, is believed only after the settling time.
    fn settled_at(&self, kind: &Kind, since: Tick) -> Tick {
        since + kind.settling
    }

    /// Laws 2 and 3, tokens: a repetition proves something only if it is answered while the cloud
    /// still remembers the token.
    fn token_expired(&self, kind: &Kind, lifetime: Millis, age: Millis) -> bool {
        age + kind.shows_after(FRESH + self.request_timeout()) >= lifetime
    }

    /// Law 2, tokens: a create is repeated only with the very secrets that were announced: with others
    /// its client token would stand for two requests.
    fn repeats_with(&self, announced: &Digests, today: &Digests) -> bool {
        announced == today
    }

    /// Law 2, tokens: an attempt that is given up, and whose resource only its client token shows, is
    /// over only when nothing is there that could be it.
    fn doubts_given_up(&self) -> bool {
        true
    }

    /// Law 2, tokens: an attempt that was refused, or whose resource is gone, is not used again.
    fn next_attempt(&self, last: u32) -> u32 {
        last.saturating_add(1)
    }

    /// Law 3: a new resource that cannot be recorded, and has no mark yet, is taken back; if the
    /// object is gone, so is one with a mark, for nobody would look for it.
    fn rolls_back(&self, kind: &Kind, gone: bool) -> bool {
        gone || kind.birth != BirthProof::Marks
    }

    /// Law 3: the create's own answer does not close an intent; a look-up by marks does.
    fn intent_needs_sight(&self) -> bool {
        true
    }

    /// Laws 1 and 3: the answer of a create proves that it made what it names; but not where a create
    /// overwrites, for then it is answered alike whatever was there.
    fn answer_proves(&self, kind: &Kind) -> bool {
        kind.create == CreateMode::Insert
    }

    /// Law 4: of several that a look-up finds where one is wanted, none is chosen.
    fn refuses_to_choose(&self) -> bool {
        true
    }

    /// Law 6: wishes refer to what fills a slot, not to what was recorded for it.
    fn refers_to_records(&self) -> bool {
        false
    }

    /// Law 3: an intent without a birth proof is resolved only by what is new, alike and alone.
    fn before_image_counts(&self) -> bool {
        true
    }

    /// Law 2: a twin is condemned in the ledger before it is deleted.
    fn condemns_twins(&self) -> bool {
        true
    }

    /// Law 2: twins that hold data are reported, not reduced.
    fn spares_valuables(&self, kind: &Kind) -> bool {
        kind.valuable
    }

    /// Law 2: of twins the one that others depend on is kept.
    fn keeps_needed_twin(&self) -> bool {
        true
    }

    /// Law 1: how old a read may be for a Step that rests on it.
    fn fresh_for(&self) -> Millis {
        FRESH
    }

    /// Mark lost: what somebody stripped of our mark is released, not marked again.
    fn releases_unmarked(&self) -> bool {
        true
    }

    /// Law 1: a part inside our resource that another claim marked is not ours to remove.
    fn spares_marked_inner(&self) -> bool {
        true
    }

    /// Law 1: what others put into a resource of ours is theirs.
    fn spares_guests(&self) -> bool {
        true
    }

    /// Law 1: a part that another claim needs too carries both marks, and goes with the last.
    fn joins_marked_parts(&self) -> bool {
        true
    }

    /// Law 1: a part that was another claim's counts as there only when that one cannot be removing it
    /// any more on what it read before our mark.
    fn joined_at(&self, kind: &Kind, since: Tick) -> Tick {
        self.late_effects_over_at(kind, since)
    }

    /// Law 1: a call that could meet another claim's if it is late is announced, and waited for before
    /// the end.
    fn waits_out_calls(&self) -> bool {
        true
    }

    /// Law 1: so is every call on what is known only by its name, which the next claim may take.
    fn names_outlive_claims(&self) -> bool {
        true
    }

    /// Law 1: and a name is given free only when no call on it can be late.
    fn frees_names_last(&self) -> bool {
        true
    }

    /// Law 7: the cluster mark stays while another claim owns something in the name of our cluster.
    fn spares_namesakes(&self) -> bool {
        true
    }

    /// Law 1: what controllers inside the cluster left behind is ended only inside what we own.
    fn ends_leftovers_only_in_ours(&self) -> bool {
        true
    }

    /// Law 1: and only if a person has asked for that.
    fn asks_before_leftovers_end(&self) -> bool {
        true
    }

    /// Law 5: a claim of which another management cluster holds a part is left alone altogether.
    fn stops_for_held_parts(&self) -> bool {
        true
    }

    /// Law 1: of what is done at once no two Steps work on one resource, or on one that the other names.
    fn one_step_a_resource(&self) -> bool {
        true
    }

    /// Law 2: of what was done at once every outcome is taken in, also when one of them is a failure.
    fn takes_in_every_outcome(&self) -> bool {
        true
    }

    /// Law 4: a slot is filled only when those are that it depends on.
    fn waits_for_dependencies(&self) -> bool {
        true
    }

    /// Law 5: what is inside somebody's resource says who holds the claim, too.
    fn parts_name_holders(&self) -> bool {
        true
    }

    /// Law 5: after a take-over, what the one before has sent takes effect before anything is taken
    /// away.
    fn taken_over_at(&self, kind: &Kind, since: Tick) -> Tick {
        self.late_effects_over_at(kind, since)
    }

    /// Law 4: an original's finalizer alone makes nothing ours.
    fn finalizers_need_more(&self) -> bool {
        true
    }

    /// Law 1: inside a resource that we only use, only our own parts are removed.
    fn spares_inner_of_used(&self) -> bool {
        true
    }

    /// Law 7: a key that is there, with whatever value, is neither overwritten nor ours.
    fn respects_existing_tags(&self) -> bool {
        true
    }

    /// Law 7: only what the ledger says that we added is removed from what is not ours.
    fn removes_only_traces(&self) -> bool {
        true
    }

    /// Law 7: what we add to a resource that is not ours is announced in the ledger first.
    fn announces_traces(&self) -> bool {
        true
    }

    /// Law 3: deletion finds everything by marks, not one resource a slot.
    fn ends_by_marks(&self) -> bool {
        true
    }

    /// Law 3: the finalizers stay while an intent is open.
    fn intents_hold_the_end(&self) -> bool {
        true
    }

    /// Law 3: after the last deletion the marks are looked up once more.
    fn looks_again_at_the_end(&self) -> bool {
        true
    }

    /// Law 3: what cannot be deleted keeps the finalizers.
    fn blockers_hold_the_end(&self) -> bool {
        true
    }

    /// Law 3: our own record of a resource that does not show yet keeps the finalizers too.
    fn records_hold_the_end(&self) -> bool {
        true
    }

    /// `deletion: retain` gives resources back instead of deleting them.
    fn honours_retain(&self) -> bool {
        true
    }

    /// Law 9: what a failed call means is what its class says.
    fn class(&self, error: &CloudError) -> Class {
        error.class.clone()
    }
}

/// The rules as the product follows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freehold {
    /// T of assumption A3.
    pub request_timeout: Millis,
    /// What our name without any mark means, whatever a dialect says.
    pub unmarked: Option<Unmarked>,
}

/// The rules with the usual T.
#[expect(
    non_upper_case_globals,
    reason = "where people set nothing, the rules are a value of one name"
)]
pub const Freehold: Freehold = Freehold {
    request_timeout: REQUEST_TIMEOUT,
    unmarked: None,
};

impl Default for Freehold {
    fn default() -> Self {
        Freehold
    }
}

impl Rules for Freehold {
    fn request_timeout(&self) -> Millis {
        self.request_timeout
    }

    fn unmarked(&self, dialect: &Dialect) -> Unmarked {
        self.unmarked.unwrap_or_else(|| dialect.unmarked())
    }
}
