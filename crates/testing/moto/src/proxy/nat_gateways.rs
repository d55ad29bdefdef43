//! NAT gateways: what they have, and what is free again when they are gone.

use std::io;

use bytes::Bytes;
use http::Response;

use super::call::Api;
use super::refusal::Refusal;
use super::rules::Visit;
use super::upstream::Reply;
use super::xml::Element;

const OF_INTERFACE: &str = "NetworkInterfaceId";

pub(crate) async fn refused(visit: &Visit<'_>) -> io::Result<Option<Refusal>> {
    match visit.call.operation.as_str() {
        "CreateNatGateway" => without_address(visit).await,
        "DeleteNatGateway" => deleted(visit).await,
        _ => Ok(None),
    }
}

/// moto refuses it too, and leaves an interface behind.
async fn without_address(visit: &Visit<'_>) -> io::Result<Option<Refusal>> {
    let Some(allocation) = visit.call.param("AllocationId") else {
        return Ok(None);
    };
    let params = [("AllocationId.1", allocation)];
    let (operation, list) = ("DescribeAddresses", "addressesSet");
    let found = visit.moto.found(Api::Ec2, operation, &params, list).await?;
    let Some(address) = found.first() else {
        let message = format!("The allocation ID '{allocation}' does not exist");
        return Ok(Some(Refusal::bad("InvalidAllocationID.NotFound", &message)));
    };
    let taken = !address.get("associationId").is_empty();
    Ok(taken.then(|| {
        let message = format!("Resource {allocation} is already associated.");
        Refusal::bad("Resource.AlreadyAssociated", &message)
    }))
}

async fn deleted(visit: &Visit<'_>) -> io::Result<Option<Refusal>> {
    let id = visit.param("NatGatewayId");
    let there = nat_gateway(visit, id).await?;
    let there = there.is_some_and(|gateway| gateway.get("state") != "deleted");
    Ok((!there).then(|| {
        let message = format!("The Nat Gateway {id} was not found");
        Refusal::bad("NatGatewayNotFound", &message)
    }))
}

async fn nat_gateway(visit: &Visit<'_>, id: &str) -> io::Result<Option<Element>> {
    let params = [("NatGatewayId.1", id)];
    let (operation, list) = ("DescribeNatGateways", "natGatewaySet");
    let found = visit.moto.found(Api::Ec2, operation, &params, list).await?;
    Ok(found.into_iter().next())
}

pub(crate) async fn after(visit: &Visit<'_>, answer: &Response<Bytes>) -> io::Result<()> {
    match visit.call.operation.as_str() {
        "CreateNatGateway" => {
            let made = Reply::new(answer.clone())?;
            let Some(gateway) = made.xml.find("natGateway") else {
                return Ok(());
            };
            let description = format!("Interface for NAT Gateway {}", gateway.get("natGatewayId"));
            for address in gateway.items("natGatewayAddressSet") {
                let interface = address.get("networkInterfaceId");
                let params = [
                    (OF_INTERFACE, interface),
                    ("Description.Value", &description),
                ];
                visit
                    .moto
                    .act("ModifyNetworkInterfaceAttribute", &params)
                    .await?;
            }
            Ok(())
        }
        "DeleteNatGateway" => {
            let gone = nat_gateway(visit, visit.param("NatGatewayId")).await?;
            for address in gone
                .iter()
                .flat_map(|gone| gone.items("natGatewayAddressSet"))
            {
                let association = address.get("associationId");
                if !association.is_empty() {
                    let params = [("AssociationId", association)];
                    visit.moto.act("DisassociateAddress", &params).await?;
                }
                let params = [(OF_INTERFACE, address.get("networkInterfaceId"))];
                visit.moto.act("DeleteNetworkInterface", &params).await?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
