//! Traces: what we add to resources that are not ours, and take away again (law 7).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Deciding, Flow, Need, act};
use crate::blueprint::Slot;
use crate::finding::{Finding, Reason};
use crate::kind::{Kind, Marking};
use crate::ledger::{Edit, Origin, Trace, TraceOf};
use crate::part::Resource;
use crate::place::KindAt;
use crate::query::{Query, Target};
use crate::sight::Sight;
use crate::step::{MarkRight, Step, UnmarkRight};
use crate::text::Text;
use crate::verdict::{Owner, ReadStamp, Verdict};

impl<'a> Deciding<'a> {
    /// Adds the cluster mark and the user's tags to resources that are not ours. A key that is
    /// there already is left as it is.
    pub(super) fn trace_tags(&mut self, slot: &Slot, resources: &[Arc<Resource>]) -> Flow<()> {
        if slot.kind.marking != Marking::Mutable {
            return Ok(());
        }
        let Some(wanted) = self.used_tags(slot) else {
            return Ok(());
        };
        let mut missing: Vec<(Target, Vec<(Text, Text)>)> = Vec::new();
        for resource in resources {
            let any_value =
                self.rules.respects_existing_tags() && !slot.kind.carrier.stands_beside();
            let there = |key: &str, value: &str| {
                resource.tags.has(key, value) || (any_value && resource.tags.get(key).is_some())
            };
            let tags: Vec<_> = wanted
                .iter()
                .filter(|(k, v)| !there(k, v))
                .cloned()
                .collect();
            let target = resource.target();
            if resource.tags.len() + tags.len() > slot.kind.carrier.capacity() {
                self.findings.push(Finding::TagsFull {
                    slot: slot.name.clone(),
                    target,
                });
            } else if !tags.is_empty() {
                missing.push((target, tags));
            }
        }
        let traces: Vec<Trace> = missing
            .iter()
            .flat_map(|(on, tags)| tags.iter().map(|tag| tag_trace(on, tag)))
            .collect();
        let ready = self.announced(slot, &traces)?;
        // Each may be announced anew at another time: one that must wait does not hold up the others.
        for (on, tags) in &mut missing {
            tags.retain(|tag| ready.contains(&tag_trace(on, tag)));
        }
        missing.retain(|(_, tags)| !tags.is_empty());
        let Some((_, tags)) = missing.first().cloned() else {
            return Ok(());
        };
        let targets: Vec<Target> = missing
            .into_iter()
            .filter(|(_, t)| *t == tags)
            .map(|(target, _)| target)
            .collect();
        for target in &targets {
            self.refresh(target)?;
        }
        let step = Step::Mark {
            targets,
            tags,
            right: MarkRight::Trace,
        };
        act(Need::Do(step), Reason::MarkUsed(slot.name.clone()))
    }

    /// The tags for resources that a slot only uses.
    fn used_tags(&mut self, slot: &Slot) -> Option<Vec<(Text, Text)>> {
        let mut tags = slot.user_tags.clone();
        if slot.cluster_mark {
            match self.case.identity.dialect.cluster_on(slot.kind) {
                Ok(cluster) => tags.extend(cluster.iter().cloned()),
                Err(error) => {
                    let (slot, rule) = (slot.name.clone(), error.to_string());
                    self.findings.push(Finding::Unmarkable { slot, rule });
                }
            }
        }
        (!tags.is_empty()).then_some(tags)
    }

    /// Makes sure that traces are in the ledger before they are in the cloud, once for every call.
    /// Returns those that may be sent; others wait until an earlier call cannot take effect.
    pub(super) fn announced(&mut self, slot: &Slot, traces: &[Trace]) -> Flow<Vec<Trace>> {
        if !self.rules.announces_traces() {
            return Ok(traces.to_vec());
        }
        let (mut ready, mut new) = (Vec::new(), Vec::new());
        for trace in traces {
            if self.just_now(self.view.traced(trace)) {
                ready.push(trace.clone());
            } else if !self.ledger.traces.contains_key(trace)
                || self.trace_is_over(slot.kind, trace)
            {
                new.push(Edit::Trace(trace.clone()));
            }
        }
        if !new.is_empty() {
            return act(Need::Write(new), Reason::AnnounceTraces(slot.name.clone()));
        }
        Ok(ready)
    }

    /// Whether a call that was to leave this trace cannot take effect any more.
    fn trace_is_over(&mut self, kind: &Kind, trace: &Trace) -> bool {
        let announcements = self.ledger.traces.get(trace).copied().unwrap_or(0);
        self.settled(
            Sight::Trace(trace.clone(), announcements),
            |rules, since| rules.late_effects_over_at(kind, since),
            Reason::AwaitTrace(trace.on.id.clone()),
        )
    }

