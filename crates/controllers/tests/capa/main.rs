//! Clusters of Cluster API on AWS: what every system's suite asks, and what only such a system has: a
//! whole network, what somebody brings to it, zones, an owner, identities.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod brought;
mod dropped;
mod identities;
mod lab;
mod left;
mod life;
mod meetings;
mod people;
