//! `cargo xtask test`: the tiers of tests, as a table.
//!
//! A new tier is one more row. Its tests find `FREEHOLD_TIER_<NAME>=1` in their environment and, with
//! `--full`, `FREEHOLD_FULL=1`; a test that needs what only its tier provides does nothing without the
//! first of these, so that `unit` can run the whole workspace.

use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::bail;

use crate::cargo::{self, CHECKED, WITH_SDKS, WITHOUT_SDKS, Workspace};
use crate::explore::explorer;
use crate::table::{self, row};

/// A tier of tests.
struct Tier {
    name: &'static str,
    about: &'static str,
    /// What it needs that this machine does not have, as a sentence for the summary.
    lacks: fn() -> Option<String>,
    /// What it does without, and what would be tested with it, as a sentence for the summary.
    omits: fn() -> Option<String>,
    /// The commands that run it, one after the other.
    commands: fn(&Workspace, full: bool) -> Vec<Command>,
}

const TIERS: &[Tier] = &[
    Tier {
        name: "unit",
        about: "pure code, property tests, golden outputs, doc tests",
        lacks: nothing,
        omits: upstream_definitions,
        commands: |workspace, _| {
            let mut command = tests(workspace);
            command.args(WITHOUT_SDKS);
            vec![command]
        },
    },
    Tier {
        name: "explore",
        about: "schedules of faults on the simulated clouds, and the mutants they must catch",
        lacks: nothing,
        omits: nothing,
        commands: |workspace, full| {
            let size = if full { &["--full"][..] } else { &[] };
            ["run", "mutants"]
                .map(|job| explorer(workspace, [&[job], size].concat()))
                .into()
        },
    },
    Tier {
        name: "embedded",
        about: "controllers on embedded-kube and the simulated clouds, under seeded faults",
        lacks: nothing,
        omits: nothing,
        commands: |workspace, _| {
            let mut command = tests(workspace);
            command.args(WITHOUT_SDKS);
            command.args([
                "--test",
                "embedded",
                "--test",
                "second_seeded",
                "--test",
                "capa_seeded",
            ]);
            vec![command]
        },
    },
    Tier {
        name: "control-plane",
        about: "embedded-kube and the controllers on a real kube-apiserver, with real CRDs",
        lacks: go_or_assets,
        omits: upstream_definitions,
        commands: |workspace, _| {
            // Of all that `unit` has built, so that it serves here too.
            let mut command = tests(workspace);
            command.args(WITHOUT_SDKS);
            command.args(["--test", "control_plane", "--test", "differential"]);
            command.args(["--test", "kubectl", "--test", "second"]);
            command.args(["--", "--test-threads", "16"]);
            vec![command]
        },
    },
    Tier {
        name: "aws",
        about: "the AWS adapter on moto's server, held to the simulated account case by case; the binary with it",
        lacks: python_or_memory,
        omits: clusters_on_moto,
        commands: |workspace, _| {
            let mut server = tests(workspace);
            server.args(WITHOUT_SDKS).args(["--test", "moto"]);
            let mut adapter = tests(workspace);
            adapter.args(WITH_SDKS);
            vec![server, adapter]
        },
    },
];

/// A call of `cargo test`. A program that fails does not keep the others from running: one run tells
/// all that is wrong.
fn tests(workspace: &Workspace) -> Command {
    workspace.cargo(["test", "--profile", CHECKED, "--no-fail-fast"])
}

/// What building the vendors' SDKs takes, in kilobytes: the compiler alone has half of it.
const SDK_MEMORY: u64 = 6_000_000;

fn python_or_memory() -> Option<String> {
    if !cargo::has_program("python3") {
        return Some("needs Python 3, which runs moto".to_owned());
    }
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let scarce = total_memory(&memory).is_some_and(|total| total < SDK_MEMORY);
    scarce.then(|| "needs 6 GB of memory, to build the vendors' SDKs".to_owned())
}

/// The kilobytes of memory that `/proc/meminfo` tells; `None` where there is no such file.
fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

fn go_or_assets() -> Option<String> {
    let assets = std::env::var_os("KUBEBUILDER_ASSETS").is_some();
    let there = assets || cargo::has_program("go");
    (!there).then(|| "needs Go, or KUBEBUILDER_ASSETS with the programs".to_owned())
}

