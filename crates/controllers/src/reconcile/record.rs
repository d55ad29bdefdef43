//! The ledger as it stands in an annotation: short, readable, and read back exactly.
//!
//! Ids stand where the served API wants them; here are only those that it has no place for. What it
//! holds survives a backup, because it is metadata.

use std::collections::{BTreeMap, BTreeSet};

use api::names::LEDGER;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use ownership::input::InputError;
use ownership::ledger::{BeforeImage, Intent, Known, Origin, Part, Trace, TraceOf};
use ownership::part::Props;
use ownership::secret::{Digest, Digests};
use ownership::time::CloudTime;
use ownership::verdict::Held;
use ownership::{Claim, Holder, Kind, Ledger, Place, ResourceId, SlotName, Target};
use serde::{Deserialize, Serialize};

use super::guest::Host;
use super::pin::Pin;

/// Why an annotation is no ledger. The object is left alone until somebody has looked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RecordError {
    /// It is not what we write.
    #[error("is not what Freehold wrote ({0}): put it back as it was")]
    Unreadable(String),
    /// It names a Kind that this version does not know.
    #[error("names {0:?}, which this version does not know: run the version that wrote it")]
    Unknown(String),
}

impl From<RecordError> for InputError {
    fn from(error: RecordError) -> Self {
        Self::new(LEDGER, "(a record)", error)
    }
}

