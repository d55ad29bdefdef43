//! Generated request sequences, the same on both servers, shrunk where they differ.
//!
//! `FREEHOLD_SEED` and `FREEHOLD_SEQUENCES` choose others than the usual ones; a failure prints the
//! seed, the number of the sequence and the shortest sequence that still differs.

mod configs;
mod generate;
mod operation;
mod rights;
mod shrink;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use futures_util::StreamExt as _;

use crate::harness::{
    ASK_EVERY, Difference, Script, Server, beside_others, compare, embedded, enabled, guarded,
    real, say,
};
use operation::{Memory, Operation};

/// How many sequences are in flight at a time: the real server answers some 500 requests a second on
/// two cores, however many ask.
const AT_A_TIME: usize = 16;

/// Differing sequences that are shrunk and shown; more would only repeat them.
const SHOWN: usize = 5;

/// How long the real garbage collector may take to come to rest.
const REST_WITHIN: Duration = Duration::from_secs(20);

#[test]
fn generated() {
    compare_all(Family::No);
}

/// Objects that own each other: after every request the garbage collector is awaited.
#[test]
fn families() {
    compare_all(Family::Yes);
}

/// Roles and bindings, and what users may do by them. What differs is shown whole.
#[test]
fn rights() {
    if !enabled("generated sequences (rights)") {
        return;
    }
    let _guest = beside_others();
    let seed = number("FREEHOLD_SEED", 1);
    let count = number("FREEHOLD_SEQUENCES", 300);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let real = real().await;
        let differing: Vec<String> = futures_util::stream::iter(0..count)
            .map(|index| {
                let real = real.clone();
                async move {
                    let name = format!("rights-{seed}-{index}");
                    let mut on_real = Script::new(real, &name).await;
                    let mut on_embedded = Script::new(guarded().await, &name).await;
                    futures_util::join!(
                        rights::perform(&mut on_real, seed, index),
                        rights::perform(&mut on_embedded, seed, index)
                    );
                    let differences = compare(on_real.transcript(), on_embedded.transcript());
                    let first = differences.first()?;
                    Some(format!(
                        "sequence {index} of FREEHOLD_SEED={seed}:\n{first}"
                    ))
                }
            })
            .buffer_unordered(AT_A_TIME)
            .filter_map(std::future::ready)
            .collect()
            .await;
        let found = differing.len();
        say(&format!(
            "{count} generated sequences (rights) of seed {seed}: {found} differ"
        ));
        let shown: String = differing.into_iter().take(SHOWN).collect();
        assert!(found == 0, "{found} of {count} sequences differ\n{shown}");
    });
}

/// What a sequence is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Yes,
    No,
}

impl Family {
    fn sequence(self, seed: u64, index: u64) -> Vec<Operation> {
        match self {
            Self::Yes => generate::family(seed, index),
            Self::No => generate::sequence(seed, index),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Yes => "family",
            Self::No => "sequence",
        }
    }

    /// How often a sequence is run before it counts as differing. The real garbage collector works
    /// on many objects at once, and what it does can depend on which comes first (a dependent that
    /// does not block, and its owner that another finalizer holds): the embedded one must do what
    /// the real one does at least once.
    fn runs(self) -> usize {
        match self {
            Self::Yes => 4,
            Self::No => 1,
        }
    }

    /// Runs a sequence on both servers until they agree, each time in a namespace of its own whose
    /// name begins so.
    async fn run(self, real: &Server, name: &str, operations: &[Operation]) -> Outcome {
        let mut outcome = Outcome::default();
        for run in 1..=self.runs() {
            outcome = self
                .try_once(real, &format!("{name}-{run}"), operations)
                .await;
            outcome.runs = run;
            if outcome.differences.is_empty() {
                break;
            }
        }
        outcome
    }

    async fn try_once(self, real: &Server, name: &str, operations: &[Operation]) -> Outcome {
        let mut on_real = Script::new(real.clone(), name).await;
        let mut on_embedded = Script::new(embedded().await, name).await;
        let mut collected = 0;
        if self == Self::Yes {
            collected = relate(&mut on_real, &mut on_embedded, operations).await;
        } else {
            futures_util::join!(
                perform(&mut on_real, operations),
                perform(&mut on_embedded, operations)
            );
        }
        Outcome {
            differences: compare(on_real.transcript(), on_embedded.transcript()),
            collected,
            runs: 1,
        }
    }
}

/// What came of a sequence.
#[derive(Default)]
struct Outcome {
    /// Those of the last run.
    differences: Vec<Difference>,
    /// How many objects the garbage collector took.
    collected: usize,
    runs: usize,
}

