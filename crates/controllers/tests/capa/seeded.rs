//! Clusters of Cluster API on AWS under seeded faults on both sides: what every system's runs have, a
//! whole network each, two of one name in two namespaces, and owners that pause.
//!
//! Every run is a seed. A run that breaks a law prints the command that shows it again.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod runs;

/// One test, so that nothing runs beside its beginning.
#[test]
fn seeded_runs_of_clusters_break_no_law() {
    laboratory::seeded::runs::<runs::World>();
}
