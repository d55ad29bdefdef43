//! Explores schedules of faults around the real engine, driver and Kinds, and checks the laws.
//!
//! ```text
//! Scenario ──► run: Driver + engine ──► Port (a point a call) ──► simulated account
//!                                          ▲
//!                       Schedule ──► Chooser ──► crash, lose, delay, stale, throttle, stranger …
//! ```
//!
//! The oracle (`laws`) judges by the simulation's hidden provenance, never by marks.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a command"
)]

mod bench;
mod chooser;
mod command;
mod fault;
mod kkp;
mod laws;
mod mutants;
mod port;
mod run;
mod scenario;
mod search;
mod special;
mod stranger;
mod world;

use clap::Parser;

fn main() -> anyhow::Result<std::process::ExitCode> {
    command::Command::parse().run()
}
