//! Queries: what the engine asks a cloud, and what a cloud answers.

use std::sync::Arc;

use crate::kind::{Ids, Kind};
use crate::life::Progress;
use crate::part::{InnerPart, Props, Resource};
use crate::place::Place;
use crate::text::{ResourceId, Text};
use crate::time::CloudTime;

/// A resource, named: its Kind and its id, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The Kind.
    pub kind: &'static Kind,
    /// The cloud's id.
    pub id: ResourceId,
    /// The place.
    pub place: Place,
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
        /// Where.
        place: Place,
        /// The name.
        name: Text,
        /// The property that names the parent, and the parent's id.
        within: Option<(&'static str, Text)>,
    },
    /// The resources that carry a tag with one of these keys: a look-up by marks.
    Marks {
        /// The Kind.
        kind: &'static Kind,
        /// Where.
        place: Place,
        /// The keys.
        keys: Vec<Text>,
    },
    /// The resources with these properties, and this name unless it is empty.
    Match {
        /// The Kind.
        kind: &'static Kind,
        /// Where.
        place: Place,
        /// The name.
        name: Text,
        /// The properties.
        props: Props,
    },
    /// How far a long-running create has come.
    Operation {
        /// The Kind that it makes.
        kind: &'static Kind,
        /// Where.
        place: Place,
        /// The cloud's name for it.
        name: Text,
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
    /// How far the operation has come; `None`, where the cloud has forgotten it.
    pub progress: Option<Progress>,
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
            Self::Name { kind, .. }
            | Self::Marks { kind, .. }
            | Self::Match { kind, .. }
            | Self::Operation { kind, .. } => kind,
        }
    }

    /// Where it is asked.
    pub fn place(&self) -> &Place {
        match self {
            Self::Id(target) | Self::Inner { of: target, .. } => &target.place,
            Self::Name { place, .. }
            | Self::Marks { place, .. }
            | Self::Match { place, .. }
            | Self::Operation { place, .. } => place,
        }
    }

    /// Whether this resource, which is of its Kind and place, belongs in the answer.
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
            Self::Inner { .. } | Self::Operation { .. } => false,
        }
    }
}

impl Answer {
    /// The same, from this place: who answers for a place does not know what a claim calls it.
    #[must_use]
    pub fn at(mut self, place: &Place) -> Self {
        self.resources
            .iter_mut()
            .for_each(|resource| move_to(place, resource));
        self.inner
            .iter_mut()
            .for_each(|told| told.of.place = place.clone());
        self
    }
}

/// Most are there already.
pub(crate) fn move_to(place: &Place, resource: &mut Arc<Resource>) {
    if resource.place != *place {
        Arc::make_mut(resource).place = place.clone();
    }
}

impl Target {
    /// No resource has this id.
    pub(crate) const WHATEVER: &'static str = "*";

    /// Whether it is no resource but whatever is made: see [`KindAt::whatever`](crate::KindAt::whatever).
    pub fn is_whatever(&self) -> bool {
        self.id.as_str() == Self::WHATEVER
    }

    /// Names a resource in the one place of a claim.
    pub fn new(kind: &'static Kind, id: ResourceId) -> Self {
        Self::at(&Place::HOME, kind, id)
    }

    /// Whether the text of a property or inner part of this name refers to it.
    pub fn is_named_by(&self, field: &str, text: &str) -> bool {
        let refers = match self.kind.ids {
            Ids::Unique => true,
            Ids::Names(fields) => fields.contains(&field),
        };
        refers && self.id.is_named_in(text)
    }

    /// Whether the other is of the same Kind and in the same place.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.kind == other.kind && self.place == other.place
    }

    /// Names a resource.
    pub fn at(place: &Place, kind: &'static Kind, id: ResourceId) -> Self {
        let place = place.clone();
        Self { kind, id, place }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}{}", self.kind, self.id, self.place)
    }
}
