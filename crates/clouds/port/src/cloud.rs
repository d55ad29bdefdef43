//! The port: the two things that the driver asks of a cloud.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

pub use ownership::step::Effect;
use ownership::time::Tick;
use ownership::{Answer, Class, CloudError, Query, Step};

use crate::driver::Clock;

/// One account and region of a cloud.
///
/// # Guarantees that an implementation gives
/// - [`read`](Cloud::read) answers from the cloud itself, all pages of it, never from a cache. An
///   absent resource is an empty answer, not an error.
/// - [`perform`](Cloud::perform) sends the Step once and does not repeat it by itself: a repetition
///   is the engine's to decide (assumption A3). It asks the [`Deadline`] when everything is ready to
///   be sent, and sends nothing after it.
/// - Every error has the class that the Kind's error table gives it; one that is not in the table is
///   retryable and says so. A call that may have taken effect is [`ownership::Class::Unknown`].
/// - Properties, rules and documents are canonical: two equal values are spelled alike.
pub trait Cloud: Send + Sync {
    /// Asks for the state of the cloud.
    fn read(&self, query: &Query) -> impl Future<Output = Result<Answer, CloudError>> + Send;

    /// Performs one side effect, unless it is too late for it.
    fn perform(
        &self,
        step: &Step,
        by: Deadline<'_>,
    ) -> impl Future<Output = Result<Effect, CloudError>> + Send;
}

impl<C: Cloud> Cloud for Arc<C> {
    fn read(&self, query: &Query) -> impl Future<Output = Result<Answer, CloudError>> + Send {
        C::read(self, query)
    }

    fn perform(
        &self,
        step: &Step,
        by: Deadline<'_>,
    ) -> impl Future<Output = Result<Effect, CloudError>> + Send {
        C::perform(self, step, by)
    }
}

/// By when a call must be sent. What it rests on is older than it may be after that, or this process's
/// Lease will not last until the call has taken effect (assumption A3).
///
/// Whoever sends the call asks last of all, when it is about to be sent: a process can be paused at any
/// time.
#[derive(Clone, Copy)]
pub struct Deadline<'a> {
    clock: &'a dyn Clock,
    at: Tick,
}

impl<'a> Deadline<'a> {
    /// This time, on this clock.
    pub fn new(clock: &'a dyn Clock, at: Tick) -> Self {
        Self { clock, at }
    }

    /// There is none: for calls by hand.
    pub const fn never() -> Deadline<'static> {
        struct Stopped;
        impl Clock for Stopped {
            fn now(&self) -> Tick {
                Tick(0)
            }
        }
        Deadline {
            clock: &Stopped,
            at: Tick(u64::MAX),
        }
    }

    /// Whether the call may still be sent.
    ///
    /// # Errors
    /// It is too late. Nothing was sent, so nothing will come of it.
    pub fn check(&self) -> Result<(), CloudError> {
        self.left().map(drop)
    }

    /// How long the call may still take to be sent.
    ///
    /// # Errors
    /// It is too late. Nothing was sent, so nothing will come of it.
    pub fn left(&self) -> Result<Duration, CloudError> {
        let now = self.clock.now();
        if now > self.at {
            return Err(Self::missed());
        }
        Ok(Duration::from_millis((self.at - now).0))
    }

    /// What is said of a call that was not sent in time.
    pub fn missed() -> CloudError {
        let message = "the call was not sent: what it rests on is too old by now";
        CloudError::new(Class::Retryable, "TooLate", message)
    }
}
