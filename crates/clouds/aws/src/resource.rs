//! What the clients of EC2 and IAM have in common: resources, answers, and whether one is meant.

use std::sync::Arc;

use ownership::kind::Kind;
use ownership::mark::Tags;
use ownership::part::{Props, Resource};
use ownership::step::Create;
use ownership::{Answer, Class, CloudError, Query, ResourceId, Text};

/// A resource without its name, its creation time and its doubts: it is ready.
pub(crate) fn resource(kind: &Kind, id: &str, props: Props, tags: Tags) -> Resource {
    Resource {
        kind: kind.name,
        id: ResourceId::new(id),
        name: "".into(),
        tags,
        props,
        created: None,
        ready: true,
    }
}

/// The answer that shows these resources, as far as the query means them.
pub(crate) fn answer(query: &Query, resources: impl IntoIterator<Item = Resource>) -> Answer {
    let meant = resources.into_iter().filter(|r| is_meant(query, r));
    Answer {
        resources: meant.map(Arc::new).collect(),
        ..Answer::default()
    }
}

/// Whether a query means this resource. Filters of EC2 know wildcards, and IAM has none at all, so
/// what was found is looked at again here.
pub(crate) fn is_meant(query: &Query, resource: &Resource) -> bool {
    match query {
        Query::Id(target) => resource.id == target.id,
        Query::Name { name, within, .. } => {
            let here = |(prop, parent): &(&str, Text)| resource.props.get(prop) == Some(parent);
            resource.name == *name && within.as_ref().is_none_or(here)
        }
        Query::Marks { key, .. } => resource.tags.get(key).is_some(),
        Query::Match { name, props, .. } => {
            (name.is_empty() || resource.name == *name) && resource.props.include(props)
        }
        Query::Inner { .. } => false,
    }
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
