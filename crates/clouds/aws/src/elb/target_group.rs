//! Target groups.

use aws_sdk_elasticloadbalancingv2::types::{
    ProtocolEnum, TargetDescription, TargetGroup, TargetHealthStateEnum, TargetTypeEnum,
};
use cloud_port::aws::health_check::HealthCheck;
use cloud_port::aws::target_group::{HEALTH_CHECK, TARGET, TARGET_GROUP, TARGETS};
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::step::Create;
use ownership::{Answer, CloudError, Query, Target, Text};

use super::{PAGE, bad_check, check, name_in, tags};
use crate::blocked::{Found, blocker, explain};
use crate::by_key::{optional, tags_alone};
use crate::client_set::ClientSet;
use crate::handler::{Asked, Parts, fixed, handler, parts};
use crate::permissions::Operations;
use crate::resource::{answer, everything, required, resource, told, unanswered};

const OPERATIONS: Operations = Operations {
    reads: &[
        "elasticloadbalancing:DescribeTags",
        "elasticloadbalancing:DescribeTargetGroups",
    ],
    tags: tags::OPERATIONS,
    owns: &[
        "elasticloadbalancing:CreateTargetGroup",
        "elasticloadbalancing:DeleteTargetGroup",
        "elasticloadbalancing:ModifyTargetGroup",
    ],
    adds: &[(
        TARGET,
        &[
            "elasticloadbalancing:DeregisterTargets",
            "elasticloadbalancing:DescribeTargetHealth",
            "elasticloadbalancing:RegisterTargets",
        ],
    )],
};

handler!(TargetGroups: TARGET_GROUP {
    fn update<'a>(
        &self,
        set: &'a ClientSet,
        target: &'a Target,
        props: &'a Props,
    ) -> Asked<'a, ()> {
        Box::pin(update(set, target, props))
    }

    tags_alone!();

    fn parts(&self) -> &'static [(&'static str, &'static dyn Parts)] {
        &[(TARGET, &Registered)]
    }
});

parts!(Registered: targets, register, deregister {});

async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    let call = set.elbv2.describe_target_groups();
    let call = match (query, name_in(query)) {
        (Query::Id(target), _) => call.target_group_arns(target.id.as_str()),
        (_, Some(name)) => call.names(name),
        _ => {
            let found = describe(set).await?;
            return Ok(answer(query, with_tags(set, found).await?));
        }
    };
    let found = call.send().await;
    let found = optional(found.map_err(set.elbv2_failure("DescribeTargetGroups")))?;
    let found = found.and_then(|found| found.target_groups);
    Ok(answer(
        query,
        with_tags(set, found.unwrap_or_default()).await?,
    ))
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    let found = describe(set).await?;
    Ok(everything(with_tags(set, found).await?, Vec::new()))
}

async fn describe(set: &ClientSet) -> Result<Vec<TargetGroup>, CloudError> {
    set.elbv2
        .describe_target_groups()
        .page_size(PAGE)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.elbv2_failure("DescribeTargetGroups"))
}

async fn with_tags(set: &ClientSet, found: Vec<TargetGroup>) -> Result<Vec<Resource>, CloudError> {
    let arns = found.iter().filter_map(|found| found.target_group_arn());
    let arns: Vec<String> = arns.map(str::to_owned).collect();
    let mut tags = tags::of(set, &arns).await?;
    let read = found.iter().filter_map(|found| {
        let tags = tags.remove(found.target_group_arn()?);
        read(found, tags.unwrap_or_default())
    });
    Ok(read.collect())
}

async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let operation = "CreateTargetGroup";
    let text = required(create, HEALTH_CHECK)?;
    let check = text.parse::<HealthCheck>();
    let check = check.map_err(|error| bad_check(&error))?;
    let port = required(create, "port")?.parse::<u16>();
    let made = set
        .elbv2
        .create_target_group()
        .name(&*create.name)
        .vpc_id(required(create, "vpc")?)
        .protocol(protocol(required(create, "protocol")?))
        .port(port.unwrap_or_default().into())
        .target_type(TargetTypeEnum::from(required(create, TARGETS)?))
        .health_check_protocol(protocol(check.probe.protocol()))
        .health_check_port(check.port.to_string())
        .set_health_check_path(check.probe.path().map(ToString::to_string))
        .health_check_interval_seconds(check.interval.into())
        .health_check_timeout_seconds(check.timeout.into())
        .healthy_threshold_count(check.healthy.into())
        .unhealthy_threshold_count(check.unhealthy.into())
        .set_tags(tags::riding(&create.tags))
        .send()
        .await
        .map_err(set.elbv2_failure(operation))?;
    let made = made.target_groups().first();
    let made = made.and_then(|made| read(made, create.tags.clone()));
    made.ok_or_else(|| unanswered(operation, "target group"))
}

fn protocol(text: &str) -> ProtocolEnum {
    ProtocolEnum::from(text.to_uppercase().as_str())
}

