//! `freehold dev`: a cluster's life on a simulated account, from plan to deletion.

mod progress;
mod world;

use anyhow::ensure;
use console::style;
use ownership::decide::Phase;

use crate::census::Census;
use crate::show;
use progress::Progress;
use world::World;

/// What `freehold dev` is told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Create, converge, delete, and exit with a summary
    #[arg(long)]
    once: bool,
}

/// Runs the demonstration; its last line is the summary.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if !options.once {
        say::line!("The live mode is still to come, so this is `--once`.\n")?;
    }
    let mut world = World::new()?;
    say::line!("{} {}", style("Freehold").bold(), env!("CARGO_PKG_VERSION"))?;
    say::line!(
        "{} on a simulated AWS account that others use too; nothing leaves this process.\n",
        world.claim()
    )?;

    let plan = world.plan(Phase::Live)?;
    say::line!(
        "{}",
        show::heading(1, "Plan", "what would be done, and why")
    )?;
    say::line!("{}\n", show::plan(&plan))?;

    say::line!("{}", show::heading(2, "Create", "one Step at a time"))?;
    let report = world.converge(Phase::Live, &mut Progress::new(plan.len()))?;

    say::line!(
        "\n{}",
        show::heading(3, "Tree", "what belongs to whom, freshly read")
    )?;
    say::line!("{}", show::tree(&world.tree(&report)?))?;

    say::line!(
        "{}",
        show::heading(4, "Delete", "in reverse order, and only on proof")
    )?;
    let plan = world.plan(Phase::Ending)?;
    world.converge(Phase::Ending, &mut Progress::new(plan.len()))?;

    let census = Census::take(&world.account());
    say::line!(
        "\n{}",
        show::heading(5, "Census", "by the simulation's record of who made what")
    )?;
    say::line!("touched of what is somebody else's: {}", census.thefts)?;
    say::line!(
        "created {}, deleted {}, orphans {}",
        census.created,
        census.deleted,
        census.orphans
    )?;
    ensure!(
        census.thefts == 0 && census.orphans == 0,
        "a law was broken: please report this"
    );
    Ok(())
}
