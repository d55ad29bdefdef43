//! Tags of EC2: one call for any number of resources.

use aws_sdk_ec2::types::{ResourceType, Tag, TagSpecification};
use ownership::error::Blocker;
use ownership::mark::Tags;
use ownership::{Class, CloudError, Target, Text};

use crate::client_set::ClientSet;

/// What tags are written with.
pub(super) const OPERATIONS: &[&str] = &["ec2:CreateTags", "ec2:DeleteTags"];

pub(super) fn read(tags: &[Tag]) -> Tags {
    let pair = |tag: &Tag| {
        let (key, value) = (tag.key()?, tag.value().unwrap_or_default());
        Some((key.into(), value.into()))
    };
    tags.iter().filter_map(pair).collect()
}

/// The tags that ride on a create call; `None` where there are none, which EC2 wants left out.
pub(super) fn riding(kind: ResourceType, tags: &Tags) -> Option<Vec<TagSpecification>> {
    let pairs: Vec<_> = tags.iter().map(tag).collect();
    let specification = TagSpecification::builder()
        .resource_type(kind)
        .set_tags(Some(pairs))
        .build();
    (!tags.is_empty()).then(|| vec![specification])
}

/// Adds tags to resources; a key that is there gets the new value.
pub(crate) async fn add(
    set: &ClientSet,
    targets: &[Target],
    tags: &[(Text, Text)],
) -> Result<(), CloudError> {
    let operation = "CreateTags";
    set.ec2
        .create_tags()
        .set_resources(Some(ids(targets)))
        .set_tags(Some(tags.iter().map(tag).collect()))
        .send()
        .await
        .map_err(set.ec2_failure(operation))
        .map_err(|error| full(error, targets))?;
    Ok(())
}

/// Removes these very tags, key and value: a key whose value is another stays.
pub(crate) async fn remove(
    set: &ClientSet,
    targets: &[Target],
    tags: &[(Text, Text)],
) -> Result<(), CloudError> {
    let operation = "DeleteTags";
    set.ec2
        .delete_tags()
        .set_resources(Some(ids(targets)))
        .set_tags(Some(tags.iter().map(tag).collect()))
        .send()
        .await
        .map_err(set.ec2_failure(operation))?;
    Ok(())
}

/// A value is always sent, also an empty one: a key alone would stand for any value.
fn tag((key, value): &(Text, Text)) -> Tag {
    Tag::builder().key(&**key).value(&**value).build()
}

fn ids(targets: &[Target]) -> Vec<String> {
    targets.iter().map(|t| t.id.as_str().to_owned()).collect()
}

/// Whoever reads that there is no room for a tag wants to know where.
fn full(mut error: CloudError, targets: &[Target]) -> CloudError {
    if let Class::Blocked(blockers) = &mut error.class
        && blockers.is_empty()
    {
        blockers.extend(targets.iter().map(|target| Blocker {
            noun: target.kind.noun.into(),
            id: target.id.clone(),
        }));
    }
    error
}
