//! Services that tag one resource a call, remove tags by their keys alone, and say that nothing is there
//! by an error.

use ownership::error::Blocker;
use ownership::mark::Tags;
use ownership::{Class, CloudError, Target, Text};

/// Tags by the functions `tag` and `untag` of a Kind's file, for services that tag one resource a call.
macro_rules! tags_alone {
    () => {
        fn tag<'a>(
            &self,
            set: &'a $crate::ClientSet,
            targets: &'a [ownership::Target],
            tags: &'a [(ownership::Text, ownership::Text)],
        ) -> $crate::handler::Asked<'a, ()> {
            Box::pin(async move { tag(set, $crate::by_key::only_one(targets)?, tags).await })
        }

        fn untag<'a>(
            &self,
            set: &'a $crate::ClientSet,
            targets: &'a [ownership::Target],
            tags: &'a [(ownership::Text, ownership::Text)],
        ) -> $crate::handler::Asked<'a, ()> {
            Box::pin(async move { untag(set, $crate::by_key::only_one(targets)?, tags).await })
        }
    };
}

pub(crate) use tags_alone;

/// The keys to remove so that exactly these tags go.
///
/// IAM and Elastic Load Balancing remove by key alone, and IAM takes two keys that differ in case for
/// one. So a key is removed only where it is there in this very spelling, with this very value.
pub(crate) fn keys_to_remove(held: &Tags, tags: &[(Text, Text)]) -> Option<Vec<String>> {
    let there = tags.iter().filter(|(key, value)| held.has(key, value));
    let keys: Vec<_> = there.map(|(key, _)| key.to_string()).collect();
    (!keys.is_empty()).then_some(keys)
}

/// An absent resource is no error to somebody who asks for it.
pub(crate) fn optional<T>(answer: Result<T, CloudError>) -> Result<Option<T>, CloudError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.class == Class::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The only target of a call that takes one.
pub(crate) fn only_one(targets: &[Target]) -> Result<&Target, CloudError> {
    only(targets).ok_or_else(|| {
        let message = format!("one call tags one resource, not {}", targets.len());
        CloudError::new(Class::Fatal, "InvalidParameterCombination", message)
    })
}

/// Names the resource that has no room for another tag.
pub(crate) fn full(mut error: CloudError, noun: &str, target: &Target) -> CloudError {
    if let Class::Blocked(blockers) = &mut error.class {
        blockers.push(Blocker {
            noun: noun.into(),
            id: target.id.clone(),
        });
    }
    error
}

/// The only one; `None` if there are several.
pub(crate) fn only<T>(several: &[T]) -> Option<&T> {
    match several {
        [one] => Some(one),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
