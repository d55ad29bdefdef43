//! Freehold's command line.
#![expect(clippy::print_stdout, reason = "a command line speaks to its user")]

mod block_on;
mod census;
mod dev;
mod show;
mod words;

use clap::{Parser, Subcommand};

/// Gives every cloud resource of a Kubernetes cluster a provable owner.
#[derive(Parser)]
#[command(name = "freehold", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show a cluster's life on a simulated account; nothing leaves this process
    Dev(dev::Options),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Dev(options) => dev::run(&options),
    }
}
