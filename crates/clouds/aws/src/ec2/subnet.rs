//! Subnets.

use aws_sdk_ec2::types::{Filter, ResourceType, Subnet, SubnetState};
use cloud_port::aws::subnet::SUBNET;
use ownership::part::{Props, Resource};
use ownership::step::Create;
use ownership::{Answer, CloudError, Query, Target};

use super::{Filters, PAGE, blockers, network, tags};
use crate::blocked::explain;
use crate::client_set::ClientSet;
use crate::handler::handler;
use crate::permissions::Operations;
use crate::resource::{answer, everything, required, resource, unanswered};

const FILTERS: Filters = Filters {
    id: "subnet-id",
    name: None,
    props: &[("vpc", "vpc-id"), ("zone", "availability-zone")],
};

const OPERATIONS: Operations = Operations {
    reads: &["ec2:DescribeSubnets"],
    tags: tags::OPERATIONS,
    owns: &[
        "ec2:CreateSubnet",
        "ec2:DeleteSubnet",
        "ec2:DescribeNetworkInterfaces",
    ],
    adds: &[],
};

handler!(Subnets: SUBNET {});

async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    Ok(answer(query, list(set, FILTERS.of(query)).await?))
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    Ok(everything(list(set, None).await?, Vec::new()))
}

async fn list(set: &ClientSet, filters: Option<Vec<Filter>>) -> Result<Vec<Resource>, CloudError> {
    let found = set
        .ec2
        .describe_subnets()
        .set_filters(filters)
        .max_results(PAGE)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeSubnets"))?;
    Ok(found.iter().filter_map(read).collect())
}

async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let operation = "CreateSubnet";
    let made = set
        .ec2
        .create_subnet()
        .vpc_id(required(create, "vpc")?)
        .cidr_block(required(create, "cidr")?)
        .set_availability_zone(create.props.get("zone").map(ToString::to_string))
        .set_tag_specifications(tags::riding(ResourceType::Subnet, &create.tags))
        .send()
        .await
        .map_err(set.ec2_failure(operation))?;
    let made = made.subnet().and_then(read);
    made.ok_or_else(|| unanswered(operation, "subnet"))
}

async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let id = target.id.as_str();
    let deleted = set.ec2.delete_subnet().subnet_id(id).send().await;
    match deleted.map_err(set.ec2_failure("DeleteSubnet")) {
        Ok(_) => Ok(()),
        Err(error) => {
            let users = blockers::interfaces(set, "subnet-id", &target.id);
            Err(explain(error, users).await)
        }
    }
}

fn read(subnet: &Subnet) -> Option<Resource> {
    let props = Props::from_iter([
        ("vpc", subnet.vpc_id().unwrap_or_default().into()),
        ("cidr", network(subnet.cidr_block())),
        (
            "zone",
            subnet.availability_zone().unwrap_or_default().into(),
        ),
    ]);
    Some(Resource {
        ready: subnet.state() == Some(&SubnetState::Available),
        ..resource(
            &SUBNET,
            subnet.subnet_id()?,
            props,
            tags::read(subnet.tags()),
        )
    })
}
