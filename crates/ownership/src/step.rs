//! Steps: one side effect each, with the right to it.

use std::sync::Arc;

use uuid::Uuid;

use crate::blueprint::SlotName;
use crate::error::CloudError;
use crate::kind::Kind;
use crate::mark::Tags;
use crate::part::{InnerPart, Props, Resource};
use crate::place::Place;
use crate::query::{InnerAnswer, Target, move_to};
use crate::secret::Secrets;
use crate::text::Text;
use crate::time::{FRESH, Tick};
use crate::verdict::{Owned, OwnedPart};

/// One side effect on the cloud.
///
/// What takes away or changes holds its proof in fields that only [`Step::delete`], [`Step::update`]
/// and [`Step::remove`] can fill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Create a resource for a slot; its intent has been acknowledged.
    Create(Create),
    /// Add the same tags to resources.
    Mark {
        /// The resources: one, unless it is for traces.
        targets: Vec<Target>,
        /// The tags.
        tags: Vec<(Text, Text)>,
        /// By what right.
        right: MarkRight,
    },
    /// Remove these very tags, key and value, from resources.
    Unmark {
        /// The resources: one, unless it is for traces.
        targets: Vec<Target>,
        /// The tags.
        tags: Vec<(Text, Text)>,
        /// By what right.
        right: UnmarkRight,
    },
    /// Add parts inside a resource, or change those whose key is there.
    AddInner {
        /// The resource.
        target: Target,
        /// The inner Kind's name.
        inner: &'static str,
        /// The parts.
        parts: Vec<InnerPart>,
    },
    /// Add our mark to parts inside somebody's resource that are there for another claim too.
    MarkInner(PartTags),
    /// Take our mark off parts inside somebody's resource: another claim still needs them.
    UnmarkInner(PartTags),
    /// Remove parts from inside a resource.
    RemoveInner(Removal),
    /// Change properties of a resource in place.
    Update(Update),
    /// Delete a resource.
    Delete(Deletion),
}

/// What an acknowledged Step came to.
#[derive(Clone, Debug, Default)]
pub struct Effect {
    /// The resource that a create made, as the cloud described it in its answer. `None` while only an
    /// operation is known.
    pub born: Option<Arc<Resource>>,
    /// What came along inside it, as far as the answer tells.
    pub inner: Vec<InnerAnswer>,
    /// The cloud's name for the operation that a create has begun.
    pub operation: Option<Text>,
}

/// A create call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Create {
    /// The slot it fills.
    pub slot: SlotName,
    /// The Kind.
    pub kind: &'static Kind,
    /// Where.
    pub place: Place,
    /// Which attempt it is.
    pub attempt: u32,
    /// The name.
    pub name: Text,
    /// The properties.
    pub props: Props,
    /// The secret ones: the request gets them, and nothing else.
    pub secrets: Secrets,
    /// The tags that ride on the call; empty where marks need a second one.
    pub tags: Tags,
    /// The client token, where the Kind takes one.
    pub token: Option<Uuid>,
}

/// Tags of parts inside a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartTags {
    /// The resource.
    pub target: Target,
    /// The inner Kind's name.
    pub inner: &'static str,
    /// The parts, as they were read.
    pub parts: Vec<InnerPart>,
    /// The tags that are added to each, or taken off.
    pub tags: Vec<(Text, Text)>,
}

/// The removal of parts, with the proof that each is ours to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    target: Target,
    inner: &'static str,
    parts: Vec<InnerPart>,
    read_at: Tick,
}

/// A change in place, with the proof that the resource is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    owned: Owned,
    props: Props,
}

/// A deletion, with the proof that the resource is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    owned: Owned,
}

/// By what right tags are added to a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkRight {
    /// It is ours, and its mark is incomplete or names another holder.
    Repair(Owned),
    /// Our open intent says that it is ours: just created, or adopted.
    Birth,
    /// It is somebody's, and the ledger says which tags are ours.
    Trace,
}

/// By what right tags are removed from a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnmarkRight {
    /// It is ours, and is given back to its user.
    Retain(Owned),
    /// The ledger says that we added exactly these.
    Trace,
}

impl Effect {
    /// The same, in this place: who answers for a place does not know what a claim calls it.
    #[must_use]
    pub fn at(mut self, place: &Place) -> Self {
        self.born.iter_mut().for_each(|born| move_to(place, born));
        let inner = self.inner.iter_mut();
        inner.for_each(|told| told.of.place = place.clone());
        self
    }
}

impl Removal {
    /// The resource.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The inner Kind's name.
    pub fn inner(&self) -> &'static str {
        self.inner
    }

    /// The parts, as they were read.
    pub fn parts(&self) -> &[InnerPart] {
        &self.parts
    }

    /// When the oldest proof was read.
    pub fn read_at(&self) -> Tick {
        self.read_at
    }
}

