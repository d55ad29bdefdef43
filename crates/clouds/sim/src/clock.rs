//! The virtual clock: time passes when somebody says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cloud_port::Clock;
use ownership::time::{CloudTime, Millis, Tick};

/// The clock that everything in a run shares. A clone shows, and moves, the same time.
#[derive(Clone, Debug)]
pub struct VirtualClock(Arc<AtomicU64>);

impl VirtualClock {
    /// Late enough that "an hour ago" is a time too.
    const START: u64 = 24 * 3600 * 1000;

    /// The cloud's clock is far from ours, so that a mix-up of the two shows.
    const CLOUD_OFFSET: u64 = 1_800_000_000_000;

    /// A clock of its own.
    pub fn new() -> Self {
        Self::at(Tick(Self::START))
    }

    /// A clock of its own that shows `now`: for a fork of a run.
    pub fn at(now: Tick) -> Self {
        Self(Arc::new(AtomicU64::new(now.0)))
    }

    /// The time.
    pub fn now(&self) -> Tick {
        Tick(self.0.load(Ordering::Relaxed))
    }

    /// Lets time pass.
    pub fn advance(&self, span: Millis) {
        self.0.fetch_add(span.0, Ordering::Relaxed);
    }

    /// The same moment on the cloud's own clock, which tells whole seconds only: `Date` headers and
    /// creation times have no more.
    pub fn cloud_time(&self) -> CloudTime {
        CloudTime(Self::CLOUD_OFFSET + self.now().0 / 1000 * 1000)
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Tick {
        self.now()
    }
}

impl Default for VirtualClock {
    fn default() -> Self {
        Self::new()
    }
}
