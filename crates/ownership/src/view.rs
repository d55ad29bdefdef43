//! The view: what one pass has seen so far.
//!
//! It lives as long as the pass. Whatever it knows was read from the cloud in this pass, or is the
//! outcome of a Step that the cloud acknowledged in this pass, or is what an inventory shows: that
//! is never fresh.

use std::sync::Arc;

use crate::blueprint::SlotName;
use crate::error::CloudError;
use crate::finding::Reason;
use crate::kind::{CreateMode, InnerKind, Kind};
use crate::ledger::{Edit, Trace, TraceOf};
use crate::life::Progress;
use crate::part::{InnerPart, Resource};
use crate::place::{KindAt, Place};
use crate::query::{Answer, Query, Target};
use crate::step::{Create, Effect, PartTags, Removal, Step};
use crate::text::{ResourceId, Text};
use crate::time::{CloudTime, Millis, Tick};
use crate::verdict::ReadStamp;

/// What one pass has seen so far.
#[derive(Clone, Debug, Default)]
pub struct View {
    looks: Vec<Look>,
    seen: Vec<(Target, Seen)>,
    inner: Vec<InnerSeen>,
    created: Vec<(SlotName, Target)>,
    /// The operations that creates have begun in this pass.
    running: Vec<(SlotName, Text)>,
    deleted: Vec<Target>,
    began: Option<Tick>,
    acted: bool,
    finished: bool,
    opened: Vec<(SlotName, Tick, Reason)>,
    condemned: Vec<(Target, Tick)>,
    traced: Vec<(Trace, Tick)>,
    /// The calls that were announced in this pass: when last, and what was under way before.
    calls: Vec<(Target, Tick, Option<u32>)>,
    erased: Vec<Trace>,
    /// Parts that are gone in this pass, whatever an old read still shows.
    gone_parts: Vec<(Target, &'static str, InnerPart)>,
    /// What the cloud acknowledged in this pass to be there now, whatever an old read still lacks.
    left: Vec<Trace>,
    /// Where a removal of several parts met one that is not there: from then on they go one by one.
    one_by_one: Vec<(Target, &'static str)>,
    blocked: Vec<(Target, CloudError)>,
    /// The resources whose parts the cloud does not let go in this pass.
    keeping: Vec<Target>,
    refused: Vec<Refusal>,
    /// The failure that ends the pass.
    failed: Option<CloudError>,
    /// Whether a ledger write of several entries was refused: from then on they go one by one.
    singly: bool,
    /// The slots whose turn is over in this pass, and why.
    over: Vec<(SlotName, CloudError)>,
}

/// An answered question.
#[derive(Clone, Debug)]
pub struct Look {
    /// What was asked.
    pub query: Query,
    /// When it was answered, on our clock.
    pub at: Tick,
    /// And on the cloud's.
    pub date: CloudTime,
    /// What it found.
    pub found: Vec<Target>,
    /// How far the operation has come that it asked for.
    pub progress: Option<Progress>,
    /// How many deletions this pass had made by then.
    pub deletions: usize,
}

/// A resource as last seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The resource; `None` where it was asked for by id and is not there.
    pub resource: Option<Arc<Resource>>,
    /// When, and whether that is still fresh.
    pub read: ReadStamp,
    /// After how many answers.
    after: usize,
    /// Whether nothing but the answer of its create tells of it.
    unread: bool,
}

/// The parts inside a resource, as last seen.
#[derive(Clone, Debug)]
pub struct InnerSeen {
    /// The resource they are in.
    pub of: Target,
    /// Their inner Kind's name.
    pub inner: &'static str,
    /// The parts.
    pub parts: Vec<InnerPart>,
    /// When, and whether that is still fresh.
    pub read: ReadStamp,
    /// After how many answers.
    after: usize,
}

/// Something that was certainly refused in this pass and must be dealt with before it ends.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// The create of a slot; with how many questions had been answered by then.
    Create(SlotName, CloudError, usize),
    /// The recording of a slot's new resource, in these words.
    Record(SlotName, String),
    /// The recording of a slot's new resource, because the object is gone.
    Gone(SlotName),
}

