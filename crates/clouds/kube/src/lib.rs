//! The cloud port on the Kubernetes API: a cluster is a place like another, its objects are resources.
//!
//! ```text
//! driver ──► Places ──► Inventory ──► Objects ──► API server
//! ```
//!
//! Which sorts of objects there are, whoever needs them declares as tables
//! ([`cloud_port::kube::ObjectKind`]).
//!
//! # Guarantees
//! - Those of [`cloud_port::Cloud`]. Reads ask for the newest state, never for what a cache has.
//! - A create is an insert: a name that is taken is [`ownership::Class::Exists`]. Its marks ride on it.
//! - Everything that changes or deletes an object reads it first, sees that its uid and our mark are
//!   what the Step's proof says, and is sent for that very version: whoever writes in between makes it
//!   fail, and assumption A2 is not needed here.
//! - A change in place is a server-side apply of the wished fields alone, as the manager
//!   [`MANAGER`]. A field that somebody else manages is told, and not taken.
//!
//! # Caveats
//! - The client must not repeat calls by itself (`kube::Config::default_retry`): whether one may be
//!   repeated the engine decides.
//! - The deadline of a call is asked before the client has it. What the client does before it sends, such as
//!   fetching a token, comes on top.
//! - Whoever may list and write is not asked in advance: what is missing in the role is told by the API
//!   server, in its words.
//!
//! *Invariant:* nothing here knows another cloud.

mod apply;
mod body;
mod failure;
mod fields;
mod marks;
mod objects;
mod read;
mod write;

pub use objects::Objects;

/// As whom we manage fields.
pub const MANAGER: &str = "freehold";