fn upstream_definitions() -> Option<String> {
    let set = std::env::var_os("FREEHOLD_UPSTREAM_CRDS").is_some();
    (!set).then(|| "SKIPPED in it: upstream definitions (set FREEHOLD_UPSTREAM_CRDS)".to_owned())
}

fn clusters_on_moto() -> Option<String> {
    let runs = std::env::var_os("FREEHOLD_CAPA_ON_MOTO").is_some();
    (!runs).then(|| "SKIPPED in it: AWSCluster on moto (set FREEHOLD_CAPA_ON_MOTO=1)".to_owned())
}

fn nothing() -> Option<String> {
    None
}

/// How a tier ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

struct Report {
    tier: &'static str,
    outcome: Outcome,
    /// What a tier that ran did without.
    omitted: Option<String>,
    took: Duration,
}

/// The tiers, for `--help`.
pub(crate) fn help() -> String {
    let rows: Vec<_> = TIERS
        .iter()
        .map(|tier| row([&format!("  {}", tier.name), tier.about]))
        .collect();
    format!("Tiers:\n{}", table::render(&rows, &[]))
}

/// Runs the named tiers, or all; the last line counts them.
pub(crate) fn run(workspace: &Workspace, names: &[String], full: bool) -> anyhow::Result<ExitCode> {
    let tiers = select(names)?;
    let mut reports = Vec::with_capacity(tiers.len());
    for tier in tiers {
        say::line!("── tier {}: {} ──", tier.name, tier.about)?;
        let (outcome, took) = stopwatch(|| attempt(workspace, tier, full));
        reports.push(Report {
            tier: tier.name,
            outcome,
            omitted: (tier.omits)(),
            took,
        });
        say::line!("── tier {}: {:.1} minutes ──\n", tier.name, minutes(took))?;
    }
    let (text, passed) = summary(&reports, workspace.cache.is_ci());
    say::text(format_args!("{text}"))?;
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn select(names: &[String]) -> anyhow::Result<Vec<&'static Tier>> {
    let known = || {
        TIERS
            .iter()
            .map(|tier| tier.name)
            .collect::<Vec<_>>()
            .join(", ")
    };
    if let Some(name) = names
        .iter()
        .find(|name| TIERS.iter().all(|tier| tier.name != **name))
    {
        bail!("no tier is called {name:?}; there are: {}", known());
    }
    let wanted = |tier: &&Tier| names.is_empty() || names.iter().any(|name| name == tier.name);
    Ok(TIERS.iter().filter(wanted).collect())
}

fn attempt(workspace: &Workspace, tier: &Tier, full: bool) -> Outcome {
    if let Some(lack) = (tier.lacks)() {
        return Outcome::Skipped(lack);
    }
    let variable = format!(
        "FREEHOLD_TIER_{}",
        tier.name.to_uppercase().replace('-', "_")
    );
    for mut command in (tier.commands)(workspace, full) {
        command.env(&variable, "1");
        if full {
            command.env("FREEHOLD_FULL", "1");
        } else if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
            // The same cases every time: what is found in one run is there in the next.
            command.env("PROPTEST_RNG_SEED", "1");
        }
        if let Err(error) = cargo::run(&mut command) {
            return Outcome::Failed(format!("{error:#}"));
        }
    }
    Outcome::Passed
}

/// What ran, what did not and why; and whether that is good enough.
fn summary(reports: &[Report], ci: bool) -> (String, bool) {
    let mut rows = vec![row(["tier", "result", "minutes", ""])];
    let mut counts = [0_usize; 3];
    let mut partly = 0;
    for report in reports {
        let (at, result, note) = match &report.outcome {
            Outcome::Passed => (0, "passed", report.omitted.as_deref().unwrap_or("")),
            Outcome::Failed(why) => (1, "FAILED", why.as_str()),
            Outcome::Skipped(why) => (2, "SKIPPED", why.as_str()),
        };
        counts[at] += 1;
        partly += usize::from(at == 0 && !note.is_empty());
        rows.push(row([
            report.tier,
            result,
            &format!("{:.1}", minutes(report.took)),
            note,
        ]));
    }
    let [passed, failed, skipped] = counts;
    let table = table::render(&rows, &[2]);
    let warning = match (skipped, partly, ci) {
        (0, 0, _) => "",
        (0, ..) | (_, _, false) => "NOT EVERYTHING WAS TESTED: see what was skipped above\n",
        (_, _, true) => "CI=true: every tier is mandatory, so a skipped tier is a failure\n",
    };
    let in_part = match partly {
        0 => String::new(),
        some => format!(" ({some} in part)"),
    };
    let counts = format!("{passed} passed{in_part}, {failed} failed, {skipped} skipped");
    let text = format!("{table}{warning}{counts}\n");
    (text, failed == 0 && !(ci && skipped > 0))
}