impl Refusal {
    /// The slot.
    pub fn slot(&self) -> &SlotName {
        match self {
            Self::Create(slot, ..) | Self::Record(slot, _) | Self::Gone(slot) => slot,
        }
    }

    /// Whether the ledger refused, and not the cloud.
    fn is_ledgers(&self) -> bool {
        !matches!(self, Self::Create(..))
    }

    fn is_of_same(&self, other: &Self) -> bool {
        self.slot() == other.slot() && self.is_ledgers() == other.is_ledgers()
    }
}

impl View {
    /// An empty view: the beginning of a pass.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in an answer of the cloud to a question that was sent at `sent`: it is as old as that,
    /// for what happened on its way is not in it.
    pub fn learn(&mut self, query: Query, answer: Answer, sent: Tick) {
        let read = ReadStamp {
            at: sent,
            fresh: true,
        };
        self.take_in(query, answer, read);
    }

    /// Takes in what an inventory shows, which was read at `at`: no Step may rest on it.
    pub fn recall(&mut self, query: Query, answer: Answer, at: Tick) {
        self.take_in(query, answer, ReadStamp { at, fresh: false });
    }

    fn take_in(&mut self, query: Query, answer: Answer, read: ReadStamp) {
        self.began.get_or_insert(read.at);
        let after = self.looks.len();
        for told in answer.inner {
            self.put_inner(InnerSeen {
                of: told.of,
                inner: told.inner,
                parts: told.parts,
                read,
                after,
            });
        }
        if let (Query::Id(target), true) = (&query, answer.resources.is_empty()) {
            self.put(
                target.clone(),
                Seen {
                    resource: None,
                    read,
                    after,
                    unread: false,
                },
            );
        }
        let mut found = Vec::with_capacity(answer.resources.len());
        for resource in answer.resources {
            let target = resource.target();
            found.push(target.clone());
            self.put(
                target,
                Seen {
                    resource: Some(resource),
                    read,
                    after,
                    unread: false,
                },
            );
        }
        let deletions = self.deleted.len();
        self.looks.push(Look {
            query,
            at: read.at,
            date: answer.date,
            found,
            progress: answer.progress,
            deletions,
        });
    }

