//! The whole controller, on an embedded API server and the simulated AWS, under seeded faults on
//! both sides: lost answers, late effects, throttling, conflicts, cut watches, stale reads, crashes,
//! two operators at once, lost Leases, two clusters on one group, restores, copies, set-backs, people
//! who edit and delete. Each claim is an actor of its own, and judged by what it did to the others.
//!
//! Every run is a seed. A run that breaks a law prints its seed; to see it again:
//! `FREEHOLD_SEED=<seed> cargo test --profile checked -p controllers --test embedded`;
//! `FREEHOLD_TRACE=1` shows its calls to the cloud as they come.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod claims;
mod guests;
mod objects;
mod operators;
mod oracle;
mod people;
mod random;
mod rest;
mod switches;
mod times;
mod weather;
mod wish;
mod world;

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use controllers::reconcile::Guards;
use world::Seen;

/// How many runs the machine's cores share.
fn runs() -> u64 {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| value == "1");
    match (is_set("FREEHOLD_TIER_EMBEDDED"), is_set("FREEHOLD_FULL")) {
        (true, true) => 20_000,
        (true, false) => 2_000,
        (false, _) => 50,
    }
}

/// One test, so that nothing runs beside its beginning: what libraries draw once for the whole process
/// would be drawn from the seed of whichever run comes first.
#[test]
fn seeded_runs_repeat_and_break_no_law() {
    claims::listen();
    // What is drawn once is drawn here, so that it shifts no run that is compared or repeated. A law
    // that breaks here breaks below, too.
    let _ = catch_unwind(world::live_through_everything);
    for seed in 1..=8 {
        let _ = catch_unwind(|| world::live(seed));
    }
    if let Some(seed) = std::env::var_os("FREEHOLD_SEED") {
        let seed = seed.to_string_lossy();
        let seed = seed.parse();
        let seed = seed.unwrap_or_else(|_| panic!("FREEHOLD_SEED must be a number"));
        weather::trace();
        world::live(seed);
        let _ = writeln!(std::io::stderr(), "seed {seed} breaks no law");
        return;
    }
    let (runs, next) = (runs(), AtomicU64::new(1));
    let (broken, seen) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed > runs {
            return;
        }
        if let Ok(run) = catch_unwind(AssertUnwindSafe(|| world::live(seed))) {
            seen.lock().unwrap().push(run.seen);
        } else {
            let _ = writeln!(std::io::stderr(), "seed {seed} breaks a law");
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
    // Past the harness, which hides what a passing test prints.
    let told = writeln!(
        std::io::stderr(),
        "{runs} seeded runs, {} violations\n{}",
        broken.len(),
        tell(&seen.into_inner().unwrap()),
    );
    told.unwrap();
    assert!(
        broken.is_empty(),
        "of {runs} runs these seeds break a law: {broken:?}"
    );
    a_seed_gives_the_same_run_again();
    a_missing_check_breaks_a_law();
}

/// How many runs had what in them.
fn tell(seen: &[Seen]) -> String {
    let count = |which: fn(&Seen) -> bool| seen.iter().filter(|seen| which(seen)).count();
    format!(
        "two operators in {} of them, a lost Lease in {}, two claims on one group in {}, a restore in \
         {}, a set-back in {}, an edit in {}",
        count(|seen| seen.two_operators),
        count(|seen| seen.lost_lease),
        count(|seen| seen.shared_group),
        count(|seen| seen.restore),
        count(|seen| seen.set_back),
        count(|seen| seen.edit),
    )
}

fn a_seed_gives_the_same_run_again() {
    let calls = |seed| world::live(seed).calls;
    let (first, again, other) = (calls(7), calls(7), calls(8));
    assert!(first.len() > 100, "{} calls", first.len());
    let differs = first.iter().zip(&again).position(|(a, b)| a != b);
    assert_eq!(differs, None, "the calls come in the same order");
    assert_eq!(first.len(), again.len());
    assert_ne!(first, other);
}

/// The checks around the engine: without any of these, some seed breaks a law. What the others are for
/// the KKP suite shows.
fn a_missing_check_breaks_a_law() {
    const MOST: u64 = 400;
    let all = Guards::ALL;
    let broken = [
        (
            "compare and swap",
            Guards {
                compare_and_swap: false,
                ..all
            },
        ),
        ("pin", Guards { pin: false, ..all }),
        ("term", Guards { term: false, ..all }),
    ];
    // Each of them is to panic; nobody needs to read more of that than its first line.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let breaks = |guards, seed: u64| {
        let panic = catch_unwind(|| world::live_without(guards, seed)).err()?;
        let words = panic
            .downcast::<String>()
            .map_or_else(|_| String::new(), |words| *words);
        let words: Vec<&str> = words.split_whitespace().take(20).collect();
        Some((seed, words.join(" ")))
    };
    let caught = broken.map(|(name, guards)| {
        let caught = (1..=MOST).find_map(|seed| breaks(guards, seed));
        (name, caught)
    });
    std::panic::set_hook(hook);
    for (name, caught) in caught {
        let (seed, words) =
            caught.unwrap_or_else(|| panic!("without {name} no law breaks in {MOST} runs"));
        let _ = writeln!(
            std::io::stderr(),
            "without {name}, seed {seed} breaks: {words}"
        );
    }
}
