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
        println!("The live mode is still to come, so this is `--once`.\n");
    }
    let mut world = World::new()?;
    println!("{} {}", style("Freehold").bold(), env!("CARGO_PKG_VERSION"));
    println!(
        "{} on a simulated AWS account that others use too; nothing leaves this process.\n",
        world.claim()
    );

    let plan = world.plan(Phase::Live)?;
    println!(
        "{}",
        show::heading(1, "Plan", "what would be done, and why")
    );
    println!("{}\n", show::plan(&plan));

    println!("{}", show::heading(2, "Create", "one Step at a time"));
    let report = world.converge(Phase::Live, &mut Progress::new(plan.len()))?;

    println!(
        "\n{}",
        show::heading(3, "Tree", "what belongs to whom, freshly read")
    );
    println!("{}", show::tree(&world.tree(&report)?));

    println!(
        "{}",
        show::heading(4, "Delete", "in reverse order, and only on proof")
    );
    let plan = world.plan(Phase::Ending)?;
    world.converge(Phase::Ending, &mut Progress::new(plan.len()))?;

    let census = Census::take(&world.account());
    println!(
        "\n{}",
        show::heading(5, "Census", "by the simulation's record of who made what")
    );
    println!("touched of what is somebody else's: {}", census.thefts);
    println!(
        "created {}, deleted {}, orphans {}",
        census.created, census.deleted, census.orphans
    );
    ensure!(
        census.thefts == 0 && census.orphans == 0,
        "a law was broken: please report this"
    );
    Ok(())
}
