//! Sightings: since when this process has known something. They only ever delay.

use std::collections::BTreeMap;

use crate::blueprint::SlotName;
use crate::error::CloudError;
use crate::ledger::{Ledger, Trace};
use crate::query::Target;
use crate::text::Text;
use crate::time::Tick;

/// What a process can have known for a while.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// An open intent, by slot, attempt and announcement.
    Intent(SlotName, u32, u32),
    /// A resource of ours that is not there.
    Missing(Target),
    /// A resource of ours without our mark.
    Lost(Target),
    /// Something announced for a resource that is not ours, and not there, by announcement.
    Trace(Trace, u32),
    /// A resource of ours that has failed.
    Failed(Target),
    /// The claim ends, and its resources are to be retained.
    Retaining,
    /// A tag on somebody's resource that names a part of ours which is not there.
    Part(Target, Text),
    /// A part of ours in a resource of ours, neither wanted nor there any more.
    Written(Target, &'static str, Text),
    /// A resource of ours without tags that we wrote and that are not wanted any more.
    Untagged(Target),
    /// A part that we have marked beside another claim's mark.
    Joined(Trace),
    /// A part that we have taken our mark off, and that carries nobody's.
    Left(Trace),
    /// A part that we have taken our mark off, and that is gone or another claim's.
    LeftBehind(Trace),
    /// A part in somebody's resource that another claim marks, and that is not there.
    Leaving(Trace),
    /// Calls on a resource that may be late, by announcement.
    Call(Target, u32),
    /// Something that was another management cluster's has been marked as held here.
    TakenOver,
}

/// Since when this process has known things about one claim.
///
/// # Guarantees
/// Losing it (a restart) makes the engine wait again, and nothing else.
#[derive(Clone, Debug, Default)]
pub struct Sightings {
    since: BTreeMap<Sight, Tick>,
    blocked: BTreeMap<Target, (Tick, CloudError)>,
}

impl Sightings {
    /// Nothing known yet: a process that has just started.
    pub fn new() -> Self {
        Self::default()
    }

    /// Since when this is known; from now on, if it is new.
    pub fn since(&mut self, sight: Sight, now: Tick) -> Tick {
        *self.since.entry(sight).or_insert(now)
    }

    /// It is so from now on, whatever was known before.
    pub fn note(&mut self, sight: Sight, now: Tick) {
        self.since.insert(sight, now);
    }

    /// Since when this is known, if it is.
    pub fn noted(&self, sight: &Sight) -> Option<Tick> {
        self.since.get(sight).copied()
    }

    /// It is not so any more.
    pub fn clear(&mut self, sight: &Sight) {
        if !self.since.is_empty() {
            self.since.remove(sight);
        }
    }

    /// Forgets what another record of the same claim, which began as this one, has cleared since.
    pub fn clear_as(&mut self, other: &Self) {
        self.since
            .retain(|sight, _| other.since.contains_key(sight));
    }

    /// Learns from another record of the same claim, which began as this one, which announcements are
    /// known by now: whoever forgets them waits for ever.
    pub fn learn_announcements(&mut self, other: &Self) {
        for (sight, since) in &other.since {
            if matches!(
                sight,
                Sight::Intent(..) | Sight::Trace(..) | Sight::Call(..)
            ) {
                self.since.entry(sight.clone()).or_insert(*since);
            }
        }
    }

    /// Forgets announcements that the ledger does not have: if it is set back, the same one may come
    /// again, and is another.
    pub fn keep_only(&mut self, ledger: &Ledger) {
        self.since.retain(|sight, _| match sight {
            Sight::Intent(slot, attempt, sends) => {
                let intent = ledger.intents.get(slot);
                intent.is_some_and(|it| (it.attempt, it.sends) == (*attempt, *sends))
            }
            Sight::Trace(trace, times) => {
                ledger.traces.get(trace).copied().unwrap_or_default() == *times
            }
            Sight::Joined(trace) => ledger.joined.contains(trace),
            Sight::Call(target, times) => ledger.calls.get(target) == Some(times),
            Sight::Left(trace) | Sight::LeftBehind(trace) => ledger.left.contains(trace),
            Sight::Missing(_)
            | Sight::Lost(_)
            | Sight::Failed(_)
            | Sight::Untagged(_)
            | Sight::Retaining
            | Sight::Part(..)
            | Sight::Leaving(_)
            | Sight::Written(..)
            | Sight::TakenOver => true,
        });
    }

    /// A deletion was found to be blocked.
    pub fn block(&mut self, target: Target, now: Tick, error: CloudError) {
        self.blocked.insert(target, (now, error));
    }

    /// When a deletion was last found to be blocked, and by what.
    pub fn blocked(&self, target: &Target) -> Option<(Tick, &CloudError)> {
        self.blocked.get(target).map(|(at, error)| (*at, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::tests::THING;
    use crate::ledger::{Edit, Intent, TraceOf};
    use crate::part::Props;
    use crate::secret::Digests;
    use crate::text::ResourceId;

    fn intent(attempt: u32, sends: u32) -> Intent {
        Intent {
            place: crate::place::Place::HOME,
            kind: &THING,
            attempt,
            sends,
            name: "nodes".into(),
            props: Props::new(),
            secrets: Digests::new(),
            before: None,
            adopts: None,
            operation: None,
        }
    }

    #[test]
    fn an_announcement_that_the_ledger_does_not_have_is_forgotten() {
        let slot = SlotName::new("group").unwrap();
        let target = Target::new(&THING, ResourceId::new("subnet-1"));
        let trace = Trace {
            on: target.clone(),
            what: TraceOf::Tag {
                key: "k".into(),
                value: "v".into(),
            },
        };
        let mut ledger = Ledger::default();
        let open = Edit::OpenIntent {
            slot: slot.clone(),
            intent: intent(2, 1),
        };
        ledger.apply(&open);
        ledger.apply(&Edit::Trace(trace.clone()));
        let known = [
            (Sight::Intent(slot.clone(), 2, 1), true),
            (Sight::Intent(slot.clone(), 2, 2), false),
            (Sight::Intent(slot, 1, 1), false),
            (Sight::Trace(trace.clone(), 1), true),
            (Sight::Trace(trace, 2), false),
            (Sight::Missing(target), true),
            (Sight::Retaining, true),
        ];
        let mut sightings = Sightings::new();
        for (sight, _) in &known {
            sightings.since(sight.clone(), Tick(1));
        }
        sightings.keep_only(&ledger);
        for (sight, stays) in known {
            let since = sightings.since(sight.clone(), Tick(9));
            assert_eq!(since == Tick(1), stays, "{sight:?}");
        }
    }

    #[test]
    fn announcements_are_learned_and_nothing_else() {
        let target = Target::new(&THING, ResourceId::new("nodes"));
        let call = Sight::Call(target.clone(), 3);
        let (mut one, mut other) = (Sightings::new(), Sightings::new());
        other.since(call.clone(), Tick(1));
        other.since(Sight::Missing(target.clone()), Tick(1));
        one.learn_announcements(&other);
        assert_eq!(one.noted(&call), Some(Tick(1)));
        assert_eq!(one.noted(&Sight::Missing(target)), None);
        // What was known before is known since then.
        other.note(call.clone(), Tick(5));
        one.learn_announcements(&other);
        assert_eq!(one.noted(&call), Some(Tick(1)));
    }
}
