//! The catalogue: the Kinds that an engine works with, each of them checked.

use ownership::Kind;
use ownership::kind::KindError;

/// The Kinds that can be used in blueprints.
#[derive(Clone, Debug)]
pub struct Catalogue {
    kinds: Vec<&'static Kind>,
}

impl Catalogue {
    /// A catalogue of these Kinds.
    ///
    /// # Errors
    /// A Kind for which the laws cannot be kept, or a second one of the same name.
    pub fn new(kinds: Vec<&'static Kind>) -> Result<Self, KindError> {
        for (at, kind) in kinds.iter().enumerate() {
            kind.check()?;
            if kinds[..at].iter().any(|other| other.name == kind.name) {
                return Err(KindError {
                    kind: kind.name,
                    rule: "the name is used twice",
                });
            }
        }
        Ok(Self { kinds })
    }

    /// The Kind of that name.
    pub fn get(&self, name: &str) -> Option<&'static Kind> {
        self.kinds.iter().copied().find(|kind| kind.name == name)
    }

    /// Every Kind.
    pub fn kinds(&self) -> &[&'static Kind] {
        &self.kinds
    }
}