    /// Takes in the acknowledged outcome of a Step.
    pub fn performed(&mut self, step: &Step, effect: Effect, now: Tick) {
        self.acted = true;
        match step {
            Step::Create(create) => {
                self.opened.retain(|(slot, ..)| *slot != create.slot);
                if let Some(operation) = effect.operation {
                    self.running.push((create.slot.clone(), operation));
                }
                if let Some(resource) = effect.born {
                    let target = resource.target();
                    self.created.push((create.slot.clone(), target.clone()));
                    let read = ReadStamp {
                        at: now,
                        fresh: true,
                    };
                    let after = self.looks.len();
                    // And what a create overwrites can have parts.
                    let overwrites = create.kind.create == CreateMode::Upsert;
                    let mut told = effect.inner;
                    for inner in create.kind.inner {
                        let its = told.iter().position(|told| told.inner == inner.name);
                        let parts = its.map(|at| told.swap_remove(at).parts);
                        // What comes along and is not told must be read.
                        let nothing = || (inner.is_born_empty() && !overwrites).then(Vec::new);
                        if let Some(parts) = parts.or_else(nothing) {
                            self.put_inner(InnerSeen {
                                of: target.clone(),
                                inner: inner.name,
                                parts,
                                read,
                                after,
                            });
                        }
                    }
                    self.put(
                        target,
                        Seen {
                            resource: Some(resource),
                            read,
                            after,
                            unread: true,
                        },
                    );
                }
            }
            Step::Mark { targets, tags, .. } => {
                for target in targets {
                    self.now_there(target, tags.iter().map(tag));
                    self.change(target, |resource| {
                        for (key, value) in tags {
                            resource.tags.set(key.clone(), value.clone());
                        }
                    });
                }
            }
            Step::Unmark { targets, tags, .. } => {
                for target in targets {
                    self.now_gone(target, tags.iter().map(tag));
                    self.change(target, |resource| {
                        for (key, value) in tags {
                            resource.tags.remove(key, value);
                        }
                    });
                }
            }
            Step::Update(update) => self.change(update.owned().target(), |resource| {
                for (name, value) in update.props().iter() {
                    resource.props.set(name, value.clone());
                }
            }),
            Step::AddInner {
                target,
                inner,
                parts,
            } => {
                self.now_there(target, parts.iter().map(|part| trace_of(inner, part)));
                self.gone_parts.retain(|(of, kind, gone)| {
                    let back = parts.iter().any(|new| new.key == gone.key);
                    !(of == target && kind == inner && back)
                });
                if let Some(seen) = self.inner_mut(target, inner) {
                    seen.parts
                        .retain(|old| !parts.iter().any(|new| new.key == old.key));
                    seen.parts.extend(parts.iter().cloned());
                    seen.read.fresh = false;
                }
            }
            Step::MarkInner(tags) => self.change_parts(tags, |part| {
                for (key, value) in &tags.tags {
                    part.tags.set(key.clone(), value.clone());
                }
            }),
            Step::UnmarkInner(tags) => self.change_parts(tags, |part| {
                for (key, value) in &tags.tags {
                    part.tags.remove(key, value);
                }
            }),
            Step::RemoveInner(removal) => {
                let gone = removal.parts().iter();
                let gone = gone.map(|part| trace_of(removal.inner(), part));
                self.now_gone(removal.target(), gone);
                self.hide(removal);
            }
            Step::Delete(deletion) => {
                self.deleted.push(deletion.target().clone());
                self.miss(deletion.target(), now);
            }
        }
    }

    /// Takes what is known for what a new read would show, where only that is asked: for plans, whose
    /// Steps no read shows. Says whether it is known.
    pub fn presume(&mut self, query: &Query, now: Tick) -> bool {
        let read = ReadStamp {
            at: now,
            fresh: true,
        };
        match query {
            Query::Id(target) => {
                let seen = self.seen.iter_mut().find(|(t, _)| t == target);
                let seen = seen.map(|(_, seen)| (seen.read, seen.unread) = (read, false));
                seen.is_some()
            }
            Query::Inner { of, inner } => {
                let seen = self.inner_mut(of, inner);
                seen.map(|seen| seen.read = read).is_some()
            }
            _ => false,
        }
    }

    /// Takes in that a resource which a Step was aimed at is not there, as far as whoever answered can
    /// tell: it is not a deletion of ours, and may show again.
    pub fn miss(&mut self, target: &Target, now: Tick) {
        self.put(
            target.clone(),
            Seen {
                resource: None,
                read: ReadStamp {
                    at: now,
                    fresh: true,
                },
                after: self.looks.len(),
                unread: false,
            },
        );
    }

    /// Takes in that parts which a Step was to remove are not there, as far as whoever answered can
    /// tell: it is not a removal of ours, and they may show again in the next pass. Of several parts
    /// nobody knows which.
    pub fn miss_parts(&mut self, removal: &Removal) {
        if removal.parts().len() > 1 {
            let of = (removal.target().clone(), removal.inner());
            self.one_by_one.push(of);
        } else {
            self.hide(removal);
        }
    }

    /// How many of so many parts one call may remove.
    pub fn most_removed(&self, of: &Target, inner: &InnerKind, parts: usize) -> usize {
        let singly = |(target, name): &(Target, &str)| target == of && *name == inner.name;
        if inner.batch && !self.one_by_one.iter().any(singly) {
            parts
        } else {
            1
        }
    }

