//! Freehold's command line.

mod block_on;
mod census;
mod dev;
mod show;

use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};

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

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
    let outcome = match cli.command {
        Command::Dev(options) => dev::run(&options),
    };
    say::end(outcome.map(|()| ExitCode::SUCCESS))
}

/// Says what is wrong with a command line; where it is the command itself, which ones there are.
fn refuse(error: &clap::Error) -> ! {
    if error.kind() == ErrorKind::InvalidSubcommand {
        let commands = Cli::command();
        let names: Vec<_> = commands
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let said = format!("{}\nThere is: {}\n", error.render(), names.join(", "));
        // Where standard error takes nothing, the exit code says it.
        let _ = std::io::stderr().write_all(said.as_bytes());
        std::process::exit(error.exit_code());
    }
    error.exit()
}
