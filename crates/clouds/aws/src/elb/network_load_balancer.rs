//! Network load balancers.

use aws_sdk_elasticloadbalancingv2::types::{
    LoadBalancer, LoadBalancerSchemeEnum, LoadBalancerStateEnum, LoadBalancerTypeEnum,
};
use cloud_port::aws::load_balancer::ids;
use cloud_port::aws::network_load_balancer::{
    DNS_NAME, GROUP, GROUPS, LISTENER, NETWORK_LOAD_BALANCER, SUBNET, SUBNETS, VPC,
};
use ownership::life::Life;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::query::InnerAnswer;
use ownership::step::Create;
use ownership::{Answer, CloudError, Query, Target, Text};

use super::{PAGE, listener, name_in, replaced, tags, told};
use crate::by_key::{optional, tags_alone};
use crate::client_set::ClientSet;
use crate::handler::{Parts, handler, parts};
use crate::observe;
use crate::permissions::Operations;
use crate::resource::{answer, everything, inside, required, resource, unanswered};

const OPERATIONS: Operations = Operations {
    reads: &[
        "elasticloadbalancing:DescribeLoadBalancers",
        "elasticloadbalancing:DescribeTags",
    ],
    tags: tags::OPERATIONS,
    owns: &[
        "elasticloadbalancing:CreateLoadBalancer",
        "elasticloadbalancing:DeleteListener",
        "elasticloadbalancing:DeleteLoadBalancer",
        "elasticloadbalancing:DescribeListeners",
    ],
    adds: &[
        (SUBNET, &["elasticloadbalancing:SetSubnets"]),
        (GROUP, &["elasticloadbalancing:SetSecurityGroups"]),
        (LISTENER, &["elasticloadbalancing:CreateListener"]),
    ],
};

handler!(NetworkLoadBalancers: NETWORK_LOAD_BALANCER {
    tags_alone!();

    fn parts(&self) -> &'static [(&'static str, &'static dyn Parts)] {
        &[
            (SUBNET, &Subnets),
            (GROUP, &Groups),
            (LISTENER, &listener::Listeners),
        ]
    }
});

parts!(Subnets: subnets, add_subnets, remove_subnets {});
parts!(Groups: groups, add_groups, remove_groups {});

async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    let found = list(set, query).await?;
    let meant = found.iter().filter(|(read, _)| query.means(read));
    let inner = meant.flat_map(|(_, inner)| inner.clone()).collect();
    Ok(Answer {
        inner,
        ..answer(query, found.into_iter().map(|(read, _)| read))
    })
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    let found = describe(set).await?;
    let found = with_tags(set, found).await?;
    let inner = found.iter().flat_map(|(_, inner)| inner.clone()).collect();
    Ok(everything(found.into_iter().map(|(read, _)| read), inner))
}

type Found = Vec<(Resource, Vec<InnerAnswer>)>;

/// Load balancers that a query may mean, with what is inside them but for their listeners.
async fn list(set: &ClientSet, query: &Query) -> Result<Found, CloudError> {
    let call = set.elbv2.describe_load_balancers();
    let call = match (query, name_in(query)) {
        (Query::Id(target), _) => call.load_balancer_arns(target.id.as_str()),
        (_, Some(name)) => call.names(name),
        _ => return with_tags(set, describe(set).await?).await,
    };
    let found = call.send().await;
    let found = optional(found.map_err(set.elbv2_failure("DescribeLoadBalancers")))?;
    let found = found.and_then(|found| found.load_balancers);
    with_tags(set, found.unwrap_or_default()).await
}

async fn describe(set: &ClientSet) -> Result<Vec<LoadBalancer>, CloudError> {
    set.elbv2
        .describe_load_balancers()
        .page_size(PAGE)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.elbv2_failure("DescribeLoadBalancers"))
}

/// Other load balancers of this API are none of this Kind.
async fn with_tags(set: &ClientSet, mut found: Vec<LoadBalancer>) -> Result<Found, CloudError> {
    found.retain(|found| found.r#type() == Some(&LoadBalancerTypeEnum::Network));
    let arns = found.iter().filter_map(|found| found.load_balancer_arn());
    let arns: Vec<String> = arns.map(str::to_owned).collect();
    let mut tags = tags::of(set, &arns).await?;
    let read = found.iter().filter_map(|found| {
        let tags = tags.remove(found.load_balancer_arn()?);
        let read = read(found, tags.unwrap_or_default())?;
        let inner = inner(found, &read.target());
        Some((read, inner))
    });
    Ok(read.collect())
}

async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let operation = "CreateLoadBalancer";
    let some = |joined: &str| {
        let ids: Vec<String> = ids(joined).map(str::to_owned).collect();
        (!ids.is_empty()).then_some(ids)
    };
    let groups = create.props.get(GROUPS).and_then(|groups| some(groups));
    let made = set
        .elbv2
        .create_load_balancer()
        .name(&*create.name)
        .r#type(LoadBalancerTypeEnum::Network)
        .scheme(LoadBalancerSchemeEnum::from(required(create, "scheme")?))
        .set_subnets(some(required(create, SUBNETS)?))
        .set_security_groups(groups)
        .set_tags(tags::riding(&create.tags))
        .send()
        .await
        .map_err(set.elbv2_failure(operation))?;
    let made = made.load_balancers().first();
    let made = made.and_then(|made| read(made, create.tags.clone()));
    made.ok_or_else(|| unanswered(operation, "load balancer"))
}

