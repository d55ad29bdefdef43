//! How long a client may take to read what it is told.
//!
//! An answer is held until it is read, so who reads slowly costs as much memory as who does not read
//! at all. A client may let an answer wait for a while, and what it reads buys back some of that time,
//! never more than there was at first. So one that reads less than [`LEAST`] on average runs out of
//! it, however often it reads a little, and an answer is held for a time in proportion to its size.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// How many bytes a client reads in a second at least. The real server is stricter: an answer that
/// is no watch has a minute, whatever its size.
const LEAST: u32 = 64 * 1024;

/// No time is longer: clocks end somewhere.
const FOR_EVER: Duration = Duration::from_hours(876_600);

/// The time that a connection has left.
pub(super) struct Patience {
    stalled: Duration,
    /// When it is over, while something waits to be read.
    end: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    pub(super) fn new(stalled: Duration) -> Self {
        Self { stalled, end: None }
    }

    /// Something waits to be read; ready when it has waited too long.
    pub(super) fn wait(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let end = self.latest();
        let end = self.end.get_or_insert_with(|| Box::pin(sleep_until(end)));
        end.as_mut().poll(context)
    }

    /// So many bytes were read.
    pub(super) fn read(&mut self, bytes: usize) {
        let most = self.latest();
        let Some(end) = &mut self.end else { return };
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let bought = Duration::from_secs(1) * bytes / LEAST;
        let later = most.min(end.deadline() + bought);
        end.as_mut().reset(later);
    }

    /// When the time is over for who has all of it.
    fn latest(&self) -> Instant {
        let now = Instant::now();
        now.checked_add(self.stalled.min(FOR_EVER)).unwrap_or(now)
    }

    /// Everything was read.
    pub(super) fn rest(&mut self) {
        self.end = None;
    }
}
