//! Explores schedules of faults around the real engine, driver and Kinds, and checks the laws.
//!
//! ```text
//! Scenario ──► run: Driver + engine ──► Port (a point a call) ──► simulated account
//!                                          ▲
//!                       Schedule ──► Chooser ──► crash, lose, delay, stale, throttle, stranger …
//! ```
//!
//! The oracle (`laws`) judges by the simulation's hidden provenance, never by marks.

mod at_once;
mod bench;
mod calls;
mod capa;
mod changes;
mod chooser;
mod claims;
mod command;
mod counts;
mod course;
mod families;
mod fault;
mod finding;
mod kinds;
mod kkp;
mod late;
mod laws;
mod line;
mod mutants;
mod names;
mod object;
mod objects;
mod places;
mod port;
mod powervs;
mod processes;
mod refers;
mod replay;
mod rest;
mod run;
mod samples;
mod scenario;
mod search;
mod secrets;
mod shrink;
mod special;
mod stored;
mod stranger;
mod tenure;
mod twins;
mod upserts;
mod words;
mod world;
mod writer;

use clap::Parser;

fn main() -> std::process::ExitCode {
    say::end(command::Command::parse().run())
}
