//! Where time stamps come from.

use jiff::{SignedDuration, Timestamp};

/// The time that goes into `creationTimestamp`, `deletionTimestamp` and conditions.
pub trait Clock: Send + Sync + 'static {
    /// The present.
    fn now(&self) -> Timestamp;
}

/// A clock that follows tokio's: real time in production, virtual time where the runtime is paused.
///
/// The timer wheel of tokio then moves timeouts and time stamps together.
#[derive(Clone, Debug)]
pub struct TokioClock {
    origin: Timestamp,
    started: tokio::time::Instant,
}

impl TokioClock {
    /// A clock that shows `origin` at this moment of the current runtime.
    pub fn starting_at(origin: Timestamp) -> Self {
        Self {
            origin,
            started: tokio::time::Instant::now(),
        }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        let elapsed =
            SignedDuration::try_from(self.started.elapsed()).unwrap_or(SignedDuration::MAX);
        self.origin
            .saturating_add(elapsed)
            .unwrap_or(Timestamp::MAX)
    }
}
