//! Internet gateways, with the attachment of each.

use aws_sdk_ec2::types::{
    AttachmentStatus, Filter, InternetGateway, NetworkInterface, ResourceType,
};
use cloud_port::aws::internet_gateway::{ATTACHMENT, INTERNET_GATEWAY};
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::query::InnerAnswer;
use ownership::step::Create;
use ownership::{Answer, CloudError, Query, Target};

use super::{Filters, PAGE, filter, tags};
use crate::blocked::{Found, blocker, explain};
use crate::client_set::ClientSet;
use crate::handler::{Parts, handler, parts};
use crate::permissions::Operations;
use crate::resource::{answer, everything, inside, one_part, resource, unanswered};

const FILTERS: Filters = Filters {
    id: "internet-gateway-id",
    name: None,
    props: &[],
};

const OPERATIONS: Operations = Operations {
    reads: &["ec2:DescribeInternetGateways"],
    tags: tags::OPERATIONS,
    owns: &[
        "ec2:CreateInternetGateway",
        "ec2:DeleteInternetGateway",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DetachInternetGateway",
    ],
    adds: &[(ATTACHMENT, &["ec2:AttachInternetGateway"])],
};

handler!(InternetGateways: INTERNET_GATEWAY {
    fn parts(&self) -> &'static [(&'static str, &'static dyn Parts)] {
        &[(ATTACHMENT, &Attachments)]
    }
});

parts!(Attachments: attachment_of, attach, detach {});

/// A read of a gateway shows its attachment.
async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    let found = list(set, FILTERS.of(query)).await?;
    let found = found.iter().filter_map(|gateway| {
        let read = read(gateway)?;
        query
            .means(&read)
            .then(|| (attachment(gateway, &read), read))
    });
    let (inner, gateways): (Vec<_>, Vec<_>) = found.unzip();
    Ok(Answer {
        inner,
        ..answer(query, gateways)
    })
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    let found = list(set, None).await?;
    let found = found.iter().filter_map(|gateway| {
        let read = read(gateway)?;
        Some((attachment(gateway, &read), read))
    });
    let (attachments, gateways): (Vec<_>, Vec<_>) = found.unzip();
    Ok(everything(gateways, attachments))
}

async fn list(
    set: &ClientSet,
    filters: Option<Vec<Filter>>,
) -> Result<Vec<InternetGateway>, CloudError> {
    set.ec2
        .describe_internet_gateways()
        .set_filters(filters)
        .max_results(PAGE)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeInternetGateways"))
}

async fn attachment_of(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    let read = find(set, &Query::Id(of.clone())).await?;
    Ok(inside(read, of, ATTACHMENT))
}

async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let operation = "CreateInternetGateway";
    let made = set
        .ec2
        .create_internet_gateway()
        .set_tag_specifications(tags::riding(ResourceType::InternetGateway, &create.tags))
        .send()
        .await
        .map_err(set.ec2_failure(operation))?;
    let made = made.internet_gateway().and_then(read);
    made.ok_or_else(|| unanswered(operation, "internet gateway"))
}

async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let call = set.ec2.delete_internet_gateway();
    let deleted = call.internet_gateway_id(target.id.as_str()).send().await;
    match deleted.map_err(set.ec2_failure("DeleteInternetGateway")) {
        Ok(_) => Ok(()),
        Err(error) => Err(explain(error, attached(set, target)).await),
    }
}

/// All that keeps a gateway is its attachment.
async fn attached(set: &ClientSet, target: &Target) -> Found {
    let told = attachment_of(set, target).await?;
    let parts = told.inner.iter().flat_map(|inner| &inner.parts);
    Ok(parts
        .filter_map(|part| blocker(ATTACHMENT, Some(&part.key)))
        .collect())
}

async fn attach(set: &ClientSet, target: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    set.ec2
        .attach_internet_gateway()
        .internet_gateway_id(target.id.as_str())
        .vpc_id(&*one_part(parts, ATTACHMENT)?.key)
        .send()
        .await
        .map_err(set.ec2_failure("AttachInternetGateway"))?;
    Ok(())
}

async fn detach(set: &ClientSet, target: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let vpc = &*one_part(parts, ATTACHMENT)?.key;
    let call = set.ec2.detach_internet_gateway().vpc_id(vpc);
    let detached = call.internet_gateway_id(target.id.as_str()).send().await;
    match detached.map_err(set.ec2_failure("DetachInternetGateway")) {
        Ok(_) => Ok(()),
        Err(error) => Err(explain(error, public_interfaces(set, vpc)).await),
    }
}

/// Who has a public address in the VPC: until it is given back, the gateway stays.
async fn public_interfaces(set: &ClientSet, vpc: &str) -> Found {
    let found = set
        .ec2
        .describe_network_interfaces()
        .filters(filter("vpc-id", [vpc]))
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeNetworkInterfaces"))?;
    let is_public = |found: &&NetworkInterface| {
        let mut addresses = found.private_ip_addresses().iter();
        addresses.any(|address| address.association().is_some())
    };
    let public = found.iter().filter(is_public);
    Ok(public
        .filter_map(|found| blocker("network interface", found.network_interface_id()))
        .collect())
}

fn read(gateway: &InternetGateway) -> Option<Resource> {
    let (id, tags) = (gateway.internet_gateway_id()?, tags::read(gateway.tags()));
    Some(resource(&INTERNET_GATEWAY, id, Props::new(), tags))
}

/// What is being attached or detached is there; EC2 calls an attachment that is done "available".
fn attachment(gateway: &InternetGateway, read: &Resource) -> InnerAnswer {
    let there = gateway.attachments().iter();
    let there = there.filter(|found| found.state() != Some(&AttachmentStatus::Detached));
    let vpcs = there.filter_map(|found| found.vpc_id());
    InnerAnswer {
        of: Target::new(&INTERNET_GATEWAY, read.id.clone()),
        inner: ATTACHMENT,
        parts: vpcs
            .map(|vpc| InnerPart::new(vpc, "", Tags::new()))
            .collect(),
    }
}
