//! Elastic IP addresses.

use aws_sdk_ec2::types::{Address, DomainType, Filter, ResourceType};
use cloud_port::aws::elastic_ip::{ADDRESS, ELASTIC_IP};
use ownership::part::{Props, Resource};
use ownership::step::Create;
use ownership::{Answer, CloudError, Query, Target};

use super::{Filters, nat_gateway, tags};
use crate::blocked::{Found, blocker, explain};
use crate::client_set::ClientSet;
use crate::handler::handler;
use crate::permissions::Operations;
use crate::resource::{answer, everything, resource, unanswered};

const FILTERS: Filters = Filters {
    id: "allocation-id",
    name: None,
    props: &[(ADDRESS, "public-ip")],
};

const OPERATIONS: Operations = Operations {
    reads: &["ec2:DescribeAddresses"],
    tags: tags::OPERATIONS,
    owns: &[
        "ec2:AllocateAddress",
        "ec2:DescribeNatGateways",
        "ec2:ReleaseAddress",
    ],
    adds: &[],
};

handler!(ElasticIps: ELASTIC_IP {});

async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    let found = list(set, FILTERS.of(query)).await?;
    Ok(answer(query, found.iter().filter_map(read)))
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    let found = list(set, None).await?;
    Ok(everything(found.iter().filter_map(read), Vec::new()))
}

/// EC2 tells all of them at once.
async fn list(set: &ClientSet, filters: Option<Vec<Filter>>) -> Result<Vec<Address>, CloudError> {
    let call = set.ec2.describe_addresses().set_filters(filters);
    let found = call.send().await;
    let found = found.map_err(set.ec2_failure("DescribeAddresses"))?;
    Ok(found.addresses.unwrap_or_default())
}

async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let operation = "AllocateAddress";
    let made = set
        .ec2
        .allocate_address()
        .domain(DomainType::Vpc)
        .set_tag_specifications(tags::riding(ResourceType::ElasticIp, &create.tags))
        .send()
        .await
        .map_err(set.ec2_failure(operation))?;
    let id = made.allocation_id();
    let id = id.ok_or_else(|| unanswered(operation, "id of the allocation"))?;
    let address = made.public_ip().unwrap_or_default();
    let props = Props::from_iter([(ADDRESS, address.into())]);
    Ok(resource(&ELASTIC_IP, id, props, create.tags.clone()))
}

async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let call = set.ec2.release_address().allocation_id(target.id.as_str());
    match call.send().await.map_err(set.ec2_failure("ReleaseAddress")) {
        Ok(_) => Ok(()),
        Err(error) => Err(explain(error, users(set, target)).await),
    }
}

/// The NAT gateway that has it, else the interface or the instance.
async fn users(set: &ClientSet, target: &Target) -> Found {
    let id = target.id.as_str();
    let nats = nat_gateway::list(set, None).await?;
    let having = nats.iter().filter(|nat| {
        let mut addresses = nat.nat_gateway_addresses().iter();
        addresses.any(|address| address.allocation_id() == Some(id))
    });
    let having: Vec<_> = having
        .filter_map(|nat| blocker("NAT gateway", nat.nat_gateway_id()))
        .collect();
    if !having.is_empty() {
        return Ok(having);
    }
    let found = list(set, FILTERS.of(&Query::Id(target.clone()))).await?;
    let users = found.iter().filter_map(|found| {
        let interface = blocker("network interface", found.network_interface_id());
        let instance = found.instance_id().filter(|id| !id.is_empty());
        interface.or_else(|| blocker("instance", instance))
    });
    Ok(users.collect())
}

fn read(address: &Address) -> Option<Resource> {
    let public = address.public_ip().unwrap_or_default();
    let props = Props::from_iter([(ADDRESS, public.into())]);
    let (id, tags) = (address.allocation_id()?, tags::read(address.tags()));
    Some(resource(&ELASTIC_IP, id, props, tags))
}
