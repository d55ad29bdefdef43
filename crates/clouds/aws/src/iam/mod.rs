//! IAM: roles, and the instance profiles that give them to machines.

pub(crate) mod instance_profile;
pub(crate) mod role;

use aws_sdk_iam::types::Tag;
use cloud_port::aws::policy;
use ownership::error::Blocker;
use ownership::mark::Tags;
use ownership::{Class, CloudError, Query, Target, Text};

use crate::handler::Handler;

/// The handlers of the Kinds of IAM.
pub(crate) const HANDLERS: &[&dyn Handler] = &[&role::Roles, &instance_profile::InstanceProfiles];

/// Tags by the functions `tag` and `untag` of a Kind's file: IAM tags one resource a call.
macro_rules! tags_alone {
    () => {
        fn tag<'a>(
            &self,
            set: &'a $crate::ClientSet,
            targets: &'a [ownership::Target],
            tags: &'a [(ownership::Text, ownership::Text)],
        ) -> $crate::handler::Asked<'a, ()> {
            Box::pin(async move { tag(set, $crate::iam::only_one(targets)?, tags).await })
        }

        fn untag<'a>(
            &self,
            set: &'a $crate::ClientSet,
            targets: &'a [ownership::Target],
            tags: &'a [(ownership::Text, ownership::Text)],
        ) -> $crate::handler::Asked<'a, ()> {
            Box::pin(async move { untag(set, $crate::iam::only_one(targets)?, tags).await })
        }
    };
}

use tags_alone;

/// How many items a page of a long listing holds: all that IAM allows.
const PAGE: i32 = 1000;

/// The one name that a query is about; empty if it is about all.
fn name_in(query: &Query) -> &str {
    match query {
        Query::Id(target) => target.id.as_str(),
        Query::Name { name, .. } | Query::Match { name, .. } => name,
        Query::Marks { .. } | Query::Inner { .. } => "",
    }
}

fn read_tags(tags: &[Tag]) -> Tags {
    let pairs = tags.iter();
    pairs
        .map(|tag| (tag.key().into(), tag.value().into()))
        .collect()
}

fn write_tags<'a>(tags: impl IntoIterator<Item = &'a (Text, Text)>) -> Vec<Tag> {
    let tag = |(key, value): &(Text, Text)| {
        let tag = Tag::builder().key(&**key).value(&**value).build();
        tag.expect("key and value are all that a tag must have")
    };
    tags.into_iter().map(tag).collect()
}

/// The keys to remove so that exactly these tags go.
///
/// IAM removes by key alone, and takes two keys that differ in case for one. So a key is removed only
/// where it is there in this very spelling, with this very value.
fn keys_to_remove(held: &Tags, tags: &[(Text, Text)]) -> Option<Vec<String>> {
    let there = tags.iter().filter(|(key, value)| held.has(key, value));
    let keys: Vec<_> = there.map(|(key, _)| key.to_string()).collect();
    (!keys.is_empty()).then_some(keys)
}

/// An absent resource is no error to somebody who asks for it.
fn optional<T>(answer: Result<T, CloudError>) -> Result<Option<T>, CloudError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.class == Class::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// IAM tags one resource a call.
fn only_one(targets: &[Target]) -> Result<&Target, CloudError> {
    only(targets).ok_or_else(|| {
        let message = format!("one call tags one resource, not {}", targets.len());
        CloudError::new(Class::Fatal, "InvalidParameterCombination", message)
    })
}

/// Names the resource that has no room for another tag.
fn full(mut error: CloudError, noun: &str, target: &Target) -> CloudError {
    if let Class::Blocked(blockers) = &mut error.class {
        blockers.push(Blocker {
            noun: noun.into(),
            id: target.id.clone(),
        });
    }
    error
}

/// A document as the port spells it. IAM hands documents out percent-encoded.
fn document(encoded: &str) -> Text {
    let decoded = percent_encoding::percent_decode_str(encoded).decode_utf8_lossy();
    match policy::canonical("policy", &decoded) {
        Ok(document) => document,
        // Not for us to judge: it is there, and says what it says.
        Err(_) => decoded.as_ref().into(),
    }
}

/// The only one; `None` if there are several.
fn only<T>(several: &[T]) -> Option<&T> {
    match several {
        [one] => Some(one),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_decoded_and_canonical() {
        let encoded = "%7B%22Statement%22%3A%20%7B%22Effect%22%3A%22Allow%22%2C%22Action%22%3A%5B%22a%3Ab+c%22%5D%7D%7D";
        let expected = r#"{"Statement":[{"Action":"a:b+c","Effect":"Allow"}]}"#;
        assert_eq!(&*document(encoded), expected);
        assert_eq!(&*document("not%20a%20policy"), "not a policy");
    }

    #[test]
    fn only_the_very_pair_is_removed() {
        let pair = |key: &str, value: &str| (Text::from(key), Text::from(value));
        let held = Tags::from_iter([pair("a", "1"), pair("B", "2"), pair("c", "3")]);
        let ours = [
            pair("a", "1"),
            pair("b", "2"),
            pair("c", "x"),
            pair("d", ""),
        ];
        assert_eq!(keys_to_remove(&held, &ours), Some(vec!["a".to_owned()]));
        assert_eq!(keys_to_remove(&held, &ours[1..]), None);
    }
}
