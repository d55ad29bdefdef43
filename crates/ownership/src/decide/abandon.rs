//! Creates that must not be repeated: a secret that they were announced with has changed since.
//!
//! A client token stands for one request. With another secret it would be refused, or, if the cloud
//! has forgotten it, make a second resource. So the attempt is given up: what it made is waited for,
//! looked for and kept; only if nothing came, the next attempt begins, with the secret of today.

use super::{Deciding, Flow, Need, act};
use crate::blueprint::Slot;
use crate::finding::{Finding, Reason};
use crate::kind::{BirthProof, Change, Naming};
use crate::ledger::{Edit, Intent};
use crate::part::{Props, Resource};
use crate::query::{Query, Target};
use crate::secret::Digests;
use crate::sight::Sight;
use crate::verdict::Verdict;

impl Deciding<'_> {
    /// What the ledger remembers of today's secrets.
    pub(super) fn digests(&self, slot: &Slot) -> Digests {
        slot.secrets.digests(&self.case.identity.claim, &slot.name)
    }

    /// Whether an announced create can be sent, or sent again: its secrets are still the same.
    pub(super) fn keeps_its_secrets(&self, slot: &Slot, intent: &Intent) -> bool {
        self.rules
            .repeats_with(&intent.secrets, &self.digests(slot))
    }

    /// Ends an attempt that cannot be repeated, once nothing can come of it.
    pub(super) fn give_up(&mut self, slot: &Slot, intent: &Intent) -> Flow<()> {
        if !self.is_given_up(slot, intent)? {
            return Ok(());
        }
        let slot = slot.name.clone();
        let close = Edit::CloseIntent { slot: slot.clone() };
        act(Need::Write(vec![close]), Reason::SecretChanged(slot))
    }

    /// Whether nothing can come of an attempt any more that cannot be repeated; no look-up by marks has
    /// shown its resource.
    pub(super) fn is_given_up(&mut self, slot: &Slot, intent: &Intent) -> Flow<bool> {
        let is_over = self.settled(
            Sight::Intent(slot.name.clone(), intent.attempt, intent.sends),
            |rules, since| rules.late_effects_over_at(slot.kind, since),
            Reason::AwaitIntent(slot.name.clone()),
        );
        if !is_over {
            return Ok(false);
        }
        let candidates = self.what_it_may_have_made(slot, intent)?;
        let none = candidates.is_empty();
        if !none {
            self.findings.push(Finding::Ambiguous {
                slot: slot.name.clone(),
                candidates,
            });
        }
        Ok(none)
    }

    /// What nobody has marked and an attempt could have made whose only proof is its client token.
    /// Whoever changed it since could change neither its name nor what is fixed at birth.
    fn what_it_may_have_made(&self, slot: &Slot, intent: &Intent) -> Flow<Vec<Target>> {
        let kind = slot.kind;
        if kind.birth != BirthProof::Token || !self.rules.doubts_given_up() {
            return Ok(Vec::new());
        }
        let named = kind.naming != Naming::Free;
        let query = Query::Match {
            kind,
            place: intent.place.clone(),
            name: if named {
                intent.name.clone()
            } else {
                "".into()
            },
            props: fixed_at_birth(intent),
        };
        let look = self.look(query, || Reason::AwaitIntent(slot.name.clone()))?;
        let since = intent.before.as_ref().map(|before| before.at);
        let is_new = |resource: &Resource| match (resource.created, since) {
            (Some(created), Some(since)) => created >= since,
            _ => true,
        };
        let could_be = |target: &&Target| {
            let seen = self.view.seen(target);
            let seen = seen.and_then(|seen| Some((seen.resource.as_ref()?, seen.read)));
            seen.is_some_and(|(resource, read)| {
                is_new(resource) && self.judge(kind, resource, read) == Verdict::Unmarked
            })
        };
        Ok(look.found.iter().filter(could_be).cloned().collect())
    }
}

/// The properties of an announced create that nobody can change afterwards.
fn fixed_at_birth(intent: &Intent) -> Props {
    let fixed = |name: &str| {
        let mut rules = intent.kind.props.iter();
        rules.any(|rule| rule.name == name && rule.change == Change::Never)
    };
    let props = intent.props.iter().filter(|(name, _)| fixed(name));
    props.cloned().collect()
}