    /// Takes away what we added to resources that are not ours: exactly that, and only what the
    /// ledger remembers, or what carries our own mark.
    pub(super) fn erase_traces(&mut self) -> Flow<()> {
        self.erase_marked_inner()?;
        // A record that was set back may know of a part only that we joined or left it.
        let ledger = self.ledger;
        let traces = ledger.traces.keys();
        let traces: BTreeSet<&Trace> = traces.chain(&ledger.joined).chain(&ledger.left).collect();
        let traces: Vec<Trace> = traces.into_iter().cloned().collect();
        // All are looked at first: one call takes a tag off several resources.
        for trace in &traces {
            self.see(&trace.on, || Reason::EraseTraces)?;
        }
        let mut erased = Vec::new();
        for trace in traces {
            let kind = trace.on.kind;
            let Some((resource, _)) = self.see(&trace.on, || Reason::EraseTraces)? else {
                if self.gone_for_good(kind, &trace.on) {
                    erased.push(Edit::Erase(trace));
                }
                continue;
            };
            if self.keeps_trace(kind, &trace) || self.view.erased(&trace) {
                erased.push(Edit::Erase(trace));
                continue;
            }
            let gone = match self.erase(kind, &trace, &resource, &[])? {
                Some(gone) => gone,
                None => self.trace_is_over(kind, &trace),
            };
            if gone {
                erased.push(Edit::Erase(trace));
            }
        }
        if erased.is_empty() {
            return Ok(());
        }
        act(Need::Write(erased), Reason::EraseTraces)
    }

    /// Removes one trace if it is there. Says whether it is ours no more; `None` if only time tells: a
    /// part that is there and not ours was never left by us.
    pub(super) fn erase(
        &mut self,
        kind: &'static Kind,
        trace: &Trace,
        resource: &Resource,
        wanted: &[Text],
    ) -> Flow<Option<bool>> {
        match &trace.what {
            // What is there and may not go yet is not forgotten.
            TraceOf::Tag { key, value } if !self.may_unmark_part(kind, &trace.on, key)? => {
                Ok(resource.tags.has(key, value).then_some(false))
            }
            TraceOf::Tag { key, value } => {
                let any_value = !self.rules.removes_only_traces();
                let has = resource.tags.has(key, value);
                let there = has || (any_value && resource.tags.get(key).is_some());
                if there {
                    // Others may stand beside it.
                    let other = resource.tags.get(key).filter(|_| !has);
                    let value = other.unwrap_or(value).clone();
                    let targets = self.alike(kind, trace, key, &value)?;
                    for target in &targets {
                        self.refresh(target)?;
                    }
                    let tags = vec![(key.clone(), value)];
                    let step = Step::Unmark {
                        targets,
                        tags,
                        right: UnmarkRight::Trace,
                    };
                    self.take(step, Reason::EraseTraces)?;
                    return Ok(Some(false));
                }
                Ok(None)
            }
            TraceOf::Inner { inner, key } => {
                let Some(inner) = kind.inner(inner) else {
                    return Ok(Some(true));
                };
                self.remove_ours(kind, &trace.on, resource, inner, wanted)?;
                let parts = &self.inside(&trace.on, inner)?.parts;
                match parts.iter().find(|part| part.key == *key) {
                    Some(part) if self.ledger.left.contains(trace) => Ok(Some(
                        self.is_left_to_others(kind, trace, resource, inner, part),
                    )),
                    _ => Ok(None),
                }
            }
        }
    }

    /// The resources that this very tag is to be taken off: the trace's own first, and others of its
    /// Kind that the same call can serve.
    fn alike(
        &mut self,
        kind: &'static Kind,
        trace: &Trace,
        key: &Text,
        value: &Text,
    ) -> Flow<Vec<Target>> {
        let mut targets = vec![trace.on.clone()];
        if !kind.tags_together {
            return Ok(targets);
        }
        let others = self.ledger.traces.keys();
        let others = others.filter(|other| other.what == trace.what && other.on != trace.on);
        for other in others.filter(|other| trace.on.is_beside(&other.on)) {
            let there = self.view.seen(&other.on).is_some_and(|seen| {
                let resource = seen.resource.as_ref();
                resource.is_some_and(|resource| resource.tags.has(key, value))
            });
            if there
                && !self.view.erased(other)
                && !self.keeps_trace(kind, other)
                && self.may_unmark_part(kind, &other.on, key)?
            {
                targets.push(other.on.clone());
            }
        }
        Ok(targets)
    }

    /// Takes the cluster mark off everything that carries it in our words and is nobody's, where the
    /// served API says that it is the claim's, whoever wrote it (decision 7).
    pub(super) fn sweep(&mut self) -> Flow<()> {
        if !self.case.evidence.sweep || self.has_namesake() {
            return Ok(());
        }
        let slots = self.case.blueprint.slots();
        let mut kinds: Vec<KindAt> = Vec::new();
        for slot in slots.iter().filter(|slot| slot.cluster_mark) {
            let at = slot.kind_at();
            if !kinds.contains(&at) {
                kinds.push(at);
            }
        }
        let mut carriers = Vec::new();
        for at in kinds {
            let kind = at.kind;
            let Ok(mark) = self.case.identity.dialect.cluster_on(kind) else {
                continue;
            };
            let tags: Vec<(Text, Text)> = mark.iter().cloned().collect();
            let targets = self.carriers(&at, &tags)?;
            // Those that the look-up showed may be another claim's, too.
            if self.has_namesake() {
                return Ok(());
            }
            if !targets.is_empty() {
                carriers.push((kind, tags, targets));
            }
        }
        // One call serves several Kinds, where it serves several resources at all.
        let mut together: Option<Step> = None;
        for (kind, tags, targets) in carriers {
            for target in &targets {
                self.refresh(target)?;
            }
            match &mut together {
                Some(Step::Unmark { targets: all, .. })
                    if kind.tags_together && all[0].place == targets[0].place =>
                {
                    all.extend(targets);
                }
                _ => {
                    let right = UnmarkRight::Trace;
                    let step = Step::Unmark {
                        targets,
                        tags,
                        right,
                    };
                    // What lies elsewhere is another call's.
                    if !kind.tags_together || together.is_some() {
                        return self.take(step, Reason::Sweep);
                    }
                    together = Some(step);
                }
            }
        }
        match together {
            Some(step) => self.take(step, Reason::Sweep),
            None => Ok(()),
        }
    }

