//! `freehold dev`: an API server, a simulated account and the controllers in one process.

mod live;
mod once;
mod samples;
pub(crate) mod sim;
mod table;
mod world;

use std::path::PathBuf;

/// What `freehold dev` is told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Create, converge, repair, delete, and exit with a summary; on a virtual clock, in a second
    #[arg(long)]
    once: bool,
    /// The port of this machine that the Kubernetes API is served on; 0 is any that is free
    #[arg(long, default_value_t = 0, conflicts_with = "once")]
    port: u16,
    /// Where to write the kubeconfig; without it, into the folder for temporary files
    #[arg(long, value_name = "FILE", conflicts_with = "once")]
    kubeconfig: Option<PathBuf>,
    /// A folder to keep the Kubernetes objects in, across restarts; without it they go with the process
    #[arg(long, value_name = "DIR", conflicts_with = "once")]
    state: Option<PathBuf>,
}

/// Runs the demonstration.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if options.once {
        once::run()
    } else {
        live::run(
            options.port,
            options.kubeconfig.as_deref(),
            options.state.as_deref(),
        )
    }
}
