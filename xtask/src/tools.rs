//! `cargo xtask tools`: builds the real control plane's programs into the cache folder.

use std::process::ExitCode;

/// Builds what is missing, says where it is, and returns the exit code of the job.
pub(crate) fn run() -> ExitCode {
    match control_plane::tools(|doing| eprintln!("{doing}")) {
        Ok(binaries) => {
            println!("{}", binaries.folder().display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            let source = std::error::Error::source(&error);
            let reason = source
                .map(|source| format!(": {source}"))
                .unwrap_or_default();
            eprintln!("error: {error}{reason}");
            ExitCode::FAILURE
        }
    }
}
