//! The ledger: our record on the object. A convenience, never the truth.

use std::collections::{BTreeMap, BTreeSet};

use crate::blueprint::{Slot, SlotName};
use crate::error::CloudError;
use crate::kind::{Ids, Kind};
use crate::part::{Props, Resource};
use crate::place::{KindAt, Place};
use crate::query::Target;
use crate::secret::Digests;
use crate::text::{ResourceId, Text};
use crate::time::CloudTime;
use crate::verdict::Held;

/// Our record on a Kubernetes object.
///
/// `ids` stand where the served API wants them, in spec or status, and may be lost with a status.
/// Everything else is in the object's metadata, which survives a backup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Whether UUID and finalizers are on the object: before that, nothing is written to a cloud.
    pub pinned: bool,
    /// Whether nothing on the object said that it was ever pinned when it was read: then nothing in
    /// a cloud can carry its mark, and nothing of it needs to be looked for by marks.
    pub is_new: bool,
    /// The recorded id of each slot. Hints, if we wrote them; wishes, if the user did (law 6).
    pub ids: BTreeMap<SlotName, ResourceId>,
    /// Creates whose outcome has not been seen by marks yet.
    pub intents: BTreeMap<SlotName, Intent>,
    /// The highest attempt of each slot so far. An intent closes only when its resource was seen or
    /// is known never to come, so the next intent is always the next attempt.
    pub attempts: BTreeMap<SlotName, u32>,
    /// The resources whose ids we wrote, and how we came by them.
    pub known: BTreeMap<Target, Known>,
    /// Twins on their way out: never recorded, never kept.
    pub condemned: BTreeSet<Target>,
    /// What we added to resources that we only use (law 7), and its last announcement.
    pub traces: BTreeMap<Trace, u32>,
    /// Of these, parts that were another claim's when we marked them too: it may still remove them on
    /// what it read before, so they count as there only when that cannot happen any more (law 1).
    pub joined: BTreeSet<Trace>,
    /// Of these, parts that we took our mark off, because another claim needed them: whoever is the
    /// last to do so removes them.
    pub left: BTreeSet<Trace>,
    /// Another management cluster that was seen to hold the claim: it is left alone until that one's
    /// take-over is confirmed, also when nothing of it is left to be seen.
    pub yielded: Option<Held>,
    /// Resources with calls that could meet another claim's if they are late: the resource outlives
    /// this claim, or is known only by its name. And the last announcement of each.
    pub calls: BTreeMap<Target, u32>,
    /// How many calls and traces were ever announced: no announcement has the number of another, so
    /// that nobody takes a new one for one that he has known for long.
    pub announced: u32,
    /// The highest revision of its system's slots that wrote it.
    pub revision: u32,
}

/// A create that was decided: written and acknowledged before the call is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The Kind.
    pub kind: &'static Kind,
    /// Where.
    pub place: Place,
    /// Which attempt it is.
    pub attempt: u32,
    /// How often it was announced: each call has an announcement of its own, so that everybody can
    /// tell when the last one's time is over.
    pub sends: u32,
    /// The name that is sent.
    pub name: Text,
    /// The properties that are sent: a repetition sends the same, later differences are repairs.
    pub props: Props,
    /// What tells whether the secrets that are sent are still the same: only then it is repeated.
    pub secrets: Digests,
    /// What was there before, for Kinds whose birth proof is only circumstantial.
    pub before: Option<BeforeImage>,
    /// Not a create but an adoption: the resource that evidence on the object says is ours.
    pub adopts: Option<ResourceId>,
    /// The cloud's name for the operation that the create began: while it runs nothing is sent again.
    pub operation: Option<Text>,
}

impl Intent {
    /// The Kind and the place of what it makes.
    pub fn kind_at(&self) -> KindAt {
        KindAt {
            kind: self.kind,
            place: self.place.clone(),
        }
    }

    /// What it makes, by the id that the cloud gives it.
    pub fn target(&self, id: ResourceId) -> Target {
        Target::at(&self.place, self.kind, id)
    }
}

/// What a look-up showed before a create without a birth proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeforeImage {
    /// The resources that looked alike then.
    pub ids: BTreeSet<ResourceId>,
    /// The cloud's own time of that look-up.
    pub at: CloudTime,
}

/// What we know of a resource whose id we wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The slot it fills.
    pub slot: SlotName,
    /// How we came by it.
    pub origin: Origin,
    /// What the cloud calls this very resource, where its id is only a name (law 6).
    pub unique: Option<Text>,
    /// The parts that we put into it: what others put there is theirs. `None` in a record that is
    /// older than this list.
    pub wrote: Option<BTreeSet<Part>>,
    /// The user's tags that we wrote to it.
    pub tags: BTreeSet<(Text, Text)>,
}

