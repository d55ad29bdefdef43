//! VPCs.

use aws_sdk_ec2::types::{
    AttributeBooleanValue, Filter, ResourceType, Vpc, VpcAttributeName, VpcState,
};
use cloud_port::aws::vpc::{DNS_ATTRIBUTE, DNS_HOSTNAMES, DNS_SUPPORT, VPC};
use ownership::life::Life;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::query::InnerAnswer;
use ownership::step::Create;
use ownership::{Answer, Class, CloudError, Query, Target};

use super::{Filters, PAGE, blockers, network, tags, truth};
use crate::blocked::explain;
use crate::by_key::optional;
use crate::client_set::ClientSet;
use crate::handler::{Parts, handler, parts};
use crate::permissions::Operations;
use crate::resource::{answer, everything, one_part, required, resource, unanswered};

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
        "ec2:DescribeVpcAttribute",
    ],
    adds: &[(DNS_ATTRIBUTE, &["ec2:ModifyVpcAttribute"])],
};

handler!(Vpcs: VPC {
    fn parts(&self) -> &'static [(&'static str, &'static dyn Parts)] {
        &[(DNS_ATTRIBUTE, &DnsAttributes)]
    }
});

parts!(DnsAttributes: attributes, switch_on, switch_off {});

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

/// Those that are on, a call for each.
async fn attributes(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    let mut parts = Vec::new();
    for (key, name) in [
        (DNS_HOSTNAMES, VpcAttributeName::EnableDnsHostnames),
        (DNS_SUPPORT, VpcAttributeName::EnableDnsSupport),
    ] {
        let call = set.ec2.describe_vpc_attribute().vpc_id(of.id.as_str());
        let told = call.attribute(name).send().await;
        let told = told.map_err(set.ec2_failure("DescribeVpcAttribute"));
        let on = optional(told)?.and_then(|told| {
            let value = match key {
                DNS_SUPPORT => told.enable_dns_support(),
                _ => told.enable_dns_hostnames(),
            };
            value?.value()
        });
        if on == Some(true) {
            parts.push(InnerPart::new(key, "", Tags::new()));
        }
    }
    let (of, inner) = (of.clone(), DNS_ATTRIBUTE);
    Ok(Answer {
        inner: vec![InnerAnswer { of, inner, parts }],
        ..Answer::default()
    })
}

async fn switch_on(set: &ClientSet, vpc: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    switch(set, vpc, parts, true).await
}

async fn switch_off(set: &ClientSet, vpc: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    switch(set, vpc, parts, false).await
}

async fn switch(
    set: &ClientSet,
    vpc: &Target,
    parts: &[InnerPart],
    on: bool,
) -> Result<(), CloudError> {
    let value = AttributeBooleanValue::builder().value(on).build();
    let call = set.ec2.modify_vpc_attribute().vpc_id(vpc.id.as_str());
    let call = match &*one_part(parts, DNS_ATTRIBUTE)?.key {
        DNS_SUPPORT => call.enable_dns_support(value),
        DNS_HOSTNAMES => call.enable_dns_hostnames(value),
        other => {
            let message = format!("a VPC has no attribute {other}");
            let code = "InvalidParameterValue";
            return Err(CloudError::new(Class::Fatal, code, message));
        }
    };
    let operation = "ModifyVpcAttribute";
    call.send().await.map_err(set.ec2_failure(operation))?;
    Ok(())
}

fn read(vpc: &Vpc) -> Option<Resource> {
    let props = Props::from_iter([
        ("cidr", network(vpc.cidr_block())),
        ("default", truth(vpc.is_default().unwrap_or(false))),
    ]);
    Some(Resource {
        life: Life::ready_if(vpc.state() == Some(&VpcState::Available)),
        ..resource(&VPC, vpc.vpc_id()?, props, tags::read(vpc.tags()))
    })
}
