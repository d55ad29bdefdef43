//! The whole KKP controller, on an embedded API server and the simulated AWS, under seeded faults on
//! both sides: lost answers, late effects, throttling, conflicts, cut watches, stale reads, crashes,
//! two operators at once, lost Leases, two clusters on one group, restores, copies, set-backs, people
//! who edit and delete. What is not KKP's own is the laboratory's.
//!
//! Every run is a seed. A run that breaks a law prints the command that shows it again.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod clusters;
mod guests;
mod kkp;
mod people;
mod switches;
mod wish;

/// One test, so that nothing runs beside its beginning.
#[test]
fn seeded_runs_repeat_and_break_no_law() {
    laboratory::seeded::runs::<kkp::Clusters>();
}
