//! How resources come, fail and go, and what a Kind declares of it.

use crate::error::CloudError;
use crate::text::{ResourceId, Text};
use crate::time::Millis;

/// Where a resource stands in its life, as the cloud tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Life {
    /// It is being made, and cannot be used yet.
    Coming,
    /// It can be used.
    Ready,
    /// It will never be usable: the cloud's reason.
    Failed(Text),
    /// It is being deleted. It still stands in the way of what it depends on.
    Going,
}

impl Life {
    /// What a cloud tells that knows only whether something can be used yet.
    pub fn ready_if(ready: bool) -> Self {
        if ready { Self::Ready } else { Self::Coming }
    }
}

/// How far a long-running operation of the cloud has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It runs. What it makes may not show yet.
    Running,
    /// It has succeeded, and made this, where it says so.
    Done(Option<ResourceId>),
    /// It has failed and made nothing that is left: the cloud's reason.
    Failed(CloudError),
}

/// How the resources of a Kind come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// How often it is worth asking what becomes of one that is coming or going.
    pub ask_every: Millis,
    /// For how long at most one does not show although its create was accepted. Zero, where it shows at
    /// once, if only as coming.
    pub hidden_for: Millis,
    /// Whether one that was deleted is there for a while, and shows as going.
    pub lingers: bool,
    /// What becomes of one that has failed.
    pub failed: Failed,
    /// What becomes of a slot whose resource is gone.
    pub lost: Lost,
}

/// What becomes of a resource that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It is deleted, and another is made.
    Replaced,
    /// A person must decide.
    Reported,
}

/// What becomes of a slot whose resource is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Another is made.
    MadeAgain,
    /// That is told, and no other is made: it was more than its properties (an instance, data).
    Reported,
}

impl Course {
    /// What shows at once and holds nothing that another one would not hold.
    pub const PLAIN: Self = Self {
        ask_every: Millis::seconds(15),
        hidden_for: Millis(0),
        lingers: false,
        failed: Failed::Replaced,
        lost: Lost::MadeAgain,
    };
}
