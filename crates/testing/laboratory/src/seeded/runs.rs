//! All runs, each a seed.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use controllers::reconcile::Guards;

use super::world::{live, live_through_everything, live_without};
use super::{Seeded, claims, weather};

/// A record is written only over the version that was read.
pub const COMPARE_AND_SWAP: Check = Check {
    name: "compare and swap",
    without: Guards {
        compare_and_swap: false,
        ..Guards::ALL
    },
};

/// A cloud is written to only when the object's UUID and finalizers stand.
pub const PIN: Check = Check {
    name: "pin",
    without: Guards {
        pin: false,
        ..Guards::ALL
    },
};

/// What cannot be repeated safely is sent only within the process's term.
pub const TERM: Check = Check {
    name: "term",
    without: Guards {
        term: false,
        ..Guards::ALL
    },
};

/// A check around the engine, to be taken away.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    name: &'static str,
    without: Guards,
}

/// How many runs there are, here and now.
fn count<S: Seeded>() -> u64 {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| value == "1");
    match (is_set("FREEHOLD_TIER_EMBEDDED"), is_set("FREEHOLD_FULL")) {
        (true, true) => S::RUNS.full,
        (true, false) => S::RUNS.tier,
        (false, _) => S::RUNS.few,
    }
}

/// Lives through all runs of a system, or through the one that `FREEHOLD_SEED` says.
///
/// # Guarantees
/// - No run breaks a law.
/// - A seed gives the same run again.
/// - Without any of the system's [`Seeded::CHECKS`] some run breaks a law.
pub fn runs<S: Seeded>() {
    claims::listen();
    // What is drawn once is drawn here, so that it shifts no run that is compared or repeated. A law
    // that breaks here breaks below, too.
    let _ = catch_unwind(live_through_everything::<S>);
    for seed in 1..=8 {
        let _ = catch_unwind(|| live::<S>(seed));
    }
    if let Some(seed) = std::env::var_os("FREEHOLD_SEED") {
        let seed = seed.to_string_lossy();
        let seed = seed.parse();
        let seed = seed.unwrap_or_else(|_| panic!("FREEHOLD_SEED must be a number"));
        weather::trace();
        live::<S>(seed);
        say(&format!("seed {seed} breaks no law"));
        return;
    }
    no_run_breaks_a_law::<S>();
    a_seed_gives_the_same_run_again::<S>();
    a_missing_check_breaks_a_law::<S>();
}

fn no_run_breaks_a_law<S: Seeded>() {
    let (runs, next) = (count::<S>(), AtomicU64::new(1));
    let (broken, seen) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed > runs {
            return;
        }
        if let Ok(run) = catch_unwind(AssertUnwindSafe(|| live::<S>(seed))) {
            seen.lock().unwrap().extend(run.seen);
        } else {
            say(&format!(
                "seed {seed} breaks a law; to see it again: FREEHOLD_SEED={seed} FREEHOLD_TRACE=1 \
                 cargo test --profile checked -p controllers --test {}",
                S::TEST
            ));
            broken.lock().unwrap().push(seed);
        }
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..cores {
            scope.spawn(work);
        }
    });
    let mut broken = broken.into_inner().unwrap();
    broken.sort_unstable();
    let mut counts = BTreeMap::<&str, u64>::new();
    for what in seen.into_inner().unwrap() {
        *counts.entry(what).or_default() += 1;
    }
    let counts = counts
        .iter()
        .map(|(what, count)| format!("{what} in {count}"));
    let counts: Vec<String> = counts.collect();
    say(&format!(
        "{runs} seeded runs, {} violations\n{} of them",
        broken.len(),
        counts.join(", "),
    ));
    assert!(
        broken.is_empty(),
        "of {runs} runs these seeds break a law: {broken:?}"
    );
}

fn a_seed_gives_the_same_run_again<S: Seeded>() {
    let calls = |seed| live::<S>(seed).calls;
    let (first, again, other) = (calls(7), calls(7), calls(8));
    assert!(first.len() > 50, "{} calls", first.len());
    let differs = first.iter().zip(&again).position(|(a, b)| a != b);
    assert_eq!(differs, None, "the calls come in the same order");
    assert_eq!(first.len(), again.len());
    assert_ne!(first, other);
}

/// The checks around the engine: without any of these, some seed breaks a law.
fn a_missing_check_breaks_a_law<S: Seeded>() {
    let most = S::RUNS.missing;
    // Each of them is to panic; nobody needs to read more of that than its first line.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let breaks = |guards: Guards, seed: u64| {
        let panic = catch_unwind(|| live_without::<S>(guards, seed)).err()?;
        let words = panic
            .downcast::<String>()
            .map_or_else(|_| String::new(), |words| *words);
        let words: Vec<&str> = words.split_whitespace().take(20).collect();
        Some((seed, words.join(" ")))
    };
    let checks = S::CHECKS.iter().map(|check| {
        let caught = (1..=most).find_map(|seed| breaks(check.without, seed));
        (check.name, caught)
    });
    let caught: Vec<_> = checks.collect();
    std::panic::set_hook(hook);
    let mut missed = Vec::new();
    for (name, caught) in caught {
        match caught {
            Some((seed, words)) => say(&format!("without {name}, seed {seed} breaks: {words}")),
            None => missed.push(name),
        }
    }
    assert!(
        missed.is_empty(),
        "without any of these no law breaks in {most} runs: {missed:?}"
    );
}

/// Past the harness, which hides what a passing test prints.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
