//! What a Lease says, and what we make it say.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use ownership::time::Millis;

use crate::DURATION;

/// The entry of one term: equal in all its renewals, different in every other term, also in one of a
/// process with the same identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    identity: String,
    acquired: MicroTime,
    transitions: i32,
}

impl Entry {
    /// The entry of a new term, after what the Lease said last.
    pub(crate) fn new(identity: &str, now: Timestamp, after: Option<&Lease>) -> Self {
        Self {
            identity: identity.to_owned(),
            acquired: micro(now),
            transitions: next_transitions(after),
        }
    }

    /// Whether this entry can come after what the Lease said last: an attempt whose outcome is not
    /// known is repeated as it was, so that its late effect is recognised.
    pub(crate) fn follows(&self, after: Option<&Lease>) -> bool {
        self.transitions == next_transitions(after)
    }

    /// Whether the Lease has this entry.
    pub(crate) fn is_in(&self, lease: &Lease) -> bool {
        lease.spec.as_ref().is_some_and(|spec| {
            spec.holder_identity.as_deref() == Some(&self.identity)
                && spec.acquire_time.as_ref() == Some(&self.acquired)
                && spec.lease_transitions == Some(self.transitions)
        })
    }

    /// The Lease with this entry, renewed now.
    pub(crate) fn write(&self, lease: Lease, now: Timestamp) -> Lease {
        let spec = lease.spec.unwrap_or_default();
        let renewed = after(spec.renew_time.as_ref(), now);
        Lease {
            spec: Some(LeaseSpec {
                holder_identity: Some(self.identity.clone()),
                acquire_time: Some(self.acquired.clone()),
                lease_transitions: Some(self.transitions),
                lease_duration_seconds: Some(seconds(DURATION)),
                renew_time: Some(renewed),
                ..spec
            }),
            ..lease
        }
    }
}

fn next_transitions(after: Option<&Lease>) -> i32 {
    let spec = after.and_then(|lease| lease.spec.as_ref());
    spec.map_or(0, |spec| {
        spec.lease_transitions.unwrap_or(0).max(0).saturating_add(1)
    })
}

/// A Lease that nobody holds any more.
pub(crate) fn released(lease: Lease, now: Timestamp) -> Lease {
    let spec = lease.spec.unwrap_or_default();
    let renewed = after(spec.renew_time.as_ref(), now);
    Lease {
        spec: Some(LeaseSpec {
            holder_identity: None,
            lease_duration_seconds: Some(1),
            renew_time: Some(renewed),
            ..spec
        }),
        ..lease
    }
}

/// A Lease that does not exist yet.
pub(crate) fn blank(namespace: &str, name: &str) -> Lease {
    Lease {
        metadata: ObjectMeta {
            namespace: Some(namespace.to_owned()),
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        spec: None,
    }
}

/// Who holds it.
pub(crate) fn holder(lease: &Lease) -> Option<&str> {
    let holder = lease.spec.as_ref()?.holder_identity.as_deref()?;
    (!holder.is_empty()).then_some(holder)
}

/// For how long its holder may rely on its last renewal.
pub(crate) fn duration(lease: &Lease) -> Millis {
    let said = lease.spec.as_ref().and_then(|s| s.lease_duration_seconds);
    let seconds = said.and_then(|seconds| u64::try_from(seconds).ok());
    seconds
        .filter(|seconds| *seconds > 0)
        .map_or(DURATION, Millis::seconds)
}

/// The time of a renewal: never that of the last one, even if the clock stands still or was set back.
/// A renewal that changes nothing would be seen by nobody.
fn after(last: Option<&MicroTime>, now: Timestamp) -> MicroTime {
    let next = last.and_then(|last| {
        let tick = SignedDuration::from_micros(1);
        last.0.checked_add(tick).ok()
    });
    let now = micro(now);
    match next {
        Some(next) if next > now.0 => micro(next),
        _ => now,
    }
}

/// As precise as it is written: what is read back must be equal.
fn micro(time: Timestamp) -> MicroTime {
    MicroTime(Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time))
}

fn seconds(span: Millis) -> i32 {
    i32::try_from(span.0 / 1000).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_term_is_told_from_another_of_the_same_identity() {
        let first = Entry::new("a", at("2026-01-01T00:00:00.1234567Z"), None);
        let lease = first.write(blank("n", "l"), at("2026-01-01T00:00:05Z"));
        let renewed = first.write(lease.clone(), at("2026-01-01T00:00:15Z"));
        assert!(first.is_in(&lease) && first.is_in(&renewed));
        let second = Entry::new("a", at("2026-01-01T00:01:00Z"), Some(&renewed));
        assert!(!second.is_in(&renewed));
        let taken = second.write(renewed, at("2026-01-01T00:01:00Z"));
        assert!(!first.is_in(&taken));
        assert_eq!(taken.spec.unwrap().lease_transitions, Some(1));
    }

    #[test]
    fn every_renewal_changes_the_record_whatever_the_clock_says() {
        let entry = Entry::new("a", at("2026-01-01T00:00:00Z"), None);
        let mut lease = entry.write(blank("n", "l"), at("2026-01-01T00:00:00Z"));
        for now in ["2026-01-01T00:00:00Z", "1999-01-01T00:00:00Z"] {
            let renewed = entry.write(lease.clone(), at(now));
            assert!(
                renewed.spec.as_ref().unwrap().renew_time > lease.spec.as_ref().unwrap().renew_time
            );
            lease = renewed;
        }
    }

    #[test]
    fn a_released_lease_has_no_holder_and_keeps_what_others_wrote() {
        let entry = Entry::new("a", at("2026-01-01T00:00:00Z"), None);
        let mut lease = entry.write(blank("n", "l"), at("2026-01-01T00:00:00Z"));
        lease.metadata.resource_version = Some("7".to_owned());
        assert_eq!(holder(&lease), Some("a"));
        assert_eq!(duration(&lease), DURATION);
        let free = released(lease, at("2026-01-01T00:00:01Z"));
        assert_eq!(holder(&free), None);
        assert_eq!(free.metadata.resource_version.as_deref(), Some("7"));
    }
}
