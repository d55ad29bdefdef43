//! The virtual clock, also as a time of day.

use cloud_port::driver::Clock;
use cloud_sim::VirtualClock;
use controllers::reconcile::WallClock;
use jiff::Timestamp;
use ownership::time::Tick;

/// The virtual clock, also as a time of day.
#[derive(Clone, Debug)]
pub struct LabClock(pub VirtualClock);

impl Clock for LabClock {
    fn now(&self) -> Tick {
        self.0.now()
    }
}

impl WallClock for LabClock {
    fn wall(&self) -> Timestamp {
        let seconds = i64::try_from(self.0.now().0 / 1000).unwrap();
        Timestamp::from_second(1_790_000_000 + seconds).unwrap()
    }
}