impl Update {
    /// The resource, with the proof that it is ours.
    pub fn owned(&self) -> &Owned {
        &self.owned
    }

    /// The properties to set.
    pub fn props(&self) -> &Props {
        &self.props
    }
}

impl Deletion {
    /// The resource, with the proof that it is ours.
    pub fn owned(&self) -> &Owned {
        &self.owned
    }

    /// The resource.
    pub fn target(&self) -> &Target {
        self.owned.target()
    }
}

impl Step {
    /// A deletion; `None` unless the proof is fresh and this management cluster holds the claim.
    pub fn delete(owned: Owned, now: Tick) -> Option<Self> {
        let permitted = owned.permits(now);
        permitted.then_some(Self::Delete(Deletion { owned }))
    }

    /// A change in place, under the same conditions as a deletion.
    pub fn update(owned: Owned, props: Props, now: Tick) -> Option<Self> {
        let permitted = owned.permits(now);
        permitted.then_some(Self::Update(Update { owned, props }))
    }

    /// The removal of parts of one inner Kind from one resource; `None` unless every proof is fresh,
    /// and for none at all.
    pub fn remove(parts: Vec<OwnedPart>, now: Tick) -> Option<Self> {
        let first = parts.first()?;
        let (target, inner) = (first.of().clone(), first.inner());
        let alike = |part: &OwnedPart| {
            *part.of() == target
                && part.inner() == inner
                && part.is_fresh()
                && now - part.read_at() <= FRESH
        };
        if !parts.iter().all(alike) {
            return None;
        }
        let read_at = parts.iter().map(OwnedPart::read_at).min()?;
        Some(Self::RemoveInner(Removal {
            target,
            inner,
            parts: parts.into_iter().map(OwnedPart::into_part).collect(),
            read_at,
        }))
    }

    /// The resources it works on; none for a create, whose id is not known yet.
    pub fn targets(&self) -> &[Target] {
        let one = std::slice::from_ref;
        match self {
            Self::Create(_) => &[],
            Self::Mark { targets, .. } | Self::Unmark { targets, .. } => targets,
            Self::AddInner { target, .. } => one(target),
            Self::MarkInner(tags) | Self::UnmarkInner(tags) => one(&tags.target),
            Self::RemoveInner(removal) => one(&removal.target),
            Self::Update(update) => one(update.owned.target()),
            Self::Delete(deletion) => one(deletion.target()),
        }
    }

    /// Whether it works on this resource, or refers to it.
    pub fn names(&self, target: &Target) -> bool {
        let in_parts = |parts: &[InnerPart]| {
            let mut parts = parts.iter();
            parts.any(|it| target.id.is_named_in(&it.key) || target.id.is_named_in(&it.value))
        };
        let in_props = |props: &Props| props.iter().any(|(_, it)| target.id.is_named_in(it));
        let refers = match self {
            Self::Create(create) => in_props(&create.props),
            Self::Update(update) => in_props(&update.props),
            Self::AddInner { parts, .. } => in_parts(parts),
            Self::MarkInner(tags) | Self::UnmarkInner(tags) => in_parts(&tags.parts),
            Self::RemoveInner(removal) => in_parts(&removal.parts),
            Self::Mark { .. } | Self::Unmark { .. } | Self::Delete(_) => false,
        };
        refers || self.targets().contains(target)
    }

    /// The Kind it works on; `None` if it works on nothing.
    pub fn kind(&self) -> Option<&'static Kind> {
        match self {
            Self::Create(create) => Some(create.kind),
            _ => self.targets().first().map(|target| target.kind),
        }
    }

    /// Where it is done: everything that one Step works on is in one place.
    pub fn place(&self) -> &Place {
        match self {
            Self::Create(create) => &create.place,
            _ => self
                .targets()
                .first()
                .map_or(&Place::HOME, |target| &target.place),
        }
    }

    /// Whether it takes something away.
    pub fn takes_away(&self) -> bool {
        match self {
            Self::Delete(_) | Self::RemoveInner(_) | Self::Unmark { .. } | Self::UnmarkInner(_) => {
                true
            }
            Self::Create(_)
            | Self::Mark { .. }
            | Self::AddInner { .. }
            | Self::MarkInner(_)
            | Self::Update(_) => false,
        }
    }

    /// A failure of it as it may be told: without the cloud's words, if they repeat a secret.
    #[must_use]
    pub fn withhold(&self, error: CloudError) -> CloudError {
        match self {
            Self::Create(create) => create.secrets.withhold(error),
            _ => error,
        }
    }

    /// What it does, as the word that begins its line in a plan.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Create(_) => "create",
            Self::Mark { .. } | Self::MarkInner(_) => "mark",
            Self::Unmark { .. } | Self::UnmarkInner(_) => "unmark",
            Self::AddInner { .. } => "add",
            Self::RemoveInner(_) => "remove",
            Self::Update(_) => "update",
            Self::Delete(_) => "delete",
        }
    }
}
