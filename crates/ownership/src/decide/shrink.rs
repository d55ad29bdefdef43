//! Shrinking in life: what the ledger knows and the blueprint no longer wants is ended while the claim
//! lives, by the same proof as at the end.

use std::sync::Arc;

use super::{Deciding, Flow, Need, act};
use crate::blueprint::{Asked, Slot, SlotName};
use crate::finding::{Finding, Reason};
use crate::kind::Kind;
use crate::ledger::{Edit, Known, Origin, Trace, TraceOf};
use crate::part::Resource;
use crate::query::Target;
use crate::rules::Rules;
use crate::sight::Sight;
use crate::step::{Step, UnmarkRight};
use crate::text::Text;
use crate::verdict::{Owned, Verdict};

impl Deciding<'_> {
    /// Ends what is not wanted any more. First everything that is wanted is there and as it should be:
    /// what replaces something is made, and what depends on it has moved.
    pub(super) fn shrink(&mut self) -> Flow<()> {
        let blueprint = self.case.blueprint;
        if !blueprint.shrinks() {
            return Ok(());
        }
        self.slot = None;
        let mut unwanted = self.unwanted_known();
        if self.rules.finds_unrecorded() {
            unwanted.extend(self.unwanted_unrecorded()?);
        }
        let intents = self.unwanted_intents();
        self.report_unknown(&unwanted, &intents);
        let moved = self.waits.is_none() && self.view.first_refusal().is_none();
        let may_end = (moved && self.is_filled()) || !self.rules.moves_first();
        let understood = !blueprint.is_partial() && self.ledger.revision <= blueprint.revision();
        if !may_end || !(understood || self.rules.shrinks_by_what_is_partial()) {
            return Ok(());
        }
        self.end_unwanted_intents(&intents)?;
        for (target, known) in unwanted {
            self.end_unwanted(target, &known)?;
        }
        self.shrink_traces()
    }

    /// A ledger that an older revision wrote is from now on this one's.
    pub(super) fn new_revision(&self) -> Option<Edit> {
        let revision = self.case.blueprint.revision();
        (self.ledger.revision < revision).then_some(Edit::Revision(revision))
    }

    /// Whether every wanted slot has what it wants, as far as anybody can tell.
    fn is_filled(&self) -> bool {
        let mut slots = self.case.blueprint.slots().iter();
        slots.all(|slot| self.id_of(&slot.name).is_some() || self.unwanted.contains(&slot.name))
    }

    /// What we made or adopted for slots that are not in the blueprint, or that something else fills.
    fn unwanted_known(&self) -> Vec<(Target, Known)> {
        let ours = self.ledger.known.iter().filter(|(target, known)| {
            known.origin != Origin::Found && !self.ledger.condemned.contains(*target)
        });
        let unwanted = ours.filter(|(target, known)| {
            if self.case.blueprint.slot(&known.slot).is_none() {
                return true;
            }
            let mut filled = self.filled.iter().filter(|it| it.slot == known.slot);
            let others = filled.clone().any(|it| it.verdict == Verdict::Used);
            others && !filled.any(|it| it.target == **target)
        });
        unwanted
            .map(|(target, known)| (target.clone(), known.clone()))
            .collect()
    }

    /// What carries our mark, is not in the ledger, and no slot of the blueprint wants there. What is
    /// wanted in another place is told with its slot.
    fn unwanted_unrecorded(&mut self) -> Flow<Vec<(Target, Known)>> {
        let mut unwanted = Vec::new();
        for at in self.case.kinds.iter().filter(|at| !at.kind.recorded) {
            let query = self.marks_query(at.kind, &at.place);
            self.look(query, || Reason::FindByMarks(at.kind.name))?;
            for (resource, read) in self.view.of_kind(at.kind, &at.place) {
                let Verdict::Owned(owned) = self.judge(at.kind, resource, read) else {
                    continue;
                };
                let (target, Some(mark)) = (owned.target(), owned.mark()) else {
                    continue;
                };
                let slot = self.case.blueprint.slot(&mark.slot);
                let mut filled = self.filled.iter().filter(|it| it.slot == mark.slot);
                let by_others =
                    filled.any(|it| it.verdict == Verdict::Used && it.target != *target);
                let of_another_kind = slot.is_some_and(|slot| slot.kind != at.kind);
                let is_wanted = slot.is_some() && !by_others && !of_another_kind;
                if !is_wanted && !self.ledger.known.contains_key(target) {
                    unwanted.push((target.clone(), Known::unrecorded(&mark.slot)));
                }
            }
        }
        Ok(unwanted)
    }

    fn unwanted_intents(&self) -> Vec<SlotName> {
        let intents = self.ledger.intents.keys();
        let gone = intents.filter(|name| self.case.blueprint.slot(name).is_none());
        gone.cloned().collect()
    }

    /// A slot that this build does not know may be another build's: it is told, and never ended.
    fn report_unknown(&mut self, unwanted: &[(Target, Known)], intents: &[SlotName]) {
        let known = unwanted.iter().map(|(_, known)| &known.slot);
        let mut told: Vec<&SlotName> = Vec::new();
        for slot in known.chain(intents) {
            if !self.may_end(slot) && !told.contains(&slot) {
                told.push(slot);
                self.findings.push(Finding::Unknown { slot: slot.clone() });
            }
        }
    }

    fn may_end(&self, slot: &SlotName) -> bool {
        self.case.blueprint.family(slot).is_some() || !self.rules.ends_only_what_it_knows()
    }

    /// What was announced for a slot that is not wanted any more is found, or waited for.
    fn end_unwanted_intents(&mut self, intents: &[SlotName]) -> Flow<()> {
        for name in intents.iter().filter(|name| self.may_end(name)) {
            let Some(intent) = self.ledger.intents.get(name) else {
                continue;
            };
            let kind = intent.kind;
            let query = self.marks_query(kind, &intent.place);
            self.look(query, || Reason::FindByMarks(kind.name))?;
        }
        let wanted: Vec<SlotName> = intents
            .iter()
            .filter(|name| self.may_end(name))
            .cloned()
            .collect();
        self.end_intents(|name| wanted.contains(name))
    }

    fn end_unwanted(&mut self, target: Target, known: &Known) -> Flow<()> {
        if !self.may_end(&known.slot) || self.view.deleted(&target) {
            return self.forget_unwanted(target);
        }
        let kind = target.kind;
        let by_facts = self
            .case
            .blueprint
            .family(&known.slot)
            .is_some_and(|family| family.asked == Asked::ByFacts);
        if kind.valuable && by_facts && self.rules.keeps_data_that_facts_drop() {
            let slot = known.slot.clone();
            self.findings.push(Finding::Kept { slot, target });
            return Ok(());
        }
        let why = Reason::Unwanted(known.slot.clone());
        let Some((resource, read)) = self.see(&target, || why.clone())? else {
            return self.forget_unwanted(target);
        };
        if self.is_another(&target, &resource) {
            return self.forget_unwanted(target);
        }
        let Verdict::Owned(owned) = self.judge(kind, &resource, read) else {
            // Somebody took our mark off it: released, like everything that lost its mark.
            let sight = Sight::Lost(target.clone());
            let over = |rules: &dyn Rules, since| rules.settled_at(kind, since);
            if self.closable(sight, over, Reason::AwaitSettling(target.id.clone()))
                && self.ledger.known.contains_key(&target)
            {
                return act(Need::Write(vec![Edit::Gone { target }]), why);
            }
            return Ok(());
        };
        if self.is_held(&known.slot, &owned) {
            return Ok(());
        }
        if self.is_going(&resource) {
            self.await_gone(kind, &target.id);
            return Ok(());
        }
        if self.is_needed(&target.id) && self.rules.spares_what_is_needed() {
            // What needs it may be on its way out, too, or have to stay as it is.
            let slot = known.slot.clone();
            self.findings.push(Finding::StillNeeded { slot, target });
            return Ok(());
        }
        self.delete(kind, &target, why)
    }

    /// What is not there is forgotten when it is believed; nobody waits for that.
    fn forget_unwanted(&mut self, target: Target) -> Flow<()> {
        let kind = target.kind;
        if !self.ledger.known.contains_key(&target) {
            return Ok(());
        }
        let there = self
            .view
            .seen(&target)
            .is_some_and(|seen| seen.resource.is_some());
        if there && !self.view.deleted(&target) {
            return Ok(());
        }
        let sight = Sight::Missing(target.clone());
        let over = |rules: &dyn Rules, since| rules.settled_at(kind, since);
        if self.view.seen(&target).is_some()
            && self.closable(sight, over, Reason::AwaitSettling(target.id.clone()))
        {
            return act(Need::Write(vec![Edit::Gone { target }]), Reason::Settled);
        }
        Ok(())
    }

    /// Takes away what we added to resources that are not ours and that no slot asks for any more.
    fn shrink_traces(&mut self) -> Flow<()> {
        let ledger = self.ledger;
        let unwanted: Vec<Trace> = ledger
            .traces
            .keys()
            .filter(|trace| !self.wants_trace(trace))
            .cloned()
            .collect();
        let mut erased = Vec::new();
        for trace in unwanted {
            let kind = trace.on.kind;
            let seen = self.see(&trace.on, || Reason::TraceUnwanted)?;
            let Some((resource, _)) = seen else {
                let sight = Sight::Missing(trace.on.clone());
                let why = Reason::AwaitSettling(trace.on.id.clone());
                let over = |rules: &dyn Rules, since| rules.settled_at(kind, since);
                if self.closable(sight, over, why) {
                    erased.push(Edit::Erase(trace));
                }
                continue;
            };
            if self.keeps_trace(kind, &trace) || self.view.erased(&trace) {
                erased.push(Edit::Erase(trace));
                continue;
            }
            let wanted = self.wanted_keys(&trace);
            let gone = match self.erase(kind, &trace, &resource, &wanted)? {
                Some(gone) => gone,
                None => self.trace_closable(kind, &trace),
            };
            if gone {
                erased.push(Edit::Erase(trace));
            }
        }
        if erased.is_empty() {
            return Ok(());
        }
        act(Need::Write(erased), Reason::TraceUnwanted)
    }

    /// Whether a slot still asks for this on this resource.
    fn wants_trace(&self, trace: &Trace) -> bool {
        self.slots_on(&trace.on).any(|slot| match &trace.what {
            TraceOf::Inner { inner, key } => {
                let wished = self.wished(slot);
                wished
                    .iter()
                    .any(|(kind, wish)| kind == inner && wish == key)
            }
            TraceOf::Tag { key, value } => {
                let cluster = self.case.identity.dialect.cluster_on(slot.kind);
                let marks = slot.cluster_mark && cluster.is_ok_and(|mark| mark.has(key, value));
                let user = slot.user_tags.iter().any(|(k, v)| k == key && v == value);
                marks || user || self.names_wished_part(slot, key)
            }
        })
    }

    /// The slots that a resource fills.
    fn slots_on<'s>(&'s self, on: &'s Target) -> impl Iterator<Item = &'s Slot> {
        let filled = self.filled.iter().filter(move |it| it.target == *on);
        filled.filter_map(|it| self.case.blueprint.slot(&it.slot))
    }

    /// The keys of the parts of the same sort that are still asked for there.
    fn wanted_keys(&self, trace: &Trace) -> Vec<Text> {
        let TraceOf::Inner { inner, .. } = &trace.what else {
            return Vec::new();
        };
        let wished = self.slots_on(&trace.on).flat_map(|slot| self.wished(slot));
        let same = wished.filter(|(kind, _)| kind == inner);
        same.map(|(_, key)| key).collect()
    }

    /// Whether a call that was to leave this trace cannot take effect any more; nobody waits for that.
    fn trace_closable(&mut self, kind: &Kind, trace: &Trace) -> bool {
        let announcements = self.ledger.traces.get(trace).copied().unwrap_or(0);
        let sight = Sight::Trace(trace.clone(), announcements);
        let over = |rules: &dyn Rules, since| rules.late_effects_over_at(kind, since);
        self.closable(sight, over, Reason::AwaitTrace(trace.on.id.clone()))
    }

    /// The user's tags on a resource of ours: what we wrote and is not wanted any more goes; what others
    /// wrote stays. What will be written is noted first.
    pub(super) fn converge_user_tags(
        &mut self,
        slot: &Slot,
        resource: &Arc<Resource>,
        owned: &Owned,
    ) -> Flow<()> {
        let target = owned.target();
        let Some(known) = self.ledger.known.get(target) else {
            return Ok(());
        };
        let noted = known.tags.clone();
        let wanted = || slot.user_tags.iter().cloned();
        let mut all = noted.clone();
        all.extend(wanted());
        if all != noted {
            let edit = Edit::Tagged {
                target: target.clone(),
                tags: all,
            };
            return act(
                Need::Write(vec![edit]),
                Reason::NoteParts(slot.name.clone()),
            );
        }
        let stale = |tag: &&(Text, Text)| !slot.user_tags.contains(tag);
        let stale: Vec<(Text, Text)> = noted.iter().filter(stale).cloned().collect();
        // One call for all that are there; a key that is wanted with another value is overwritten.
        let there: Vec<(Text, Text)> = stale
            .iter()
            .filter(|(key, value)| resource.tags.has(key, value))
            .filter(|(key, _)| {
                let overwritten = slot.user_tags.iter().any(|(wanted, _)| wanted == key);
                !overwritten || slot.kind.carrier.stands_beside()
            })
            .cloned()
            .collect();
        if !there.is_empty() {
            self.refresh(target)?;
            let step = Step::Unmark {
                targets: vec![target.clone()],
                tags: there,
                right: UnmarkRight::Trace,
            };
            return self.take(step, Reason::TraceUnwanted);
        }
        let sight = Sight::Untagged(target.clone());
        if stale.is_empty() {
            self.sightings.clear(&sight);
            return Ok(());
        }
        let over = |rules: &dyn Rules, since| rules.late_effects_over_at(slot.kind, since);
        if self.closable(sight, over, Reason::AwaitTrace(target.id.clone())) {
            let edit = Edit::Tagged {
                target: target.clone(),
                tags: wanted().collect(),
            };
            return act(Need::Write(vec![edit]), Reason::Settled);
        }
        Ok(())
    }
}