/// Whose a record is. What somebody copied into another object says nothing about that one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bond {
    /// The claim.
    pub(crate) claim: String,
    /// The management cluster that keeps it: what another one keeps is that one's to end.
    pub(crate) holder: String,
    /// How often the claim was taken over before it came there.
    pub(crate) generation: u32,
    /// The account and region that its resources are in: they do not move.
    pub(crate) place: String,
    /// Its other places by what the claim calls them: each stays what it is, too.
    pub(crate) places: BTreeMap<String, String>,
    /// The cluster that it is or belongs to, if that is called otherwise than the object.
    pub(crate) cluster: Option<String>,
    /// What it needs until it has ended.
    pub(crate) hosts: BTreeSet<Host>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Record {
    #[serde(skip_serializing_if = "String::is_empty")]
    claim: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    holder: String,
    #[serde(skip_serializing_if = "is_zero")]
    generation: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    place: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    places: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    hosts: BTreeSet<Host>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    ids: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    intents: BTreeMap<String, IntentRecord>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    attempts: BTreeMap<String, u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    known: Vec<KnownRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    traces: Vec<TraceRecord>,
    #[serde(alias = "removals", skip_serializing_if = "Vec::is_empty")]
    calls: Vec<CallRecord>,
    #[serde(skip_serializing_if = "is_zero")]
    announced: u32,
    #[serde(skip_serializing_if = "is_zero")]
    revision: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    yielded: Option<YieldedRecord>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands it a reference"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IntentRecord {
    kind: String,
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    attempt: u32,
    sends: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    props: BTreeMap<String, String>,
    /// Digests, by property: the values are nowhere.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    secrets: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<BeforeRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    adopts: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BeforeRecord {
    ids: Vec<String>,
    at: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownRecord {
    kind: String,
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    id: String,
    slot: String,
    origin: OriginRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unique: Option<String>,
    /// The keys of the parts that we put into it, by inner Kind; a record that has none of this is
    /// older than the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wrote: Option<BTreeMap<String, Vec<String>>>,
    /// The user's tags that we wrote to it, key and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    condemned: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct YieldedRecord {
    holder: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    generation: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallRecord {
    kind: String,
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    id: String,
    times: u32,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OriginRecord {
    Created,
    Adopted,
    Found,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TraceRecord {
    kind: String,
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    id: String,
    what: WhatRecord,
    times: u32,
    /// Whether it was another claim's when we marked it too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    joined: bool,
    /// Whether we took our mark off it, because another claim needs it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    left: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WhatRecord {
    Tag(String, String),
    Inner(String, String),
}

/// What the record of an object says that we made for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Made {
    /// The ids of what we made or adopted.
    pub(crate) ids: BTreeSet<String>,
    /// The slots that this fills, or that something is being made for.
    pub(crate) slots: BTreeSet<String>,
}

/// What the record says that we made for an object of this kind, which the served API's finalizer holds.
/// Nothing, if the record is another claim's, or nobody can read it.
pub(crate) fn made(meta: &ObjectMeta, claim_kind: &str, finalizer: &str) -> Made {
    let read = || {
        let text = meta.annotations.as_ref()?.get(LEDGER)?;
        let record: Record = serde_json::from_str(text).ok()?;
        // As everybody else knows the claim: somebody may have taken its annotation off.
        let pin = Pin::read(meta, finalizer).ok()?;
        let claim = pin.claim(claim_kind, meta).ok()?;
        (record.claim == claim.hash().as_str()).then_some(record)
    };
    let Some(record) = read() else {
        return Made::default();
    };
    let mut made = Made {
        ids: BTreeSet::new(),
        slots: record.intents.into_keys().collect(),
    };
    for known in record.known {
        if !matches!(known.origin, OriginRecord::Found) && !known.condemned {
            made.ids.insert(known.id);
            made.slots.insert(known.slot);
        }
    }
    made
}

/// The annotation's text.
pub(crate) fn encode(bond: &Bond, ledger: &Ledger) -> String {
    let record = Record {
        claim: bond.claim.clone(),
        holder: bond.holder.clone(),
        generation: bond.generation,
        place: bond.place.clone(),
        places: bond.places.clone(),
        cluster: bond.cluster.clone(),
        hosts: bond.hosts.clone(),
        ids: ledger
            .ids
            .iter()
            .map(|(slot, id)| (slot.to_string(), id.to_string()))
            .collect(),
        intents: ledger
            .intents
            .iter()
            .map(|(slot, intent)| (slot.to_string(), encode_intent(intent)))
            .collect(),
        attempts: ledger
            .attempts
            .iter()
            .map(|(slot, attempt)| (slot.to_string(), *attempt))
            .collect(),
        known: ledger
            .known
            .iter()
            .map(|(target, known)| KnownRecord {
                kind: target.kind.name.to_owned(),
                place: encode_place(&target.place),
                id: target.id.to_string(),
                slot: known.slot.to_string(),
                origin: match known.origin {
                    Origin::Created => OriginRecord::Created,
                    Origin::Adopted => OriginRecord::Adopted,
                    Origin::Found => OriginRecord::Found,
                },
                unique: known.unique.as_ref().map(ToString::to_string),
                wrote: known.wrote.as_ref().map(encode_parts),
                tags: known
                    .tags
                    .iter()
                    .map(|(key, value)| (key.to_string(), value.to_string()))
                    .collect(),
                condemned: ledger.condemned.contains(target),
            })
            .collect(),
        traces: all_traces(ledger)
            .into_iter()
            .map(|trace| encode_trace(trace, ledger))
            .collect(),
        calls: ledger
            .calls
            .iter()
            .map(|(target, times)| CallRecord {
                kind: target.kind.name.to_owned(),
                place: encode_place(&target.place),
                id: target.id.to_string(),
                times: *times,
            })
            .collect(),
        announced: ledger.announced,
        revision: ledger.revision,
        yielded: ledger.yielded.as_ref().map(|held| YieldedRecord {
            holder: held.holder.to_string(),
            generation: held.generation,
        }),
    };
    serde_json::to_string(&record).expect("texts and numbers under text keys")
}

/// Most claims have one place only, and records say nothing of it.
fn encode_place(place: &Place) -> Option<String> {
    place.name().map(str::to_owned)
}

fn encode_intent(intent: &Intent) -> IntentRecord {
    IntentRecord {
        kind: intent.kind.name.to_owned(),
        place: encode_place(&intent.place),
        attempt: intent.attempt,
        sends: intent.sends,
        name: intent.name.to_string(),
        props: intent
            .props
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.to_string()))
            .collect(),
        secrets: intent
            .secrets
            .iter()
            .map(|(name, digest)| ((*name).to_owned(), digest.to_string()))
            .collect(),
        before: intent.before.as_ref().map(|before| BeforeRecord {
            ids: before.ids.iter().map(ResourceId::to_string).collect(),
            at: before.at.0,
        }),
        adopts: intent.adopts.as_ref().map(ResourceId::to_string),
        operation: intent.operation.as_ref().map(ToString::to_string),
    }
}

fn encode_parts(parts: &BTreeSet<Part>) -> BTreeMap<String, Vec<String>> {
    let mut by_kind: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (inner, key) in parts {
        let keys = by_kind.entry((*inner).to_owned()).or_default();
        keys.push(key.to_string());
    }
    by_kind
}

/// A part that was found by its mark alone can be joined or left without having been announced.
fn all_traces(ledger: &Ledger) -> BTreeSet<&Trace> {
    let traces = ledger.traces.keys();
    traces.chain(&ledger.joined).chain(&ledger.left).collect()
}

fn encode_trace(trace: &Trace, ledger: &Ledger) -> TraceRecord {
    TraceRecord {
        kind: trace.on.kind.name.to_owned(),
        place: encode_place(&trace.on.place),
        id: trace.on.id.to_string(),
        what: match &trace.what {
            TraceOf::Tag { key, value } => WhatRecord::Tag(key.to_string(), value.to_string()),
            TraceOf::Inner { inner, key } => {
                WhatRecord::Inner((*inner).to_owned(), key.to_string())
            }
        },
        times: ledger.traces.get(trace).copied().unwrap_or(0),
        joined: ledger.joined.contains(trace),
        left: ledger.left.contains(trace),
    }
}

/// What an object needs until it has ended, as its record says; `None`, if there is none or nobody can
/// read it: then nobody knows.
pub(crate) fn hosts(meta: &ObjectMeta) -> Option<BTreeSet<Host>> {
    #[derive(Deserialize)]
    struct Needs {
        #[serde(default)]
        hosts: BTreeSet<Host>,
    }
    let annotations = meta.annotations.as_ref();
    let text = annotations.and_then(|all| all.get(LEDGER))?;
    let needs: Needs = serde_json::from_str(text).ok()?;
    Some(needs.hosts)
}

/// The names of the hosts of a kind that an object's record knows.
pub(crate) fn hosts_of(meta: &ObjectMeta, kind: &str) -> Vec<String> {
    let hosts = hosts(meta).unwrap_or_default().into_iter();
    let of_kind = hosts.filter(|host| host.kind == kind);
    of_kind.map(|host| host.name).collect()
}

/// What an object remembers of a claim. A record of another claim says nothing about it.
pub(crate) fn of(
    meta: &ObjectMeta,
    claim: &Claim,
    kinds: &[&'static Kind],
) -> Result<(Bond, Ledger), RecordError> {
    let annotations = meta.annotations.as_ref();
    let Some(text) = annotations.and_then(|all| all.get(LEDGER)) else {
        return Ok(Default::default());
    };
    let (bond, ledger) = decode(text, kinds)?;
    if bond.claim != claim.hash().as_str() {
        return Ok(Default::default());
    }
    Ok((bond, ledger))
}

/// Reads the annotation's text; everything but the pin, and ids that stand elsewhere.
pub(crate) fn decode(text: &str, kinds: &[&'static Kind]) -> Result<(Bond, Ledger), RecordError> {
    let record: Record =
        serde_json::from_str(text).map_err(|error| RecordError::Unreadable(error.to_string()))?;
    let bond = Bond {
        claim: record.claim,
        holder: record.holder,
        generation: record.generation,
        place: record.place,
        places: record.places,
        cluster: record.cluster,
        hosts: record.hosts,
    };
    let kinds = Kinds(kinds);
    let mut ledger = Ledger::default();
    for (slot, id) in record.ids {
        ledger.ids.insert(slot_name(&slot)?, ResourceId::new(id));
    }
    for (slot, intent) in record.intents {
        ledger
            .intents
            .insert(slot_name(&slot)?, kinds.intent(intent)?);
    }
    for (slot, attempt) in record.attempts {
        ledger.attempts.insert(slot_name(&slot)?, attempt);
    }
    for known in record.known {
        let target = kinds.target(&known.kind, known.place, known.id)?;
        if known.condemned {
            ledger.condemned.insert(target.clone());
        }
        let origin = match known.origin {
            OriginRecord::Created => Origin::Created,
            OriginRecord::Adopted => Origin::Adopted,
            OriginRecord::Found => Origin::Found,
        };
        let known = Known {
            slot: slot_name(&known.slot)?,
            origin,
            unique: known.unique.map(Into::into),
            wrote: match known.wrote {
                Some(parts) => Some(parts_of(target.kind, parts)?),
                None => None,
            },
            tags: known
                .tags
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        };
        ledger.known.insert(target, known);
    }
    if let Some(held) = record.yielded {
        let holder = Holder::parse(&held.holder);
        ledger.yielded = Some(Held {
            holder: holder.map_err(|error| RecordError::Unreadable(error.to_string()))?,
            generation: held.generation,
        });
    }
    for call in record.calls {
        let target = kinds.target(&call.kind, call.place, call.id)?;
        ledger.calls.insert(target, call.times);
    }
    for trace in record.traces {
        let on = kinds.target(&trace.kind, trace.place, trace.id)?;
        let what = match trace.what {
            WhatRecord::Tag(key, value) => TraceOf::Tag {
                key: key.into(),
                value: value.into(),
            },
            WhatRecord::Inner(inner, key) => TraceOf::Inner {
                inner: inner_of(on.kind, &inner)?,
                key: key.into(),
            },
        };
        let recorded = Trace { on, what };
        if trace.joined {
            ledger.joined.insert(recorded.clone());
        }
        if trace.left {
            ledger.left.insert(recorded.clone());
        }
        if trace.times > 0 {
            ledger.traces.insert(recorded, trace.times);
        }
    }
    let numbers = ledger.calls.values().chain(ledger.traces.values());
    let last = numbers.max().copied().unwrap_or_default();
    ledger.announced = record.announced.max(last);
    ledger.revision = record.revision;
    Ok((bond, ledger))
}

fn slot_name(text: &str) -> Result<SlotName, RecordError> {
    SlotName::new(text).map_err(|error| RecordError::Unreadable(error.to_string()))
}

/// The Kinds by name: the engine's own names are static.
struct Kinds<'a>(&'a [&'static Kind]);

impl Kinds<'_> {
    fn kind(&self, name: &str) -> Result<&'static Kind, RecordError> {
        let found = self.0.iter().find(|kind| kind.name == name);
        found
            .copied()
            .ok_or_else(|| RecordError::Unknown(name.to_owned()))
    }

    fn target(&self, kind: &str, place: Option<String>, id: String) -> Result<Target, RecordError> {
        let kind = self.kind(kind)?;
        Ok(Target::at(&place_of(place)?, kind, ResourceId::new(id)))
    }

    fn intent(&self, record: IntentRecord) -> Result<Intent, RecordError> {
        let kind = self.kind(&record.kind)?;
        let mut props = Props::new();
        for (name, value) in record.props {
            let rule = kind.props.iter().find(|rule| rule.name == name);
            let rule = rule.ok_or(RecordError::Unknown(name))?;
            props.set(rule.name, value.into());
        }
        let mut secrets = Digests::new();
        for (name, digest) in record.secrets {
            let rule = kind.props.iter().find(|rule| rule.name == name);
            let rule = rule.ok_or(RecordError::Unknown(name))?;
            let parsed = Digest::parse(&digest);
            let not_one = || RecordError::Unreadable(format!("{} has no digest", rule.name));
            secrets.insert(rule.name, parsed.ok_or_else(not_one)?);
        }
        Ok(Intent {
            kind,
            place: place_of(record.place)?,
            attempt: record.attempt,
            sends: record.sends,
            name: record.name.into(),
            props,
            secrets,
            before: record.before.map(|before| BeforeImage {
                ids: before.ids.into_iter().map(ResourceId::new).collect(),
                at: CloudTime(before.at),
            }),
            adopts: record.adopts.map(ResourceId::new),
            operation: record.operation.map(Into::into),
        })
    }
}

fn place_of(name: Option<String>) -> Result<Place, RecordError> {
    let unreadable = |error: InputError| RecordError::Unreadable(error.to_string());
    name.map_or(Ok(Place::HOME), |name| {
        Place::named(&name).map_err(unreadable)
    })
}

fn inner_of(kind: &Kind, inner: &str) -> Result<&'static str, RecordError> {
    let found = kind.inner(inner);
    found
        .map(|inner| inner.name)
        .ok_or_else(|| RecordError::Unknown(inner.to_owned()))
}

fn parts_of(
    kind: &Kind,
    record: BTreeMap<String, Vec<String>>,
) -> Result<BTreeSet<Part>, RecordError> {
    let mut parts = BTreeSet::new();
    for (inner, keys) in record {
        let inner = inner_of(kind, &inner)?;
        parts.extend(keys.into_iter().map(|key| (inner, key.into())));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use cloud_port::aws;
    use proptest::prelude::*;

    use super::*;

    fn ids() -> impl Strategy<Value = String> {
        prop_oneof!["sg-[0-9a-f]{1,17}", "[a-zA-Z0-9+=,.@_-]{1,64}", ".{1,20}"]
    }

    fn place() -> impl Strategy<Value = Place> {
        prop::option::of("[a-z][a-z0-9-]{0,20}")
            .prop_map(|name| place_of(name).expect("a legal name of a place"))
    }

    prop_compose! {
        fn target()(kind in 0..aws::KINDS.len(), place in place(), id in ids()) -> Target {
            Target::at(&place, aws::KINDS[kind], ResourceId::new(id))
        }
    }

    prop_compose! {
        fn intent()(
            kind in 0..aws::KINDS.len(), attempt: u32, sends: u32, name in ".{0,20}",
            values in prop::collection::vec(".{0,30}", 0..4),
            digests in prop::collection::vec("[0-9a-f]{32}", 0..3), adopts in prop::option::of(ids()),
            operation in prop::option::of(".{0,30}"),
            before in prop::option::of((prop::collection::btree_set(ids(), 0..3), any::<u64>())),
            place in place(),
        ) -> Intent {
            let kind = aws::KINDS[kind];
            let props = kind.props.iter().zip(values).map(|(rule, value)| (rule.name, value.into()));
            let digests = digests.iter().map(|text| Digest::parse(text).expect("a digest"));
            let secrets = kind.props.iter().map(|rule| rule.name).zip(digests);
            Intent {
                kind,
                place,
                attempt,
                sends,
                name: name.into(),
                props: props.collect(),
                secrets: secrets.collect(),
                before: before.map(|(ids, at)| BeforeImage {
                    ids: ids.into_iter().map(ResourceId::new).collect(),
                    at: CloudTime(at),
                }),
                adopts: adopts.map(ResourceId::new),
                operation: operation.map(Into::into),
            }
        }
    }

    fn slot() -> impl Strategy<Value = SlotName> {
        "[a-z][a-z0-9-]{0,20}".prop_map(|name| SlotName::new(&name).expect("a legal slot name"))
    }

    fn what(kind: &'static Kind) -> impl Strategy<Value = TraceOf> {
        let inner = kind.inner.first();
        (any::<bool>(), ".{0,40}", ".{0,10}").prop_map(move |(tag, key, value)| match inner {
            Some(inner) if !tag => TraceOf::Inner {
                inner: inner.name,
                key: key.into(),
            },
            _ => TraceOf::Tag {
                key: key.into(),
                value: value.into(),
            },
        })
    }

    fn trace() -> impl Strategy<Value = Trace> {
        target().prop_flat_map(|on| {
            what(on.kind).prop_map(move |what| Trace {
                on: on.clone(),
                what,
            })
        })
    }

    prop_compose! {
        fn ledger()(
            ids in prop::collection::btree_map(slot(), ids().prop_map(ResourceId::new), 0..3),
            intents in prop::collection::btree_map(slot(), intent(), 0..3),
            attempts in prop::collection::btree_map(slot(), any::<u32>(), 0..3),
            known in prop::collection::btree_map(target(), (slot(), 0..3_u8, any::<bool>()), 0..4),
            traces in prop::collection::btree_map(trace(), 1..u32::MAX, 0..4),
            joined in prop::collection::btree_set(trace(), 0..3),
            left in prop::collection::btree_set(trace(), 0..3),
            calls in prop::collection::btree_map(target(), any::<u32>(), 0..3),
            unique in prop::option::of("[A-Z0-9]{4,20}"), revision: u32,
            tags in prop::collection::btree_set((".{0,9}", ".{0,9}"), 0..3),
            wrote in prop::option::of(prop::collection::btree_set(".{0,40}", 0..3)),
        ) -> Ledger {
            let mut ledger = Ledger {
                ids, intents, attempts, traces, joined, left, calls, revision, ..Ledger::default()
            };
            let numbers = ledger.calls.values().chain(ledger.traces.values());
            ledger.announced = numbers.max().copied().unwrap_or_default();
            for (target, (slot, origin, condemned)) in known {
                if condemned {
                    ledger.condemned.insert(target.clone());
                }
                let origin = [Origin::Created, Origin::Adopted, Origin::Found][usize::from(origin)];
                let parts = |inner: &'static str| {
                    let keys = wrote.iter().flatten();
                    keys.map(|key| (inner, key.as_str().into())).collect()
                };
                let wrote = target.kind.inner.first().map(|inner| parts(inner.name));
                let unique = unique.clone().map(Into::into);
                let text = |(key, value): &(String, String)| (key.as_str().into(), value.as_str().into());
                let tags = tags.iter().map(text).collect();
                ledger.known.insert(target, Known { slot, origin, unique, wrote, tags });
            }
            ledger
        }
    }

    proptest! {
        #[test]
        fn a_ledger_is_read_back_as_it_was(
            ledger in ledger(), claim in ".{0,20}", holder in ".{0,10}", generation: u32,
            place in ".{0,30}", elsewhere: Option<String>, cluster: Option<String>, host in ".{0,20}",
        ) {
            let host = Host { kind: host.clone(), namespace: cluster.clone(), name: host };
            let hosts = BTreeSet::from([host]);
            let places = elsewhere.map(|what| ("there".to_owned(), what)).into_iter().collect();
            let bond = Bond { claim, holder, generation, place, places, cluster, hosts };
            let read = decode(&encode(&bond, &ledger), &aws::KINDS).unwrap();
            prop_assert_eq!(read, (bond, ledger));
        }

        #[test]
        fn no_text_makes_us_panic(text in ".{0,200}") {
            let _ = decode(&text, &aws::KINDS);
        }
    }

    #[test]
    fn what_this_version_does_not_know_is_said() {
        let text = r#"{"known":[{"kind":"moon/crater","id":"x","slot":"s","origin":"created"}]}"#;
        assert_eq!(
            InputError::from(decode(text, &aws::KINDS).unwrap_err()).to_string(),
            r#"freehold.dev/ledger: "(a record)" names "moon/crater", which this version does not know: run the version that wrote it"#
        );
        assert!(decode(r#"{"future":1}"#, &aws::KINDS).is_err());
    }

    #[test]
    fn an_intent_without_secrets_is_read_and_one_without_digests_is_not() {
        let record = |secrets: &str| {
            let intent =
                r#"{"kind":"aws/vpc","attempt":1,"sends":1,"props":{"cidr":"10.0.0.0/16"}"#;
            format!(r#"{{"intents":{{"vpc":{intent}{secrets}}}}}}}"#)
        };
        let (_, ledger) = decode(&record(""), &aws::KINDS).unwrap();
        let slot = SlotName::new("vpc").unwrap();
        assert_eq!(ledger.intents[&slot].secrets, Digests::new());
        let plain = record(r#","secrets":{"cidr":"canary"}"#);
        let error = decode(&plain, &aws::KINDS).unwrap_err().to_string();
        assert!(error.contains("cidr has no digest"), "{error}");
        assert!(!error.contains("canary"), "{error}");
    }
}
