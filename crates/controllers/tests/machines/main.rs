//! Machines of Cluster API on AWS: what every system's suite asks, and what only machines have: owners, a
//! cluster that they are guests of, images that are looked up, bootstrap data, and a place with the load
//! balancer of the API server.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod clusters;
mod lab;
mod life;
mod registry;
mod trouble;
mod world;
