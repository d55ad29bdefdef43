//! The command line.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use anyhow::{Context, bail};
use clap::{Args, Parser};
use ownership::Freehold;
use say::Unheard;

use crate::counts::Counts;
use crate::laws::Violation;
use crate::mutants::{self, Mutant};
use crate::run;
use crate::scenario::{self, Scenario};
use crate::search::{self, Effort, Tally, Walk};
use crate::stored::Stored;

/// Explores schedules of faults and checks the laws.
#[derive(Parser)]
#[command(name = "explorer", version)]
pub(crate) enum Command {
    /// Walk schedules of the product's own engine.
    Run(Options),
    /// Walk schedules of broken engines until each is caught.
    Mutants(Options),
    /// Run a stored schedule again.
    Replay {
        /// The file.
        file: PathBuf,
    },
    /// Measure.
    Bench,
}

/// How far to walk.
#[derive(Args)]
pub(crate) struct Options {
    /// The large counts.
    #[arg(long)]
    full: bool,
    /// Only scenarios whose name begins with this.
    #[arg(long, value_name = "NAME")]
    kind: Vec<String>,
    /// Where random schedules begin.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Store the schedules of violations in this folder.
    #[arg(long, value_name = "FOLDER")]
    store: Option<PathBuf>,
}

impl Command {
    /// Does what was asked.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Run(options) => options.run(),
            Self::Mutants(options) => options.mutants(),
            Self::Replay { file } => crate::replay::replay(&file),
            Self::Bench => crate::bench::run(),
        }
    }
}

impl Options {
    fn scenarios(&self) -> anyhow::Result<Vec<Scenario>> {
        let mut all = scenario::all();
        if !self.kind.is_empty() {
            all.retain(|scenario| {
                self.kind
                    .iter()
                    .any(|kind| scenario.name.starts_with(kind.as_str()))
            });
            if all.is_empty() {
                bail!(
                    "no scenario's name begins with {}; the kinds are:\n{}",
                    self.kind.join(" or "),
                    scenario::kinds(&scenario::all())
                );
            }
        }
        // The largest first, so that no core is left with one at the end.
        all.sort_by_key(|scenario| {
            std::cmp::Reverse((scenario.blueprint.slots().len(), scenario.depth))
        });
        Ok(all)
    }

