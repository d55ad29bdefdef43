//! Texts of expressions: those of documents are borrowed, those that were made are shared, so that a
//! variable costs the same whatever its length.

use std::ops::Deref;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(crate) enum Text<'a> {
    Borrowed(&'a str),
    Shared(Rc<str>),
}

impl Text<'_> {
    /// The text for as long as somebody holds it; only a borrowed one is copied.
    pub(super) fn shared(&self) -> Rc<str> {
        match self {
            Self::Borrowed(text) => Rc::from(*text),
            Self::Shared(text) => Rc::clone(text),
        }
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Shared(text) => text,
        }
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self::Borrowed(text)
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self::Shared(text.into())
    }
}

impl From<Rc<str>> for Text<'_> {
    fn from(text: Rc<str>) -> Self {
        Self::Shared(text)
    }
}