    /// Takes in that the ledger acknowledged edits that were sent at `sent`, for this reason.
    pub fn wrote(&mut self, edits: &[Edit], sent: Tick, why: &Reason) {
        for edit in edits {
            match edit {
                Edit::OpenIntent { slot, .. } => {
                    self.acted = true;
                    self.opened.retain(|(opened, ..)| opened != slot);
                    self.opened.push((slot.clone(), sent, why.clone()));
                }
                Edit::Condemn { target, .. } => {
                    self.condemned.retain(|(condemned, _)| condemned != target);
                    self.condemned.push((target.clone(), sent));
                }
                Edit::Trace(trace) => {
                    self.traced.retain(|(traced, _)| traced != trace);
                    self.traced.push((trace.clone(), sent));
                }
                Edit::Call { target, after } => {
                    let after = self.calling(target).map_or(*after, |(_, after)| after);
                    self.calls.retain(|(calling, ..)| calling != target);
                    self.calls.push((target.clone(), sent, after));
                }
                // What became of the create is told as what the cloud answers to one.
                Edit::Failed { slot, error } => self.refuse_create(slot.clone(), error.clone()),
                Edit::Finish => self.finished = true,
                _ => {}
            }
        }
    }

    /// Takes in that a deletion is blocked, for the rest of the pass.
    pub fn block(&mut self, target: Target, error: CloudError) {
        self.blocked.push((target, error));
    }

    /// Takes in that the cloud does not let parts of a resource go: neither they nor it can be taken away
    /// for the rest of the pass.
    pub fn keep_inside(&mut self, target: Target, error: CloudError) {
        self.keeping.push(target.clone());
        self.block(target, error);
    }

    /// Whether the cloud did not let parts of a resource go in this pass.
    pub fn keeps_inside(&self, target: &Target) -> bool {
        self.keeping.contains(target)
    }

    /// Why a resource could not be deleted in this pass.
    pub fn blocked(&self, target: &Target) -> Option<&CloudError> {
        self.blocked
            .iter()
            .find(|(t, _)| t == target)
            .map(|(_, error)| error)
    }

    /// Takes in that something was certainly refused.
    pub fn refuse(&mut self, refusal: Refusal) {
        // A create may be refused again; what is recorded is refused once.
        self.refused.retain(|old| !old.is_of_same(&refusal));
        self.refused.push(refusal);
    }

    /// Takes in that the create of a slot was certainly refused.
    pub fn refuse_create(&mut self, slot: SlotName, error: CloudError) {
        let answered = self.looks.len();
        self.refuse(Refusal::Create(slot, error, answered));
    }

    /// What was refused, and has not been dealt with.
    pub fn refusals(&self) -> &[Refusal] {
        &self.refused
    }

    /// Whether the ledger has refused to record the new resource of a slot.
    pub fn is_unrecorded(&self, slot: &SlotName) -> bool {
        let mut refused = self.refused.iter();
        refused.any(|refusal| refusal.is_ledgers() && refusal.slot() == slot)
    }

    /// Takes in a failure that ends the pass: nothing new is begun, what was begun is finished. The first
    /// one counts.
    pub fn fail(&mut self, error: CloudError) {
        self.failed.get_or_insert(error);
    }

    /// The failure that ends the pass.
    pub fn failure(&self) -> Option<&CloudError> {
        self.failed.as_ref()
    }

    /// Whether the pass only finishes what it has begun.
    pub fn winds_up(&self) -> bool {
        self.failed.is_some() || self.refused.iter().any(Refusal::is_ledgers)
    }

    /// Takes in that a ledger write of several entries was refused: one of them may be the reason.
    pub fn write_singly(&mut self) {
        self.singly = true;
    }

    /// Whether each entry is written to the ledger by itself.
    pub fn writes_singly(&self) -> bool {
        self.singly
    }

    /// Takes in that the cloud refused something for a slot: its turn is over in this pass.
    pub fn end_turn(&mut self, slot: SlotName, error: CloudError) {
        self.refused
            .retain(|refusal| refusal.is_ledgers() || *refusal.slot() != slot);
        self.over.push((slot, error));
    }