    /// Everything of a Kind that carries the cluster mark in our words, and is nobody's.
    fn carriers(&mut self, at: &KindAt, mark: &[(Text, Text)]) -> Flow<Vec<Target>> {
        let KindAt { kind, place } = at;
        let mut targets = Vec::new();
        for (key, value) in mark {
            // What can be ours was looked for by all marks at once.
            let query = if self.case.kinds.contains(at) {
                self.end_query(kind, place)
            } else {
                Query::Marks {
                    kind,
                    place: place.clone(),
                    keys: vec![key.clone()],
                }
            };
            for target in &self.look(query, || Reason::Sweep)?.found {
                let Some(seen) = self.view.seen(target) else {
                    continue;
                };
                let Some(resource) = &seen.resource else {
                    continue;
                };
                let verdict = self.judge(kind, resource, seen.read);
                if matches!(verdict, Verdict::Unmarked | Verdict::Used)
                    && resource.tags.has(key, value)
                    && !self.case.evidence.namesakes_use.contains(&target.id)
                    && !targets.contains(target)
                {
                    targets.push(target.clone());
                }
            }
        }
        Ok(targets)
    }

    /// Whether another claim owns something in the name of our cluster, of whatever Kind: then a
    /// cluster of the same name lives, and the cluster marks may be its own (law 7).
    fn has_namesake(&self) -> bool {
        if !self.rules.spares_namesakes() {
            return false;
        }
        let dialect = &self.case.identity.dialect;
        self.view.resources().any(|resource| {
            let kind = resource.kind;
            let in_our_name = dialect.ownership(kind.carrier, None).unwrap_or_default();
            let named = in_our_name
                .iter()
                .any(|(key, value)| resource.tags.has(key, value));
            let read = ReadStamp {
                at: self.now,
                fresh: false,
            };
            named
                && matches!(
                    self.judge(kind, resource, read),
                    Verdict::Foreign(Owner::Claim(_))
                )
        })
    }

    /// A cluster mark stays while another live claim of that name uses the resource.
    pub(super) fn keeps_trace(&self, kind: &Kind, trace: &Trace) -> bool {
        let TraceOf::Tag { key, value } = &trace.what else {
            return false;
        };
        let cluster = self.case.identity.dialect.cluster_on(kind);
        cluster.is_ok_and(|mark| mark.has(key, value))
            && (self.case.evidence.namesakes_use.contains(&trace.on.id) || self.has_namesake())
    }

    /// Our parts inside used resources are found by their marks too: the memory may be lost (law 5).
    fn erase_marked_inner(&mut self) -> Flow<()> {
        for (slot, target, resource) in self.used_with_parts()? {
            for inner in slot.kind.inner {
                if slot.inner.iter().any(|wish| wish.kind == inner.name) {
                    self.remove_ours(slot.kind, &target, &resource, inner, &[])?;
                }
            }
            self.unmark_parts(slot.kind, &target, &resource)?;
        }
        Ok(())
    }

    /// The recorded resources that are not ours and that slots wish for parts in.
    pub(super) fn used_with_parts(&mut self) -> Flow<Vec<(&'a Slot, Target, Arc<Resource>)>> {
        let mut used = Vec::new();
        let slots = self.case.blueprint.slots().iter();
        for slot in slots.filter(|slot| !slot.inner.is_empty()) {
            let Some(id) = self.ledger.ids.get(&slot.name).cloned() else {
                continue;
            };
            let target = slot.target(id);
            let seen = self.see(&target, || Reason::CheckRecorded(slot.name.clone()))?;
            let Some((resource, read)) = seen else {
                continue;
            };
            // What we made is deleted, given back or released, and so is what is inside it.
            let known = self.ledger.known.get(&target);
            if known.is_some_and(|known| known.origin != Origin::Found)
                || matches!(self.judge(slot.kind, &resource, read), Verdict::Owned(_))
            {
                continue;
            }
            used.push((slot, target, resource));
        }
        Ok(used)
    }
}

fn tag_trace(on: &Target, (key, value): &(Text, Text)) -> Trace {
    Trace {
        on: on.clone(),
        what: TraceOf::Tag {
            key: key.clone(),
            value: value.clone(),
        },
    }
}
