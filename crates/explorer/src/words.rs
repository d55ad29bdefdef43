//! A run in words, for the person who replays it.

use cloud_port::{Effect, words};
use cloud_sim::{Deed, Harm};
use ownership::error::Class;
use ownership::ledger::Edit;
use ownership::life::Life;
use ownership::part::Resource;
use ownership::{Answer, CloudError, Query, Step};

/// What was asked.
pub(crate) fn query(query: &Query) -> String {
    match query {
        Query::Id(target) => format!("read {target}"),
        Query::Name {
            kind, name, within, ..
        } => match within {
            Some((prop, id)) => format!("look for {kind} named {name} in the {prop} {id}"),
            None => format!("look for {kind} named {name}"),
        },
        Query::Marks { kind, .. } => format!("look for {kind} by marks"),
        Query::Match {
            kind, name, props, ..
        } => {
            let name = (!name.is_empty()).then(|| format!("name={name}"));
            let props = props.iter().map(|(prop, value)| format!("{prop}={value}"));
            let all: Vec<String> = name.into_iter().chain(props).collect();
            format!("look for {kind} with {}", list(&all))
        }
        Query::Operation { name, .. } => format!("ask for {name}"),
        Query::Inner { of, inner } => format!("look for each {inner} in {of}"),
    }
}

/// What the cloud answered to a question.
pub(crate) fn answer(answer: &Answer) -> String {
    let resources = answer.resources.iter().map(|found| resource(found));
    let inner = answer.inner.iter().map(|told| {
        let keys: Vec<String> = told.parts.iter().map(|part| part.key.to_string()).collect();
        format!("{} in {}: {}", told.inner, told.of.id, list(&keys))
    });
    let progress = answer
        .progress
        .iter()
        .map(|progress| format!("{progress:?}"));
    list(&resources.chain(inner).chain(progress).collect::<Vec<_>>())
}

fn resource(resource: &Resource) -> String {
    let tags: Vec<String> = resource
        .tags
        .iter()
        .map(|(key, value)| match &**value {
            "" => key.to_string(),
            value => format!("{key}={value}"),
        })
        .collect();
    let life = match &resource.life {
        Life::Ready => "",
        Life::Coming => ", not ready",
        Life::Failed(_) => ", failed",
        Life::Going => ", going",
    };
    format!("{} (tags: {}{life})", resource.id, list(&tags))
}

/// A Step.
pub(crate) fn step(step: &Step) -> String {
    format!("{} {}", step.verb(), words::deed(step))
}

/// What the cloud answered to a Step.
pub(crate) fn effect(effect: &Effect) -> String {
    match (&effect.born, &effect.operation) {
        (Some(born), _) => format!("created {}", born.id),
        (None, Some(operation)) => format!("began {operation}"),
        (None, None) => "done".to_owned(),
    }
}

/// A failed call.
pub(crate) fn failure(error: &CloudError) -> String {
    let class = match &error.class {
        Class::Fatal => "fatal",
        Class::Retryable => "may work next time",
        Class::Throttled => "throttled",
        Class::Blocked(_) => "blocked",
        Class::Unknown => "outcome unknown",
        Class::NotFound => "not found",
        Class::Exists => "the name is taken",
        Class::TokenMismatch => "the token was used for something else",
    };
    format!("{class}: {error}")
}

/// A write to the ledger.
pub(crate) fn edits(edits: &[Edit]) -> String {
    let edit = |edit: &Edit| match edit {
        Edit::Pin => "pin UUID and finalizers".to_owned(),
        Edit::Record { slot, target, .. } => format!("record {target} for {slot}"),
        Edit::Know { target, known } => format!("note {target} of {}", known.slot),
        Edit::OpenIntent { slot, intent } => match &intent.adopts {
            Some(id) => format!("announce the adoption of {id} for {slot}"),
            None => format!("announce attempt {} at {slot}", intent.attempt),
        },
        Edit::Running { slot, operation } => format!("note that {operation} makes {slot}"),
        Edit::Failed { slot, error } => {
            format!("close the intent of {slot}, which failed: {error}")
        }
        Edit::CloseIntent { slot } => format!("close the intent of {slot}"),
        Edit::Condemn { target, .. } => format!("condemn {target}"),
        Edit::Gone { target } => format!("forget {target}"),
        Edit::Trace(trace) => format!("announce {} on {}", words::trace(trace), trace.on),
        Edit::Wrote { target, parts } => format!("note {} parts in {target}", parts.len()),
        Edit::Tagged { target, tags } => format!("note {} tags of {target}", tags.len()),
        Edit::Revision(revision) => format!("note revision {revision}"),
        Edit::Join(trace) => format!("join {} on {}", words::trace(trace), trace.on),
        Edit::Joined(trace) => format!("joined {} on {}", words::trace(trace), trace.on),
        Edit::Leave(trace) => format!("leave {} on {}", words::trace(trace), trace.on),
        Edit::Yield(held) => format!("note that {held} holds it"),
        Edit::Call { target, .. } => format!("announce a call on {target}"),
        Edit::Answered(target) => format!("the calls on {target} are over"),
        Edit::Erase(trace) => format!("forget {} on {}", words::trace(trace), trace.on),
        Edit::Finish => "remove the finalizers".to_owned(),
    };
    format!(
        "write: {}",
        list(&edits.iter().map(edit).collect::<Vec<_>>())
    )
}

/// What was done to a resource.
pub(crate) fn deed(deed: &Deed) -> String {
    let id = &deed.victim.id;
    match &deed.harm {
        Harm::Deleted => format!("{id} was deleted"),
        Harm::Overwritten => format!("{id} was overwritten by a create of its name"),
        Harm::Changed { prop, from, to } => match from {
            Some(from) => format!("{prop} of {id} was changed from {from} to {to}"),
            None => format!("{prop} of {id} was set to {to}"),
        },
        Harm::TagOverwritten { was, to } => {
            format!(
                "tag {} of {id} was changed from {:?} to {to:?}",
                was.key, was.value
            )
        }
        Harm::TagRemoved { was } => format!("tag {} was removed from {id}", was.key),
        Harm::InnerOverwritten { was, .. } => {
            format!("{} {} in {id} was overwritten", was.inner, was.key)
        }
        Harm::InnerRemoved { was, .. } => {
            format!("{} {} was removed from {id}", was.inner, was.key)
        }
    }
}

fn list(items: &[String]) -> String {
    if items.is_empty() {
        return "nothing".to_owned();
    }
    items.join(", ")
}
