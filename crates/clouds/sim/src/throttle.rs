//! Throttling: one token bucket a service, filled by the virtual clock.

use cloud_port::aws::errors::Service;
use ownership::time::Tick;

use crate::settings::Throttle;

/// The buckets of an account.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Buckets {
    ec2: Bucket,
    iam: Bucket,
}

/// A bucket counts what was taken out, in thousandths of a call, so that a new one is full.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    taken: u64,
    at: Tick,
}

impl Buckets {
    /// Takes one call out; says whether there was one.
    pub(crate) fn take(&mut self, service: Service, limit: Throttle, now: Tick) -> bool {
        let bucket = match service {
            Service::Ec2 => &mut self.ec2,
            Service::Iam | Service::Sts => &mut self.iam,
        };
        let refilled = (now - bucket.at)
            .0
            .saturating_mul(u64::from(limit.per_second));
        bucket.taken = bucket.taken.saturating_sub(refilled);
        bucket.at = now;
        let admitted = bucket.taken + 1000 <= u64::from(limit.burst) * 1000;
        if admitted {
            bucket.taken += 1000;
        }
        admitted
    }
}
