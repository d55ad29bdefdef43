//! The cases, one file a topic.

mod access;
mod cel;
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
mod patch;
mod policies;
mod pruning;
mod read;
mod strategic;
mod subresources;
mod update;
mod validation;
mod versions;
mod watch;
