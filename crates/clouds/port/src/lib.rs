//! The port that a cloud implements, the Kinds of each cloud, and the driver that performs Steps.
//!
//! ```text
//! ownership::decide ──► driver ──► Cloud   (AWS · GCP · Azure · IBM · simulated)
//!                          ├─────► Ledger  (Kubernetes · in memory)
//!                          └─────► Inventory, for claims at rest
//! ```
//!
//! *Invariant:* nothing here knows Kubernetes or a vendor's SDK: [`kube`] has words for objects, and no client.

pub mod aws;
pub mod calls;
pub mod cloud;
pub mod code;
pub mod driver;
pub mod ibm;
pub mod inventory;
pub mod kube;
pub mod network;
pub mod places;
pub mod sample;
pub mod words;

pub use calls::Calls;
pub use cloud::{Cloud, Deadline, Effect};
pub use driver::{
    Clock, Driver, InMemory, Journal, LedgerError, LedgerStore, NoJournal, PassEnd, Term,
};
pub use inventory::{Inventory, Show, Survey};
pub use places::Places;
pub use sample::Sample;

/// An example of every Kind of every cloud.
pub fn samples() -> impl Iterator<Item = &'static Sample> {
    let aws = aws::CATALOGUE.into_iter().map(|entry| entry.sample);
    aws.chain(ibm::CATALOGUE.into_iter().map(|entry| entry.sample))
}
