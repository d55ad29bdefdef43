//! What others see of passes: logs and metrics.

use std::time::Duration;

use jiff::Timestamp;

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
    /// How long it took.
    pub took: Duration,
    /// When it ended.
    pub at: Timestamp,
}

impl Passed<'_> {
    /// Logs it: what a person should act on as a warning, what the cloud refuses for good as an error.
    pub(crate) fn log(&self) {
        let (kind, object, outcome) = (self.kind, self.object, self.outcome());
        let ready = self.told.and_then(Conditions::ready);
        let words = match (ready, self.next) {
            (Some(ready), _) => ready.message.as_str(),
            (None, Next::OnChange) => "it has ended, or is not ours",
            (None, Next::After(_)) => {
                "it is looked at again: somebody wrote meanwhile, or it must wait"
            }
        };
        // In whole seconds, also for programs; none where only a change leads to another look.
        let next_in_s = match self.next {
            Next::After(wait) => Some(wait.as_millis().div_ceil(1000)),
            Next::OnChange => None,
        };
        let next_in_s = next_in_s.and_then(|seconds| u64::try_from(seconds).ok());
        match self.told {
            Some(told) if told.failure == Some("fatal") => {
                tracing::error!(kind, object, outcome, next_in_s, "{words}");
            }
            Some(told) if told.is_trouble() => {
                tracing::warn!(kind, object, outcome, next_in_s, "{words}");
            }
            Some(told) if !told.is_ready() => {
                tracing::info!(kind, object, outcome, next_in_s, "{words}");
            }
            _ => tracing::debug!(kind, object, outcome, next_in_s, "{words}"),
        }
    }

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
