//! Steps, verdicts and resources in words, the same wherever they are shown.

use cloud_port::aws;
use ownership::ledger::{Trace, TraceOf};
use ownership::verdict::Proof;
use ownership::{Step, Target, Verdict};

/// What a person calls a Kind.
pub(crate) fn noun(kind: &str) -> &str {
    let known = aws::KINDS.iter().find(|known| known.name == kind);
    known.map_or(kind, |known| known.noun)
}

/// A resource: what it is and which.
pub(crate) fn resource(target: &Target) -> String {
    format!("{} {}", noun(target.kind), target.id)
}

/// What a Step is done to, and what is done.
pub(crate) fn step(step: &Step) -> (String, String) {
    match step {
        Step::Create(create) => (
            format!("{} {}", create.kind.noun, create.name),
            format!("with {}", count(create.tags.iter().count(), "tag")),
        ),
        Step::Mark { targets, tags, .. } | Step::Unmark { targets, tags, .. } => {
            let keys = tags.iter().map(|(key, _)| key.as_ref());
            (resources(targets), keys.collect::<Vec<_>>().join("\n"))
        }
        Step::AddInner {
            target,
            inner,
            parts,
        }
        | Step::RemoveInner {
            target,
            inner,
            parts,
        } => {
            let keys = parts.iter().map(|part| format!("{inner} {}", part.key));
            (resource(target), keys.collect::<Vec<_>>().join("\n"))
        }
        Step::Update { owned, props } => {
            let names = props.iter().map(|(name, _)| *name);
            (
                resource(owned.target()),
                names.collect::<Vec<_>>().join("\n"),
            )
        }
        Step::Delete { owned } => (resource(owned.target()), proof(owned.proof())),
    }
}

/// Something that we added to a resource that is not ours.
pub(crate) fn trace(trace: &Trace) -> String {
    match &trace.what {
        TraceOf::Inner { inner, key } => format!("{inner} {key}"),
        TraceOf::Tag { key, value } if value.is_empty() => format!("tag {key}"),
        TraceOf::Tag { key, value } => format!("tag {key}={value}"),
    }
}

/// What proves that a part is ours.
pub(crate) fn proof(proof: &Proof) -> String {
    match proof {
        Proof::Mark(mark) => format!("by its mark: slot {}, attempt {}", mark.slot, mark.attempt),
        Proof::CreatedHere => "created in this pass".to_owned(),
    }
}

/// A verdict in one word, and what it rests on.
pub(crate) fn verdict(verdict: &Verdict) -> (&'static str, String) {
    match verdict {
        Verdict::Owned(owned) => ("Owned", proof(owned.proof())),
        Verdict::Used => ("Used", "ours to use, not to change or delete".to_owned()),
        Verdict::Foreign(owner) => ("Foreign", format!("belongs to {owner}")),
        Verdict::Unmarked => ("Unmarked", "nobody's mark is on it".to_owned()),
    }
}

/// A number of things: "1 tag", "2 tags".
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn resources(targets: &[Target]) -> String {
    targets.iter().map(resource).collect::<Vec<_>>().join("\n")
}
