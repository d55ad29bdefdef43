//! Simulated cloud accounts, on a virtual clock, with hidden provenance for the oracle.
//!
//! ```text
//! driver ──► SharedAccount ─┐
//! explorer ─────────────────┼──► Account ──► what reads show: resources and parts, as old as asked
//! foreign actor ────────────┘        └─────► what the oracle sees: Life, Deed, Counters
//! ```
//!
//! Kinds follow their declarations; a cloud's [`Provider`] adds what the real account does besides: its
//! ids, its error codes, its quotas, what blocks a deletion. Synthetic Kinds get the declaration alone.
//! A [`World`] opens several accounts and regions on one clock.
//!
//! # Guarantees
//! - Nothing is random and nothing sleeps: the same calls at the same virtual times give the same
//!   answers.
//! - A refused call has changed nothing.
//! - No answer shows provenance: what the oracle knows, the engine cannot.
//!
//! *Invariant:* nothing here knows Kubernetes or a vendor's SDK.

mod account;
mod aws;
mod clock;
mod course;
mod ibm;
mod op;
mod provenance;
mod provider;
mod read;
mod record;
mod settings;
mod shared;
mod shelf;
mod survey;
mod throttle;
mod world;
mod write;

#[cfg(test)]
mod tests;

pub use account::Account;
pub use aws::{AWS, paces as aws_paces};
pub use clock::VirtualClock;
pub use ibm::{IBM, paces as ibm_paces};
pub use op::{Counters, Op};
pub use provenance::{Actor, Deed, End, Harm, InnerFact, Life, TagFact};
pub use provider::Provider;
pub use read::Staleness;
pub use settings::{Lag, Pace, Quotas, Settings, Throttle};
pub use shared::SharedAccount;
pub use world::World;
