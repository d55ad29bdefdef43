//! Queries: what the engine asks a cloud, and what a cloud answers.

use std::sync::Arc;

use crate::kind::Kind;
use crate::part::{InnerPart, Props, Resource};
use crate::text::{ResourceId, Text};
use crate::time::CloudTime;

/// A resource, named: its Kind and its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The Kind.
    pub kind: &'static Kind,
    /// The cloud's id.
    pub id: ResourceId,
}

/// A question about the state of the cloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// The resource with this id.
    Id(Target),
    /// The resources with this name, within the parent where names are unique only there.
    Name {
        /// The Kind.
        kind: &'static Kind,
        /// The name.
        name: Text,
        /// The property that names the parent, and the parent's id.
        within: Option<(&'static str, Text)>,
    },
    /// The resources that carry a tag with one of these keys: a look-up by marks.
    Marks {
        /// The Kind.
        kind: &'static Kind,
        /// The keys.
        keys: Vec<Text>,
    },
    /// The resources with these properties, and this name unless it is empty.
    Match {
        /// The Kind.
        kind: &'static Kind,
        /// The name.
        name: Text,
        /// The properties.
        props: Props,
    },
    /// The parts of one inner Kind inside a resource.
    Inner {
        /// The resource.
        of: Target,
        /// The inner Kind's name.
        inner: &'static str,
    },
}

/// A cloud's answer to a [`Query`]. An absent resource is an empty answer, not an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The resources.
    pub resources: Vec<Arc<Resource>>,
    /// Parts inside resources: what [`Query::Inner`] asked for, and whatever the cloud told unasked.
    pub inner: Vec<InnerAnswer>,
    /// The cloud's own time of the answer.
    pub date: CloudTime,
}

/// All parts of one inner Kind inside one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerAnswer {
    /// The resource.
    pub of: Target,
    /// The inner Kind's name.
    pub inner: &'static str,
    /// The parts.
    pub parts: Vec<InnerPart>,
}

impl Query {
    /// The Kind that it is about.
    pub fn kind(&self) -> &'static Kind {
        match self {
            Self::Id(target) | Self::Inner { of: target, .. } => target.kind,
            Self::Name { kind, .. } | Self::Marks { kind, .. } | Self::Match { kind, .. } => kind,
        }
    }

    /// Whether this resource, which is of its Kind, belongs in the answer.
    pub fn means(&self, resource: &Resource) -> bool {
        match self {
            Self::Id(target) => resource.id == target.id,
            Self::Name { name, within, .. } => {
                let here = |(prop, parent): &(&str, Text)| resource.props.get(prop) == Some(parent);
                resource.name == *name && within.as_ref().is_none_or(here)
            }
            Self::Marks { keys, .. } => keys.iter().any(|key| resource.tags.get(key).is_some()),
            Self::Match { name, props, .. } => {
                (name.is_empty() || resource.name == *name) && resource.props.include(props)
            }
            Self::Inner { .. } => false,
        }
    }
}

impl Target {
    /// Names a resource.
    pub fn new(kind: &'static Kind, id: ResourceId) -> Self {
        Self { kind, id }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind, self.id)
    }
}
