//! Tags of both APIs: no read of a resource shows them, and they are removed by their keys alone.

use std::collections::BTreeMap;

use aws_sdk_elasticloadbalancing::types::{Tag as ClassicTag, TagDescription, TagKeyOnly};
use aws_sdk_elasticloadbalancingv2::types::Tag;
use ownership::mark::Tags;
use ownership::{CloudError, Target, Text};

use super::TAGS_PAGE;
use crate::by_key::{full, keys_to_remove, optional};
use crate::client_set::ClientSet;

/// What tags of either are written with.
pub(super) const OPERATIONS: &[&str] = &[
    "elasticloadbalancing:AddTags",
    "elasticloadbalancing:RemoveTags",
];

/// The tags of classic load balancers, by name.
pub(super) async fn of_classic(
    set: &ClientSet,
    names: &[String],
) -> Result<BTreeMap<String, Tags>, CloudError> {
    let mut all = BTreeMap::new();
    for some in names.chunks(TAGS_PAGE) {
        if let Some(told) = ask_classic(set, some).await? {
            all.extend(told);
            continue;
        }
        // One of them has gone in between: each is asked for by itself.
        for name in some {
            let told = ask_classic(set, std::slice::from_ref(name)).await?;
            all.extend(told.unwrap_or_default());
        }
    }
    Ok(all)
}

/// `None`, where one of them is not there.
async fn ask_classic(
    set: &ClientSet,
    names: &[String],
) -> Result<Option<BTreeMap<String, Tags>>, CloudError> {
    let call = set.elb.describe_tags();
    let call = call.set_load_balancer_names(Some(names.to_vec()));
    let told = call.send().await.map_err(set.elb_failure("DescribeTags"));
    let Some(told) = optional(told)? else {
        return Ok(None);
    };
    let read = |told: &TagDescription| {
        let pairs = told.tags().iter();
        let pairs = pairs.map(|tag| (tag.key().into(), tag.value().unwrap_or_default().into()));
        let name = told.load_balancer_name().unwrap_or_default();
        (name.to_owned(), pairs.collect::<Tags>())
    };
    Ok(Some(told.tag_descriptions().iter().map(read).collect()))
}

/// The tags of what the second API has, by ARN.
pub(super) async fn of(
    set: &ClientSet,
    arns: &[String],
) -> Result<BTreeMap<String, Tags>, CloudError> {
    let mut all = BTreeMap::new();
    for some in arns.chunks(TAGS_PAGE) {
        if let Some(told) = ask(set, some).await? {
            all.extend(told);
            continue;
        }
        for arn in some {
            let told = ask(set, std::slice::from_ref(arn)).await?;
            all.extend(told.unwrap_or_default());
        }
    }
    Ok(all)
}

/// `None`, where one of them is not there.
async fn ask(
    set: &ClientSet,
    arns: &[String],
) -> Result<Option<BTreeMap<String, Tags>>, CloudError> {
    let call = set.elbv2.describe_tags();
    let call = call.set_resource_arns(Some(arns.to_vec()));
    let told = call.send().await.map_err(set.elbv2_failure("DescribeTags"));
    let Some(told) = optional(told)? else {
        return Ok(None);
    };
    let pair = |tag: &Tag| Some((tag.key()?.into(), tag.value().unwrap_or_default().into()));
    let tagged = told.tag_descriptions().iter().map(|told| {
        let arn = told.resource_arn().unwrap_or_default();
        let tags: Tags = told.tags().iter().filter_map(pair).collect();
        (arn.to_owned(), tags)
    });
    Ok(Some(tagged.collect()))
}

/// Tags as the first API writes them; `None` where there are none.
pub(super) fn classic(tags: &Tags) -> Option<Vec<ClassicTag>> {
    let all: Vec<_> = tags.iter().map(classic_tag).collect();
    (!all.is_empty()).then_some(all)
}

fn classic_tag((key, value): &(Text, Text)) -> ClassicTag {
    let tag = ClassicTag::builder().key(&**key).value(&**value).build();
    tag.expect("a key is all that a tag must have")
}

/// Tags as the second API writes them; `None` where there are none.
pub(super) fn riding(tags: &Tags) -> Option<Vec<Tag>> {
    let all: Vec<_> = tags.iter().map(tag).collect();
    (!all.is_empty()).then_some(all)
}

fn tag((key, value): &(Text, Text)) -> Tag {
    Tag::builder().key(&**key).value(&**value).build()
}

/// Adds tags to a classic load balancer.
pub(super) async fn add_classic(
    set: &ClientSet,
    target: &Target,
    tags: &[(Text, Text)],
) -> Result<(), CloudError> {
    let call = set.elb.add_tags().load_balancer_names(target.id.as_str());
    let call = call.set_tags(Some(tags.iter().map(classic_tag).collect()));
    let added = call.send().await.map_err(set.elb_failure("AddTags"));
    added.map_err(|error| full(error, target.kind.noun, target))?;
    Ok(())
}

/// Removes these very tags, key and value, from a classic load balancer.
pub(super) async fn remove_classic(
    set: &ClientSet,
    target: &Target,
    tags: &[(Text, Text)],
) -> Result<(), CloudError> {
    let name = target.id.to_string();
    let mut held = of_classic(set, std::slice::from_ref(&name)).await?;
    let held = held.remove(&name).unwrap_or_default();
    let Some(keys) = keys_to_remove(&held, tags) else {
        return Ok(());
    };
    let keys = keys.into_iter();
    let keys = keys.map(|key| TagKeyOnly::builder().key(key).build());
    let call = set.elb.remove_tags().load_balancer_names(name);
    let call = call.set_tags(Some(keys.collect()));
    call.send().await.map_err(set.elb_failure("RemoveTags"))?;
    Ok(())
}

/// Adds tags to what the second API has.
pub(super) async fn add(
    set: &ClientSet,
    target: &Target,
    tags: &[(Text, Text)],
) -> Result<(), CloudError> {
    let call = set.elbv2.add_tags().resource_arns(target.id.as_str());
    let call = call.set_tags(Some(tags.iter().map(tag).collect()));
    let added = call.send().await.map_err(set.elbv2_failure("AddTags"));
    added.map_err(|error| full(error, target.kind.noun, target))?;
    Ok(())
}

/// Removes these very tags, key and value, from what the second API has.
pub(super) async fn remove(
    set: &ClientSet,
    target: &Target,
    tags: &[(Text, Text)],
) -> Result<(), CloudError> {
    let arn = target.id.to_string();
    let mut held = of(set, std::slice::from_ref(&arn)).await?;
    let held = held.remove(&arn).unwrap_or_default();
    let Some(keys) = keys_to_remove(&held, tags) else {
        return Ok(());
    };
    let call = set.elbv2.remove_tags().resource_arns(arn);
    let call = call.set_tag_keys(Some(keys));
    call.send().await.map_err(set.elbv2_failure("RemoveTags"))?;
    Ok(())
}
