//! Places: where the parts of a claim are.

use std::fmt;

use crate::input::{self, InputError};
use crate::kind::Kind;
use crate::query::Target;
use crate::text::{ResourceId, Text};

/// A place's name within a claim: "remote", "eu-west-1".
///
/// What it stands for, an account and region of a cloud or a Kubernetes API, the road knows, and holds it
/// to that as long as the claim has anything there. Most claims have one place only; it needs no name, and
/// records and messages say nothing of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(Option<Text>);

impl Place {
    /// The only place of most claims, and the first of the others.
    pub const HOME: Self = Self(None);

    /// A place by its name.
    ///
    /// # Errors
    /// The name is not made of 1 to 40 of a–z, 0–9 and `-`.
    pub fn named(name: &str) -> Result<Self, InputError> {
        let alphabet = "lower-case letters, digits and '-'";
        input::check("place", name, 40, input::is_label_char, alphabet)?;
        Ok(Self(Some(name.into())))
    }

    /// Its name; none for [`Place::HOME`].
    pub fn name(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// After what is there: " in eu-west-1", or nothing.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(name) => write!(f, " in {name}"),
            None => Ok(()),
        }
    }
}

/// A Kind in one of the places of a claim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindAt {
    /// The Kind.
    pub kind: &'static Kind,
    /// The place.
    pub place: Place,
}

impl KindAt {
    /// These Kinds in the one place of a claim.
    pub fn home(kinds: &[&'static Kind]) -> Vec<Self> {
        Self::all(&Place::HOME, kinds)
    }

    /// These Kinds in this place.
    pub fn all(place: &Place, kinds: &[&'static Kind]) -> Vec<Self> {
        let at = |kind: &&'static Kind| Self {
            kind,
            place: place.clone(),
        };
        kinds.iter().map(at).collect()
    }

    /// Whether a resource is one of them.
    pub fn holds(&self, target: &Target) -> bool {
        target.kind == self.kind && target.place == self.place
    }

    /// Whatever of the Kind is made there, as one: what is announced of creates that the ledger does not
    /// list one by one.
    pub fn whatever(&self) -> Target {
        self.target(ResourceId::new(Target::WHATEVER))
    }

    /// A resource of the Kind there.
    pub fn target(&self, id: ResourceId) -> Target {
        Target::at(&self.place, self.kind, id)
    }
}