    /// Why the turn of a slot is over.
    pub fn turn_is_over(&self, slot: &SlotName) -> Option<&CloudError> {
        let mut over = self.over.iter();
        over.find(|(over, _)| over == slot).map(|(_, error)| error)
    }

    /// What the cloud refused first, of all that did not end the pass.
    pub fn first_refusal(&self) -> Option<&CloudError> {
        self.over.first().map(|(_, error)| error)
    }

    /// When a call on a resource was last announced in this pass, and the announcement before this
    /// pass whose calls may still be under way.
    pub fn calling(&self, target: &Target) -> Option<(Tick, Option<u32>)> {
        let mut calls = self.calls.iter();
        calls
            .find(|(calling, ..)| calling == target)
            .map(|(_, at, after)| (*at, *after))
    }

    /// When a create was announced in this pass: by an intent, or together with others of its Kind.
    fn announced(&self, create: &Create) -> Option<Tick> {
        let at = KindAt {
            kind: create.kind,
            place: create.place.clone(),
        };
        let together = || self.calling(&at.whatever()).map(|(at, _)| at);
        self.opened(&create.slot).or_else(together)
    }

    /// Until when a Step may be sent: what it rests on was read, or announced, at most `fresh` before.
    pub fn good_until(&self, step: &Step, fresh: Millis) -> Tick {
        let read = step.targets().iter().filter_map(|target| {
            let seen = self.seen(target)?;
            Some(seen.read.at)
        });
        let rests_on = match step {
            Step::Create(create) => self.announced(create),
            Step::RemoveInner(removal) => Some(removal.read_at()),
            Step::Delete(deletion) => Some(deletion.owned().read_at()),
            Step::Update(update) => Some(update.owned().read_at()),
            _ => None,
        };
        let announced = step
            .targets()
            .iter()
            .filter_map(|target| Some(self.calling(target)?.0));
        let oldest = read.chain(rests_on).chain(announced).min();
        oldest.map_or(Tick(u64::MAX), |at| at + fresh)
    }

    /// The own time of the cloud in this place, in its newest answer.
    pub fn date(&self, place: &Place) -> Option<CloudTime> {
        let looks = self.looks.iter().filter(|look| look.query.place() == place);
        looks.map(|look| look.date).max()
    }

    /// The newest answer to a question, if it was asked after so many others.
    pub fn look_after(&self, query: &Query, answered: usize) -> Option<&Look> {
        let since = self.looks.get(answered..)?;
        since.iter().rev().find(|look| look.query == *query)
    }

    /// The newest answer to a question.
    pub fn look(&self, query: &Query) -> Option<&Look> {
        self.looks.iter().rev().find(|look| look.query == *query)
    }

    /// A resource as last seen; `None` if it was neither asked for nor met.
    pub fn seen(&self, target: &Target) -> Option<&Seen> {
        self.seen
            .iter()
            .find(|(t, _)| t == target)
            .map(|(_, seen)| seen)
    }

    /// Whether nothing but the answer of its create tells of a resource.
    pub fn is_unread(&self, target: &Target) -> bool {
        self.seen(target).is_some_and(|seen| seen.unread)
    }

