//! What cannot be made or attached, because its place is taken, or is not there.

use std::io;

use super::call::Api;
use super::refusal::Refusal;
use super::rules::Visit;

pub(crate) async fn refused(visit: &Visit<'_>) -> io::Result<Option<Refusal>> {
    if visit.call.api != Api::Ec2 {
        return Ok(None);
    }
    match visit.call.operation.as_str() {
        "AssociateRouteTable" => association(visit).await,
        "AttachInternetGateway" => gateway(visit).await,
        "CreateSecurityGroup" => group(visit).await,
        _ => Ok(None),
    }
}

async fn association(visit: &Visit<'_>) -> io::Result<Option<Refusal>> {
    let Some(subnet) = visit.call.param("SubnetId") else {
        return Ok(None);
    };
    let (operation, filter) = ("DescribeRouteTables", "association.subnet-id");
    let list = "routeTableSet";
    let tables = visit.moto.filtered(operation, filter, subnet, list).await?;
    let wanted = visit.param("RouteTableId");
    let other = tables
        .iter()
        .find(|table| table.get("routeTableId") != wanted);
    Ok(other.map(|_| {
        let message = format!(
            "the specified association for route table {wanted} conflicts with an existing association"
        );
        Refusal::bad("Resource.AlreadyAssociated", &message)
    }))
}

async fn gateway(visit: &Visit<'_>) -> io::Result<Option<Refusal>> {
    let vpc = visit.param("VpcId");
    let (operation, filter) = ("DescribeInternetGateways", "attachment.vpc-id");
    let list = "internetGatewaySet";
    let gateways = visit.moto.filtered(operation, filter, vpc, list).await?;
    let wanted = visit.param("InternetGatewayId");
    let other = gateways
        .iter()
        .find(|gateway| gateway.get("internetGatewayId") != wanted);
    Ok(other.map(|_| {
        let message = format!("Network {vpc} already has an internet gateway attached");
        Refusal::bad("InvalidParameterValue", &message)
    }))
}

async fn group(visit: &Visit<'_>) -> io::Result<Option<Refusal>> {
    let Some(vpc) = visit.call.param("VpcId") else {
        return Ok(None);
    };
    let params = [("VpcId.1", vpc)];
    let there = visit
        .moto
        .found(Api::Ec2, "DescribeVpcs", &params, "vpcSet")
        .await?;
    Ok(there.is_empty().then(|| {
        let message = format!("The vpc ID '{vpc}' does not exist");
        Refusal::bad("InvalidVpcID.NotFound", &message)
    }))
}
