//! Controllers: the road from an object to its cloud and back, and one module a served system.
//!
//! ```text
//! object ──► Blueprint (crate `blueprints`) ──► engine, driver ──► a cloud
//!    ▲                                              │
//!    └──────── ids, ledger, conditions, events ◄────┘
//! ```
//!
//! *Invariant:* a system says only what is its own ([`reconcile::System`]); pinning, the ledger,
//! passes, conditions and events are the same for all.

pub mod capa;
mod cluster_api;
pub mod kkp;
pub mod land;
pub mod powervs;
pub mod reconcile;
pub mod registry;
mod resources;
mod rights;