    /// The resources of a Kind that are there.
    pub fn of_kind<'v>(
        &'v self,
        kind: &'v Kind,
        place: &'v Place,
    ) -> impl Iterator<Item = (&'v Arc<Resource>, ReadStamp)> {
        self.seen
            .iter()
            .filter(move |(target, _)| target.kind == kind && target.place == *place)
            .filter_map(|(_, seen)| Some((seen.resource.as_ref()?, seen.read)))
    }

    /// Every resource that is there.
    pub fn resources(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.seen
            .iter()
            .filter_map(|(_, seen)| seen.resource.as_ref())
    }

    /// The parts inside a resource, if they were read.
    pub fn inner(&self, of: &Target, inner: &'static str) -> Option<&InnerSeen> {
        self.inner
            .iter()
            .find(|seen| seen.inner == inner && seen.of == *of)
    }

    /// Whether a resource was read at the same time as what is inside, or later.
    pub fn is_newer_than_inside(&self, of: &Target, inner: &'static str) -> bool {
        match (self.seen(of), self.inner(of, inner)) {
            (Some(seen), Some(inside)) => seen.after >= inside.after,
            _ => false,
        }
    }

    /// Everything seen inside resources.
    pub fn all_inner(&self) -> &[InnerSeen] {
        &self.inner
    }

    /// Whether something was done in this pass, or announced.
    pub fn has_acted(&self) -> bool {
        self.acted
    }

    /// The resource that our own create returned for this slot in this pass.
    pub fn created(&self, slot: &SlotName) -> Option<&Target> {
        self.created
            .iter()
            .rev()
            .find(|(s, _)| s == slot)
            .map(|(_, target)| target)
    }

    /// The operation that our own create has begun for this slot in this pass.
    pub fn running(&self, slot: &SlotName) -> Option<&Text> {
        let mut newest = self.running.iter().rev();
        newest.find(|(s, _)| s == slot).map(|(_, name)| name)
    }

    /// Whether the cloud acknowledged our deletion of it in this pass.
    pub fn deleted(&self, target: &Target) -> bool {
        self.deleted.contains(target)
    }

    /// What the cloud acknowledged in this pass to be deleted.
    pub fn all_deleted(&self) -> &[Target] {
        &self.deleted
    }

    /// The Kind of what the cloud acknowledged in this pass to be deleted, by its id.
    pub fn kind_of_deleted(&self, id: &ResourceId) -> Option<&'static Kind> {
        let mut deleted = self.deleted.iter();
        deleted
            .find(|target| target.id == *id)
            .map(|target| target.kind)
    }

    /// Whether the ledger acknowledged in this pass that the claim has ended.
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// When the first question of this pass was sent that has an answer.
    pub fn began(&self) -> Option<Tick> {
        self.began
    }

    /// How many deletions the cloud acknowledged in this pass.
    pub fn deletions(&self) -> usize {
        self.deleted.len()
    }

    /// When the slot's intent was written, if that was in this pass and its create was not sent yet.
    pub fn opened(&self, slot: &SlotName) -> Option<Tick> {
        self.announcement(slot).map(|(at, _)| at)
    }

    /// The same, with the reason for which it was written: the create has it too.
    pub fn announcement(&self, slot: &SlotName) -> Option<(Tick, &Reason)> {
        self.opened
            .iter()
            .find(|(s, ..)| s == slot)
            .map(|(_, at, why)| (*at, why))
    }

    /// When this twin was condemned, if that was in this pass.
    pub fn condemned(&self, target: &Target) -> Option<Tick> {
        self.condemned
            .iter()
            .find(|(condemned, _)| condemned == target)
            .map(|(_, at)| *at)
    }

    /// When this trace was written to the ledger, if that was in this pass and its call was not
    /// sent yet: an announcement is for one call.
    pub fn traced(&self, trace: &Trace) -> Option<Tick> {
        self.traced
            .iter()
            .find(|(t, _)| t == trace)
            .map(|(_, at)| *at)
    }

    /// Whether the cloud acknowledged in this pass that this trace is gone.
    pub fn erased(&self, trace: &Trace) -> bool {
        self.erased.contains(trace)
    }

    /// Whether the cloud acknowledged in this pass that this was put on a resource: an old read that
    /// lacks it is no reason to send it again.
    pub fn has_left(&self, on: &Target, what: &TraceOf) -> bool {
        let mut left = self.left.iter();
        left.any(|trace| trace.on == *on && trace.what == *what)
    }

    /// Whether the cloud acknowledged in this pass that a resource was marked.
    pub fn has_marked(&self, target: &Target) -> bool {
        let tag = |what: &TraceOf| matches!(what, TraceOf::Tag { .. });
        let mut left = self.left.iter();
        left.any(|trace| trace.on == *target && tag(&trace.what))
    }

    /// Every trace that the cloud acknowledged in this pass to be gone.
    pub fn erased_traces(&self) -> &[Trace] {
        &self.erased
    }

    /// Applies what an acknowledged Step changed in the tags of parts.
    fn change_parts(&mut self, tags: &PartTags, apply: impl Fn(&mut InnerPart)) {
        if let Some(seen) = self.inner_mut(&tags.target, tags.inner) {
            seen.read.fresh = false;
            let meant = |part: &&mut InnerPart| tags.parts.iter().any(|p| p.key == part.key);
            seen.parts.iter_mut().filter(meant).for_each(apply);
        }
    }

    fn inner_mut(&mut self, of: &Target, inner: &str) -> Option<&mut InnerSeen> {
        self.inner
            .iter_mut()
            .find(|seen| seen.inner == inner && seen.of == *of)
    }

    /// Takes in that a call left these on a resource: its announcement is used up.
    fn now_there(&mut self, on: &Target, what: impl Iterator<Item = TraceOf>) {
        for trace in what.map(|what| Trace {
            on: on.clone(),
            what,
        }) {
            self.traced.retain(|(traced, _)| *traced != trace);
            self.erased.retain(|erased| *erased != trace);
            self.left.push(trace);
        }
    }

    /// Takes in that a call took these away from a resource.
    fn now_gone(&mut self, on: &Target, what: impl Iterator<Item = TraceOf>) {
        for trace in what.map(|what| Trace {
            on: on.clone(),
            what,
        }) {
            self.left.retain(|left| *left != trace);
            self.erased.push(trace);
        }
    }

    /// Takes parts for gone for the rest of the pass.
    fn hide(&mut self, removal: &Removal) {
        let (target, inner) = (removal.target(), removal.inner());
        let gone = |part: &InnerPart| (target.clone(), inner, part.clone());
        self.gone_parts.extend(removal.parts().iter().map(gone));
        if let Some(seen) = self.inner_mut(target, inner) {
            let gone = removal.parts();
            seen.parts
                .retain(|old| !gone.iter().any(|gone| gone.key == old.key));
            seen.read.fresh = false;
        }
    }

    fn put_inner(&mut self, mut seen: InnerSeen) {
        let gone = |part: &InnerPart| {
            self.gone_parts.iter().any(|(of, inner, gone)| {
                let same = gone.id.is_none() || gone.id == part.id;
                *of == seen.of && *inner == seen.inner && gone.key == part.key && same
            })
        };
        seen.parts.retain(|part| !gone(part));
        match self.inner_mut(&seen.of, seen.inner) {
            Some(slot) => *slot = seen,
            None => self.inner.push(seen),
        }
    }

    fn put(&mut self, target: Target, mut seen: Seen) {
        // An old read does not bring back what we took off in this pass.
        for Trace { on, what } in &self.erased {
            if let (TraceOf::Tag { key, value }, Some(resource)) = (what, &mut seen.resource)
                && *on == target
                && resource.tags.has(key, value)
            {
                Arc::make_mut(resource).tags.remove(key, value);
            }
        }
        match self.seen.iter_mut().find(|(t, _)| *t == target) {
            Some((_, slot)) => *slot = seen,
            None => self.seen.push((target, seen)),
        }
    }

    /// Applies what an acknowledged Step changed; the result is known, but no longer fresh.
    fn change(&mut self, target: &Target, apply: impl FnOnce(&mut Resource)) {
        if let Some((_, seen)) = self.seen.iter_mut().find(|(t, _)| t == target) {
            seen.read.fresh = false;
            if let Some(resource) = &mut seen.resource {
                apply(Arc::make_mut(resource));
            }
        }
    }
}

fn tag((key, value): &(Text, Text)) -> TraceOf {
    TraceOf::Tag {
        key: key.clone(),
        value: value.clone(),
    }
}

fn trace_of(inner: &'static str, part: &InnerPart) -> TraceOf {
    TraceOf::Inner {
        inner,
        key: part.key.clone(),
    }
}
