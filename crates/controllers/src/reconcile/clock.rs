//! Where controllers get the time from: one monotonic for the engine, one of the wall for people.

use cloud_port::Clock;
use jiff::Timestamp;
use ownership::time::Tick;
use tokio::time::Instant;

/// The time of day, besides the monotonic time.
pub trait WallClock: Clock {
    /// The time of day.
    fn wall(&self) -> Timestamp;
}

/// Both from tokio's timer, so that a test that pauses it rules all time.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    origin: Instant,
    began: Timestamp,
}

impl TokioClock {
    /// A clock that shows `began` now. The monotonic time does not begin at zero, so that times
    /// before now can be told.
    pub fn starting_at(began: Timestamp) -> Self {
        let origin = Instant::now();
        Self { origin, began }
    }
}

/// What the monotonic clock shows at its origin: a day.
const ORIGIN: u64 = 86_400_000;

impl Clock for TokioClock {
    fn now(&self) -> Tick {
        let since = u64::try_from(self.origin.elapsed().as_millis());
        Tick(ORIGIN + since.expect("no process runs for so long"))
    }
}

impl WallClock for TokioClock {
    fn wall(&self) -> Timestamp {
        let passed = jiff::SignedDuration::try_from(self.origin.elapsed());
        let passed = passed.expect("no process runs for so long");
        self.began.saturating_add(passed).unwrap_or(self.began)
    }
}
