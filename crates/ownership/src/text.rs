//! Small shared strings: ids and names are copied often and changed never.

use std::sync::Arc;

/// An immutable string that is cheap to clone.
pub type Text = Arc<str>;

/// The id a cloud gave to a resource (`sg-0a1b`, an ARN, a CRN, a resource path).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(Text);

impl ResourceId {
    /// Wraps an id exactly as the cloud spells it.
    pub fn new(id: impl Into<Text>) -> Self {
        Self(id.into())
    }

    /// The id as the cloud spells it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a text names this resource: it is the id, or one of its words is.
    pub fn is_named_in(&self, text: &str) -> bool {
        text == &*self.0 || text.split([' ', ',']).any(|word| word == &*self.0)
    }

    /// The shared string itself, for properties that refer to this resource.
    pub fn text(&self) -> Text {
        self.0.clone()
    }
}

impl std::fmt::Display for ResourceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Debug for ResourceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