fn minutes(took: Duration) -> f64 {
    took.as_secs_f64() / 60.0
}

#[expect(
    clippy::disallowed_methods,
    reason = "shown to people; nothing is decided by it"
)]
fn stopwatch<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = std::time::Instant::now();
    let result = work();
    (result, start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(tier: &'static str, outcome: Outcome) -> Report {
        Report {
            tier,
            outcome,
            omitted: None,
            took: Duration::from_secs(90),
        }
    }

    #[test]
    fn the_last_line_counts_the_tiers() {
        let reports = [
            report("unit", Outcome::Passed),
            report("explore", Outcome::Passed),
        ];
        let (text, passed) = summary(&reports, true);
        assert_eq!(
            text,
            "tier     result  minutes\n\
             unit     passed      1.5\n\
             explore  passed      1.5\n\
             2 passed, 0 failed, 0 skipped\n"
        );
        assert!(passed);
    }

    #[test]
    fn a_skipped_tier_is_said_loudly_and_fails_ci() {
        let skipped = Outcome::Skipped("Go is not installed".to_owned());
        let reports = [
            report("unit", Outcome::Passed),
            report("control-plane", skipped),
        ];
        let (text, passed) = summary(&reports, false);
        assert!(passed);
        assert!(
            text.contains("SKIPPED") && text.contains("Go is not installed"),
            "{text}"
        );
        assert!(text.contains("NOT EVERYTHING WAS TESTED"), "{text}");
        assert!(text.ends_with("1 passed, 0 failed, 1 skipped\n"), "{text}");
        let (text, passed) = summary(&reports, true);
        assert!(!passed && text.contains("mandatory"), "{text}");
    }

    #[test]
    fn what_a_tier_did_without_is_said_loudly() {
        let mut part = report("unit", Outcome::Passed);
        part.omitted = Some("SKIPPED in it: definitions".to_owned());
        let (text, passed) = summary(&[part, report("explore", Outcome::Passed)], true);
        assert!(passed);
        assert!(text.contains("SKIPPED in it: definitions\n"), "{text}");
        assert!(text.contains("NOT EVERYTHING WAS TESTED"), "{text}");
        assert!(
            text.ends_with("2 passed (1 in part), 0 failed, 0 skipped\n"),
            "{text}"
        );
    }

    #[test]
    fn a_failed_tier_fails_the_run_and_names_its_command() {
        let failed = Outcome::Failed("`cargo test` failed".to_owned());
        let (text, passed) = summary(&[report("unit", failed)], false);
        assert!(!passed);
        assert!(
            text.contains("FAILED") && text.contains("`cargo test` failed"),
            "{text}"
        );
        assert!(text.ends_with("0 passed, 1 failed, 0 skipped\n"), "{text}");
    }

    #[test]
    fn the_memory_of_a_machine_is_read() {
        let meminfo = "MemTotal:       2015144 kB\nMemFree:          101 kB\n";
        assert_eq!(total_memory(meminfo), Some(2_015_144));
        assert_eq!(total_memory(""), None);
    }

    #[test]
    fn an_unknown_tier_is_refused_with_the_known_ones() {
        let error = select(&["units".to_owned()]).err().unwrap().to_string();
        assert_eq!(
            error,
            "no tier is called \"units\"; there are: unit, explore, embedded, control-plane, aws"
        );
    }

    #[test]
    fn tiers_run_in_the_order_of_the_table_and_once_each() {
        let names = ["explore", "unit", "unit"].map(str::to_owned);
        let tiers: Vec<_> = select(&names)
            .unwrap()
            .iter()
            .map(|tier| tier.name)
            .collect();
        assert_eq!(tiers, ["unit", "explore"]);
        assert_eq!(select(&[]).unwrap().len(), TIERS.len());
    }
}
