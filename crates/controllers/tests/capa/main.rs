//! Clusters of Cluster API on AWS: what every system's suite asks, what only such a system has, and what
//! only the simulated account can do.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod dropped;
mod lab;
mod left;
mod meetings;
mod records;
mod simulated;
mod small;
