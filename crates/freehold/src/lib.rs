//! The binary's own: command line and wiring.
//!
//! ```text
//! freehold run ──► Operator: Lease, controllers, health, metrics ──► accounts: AWS
//! freehold dev ──► embedded API server, the same controllers ──────► accounts: simulated
//! freehold explain, tree ──► Reconciler::inspect (read-only) ──────► accounts: AWS
//! ```
//!
//! It is a library so that tests can run the whole operator without a network.

pub mod accounts;
#[cfg(feature = "dev")]
mod census;
mod cli;
pub mod clock;
mod connect;
#[cfg(feature = "dev")]
mod dev;
mod failure;
pub mod install;
pub mod look;
pub mod operator;
mod show;
pub mod take_over;

pub use cli::main;
