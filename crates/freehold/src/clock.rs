//! The process's clock: one for the engine, the Lease, the API server in the process, and people.

use controllers::reconcile::{TokioClock, WallClock};
use jiff::Timestamp;
use ownership::time::Tick;

/// A clock that follows tokio's: real time, or virtual time where the runtime is paused.
#[derive(Clone, Copy, Debug)]
pub struct ProcessClock(TokioClock);

impl ProcessClock {
    /// A clock that shows `began` now.
    pub fn starting_at(began: Timestamp) -> Self {
        Self(TokioClock::starting_at(began))
    }

    /// A clock that shows the time of day.
    #[expect(
        clippy::disallowed_methods,
        reason = "here the time of day comes in, once, for all who get it handed on"
    )]
    pub fn real() -> Self {
        let now = Timestamp::try_from(std::time::SystemTime::now());
        Self::starting_at(now.unwrap_or(Timestamp::UNIX_EPOCH))
    }
}

impl cloud_port::Clock for ProcessClock {
    fn now(&self) -> Tick {
        self.0.now()
    }
}

impl WallClock for ProcessClock {
    fn wall(&self) -> Timestamp {
        self.0.wall()
    }
}

impl lease::Clock for ProcessClock {
    fn wall(&self) -> Timestamp {
        self.0.wall()
    }
}

#[cfg(feature = "dev")]
impl embedded_kube::Clock for ProcessClock {
    fn now(&self) -> Timestamp {
        self.0.wall()
    }
}
