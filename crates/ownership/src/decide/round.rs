//! A round: what the slots of a claim need next, as far as it can be done at once.
//!
//! ```text
//! slots, in their order ──► each: filled, or what it needs first ──► one round
//!                                                                     │
//!        ledger first: one write for all ◄────────────────────────────┤
//!        then reads and Steps, all at once ◄──────────────────────────┘
//! ```

use super::{Act, Call, Deciding, Entry, Flow, Need, Op, Stop};
use crate::blueprint::{Slot, SlotName};
use crate::finding::Reason;
use crate::kind::{BirthProof, Naming};
use crate::ledger::Edit;
use crate::step::Step;

/// How many slots of a claim get what they need at once: whoever asks a cloud for more is throttled, and
/// an announcement must not outlive its ten seconds in a queue.
const AT_ONCE: usize = 20;

/// What those need that were asked so far, in the order of slots.
#[derive(Default)]
pub(super) struct Round {
    turns: Vec<Turn>,
    /// The slots that need something, and those that wait for one of them.
    busy: Vec<SlotName>,
}

/// What one slot needs.
pub(super) struct Turn {
    pub(super) slot: Option<SlotName>,
    pub(super) act: Act,
}

impl Round {
    pub(super) fn add(&mut self, slot: Option<SlotName>, act: Act) {
        self.busy.extend(slot.clone());
        self.turns.push(Turn { slot, act });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Everything that is needed.
    pub(super) fn take(&mut self) -> Vec<Turn> {
        std::mem::take(&mut self.turns)
    }

    /// Drops what is not of this sort.
    pub(super) fn keep(&mut self, which: impl Fn(&Need, &Reason) -> bool) {
        let turns = &mut self.turns;
        turns.retain(|turn| which(&turn.act.need, &turn.act.reason));
    }
}

impl Deciding<'_> {
    /// Takes in what asking a slot came to: if it needs something, the others are asked all the same.
    pub(super) fn in_turn<T>(&mut self, slot: &SlotName, asked: Flow<T>) -> Option<T> {
        match asked {
            Ok(answer) => Some(answer),
            Err(Stop::Act(act)) => {
                self.round.add(Some(slot.clone()), *act);
                None
            }
            Err(Stop::Round) => None,
        }
    }

    /// Stops the asking if anybody needs something.
    pub(super) fn together(&self) -> Flow<()> {
        if self.round.is_empty() {
            return Ok(());
        }
        Err(Stop::Round)
    }

    /// Whether a slot needs something, or waits for one that does.
    pub(super) fn is_busy(&self, slot: &SlotName) -> bool {
        self.round.busy.contains(slot)
    }

    /// Whether a slot waits for one that needs something: nothing can be said of it yet.
    pub(super) fn waits_for_others(&mut self, slot: &Slot) -> bool {
        let mut needs = slot.dependencies().chain(&slot.only_for);
        let waits = self.rules.waits_for_dependencies() && needs.any(|name| self.is_busy(name));
        if waits {
            self.round.busy.push(slot.name.clone());
        }
        waits
    }

    /// The first turns of a round. Slots of one name take theirs one after the other, where a name tells
    /// what is whose.
    pub(super) fn apart(&self, turns: Vec<Turn>) -> Vec<Turn> {
        let mut first: Vec<Turn> = Vec::new();
        for turn in turns {
            let slot = |turn: &Turn| self.case.blueprint.slot(turn.slot.as_ref()?);
            let same = |other: &Turn| match (slot(&turn), slot(other)) {
                (Some(one), Some(other)) => one.name != other.name && is_namesake(one, other),
                _ => false,
            };
            if !first.iter().any(same) {
                first.push(turn);
            }
            if first.len() == AT_ONCE {
                break;
            }
        }
        first
    }

    /// Whether an entry is about what another one of the same write is about.
    pub(super) fn clashes(&self, entries: &[Entry], entry: &Entry) -> bool {
        let about = |other: &Entry| {
            let mut targets = other.edits.iter().filter_map(Edit::target);
            targets.any(|target| entry.edits.iter().any(|it| it.target() == Some(target)))
        };
        self.rules.one_step_a_resource() && entries.iter().any(about)
    }

    /// Whether a Step works on what another one works on, or names.
    pub(super) fn meets(&self, calls: &[Call], step: &Step) -> bool {
        let names = |one: &Step, other: &Step| other.targets().iter().any(|it| one.names(it));
        let meets = |call: &Call| match &call.op {
            Op::Perform(other) => names(step, other) || names(other, step),
            Op::Read(_) => false,
        };
        self.rules.one_step_a_resource() && calls.iter().any(meets)
    }

    /// What must not be written together with anything else, by itself: that the claim yields, and
    /// everything, once a write of several entries was refused; then what was made comes first.
    pub(super) fn alone(&self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let yields = |entry: &Entry| entry.edits.iter().any(|it| matches!(it, Edit::Yield(_)));
        let at = entries.iter().position(yields).or_else(|| {
            let records = |entry: &Entry| is_finishing(&entry.reason);
            let first = entries.iter().position(records).unwrap_or(0);
            self.view.writes_singly().then_some(first)
        });
        match at {
            Some(at) => vec![entries.swap_remove(at)],
            None => entries,
        }
    }
}

/// Whether a need only finishes what was begun.
pub(super) fn finishes(need: &Need, reason: &Reason) -> bool {
    matches!(need, Need::Write(_)) && is_finishing(reason)
}

fn is_finishing(reason: &Reason) -> bool {
    matches!(reason, Reason::RecordNew(_) | Reason::Refused(_))
}

/// Whether two slots have one name, and that says something of what is whose.
fn is_namesake(one: &Slot, other: &Slot) -> bool {
    let kind = one.kind;
    let told_by_name = kind.naming != Naming::Free
        || matches!(kind.birth, BirthProof::Circumstantial | BirthProof::Token);
    told_by_name && one.kind_at() == other.kind_at() && one.label == other.label
}
