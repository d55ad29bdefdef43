//! Steps: one side effect each, with the right to it.

use uuid::Uuid;

use crate::blueprint::SlotName;
use crate::kind::Kind;
use crate::mark::Tags;
use crate::part::{InnerPart, Props};
use crate::query::Target;
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

/// A create call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Create {
    /// The slot it fills.
    pub slot: SlotName,
    /// The Kind.
    pub kind: &'static Kind,
    /// Which attempt it is.
    pub attempt: u32,
    /// The name.
    pub name: Text,
    /// The properties.
    pub props: Props,
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

    /// The Kind it works on; `None` if it works on nothing.
    pub fn kind(&self) -> Option<&'static Kind> {
        match self {
            Self::Create(create) => Some(create.kind),
            _ => self.targets().first().map(|target| target.kind),
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
