//! Who stands in the way of a deletion in EC2.

use aws_sdk_ec2::types::NetworkInterface;
use cloud_port::aws::security_group::DEFAULT_NAME;
use ownership::ResourceId;
use ownership::error::Blocker;

use super::{filter, route_table};
use crate::blocked::{Found, blocker};
use crate::client_set::ClientSet;

/// Network interfaces, by a filter that says in what they are.
pub(super) async fn interfaces(set: &ClientSet, by: &str, id: &ResourceId) -> Found {
    let found = set
        .ec2
        .describe_network_interfaces()
        .filters(filter(by, [id.as_str()]))
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeNetworkInterfaces"))?;
    let mut blockers: Vec<_> = found.iter().filter_map(interface).collect();
    blockers.sort();
    blockers.dedup();
    Ok(blockers)
}

/// Whose an interface is, where AWS made it for something else: only its description says so.
fn interface(found: &NetworkInterface) -> Option<Blocker> {
    let description = found.description().unwrap_or_default();
    if let Some(nat) = description.strip_prefix("Interface for NAT Gateway ") {
        return blocker("NAT gateway", Some(nat));
    }
    match description.strip_prefix("ELB ") {
        Some(name) if name.starts_with("net/") => blocker("network load balancer", Some(name)),
        Some(name) if !name.contains('/') => blocker("classic load balancer", Some(name)),
        _ => blocker("network interface", found.network_interface_id()),
    }
}

/// Network interfaces with the group, and groups with a rule that names it.
pub(super) async fn of_security_group(set: &ClientSet, id: &ResourceId) -> Found {
    let mut blockers = groups(set, "ip-permission.group-id", id).await?;
    blockers.extend(groups(set, "egress.ip-permission.group-id", id).await?);
    blockers.retain(|group| group.id != *id);
    blockers.sort();
    blockers.dedup();
    blockers.extend(interfaces(set, "group-id", id).await?);
    Ok(blockers)
}

/// The subnets that use a table, or the VPC whose main one it is.
pub(super) async fn of_route_table(set: &ClientSet, id: &ResourceId) -> Found {
    let mut blockers = Vec::new();
    for table in tables(set, "route-table-id", id).await? {
        if route_table::is_main(&table) {
            blockers.extend(blocker("VPC whose main route table it is", table.vpc_id()));
        }
        for association in table.associations() {
            blockers.extend(blocker("association", association.subnet_id()));
            blockers.extend(blocker("gateway", association.gateway_id()));
        }
    }
    Ok(blockers)
}

/// Everything in a VPC that does not go with it.
pub(super) async fn of_vpc(set: &ClientSet, id: &ResourceId) -> Found {
    let within = || filter("vpc-id", [id.as_str()]);
    let mut blockers = Vec::new();
    let subnets = set
        .ec2
        .describe_subnets()
        .filters(within())
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeSubnets"))?;
    let subnets = subnets.iter();
    blockers.extend(subnets.filter_map(|subnet| blocker("subnet", subnet.subnet_id())));
    blockers.extend(groups(set, "vpc-id", id).await?);
    let tables = tables(set, "vpc-id", id).await?;
    let tables = tables.iter().filter(|table| !route_table::is_main(table));
    blockers.extend(tables.filter_map(|table| blocker("route table", table.route_table_id())));
    blockers.extend(interfaces(set, "vpc-id", id).await?);
    let gateways = set
        .ec2
        .describe_internet_gateways()
        .filters(filter("attachment.vpc-id", [id.as_str()]))
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeInternetGateways"))?;
    let gateways = gateways.iter();
    blockers.extend(
        gateways.filter_map(|gateway| blocker("internet gateway", gateway.internet_gateway_id())),
    );
    Ok(blockers)
}

/// Groups that a filter finds, but for default ones: those go with their VPC.
async fn groups(set: &ClientSet, by: &str, id: &ResourceId) -> Found {
    let found = set
        .ec2
        .describe_security_groups()
        .filters(filter(by, [id.as_str()]))
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeSecurityGroups"))?;
    let ours_to_name = |name: Option<&str>| by != "vpc-id" || name != Some(DEFAULT_NAME);
    let blockers = found
        .iter()
        .filter(|group| ours_to_name(group.group_name()));
    Ok(blockers
        .filter_map(|group| blocker("security group", group.group_id()))
        .collect())
}

async fn tables(
    set: &ClientSet,
    by: &str,
    id: &ResourceId,
) -> Result<Vec<aws_sdk_ec2::types::RouteTable>, ownership::CloudError> {
    set.ec2
        .describe_route_tables()
        .filters(filter(by, [id.as_str()]))
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeRouteTables"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_told_by_whose_it_is() {
        let told = |description: &str| {
            let found = NetworkInterface::builder().network_interface_id("eni-1");
            let found = found.description(description).build();
            interface(&found).unwrap().to_string()
        };
        assert_eq!(told("Interface for NAT Gateway nat-1"), "NAT gateway nat-1");
        assert_eq!(
            told("ELB prod-apiserver"),
            "classic load balancer prod-apiserver"
        );
        assert_eq!(told("ELB net/prod/1"), "network load balancer net/prod/1");
        assert_eq!(told("ELB app/prod/1"), "network interface eni-1");
        assert_eq!(told(""), "network interface eni-1");
    }
}
