//! The chooser: decides what happens at each point of a run, and remembers what did.

use crate::fault::{Choice, Fault, Menu, Schedule};

/// Decides what happens at each point of a run.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    plan: Plan,
    /// The points so far.
    point: u32,
    /// What happened instead of the ordinary course.
    pub fired: Vec<Choice>,
    /// What could have happened at each point; only kept for enumeration.
    pub menus: Option<Vec<Menu>>,
}

#[derive(Clone, Debug)]
enum Plan {
    Script {
        choices: Vec<Choice>,
        next: usize,
    },
    Random {
        random: Random,
        left: u32,
        one_in: u32,
    },
}

impl Chooser {
    /// Does what the schedule says, and nothing else.
    pub(crate) fn script(schedule: &Schedule, keep_menus: bool) -> Self {
        let plan = Plan::Script {
            choices: schedule.choices.clone(),
            next: 0,
        };
        Self {
            plan,
            point: 0,
            fired: Vec::new(),
            menus: keep_menus.then(Vec::new),
        }
    }

    /// Draws up to `most` faults, about one in `one_in` points.
    pub(crate) fn random(seed: u64, most: u32, one_in: u32) -> Self {
        let plan = Plan::Random {
            random: Random::new(seed),
            left: most,
            one_in,
        };
        Self {
            plan,
            point: 0,
            fired: Vec::new(),
            menus: None,
        }
    }

    /// What happens at this point, of all that could.
    pub(crate) fn choose(&mut self, menu: Menu) -> Option<Fault> {
        let point = self.point;
        self.point += 1;
        if let Some(menus) = &mut self.menus {
            menus.push(menu);
        }
        let fault = match &mut self.plan {
            Plan::Script { choices, next } => {
                let choice = choices.get(*next).filter(|choice| choice.point == point)?;
                *next += 1;
                Some(choice.fault).filter(|fault| menu.has(*fault))
            }
            Plan::Random {
                random,
                left,
                one_in,
            } => {
                if *left == 0 || menu.is_empty() || random.below(*one_in) != 0 {
                    return None;
                }
                *left -= 1;
                menu.nth(random.below(menu.len()))
            }
        };
        if let Some(fault) = fault {
            self.fired.push(Choice { point, fault });
        }
        fault
    }

    /// The points so far.
    pub(crate) fn points(&self) -> u32 {
        self.point
    }
}

/// A small generator of our own: the same seed gives the same run on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator for this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// The next number (`SplitMix64`).
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        if n == 0 {
            0
        } else {
            u32::try_from(self.next() % u64::from(n)).unwrap_or(0)
        }
    }
}
