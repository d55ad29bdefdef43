//! How much work the expressions of one request may make.
//!
//! Whoever writes a definition writes its rules, and whoever writes an object decides how much there
//! is to look at. So everything that grows with a value is counted: steps of evaluations, values that
//! are made from JSON, comparisons, and what functions go through. An evaluation that has nothing
//! left is cancelled where it is, inside of a function as well.

use std::cell::Cell;

use super::value::Fault;
use crate::deep;

/// What all expressions that are asked about one object may take together.
const TOTAL: u64 = 10_000_000;
/// What one evaluation may take of it.
const EACH: u64 = 1_000_000;
/// How many levels the evaluations that wait for each other may have together: variables of policies
/// use variables, and all of them are on the stack.
const MAX_NESTED: usize = 2 * deep::MAX_DEPTH;
/// How many levels an evaluation counts for besides its own.
const AROUND: usize = 10;
/// How long a text that is made can get.
pub(super) const MAX_TEXT: usize = 8 * 1024 * 1024;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(TOTAL) };
    /// Where the evaluation that runs has to end.
    static FLOOR: Cell<u64> = const { Cell::new(0) };
    static NESTED: Cell<usize> = const { Cell::new(0) };
}

/// Begins to count anew, for another object.
pub(crate) fn renew() {
    LEFT.set(TOTAL);
}

/// Whether nothing is left.
pub(crate) fn is_spent() -> bool {
    LEFT.get() == 0
}

/// Takes so much, from whom there is nothing to be cancelled.
pub(super) fn spend(work: usize) {
    let work = u64::try_from(work).unwrap_or(u64::MAX);
    LEFT.set(LEFT.get().saturating_sub(work));
}

/// Takes so much from the evaluation that runs; it ends if that is too much.
pub(super) fn pay(work: usize) -> Result<(), Fault> {
    spend(work);
    if is_over() {
        return Err(out());
    }
    Ok(())
}

/// Pays for a look at a text: many bytes are one step.
pub(super) fn pay_text(length: usize) -> Result<(), Fault> {
    pay(length / 64)
}

/// Pays for a text that is to be made, which may not become too long.
pub(super) fn pay_new_text(length: usize) -> Result<(), Fault> {
    if length > MAX_TEXT {
        return Err(cancel());
    }
    pay(length / 10)
}

/// Ends the evaluation that runs, whatever it has left: nothing that follows makes up for it.
pub(super) fn cancel() -> Fault {
    LEFT.set(LEFT.get().min(FLOOR.get()));
    out()
}

/// Whether the evaluation that runs has nothing left.
pub(super) fn is_over() -> bool {
    LEFT.get() <= FLOOR.get()
}

fn out() -> Fault {
    Fault::new("operation cancelled: actual cost limit exceeded")
}

/// An evaluation, as long as it runs.
pub(super) struct Evaluation {
    /// Where the one that waits for it has to end.
    floor: u64,
    /// How many levels those have that wait.
    nested: usize,
}

impl Evaluation {
    /// Begins one of so many levels.
    pub(super) fn begin(levels: usize) -> Result<Self, Fault> {
        let nested = NESTED.get();
        let all = nested.saturating_add(levels).saturating_add(AROUND);
        if all > MAX_NESTED {
            return Err(cancel());
        }
        NESTED.set(all);
        let floor = FLOOR.replace(LEFT.get().saturating_sub(EACH));
        Ok(Self { floor, nested })
    }
}

impl Drop for Evaluation {
    fn drop(&mut self) {
        FLOOR.set(self.floor);
        NESTED.set(self.nested);
    }
}
