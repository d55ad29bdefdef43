//! What others see of passes: logs and metrics.

use super::outcome::Conditions;
use super::pass::Next;

/// Takes note of passes. It must not wait: a pass waits for it.
pub trait Monitor: Send + Sync {
    /// A pass over an object has ended.
    fn passed(&self, pass: &Passed<'_>);

    /// The object is gone.
    fn forgotten(&self, kind: &'static str, object: &str);
}

/// A pass that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Passed<'a> {
    /// The object's kind, as claims name it.
    pub kind: &'static str,
    /// The object: its name, with its namespace before it where it has one.
    pub object: &'a str,
    /// What is told about it, if anything.
    pub told: Option<&'a Conditions>,
    /// When it is looked at again.
    pub next: Next,
}

impl Passed<'_> {
    /// How it ended, in one word: the reason of the condition `Ready`, or why nothing is told.
    pub fn outcome(&self) -> &str {
        match (self.told, self.next) {
            (Some(told), _) => told.ready().map_or("Untold", |ready| &ready.reason),
            (None, Next::OnChange) => "Ended",
            (None, Next::After(_)) => "Outrun",
        }
    }
}

/// Nobody is interested.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nobody;

impl Monitor for Nobody {
    fn passed(&self, _: &Passed<'_>) {}

    fn forgotten(&self, _: &'static str, _: &str) {}
}
