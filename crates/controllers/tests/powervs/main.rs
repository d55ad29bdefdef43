//! Clusters of Cluster API on Power Virtual Server, on a simulated account: the scenarios that the original's
//! proposal has, and what people get wrong.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod lab;
mod people;
mod scenarios;
