//! The end of a command that installs programs: it says where they are, or why there are none.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command speaks to its user"
)]

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Says what is being done while it takes long.
pub fn doing(what: &str) {
    eprintln!("{what}");
}

/// Says where the programs are, or why there are none; with what lies behind that.
pub fn installed(place: Result<PathBuf, impl Error>) -> ExitCode {
    match place {
        Ok(place) => {
            println!("{}", place.display());
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
