//! Explores schedules of faults around the real engine, driver and Kinds, and checks the laws.
//!
//! ```text
//! Scenario ──► run: Driver + engine ──► Port (a point a call) ──► simulated account
//!                                          ▲
//!                       Schedule ──► Chooser ──► crash, lose, delay, stale, throttle, stranger …
//! ```
//!
//! The oracle (`laws`) judges by the simulation's hidden provenance, never by marks.

mod bench;
mod calls;
mod changes;
mod chooser;
mod claims;
mod command;
mod counts;
mod families;
mod fault;
mod kinds;
mod kkp;
mod late;
mod laws;
mod mutants;
mod names;
mod object;
mod port;
mod processes;
mod replay;
mod rest;
mod run;
mod samples;
mod scenario;
mod search;
mod special;
mod stored;
mod stranger;
mod tenure;
mod twins;
mod words;
mod world;
mod writer;

use clap::Parser;

fn main() -> std::process::ExitCode {
    say::end(command::Command::parse().run())
}
