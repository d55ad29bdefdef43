//! Findings and reasons: what the engine tells people, as data.

use std::fmt;

use crate::blueprint::{Slot, SlotName};
use crate::error::{Blocker, Class, CloudError};
use crate::input::Field;
use crate::place::Place;
use crate::query::Target;
use crate::text::{ResourceId, Text};
use crate::verdict::{Held, Owner};

/// Something that a person should know, with the way out. It becomes a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The slot's name or id belongs to somebody else (law 4).
    Conflict {
        /// The slot.
        slot: SlotName,
        /// The resource.
        target: Target,
        /// Its owner.
        owner: Owner,
    },
    /// Our name is on a resource without any mark, and the dialect does not use such.
    NameTaken {
        /// The slot.
        slot: SlotName,
        /// The resource.
        target: Target,
    },
    /// These could be what an interrupted create made: several where one is looked for (A1 failed), or
    /// any where nothing can prove it.
    Ambiguous {
        /// The slot.
        slot: SlotName,
        /// The candidates.
        candidates: Vec<Target>,
    },
    /// The client token of an interrupted create has expired: nobody can tell what came of it.
    Unprovable {
        /// The slot.
        slot: SlotName,
        /// The name that was sent.
        name: Text,
    },
    /// The id that the user wrote does not exist.
    Missing {
        /// The slot.
        slot: SlotName,
        /// The field that names it, where the object has one.
        field: Option<Field>,
        /// The id.
        id: Text,
    },
    /// The user named none, and there is none to use.
    NoneToUse {
        /// The slot.
        slot: SlotName,
        /// The field that could name one, where the object has one.
        field: Option<Field>,
        /// What was looked for, in words.
        what: Text,
    },
    /// The user named none, and several could be meant (law 4).
    SeveralToUse {
        /// The slot.
        slot: SlotName,
        /// The field that could name one, where the object has one.
        field: Option<Field>,
        /// What was looked for, in words.
        what: Text,
        /// All that was found.
        found: Vec<Target>,
    },
    /// Somebody removed our mark: the resource is released.
    MarkLost {
        /// The slot.
        slot: SlotName,
        /// The resource.
        target: Target,
    },
    /// Another management cluster holds it.
    Held {
        /// The slot.
        slot: SlotName,
        /// The resource.
        target: Target,
        /// The other management cluster.
        by: Held,
    },
    /// Another management cluster was seen to hold the claim.
    Yielded {
        /// The other management cluster.
        by: Held,
    },
    /// Twins of a Kind that holds data.
    Twins {
        /// The slot.
        slot: SlotName,
        /// The one in use.
        kept: Target,
        /// The others.
        others: Vec<Target>,
    },
    /// A property differs that cannot be changed in place.
    Drift {
        /// The slot.
        slot: SlotName,
        /// The resource.
        target: Target,
        /// The property.
        prop: &'static str,
        /// What is wanted.
        wanted: Text,
        /// What is there.
        found: Text,
    },
    /// The resource has failed, and will never be usable.
    Failed {
        /// The slot.
        slot: SlotName,
        /// The resource.
        target: Target,
        /// The cloud's reason.
        why: Text,
        /// Whether it is deleted and made again.
        replaced: bool,
    },
    /// The resource is gone, and is of a Kind that is not made again.
    Lost {
        /// The slot.
        slot: SlotName,
        /// The resource.
        target: Target,
    },
    /// The ledger knows a slot that this build does not.
    Unknown {
        /// The slot.
        slot: SlotName,
    },
    /// What fills the slot, or is being made for it, is in another place than the one it is wanted in.
    Moved {
        /// The slot.
        slot: SlotName,
        /// Where it is.
        from: Place,
    },
    /// What holds data is not wanted any more, but no person said so.
    Kept {
        /// The slot.
        slot: SlotName,
        /// The resource.
        target: Target,
    },
    /// What is not wanted any more cannot be ended: something that is there refers to it.
    StillNeeded {
        /// The slot.
        slot: SlotName,
        /// The resource.
        target: Target,
    },
    /// A part inside the resource is another claim's, or has our key and another's content.
    InnerConflict {
        /// The slot.
        slot: SlotName,
        /// The resource.
        target: Target,
        /// What the part is called: "rule".
        noun: &'static str,
        /// The part.
        key: Text,
    },
    /// The resource has no room for our tags.
    TagsFull {
        /// The slot.
        slot: SlotName,
        /// The resource.
        target: Target,
    },
    /// A deletion is blocked.
    Blocked {
        /// The resource that should go.
        target: Target,
        /// What must go first.
        blockers: Vec<Blocker>,
        /// The cloud's words.
        message: Text,
    },
    /// What controllers inside the cluster left behind in a resource of ours stands in the way of its end.
    LeftBehind {
        /// The resource of ours.
        within: Target,
        /// What was left in it.
        left: Vec<Target>,
        /// Whether another cluster of the same name uses the resource: then it may be that one's.
        namesake: bool,
    },
    /// Marks that cannot be taken off.
    CannotStrip {
        /// The resource.
        target: Target,
    },
    /// A mark that the carrier cannot hold.
    Unmarkable {
        /// The slot.
        slot: SlotName,
        /// The broken rule.
        rule: String,
    },
}

