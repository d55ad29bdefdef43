//! Throttling: one token bucket per service and region, filled by the virtual clock.

use ownership::time::Tick;

use crate::settings::Throttle;

/// The buckets of an account, by service and region.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buckets(Vec<((&'static str, &'static str), Bucket)>);

/// A bucket counts what was taken out, in thousandths of a call, so that a new one is full.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    taken: u64,
    at: Tick,
}

impl Buckets {
    /// Takes one call out; says whether there was one.
    pub(crate) fn take(
        &mut self,
        of: (&'static str, &'static str),
        limit: Throttle,
        now: Tick,
    ) -> bool {
        let at = self.0.iter().position(|(known, _)| *known == of);
        let at = at.unwrap_or_else(|| {
            self.0.push((of, Bucket::default()));
            self.0.len() - 1
        });
        self.0[at].1.take(limit, now)
    }
}

impl Bucket {
    fn take(&mut self, limit: Throttle, now: Tick) -> bool {
        let refilled = (now - self.at)
            .0
            .saturating_mul(u64::from(limit.per_second));
        self.taken = self.taken.saturating_sub(refilled);
        self.at = now;
        let admitted = self.taken + 1000 <= u64::from(limit.burst) * 1000;
        if admitted {
            self.taken += 1000;
        }
        admitted
    }
}
