//! The cases, one file a topic.

mod create;
mod delete;
mod patch;
mod read;
mod update;