impl Finding {
    /// The id that the user wrote for a slot does not exist.
    pub(crate) fn missing(slot: &Slot, id: &ResourceId) -> Self {
        Self::Missing {
            slot: slot.name.clone(),
            field: slot.field.clone(),
            id: id.text(),
        }
    }

    /// The slot that it is about, where it is about one.
    pub fn slot(&self) -> Option<&SlotName> {
        match self {
            Self::Conflict { slot, .. }
            | Self::NameTaken { slot, .. }
            | Self::Ambiguous { slot, .. }
            | Self::Unprovable { slot, .. }
            | Self::Missing { slot, .. }
            | Self::NoneToUse { slot, .. }
            | Self::SeveralToUse { slot, .. }
            | Self::MarkLost { slot, .. }
            | Self::Held { slot, .. }
            | Self::Twins { slot, .. }
            | Self::Drift { slot, .. }
            | Self::Failed { slot, .. }
            | Self::Lost { slot, .. }
            | Self::Unknown { slot }
            | Self::Moved { slot, .. }
            | Self::StillNeeded { slot, .. }
            | Self::Kept { slot, .. }
            | Self::InnerConflict { slot, .. }
            | Self::TagsFull { slot, .. }
            | Self::Unmarkable { slot, .. } => Some(slot),
            Self::Yielded { .. }
            | Self::Blocked { .. }
            | Self::LeftBehind { .. }
            | Self::CannotStrip { .. } => None,
        }
    }

