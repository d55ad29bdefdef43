//! Leader election on a `coordination.k8s.io/v1` Lease: who may act, and for how long still.
//!
//! ```text
//! Lease ◄── Elector (acquires, renews, releases) ──► Leadership ──► Term ──► driver
//! ```
//!
//! # Guarantees
//! - Of all candidates for one Lease at most one has a [`Term`](cloud_port::driver::Term) at any
//!   time: a holder counts its time from before it *sent* the renewal that was acknowledged, a
//!   candidate counts the holder's time from after it *saw* the last change.
//! - Only an acknowledged write gives or prolongs a term. Every write carries the version that was
//!   read, so of two that compete one is a conflict.
//! - Nobody compares clocks: what a Lease says of times is for people. Each process counts on its own
//!   monotonic clock.
//! - A term always says when it began, so that the driver waits before its first delicate call
//!   (assumption A3).
//!
//! # Assumptions
//! - Monotonic clocks run at the same speed, to within the request timeout (30 s) in a Lease's
//!   duration (60 s).
//! - Nobody else writes to the Lease. Somebody who deletes it, or makes himself its holder by hand,
//!   can cause two terms until the holder's next renewal; the new one's delicate calls wait longer.

mod elector;
mod leadership;
mod record;

pub use elector::{Candidate, Elector};
pub use leadership::Leadership;

use cloud_port::driver;
use jiff::Timestamp;
use ownership::time::{Millis, REQUEST_TIMEOUT};

/// The process's clock: ticks for deciding, and the time of day for people who read the Lease.
pub trait Clock: driver::Clock {
    /// The time of day.
    fn wall(&self) -> Timestamp;
}

/// For how long a renewal is good.
pub const DURATION: Millis = Millis::seconds(60);
/// How often a holder renews.
pub const RENEW_EVERY: Millis = Millis::seconds(10);
/// How often a candidate looks, and how soon a failed call is repeated.
pub const RETRY_EVERY: Millis = Millis::seconds(2);
/// How long a call to the API server may take; then its outcome is unknown.
pub const CALL_TIMEOUT: Millis = Millis::seconds(8);

// A holder whose first renewal fails, and whose second succeeds, may send delicate calls throughout.
const _: () = assert!(
    DURATION.0 - REQUEST_TIMEOUT.0
        > RENEW_EVERY.0 + CALL_TIMEOUT.0 + RETRY_EVERY.0 + CALL_TIMEOUT.0
);