    fn run(&self) -> anyhow::Result<ExitCode> {
        let scenarios = self.scenarios()?;
        let seed = self.seed.unwrap_or(1);
        let effort = if self.full {
            Effort {
                one_in: 1,
                of_many: 80_000,
                random: 2000,
                turns_one_in: 3,
                faulty_turns_one_in: 8,
                seed,
            }
        } else {
            Effort {
                one_in: 16,
                of_many: 5000,
                random: 150,
                turns_one_in: 33,
                faulty_turns_one_in: 2,
                seed,
            }
        };
        let runner: search::Runner = |s, chooser, turns| run::run(s, &Freehold, chooser, turns);
        let tallies = search::explore(&scenarios, runner, "", effort, |_, _| {});
        let violations: Vec<&(Stored, Violation)> = tallies
            .values()
            .flat_map(|tally| &tally.violations)
            .collect();
        print_kinds(&tallies)?;
        print_families(&tallies)?;
        for (stored, violation) in &violations {
            say::line!("\nlaw {}: {}\n{stored}", violation.law, violation.what)?;
            self.store(stored)?;
        }
        let total: usize = tallies.values().map(|tally| tally.schedules).sum();
        say::line!(
            "explored {total} schedules, {} violations",
            violations.len()
        )?;
        Ok(if violations.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn mutants(&self) -> anyhow::Result<ExitCode> {
        let scenarios = one_of_each_family_first(self.scenarios()?);
        let seed = self.seed.unwrap_or(1);
        say::line!("random schedules begin at seed {seed}")?;
        let mutants = mutants::all();
        let (mut caught, mut random, mut violations) = (0, 0, 0);
        let by_search = Effort {
            one_in: 7,
            of_many: 1000,
            random: 0,
            turns_one_in: 60,
            faulty_turns_one_in: 2,
            seed,
        };
        let by_chance = Effort {
            random: if self.full { 4000 } else { 1500 },
            ..by_search
        };
        let hunt = |mutant: &Mutant| {
            let systematic = catch(mutant, &scenarios, |walk| walk.walk(by_search));
            let random = catch(mutant, &scenarios, |walk| walk.walk_randomly(by_chance));
            (systematic, random)
        };
        in_parallel(&mutants, hunt, |mutant, (systematic, by_chance)| {
            caught += usize::from(systematic.is_some());
            random += usize::from(by_chance.is_some());
            let law = |found: &Option<(Stored, Violation)>| match found {
                Some((stored, violation)) => format!("{} ({})", violation.law, stored.scenario),
                None => "SURVIVED".to_owned(),
            };
            say::line!(
                "{:<50} {:<60} random: {}",
                mutant.name,
                law(&systematic),
                law(&by_chance)
            )?;
            for (stored, _) in [&systematic, &by_chance].into_iter().flatten() {
                self.store(stored)?;
                // What breaks the product as well shows nothing of a mutant.
                let product = Stored {
                    mutant: String::new(),
                    ..stored.clone()
                };
                if let Some(violation) = crate::replay::run(&product)?.violation {
                    violations += 1;
                    let (law, what) = (violation.law, violation.what);
                    say::line!("\nthe product breaks law {law}: {what}\n{product}")?;
                }
            }
            Ok(())
        })?;
        say::line!("mutants caught by random seeds {random}/{}", mutants.len())?;
        say::line!("mutants caught {caught}/{}", mutants.len())?;
        let all = caught == mutants.len() && random == mutants.len() && violations == 0;
        Ok(if all {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn store(&self, stored: &Stored) -> anyhow::Result<()> {
        let Some(folder) = &self.store else {
            return Ok(());
        };
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let file = folder.join(stored.file());
        std::fs::write(&file, stored.to_string())
            .with_context(|| format!("cannot write {}", file.display()))
    }
}

/// Does something for each of many on every core, and tells what came of it in their order, each as soon as
/// it is there.
fn in_parallel<T: Sync, U: Send>(
    items: &[T],
    work: impl Fn(&T) -> U + Sync,
    mut tell: impl FnMut(&T, U) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some((at, item)) = nth(items, next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((at, work(item))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut told = 0;
        for (at, result) in receiver {
            early.insert(at, result);
            while let Some(result) = early.remove(&told) {
                tell(&items[told], result)?;
                told += 1;
            }
        }
        Ok(())
    })
}

fn nth<T>(items: &[T], at: usize) -> Option<(usize, &T)> {
    items.get(at).map(|item| (at, item))
}

/// Walks scenarios until one of them catches the mutant.
fn catch(
    mutant: &Mutant,
    scenarios: &[Scenario],
    walk: impl Fn(Walk<'_>) -> Tally,
) -> Option<(Stored, Violation)> {
    let shows = |scenario: &&Scenario| scenario.name.starts_with(mutant.shows);
    let (first, others): (Vec<_>, Vec<_>) = scenarios.iter().partition(shows);
    for scenario in first.into_iter().chain(others) {
        let scenario = Scenario {
            flaw: mutant.flaw,
            ..scenario.clone()
        };
        let tally = walk(Walk::new(&scenario, mutant.runner, mutant.name));
        if let Some(found) = tally.violations.into_iter().next() {
            return Some(found);
        }
    }
    None
}

/// Kinds with so few scenarios are about something of their own.
const FEW: usize = 8;

/// The smallest scenario of each family, then those of Kinds that are about something of their own, then
/// the next of each family: what breaks a rule mostly shows in any scenario that is about it.
fn one_of_each_family_first(scenarios: Vec<Scenario>) -> Vec<Scenario> {
    let mut of_kind: BTreeMap<String, usize> = BTreeMap::new();
    for scenario in &scenarios {
        *of_kind.entry(scenario::kind(&scenario.name)).or_default() += 1;
    }
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    let rank = |scenario: Scenario| {
        let its_own = of_kind[&scenario::kind(&scenario.name)] <= FEW;
        if its_own {
            return ((1, true), scenario);
        }
        let family = scenario::family(&scenario.name).to_owned();
        let met = met.entry(family).or_default();
        *met += 1;
        ((*met, false), scenario)
    };
    let mut ranked: Vec<_> = scenarios.into_iter().rev().map(rank).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, scenario)| scenario).collect()
}

/// Prints, for each Kind and blueprint, how many distinct schedules were walked, and with how many faults.
fn print_kinds(tallies: &BTreeMap<String, Tally>) -> Result<(), Unheard> {
    let mut kinds: BTreeMap<String, (usize, usize, Counts)> = BTreeMap::new();
    for (name, tally) in tallies {
        let (schedules, violations, counts) = kinds.entry(scenario::kind(name)).or_default();
        *schedules += tally.schedules;
        *violations += tally.violations.len();
        *counts += tally.counts;
    }
    say::line!(
        "{:<38} {:>9} {:>8} {:>17} {:>8} {:>10}",
        "kind or blueprint",
        "schedules",
        "1 fault",
        "2 faults",
        "random",
        "violations"
    )?;
    for (kind, (schedules, violations, counts)) in kinds {
        say::line!(
            "{kind:<38} {schedules:>9} {:>8} {:>17} {:>8} {violations:>10}",
            counts.singles,
            of(counts.pairs, counts.all_pairs),
            counts.random
        )?;
    }
    Ok(())
}

/// What was walked, of how much.
fn of(walked: usize, all: usize) -> String {
    if all == 0 {
        "-".to_owned()
    } else {
        format!("{walked}/{all}")
    }
}

/// Prints, for each family of scenarios, what was walked of what there is.
fn print_families(tallies: &BTreeMap<String, Tally>) -> Result<(), Unheard> {
    let mut families: BTreeMap<&str, (usize, usize, Counts)> = BTreeMap::new();
    let mut whole = Counts::default();
    for (name, tally) in tallies {
        let (scenarios, schedules, counts) = families.entry(scenario::family(name)).or_default();
        *scenarios += 1;
        *schedules += tally.schedules;
        *counts += tally.counts;
        whole += tally.counts;
    }
    say::line!(
        "\n{:<38} {:>9} {:>9} {:>8} {:>17} {:>17} {:>10} {:>8}",
        "family",
        "scenarios",
        "schedules",
        "1 fault",
        "2 faults",
        "interleavings",
        "interrupted",
        "random"
    )?;
    let row = |name: &str, scenarios: usize, schedules: usize, counts: &Counts| {
        say::line!(
            "{name:<38} {scenarios:>9} {schedules:>9} {:>8} {:>17} {:>17} {:>10} {:>8}",
            counts.singles,
            of(counts.pairs, counts.all_pairs),
            of(counts.turns, counts.all_turns),
            counts.faulty_turns,
            counts.random
        )
    };
    for (name, (scenarios, schedules, counts)) in &families {
        row(name, *scenarios, *schedules, counts)?;
    }
    let schedules = tallies.values().map(|tally| tally.schedules).sum();
    row("all", tallies.len(), schedules, &whole)?;
    say::line!("")
}