    /// The resources of the claim's own that it is about.
    pub fn targets(&self) -> Vec<&Target> {
        match self {
            Self::Conflict { target, .. }
            | Self::NameTaken { target, .. }
            | Self::MarkLost { target, .. }
            | Self::Held { target, .. }
            | Self::Drift { target, .. }
            | Self::Failed { target, .. }
            | Self::Lost { target, .. }
            | Self::Kept { target, .. }
            | Self::StillNeeded { target, .. }
            | Self::InnerConflict { target, .. }
            | Self::TagsFull { target, .. }
            | Self::Blocked { target, .. }
            | Self::CannotStrip { target } => vec![target],
            Self::LeftBehind { within, .. } => vec![within],
            Self::Twins { kept, others, .. } => std::iter::once(kept).chain(others).collect(),
            Self::Ambiguous { candidates, .. } => candidates.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The condition it belongs to.
    pub fn condition(&self) -> &'static str {
        match self {
            Self::MarkLost { .. } => "MarkLost",
            Self::Blocked { .. } | Self::LeftBehind { .. } | Self::TagsFull { .. } => "Blocked",
            Self::Drift { .. }
            | Self::CannotStrip { .. }
            | Self::Failed { .. }
            | Self::Lost { .. }
            | Self::Unknown { .. }
            | Self::StillNeeded { .. }
            | Self::Kept { .. } => "Degraded",
            Self::Missing { .. }
            | Self::NoneToUse { .. }
            | Self::SeveralToUse { .. }
            | Self::Moved { .. }
            | Self::Unmarkable { .. } => "Invalid",
            _ => "Conflict",
        }
    }

    /// Whether the end of the claim must wait for it.
    pub fn holds_the_end(&self) -> bool {
        matches!(
            self,
            Self::Held { .. }
                | Self::Blocked { .. }
                | Self::LeftBehind { .. }
                | Self::Ambiguous { .. }
                | Self::Unprovable { .. }
                | Self::Conflict {
                    owner: Owner::Disputed(_),
                    ..
                }
        )
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict {
                slot,
                target,
                owner: Owner::Legacy,
            } => write!(
                f,
                "{slot}: {target} is marked for a cluster of this name, but not by Freehold for this \
                 object; if it is this object's, adopt it: {}",
                adopt(slot)
            ),
            Self::Conflict {
                slot,
                target,
                owner: owner @ Owner::Named(_),
            } => write!(
                f,
                "{slot}: {target} is marked for the cluster {owner}; choose another name, or delete \
                 that cluster first"
            ),
            Self::Conflict {
                slot,
                target,
                owner: owner @ Owner::Disputed(_),
            } => write!(
                f,
                "{slot}: {target} belongs to {owner}, so neither touches it; take off the mark that is \
                 wrong, by hand, or end that claim: delete its object, or if that is gone, freehold \
                 orphans"
            ),
            Self::Conflict {
                slot,
                target,
                owner: Owner::Claim(other),
            } if let Some(by) = &other.held_by => write!(
                f,
                "{slot}: {target} belongs to {other}; choose another name, or end that claim there; \
                 if that management cluster is gone for good, take over what it holds: freehold \
                 take-over --from {by}"
            ),
            Self::Conflict {
                slot,
                target,
                owner,
            } => write!(
                f,
                "{slot}: {target} belongs to {owner}; choose another name, or end that claim: delete \
                 its object, or if that is gone, freehold orphans"
            ),
            Self::NameTaken { slot, target } => write!(
                f,
                "{slot}: {target} has this name and no owner's mark; choose another name, delete it, \
                 or adopt it: {}",
                adopt(slot)
            ),
            Self::Ambiguous { slot, candidates } => write!(
                f,
                "{slot}: an interrupted create left no proof, and each of {} could be its result; \
                 delete those that are not needed",
                list(candidates)
            ),
            Self::Unprovable { slot, name } => write!(
                f,
                "{slot}: a create of {name:?} was interrupted, and its client token has expired; look \
                 for what it made, and adopt it: {}",
                adopt(slot)
            ),
            Self::Missing { slot, field, id } => {
                let field = field.as_deref().unwrap_or(slot.as_str());
                write!(
                    f,
                    "{field}: {id} does not exist; correct the field, or clear it"
                )
            }
            Self::NoneToUse { slot, field, what } => {
                let field = field.as_deref().unwrap_or(slot.as_str());
                write!(
                    f,
                    "{field}: none is named, and there is no {what}; name one, or make one"
                )
            }
            Self::SeveralToUse {
                slot,
                field,
                what,
                found,
            } => {
                let field = field.as_deref().unwrap_or(slot.as_str());
                write!(
                    f,
                    "{field}: none is named, and each of {} is a {what}; name the one to use",
                    list(found)
                )
            }
            Self::MarkLost { slot, target } => write!(
                f,
                "{slot}: somebody removed Freehold's mark from {target}; it is left alone until you \
                 decide: delete it, and another is made; or adopt it: {}",
                adopt(slot)
            ),
            Self::Held { slot, target, by } => write!(
                f,
                "{slot}: {target} is held by the management cluster {}, so nothing of this object is \
                 touched; if that one is gone, confirm the take-over once: freehold take-over --from \
                 {by}",
                by.holder
            ),
            Self::Yielded { by } => write!(
                f,
                "the management cluster {} has taken this object over, so nothing of it is touched \
                 here; if that one is gone, confirm the take-over once: freehold take-over --from {by}",
                by.holder
            ),
            Self::Twins { slot, kept, others } => write!(
                f,
                "{slot}: besides {kept} there are {}; they hold data, so delete what is not needed \
                 by hand",
                list(others)
            ),
            Self::Drift {
                slot,
                target,
                prop,
                wanted,
                found,
            } => write!(
                f,
                "{slot}: {target} has {prop} {found:?} instead of {wanted:?}, which cannot be \
                 changed in place"
            ),
            Self::Failed {
                slot,
                target,
                why,
                replaced: true,
            } => write!(f, "{slot}: {target} has failed and will be replaced: {why}"),
            Self::Failed {
                slot, target, why, ..
            } => write!(
                f,
                "{slot}: {target} has failed: {why}; repair it, or delete it"
            ),
            Self::StillNeeded { slot, target } => write!(
                f,
                "{slot}: {target} is not wanted any more and stays while something refers to it"
            ),
            Self::Unknown { slot } => write!(
                f,
                "{slot}: this version does not know what that is, so it is left alone; run the version \
                 that wrote it"
            ),
            Self::Moved { slot, from } => write!(
                f,
                "{slot}: it is in {} and cannot move to another place; set that back, or delete this \
                 object and make it anew",
                from.name().unwrap_or("the first place of this object")
            ),
            Self::Kept { slot, target } => write!(
                f,
                "{slot}: {target} holds data and is not asked for any more, but the object itself does \
                 not say so: it is kept; delete it by hand if it is not needed"
            ),
            Self::Lost { slot, target } => write!(
                f,
                "{slot}: {target} is gone and is not made again, because it held more than this object \
                 says; delete this object, or restore the resource"
            ),
            Self::InnerConflict {
                slot,
                target,
                noun,
                key,
            } => {
                write!(
                    f,
                    "{slot}: the {noun} {key:?} in {target} is somebody else's and stays; remove \
                     it there, or let {slot} be another one"
                )
            }
            Self::TagsFull { slot, target } => write!(
                f,
                "{slot}: {target} has no room for another tag; remove one that is not needed"
            ),
            Self::Blocked {
                target,
                blockers,
                message,
            } if blockers.is_empty() => {
                write!(f, "{target} cannot be deleted yet: {message}")
            }
            Self::Blocked {
                target, blockers, ..
            } => {
                write!(f, "{target} cannot be deleted before {}", list(blockers))
            }
            Self::LeftBehind {
                within,
                left,
                namesake,
            } => {
                write!(
                    f,
                    "{within} cannot be deleted before what controllers inside the cluster left behind \
                     in it: {}; ",
                    list(left)
                )?;
                if *namesake {
                    write!(
                        f,
                        "another cluster of the same name uses {within}, so it cannot be told whose they \
                         are: delete by hand what is not needed"
                    )
                } else {
                    write!(
                        f,
                        "delete them by hand, or let Freehold do that: set the annotation \
                         freehold.dev/left-behind to delete"
                    )
                }
            }
            Self::CannotStrip { target } => {
                write!(
                    f,
                    "{target} keeps our mark: this kind's marks are written once and for all"
                )
            }
            Self::Unmarkable { slot, rule } => write!(f, "{slot}: cannot be marked: {rule}"),
        }
    }
}

