//! What was walked, of what there is to walk.

/// What was walked of what there is. A schedule that two sorts of walk come by counts for both.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Schedules with one fault: all of them.
    pub singles: usize,
    /// Schedules with two faults.
    pub pairs: usize,
    /// Of so many.
    pub all_pairs: usize,
    /// Interleavings of eight calls of each of two writers.
    pub turns: usize,
    /// Of so many.
    pub all_turns: usize,
    /// Interleavings with a fault or an end in them.
    pub faulty_turns: usize,
    /// Random schedules.
    pub random: usize,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.singles += other.singles;
        self.pairs += other.pairs;
        self.all_pairs += other.all_pairs;
        self.turns += other.turns;
        self.all_turns += other.all_turns;
        self.faulty_turns += other.faulty_turns;
        self.random += other.random;
    }
}
