//! Time as the engine knows it: a number that its caller read from a clock.

use std::ops::{Add, Sub};

/// A reading of the process's monotonic clock, in milliseconds.
///
/// The engine has no clock: every reading comes in with the question. Two readings are comparable
/// only within one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(pub u64);

/// A span of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// A span of whole seconds.
    pub const fn seconds(n: u64) -> Self {
        Self(n * 1000)
    }
}

impl Add<Millis> for Tick {
    type Output = Tick;
    fn add(self, span: Millis) -> Tick {
        Tick(self.0.saturating_add(span.0))
    }
}

impl Sub for Tick {
    type Output = Millis;
    /// The span since `earlier`; zero if `earlier` is in fact later.
    fn sub(self, earlier: Tick) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Millis {
    type Output = Millis;
    fn add(self, other: Millis) -> Millis {
        Millis(self.0.saturating_add(other.0))
    }
}

impl std::fmt::Display for Millis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} s", self.0.div_ceil(1000))
    }
}

/// How old a read may be when the call that rests on it is sent (law 1, assumption A3).
pub const FRESH: Millis = Millis::seconds(10);

/// T of assumption A3, unless somebody sets it: a request takes effect within this time of being
/// sent, or never.
pub const REQUEST_TIMEOUT: Millis = Millis::seconds(30);

/// The shortest T that can be set: clouds take seconds for some calls.
pub const SHORTEST_REQUEST_TIMEOUT: Millis = Millis::seconds(5);

/// The longest T that can be set: the client token of every Kind outlives it.
pub const LONGEST_REQUEST_TIMEOUT: Millis = Millis::seconds(120);

/// A moment on the cloud's own clock (the `Date` of an answer, a creation time), in milliseconds
/// since its epoch. Never compared with a [`Tick`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CloudTime(pub u64);
