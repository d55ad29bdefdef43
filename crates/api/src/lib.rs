//! The Kubernetes APIs that Freehold serves: their types, what it writes to them, what it installs.
//!
//! ```text
//! API server ──► view (typed where we look, the rest kept) ──► controller
//!            ◄── Change (our fields only, or nothing) ◄────────┘
//! ```
//!
//! *Invariant:* the kinds of other people's APIs are partial views. What they hold besides our fields
//! is kept as it came, and is never part of a write.

#[macro_use]
mod kind;

pub mod capa;
mod change;
pub mod kkp;
pub mod manifests;
pub mod names;
pub mod powervs;
mod sensitive;
mod status;
pub mod written;

pub use change::{Change, Unversioned};
pub use sensitive::Sensitive;
pub use status::{Condition, Form, Path, Status};
