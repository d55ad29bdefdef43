//! Installs moto into the cache folder, and says where it is.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a command"
)]

use std::error::Error as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match moto_server::install(|doing| eprintln!("{doing}")) {
        Ok(moto) => {
            println!("{}", moto.program().display());
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
