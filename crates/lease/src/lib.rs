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
//! - A term says when it began, so that the driver waits for T before its first delicate call
//!   (assumption A3), unless nothing is left to wait for: its Lease was *released*, by a holder that
//!   had nothing under way and had itself waited for those before it. Only the next term after that
//!   has such a beginning; a Lease that ran out, was deleted, or was released by anybody else gives
//!   none.
//! - A term begins later if the holder before it had a longer T, by the difference.
//!
//! # Assumptions
//! - Monotonic clocks run at the same speed, to within the request timeout (30 s) in a Lease's
//!   duration (60 s).
//! - Nobody else writes to the Lease. Somebody who deletes it, or makes himself its holder by hand,
//!   can cause two terms until the holder's next renewal; the new one's delicate calls wait longer.

mod elector;
mod leadership;
mod record;
mod times;

pub use elector::{Candidate, Elector};
pub use leadership::Leadership;
pub use times::{CALL_TIMEOUT, DURATION, LONGEST_DURATION, RENEW_EVERY, RETRY_EVERY, Times};

use cloud_port::driver;
use jiff::Timestamp;

/// The process's clock: ticks for deciding, and the time of day for people who read the Lease.
pub trait Clock: driver::Clock {
    /// The time of day.
    fn wall(&self) -> Timestamp;
}
