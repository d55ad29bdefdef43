//! moto's server, which stands for AWS in tests: installed once per machine from pinned packages,
//! started on loopback, and stopped whatever happens.
//!
//! ```text
//! tools/moto/requirements.txt ──► install() ──► Moto ──► MotoServer ──► an account for each test
//!                                                            ▲
//!                       who is tested ──► proxy::Proxy ──────┘
//! ```
//!
//! Before it there can be a [`proxy`], which adds what AWS has and moto lacks, and faults.
//!
//! Nothing here reads a virtual clock: this is a real process, and waiting for it takes real time.

mod install;
pub mod proxy;
mod server;

pub use install::{InstallError, Moto, install};
pub use server::{MotoServer, StartError};
