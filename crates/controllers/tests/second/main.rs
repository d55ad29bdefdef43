//! A second system that exists only in tests: what every system's suite asks, on the embedded API
//! server and on a real one, and what only such a system has: an owner that it waits for, facts that
//! change, fields that are not served, ids in its status.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod activation;
mod control_plane;
mod guests;
mod lab;
#[path = "../meeting/mod.rs"]
mod meeting;
mod object;
mod own;
mod system;
