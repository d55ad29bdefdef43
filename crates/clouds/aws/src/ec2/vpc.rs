//! VPCs.

use aws_sdk_ec2::types::{Filter, ResourceType, Vpc, VpcState};
use cloud_port::aws::vpc::VPC;
use ownership::part::{Props, Resource};
use ownership::step::Create;
use ownership::{Answer, CloudError, Query, Target};

use super::{Filters, PAGE, blockers, network, tags, truth};
use crate::blocked::explain;
use crate::client_set::ClientSet;
use crate::handler::handler;
use crate::permissions::Operations;
use crate::resource::{answer, everything, required, resource, unanswered};

const FILTERS: Filters = Filters {
    id: "vpc-id",
    name: None,
    props: &[("default", "is-default")],
};

const OPERATIONS: Operations = Operations {
    reads: &["ec2:DescribeVpcs"],
    tags: tags::OPERATIONS,
    owns: &[
        "ec2:CreateVpc",
        "ec2:DeleteVpc",
        "ec2:DescribeInternetGateways",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeRouteTables",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
    ],
    adds: &[],
};

handler!(Vpcs: VPC {});

async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    Ok(answer(query, list(set, FILTERS.of(query)).await?))
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    Ok(everything(list(set, None).await?, Vec::new()))
}

async fn list(set: &ClientSet, filters: Option<Vec<Filter>>) -> Result<Vec<Resource>, CloudError> {
    let found = set
        .ec2
        .describe_vpcs()
        .set_filters(filters)
        .max_results(PAGE)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeVpcs"))?;
    Ok(found.iter().filter_map(read).collect())
}

async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let operation = "CreateVpc";
    let made = set
        .ec2
        .create_vpc()
        .cidr_block(required(create, "cidr")?)
        .set_tag_specifications(tags::riding(ResourceType::Vpc, &create.tags))
        .send()
        .await
        .map_err(set.ec2_failure(operation))?;
    let made = made.vpc().and_then(read);
    made.ok_or_else(|| unanswered(operation, "VPC"))
}

async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let deleted = set.ec2.delete_vpc().vpc_id(target.id.as_str()).send().await;
    match deleted.map_err(set.ec2_failure("DeleteVpc")) {
        Ok(_) => Ok(()),
        Err(error) => Err(explain(error, blockers::of_vpc(set, &target.id)).await),
    }
}

fn read(vpc: &Vpc) -> Option<Resource> {
    let props = Props::from_iter([
        ("cidr", network(vpc.cidr_block())),
        ("default", truth(vpc.is_default().unwrap_or(false))),
    ]);
    Some(Resource {
        ready: vpc.state() == Some(&VpcState::Available),
        ..resource(&VPC, vpc.vpc_id()?, props, tags::read(vpc.tags()))
    })
}
