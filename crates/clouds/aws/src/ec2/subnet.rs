//! Subnets.

use aws_sdk_ec2::types::{AttributeBooleanValue, Filter, ResourceType, Subnet, SubnetState};
use cloud_port::aws::subnet::{PUBLIC_IPS, SUBNET};
use ownership::life::Life;
use ownership::part::{Props, Resource};
use ownership::step::Create;
use ownership::{Answer, CloudError, Query, Target};

use super::{Filters, PAGE, blockers, network, tags, truth};
use crate::blocked::explain;
use crate::client_set::ClientSet;
use crate::handler::{Asked, fixed, handler};
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
        "ec2:ModifySubnetAttribute",
    ],
    adds: &[],
};

handler!(Subnets: SUBNET {
    fn update<'a>(
        &self,
        set: &'a ClientSet,
        target: &'a Target,
        props: &'a Props,
    ) -> Asked<'a, ()> {
        Box::pin(update(set, target, props))
    }
});

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

async fn update(set: &ClientSet, target: &Target, props: &Props) -> Result<(), CloudError> {
    let others = props.iter().any(|(name, _)| *name != PUBLIC_IPS);
    let (Some(public_ips), false) = (props.get(PUBLIC_IPS), others) else {
        return Err(fixed(target));
    };
    let on = **public_ips == *"true";
    let value = AttributeBooleanValue::builder().value(on).build();
    set.ec2
        .modify_subnet_attribute()
        .subnet_id(target.id.as_str())
        .map_public_ip_on_launch(value)
        .send()
        .await
        .map_err(set.ec2_failure("ModifySubnetAttribute"))?;
    Ok(())
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
        (
            PUBLIC_IPS,
            truth(subnet.map_public_ip_on_launch() == Some(true)),
        ),
    ]);
    Some(Resource {
        life: Life::ready_if(subnet.state() == Some(&SubnetState::Available)),
        ..resource(
            &SUBNET,
            subnet.subnet_id()?,
            props,
            tags::read(subnet.tags()),
        )
    })
}
