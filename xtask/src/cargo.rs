//! The workspace: where it is, and how cargo is called in it.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::cache::Cache;

/// The profile of tests and explorer: optimised, with every check on.
pub(crate) const CHECKED: &str = "checked";

/// Everything that builds without the vendors' SDKs, which take minutes and gigabytes: they are the
/// only default features of the workspace.
pub(crate) const WITHOUT_SDKS: [&str; 6] = [
    "--workspace",
    "--exclude",
    "cloud-aws",
    "--no-default-features",
    "--features",
    "freehold/dev",
];

/// The crates around the vendors' SDKs. Always these together, and always with all targets: another
/// selection may want other features of what they share, and then the SDKs are compiled again.
pub(crate) const WITH_SDKS: [&str; 4] = ["--package", "cloud-aws", "--package", "freehold"];

/// This workspace and its cache folder.
pub(crate) struct Workspace {
    root: PathBuf,
    pub(crate) cache: Cache,
}

impl Workspace {
    /// The workspace that this program belongs to.
    pub(crate) fn here() -> anyhow::Result<Self> {
        // Set by `cargo run` and `cargo test`; not baked in, because clones can share a target folder.
        let manifest = env::var_os("CARGO_MANIFEST_DIR").context("run me as `cargo xtask`")?;
        let root = Path::new(&manifest)
            .parent()
            .context("xtask has no parent folder")?;
        Ok(Self {
            root: root.to_owned(),
            cache: Cache::locate(|name| env::var_os(name))?,
        })
    }

    /// The folder of the workspace.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A call of cargo in the workspace.
    pub(crate) fn cargo<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = self.command(cargo);
        command.args(args);
        command
    }

    /// A call of a program that calls cargo in the workspace.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        // What `cargo run` told this program about itself would make build scripts that watch these
        // variables run again.
        for (name, _) in env::vars_os() {
            if name.to_str().is_some_and(is_about_us) {
                command.env_remove(name);
            }
        }
        if let Some(target) = self.cache.target() {
            command.env("CARGO_TARGET_DIR", target);
        }
        command
    }
}

fn is_about_us(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
}

/// Runs a command, whose output goes where ours does.
///
/// # Errors
/// The command line, and how it ended.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| line(command))?;
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

/// Whether a program of this name can be run.
pub(crate) fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// A command as a person would type it.
pub(crate) fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_is_named_as_a_person_would_type_it() {
        let workspace = Workspace::here().unwrap();
        let mut command = workspace.cargo(["no-such-job", "--please"]);
        command.stderr(std::process::Stdio::null());
        let error = run(&mut command).unwrap_err().to_string();
        assert!(
            error.starts_with("`cargo no-such-job --please` failed"),
            "{error}"
        );
    }
}
