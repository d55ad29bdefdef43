//! Installs moto into the cache folder, and says where it is.

use std::process::ExitCode;

use test_programs::command::{doing, installed};

fn main() -> ExitCode {
    let moto = moto_server::install(doing);
    installed(moto.map(|moto| moto.program().to_owned()))
}
