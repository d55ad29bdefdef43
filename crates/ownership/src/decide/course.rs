//! The course of a resource: coming, failed, going; and of the operation that makes it.

use super::{Deciding, Flow, Need, act};
use crate::blueprint::{Slot, SlotName};
use crate::error::{Class, CloudError};
use crate::finding::{Finding, Reason};
use crate::kind::Kind;
use crate::ledger::{Edit, Intent};
use crate::life::{Failed, Life, Progress};
use crate::part::Resource;
use crate::query::{Query, Target};
use crate::sight::Sight;
use crate::text::{ResourceId, Text};
use crate::time::Millis;
use crate::verdict::{Owned, Verdict};

/// How often the time doubles after which what has failed is replaced: another attempt may fail, too.
const DOUBLINGS: u32 = 6;

impl Deciding<'_> {
    /// Whether a resource can be used. If not, says what is waited for.
    pub(super) fn is_ready(&mut self, resource: &Resource) -> bool {
        match &resource.life {
            Life::Ready => return true,
            Life::Going => self.await_gone(resource.kind, &resource.id),
            Life::Coming => self.await_ready(resource),
            Life::Failed(_) => {
                let again = self.now + resource.kind.course.ask_every;
                self.wait(again, Reason::AwaitReady(resource.id.clone()));
            }
        }
        false
    }

    /// Waits until something is gone that is being deleted.
    pub(super) fn await_gone(&mut self, kind: &Kind, id: &ResourceId) {
        let again = self.now + kind.course.ask_every;
        self.wait(again, Reason::AwaitGone(id.clone()));
    }

    /// Whether a resource is being deleted: then it fills nothing, and is not deleted again.
    pub(super) fn is_going(&self, resource: &Resource) -> bool {
        resource.life == Life::Going && self.rules.waits_for_what_goes()
    }

    /// The cloud's reason, if a resource has failed.
    pub(super) fn failure<'r>(&self, resource: &'r Resource) -> Option<&'r Text> {
        match &resource.life {
            Life::Failed(why) if self.rules.believes_failures() => Some(why),
            _ => None,
        }
    }

    /// A resource of ours that has failed: told, and after a while deleted where the Kind says so, so
    /// that another is made.
    pub(super) fn replace(&mut self, slot: &Slot, owned: &Owned, why: &Text) -> Flow<()> {
        let target = owned.target();
        let replaced = slot.kind.course.failed == Failed::Replaced;
        self.findings.push(Finding::Failed {
            slot: slot.name.clone(),
            target: target.clone(),
            why: slot.secrets.withhold_words(why),
            replaced,
        });
        if !replaced {
            return Ok(());
        }
        let attempt = owned.mark().map_or(1, |mark| mark.attempt);
        let doublings = attempt.saturating_sub(1).min(DOUBLINGS);
        let patience = Millis(slot.kind.course.ask_every.0 << doublings);
        let told = Reason::Failed(target.id.clone());
        let over = |_: &dyn crate::Rules, since| since + patience;
        if self.settled(Sight::Failed(target.clone()), over, told.clone()) {
            self.delete(slot.kind, target, told)?;
        }
        Ok(())
    }

    /// A resource that is not ours and has failed.
    pub(super) fn has_failed(&mut self, slot: &Slot, resource: &Resource) -> bool {
        let Some(why) = self.failure(resource) else {
            return false;
        };
        self.findings.push(Finding::Failed {
            slot: slot.name.clone(),
            target: resource.target(),
            why: why.clone(),
            replaced: false,
        });
        true
    }

    /// Whether something of ours that is being deleted still stands in the way of another resource's
    /// deletion: waits for it then.
    pub(super) fn must_wait_for_guests(&mut self, target: &Target) -> bool {
        let mut going = self.view.resources().filter(|other| {
            let mut props = other.props.iter();
            self.is_going(other)
                && other.id != target.id
                && props.any(|(name, value)| target.is_named_by(name, value))
        });
        let seen = going.next().map(|other| (other.kind, other.id.clone()));
        let Some((kind, id)) = seen.or_else(|| self.lingering_guest(target)) else {
            return false;
        };
        self.await_gone(kind, &id);
        true
    }

    /// What was deleted in this pass, depends on this, and is not gone at once.
    fn lingering_guest(&self, target: &Target) -> Option<(&'static Kind, ResourceId)> {
        let host = self.ledger.known.get(target)?;
        let mut deleted = self.view.all_deleted().iter();
        let guest = deleted.find(|deleted| {
            let known = self.ledger.known.get(*deleted);
            let slot = known.and_then(|known| self.case.blueprint.slot(&known.slot));
            deleted.kind.course.lingers
                && slot.is_some_and(|slot| {
                    let mut needs = slot.dependencies().chain(slot.inner_dependencies());
                    needs.any(|name| *name == host.slot)
                })
        });
        guest.map(|guest| (guest.kind, guest.id.clone()))
    }

    /// Waits until what was deleted is seen to be gone, where that takes its time.
    pub(super) fn await_all_gone(&mut self) {
        for target in self.view.all_deleted() {
            let seen = self
                .view
                .seen(target)
                .and_then(|seen| seen.resource.as_ref());
            let shows = seen.is_some_and(|resource| self.is_going(resource));
            if (target.kind.course.lingers || shows) && self.rules.waits_for_what_goes() {
                self.await_gone(target.kind, &target.id);
            }
        }
    }

    /// Whether a deletion is blocked by nothing but what is going, too: waits for that then.
    pub(super) fn is_blocked_by_what_goes(&mut self, error: &CloudError) -> bool {
        let Class::Blocked(blockers) = &error.class else {
            return false;
        };
        let goes = |id: &ResourceId| {
            let mut others = self.view.resources();
            let going = others.find(|other| other.id == *id && self.is_going(other));
            let kind = going.map(|other| other.kind);
            kind.or_else(|| self.view.kind_of_deleted(id))
        };
        let kinds: Option<Vec<_>> = blockers
            .iter()
            .map(|blocker| Some((goes(&blocker.id)?, blocker.id.clone())))
            .collect();
        let Some((kind, id)) = kinds.and_then(|kinds| kinds.into_iter().next()) else {
            return false;
        };
        self.await_gone(kind, &id);
        true
    }

    /// Notes in the intent that its create has begun an operation.
    pub(super) fn note_operation(&self, name: &SlotName) -> Flow<()> {
        let (Some(running), Some(intent)) =
            (self.view.running(name), self.ledger.intents.get(name))
        else {
            return Ok(());
        };
        // What was born is recorded together with it.
        if intent.operation.as_ref() == Some(running) || self.view.created(name).is_some() {
            return Ok(());
        }
        let (slot, operation) = (name.clone(), running.clone());
        let why = Reason::RecordNew(slot.clone());
        act(Need::Write(vec![Edit::Running { slot, operation }]), why)
    }

    /// How far the operation of an announced create has come; `None`, if there is none, or the cloud has
    /// forgotten it.
    pub(super) fn progress(&self, slot: &SlotName, intent: &Intent) -> Flow<Option<Progress>> {
        let Some(name) = &intent.operation else {
            return Ok(None);
        };
        if !self.rules.follows_operations() {
            return Ok(None);
        }
        let query = Query::Operation {
            kind: intent.kind,
            place: intent.place.clone(),
            name: name.clone(),
        };
        let look = self.look(query, || Reason::AwaitOperation(slot.clone()))?;
        Ok(look.progress.clone())
    }

    /// Waits for the operation of a create, if it runs. One that has failed ends the attempt.
    pub(super) fn await_operation(&mut self, slot: &SlotName, intent: &Intent) -> Flow<bool> {
        match self.progress(slot, intent)? {
            Some(Progress::Running) => {
                let again = self.now + intent.kind.course.ask_every;
                self.wait(again, Reason::AwaitOperation(slot.clone()));
                Ok(true)
            }
            Some(Progress::Failed(error)) => {
                let wished = self.case.blueprint.slot(slot);
                let error = match wished {
                    Some(wished) => wished.secrets.withhold(error),
                    None => error,
                };
                let slot = slot.clone();
                let why = Reason::Refused(slot.clone());
                act(Need::Write(vec![Edit::Failed { slot, error }]), why)
            }
            Some(Progress::Done(_)) | None => Ok(false),
        }
    }

    /// What the operation of a create has made, as far as it says so and reads show it.
    pub(super) fn made(&mut self, slot: &SlotName, intent: &Intent) -> Flow<Option<Target>> {
        match self.progress(slot, intent)? {
            Some(Progress::Done(Some(id))) => Ok(Some(intent.target(id))),
            _ => Ok(None),
        }
    }

    /// The resources of a slot that are being deleted.
    pub(super) fn going_of(&self, slot: &Slot) -> Option<ResourceId> {
        let mut ours = self.view.of_kind(slot.kind, &slot.place);
        let found = ours.find(|(resource, read)| {
            let its = |verdict| match verdict {
                Verdict::Owned(owned) => owned.mark().is_some_and(|mark| mark.slot == slot.name),
                _ => false,
            };
            self.is_going(resource) && its(self.judge(slot.kind, resource, *read))
        });
        found.map(|(resource, _)| resource.id.clone())
    }
}
