//! `cargo xtask tools`: programs that jobs need, of a pinned version, in the cache folder.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Context as _;

use crate::cargo::{self, CHECKED, Workspace};

/// A program from the package registry.
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

/// Checks dependencies: bans, licences, sources, advisories.
pub(crate) const CARGO_DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
};

/// Installs whatever is not there.
pub(crate) fn install_all(workspace: &Workspace) -> anyhow::Result<ExitCode> {
    let program = CARGO_DENY.install(workspace)?;
    say::line!(
        "{} {}: {}",
        CARGO_DENY.name,
        CARGO_DENY.version,
        program.display()
    )?;
    if cargo::has_program("go") {
        // The real control plane, built from its Go modules.
        install_by(workspace, "control-plane", "control-plane-tools")?;
    } else {
        say::line!("no Go here: the real control plane is not built")?;
    }
    if cargo::has_program("python3") {
        // What stands for AWS.
        install_by(workspace, "moto-server", "moto-tools")?;
    } else {
        say::line!("no Python here: moto is not installed")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the program of a crate that installs what the crate starts.
fn install_by(workspace: &Workspace, package: &str, program: &str) -> anyhow::Result<()> {
    let mut command = workspace.cargo(["run", "--quiet", "--profile", CHECKED]);
    cargo::run(command.args(["-p", package, "--bin", program]))
}

impl Tool {
    /// The program; built first if this very version is not there.
    pub(crate) fn install(&self, workspace: &Workspace) -> anyhow::Result<PathBuf> {
        let folder = workspace.cache.tools();
        let program = folder.join("bin").join(self.name);
        if self.is_at(&program) {
            return Ok(program);
        }
        say::line!(
            "installing {} {} (minutes, once per machine)",
            self.name,
            self.version
        )?;
        let package = format!("{}@{}", self.name, self.version);
        let mut command = workspace.cargo(["install", "--locked", "--force", "--root"]);
        command.arg(&folder).arg(package);
        cargo::run(&mut command).with_context(|| format!("installing {}", self.name))?;
        Ok(program)
    }

    fn is_at(&self, program: &PathBuf) -> bool {
        let answer = Command::new(program).arg("--version").output();
        answer.is_ok_and(|answer| {
            let text = String::from_utf8_lossy(&answer.stdout);
            text.split_whitespace().last() == Some(self.version)
        })
    }
}
