//! The second system under seeded faults on both sides, as KKP is: what every system's runs have, and
//! what only such a system has: namesakes in two namespaces, an owner that comes late, goes and
//! changes, a Secret that comes late and is rotated.
//!
//! Every run is a seed. A run that breaks a law prints the command that shows it again.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod object;
mod runs;
mod system;
mod yards;

/// One test, so that nothing runs beside its beginning.
#[test]
fn seeded_runs_of_the_second_system_break_no_law() {
    laboratory::seeded::runs::<runs::World>();
}
