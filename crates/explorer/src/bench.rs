//! Figures: how fast the engine decides, what a claim costs at rest, how fast schedules are walked.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use ownership::decide::{Entry, Op};
use ownership::{Case, Decision, Freehold, Phase, Sightings, View, decide};

use crate::kkp;
use crate::run;
use crate::scenario::{self, Scenario};
use crate::search::{self, Effort};

/// How long each rate is measured.
const SPAN: Duration = Duration::from_secs(2);

/// How many claims are held at once to see what one costs.
const CLAIMS: usize = 10_000;

/// Measures and prints `name value unit`, one figure a line.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let cluster = kkp::scenarios().pop().context("there is a KKP scenario")?;
    say::line!(
        "ownership.decide.per_second {:.0} decisions/s",
        decisions_per_second(&cluster)
    )?;
    say::line!("ownership.claim.bytes {} bytes", bytes_per_claim(&cluster)?)?;
    say::line!(
        "ownership.explore.schedules_per_second {:.0} schedules/s",
        schedules_per_second()
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Decisions of a KKP cluster's first pass, over and over: every one asks all slots.
fn decisions_per_second(scenario: &Scenario) -> f64 {
    let case = Case {
        identity: &scenario.identity,
        blueprint: &scenario.blueprint,
        evidence: &scenario.evidence,
        kinds: &scenario.kinds,
        phase: Phase::Live,
    };
    let mut decisions = 0_u32;
    let took = repeat(|| {
        let mut account = scenario.account.clone();
        let now = account.clock().now();
        let (mut ledger, mut view, mut sightings) =
            (scenario.ledger.clone(), View::new(), Sightings::new());
        loop {
            decisions += 1;
            let decided = decide(&Freehold, &case, &ledger, &view, &mut sightings, now);
            match decided.decision {
                Decision::Write(entries) => {
                    for Entry { edits, reason } in &entries {
                        for edit in edits {
                            ledger.apply(edit);
                        }
                        view.wrote(edits, now, reason);
                    }
                }
                Decision::Call(calls) => {
                    for call in calls {
                        match call.op {
                            Op::Read(query) => {
                                let answer = account.read(&query, cloud_sim::Staleness::Settled);
                                view.learn(query, answer.unwrap_or_default(), now);
                            }
                            Op::Perform(step) => {
                                let effect = account.perform(scenario.actor, &step);
                                view.performed(&step, effect.unwrap_or_default(), now);
                            }
                        }
                    }
                }
                _ => break,
            }
        }
    });
    f64::from(decisions) / took.as_secs_f64()
}

/// What one KKP cluster at rest holds in memory: claim, blueprint, ledger, sightings.
fn bytes_per_claim(scenario: &Scenario) -> anyhow::Result<u64> {
    let (_, ledger) = run::prepare(scenario, &Freehold);
    let before = resident()?;
    let claims: Vec<_> = (0..CLAIMS)
        .map(|_| {
            let identity = scenario.identity.clone();
            (
                identity,
                fresh_blueprint(),
                ledger.clone(),
                Sightings::new(),
            )
        })
        .collect();
    let after = resident()?;
    drop(claims);
    Ok(after.saturating_sub(before) / CLAIMS as u64)
}

/// A blueprint that shares nothing with others, as each cluster has its own.
fn fresh_blueprint() -> Option<ownership::Blueprint> {
    blueprints::kkp::Cluster::new("prod").blueprint().ok()
}

/// Resident memory of this process, in bytes.
fn resident() -> anyhow::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").context("/proc/self/statm")?;
    let pages: u64 = text.split(' ').nth(1).context("resident pages")?.parse()?;
    Ok(pages * 4096)
}

/// Distinct schedules of every scenario, on every core.
fn schedules_per_second() -> f64 {
    let scenarios = scenario::all();
    let runner: search::Runner = |s, chooser, turns| run::run(s, &Freehold, chooser, turns);
    let effort = Effort {
        one_in: 16,
        of_many: 1000,
        random: 50,
        turns_one_in: 200,
        faulty_turns_one_in: 2,
        seed: 1,
    };
    let start = now();
    let tallies = search::explore(&scenarios, runner, "", effort, |_, _| {});
    let took = start.elapsed();
    let total: usize = tallies.values().map(|tally| tally.schedules).sum();
    f64::from(u32::try_from(total).unwrap_or(u32::MAX)) / took.as_secs_f64()
}

/// Repeats for a while; says for how long.
fn repeat(mut work: impl FnMut()) -> Duration {
    let start = now();
    while start.elapsed() < SPAN {
        work();
    }
    start.elapsed()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn now() -> Instant {
    Instant::now()
}
