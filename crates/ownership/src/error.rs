//! Errors have classes (law 9): a class says what to do, its message says it to a person.

use crate::text::{ResourceId, Text};

/// What a failed call to a cloud means for the one who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// It will fail again until somebody changes something: shown at once, retried on a spec change
    /// or a slow clock.
    Fatal,
    /// It may work next time: backed off with jitter.
    Retryable,
    /// The account is asked too much: slows the account, not one cluster.
    Throttled,
    /// Something else must go first.
    Blocked(Vec<Blocker>),
    /// The call may or may not have taken effect: re-read before anything else.
    Unknown,
    /// The resource is not there.
    NotFound,
    /// The name is taken: look again, it may be our own.
    Exists,
    /// The client token was used with other parameters.
    TokenMismatch,
}

/// A resource that stands in the way of a deletion.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blocker {
    /// What it is, in words: "network interface".
    pub noun: Text,
    /// Its id.
    pub id: ResourceId,
}

/// A failed call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct CloudError {
    /// What to do about it.
    pub class: Class,
    /// The cloud's own code for it.
    pub code: Text,
    /// The cloud's own words.
    pub message: Text,
}

impl CloudError {
    /// An error of `class`, with the cloud's code and words.
    pub fn new(class: Class, code: &str, message: impl Into<Text>) -> Self {
        Self {
            class,
            code: code.into(),
            message: message.into(),
        }
    }

    /// Whether the call certainly had no effect, now and later.
    pub fn is_refusal(&self) -> bool {
        !matches!(self.class, Class::Unknown)
    }
}

impl std::fmt::Display for Blocker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.noun, self.id)
    }
}
