//! Build, test, bench and release jobs of the Freehold workspace: `cargo xtask --help`.

#[cfg(test)]
mod architecture;
mod bench;
mod cache;
mod cargo;
mod explore;
#[cfg(test)]
mod guides;
#[cfg(test)]
mod laws;
mod lint;
mod repository;
mod rust_version;
mod table;
mod tiers;
mod tools;
#[cfg(test)]
mod walk;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::cargo::Workspace;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Build, test, bench and release jobs of the Freehold workspace"
)]
struct Cli {
    #[command(subcommand)]
    job: Job,
}

#[derive(Subcommand)]
enum Job {
    /// Run the tests, tier by tier
    #[command(after_help = tiers::help())]
    Test {
        /// Run only this tier; may be repeated
        #[arg(long = "tier", value_name = "NAME")]
        tiers: Vec<String>,
        /// Use the large counts
        #[arg(long)]
        full: bool,
    },
    /// Walk schedules of faults and check the laws after each
    Explore(explore::Options),
    /// Measure, and print the figures as a table
    #[command(after_help = bench::help())]
    Bench {
        /// The benchmarks to run; all of them if none is named
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Also write the figures to this file
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    },
    /// Check format, lints, docs, dependencies and the repository itself
    Lint,
    /// Install the pinned tools into the cache folder
    Tools,
}

fn main() -> ExitCode {
    say::end(run(Cli::parse().job))
}

fn run(job: Job) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::here()?;
    match job {
        Job::Test { tiers, full } => tiers::run(&workspace, &tiers, full),
        Job::Explore(options) => explore::run(&workspace, &options),
        Job::Bench { names, json } => bench::run(&workspace, &names, json.as_deref()),
        Job::Lint => lint::run(&workspace),
        Job::Tools => tools::install_all(&workspace),
    }
}
