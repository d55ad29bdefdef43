//! Who manages which fields of an object: `managedFields`, and server-side apply, which decides by
//! them.
//!
//! ```text
//! old and new object ──compare──► what was added, changed, removed ──► sets of their managers
//! live and applied ────merge────► the new object, less what its applier no longer names
//! ```
//!
//! | module | what it knows |
//! | --- | --- |
//! | `element` | one step of a path, and how `FieldsV1` writes it |
//! | `set` | a set of fields as a tree |
//! | `shape`, `json_schema`, `items` | what the schema says of merging: lists that are maps or sets, what is atomic |
//! | `typed` | whether a value fits its shape, and the set of its fields |
//! | `compare`, `merge`, `remove` | two values by their shape, and a value less a set of fields |
//! | `entries` | the managers of an object, as its metadata lists them |
//! | `updater` | what a write does to the sets, and where an apply conflicts |
//! | `scope` | what a request sees of objects, and in which versions |
//! | `manager` | what is tracked of a write |
//! | `applying` | what an apply makes of an object |
//! | `scale` | the same through the `scale` subresource |
//!
//! Nothing of this is kept: sets are read from the object's bytes when it is written, and shapes are
//! views of the schemas that are there anyway. The real server has the same parts, and where its
//! outcome follows from how they are put together, they are put together in the same way here.

mod applying;
mod compare;
mod element;
mod entries;
mod items;
mod json_schema;
mod manager;
mod merge;
mod remove;
mod scale;
mod scope;
mod set;
mod shape;
mod typed;
mod updater;

pub(crate) use applying::{Applied, apply};
pub(crate) use entries::without_times;
pub(crate) use manager::{from_user_agent, track};
pub(crate) use scale::{ScaleFields, apply as apply_scale, track as track_scale};
pub(crate) use scope::Scope;

/// Who the chores of a control plane are done by.
pub(crate) const CONTROLLERS: &str = "kube-controller-manager";
/// Who sees to definitions, and makes the first namespaces.
pub(crate) const API_SERVER: &str = "kube-apiserver";
