//! Refusals: a create that will not come, a new resource that the ledger does not take, and the end of a
//! pass in which a call failed.

use super::round::finishes;
use super::{Deciding, Flow, Halt, Need, Stop, act, intent_query, read_again};
use crate::blueprint::SlotName;
use crate::error::{Class, CloudError};
use crate::finding::Reason;
use crate::kind::BirthProof;
use crate::ledger::Edit;
use crate::query::Target;
use crate::step::Step;
use crate::verdict::{Owned, Owner, Verdict};
use crate::view::Refusal;

/// What a create was refused for because its name is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exists {
    /// What an earlier call made.
    Ours,
    /// Somebody else's.
    Anothers,
    /// Nothing shows: a read is old.
    Hidden,
}

impl Deciding<'_> {
    /// Deals with what the cloud refused: such a create will not come, so its intent closes, and the turn
    /// of its slot ends.
    pub(super) fn answer_refused_creates(&mut self) {
        for refusal in self.view.refusals() {
            if let Refusal::Create(slot, error, answered) = refusal {
                let answered = self.answer_refused_create(slot, error, *answered);
                self.in_turn(slot, answered);
            }
        }
    }

    /// Comes back without a need if the resource is there, and ours.
    fn answer_refused_create(
        &self,
        slot: &SlotName,
        error: &CloudError,
        answered: usize,
    ) -> Flow<()> {
        if error.class == Class::Exists {
            self.look_for_what_exists(slot, answered)?;
            if self.exists(slot) == Some(Exists::Ours) {
                return Ok(());
            }
        }
        let why = Reason::Refused(slot.clone());
        if self.ledger.intents.contains_key(slot) && self.never_came(slot, error) {
            let close = Edit::CloseIntent { slot: slot.clone() };
            return act(Need::Write(vec![close]), why);
        }
        act(Need::EndTurn(slot.clone(), error.clone()), why)
    }

    /// Ends a pass that cannot go on: what came of its calls is recorded, what cannot be recorded is taken
    /// back, and nothing new is begun.
    pub(super) fn wind_up(&mut self, asked: Flow<()>) -> Flow<()> {
        if let Err(Stop::Act(act)) = asked {
            self.round.add(self.slot.clone(), *act);
        }
        self.round.keep(finishes);
        self.together()?;
        // Whoever could not reach the cloud tries nothing more: what is not recorded is announced.
        if let Some(error) = self.view.failure() {
            let halt = Halt::Failed(error.clone());
            return act(Need::Halt(halt), Reason::CallFailed);
        }
        let mut first = None;
        for refusal in self.view.refusals() {
            let (slot, halt) = match refusal {
                Refusal::Record(slot, words) => (slot, Halt::Record(words.clone())),
                Refusal::Gone(slot) => (slot, Halt::Gone),
                Refusal::Create(..) => continue,
            };
            let taken_back = self.take_back(slot, halt == Halt::Gone);
            self.in_turn(slot, taken_back);
            first.get_or_insert((halt, Reason::RollBack(slot.clone())));
        }
        self.together()?;
        match first {
            Some((halt, why)) => act(Need::Halt(halt), why),
            None => Ok(()),
        }
    }

    /// Takes back a new resource that cannot be recorded and has no mark, or whose object is gone (law 3).
    fn take_back(&self, slot: &SlotName, gone: bool) -> Flow<()> {
        let created = self.view.created(slot);
        let deleted = created.is_some_and(|target| self.view.deleted(target));
        let born = created.filter(|target| !deleted && self.view.blocked(target).is_none());
        let kind = self.case.blueprint.slot(slot).map(|slot| slot.kind);
        if let (Some(target), Some(kind)) = (born, kind)
            && self.rules.rolls_back(kind, gone)
            && let Some(owned) = self.born_here(slot, target)?
            && let Some(step) = Step::delete(owned, self.now)
        {
            return act(Need::Do(step), Reason::RollBack(slot.clone()));
        }
        if !gone && deleted && self.ledger.intents.contains_key(slot) {
            let close = Edit::CloseIntent { slot: slot.clone() };
            return act(Need::Write(vec![close]), Reason::RollBack(slot.clone()));
        }
        Ok(())
    }

    /// The proof that our own create in this pass made this: its answer; or, where a create overwrites,
    /// a read that shows our mark, or our nonce in the name and nobody's mark.
    fn born_here(&self, slot: &SlotName, target: &Target) -> Flow<Option<Owned>> {
        let Some(seen) = self.view.seen(target) else {
            return Ok(None);
        };
        if self.rules.answer_proves(target.kind) {
            let there = seen.resource.is_some();
            return Ok(there.then(|| Owned::created_here(target.clone(), seen.read.at)));
        }
        if self.view.is_unread(target) {
            read_again(target)?;
        }
        let Some(resource) = &seen.resource else {
            return Ok(None);
        };
        self.refresh(target)?;
        let intent = self.ledger.intents.get(slot);
        Ok(match self.judge(target.kind, resource, seen.read) {
            Verdict::Owned(owned) => Some(owned),
            Verdict::Unmarked | Verdict::Used | Verdict::Foreign(Owner::Legacy)
                if intent.is_some_and(|intent| intent.name == resource.name) =>
            {
                Some(Owned::by_nonce(target.clone(), seen.read))
            }
            _ => None,
        })
    }

    /// Before an intent closes because its name is taken, whoever has the name is looked up by the
    /// parameters that were sent, and ours by marks: an earlier call may have made it (law 2).
    fn look_for_what_exists(&self, slot: &SlotName, answered: usize) -> Flow<()> {
        let intent = self.ledger.intents.get(slot);
        let (Some(intent), true) = (intent, self.rules.looks_at_what_exists()) else {
            return Ok(());
        };
        let kind = intent.kind;
        let by_marks = self.marks_query(kind, &intent.place);
        for query in [intent_query(intent), Some(by_marks)] {
            if let Some(query) = query
                && self.view.look_after(&query, answered).is_none()
            {
                return act(Need::Look(query), Reason::FindByName(intent.name.clone()));
            }
        }
        Ok(())
    }

    /// What the repetition of an announced create was refused for, where that can matter.
    fn exists(&self, slot: &SlotName) -> Option<Exists> {
        let intent = self.ledger.intents.get(slot)?;
        let kind = intent.kind;
        let told_by_token = kind.birth == BirthProof::Token;
        if intent.sends == 1 || told_by_token || !self.rules.looks_at_what_exists() {
            return None;
        }
        let mut exists = Exists::Hidden;
        for (resource, read) in self.view.of_kind(kind, &intent.place) {
            if let Verdict::Owned(owned) = self.judge(kind, resource, read)
                && owned.mark().is_some_and(|mark| mark.slot == *slot)
            {
                return Some(Exists::Ours);
            }
            if intent_query(intent).is_some_and(|query| query.means(resource)) {
                exists = Exists::Anothers;
            }
        }
        Some(exists)
    }

    /// Whether a refusal means that nothing will come of an intent. That of the first call does, and
    /// that of a repetition after the earlier ones' time, if they would show by then. That of a
    /// repetition at once, under its client token, says nothing about the first call. What has only
    /// its token for a birth proof does not show: but if the name is taken, and the token did not
    /// return what has it, then that is not ours.
    fn never_came(&self, slot: &SlotName, error: &CloudError) -> bool {
        let Some(intent) = self.ledger.intents.get(slot) else {
            return false;
        };
        let kind = intent.kind;
        let at_once = kind.token.is_some() && intent.sends == 2;
        let would_show = kind.birth != BirthProof::Token || error.class == Class::Exists;
        // What has the name may be its own, and hidden from a read that is old.
        if error.class == Class::Exists && self.exists(slot) == Some(Exists::Hidden) {
            return false;
        }
        intent.sends == 1 || (would_show && !at_once)
    }
}
