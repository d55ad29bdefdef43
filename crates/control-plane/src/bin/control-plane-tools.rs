//! Builds the real control plane's programs into the cache folder, and says where they are.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a command"
)]

use std::error::Error as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match control_plane::tools(|doing| eprintln!("{doing}")) {
        Ok(binaries) => {
            println!("{}", binaries.folder().display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let reason = error
                .source()
                .map(|source| format!(": {source}"))
                .unwrap_or_default();
            eprintln!("error: {error}{reason}");
            ExitCode::FAILURE
        }
    }
}
