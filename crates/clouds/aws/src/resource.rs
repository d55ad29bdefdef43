//! What the clients of EC2 and IAM have in common: resources, answers, and whether one is meant.

use std::sync::Arc;

use ownership::kind::Kind;
use ownership::life::Life;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::query::InnerAnswer;
use ownership::step::Create;
use ownership::{Answer, Class, CloudError, Place, Query, ResourceId, Target};

/// A resource without its name, its creation time and its doubts: it is ready.
pub(crate) fn resource(kind: &'static Kind, id: &str, props: Props, tags: Tags) -> Resource {
    Resource {
        place: Place::HOME,
        kind,
        id: ResourceId::new(id),
        unique: None,
        name: "".into(),
        tags,
        props,
        created: None,
        life: Life::Ready,
    }
}

/// The answer that shows these resources, as far as the query means them: filters of EC2 know
/// wildcards, so what was found is looked at again here.
pub(crate) fn answer(query: &Query, resources: impl IntoIterator<Item = Resource>) -> Answer {
    let meant = resources.into_iter().filter(|r| query.means(r));
    Answer {
        resources: meant.map(Arc::new).collect(),
        ..Answer::default()
    }
}

/// The answer that shows all these resources, with what is inside them.
pub(crate) fn everything(
    resources: impl IntoIterator<Item = Resource>,
    inner: Vec<InnerAnswer>,
) -> Answer {
    Answer {
        resources: resources.into_iter().map(Arc::new).collect(),
        inner,
        ..Answer::default()
    }
}

/// What a read of a resource tells of the parts inside it; nothing, if it is not there.
pub(crate) fn inside(read: Answer, of: &Target, inner: &'static str) -> Answer {
    let nothing = InnerAnswer {
        of: of.clone(),
        inner,
        parts: Vec::new(),
    };
    let told = read.inner.into_iter().find(|told| told.inner == inner);
    Answer {
        inner: vec![told.unwrap_or(nothing)],
        ..Answer::default()
    }
}

/// The part of a call that takes one.
pub(crate) fn one_part<'a>(
    parts: &'a [InnerPart],
    noun: &str,
) -> Result<&'a InnerPart, CloudError> {
    let [part] = parts else {
        let message = format!("one call takes one {noun}, not {}", parts.len());
        return Err(CloudError::new(
            Class::Fatal,
            "InvalidParameterCombination",
            message,
        ));
    };
    Ok(part)
}

/// A property that a create call must have.
pub(crate) fn required<'a>(create: &'a Create, name: &str) -> Result<&'a str, CloudError> {
    let value = create.props.get(name).map(|value| &**value);
    value.ok_or_else(|| {
        let noun = create.kind.noun;
        let message = format!("a {noun} cannot be created without its {name}");
        CloudError::new(Class::Fatal, "MissingParameter", message)
    })
}

/// AWS acknowledged a call and left out what it came to: nobody knows.
pub(crate) fn unanswered(operation: &str, what: &str) -> CloudError {
    let message = format!("{operation}: the answer has no {what} (the call may have taken effect)");
    CloudError::new(Class::Unknown, "IncompleteAnswer", message)
}

/// Parts that are nothing but their keys, in their order.
pub(crate) fn told<'a>(
    of: &Target,
    inner: &'static str,
    keys: impl IntoIterator<Item = &'a str>,
) -> InnerAnswer {
    let mut parts: Vec<_> = keys
        .into_iter()
        .map(|key| InnerPart::new(key, "", Tags::new()))
        .collect();
    parts.sort_by(|a, b| a.key.cmp(&b.key));
    let of = of.clone();
    InnerAnswer { of, inner, parts }
}

/// The keys of parts, for a call.
pub(crate) fn keys(parts: &[InnerPart]) -> Vec<String> {
    parts.iter().map(|part| part.key.to_string()).collect()
}

/// What a list of keys comes to with these and without those, for calls that replace all of them.
pub(crate) fn replaced(
    there: &[InnerPart],
    with: &[InnerPart],
    without: &[InnerPart],
) -> Vec<String> {
    let stays = |part: &&InnerPart| !without.iter().any(|gone| gone.key == part.key);
    let mut all = keys(with);
    let others = there.iter().filter(stays).map(|part| part.key.to_string());
    all.extend(others);
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_replaced_by_what_is_there_and_what_is_meant() {
        let parts = |keys: &[&str]| {
            let part = |key: &&str| InnerPart::new(*key, "", Tags::new());
            keys.iter().map(part).collect::<Vec<_>>()
        };
        let there = parts(&["b", "a"]);
        assert_eq!(replaced(&there, &parts(&["c", "a"]), &[]), ["a", "b", "c"]);
        assert_eq!(replaced(&there, &[], &parts(&["b", "x"])), ["a"]);
    }
}
