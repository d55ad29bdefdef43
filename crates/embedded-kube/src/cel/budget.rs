//! How much work the expressions of one request may make.
//!
//! Whoever writes a definition writes its rules, and whoever writes an object decides how much there
//! is to look at. So everything that grows with a value is counted: steps of evaluations, values that
//! are made from JSON, and comparisons.

use std::cell::Cell;

/// What all expressions that are asked about one object may take together.
const TOTAL: u64 = 10_000_000;
/// What one evaluation may take of it.
const EACH: u64 = 1_000_000;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(TOTAL) };
}

/// Begins to count anew, for another object.
pub(crate) fn renew() {
    LEFT.set(TOTAL);
}

/// Whether nothing is left.
pub(crate) fn is_spent() -> bool {
    LEFT.get() == 0
}

/// Takes so much.
pub(super) fn spend(work: usize) {
    let work = u64::try_from(work).unwrap_or(u64::MAX);
    LEFT.set(LEFT.get().saturating_sub(work));
}

/// Where an evaluation that begins now has to end.
pub(super) fn floor() -> u64 {
    LEFT.get().saturating_sub(EACH)
}

/// Whether an evaluation has come there.
pub(super) fn is_over(floor: u64) -> bool {
    LEFT.get() <= floor
}
