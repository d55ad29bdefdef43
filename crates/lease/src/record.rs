//! What a Lease says, and what we make it say.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use ownership::time::{LONGEST_REQUEST_TIMEOUT, Millis, REQUEST_TIMEOUT};

use crate::{DURATION, Times};

/// The annotation of a Lease whose holder released it with nothing under way.
const RELEASED: &str = "freehold.dev/released";
const CLEAN: &str = "clean";
/// The annotation that says T of the holder, in seconds.
const TIMEOUT: &str = "freehold.dev/request-timeout-seconds";

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
    pub(crate) fn write(&self, mut lease: Lease, now: Timestamp, times: &Times) -> Lease {
        let spec = lease.spec.take().unwrap_or_default();
        let renewed = after(spec.renew_time.as_ref(), now);
        let timeout = seconds(times.request_timeout()).to_string();
        note(&mut lease, RELEASED, self.transitions, None);
        note(&mut lease, TIMEOUT, self.transitions, Some(&timeout));
        Lease {
            spec: Some(LeaseSpec {
                holder_identity: Some(self.identity.clone()),
                acquire_time: Some(self.acquired.clone()),
                lease_transitions: Some(self.transitions),
                lease_duration_seconds: Some(seconds(times.duration())),
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

/// A Lease that nobody holds any more; `clean` if nothing of its holder is under way.
pub(crate) fn released(mut lease: Lease, now: Timestamp, clean: bool) -> Lease {
    let spec = lease.spec.take().unwrap_or_default();
    let renewed = after(spec.renew_time.as_ref(), now);
    let term = spec.lease_transitions.unwrap_or(0);
    note(&mut lease, RELEASED, term, clean.then_some(CLEAN));
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

/// What the next holder must know of the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    /// Whether it released the Lease with nothing under way.
    pub(crate) clean: bool,
    /// Its T.
    pub(crate) timeout: Millis,
}

impl Before {
    /// The last holder, by what the Lease said last; `None` if it never said anything.
    pub(crate) fn of(lease: Option<&Lease>) -> Self {
        let noted = |key| lease.and_then(|lease| noted(lease, key));
        let timeout = noted(TIMEOUT).map_or(REQUEST_TIMEOUT, |seconds| {
            // What cannot be read may be anything that can be set.
            let seconds = seconds.parse().map(Millis::seconds);
            seconds.map_or(LONGEST_REQUEST_TIMEOUT, |t| t.min(LONGEST_REQUEST_TIMEOUT))
        });
        Self {
            clean: lease.is_some_and(|lease| holder(lease).is_none())
                && noted(RELEASED) == Some(CLEAN),
            timeout,
        }
    }
}

/// Writes an annotation about this term, or removes it.
fn note(lease: &mut Lease, key: &str, term: i32, words: Option<&str>) {
    let notes = &mut lease.metadata.annotations;
    match words {
        Some(words) => {
            let value = format!("{words} in term {term}");
            let notes = notes.get_or_insert_default();
            notes.insert(key.to_owned(), value);
        }
        None => {
            notes.as_mut().and_then(|notes| notes.remove(key));
        }
    }
}

/// What such an annotation says of the last term. One of an earlier term says nothing: a version that
/// does not know it has left it there.
fn noted<'a>(lease: &'a Lease, key: &str) -> Option<&'a str> {
    let (words, term) = lease
        .metadata
        .annotations
        .as_ref()?
        .get(key)?
        .split_once(" in term ")?;
    let last = lease.spec.as_ref()?.lease_transitions.unwrap_or(0);
    (term == last.to_string()).then_some(words)
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
    // Not shorter than it is: others rely on it.
    i32::try_from(span.0.div_ceil(1000)).unwrap_or(i32::MAX)
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
        let lease = first.write(
            blank("n", "l"),
            at("2026-01-01T00:00:05Z"),
            &Times::default(),
        );
        let renewed = first.write(lease.clone(), at("2026-01-01T00:00:15Z"), &Times::default());
        assert!(first.is_in(&lease) && first.is_in(&renewed));
        let second = Entry::new("a", at("2026-01-01T00:01:00Z"), Some(&renewed));
        assert!(!second.is_in(&renewed));
        let taken = second.write(renewed, at("2026-01-01T00:01:00Z"), &Times::default());
        assert!(!first.is_in(&taken));
        assert_eq!(taken.spec.unwrap().lease_transitions, Some(1));
    }

    #[test]
    fn every_renewal_changes_the_record_whatever_the_clock_says() {
        let entry = Entry::new("a", at("2026-01-01T00:00:00Z"), None);
        let mut lease = entry.write(
            blank("n", "l"),
            at("2026-01-01T00:00:00Z"),
            &Times::default(),
        );
        for now in ["2026-01-01T00:00:00Z", "1999-01-01T00:00:00Z"] {
            let renewed = entry.write(lease.clone(), at(now), &Times::default());
            assert!(
                renewed.spec.as_ref().unwrap().renew_time > lease.spec.as_ref().unwrap().renew_time
            );
            lease = renewed;
        }
    }

    #[test]
    fn a_released_lease_has_no_holder_and_keeps_what_others_wrote() {
        let entry = Entry::new("a", at("2026-01-01T00:00:00Z"), None);
        let mut lease = entry.write(
            blank("n", "l"),
            at("2026-01-01T00:00:00Z"),
            &Times::default(),
        );
        lease.metadata.resource_version = Some("7".to_owned());
        assert_eq!(holder(&lease), Some("a"));
        assert_eq!(duration(&lease), DURATION);
        let free = released(lease, at("2026-01-01T00:00:01Z"), true);
        assert_eq!(holder(&free), None);
        assert_eq!(free.metadata.resource_version.as_deref(), Some("7"));
    }

    #[test]
    fn a_clean_release_counts_once_and_only_for_the_term_after_it() {
        let now = at("2026-01-01T00:00:00Z");
        let times = Times::default();
        let first = Entry::new("a", now, None);
        let held = first.write(blank("n", "l"), now, &times);
        assert!(!Before::of(None).clean && !Before::of(Some(&held)).clean);
        let unclean = released(held.clone(), now, false);
        assert!(!Before::of(Some(&unclean)).clean);
        let clean = released(held.clone(), now, true);
        assert!(Before::of(Some(&clean)).clean);
        let second = Entry::new("b", now, Some(&clean));
        let taken = second.write(clean.clone(), now, &times);
        let notes = taken.metadata.annotations.as_ref().unwrap();
        assert!(!notes.contains_key(RELEASED), "nobody is misled: {notes:?}");
        let freed = released(taken, now, false);
        assert!(!Before::of(Some(&freed)).clean);

        // A version that does not know the annotation leaves it there.
        let mut old = clean;
        let spec = old.spec.as_mut().unwrap();
        spec.lease_transitions = Some(1);
        assert!(!Before::of(Some(&old)).clean, "it is about another term");
        old.spec.as_mut().unwrap().lease_transitions = Some(0);
        old.spec.as_mut().unwrap().holder_identity = Some("b".to_owned());
        assert!(!Before::of(Some(&old)).clean, "somebody holds it");
    }

    #[test]
    fn the_last_holders_timeout_is_known_or_what_it_may_be() {
        let now = at("2026-01-01T00:00:00Z");
        let times = Times::new(Millis::seconds(200), Millis(64_001)).unwrap();
        let entry = Entry::new("a", now, None);
        let mut lease = entry.write(blank("n", "l"), now, &times);
        assert_eq!(duration(&lease), Millis::seconds(200));
        let timeout = |lease: &Lease| Before::of(Some(lease)).timeout;
        assert_eq!(timeout(&lease), Millis::seconds(65));
        assert_eq!(
            timeout(&released(lease.clone(), now, true)),
            Millis::seconds(65)
        );
        for (value, expected) in [
            ("7 in term 0", Millis::seconds(7)),
            ("7 in term 1", REQUEST_TIMEOUT),
            ("soon in term 0", LONGEST_REQUEST_TIMEOUT),
            ("99999 in term 0", LONGEST_REQUEST_TIMEOUT),
        ] {
            let notes = lease.metadata.annotations.as_mut().unwrap();
            notes.insert(TIMEOUT.to_owned(), value.to_owned());
            assert_eq!(timeout(&lease), expected, "{value}");
        }
        lease.metadata.annotations = None;
        assert_eq!(timeout(&lease), REQUEST_TIMEOUT, "the version before");
        assert_eq!(Before::of(None).timeout, REQUEST_TIMEOUT);
    }
}
