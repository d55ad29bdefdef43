//! Parts as they are in the cloud: resources, and what lives inside them.

use crate::kind::Kind;
use crate::life::Life;
use crate::mark::Tags;
use crate::place::{KindAt, Place};
use crate::query::Target;
use crate::text::{ResourceId, Text};
use crate::time::CloudTime;

/// Canonical properties: two equal values are spelled alike, whatever the cloud made of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Props(Vec<(&'static str, Text)>);

impl Props {
    /// No properties.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The value of a property.
    pub fn get(&self, name: &str) -> Option<&Text> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, v)| v)
    }

    /// Sets a property.
    pub fn set(&mut self, name: &'static str, value: Text) {
        match self.0.binary_search_by(|(n, _)| (*n).cmp(name)) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (name, value)),
        }
    }

    /// Every property, by name.
    pub fn iter(&self) -> impl Iterator<Item = &(&'static str, Text)> {
        self.0.iter()
    }

    /// Whether every property of `wanted` is here with the same value.
    pub fn include(&self, wanted: &Props) -> bool {
        wanted
            .0
            .iter()
            .all(|(name, value)| self.get(name) == Some(value))
    }
}

impl FromIterator<(&'static str, Text)> for Props {
    fn from_iter<I: IntoIterator<Item = (&'static str, Text)>>(pairs: I) -> Self {
        let mut props = Self::new();
        for (name, value) in pairs {
            props.set(name, value);
        }
        props
    }
}

/// A resource as a read showed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its Kind.
    pub kind: &'static Kind,
    /// The cloud's id for it.
    pub id: ResourceId,
    /// What the cloud calls this very resource, where its id is only a name
    /// ([`Ids::Names`](crate::kind::Ids)): another one of that name, made later, is called otherwise.
    pub unique: Option<Text>,
    /// Its name; empty where it has none.
    pub name: Text,
    /// Its tags.
    pub tags: Tags,
    /// Its properties, canonical.
    pub props: Props,
    /// When the cloud says it was created.
    pub created: Option<CloudTime>,
    /// Where it stands in its life.
    pub life: Life,
    /// Where it is.
    pub place: Place,
}

impl Resource {
    /// Its Kind and its place.
    pub fn kind_at(&self) -> KindAt {
        KindAt {
            kind: self.kind,
            place: self.place.clone(),
        }
    }

    /// The resource, named.
    pub fn target(&self) -> Target {
        Target::at(&self.place, self.kind, self.id.clone())
    }
}

/// A part inside a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerPart {
    /// What identifies it within its parent: a canonical rule, a policy's name, a role's name.
    pub key: Text,
    /// What it says: a policy document; empty where the key says all.
    pub value: Text,
    /// Its own tags; empty where it cannot carry any.
    pub tags: Tags,
    /// The cloud's own id for it, where it has one: what is removed by it is this very part, and not
    /// another that says the same.
    pub id: Option<Text>,
}

impl InnerPart {
    /// A part that is to be added, or is named by hand: its id comes from the cloud.
    pub fn new(key: impl Into<Text>, value: impl Into<Text>, tags: Tags) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
            tags,
            id: None,
        }
    }
}
