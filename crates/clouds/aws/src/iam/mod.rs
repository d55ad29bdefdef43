//! IAM: roles, and the instance profiles that give them to machines.

pub(crate) mod instance_profile;
pub(crate) mod role;

use aws_sdk_iam::types::Tag;
use cloud_port::aws::policy;
use ownership::mark::Tags;
use ownership::{Query, Text};

use crate::handler::Handler;

/// The handlers of the Kinds of IAM.
pub(crate) const HANDLERS: &[&dyn Handler] = &[&role::Roles, &instance_profile::InstanceProfiles];

/// How many items a page of a long listing holds: all that IAM allows.
const PAGE: i32 = 1000;

/// The one name that a query is about; empty if it is about all.
fn name_in(query: &Query) -> &str {
    match query {
        Query::Id(target) => target.id.as_str(),
        Query::Name { name, .. } | Query::Match { name, .. } => name,
        Query::Marks { .. } | Query::Inner { .. } | Query::Operation { .. } => "",
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

/// A document as the port spells it. IAM hands documents out percent-encoded.
fn document(encoded: &str) -> Text {
    let decoded = percent_encoding::percent_decode_str(encoded).decode_utf8_lossy();
    match policy::canonical("policy", &decoded) {
        Ok(document) => document,
        // Not for us to judge: it is there, and says what it says.
        Err(_) => decoded.as_ref().into(),
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
}
