//! The cases, one file a topic.

mod apply;
mod core_kinds;
mod corners;
mod create;
mod defaults;
mod definitions;
mod delete;
mod discovery;
mod dry_run;
mod field_validation;
mod garbage;
mod hostile;
mod namespaces;
mod openapi;
mod partial;
mod patch;
mod pruning;
mod read;
mod strategic;
mod subresources;
mod tables;
mod update;
mod validation;
mod versions;
mod watch;