/// To delete one that is gone is nothing.
async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let call = set.elbv2.delete_load_balancer();
    let deleted = call.load_balancer_arn(target.id.as_str()).send().await;
    deleted.map_err(set.elbv2_failure("DeleteLoadBalancer"))?;
    Ok(())
}

async fn tag(set: &ClientSet, on: &Target, tags: &[(Text, Text)]) -> Result<(), CloudError> {
    tags::add(set, on, tags).await
}

async fn untag(set: &ClientSet, on: &Target, tags: &[(Text, Text)]) -> Result<(), CloudError> {
    tags::remove(set, on, tags).await
}

async fn subnets(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    Ok(inside(find(set, &Query::Id(of.clone())).await?, of, SUBNET))
}

async fn groups(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    Ok(inside(find(set, &Query::Id(of.clone())).await?, of, GROUP))
}

async fn add_subnets(set: &ClientSet, on: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    set_subnets(set, on, parts, &[]).await
}

async fn remove_subnets(
    set: &ClientSet,
    on: &Target,
    parts: &[InnerPart],
) -> Result<(), CloudError> {
    set_subnets(set, on, &[], parts).await
}

/// The call replaces all subnets: those that are there are read just before.
async fn set_subnets(
    set: &ClientSet,
    on: &Target,
    with: &[InnerPart],
    without: &[InnerPart],
) -> Result<(), CloudError> {
    let there = parts_of(subnets(set, on).await?);
    let call = set.elbv2.set_subnets().load_balancer_arn(on.id.as_str());
    let call = call.set_subnets(Some(replaced(&there, with, without)));
    let operation = "SetSubnets";
    call.send().await.map_err(set.elbv2_failure(operation))?;
    Ok(())
}

async fn add_groups(set: &ClientSet, on: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    set_groups(set, on, parts, &[]).await
}

async fn remove_groups(
    set: &ClientSet,
    on: &Target,
    parts: &[InnerPart],
) -> Result<(), CloudError> {
    set_groups(set, on, &[], parts).await
}

/// The call replaces all groups: those that are there are read just before.
async fn set_groups(
    set: &ClientSet,
    on: &Target,
    with: &[InnerPart],
    without: &[InnerPart],
) -> Result<(), CloudError> {
    let there = parts_of(groups(set, on).await?);
    let call = set.elbv2.set_security_groups();
    let call = call.load_balancer_arn(on.id.as_str());
    let call = call.set_security_groups(Some(replaced(&there, with, without)));
    let operation = "SetSecurityGroups";
    call.send().await.map_err(set.elbv2_failure(operation))?;
    Ok(())
}

fn parts_of(told: Answer) -> Vec<InnerPart> {
    told.inner.into_iter().flat_map(|told| told.parts).collect()
}

fn read(found: &LoadBalancer, tags: Tags) -> Option<Resource> {
    let scheme = found.scheme().map_or("", LoadBalancerSchemeEnum::as_str);
    let mut props = Props::from_iter([
        ("scheme", scheme.into()),
        (DNS_NAME, found.dns_name().unwrap_or_default().into()),
    ]);
    if let Some(vpc) = found.vpc_id() {
        props.set(VPC, vpc.into());
    }
    let arn = found.load_balancer_arn()?;
    Some(Resource {
        name: found.load_balancer_name().unwrap_or_default().into(),
        created: found.created_time().and_then(observe::time),
        life: life(found),
        ..resource(&NETWORK_LOAD_BALANCER, arn, props, tags)
    })
}

fn life(found: &LoadBalancer) -> Life {
    let state = found.state();
    match state.and_then(|state| state.code()) {
        Some(LoadBalancerStateEnum::Active | LoadBalancerStateEnum::ActiveImpaired) => Life::Ready,
        Some(LoadBalancerStateEnum::Failed) => {
            let why = state.and_then(|state| state.reason());
            Life::Failed(why.unwrap_or("AWS does not say why").into())
        }
        _ => Life::Coming,
    }
}

fn inner(found: &LoadBalancer, of: &Target) -> Vec<InnerAnswer> {
    let zones = found.availability_zones().iter();
    let groups = found.security_groups().iter();
    vec![
        told(of, SUBNET, zones.filter_map(|zone| zone.subnet_id())),
        told(of, GROUP, groups.map(String::as_str)),
    ]
}
