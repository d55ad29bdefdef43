//! Other people's programs in tests: where they are kept, and how they are run and always stopped.
//!
//! ```text
//! cache_folder() ──► a program, installed once per machine ──► Process ──► stopped, whatever happens
//! ```

mod cache;
pub mod command;
mod place;
mod process;

pub use cache::{Installation, cache_folder};
pub use place::{free_port, temporary_folder};
pub use process::Process;
