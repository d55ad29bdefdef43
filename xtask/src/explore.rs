//! `cargo xtask explore`: hands over to the explorer, whose last line is the last line.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context as _;

use crate::cargo::{self, CHECKED, Workspace};

/// What the explorer is told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Walk ten times as many schedules
    #[arg(long)]
    full: bool,
    /// Walk the broken engines, until each is caught
    #[arg(long)]
    mutants: bool,
    /// Explore only this Kind; may be repeated
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<String>,
    /// The seed of the random schedules
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Keep the schedules of violations in this folder
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
    /// Rerun the schedule in this file instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["full", "mutants", "kinds", "seed", "store"])]
    replay: Option<PathBuf>,
}

impl Options {
    fn arguments(&self) -> anyhow::Result<Vec<OsString>> {
        if let Some(file) = &self.replay {
            return Ok(vec!["replay".into(), absolute(file)?]);
        }
        let job = if self.mutants { "mutants" } else { "run" };
        let mut words: Vec<OsString> = vec![job.into()];
        if self.full {
            words.push("--full".into());
        }
        for kind in &self.kinds {
            words.extend(["--kind".into(), kind.into()]);
        }
        if let Some(seed) = self.seed {
            words.extend(["--seed".into(), seed.to_string().into()]);
        }
        if let Some(folder) = &self.store {
            words.extend(["--store".into(), absolute(folder)?]);
        }
        Ok(words)
    }
}

/// The explorer runs in the workspace's folder; its user may be elsewhere.
fn absolute(path: &Path) -> anyhow::Result<OsString> {
    let path = std::path::absolute(path).with_context(|| path.display().to_string())?;
    Ok(path.into())
}

/// The explorer, built with every check on.
pub(crate) fn explorer<S: AsRef<OsStr>>(
    workspace: &Workspace,
    args: impl IntoIterator<Item = S>,
) -> Command {
    let run = [
        "run",
        "--quiet",
        "--profile",
        CHECKED,
        "--package",
        "explorer",
        "--",
    ];
    let mut command = workspace.cargo(run);
    command.args(args);
    command
}

/// Runs the explorer; its verdict is ours.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<ExitCode> {
    let mut command = explorer(workspace, options.arguments()?);
    let status = command.status().with_context(|| cargo::line(&command))?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Harness {
        #[command(flatten)]
        options: Options,
    }

    fn arguments(words: &[&str]) -> Vec<String> {
        let words = std::iter::once(&"explore").chain(words);
        let options = Harness::try_parse_from(words).unwrap().options;
        let words = options.arguments().unwrap();
        words
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect()
    }

    #[test]
    fn every_option_reaches_the_explorer() {
        assert_eq!(arguments(&[]), ["run"]);
        assert_eq!(arguments(&["--mutants", "--full"]), ["mutants", "--full"]);
        assert!(Path::new(&arguments(&["--store", "found"])[2]).is_absolute());
        let given = [
            "--full",
            "--kind",
            "aws/vpc",
            "--kind",
            "aws/subnet",
            "--seed",
            "7",
        ];
        assert_eq!(
            arguments(&given),
            [
                "run",
                "--full",
                "--kind",
                "aws/vpc",
                "--kind",
                "aws/subnet",
                "--seed",
                "7"
            ]
        );
    }

    #[test]
    fn a_replayed_file_is_found_from_any_folder_and_takes_no_other_option() {
        let words = arguments(&["--replay", "violation.txt"]);
        assert_eq!(words[0], "replay");
        assert!(Path::new(&words[1]).is_absolute());
        assert!(Harness::try_parse_from(["explore", "--replay", "f", "--full"]).is_err());
    }
}
