//! The search: every schedule with one fault, pairs of faults, interleavings of two writers, then
//! random ones, each counted once.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::chooser::{Chooser, Random};
use crate::counts::Counts;
use crate::fault::{Choice, Fault, Menu, Schedule};
use crate::laws::Violation;
use crate::run::Outcome;
use crate::scenario::Scenario;
use crate::stored::Stored;

/// Runs one schedule of a scenario, under some rules.
pub(crate) type Runner = fn(&Scenario, Chooser, &[bool]) -> Outcome;

/// How much is walked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Of the schedules with two faults, one in this many.
    pub one_in: u32,
    /// And about so many where there are more than anybody walks.
    pub of_many: u32,
    /// Random schedules with up to ten faults, a scenario.
    pub random: u32,
    /// Of the interleavings of two writers, one in this many.
    pub turns_one_in: u32,
    /// Of those, one in this many is walked again with a fault, and with an end.
    pub faulty_turns_one_in: u32,
    /// Where random schedules begin.
    pub seed: u64,
}

/// What was found in a scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Distinct schedules whose faults fired.
    pub schedules: usize,
    /// What they are made of.
    pub counts: Counts,
    /// Broken laws, each with the schedule, made small.
    pub violations: Vec<(Stored, Violation)>,
}

/// How many violations of one scenario are enough to stop looking at it.
const ENOUGH: usize = 1;

/// Into how many shares the walk of a scenario is cut. The cores take shares, not scenarios: the
/// largest scenario is half of all the work.
const SHARES: u32 = 16;

/// Walks scenarios on every core. What is walked does not depend on how many there are.
pub(crate) fn explore(
    scenarios: &[Scenario],
    runner: Runner,
    mutant: &str,
    effort: Effort,
    progress: impl Fn(&str, &Tally) + Sync,
) -> BTreeMap<String, Tally> {
    let next = AtomicUsize::new(0);
    let shares: Vec<(&Scenario, u32)> = scenarios
        .iter()
        .flat_map(|scenario| (0..SHARES).map(move |share| (scenario, share)))
        .collect();
    let walked: Mutex<BTreeMap<&str, Walked>> = Mutex::default();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((scenario, share)) = shares.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let mut walk = Walk::new(scenario, runner, mutant);
                    walk.share = (*share, SHARES);
                    walk.walk_all(effort);
                    if let Ok(mut walked) = walked.lock() {
                        let whole = walked.entry(&scenario.name).or_default();
                        if whole.add(*share, walk) {
                            progress(&scenario.name, &whole.tally());
                        }
                    }
                }
            });
        }
    });
    let walked = walked.into_inner().unwrap_or_default();
    let tally = |(name, walked): (&str, Walked)| (name.to_owned(), walked.tally());
    walked.into_iter().map(tally).collect()
}

/// The shares of one scenario that have been walked.
#[derive(Debug, Default)]
struct Walked {
    shares: u32,
    seen: BTreeSet<u64>,
    counts: Counts,
    violations: BTreeMap<u32, (Stored, Violation)>,
}

impl Walked {
    /// Adds a share; whether it was the last one.
    fn add(&mut self, share: u32, mut walk: Walk<'_>) -> bool {
        self.shares += 1;
        self.seen.append(&mut walk.seen);
        self.counts += walk.counts;
        if let Some(violation) = walk.violations.pop() {
            self.violations.insert(share, violation);
        }
        self.shares == SHARES
    }

    /// Whichever core was first, the violation of the first share is told.
    fn tally(&self) -> Tally {
        Tally {
            schedules: self.seen.len(),
            counts: self.counts,
            violations: self.violations.values().take(ENOUGH).cloned().collect(),
        }
    }
}

/// A walk through the schedules of one scenario.
pub(crate) struct Walk<'a> {
    scenario: &'a Scenario,
    runner: Runner,
    mutant: &'a str,
    seen: BTreeSet<u64>,
    counts: Counts,
    violations: Vec<(Stored, Violation)>,
    /// Which share of the schedules is walked, and of how many.
    share: (u32, u32),
}

impl<'a> Walk<'a> {
    /// A walk that has not begun.
    pub(crate) fn new(scenario: &'a Scenario, runner: Runner, mutant: &'a str) -> Self {
        Self {
            scenario,
            runner,
            mutant,
            seen: BTreeSet::new(),
            counts: Counts::default(),
            violations: Vec::new(),
            share: (0, 1),
        }
    }

    /// Walks as far as `effort` goes, or until a law is broken.
    pub(crate) fn walk(mut self, effort: Effort) -> Tally {
        self.walk_all(effort);
        Tally {
            schedules: self.seen.len(),
            counts: self.counts,
            violations: self.violations,
        }
    }