/// How a person says that a slot's resource is ours.
fn adopt(slot: &SlotName) -> String {
    format!("set the annotation freehold.dev/adopt to {slot}")
}

fn list(items: &[impl fmt::Display]) -> String {
    items
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Why something was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Everything is as it is wanted.
    AtRest,
    /// Nothing may be written to a cloud before UUID and finalizers are on the object.
    Unpinned,
    /// The recorded id of a slot is only a hint.
    CheckRecorded(SlotName),
    /// Marks say what is ours.
    FindByMarks(&'static str),
    /// The name may be taken.
    FindByName(Text),
    /// The slot refers to what exists already.
    FindExisting(SlotName),
    /// What is there before a create without a birth proof.
    TakeBeforeImage(SlotName),
    /// What is inside must be compared with what is wanted.
    CompareInner(&'static str),
    /// A Step may rest only on a fresh read.
    Refresh(Target),
    /// Nothing recorded, marked or named for the slot exists.
    NothingFound(SlotName),
    /// The id that the object names leads to nothing, and nothing else is there.
    NotThere(SlotName, ResourceId),
    /// What filled the slot is gone.
    Gone(SlotName, ResourceId),
    /// The announced create may not have taken effect; its client token makes a repetition safe.
    RepeatByToken(SlotName, u32),
    /// The announced create did not take effect: its time is over and nothing came.
    RepeatAfterSettling(SlotName, u32),
    /// The id is recorded as soon as it is known.
    RecordNew(SlotName),
    /// Marks or name showed the slot's resource.
    RecordFound(SlotName),
    /// It is ours and carries no mark yet.
    MarkNew(SlotName),
    /// Its mark is incomplete.
    RepairMark(SlotName),
    /// Evidence on the object says that it is ours.
    Adopt(SlotName),
    /// Its resource has been seen by marks.
    SeenByMarks,
    /// The cloud refused it, so it will not come.
    Refused(SlotName),
    /// The time in which it could have come is over.
    NeverCame(SlotName),
    /// A secret has changed since the create was announced, so that attempt is given up.
    SecretChanged(SlotName),
    /// The slot has one too many.
    Twin(ResourceId),
    /// It was condemned as a twin.
    Condemned(ResourceId),
    /// It cannot be recorded and has no mark: it is taken back.
    RollBack(SlotName),
    /// A part is wanted and not there, or differs.
    InnerMissing(SlotName),
    /// A part is there and not wanted.
    InnerSurplus(SlotName),
    /// A property differs.
    PropsDiffer(SlotName),
    /// Another management cluster holds it: that is written down.
    Yield(SlotName),
    /// What we put into a resource of ours is written down: what others put there is theirs.
    NoteParts(SlotName),
    /// What we add to somebody's resource is announced first.
    AnnounceTraces(SlotName),
    /// Another claim needs the same part: it gets our mark too.
    Join(SlotName),
    /// Another claim needs the same part: it only loses our mark.
    Leave,
    /// What could meet somebody else's if it is late is announced first.
    AnnounceCall,
    /// Nothing of it can be late any more.
    Settled,
    /// The resource is used by this claim and does not say so.
    MarkUsed(SlotName),
    /// The object does not ask for the slot any more.
    Unwanted(SlotName),
    /// What we added is not asked for any more.
    TraceUnwanted,
    /// The claim ends.
    Ends,
    /// The claim ends, and its resources are given back.
    Retains,
    /// The claim ends, and what it added to somebody's resource goes.
    EraseTraces,
    /// The cluster mark goes from everything that carries it.
    Sweep,
    /// Controllers inside the cluster left it behind in this resource of ours, and a person has asked for
    /// its end.
    LeftBehind(ResourceId),
    /// Marks are looked up once more after the last deletion.
    LastLook(&'static str),
    /// Nothing of ours is left.
    NothingLeft,
    /// An announced create may still take effect.
    AwaitIntent(SlotName),
    /// Reads may still show the state before the last write.
    AwaitSettling(ResourceId),
    /// Something announced for somebody's resource may still take effect.
    AwaitTrace(ResourceId),
    /// Another claim may still be removing the part that it shared with us.
    AwaitJoin(ResourceId),
    /// A call on it may still take effect.
    AwaitCall(ResourceId),
    /// Creates of this Kind that may still take effect.
    AwaitCreates(&'static str),
    /// What the management cluster before this one has sent may still take effect.
    AwaitTakeOver(ResourceId),
    /// The resource is not usable yet.
    AwaitReady(ResourceId),
    /// The operation that makes the slot's resource runs.
    AwaitOperation(SlotName),
    /// It is being deleted.
    AwaitGone(ResourceId),
    /// It has failed, and is replaced after a while.
    Failed(ResourceId),
    /// A call failed: nothing new is begun in this pass.
    CallFailed,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtRest => write!(f, "all resources are in place"),
            Self::Unpinned => write!(f, "UUID and finalizers come before the first cloud write"),
            Self::CheckRecorded(slot) => write!(f, "the recorded id of {slot} is only a hint"),
            Self::FindByMarks(kind) => write!(f, "find by marks what is ours of {kind}"),
            Self::FindByName(name) => write!(f, "the name {name} may be taken"),
            Self::FindExisting(slot) => write!(f, "find what {slot} refers to"),
            Self::TakeBeforeImage(slot) => {
                write!(f, "note what looks like {slot} before it is made")
            }
            Self::CompareInner(kind) => write!(f, "compare each {kind} with what is wanted"),
            Self::Refresh(target) => {
                write!(f, "{target} must be read freshly before it is changed")
            }
            Self::NothingFound(slot) => {
                write!(f, "no existing {slot} found")
            }
            Self::NotThere(slot, id) => {
                write!(f, "{id}, which the object names for {slot}, does not exist")
            }
            Self::Gone(slot, id) => write!(f, "{id}, which filled {slot}, is gone"),
            Self::RepeatByToken(slot, attempt) => {
                write!(
                    f,
                    "attempt {attempt} at {slot} is repeated under its client token"
                )
            }
            Self::RepeatAfterSettling(slot, attempt) => {
                write!(
                    f,
                    "attempt {attempt} at {slot} had no effect and its time is over"
                )
            }
            Self::RecordNew(slot) => write!(f, "the new id of {slot} is recorded at once"),
            Self::RecordFound(slot) => write!(f, "the resource of {slot} was found"),
            Self::MarkNew(slot) => write!(f, "{slot} is ours and not marked yet"),
            Self::RepairMark(slot) => write!(f, "the mark of {slot} is incomplete"),
            Self::Adopt(slot) => write!(f, "evidence on the object says that {slot} is ours"),
            Self::SeenByMarks => write!(f, "its resource was seen by marks"),
            Self::Refused(slot) => write!(f, "the cloud refused to create {slot}"),
            Self::NeverCame(slot) => write!(f, "the create of {slot} had no effect"),
            Self::SecretChanged(slot) => write!(
                f,
                "the create of {slot} had no effect, and is not repeated: a secret of it has changed"
            ),
            Self::Twin(kept) => write!(f, "the slot has one too many; {kept} is kept"),
            Self::Condemned(id) => write!(f, "{id} was condemned as a twin"),
            Self::RollBack(slot) => write!(f, "{slot} could not be recorded, so it is taken back"),
            Self::InnerMissing(slot) => write!(f, "wanted in {slot} and not there"),
            Self::InnerSurplus(slot) => write!(f, "in {slot} and not wanted"),
            Self::PropsDiffer(slot) => write!(f, "{slot} differs from what is wanted"),
            Self::AnnounceTraces(slot) => {
                write!(f, "{slot} is not ours: what we add is written down first")
            }
            Self::Yield(slot) => write!(f, "another management cluster holds {slot}"),
            Self::NoteParts(slot) => write!(f, "what we put into {slot} is written down"),
            Self::Join(slot) => write!(f, "another claim needs it too ({slot})"),
            Self::Leave => write!(f, "another claim still needs it: it only loses our mark"),
            Self::AnnounceCall => write!(f, "what could be late is written down first"),
            Self::Settled => write!(f, "nothing of it can be late any more"),
            Self::MarkUsed(slot) => write!(f, "this cluster uses it ({slot})"),
            Self::Unwanted(slot) => write!(f, "{slot} is not wanted any more"),
            Self::TraceUnwanted => write!(f, "what was added is not wanted any more"),
            Self::Ends => write!(f, "the claim ends"),
            Self::Retains => write!(f, "the claim ends and its resources are retained"),
            Self::EraseTraces => write!(f, "the claim ends; what it added goes"),
            Self::Sweep => write!(f, "the claim ends; its cluster mark goes"),
            Self::LeftBehind(within) => write!(
                f,
                "controllers inside the cluster left it behind in {within}, which ends, and the object \
                 says that it goes, too"
            ),
            Self::LastLook(kind) => write!(f, "one last look for {kind} by marks"),
            Self::NothingLeft => write!(f, "nothing of the claim is left"),
            Self::AwaitIntent(slot) => write!(f, "the create of {slot} may still take effect"),
            Self::AwaitSettling(id) => write!(f, "waiting for {id} to become visible"),
            Self::AwaitTrace(id) => write!(f, "what was added to {id} may still take effect"),
            Self::AwaitJoin(id) => {
                write!(
                    f,
                    "another claim may still be removing what it shared in {id}"
                )
            }
            Self::AwaitCall(id) => {
                write!(f, "a call on {id} may still take effect")
            }
            Self::AwaitCreates(kind) => {
                write!(f, "a create of {kind} may still take effect")
            }
            Self::AwaitTakeOver(id) => {
                write!(f, "whoever held {id} before may still be changing it")
            }
            Self::AwaitReady(id) => write!(f, "{id} is not ready yet"),
            Self::AwaitOperation(slot) => write!(f, "the cloud is still making {slot}"),
            Self::AwaitGone(id) => write!(f, "{id} is being deleted"),
            Self::Failed(id) => write!(f, "{id} has failed"),
            Self::CallFailed => write!(f, "a call failed, so nothing new is begun"),
        }
    }
}

impl From<(&Target, &CloudError)> for Finding {
    fn from((target, error): (&Target, &CloudError)) -> Self {
        let blockers = match &error.class {
            Class::Blocked(blockers) => blockers.clone(),
            _ => Vec::new(),
        };
        Self::Blocked {
            target: target.clone(),
            blockers,
            message: error.message.clone(),
        }
    }
}
