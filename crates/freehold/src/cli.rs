//! The commands, and what they are told.

use std::io::Write as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};

#[cfg(feature = "dev")]
use crate::dev;
use crate::look::everywhere;
use crate::{install, look, operator, take_over};

/// Gives every cloud resource of a Kubernetes cluster a provable owner.
#[derive(Parser)]
#[command(name = "freehold", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show a cluster's life on a simulated account; nothing leaves this machine
    #[cfg(feature = "dev")]
    Dev(dev::Options),
    /// Do something by hand in the simulated account of a running dev
    #[cfg(feature = "dev")]
    Sim(dev::sim::Options),
    /// Run the operator on the current cluster
    Run(operator::Options),
    /// Print the definitions of served kinds, and the admission policies
    Crds(install::Crds),
    /// Print what to run the operator with: account, rights, policies, Deployment
    Manifests(install::Options),
    /// Print what the operator must be allowed to do in a cloud
    Permissions(install::permissions::Options),
    /// Say what fills an object's slots, whose it is, and what would be done next
    Explain(look::ExplainOptions),
    /// Show what belongs to an object, and why
    Tree(look::TreeOptions),
    /// Say whose resources are, and by which marks
    Whose(everywhere::WhoseOptions),
    /// Find what carries marks of a claim that is no object's here
    Orphans(everywhere::OrphansOptions),
    /// Confirm that the claims of a management cluster that is gone are this one's
    TakeOver(take_over::Options),
}

/// What the binary does.
pub fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
    let outcome = match cli.command {
        #[cfg(feature = "dev")]
        Command::Dev(options) => dev::run(&options),
        #[cfg(feature = "dev")]
        Command::Sim(options) => dev::sim::run(&options),
        Command::Run(options) => operator::command(options),
        Command::Crds(options) => install::crds(&options),
        Command::Manifests(options) => install::manifests(&options),
        Command::Permissions(options) => install::permissions::command(&options),
        Command::Explain(options) => look::explain(&options),
        Command::Tree(options) => look::tree(&options),
        Command::Whose(options) => everywhere::whose(&options),
        Command::Orphans(options) => everywhere::orphans(&options),
        Command::TakeOver(options) => take_over::command(&options),
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
        let said = format!("{}\nThere are: {}\n", error.render(), names.join(", "));
        // Where standard error takes nothing, the exit code says it.
        let _ = std::io::stderr().write_all(said.as_bytes());
        std::process::exit(error.exit_code());
    }
    error.exit()
}
