//! The choices of one run, which its seed decides.

use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A generator (`SplitMix64`) that everything in a run shares.
#[derive(Clone, Debug)]
pub struct Random(Arc<Mutex<u64>>);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(seed)))
    }

    fn next(&self) -> u64 {
        let mut state = self.0.lock().unwrap();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Whether something with so many chances in a hundred happens.
    pub fn chance(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A time below `bound`, in whole milliseconds.
    pub fn span(&self, bound: Duration) -> Duration {
        Duration::from_millis(self.below(u64::try_from(bound.as_millis()).unwrap()))
    }

    /// One of these; `None` if there is none.
    pub fn pick<'a, T>(&self, from: &'a [T]) -> Option<&'a T> {
        let all = u64::try_from(from.len()).unwrap();
        let at = (all > 0).then(|| self.below(all))?;
        from.get(usize::try_from(at).unwrap())
    }
}