async fn update(set: &ClientSet, target: &Target, props: &Props) -> Result<(), CloudError> {
    let others = props.iter().any(|(name, _)| *name != HEALTH_CHECK);
    let (Some(text), false) = (props.get(HEALTH_CHECK), others) else {
        return Err(fixed(target));
    };
    let check = text.parse::<HealthCheck>();
    let check = check.map_err(|error| bad_check(&error))?;
    set.elbv2
        .modify_target_group()
        .target_group_arn(target.id.as_str())
        .health_check_protocol(protocol(check.probe.protocol()))
        .health_check_port(check.port.to_string())
        .set_health_check_path(check.probe.path().map(ToString::to_string))
        .health_check_interval_seconds(check.interval.into())
        .health_check_timeout_seconds(check.timeout.into())
        .healthy_threshold_count(check.healthy.into())
        .unhealthy_threshold_count(check.unhealthy.into())
        .send()
        .await
        .map_err(set.elbv2_failure("ModifyTargetGroup"))?;
    Ok(())
}

async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let call = set.elbv2.delete_target_group();
    let deleted = call.target_group_arn(target.id.as_str()).send().await;
    match deleted.map_err(set.elbv2_failure("DeleteTargetGroup")) {
        Ok(_) => Ok(()),
        Err(error) => Err(explain(error, users(set, target)).await),
    }
}

/// The load balancers that forward to it, of whatever type.
async fn users(set: &ClientSet, target: &Target) -> Found {
    let call = set.elbv2.describe_target_groups();
    let found = call.target_group_arns(target.id.as_str()).send().await;
    let found = found.map_err(set.elbv2_failure("DescribeTargetGroups"))?;
    let arns = found.target_groups().iter();
    let arns = arns.flat_map(TargetGroup::load_balancer_arns);
    let users = arns.filter_map(|arn| {
        let noun = if arn.contains("/net/") {
            "network load balancer"
        } else {
            "load balancer"
        };
        blocker(noun, Some(arn.as_str()))
    });
    Ok(users.collect())
}

async fn tag(set: &ClientSet, on: &Target, tags: &[(Text, Text)]) -> Result<(), CloudError> {
    tags::add(set, on, tags).await
}

async fn untag(set: &ClientSet, on: &Target, tags: &[(Text, Text)]) -> Result<(), CloudError> {
    tags::remove(set, on, tags).await
}

/// What drains still serves whom it served, and nobody else: it is not registered any more.
async fn targets(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    let call = set.elbv2.describe_target_health();
    let found = call.target_group_arn(of.id.as_str()).send().await;
    let found = optional(found.map_err(set.elbv2_failure("DescribeTargetHealth")))?;
    let found = found.and_then(|found| found.target_health_descriptions);
    let found = found.unwrap_or_default();
    let there = found.iter().filter(|found| {
        let state = found.target_health().and_then(|health| health.state());
        state != Some(&TargetHealthStateEnum::Draining)
    });
    let ids = there.filter_map(|found| found.target().and_then(|target| target.id()));
    Ok(Answer {
        inner: vec![told(of, TARGET, ids)],
        ..Answer::default()
    })
}

async fn register(set: &ClientSet, on: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let call = set.elbv2.register_targets();
    let call = call.target_group_arn(on.id.as_str());
    let registered = call.set_targets(Some(meant(parts))).send().await;
    registered.map_err(set.elbv2_failure("RegisterTargets"))?;
    Ok(())
}

async fn deregister(set: &ClientSet, on: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let call = set.elbv2.deregister_targets();
    let call = call.target_group_arn(on.id.as_str());
    let gone = call.set_targets(Some(meant(parts))).send().await;
    gone.map_err(set.elbv2_failure("DeregisterTargets"))?;
    Ok(())
}

fn meant(parts: &[InnerPart]) -> Vec<TargetDescription> {
    let target = |part: &InnerPart| TargetDescription::builder().id(&*part.key).build();
    parts.iter().map(target).collect()
}

fn read(found: &TargetGroup, tags: Tags) -> Option<Resource> {
    let protocol = found.protocol().map_or("", ProtocolEnum::as_str);
    let targets = found.target_type().map_or("", TargetTypeEnum::as_str);
    let port = found.port().unwrap_or_default();
    let props = Props::from_iter([
        ("vpc", found.vpc_id().unwrap_or_default().into()),
        ("protocol", protocol.to_lowercase().into()),
        ("port", port.to_string().into()),
        (TARGETS, targets.into()),
        (HEALTH_CHECK, health_check(found)),
    ]);
    let arn = found.target_group_arn()?;
    Some(Resource {
        name: found.target_group_name().unwrap_or_default().into(),
        ..resource(&TARGET_GROUP, arn, props, tags)
    })
}

fn health_check(found: &TargetGroup) -> Text {
    let protocol = found.health_check_protocol();
    let protocol = protocol.map_or("", ProtocolEnum::as_str);
    let port = found.health_check_port().unwrap_or_default();
    let path = found.health_check_path().unwrap_or_default();
    let counts = [
        found.health_check_interval_seconds(),
        found.health_check_timeout_seconds(),
        found.healthy_threshold_count(),
        found.unhealthy_threshold_count(),
    ];
    check(
        protocol,
        (port, path),
        counts.map(Option::unwrap_or_default),
    )
}