/// A part inside a resource: its inner Kind's name and its key.
pub type Part = (&'static str, Text);

impl Known {
    /// What fills a slot, and how we came by it.
    pub fn new(slot: &Slot, origin: Origin, resource: &Resource) -> Self {
        Self {
            slot: slot.name.clone(),
            origin,
            unique: resource.unique.clone(),
            wrote: None,
            tags: BTreeSet::new(),
        }
    }

    /// What fills a slot of ours, as its mark says that no ledger lists.
    pub(crate) fn unrecorded(slot: &SlotName) -> Self {
        Self {
            slot: slot.clone(),
            origin: Origin::Created,
            unique: None,
            wrote: None,
            tags: BTreeSet::new(),
        }
    }

    /// Whether this is the resource that was recorded, and not another of that name.
    pub fn is(&self, kind: &Kind, resource: &Resource) -> bool {
        kind.ids == Ids::Unique || (self.unique.is_some() && self.unique == resource.unique)
    }

    /// The same, with what an earlier record knew of the very same resource besides.
    fn after(mut self, earlier: Option<Self>) -> Self {
        if let Some(earlier) = earlier {
            if self.unique.is_none() {
                self.unique = earlier.unique;
                self.wrote = self.wrote.or(earlier.wrote);
                self.tags.extend(earlier.tags);
            } else if self.unique == earlier.unique || earlier.unique.is_none() {
                self.wrote = self.wrote.or(earlier.wrote);
                self.tags.extend(earlier.tags);
            }
        }
        self
    }
}

/// How we came by a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Our create call returned it, or a look-up by marks showed it as ours.
    Created,
    /// Evidence on the object said that it is ours, before it had a Freehold mark.
    Adopted,
    /// It had our name and no owner: used, not owned.
    Found,
}

/// Something that we add to a resource that is not ours: announced like a create, so that an effect
/// that comes late is waited for and found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trace {
    /// The resource.
    pub on: Target,
    /// What we add to it.
    pub what: TraceOf,
}

/// What a trace consists of. Inner parts sort first: a mark that names one goes after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceOf {
    /// A part inside it.
    Inner {
        /// The inner Kind's name.
        inner: &'static str,
        /// The part's key.
        key: Text,
    },
    /// A tag whose key was not there before.
    Tag {
        /// The key.
        key: Text,
        /// The value that we gave it.
        value: Text,
    },
}

/// One change to the ledger. A write is a list of them, applied together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Pin UUID and finalizers.
    Pin,
    /// Record a slot's resource.
    Record {
        /// The slot.
        slot: SlotName,
        /// The resource.
        target: Target,
        /// What we know of it.
        known: Known,
    },
    /// Note a resource of ours in the metadata only: at the end of a claim nothing needs its status.
    Know {
        /// The resource.
        target: Target,
        /// What we know of it.
        known: Known,
    },
    /// Announce a create.
    OpenIntent {
        /// The slot.
        slot: SlotName,
        /// What will be sent.
        intent: Intent,
    },
    /// The create's resource was seen by marks, or is known never to come.
    CloseIntent {
        /// The slot.
        slot: SlotName,
    },
    /// The create has begun an operation of the cloud.
    Running {
        /// The slot.
        slot: SlotName,
        /// The cloud's name for it.
        operation: Text,
    },
    /// The operation has failed: nothing will come of the create.
    Failed {
        /// The slot.
        slot: SlotName,
        /// The cloud's reason.
        error: CloudError,
    },
    /// A twin will be deleted.
    Condemn {
        /// The twin.
        target: Target,
        /// What we know of it.
        known: Known,
    },
    /// A resource of ours is gone for good: forget its id and its sentence.
    Gone {
        /// The resource.
        target: Target,
    },
    /// These are the parts that we put into a resource of ours, or are about to.
    Wrote {
        /// The resource.
        target: Target,
        /// All of them.
        parts: BTreeSet<Part>,
    },
    /// These are the user's tags that we wrote to a resource of ours, or are about to.
    Tagged {
        /// The resource.
        target: Target,
        /// All of them.
        tags: BTreeSet<(Text, Text)>,
    },
    /// Something will be added to a resource that is not ours.
    Trace(Trace),
    /// It is another claim's too, and will get our mark besides.
    Join(Trace),
    /// Nobody can be removing it any more on what was read before our mark.
    Joined(Trace),
    /// Our mark will be taken off it, because it is another claim's too.
    Leave(Trace),
    /// It is gone again.
    Erase(Trace),
    /// A call on a resource will be sent that could meet another claim's if it is late.
    Call {
        /// The resource.
        target: Target,
        /// The announcement before, if a call of that one may still be under way.
        after: Option<u32>,
    },
    /// Every such call has taken effect.
    Answered(Target),
    /// This build knows the slots of this revision.
    Revision(u32),
    /// Another management cluster holds the claim.
    Yield(Held),
    /// Nothing of ours is left: remove the finalizers.
    Finish,
}

