//! `cargo xtask lint`: everything that can be said about the code without running it.

use std::process::{Command, ExitCode, Stdio};

use crate::cargo::{self, WITH_SDKS, WITHOUT_SDKS, Workspace};
use crate::tools::CARGO_DENY;
use crate::{repository, rust_version};

/// One check, by the name it has in the summary.
type Check = (&'static str, fn(&Workspace) -> anyhow::Result<()>);

const CHECKS: &[Check] = &[
    ("format", |w| {
        cargo::run(&mut w.cargo(["fmt", "--all", "--check"]))
    }),
    ("clippy", |w| clippy(w, &WITHOUT_SDKS)),
    ("clippy of what is around the vendors' SDKs", |w| {
        clippy(w, &WITH_SDKS)
    }),
    ("docs", |w| {
        docs(w, &WITHOUT_SDKS)?;
        docs(w, &WITH_SDKS)
    }),
    ("dependencies", |w| {
        cargo::run(&mut deny(w, &["check", "bans", "licenses", "sources"])?)
    }),
    ("advisories", advisories),
    ("Rust version", rust_version::check),
    ("repository", repository::check),
];

/// Runs every check, also after one has failed.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<ExitCode> {
    let mut failed = Vec::new();
    for (name, check) in CHECKS {
        say::line!("── lint: {name} ──")?;
        if let Err(error) = check(workspace) {
            say::error(&error);
            failed.push(*name);
        }
    }
    if failed.is_empty() {
        say::line!("lint: all {} checks passed", CHECKS.len())?;
        return Ok(ExitCode::SUCCESS);
    }
    say::line!("lint: FAILED: {}", failed.join(", "))?;
    Ok(ExitCode::FAILURE)
}

fn clippy(workspace: &Workspace, packages: &[&str]) -> anyhow::Result<()> {
    let mut command = workspace.cargo(["clippy"]);
    command.args(packages);
    cargo::run(command.args(["--all-targets", "--", "-D", "warnings"]))
}

fn docs(workspace: &Workspace, packages: &[&str]) -> anyhow::Result<()> {
    let mut command = workspace.cargo(["doc", "--no-deps", "--quiet"]);
    command.args(packages);
    cargo::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

/// A call of cargo-deny.
fn deny(workspace: &Workspace, args: &[&str]) -> anyhow::Result<Command> {
    let mut command = workspace.command(CARGO_DENY.install(workspace)?);
    command.args(args);
    Ok(command)
}

/// Known vulnerabilities, where their database can be had.
fn advisories(workspace: &Workspace) -> anyhow::Result<()> {
    let mut fetch = deny(workspace, &["fetch", "db"])?;
    fetch.stdout(Stdio::null()).stderr(Stdio::null());
    if cargo::run(&mut fetch).is_err() {
        say::line!("SKIPPED: the database of advisories cannot be had from here")?;
        return Ok(());
    }
    let check = ["check", "--disable-fetch", "advisories"];
    cargo::run(&mut deny(workspace, &check)?)
}
