//! Steps: one side effect each, with the right to it.

use uuid::Uuid;

use crate::blueprint::SlotName;
use crate::kind::Kind;
use crate::mark::Tags;
use crate::part::{InnerPart, Props};
use crate::query::Target;
use crate::text::Text;
use crate::time::{FRESH, Tick};
use crate::verdict::Owned;

/// One side effect on the cloud.
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
    /// Remove parts from inside a resource: derived from an owned resource, or marked as ours.
    RemoveInner {
        /// The resource.
        target: Target,
        /// The inner Kind's name.
        inner: &'static str,
        /// The parts.
        parts: Vec<InnerPart>,
    },
    /// Change properties of a resource in place.
    Update {
        /// The resource, with the proof that it is ours.
        owned: Owned,
        /// The properties to set.
        props: Props,
    },
    /// Delete a resource.
    Delete {
        /// The resource, with the proof that it is ours.
        owned: Owned,
    },
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

impl Step {
    /// A deletion; `None` unless the proof is fresh and this management cluster holds the claim.
    pub fn delete(owned: Owned, now: Tick) -> Option<Self> {
        (owned.held_by().is_none() && owned.is_fresh() && now - owned.read_at() <= FRESH)
            .then_some(Self::Delete { owned })
    }

    /// A change in place, under the same conditions as a deletion.
    pub fn update(owned: Owned, props: Props, now: Tick) -> Option<Self> {
        (owned.held_by().is_none() && owned.is_fresh() && now - owned.read_at() <= FRESH)
            .then_some(Self::Update { owned, props })
    }

    /// The resources it works on; none for a create, whose id is not known yet.
    pub fn targets(&self) -> &[Target] {
        match self {
            Self::Create(_) => &[],
            Self::Mark { targets, .. } | Self::Unmark { targets, .. } => targets,
            Self::AddInner { target, .. } | Self::RemoveInner { target, .. } => {
                std::slice::from_ref(target)
            }
            Self::Update { owned, .. } | Self::Delete { owned } => {
                std::slice::from_ref(owned.target())
            }
        }
    }

    /// The name of the Kind it works on.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Create(create) => create.kind.name,
            _ => self.targets().first().map_or("", |target| target.kind),
        }
    }

    /// What it does, as the word that begins its line in a plan.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Create(_) => "create",
            Self::Mark { .. } => "mark",
            Self::Unmark { .. } => "unmark",
            Self::AddInner { .. } => "add",
            Self::RemoveInner { .. } => "remove",
            Self::Update { .. } => "update",
            Self::Delete { .. } => "delete",
        }
    }
}
