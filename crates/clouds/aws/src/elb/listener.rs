//! Listeners of network load balancers.

use aws_sdk_elasticloadbalancingv2::types::{Action, ActionTypeEnum, Listener, ProtocolEnum};
use cloud_port::aws::network_load_balancer::{LISTENER, NETWORK_LOAD_BALANCER};
use ownership::part::InnerPart;
use ownership::query::InnerAnswer;
use ownership::step::PartTags;
use ownership::{Answer, Class, CloudError, ResourceId, Target};

use super::{PAGE, tags};
use crate::by_key::optional;
use crate::client_set::ClientSet;
use crate::handler::parts;
use crate::resource::one_part;

parts!(Listeners: list, add, remove {
    fn taggable(&self, tags: &PartTags) -> Result<Vec<Target>, CloudError> {
        targets(tags)
    }
});

async fn list(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    let found = describe(set, of).await?;
    let arns = found.iter().filter_map(|found| found.listener_arn());
    let arns: Vec<String> = arns.map(str::to_owned).collect();
    let mut tags = tags::of(set, &arns).await?;
    let parts = found.iter().filter_map(|found| {
        let arn = found.listener_arn()?;
        let tags = tags.remove(arn).unwrap_or_default();
        Some(InnerPart {
            id: Some(arn.into()),
            ..InnerPart::new(key(found), target_group(found), tags)
        })
    });
    let mut parts: Vec<_> = parts.collect();
    parts.sort_by(|a, b| a.key.cmp(&b.key));
    let (of, inner) = (of.clone(), LISTENER);
    Ok(Answer {
        inner: vec![InnerAnswer { of, inner, parts }],
        ..Answer::default()
    })
}

/// None, where there is no such load balancer.
async fn describe(set: &ClientSet, of: &Target) -> Result<Vec<Listener>, CloudError> {
    let call = set.elbv2.describe_listeners().page_size(PAGE);
    let found = call
        .load_balancer_arn(of.id.as_str())
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.elbv2_failure("DescribeListeners"));
    Ok(optional(found)?.unwrap_or_default())
}

async fn add(set: &ClientSet, on: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let part = one_part(parts, LISTENER)?;
    let port = part.key.strip_prefix("tcp ");
    let port = port.and_then(|port| port.parse().ok());
    let port: i32 = port.ok_or_else(|| {
        let key = &part.key;
        let message = format!("a listener must be for TCP and a port, as tcp 6443: {key}");
        CloudError::new(Class::Fatal, "ValidationError", message)
    })?;
    let forward = Action::builder().r#type(ActionTypeEnum::Forward);
    let forward = forward.target_group_arn(&*part.value).build();
    set.elbv2
        .create_listener()
        .load_balancer_arn(on.id.as_str())
        .protocol(ProtocolEnum::Tcp)
        .port(port)
        .default_actions(forward)
        .set_tags(tags::riding(&part.tags))
        .send()
        .await
        .map_err(set.elbv2_failure("CreateListener"))?;
    Ok(())
}

/// By its ARN: a call that is late then meets no later one of that port.
async fn remove(set: &ClientSet, on: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let part = one_part(parts, LISTENER)?;
    let arn = if let Some(id) = &part.id {
        id.to_string()
    } else {
        let found = describe(set, on).await?;
        let same = found.iter().find(|found| key(found) == *part.key);
        let Some(arn) = same.and_then(|found| found.listener_arn()) else {
            return Ok(());
        };
        arn.to_owned()
    };
    let call = set.elbv2.delete_listener().listener_arn(arn);
    let operation = "DeleteListener";
    call.send().await.map_err(set.elbv2_failure(operation))?;
    Ok(())
}

/// Listeners as what can be tagged.
///
/// # Errors
/// One that was not read, and so has no ARN.
fn targets(tags: &PartTags) -> Result<Vec<Target>, CloudError> {
    let target = |part: &InnerPart| {
        let missing = || {
            let message = format!("the listener {} has no ARN to tag it by", part.key);
            CloudError::new(Class::Fatal, "MissingParameter", message)
        };
        let id = part.id.clone().ok_or_else(missing)?;
        Ok(Target::new(&NETWORK_LOAD_BALANCER, ResourceId::new(id)))
    };
    tags.parts.iter().map(target).collect()
}

fn key(found: &Listener) -> String {
    let protocol = found.protocol().map_or("", ProtocolEnum::as_str);
    format!("{protocol} {}", found.port().unwrap_or_default()).to_lowercase()
}

fn target_group(found: &Listener) -> String {
    let mut actions = found.default_actions().iter();
    let forward = actions.find_map(|action| action.target_group_arn());
    forward.unwrap_or_default().to_owned()
}
