//! Slots that are only looked up: what is somebody's is found by properties and tags, and never chosen
//! among several.

use std::sync::Arc;

use super::{Deciding, Flow};
use crate::blueprint::{Expr, Fills, Slot, Source, resolve_props};
use crate::finding::{Finding, Reason};
use crate::ledger::Origin;
use crate::mark::Carrier;
use crate::part::Resource;
use crate::query::Query;
use crate::text::{ResourceId, Text};

/// What a slot that is only looked up leads to.
pub(super) enum Existing {
    /// These.
    There(Vec<Arc<Resource>>),
    /// None, or several where one is wanted: somebody must correct something.
    Refused(Finding),
    /// It depends on a slot that is not filled yet.
    Unknown,
}

impl Deciding<'_> {
    /// What a slot that is only looked up leads to: the recorded id, else whatever has the wanted
    /// properties and tags.
    pub(super) fn existing(&mut self, slot: &Slot, fills: &impl Fills) -> Flow<Existing> {
        if let Some(id) = self.recorded_to_use(slot) {
            let target = slot.target(id.clone());
            match self.see(&target, || Reason::CheckRecorded(slot.name.clone()))? {
                Some((resource, _)) => return Ok(Existing::There(vec![resource])),
                None if !self.ledger.known.contains_key(&target) => {
                    return Ok(Existing::Refused(Finding::missing(slot, &id)));
                }
                None => {}
            }
        }
        let Some(mut found) = self.matches(slot, fills)? else {
            return Ok(Existing::Unknown);
        };
        if found.is_empty() {
            return Ok(Existing::Refused(Finding::NoneToUse {
                slot: slot.name.clone(),
                field: slot.field.clone(),
                what: describe(slot),
            }));
        }
        if self.is_one_of_several(slot, found.len()) {
            let target = |resource: Arc<Resource>| resource.target();
            return Ok(Existing::Refused(Finding::SeveralToUse {
                slot: slot.name.clone(),
                field: slot.field.clone(),
                what: describe(slot),
                found: found.into_iter().map(target).collect(),
            }));
        }
        if wants_one(slot) {
            found.truncate(1);
        }
        Ok(Existing::There(found))
    }

    /// The recorded id, unless it is of what we made for this slot when it was ours to fill: that is not
    /// what is to be used, and is ended when something else is (law 6).
    fn recorded_to_use(&self, slot: &Slot) -> Option<ResourceId> {
        let id = self.ledger.ids.get(&slot.name)?;
        let known = self.ledger.known.get(&slot.target(id.clone()));
        known
            .is_none_or(|known| known.origin == Origin::Found)
            .then(|| id.clone())
    }

    /// What has the properties and tags that a slot is found by; `None` if it is not known yet what
    /// they are.
    pub(super) fn matches(
        &mut self,
        slot: &Slot,
        fills: &impl Fills,
    ) -> Flow<Option<Vec<Arc<Resource>>>> {
        let Source::Find { by, tags, .. } = &slot.source else {
            return Ok(None);
        };
        let value = |(key, expr): &(Text, Expr)| Some((key.clone(), expr.resolve(fills)?));
        let tags: Option<Vec<(Text, Text)>> = tags.iter().map(value).collect();
        let (Some(props), Some(tags)) = (resolve_props(by, fills), tags) else {
            return Ok(None);
        };
        // What is known by tags alone is asked for by them: the others need not be listed.
        let query = if by.is_empty() && slot.label.is_empty() && !tags.is_empty() {
            let keys = tags.iter().map(|(key, _)| key.clone()).collect();
            Query::Marks {
                kind: slot.kind,
                place: slot.place.clone(),
                keys,
            }
        } else {
            Query::Match {
                kind: slot.kind,
                place: slot.place.clone(),
                name: slot.label.clone(),
                props,
            }
        };
        let why = || Reason::FindExisting(slot.name.clone());
        let look = self.look(query, why)?;
        let mut found = Vec::with_capacity(look.found.len());
        for target in &look.found {
            let seen = self.see(target, why)?;
            let resource = seen.map(|(resource, _)| resource);
            found.extend(resource.filter(|it| carries(slot.kind.carrier, it, &tags)));
        }
        Ok(Some(found))
    }

    /// Whether one is wanted and there are several: none of them is chosen.
    pub(super) fn is_one_of_several(&self, slot: &Slot, found: usize) -> bool {
        found > 1 && wants_one(slot) && self.rules.refuses_to_choose()
    }
}

fn wants_one(slot: &Slot) -> bool {
    matches!(slot.source, Source::Find { all: false, .. })
}

/// Whether a resource has all these tags, as its carrier tells keys apart.
fn carries(carrier: Carrier, resource: &Resource, tags: &[(Text, Text)]) -> bool {
    tags.iter().all(|(key, value)| {
        let key = carrier.fold_key(key);
        let mut held = resource.tags.iter();
        held.any(|(k, v)| carrier.fold_key(k) == key && v == value)
    })
}

/// What a slot is found by, in words: "VPC with default true and tag team blue".
fn describe(slot: &Slot) -> Text {
    let Source::Find { by, tags, .. } = &slot.source else {
        return slot.kind.noun.into();
    };
    let one = |name: &str, expr: &Expr| match expr {
        Expr::Slot(slot) => format!("{name} of slot {slot}"),
        other => format!("{name} {other}"),
    };
    let by = by.iter().map(|(name, expr)| one(name, expr));
    let tags = tags
        .iter()
        .map(|(key, expr)| one(&format!("tag {key}"), expr));
    let name = (!slot.label.is_empty()).then(|| format!("name {}", slot.label));
    let all: Vec<String> = name.into_iter().chain(by).chain(tags).collect();
    format!("{} with {}", slot.kind.noun, all.join(" and ")).into()
}
