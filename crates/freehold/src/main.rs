//! Freehold's command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    freehold::main()
}
