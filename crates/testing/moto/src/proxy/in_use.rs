//! What cannot be deleted, because something uses it.

use std::io;

use super::call::Api;
use super::refusal::Refusal;
use super::rules::Visit;
use super::xml::Element;

pub(crate) async fn refused(visit: &Visit<'_>) -> io::Result<Option<Refusal>> {
    if visit.call.api != Api::Ec2 {
        return Ok(None);
    }
    match visit.call.operation.as_str() {
        "DeleteSubnet" => subnet(visit, visit.param("SubnetId")).await,
        "DeleteSecurityGroup" => security_group(visit, visit.param("GroupId")).await,
        "DeleteRouteTable" => route_table(visit, visit.param("RouteTableId")).await,
        "DeleteVpc" => vpc(visit, visit.param("VpcId")).await,
        "DetachInternetGateway" => attachment(visit, visit.param("VpcId")).await,
        "ReleaseAddress" => address(visit, visit.param("AllocationId")).await,
        _ => Ok(None),
    }
}

fn violation(message: &str) -> Refusal {
    Refusal::bad("DependencyViolation", message)
}

fn has_dependencies(noun: &str, id: &str) -> Refusal {
    violation(&format!(
        "The {noun} '{id}' has dependencies and cannot be deleted."
    ))
}

/// Instances, NAT gateways and load balancers are in a subnet by their interfaces.
async fn subnet(visit: &Visit<'_>, id: &str) -> io::Result<Option<Refusal>> {
    let interfaces = visit.moto.interfaces("subnet-id", id).await?;
    let used = !interfaces.is_empty();
    Ok(used.then(|| has_dependencies("subnet", id)))
}

async fn security_group(visit: &Visit<'_>, id: &str) -> io::Result<Option<Refusal>> {
    let groups = |filter| groups(visit, filter, id);
    let itself = groups("group-id").await?;
    if itself
        .iter()
        .any(|group| group.get("groupName") == "default")
    {
        let message =
            format!("the specified group: \"{id}\" name: \"default\" cannot be deleted by a user");
        return Ok(Some(Refusal::bad("CannotDelete", &message)));
    }
    let mut used = !visit.moto.interfaces("group-id", id).await?.is_empty();
    for rules in ["ip-permission.group-id", "egress.ip-permission.group-id"] {
        // Rules of its own go with it.
        used |= groups(rules)
            .await?
            .iter()
            .any(|group| group.get("groupId") != id);
    }
    Ok(used.then(|| violation(&format!("resource {id} has a dependent object"))))
}

async fn groups(visit: &Visit<'_>, filter: &str, id: &str) -> io::Result<Vec<Element>> {
    let (operation, list) = ("DescribeSecurityGroups", "securityGroupInfo");
    visit.moto.filtered(operation, filter, id, list).await
}

/// That it has associations with subnets, moto sees by itself.
async fn route_table(visit: &Visit<'_>, id: &str) -> io::Result<Option<Refusal>> {
    let (operation, list) = ("DescribeRouteTables", "associationSet");
    let associations = visit
        .moto
        .filtered(operation, "route-table-id", id, list)
        .await?;
    let main = associations
        .iter()
        .any(|association| association.get("main") == "true");
    Ok(main.then(|| has_dependencies("routeTable", id)))
}

/// That there are subnets and route tables in it, moto sees by itself.
async fn vpc(visit: &Visit<'_>, id: &str) -> io::Result<Option<Refusal>> {
    let groups = groups(visit, "vpc-id", id).await?;
    let (operation, list) = ("DescribeInternetGateways", "internetGatewaySet");
    let gateways = visit
        .moto
        .filtered(operation, "attachment.vpc-id", id, list)
        .await?;
    let used = groups
        .iter()
        .any(|group| group.get("groupName") != "default")
        || !gateways.is_empty();
    Ok(used.then(|| has_dependencies("vpc", id)))
}

/// What has a public address needs the internet gateway.
async fn attachment(visit: &Visit<'_>, vpc: &str) -> io::Result<Option<Refusal>> {
    let interfaces = visit.moto.interfaces("vpc-id", vpc).await?;
    let public = |interface: &Element| {
        let association = interface.find("association");
        association.is_some_and(|association| !association.get("publicIp").is_empty())
    };
    let mut mapped = interfaces.iter().any(public);
    for (api, list, field) in [
        (Api::Elb, "LoadBalancerDescriptions", "VPCId"),
        (Api::ElbV2, "LoadBalancers", "VpcId"),
    ] {
        let balancers = visit
            .moto
            .found(api, "DescribeLoadBalancers", &[], list)
            .await?;
        let here = |balancer: &&Element| balancer.get(field) == vpc;
        mapped |= balancers
            .iter()
            .filter(here)
            .any(|b| b.get("Scheme") != "internal");
    }
    let message = format!(
        "Network {vpc} has some mapped public address(es). Please unmap those public address(es) \
         before detaching the gateway."
    );
    Ok(mapped.then(|| violation(&message)))
}

async fn address(visit: &Visit<'_>, allocation: &str) -> io::Result<Option<Refusal>> {
    let params = [("AllocationId.1", allocation)];
    let (operation, list) = ("DescribeAddresses", "addressesSet");
    let found = visit.moto.found(Api::Ec2, operation, &params, list).await?;
    let used = found
        .iter()
        .find(|address| !address.get("associationId").is_empty());
    Ok(used.map(|address| {
        let message = format!("Address {} is in use.", address.get("publicIp"));
        Refusal::bad("InvalidIPAddress.InUse", &message)
    }))
}
