//! `cargo xtask explore`: hands over to the explorer, whose last line is the last line.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Context as _;

use crate::cargo::{self, CHECKED, Workspace};

/// What the explorer is told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Walk ten times as many schedules
    #[arg(long)]
    full: bool,
    /// Explore only this Kind; may be repeated
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<String>,
    /// The seed of the random schedules
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Rerun the schedule in this file instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["full", "kinds", "seed"])]
    replay: Option<PathBuf>,
}

impl Options {
    fn arguments(&self) -> anyhow::Result<Vec<OsString>> {
        if let Some(file) = &self.replay {
            // The explorer runs in the workspace's folder, the user may be elsewhere.
            let file = std::path::absolute(file)
                .with_context(|| format!("--replay {}", file.display()))?;
            return Ok(vec!["replay".into(), file.into()]);
        }
        let mut words: Vec<OsString> = vec!["run".into()];
        if self.full {
            words.push("--full".into());
        }
        for kind in &self.kinds {
            words.extend(["--kind".into(), kind.into()]);
        }
        if let Some(seed) = self.seed {
            words.extend(["--seed".into(), seed.to_string().into()]);
        }
        Ok(words)
    }
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
        assert!(std::path::Path::new(&words[1]).is_absolute());
        assert!(Harness::try_parse_from(["explore", "--replay", "f", "--full"]).is_err());
    }
}
