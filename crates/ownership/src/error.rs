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

/// A quota of the cloud's: how many there may be of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// What the cloud calls it: "VPCs per Region".
    pub name: &'static str,
    /// The region or account that it is for.
    pub place: Text,
    /// What is counted.
    pub counts: Counts,
}

/// What a quota counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Everything of the Kind, or all parts in the resource.
    All,
    /// What has the same value in this property: the VPC that it is in.
    Within(&'static str),
    /// Something that no property tells.
    Unknown,
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
    /// The quota that is used up, if that is why.
    pub quota: Option<Quota>,
}

impl CloudError {
    /// An error of `class`, with the cloud's code and words.
    pub fn new(class: Class, code: &str, message: impl Into<Text>) -> Self {
        Self {
            class,
            code: code.into(),
            message: message.into(),
            quota: None,
        }
    }

    /// The same, because this quota is used up.
    #[must_use]
    pub fn over(self, quota: Quota) -> Self {
        Self {
            quota: Some(quota),
            ..self
        }
    }

    /// The same, which says how much of its quota is used; `within` is the resource that it is for.
    #[must_use]
    pub fn used(mut self, used: usize, within: Option<&str>) -> Self {
        if let Some(Quota { name, place, .. }) = &self.quota {
            let place = within.unwrap_or(place);
            self.message = format!("{}; {name} in {place}: {used} used", self.message).into();
        }
        self
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