    /// Walks random schedules only.
    pub(crate) fn walk_randomly(mut self, effort: Effort) -> Tally {
        self.wander(effort);
        Tally {
            schedules: self.seen.len(),
            counts: self.counts,
            violations: self.violations,
        }
    }

    fn walk_all(&mut self, effort: Effort) {
        self.enumerate(effort);
        self.interleave(effort);
        self.wander(effort);
    }

    /// Whether the schedule of this number is in our share.
    fn is_ours(&self, number: u32) -> bool {
        let (share, of) = self.share;
        number % of == share
    }

    fn done(&self) -> bool {
        self.violations.len() >= ENOUGH
    }

    /// Every schedule with one fault, and with two where the scenario asks for it.
    fn enumerate(&mut self, effort: Effort) {
        let Some(base) = self.script(Vec::new(), true) else {
            return;
        };
        // A small menu is worth every pair.
        let few = self.scenario.faults.faults().count() <= 8;
        let one_in = if few {
            1
        } else {
            one_pair_in(&base.menus, effort)
        };
        let (mut single, mut pair) = (0_u32, 0_u32);
        for (point, menu) in base.menus.iter().enumerate() {
            for fault in menu.faults() {
                let first = Choice {
                    point: at(point),
                    fault,
                };
                single += 1;
                if !self.is_ours(single) {
                    continue;
                }
                let keep = self.scenario.depth > 1;
                let Some(outcome) = self.script(vec![first], keep) else {
                    continue;
                };
                self.counts.singles += 1;
                for (point, menu) in outcome.menus.iter().enumerate().skip(point + 1) {
                    for fault in menu.faults() {
                        pair = pair.wrapping_add(1);
                        self.counts.all_pairs += 1;
                        if pair.is_multiple_of(one_in) {
                            self.counts.pairs += 1;
                            self.script(
                                vec![
                                    first,
                                    Choice {
                                        point: at(point),
                                        fault,
                                    },
                                ],
                                false,
                            );
                        }
                        if self.done() {
                            return;
                        }
                    }
                }
                if self.done() {
                    return;
                }
            }
        }
    }

    /// Interleavings of eight calls of each of two writers; some again with a fault, or an end, that
    /// each draws by itself.
    fn interleave(&mut self, effort: Effort) {
        if self.scenario.all_writers() < 2 || self.done() {
            return;
        }
        let all = (0_u32..1 << 16).filter(|bits| bits.count_ones() == 8);
        let mut walked = 0;
        // Where two work beside each other for fewer turns, many interleavings are one.
        let mut short: BTreeSet<Vec<bool>> = BTreeSet::new();
        for (count, bits) in all.enumerate() {
            let nth = at(count);
            if self.share.0 == 0 {
                self.counts.all_turns += 1;
            }
            let every = nth / effort.turns_one_in;
            if !nth.is_multiple_of(effort.turns_one_in) || !self.is_ours(every) {
                continue;
            }
            let turns: Vec<bool> = (0..16).map(|at| bits & (1 << at) != 0).collect();
            if (1..16).any(|len| short.contains(&turns[..len])) {
                walked += 1;
                continue;
            }
            let faulty = every.is_multiple_of(effort.faulty_turns_one_in);
            let chooser = Chooser::script(&Schedule::default(), faulty);
            let mut outcome = (self.runner)(self.scenario, chooser, &turns);
            if outcome.turns.is_empty() {
                // Here nobody ever works beside another: there is nothing to interleave.
                self.counts.all_turns = 0;
                return;
            }
            walked += 1;
            if outcome.turns.len() < turns.len() {
                short.insert(outcome.turns.clone());
            }
            let menus = std::mem::take(&mut outcome.menus);
            self.take(outcome);
            if faulty && !self.done() {
                let mut random = Random::new(self.seed_of(effort.seed, nth));
                self.interrupt(&menus, &turns, &mut random, Menu::of(Fault::ALL));
                self.interrupt(&menus, &turns, &mut random, Fault::EndNow.bit());
            }
            if self.done() {
                break;
            }
        }
        self.counts.turns += walked;
    }