impl Edit {
    /// The resource that it is about, where its id is known.
    pub fn target(&self) -> Option<&Target> {
        match self {
            Self::Record { target, .. }
            | Self::Know { target, .. }
            | Self::Condemn { target, .. }
            | Self::Gone { target }
            | Self::Wrote { target, .. }
            | Self::Tagged { target, .. }
            | Self::Call { target, .. }
            | Self::Answered(target) => Some(target),
            Self::Trace(trace)
            | Self::Join(trace)
            | Self::Joined(trace)
            | Self::Leave(trace)
            | Self::Erase(trace) => Some(&trace.on),
            Self::Pin
            | Self::OpenIntent { .. }
            | Self::CloseIntent { .. }
            | Self::Running { .. }
            | Self::Failed { .. }
            | Self::Revision(_)
            | Self::Yield(_)
            | Self::Finish => None,
        }
    }
}

impl Ledger {
    /// Whether anything was made, marked, used or announced.
    pub fn tells_of_anything(&self) -> bool {
        let Self {
            pinned: _,
            ids,
            intents,
            attempts: _,
            known,
            condemned,
            traces,
            joined: _,
            left: _,
            calls,
            announced: _,
            revision: _,
            is_new: _,
            yielded: _,
        } = self;
        let empty = ids.is_empty()
            && intents.is_empty()
            && known.is_empty()
            && condemned.is_empty()
            && traces.is_empty()
            && calls.is_empty();
        !empty
    }

    /// Applies one change.
    pub fn apply(&mut self, edit: &Edit) {
        match edit {
            Edit::Pin => self.pinned = true,
            Edit::Record {
                slot,
                target,
                known,
            } => {
                self.ids.insert(slot.clone(), target.id.clone());
                self.know(target, known);
            }
            Edit::Know { target, known } => self.know(target, known),
            Edit::OpenIntent { slot, intent } => {
                let last = self.attempts.entry(slot.clone()).or_default();
                *last = (*last).max(intent.attempt);
                self.intents.insert(slot.clone(), intent.clone());
            }
            Edit::Running { slot, operation } => {
                if let Some(intent) = self.intents.get_mut(slot) {
                    intent.operation = Some(operation.clone());
                }
            }
            Edit::CloseIntent { slot } | Edit::Failed { slot, .. } => {
                self.intents.remove(slot);
            }
            Edit::Condemn { target, known } => {
                self.condemned.insert(target.clone());
                self.know(target, known);
            }
            Edit::Gone { target } => {
                self.condemned.remove(target);
                let slot = self.known.remove(target).map(|known| known.slot);
                if let Some(slot) = slot.filter(|slot| self.ids.get(slot) == Some(&target.id)) {
                    self.ids.remove(&slot);
                }
            }
            Edit::Trace(trace) => {
                self.announced = self.announced.saturating_add(1);
                self.traces.insert(trace.clone(), self.announced);
                self.left.remove(trace);
            }
            Edit::Wrote { target, parts } => {
                if let Some(known) = self.known.get_mut(target) {
                    known.wrote = Some(parts.clone());
                }
            }
            Edit::Tagged { target, tags } => {
                if let Some(known) = self.known.get_mut(target) {
                    known.tags.clone_from(tags);
                }
            }
            Edit::Revision(revision) => self.revision = *revision,
            Edit::Join(trace) => {
                self.joined.insert(trace.clone());
            }
            Edit::Joined(trace) => {
                self.joined.remove(trace);
            }
            Edit::Leave(trace) => {
                self.left.insert(trace.clone());
            }
            Edit::Erase(trace) => {
                self.traces.remove(trace);
                self.joined.remove(trace);
                self.left.remove(trace);
            }
            Edit::Call { target, .. } => {
                self.announced = self.announced.saturating_add(1);
                self.calls.insert(target.clone(), self.announced);
            }
            Edit::Answered(target) => {
                self.calls.remove(target);
            }
            Edit::Yield(held) => self.yielded = Some(held.clone()),
            Edit::Finish => *self = Self::default(),
        }
    }

    fn know(&mut self, target: &Target, known: &Known) {
        let earlier = self.known.remove(target);
        self.known
            .insert(target.clone(), known.clone().after(earlier));
    }
}