fn compare_all(family: Family) {
    let what = family.name();
    if !enabled(&format!("generated sequences ({what})")) {
        return;
    }
    let _guest = beside_others();
    let seed = number("FREEHOLD_SEED", 1);
    let count = number("FREEHOLD_SEQUENCES", 1_000);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let real = real().await;
        if family == Family::Yes {
            let mut probe = Script::new(real.clone(), &format!("family-probe-{seed}")).await;
            for plural in ["widgets", "notes"] {
                probe.collects(plural).await;
            }
        }
        let outcomes: Vec<(u64, Outcome)> = futures_util::stream::iter(0..count)
            .map(|index| {
                let real = &real;
                async move {
                    let operations = family.sequence(seed, index);
                    let name = format!("{what}-{seed}-{index}");
                    (index, family.run(real, &name, &operations).await)
                }
            })
            .buffer_unordered(AT_A_TIME)
            .collect()
            .await;
        let differing: Vec<u64> = outcomes
            .iter()
            .filter(|(_, outcome)| !outcome.differences.is_empty())
            .map(|(index, _)| *index)
            .collect();
        if family == Family::Yes {
            let collected: usize = outcomes.iter().map(|(_, outcome)| outcome.collected).sum();
            let again = outcomes
                .iter()
                .filter(|(_, outcome)| outcome.runs > 1)
                .count();
            say(&format!(
                "{collected} objects were garbage, {again} sequences were run again"
            ));
            assert!(
                count < 100
                    || u64::try_from(collected).is_ok_and(|collected| collected > count / 4),
                "sequences in which nothing is collected show nothing"
            );
            assert!(
                u64::try_from(again).is_ok_and(|again| again <= 1 + count / 100),
                "{again} of {count} sequences agreed only after a while"
            );
        }
        let mut text = String::new();
        for index in differing.iter().take(SHOWN) {
            text += &explain(family, &real, seed, *index).await;
        }
        say(&format!(
            "{count} generated sequences ({what}) of seed {seed}: {} differ",
            differing.len()
        ));
        assert!(
            differing.is_empty(),
            "{} of {count} sequences differ\n{text}",
            differing.len()
        );
    });
}

async fn perform(script: &mut Script, operations: &[Operation]) {
    let mut memory = Memory::start(script).await;
    for operation in operations {
        operation.perform(script, &mut memory).await;
    }
    memory.streams(script).await;
}

/// Both servers in step: the next request is sent when the real garbage collector has done what the
/// embedded one has, or did not in time, which is then a difference.
async fn relate(on_real: &mut Script, on_embedded: &mut Script, operations: &[Operation]) -> usize {
    let mut real = Memory::start(on_real).await;
    let mut embedded = Memory::start(on_embedded).await;
    let mut collected = 0;
    let mut before: BTreeSet<String> = BTreeSet::new();
    for operation in operations {
        operation.perform(on_embedded, &mut embedded).await;
        operation.perform(on_real, &mut real).await;
        let wanted = embedded.family(on_embedded).await;
        let now: BTreeSet<String> = wanted
            .as_object()
            .map(|family| family.keys().cloned().collect())
            .unwrap_or_default();
        let (_, target) = operation.target();
        match operation {
            Operation::DeleteAll { .. } => {}
            Operation::Create { .. } => collected += usize::from(!now.contains(&target)),
            _ => {
                collected += before
                    .difference(&now)
                    .filter(|gone| **gone != target)
                    .count();
            }
        }
        before = now;
        let resting = async {
            while real.family(on_real).await != wanted {
                tokio::time::sleep(ASK_EVERY).await;
            }
        };
        let rested = tokio::time::timeout(REST_WITHIN, resting).await.is_ok();
        on_embedded.note("the family", wanted);
        let family = real.family(on_real).await;
        on_real.note("the family", family);
        if !rested {
            return collected;
        }
    }
    // What the real collector did not want to do until now it will not do: it has done something
    // that came later.
    on_real.collects("configmaps").await;
    let (wanted, family) = (
        embedded.family(on_embedded).await,
        real.family(on_real).await,
    );
    on_embedded.note("the family at last", wanted);
    on_real.note("the family at last", family);
    collected
}

async fn explain(family: Family, real: &Server, seed: u64, index: u64) -> String {
    let mut attempt = 0;
    let what = family.name();
    let operations = shrink::shrink(family.sequence(seed, index), async |operations| {
        attempt += 1;
        let name = format!("shrink-{what}-{seed}-{index}-{attempt}");
        let outcome = family.run(real, &name, operations).await;
        !outcome.differences.is_empty()
    })
    .await;
    let name = format!("shrunk-{what}-{seed}-{index}");
    let differences = family.run(real, &name, &operations).await.differences;
    let mut text = format!("{what} {index} of FREEHOLD_SEED={seed}, shrunk:\n");
    for operation in &operations {
        let _ = writeln!(text, "  {operation}");
    }
    for difference in differences {
        let _ = write!(text, "{difference}");
    }
    text
}

fn number(variable: &str, usual: u64) -> u64 {
    match std::env::var(variable) {
        Ok(value) => value
            .parse()
            .unwrap_or_else(|_| panic!("{variable} must be a number")),
        Err(_) => usual,
    }
}
