//! Blueprints: one module a served system. What its object says goes in, a Blueprint comes out.
//!
//! ```text
//! object ──► ids (recorded, for the ledger) + Blueprint ──► ownership engine
//! ```
//!
//! *Invariant:* a translation is pure. It asks nobody, so the same object always gives the same
//! Blueprint, and what is wrong with the object is said before anything is done.

pub mod capa;
pub mod kkp;
pub mod powervs;
