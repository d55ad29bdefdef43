//! Builds the real control plane's programs into the cache folder, and says where they are.

use std::process::ExitCode;

use test_programs::command::{doing, installed};

fn main() -> ExitCode {
    let binaries = control_plane::tools(doing);
    installed(binaries.map(|binaries| binaries.folder().to_owned()))
}
