//! What is remembered of an object between passes: it only delays, and spares reads.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use api::names::LEDGER;
use cloud_port::driver::Rested;
use kube::Resource;
use ownership::Sightings;
use ownership::decide::Guest;
use ownership::time::{Millis, Tick};
use serde::Serialize;

/// What is remembered of one object.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The object's own uid: what was seen in the life of another one is not seen in this one's.
    pub(super) uid: Option<String>,
    pub(super) sightings: Sightings,
    pub(super) rested: Rested,
    /// How many passes have failed in a row.
    pub(super) failures: u32,
    /// What the object said when the last pass had ended, and when the next one is due.
    pub(super) due: Option<Due>,
    /// The warnings of the last pass: what goes on is not told again and again.
    pub(super) warned: BTreeSet<String>,
    /// What others have put into resources of ours, as far as it was told.
    pub(super) guests: Vec<Guest>,
}

/// When the next pass is due, unless the object says something else by then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    pub(super) said: u64,
    /// What was known besides.
    pub(super) knew: Option<u64>,
    /// Whether the object had been reconciled in full.
    pub(super) reconciled: bool,
    pub(super) at: Tick,
}

impl Memory {
    /// Nothing is remembered yet of the object with this uid.
    pub(super) fn of(uid: Option<String>) -> Self {
        Self {
            uid,
            ..Self::default()
        }
    }

    /// How long to wait after another failure: each one in a row doubles it, and not all objects
    /// come back at once.
    pub(super) fn back_off(&mut self, first: Duration, longest: Duration) -> Duration {
        let wait = doubled(first, self.failures).min(longest);
        self.failures = self.failures.saturating_add(1);
        scattered(wait, &(&self.uid, self.failures))
    }
}

/// A time that was doubled so many times.
pub(super) fn doubled(first: Duration, times: u32) -> Duration {
    first.saturating_mul(1_u32.checked_shl(times.min(16)).unwrap_or(u32::MAX))
}

/// From half of a time to all of it, by what is hashed: no two objects come back together, and the
/// same run repeats.
pub(super) fn scattered(wait: Duration, by: &impl std::hash::Hash) -> Duration {
    let mut hasher = DefaultHasher::new();
    by.hash(&mut hasher);
    let share = u32::try_from(hasher.finish() % 512).expect("less than 512");
    wait / 2 + wait / 1024 * share
}

/// What an object says, but for what only we write, and what changes with every write.
pub(super) fn fingerprint<K: Resource<DynamicType = ()> + Serialize>(object: &K) -> u64 {
    let mut said = serde_json::to_value(object).unwrap_or_default();
    if let Some(said) = said.as_object_mut() {
        said.remove("status");
    }
    if let Some(metadata) = said["metadata"].as_object_mut() {
        for changing in ["resourceVersion", "generation", "managedFields"] {
            metadata.remove(changing);
        }
    }
    if let Some(annotations) = said["metadata"]["annotations"].as_object_mut() {
        annotations.remove(LEDGER);
    }
    let mut hasher = DefaultHasher::new();
    said.to_string().hash(&mut hasher);
    hasher.finish()
}

/// The time until the next multiple of a period: the same moment for everybody.
pub(super) fn until_next(period: Duration, now: Tick) -> Duration {
    let period = u64::try_from(period.as_millis()).unwrap_or(u64::MAX).max(1);
    Duration::from_millis(period - now.0 % period)
}

/// The moment after this time.
pub(super) fn after(now: Tick, wait: Duration) -> Tick {
    now + Millis(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_rests_is_looked_at_when_the_others_are() {
        let period = Duration::from_mins(5);
        for (now, left) in [(0, 300_000), (1, 299_999), (299_999, 1), (300_000, 300_000)] {
            assert_eq!(until_next(period, Tick(now)), Duration::from_millis(left));
        }
        assert_eq!(
            until_next(Duration::ZERO, Tick(7)),
            Duration::from_millis(1)
        );
    }

    #[test]
    fn failures_double_the_wait_and_scatter_it() {
        let (first, longest) = (Duration::from_secs(1), Duration::from_mins(5));
        let mut waits = BTreeSet::new();
        for uid in 0..50 {
            let mut memory = Memory {
                uid: Some(uid.to_string()),
                ..Memory::default()
            };
            for failure in 0..12 {
                let wait = memory.back_off(first, longest);
                let whole = doubled(first, failure).min(longest);
                assert!(wait >= whole / 2 && wait <= whole, "{failure}: {wait:?}");
            }
            waits.insert(memory.back_off(first, longest));
        }
        assert!(waits.len() > 40, "objects come back together: {waits:?}");
    }
}