    /// An interleaving with one fault in it.
    fn interrupt(&mut self, menus: &[Menu], turns: &[bool], random: &mut Random, allowed: Menu) {
        let offers: Vec<Choice> = menus
            .iter()
            .enumerate()
            .flat_map(|(point, menu)| {
                let faults = menu.and(allowed).faults();
                let point = at(point);
                faults.map(move |fault| Choice { point, fault })
            })
            .collect();
        let Some(choice) = offers.get(random.below(at(offers.len())) as usize) else {
            return;
        };
        let schedule = Schedule {
            choices: vec![*choice],
            turns: Vec::new(),
        };
        let outcome = (self.runner)(self.scenario, Chooser::script(&schedule, false), turns);
        self.counts.faulty_turns += 1;
        if outcome.fired.len() == 1 || outcome.violation.is_some() {
            self.take(outcome);
        }
    }

    /// Random schedules with up to ten faults, and for two writers random turns.
    fn wander(&mut self, effort: Effort) {
        for n in 0..effort.random {
            if self.done() {
                return;
            }
            if !self.is_ours(n) {
                continue;
            }
            let mut random = Random::new(self.seed_of(effort.seed, n));
            let (most, one_in) = (1 + random.below(10), 2 + random.below(20));
            let turns = if self.scenario.all_writers() > 1 {
                (0..256).map(|_| random.below(2) == 1).collect()
            } else {
                Vec::new()
            };
            let chooser = Chooser::random(random.next(), most, one_in);
            let outcome = (self.runner)(self.scenario, chooser, &turns);
            self.counts.random += 1;
            self.take(outcome);
        }
    }

    /// A stream of its own for every seed, scenario and schedule.
    fn seed_of(&self, seed: u64, n: u32) -> u64 {
        let mut hash = DefaultHasher::new();
        (seed, &self.scenario.name, n).hash(&mut hash);
        hash.finish()
    }

    /// Runs a schedule; `None` if it was seen before, did not fire, or broke a law.
    fn script(&mut self, choices: Vec<Choice>, menus: bool) -> Option<Outcome> {
        let schedule = Schedule {
            choices,
            turns: Vec::new(),
        };
        let outcome = (self.runner)(self.scenario, Chooser::script(&schedule, menus), &[]);
        let whole = outcome.fired.len() == schedule.choices.len();
        let violated = outcome.violation.is_some();
        let menus = Outcome {
            violation: None,
            fired: Vec::new(),
            turns: Vec::new(),
            ..outcome.clone()
        };
        if whole || violated {
            self.take(outcome);
        }
        (whole && !violated).then_some(menus)
    }

    /// Counts a run, and keeps what it broke.
    fn take(&mut self, outcome: Outcome) {
        let mut hasher = DefaultHasher::new();
        (&outcome.fired, &outcome.turns).hash(&mut hasher);
        self.seen.insert(hasher.finish());
        if let Some(violation) = outcome.violation {
            let schedule = Schedule {
                choices: outcome.fired,
                turns: outcome.turns,
            };
            let (schedule, violation) = self.shrink(schedule, violation);
            let stored = Stored {
                scenario: self.scenario.name.clone(),
                mutant: self.mutant.to_owned(),
                schedule,
            };
            self.violations.push((stored, violation));
        }
    }

    /// Leaves out what is not needed for the violation.
    fn shrink(&self, mut schedule: Schedule, mut violation: Violation) -> (Schedule, Violation) {
        // What does not happen any more is left out too, so that a replay finds every fault.
        let again = |mut schedule: Schedule| {
            let chooser = Chooser::script(&schedule, false);
            let outcome = (self.runner)(self.scenario, chooser, &schedule.turns);
            schedule.choices = outcome.fired;
            outcome.violation.map(|violation| (schedule, violation))
        };
        let mut at = 0;
        while at < schedule.choices.len() {
            let mut smaller = schedule.clone();
            smaller.choices.remove(at);
            match again(smaller) {
                Some(found) => (schedule, violation) = found,
                None => at += 1,
            }
        }
        loop {
            // Beyond its end a schedule has the first writer's turn anyway.
            while schedule.turns.last() == Some(&false) {
                schedule.turns.pop();
            }
            if schedule.turns.is_empty() {
                break;
            }
            let mut smaller = schedule.clone();
            smaller.turns.pop();
            match again(smaller) {
                Some(found) => (schedule, violation) = found,
                None => break,
            }
        }
        (schedule, violation)
    }
}

/// More schedules with two faults than anybody walks.
const MANY: u32 = 500_000;

/// One in how many schedules with two faults is walked. How many there are, only those with one fault
/// tell: about half the square of their number.
fn one_pair_in(menus: &[Menu], effort: Effort) -> u32 {
    let singles = menus.iter().map(|menu| menu.len()).sum::<u32>();
    let pairs = singles.saturating_mul(singles) / 2;
    if pairs < MANY {
        effort.one_in
    } else {
        effort.one_in.max(pairs / effort.of_many)
    }
}

fn at(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
