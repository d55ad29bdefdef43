//! Creating: announced, sent, repeated only when that is safe.

use std::collections::BTreeSet;

use super::locate::match_query;
use super::{Deciding, Flow, Need, act};
use crate::blueprint::Slot;
use crate::finding::{Finding, Reason};
use crate::kind::{BirthProof, Marking};
use crate::ledger::{BeforeImage, Edit, Intent, TraceOf};
use crate::name;
use crate::part::{Props, Resource};
use crate::sight::Sight;
use crate::step::{Create, Step};
use crate::text::{ResourceId, Text};
use crate::time::Millis;

fn gone_for_good(slot: &Slot, gone: Vec<ResourceId>) -> Vec<Edit> {
    let target = |id| slot.target(id);
    gone.into_iter()
        .map(|id| Edit::Gone { target: target(id) })
        .collect()
}

impl Deciding<'_> {
    /// Whether somebody has taken our mark off something that the slot depends on. A person has to decide
    /// about that first: what it lacks is not put into it any more, so what is made on it may never work,
    /// and would be made again and again.
    fn stands_on_released(&self, slot: &Slot) -> bool {
        let released = |name| {
            self.findings
                .iter()
                .any(|finding| matches!(finding, Finding::MarkLost { slot, .. } if slot == name))
        };
        slot.dependencies().any(released)
    }

    /// The slot is empty: announce a create, send it, or wait until it is safe to repeat.
    pub(super) fn create(&mut self, slot: &Slot, props: &Props, gone: Vec<ResourceId>) -> Flow<()> {
        if let (Some(id), true) = (gone.first(), self.rules.only_reports_lost(slot.kind)) {
            self.findings.push(Finding::Lost {
                slot: slot.name.clone(),
                target: slot.target(id.clone()),
            });
            return Ok(());
        }
        let Some(intent) = self.ledger.intents.get(&slot.name) else {
            if self.stands_on_released(slot) {
                return Ok(());
            }
            if !slot.kind.recorded {
                return self.insert(slot, props);
            }
            return self.announce(slot, props, gone);
        };
        // The create was answered, or adopted what existed, and that is gone: the attempt is over.
        if !gone.is_empty() {
            let why = Reason::Gone(slot.name.clone(), gone[0].clone());
            let mut edits: Vec<Edit> = gone_for_good(slot, gone);
            edits.push(Edit::CloseIntent {
                slot: slot.name.clone(),
            });
            return act(Need::Write(edits), why);
        }
        if intent.adopts.is_some() {
            let close = Edit::CloseIntent {
                slot: slot.name.clone(),
            };
            return act(
                Need::Write(vec![close]),
                Reason::NeverCame(slot.name.clone()),
            );
        }
        self.repeat(slot, intent)
    }

    /// Sends an announced create, or announces it again, once its effect would have come and shown (law 2).
    pub(super) fn repeat(&mut self, slot: &Slot, intent: &Intent) -> Flow<()> {
        if !self.keeps_its_secrets(slot, intent) {
            return self.give_up(slot, intent);
        }
        if let Some((at, why)) = self.view.announcement(&slot.name)
            && self.just_now(Some(at))
        {
            return self.send(slot, intent, why.clone());
        }
        if self.is_unprovable(slot, intent) {
            self.findings.push(Finding::Unprovable {
                slot: slot.name.clone(),
                name: intent.name.clone(),
            });
            return Ok(());
        }
        let (attempt, sends) = (intent.attempt, intent.sends);
        let safe = self.settled(
            Sight::Intent(slot.name.clone(), attempt, sends),
            |rules, since| rules.repeats_create_at(slot.kind, sends, since),
            Reason::AwaitIntent(slot.name.clone()),
        );
        if !safe {
            return Ok(());
        }
        let why = if slot.kind.token.is_some() {
            Reason::RepeatByToken(slot.name.clone(), attempt)
        } else {
            Reason::RepeatAfterSettling(slot.name.clone(), attempt)
        };
        let intent = Intent {
            sends: sends.saturating_add(1),
            // What the cloud has forgotten says nothing of the next call.
            operation: None,
            ..intent.clone()
        };
        act(
            Need::Write(vec![Edit::OpenIntent {
                slot: slot.name.clone(),
                intent,
            }]),
            why,
        )
    }

    /// Whether nobody can tell any more what came of a create whose only proof is its client token:
    /// the cloud may have forgotten the token before a repetition would be answered.
    pub(super) fn is_unprovable(&self, slot: &Slot, intent: &Intent) -> bool {
        let (BirthProof::Token, Some(lifetime)) = (slot.kind.birth, slot.kind.token) else {
            return false;
        };
        let announced = intent.before.as_ref().map(|before| before.at);
        let (Some(announced), Some(now)) = (announced, self.view.date(&intent.place)) else {
            return false;
        };
        self.rules.token_expired(
            slot.kind,
            lifetime,
            Millis(now.0.saturating_sub(announced.0)),
        )
    }

    fn announce(&mut self, slot: &Slot, props: &Props, gone: Vec<ResourceId>) -> Flow<()> {
        let last = self.ledger.attempts.get(&slot.name).copied().unwrap_or(0);
        let mut intent = self.intent(slot, props, self.rules.next_attempt(last));
        if slot.kind.birth == BirthProof::Circumstantial {
            let query = match_query(slot, &intent);
            let look = self.look(query, || Reason::TakeBeforeImage(slot.name.clone()))?;
            let ids = look.found.iter().map(|target| target.id.clone()).collect();
            intent.before = Some(BeforeImage { ids, at: look.date });
        }
        if slot.kind.birth == BirthProof::Token {
            // From when on the token counts: it proves nothing after its lifetime.
            let ids = BTreeSet::new();
            intent.before = self
                .view
                .date(&slot.place)
                .map(|at| BeforeImage { ids, at });
        }
        if !self.rules.announces_creates() {
            return self.send(slot, &intent, Reason::NothingFound(slot.name.clone()));
        }
        let why = match gone.first() {
            Some(id) => Reason::Gone(slot.name.clone(), id.clone()),
            None => match self.ledger.ids.get(&slot.name) {
                Some(id) => Reason::NotThere(slot.name.clone(), id.clone()),
                None => Reason::NothingFound(slot.name.clone()),
            },
        };
        let mut edits: Vec<Edit> = gone_for_good(slot, gone);
        edits.push(Edit::OpenIntent {
            slot: slot.name.clone(),
            intent,
        });
        act(Need::Write(edits), why)
    }

    /// Makes what its name and mark tell all of. One announcement serves all such creates of a pass: a
    /// second one under the name is refused, so it need not be known which of them took effect, but only
    /// until when one can.
    fn insert(&mut self, slot: &Slot, props: &Props) -> Flow<()> {
        let creates = slot.kind_at().whatever();
        let announced = self.view.calling(&creates).map(|(at, _)| at);
        let why = Reason::NothingFound(slot.name.clone());
        if !self.just_now(announced) && self.rules.announces_unrecorded() {
            return act(Need::Write(vec![self.call(creates)]), why);
        }
        let intent = self.intent(slot, props, 1);
        self.send(slot, &intent, why)
    }

    fn intent(&self, slot: &Slot, props: &Props, attempt: u32) -> Intent {
        Intent {
            kind: slot.kind,
            place: slot.place.clone(),
            attempt,
            sends: 1,
            name: self.full_name(slot, attempt),
            props: props.clone(),
            secrets: self.digests(slot),
            before: None,
            adopts: None,
            operation: None,
        }
    }

    fn full_name(&self, slot: &Slot, attempt: u32) -> Text {
        match slot.kind.birth {
            BirthProof::Nonce => {
                let nonce = name::nonce(&self.case.identity.claim, &slot.name, attempt);
                slot.kind.names.fit_with_nonce(&slot.label, &nonce)
            }
            _ => slot.label.clone(),
        }
    }

    fn send(&mut self, slot: &Slot, intent: &Intent, why: Reason) -> Flow<()> {
        let tags = if slot.kind.birth == BirthProof::Marks {
            match self.wanted_tags(slot, intent.attempt) {
                Some(tags) => tags.into_iter().collect(),
                None => return Ok(()),
            }
        } else {
            crate::mark::Tags::new()
        };
        let token = slot
            .kind
            .token
            .map(|_| name::client_token(&self.case.identity.claim, &slot.name, intent.attempt));
        let create = Create {
            slot: slot.name.clone(),
            kind: slot.kind,
            place: slot.place.clone(),
            attempt: intent.attempt,
            name: intent.name.clone(),
            props: intent.props.clone(),
            secrets: slot.secrets.clone(),
            tags,
            token,
        };
        act(Need::Do(Step::Create(create)), why)
    }

    /// Every tag that a resource of ours should carry.
    ///
    /// # Errors
    /// What the carrier cannot hold.
    pub(super) fn tags_for(&self, slot: &Slot, attempt: u32) -> Result<Vec<(Text, Text)>, Finding> {
        let identity = self.case.identity;
        let tags = identity
            .ownership_tags(slot.kind, slot, attempt)
            .and_then(|mut tags| {
                if slot.cluster_mark {
                    // One dialect writes both marks under one key: what is ours is owned, not shared.
                    let cluster = identity.dialect.cluster(slot.kind.carrier)?;
                    let is_free = |key: &Text| tags.iter().all(|(taken, _)| taken != key);
                    let free = cluster.iter().filter(|(key, _)| is_free(key));
                    let free: Vec<(Text, Text)> = free.cloned().collect();
                    tags.extend(free);
                }
                tags.extend(slot.user_tags.iter().cloned());
                Ok(tags)
            });
        tags.map_err(|error| Finding::Unmarkable {
            slot: slot.name.clone(),
            rule: error.to_string(),
        })
    }

    /// The same; `None`, with a finding, if the carrier cannot hold one of them.
    pub(super) fn wanted_tags(&mut self, slot: &Slot, attempt: u32) -> Option<Vec<(Text, Text)>> {
        match self.tags_for(slot, attempt) {
            Ok(tags) => Some(tags),
            Err(finding) => {
                self.findings.push(finding);
                None
            }
        }
    }

    /// The tags that a resource of ours lacks.
    pub(super) fn missing_tags(
        &mut self,
        slot: &Slot,
        resource: &Resource,
        attempt: u32,
    ) -> Vec<(Text, Text)> {
        if slot.kind.marking != Marking::Mutable {
            return Vec::new();
        }
        let wanted = self.wanted_tags(slot, attempt).unwrap_or_default();
        let target = resource.target();
        let missing = |(key, value): &(Text, Text)| {
            let (key, value) = (key.clone(), value.clone());
            !resource.tags.has(&key, &value)
                && !self.view.has_left(&target, &TraceOf::Tag { key, value })
        };
        wanted.into_iter().filter(missing).collect()
    }
}
