//! A Kubernetes API server inside the process: in memory, deterministic, many clusters.
//!
//! ```text
//! kube::Client ──► Cluster (tower service) ──► API rules ──► storage ──► watches
//! ```
//!
//! It serves what an operator needs (custom resources with their schemas, the core kinds that
//! controllers touch, watches, garbage collection), and answers as a real server of version 1.36
//! does; `docs/embedded-kube.md` lists every known difference.
//!
//! # Guarantees
//! - Nothing happens by itself: every change is the effect of a request, complete (with garbage
//!   collection and namespace deletion) when the answer is given.
//! - The same seed, clock and requests give the same answers, byte for byte.
//! - Time stamps come from the injected [`Clock`] only, waiting from tokio's timer only.

mod access;
mod admission;
mod api;
mod builtin;
mod cel;
mod chores;
mod clock;
mod crd;
mod deep;
mod faults;
mod field;
mod fields;
mod http;
mod ids;
mod journal;
mod json;
mod listen;
mod meta;
mod names;
mod openapi;
mod protobuf;
mod quantity;
mod resource;
mod schema;
mod selectors;
mod server;
mod state;
mod status;
mod storage;
mod strategy;
mod table;
mod text;
mod typed;
mod watch;
mod writers;

pub use access::{Access, User};
pub use clock::{Clock, TokioClock};
pub use faults::{Fault, FaultKind, FaultPlan};
pub use http::{ClusterService, LostAnswer, ResponseBody};
pub use journal::StateError;
#[cfg(feature = "https")]
pub use listen::Certificate;
pub use listen::{Limits, Listener};
pub use server::{Cluster, Options, Server};
