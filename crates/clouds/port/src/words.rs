//! Steps, verdicts and resources in words, the same wherever they are shown.

use ownership::ledger::{Trace, TraceOf};
use ownership::part::InnerPart;
use ownership::verdict::Proof;
use ownership::{Kind, Step, Target, Text, Verdict};

/// A resource: what it is and which.
pub fn resource(target: &Target) -> String {
    format!("{} {}", target.kind.noun, target.id)
}

/// A resource with its name, where it has another than its id.
pub fn called(target: &Target, name: &str) -> String {
    match name {
        "" => resource(target),
        name if name == target.id.as_str() => resource(target),
        name => format!("{} {name}", resource(target)),
    }
}

/// The word between a Step's parts and its resources; none where they are the same.
pub fn preposition(step: &Step) -> Option<&'static str> {
    match step {
        Step::Create(_) | Step::Delete(_) => None,
        Step::AddInner { .. } => Some("to"),
        Step::RemoveInner(_) | Step::Unmark { .. } => Some("from"),
        Step::Mark { .. } | Step::Update(_) => Some("on"),
        Step::MarkInner(_) | Step::UnmarkInner(_) => Some("in"),
    }
}

/// Resources in one phrase: those of one Kind have its noun once.
pub fn resources<'t>(targets: &[Target], name: impl Fn(&Target) -> &'t str) -> String {
    let alike = |(one, two): (&Target, &Target)| one.kind == two.kind;
    match targets {
        [first, _, ..] if targets.iter().zip(&targets[1..]).all(alike) => {
            let ids: Vec<_> = targets.iter().map(|target| target.id.as_str()).collect();
            let noun = count(targets.len(), first.kind.noun);
            format!("{noun} {}", ids.join(", "))
        }
        targets => {
            let all = targets.iter().map(|target| called(target, name(target)));
            all.collect::<Vec<_>>().join(", ")
        }
    }
}

/// The parts that a Step is about, one a line.
pub fn parts(step: &Step) -> Vec<String> {
    match step {
        // Not everything has a name.
        Step::Create(create) => {
            let named = format!("{} {}", create.kind.noun, create.name);
            vec![named.trim_end().to_owned()]
        }
        Step::Mark { tags, .. } | Step::Unmark { tags, .. } => tags.iter().map(tag).collect(),
        Step::AddInner { inner, parts, .. } => inner_parts(step, inner, parts),
        Step::RemoveInner(removal) => inner_parts(step, removal.inner(), removal.parts()),
        Step::MarkInner(tags) | Step::UnmarkInner(tags) => {
            inner_parts(step, tags.inner, &tags.parts)
        }
        Step::Update(update) => {
            let names = update.props().iter().map(|(name, _)| (*name).to_owned());
            names.collect()
        }
        Step::Delete(deletion) => vec![resource(deletion.target())],
    }
}

fn inner_parts(step: &Step, inner: &'static str, parts: &[InnerPart]) -> Vec<String> {
    let noun = step.kind().map_or(inner, |kind| inner_noun(kind, inner));
    let word = |part: &InnerPart| format!("{noun} {}", part.key);
    parts.iter().map(word).collect()
}

/// A performed Step, on one line.
pub fn deed(step: &Step) -> String {
    let mut parts = parts(step);
    let what = match parts.len() {
        1 => parts.remove(0),
        more => {
            let noun = parts
                .first()
                .and_then(|part| part.split(' ').next())
                .unwrap_or("part");
            count(more, noun)
        }
    };
    let Some(preposition) = preposition(step) else {
        return match step {
            Step::Delete(deletion) => format!("{what} ({})", proof(deletion.owned().proof())),
            _ => what,
        };
    };
    match step.targets() {
        [target] => format!("{what} {preposition} {}", resource(target)),
        targets => {
            let kind = step.kind();
            let alike = kind.filter(|kind| targets.iter().all(|target| target.kind == *kind));
            let noun = alike.map_or("resource", |kind| kind.noun);
            format!("{what} {preposition} {}", count(targets.len(), noun))
        }
    }
}

fn inner_noun(kind: &Kind, inner: &'static str) -> &'static str {
    kind.inner(inner).map_or(inner, |inner| inner.noun)
}

fn tag((key, value): &(Text, Text)) -> String {
    if value.is_empty() {
        format!("tag {key}")
    } else {
        format!("tag {key}={value}")
    }
}

/// Something that we added to a resource that is not ours.
pub fn trace(trace: &Trace) -> String {
    match &trace.what {
        TraceOf::Inner { inner, key } => {
            format!("{} {key}", inner_noun(trace.on.kind, inner))
        }
        TraceOf::Tag { key, value } => tag(&(key.clone(), value.clone())),
    }
}

/// What proves that a part is ours.
pub fn proof(proof: &Proof) -> String {
    match proof {
        Proof::Mark(mark) => format!("by its mark: slot {}, attempt {}", mark.slot, mark.attempt),
        Proof::CreatedHere => "created in this pass".to_owned(),
        Proof::Nonce => "by the nonce in its name".to_owned(),
        Proof::LeftBehind(within) => format!("left behind in {}, which is ours", resource(within)),
    }
}

/// A verdict in one word, and what it rests on.
pub fn verdict(verdict: &Verdict) -> (&'static str, String) {
    match verdict {
        Verdict::Owned(owned) => ("Owned", proof(owned.proof())),
        Verdict::Used => ("Used", "not ours to change or delete".to_owned()),
        Verdict::Foreign(owner) => ("Foreign", format!("belongs to {owner}")),
        Verdict::Unmarked => ("Unmarked", "nobody's mark is on it".to_owned()),
    }
}

/// A number of things: "1 tag", "2 tags".
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
