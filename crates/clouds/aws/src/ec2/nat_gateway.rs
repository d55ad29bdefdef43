//! NAT gateways.

use aws_sdk_ec2::types::{Filter, NatGateway, NatGatewayState, ResourceType};
use cloud_port::aws::nat_gateway::NAT_GATEWAY;
use ownership::life::Life;
use ownership::part::{Props, Resource};
use ownership::step::Create;
use ownership::{Answer, CloudError, Query, Target};

use super::{Filters, PAGE, tags};
use crate::client_set::ClientSet;
use crate::handler::handler;
use crate::observe;
use crate::permissions::Operations;
use crate::resource::{answer, everything, required, resource, unanswered};

const FILTERS: Filters = Filters {
    id: "nat-gateway-id",
    name: None,
    props: &[("subnet", "subnet-id")],
};

const OPERATIONS: Operations = Operations {
    reads: &["ec2:DescribeNatGateways"],
    tags: tags::OPERATIONS,
    owns: &["ec2:CreateNatGateway", "ec2:DeleteNatGateway"],
    adds: &[],
};

handler!(NatGateways: NAT_GATEWAY {});

async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    let found = list(set, FILTERS.of(query)).await?;
    Ok(answer(query, found.iter().filter_map(read)))
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    let found = list(set, None).await?;
    Ok(everything(found.iter().filter_map(read), Vec::new()))
}

/// Those that are gone are listed for an hour: they are left out.
pub(super) async fn list(
    set: &ClientSet,
    filters: Option<Vec<Filter>>,
) -> Result<Vec<NatGateway>, CloudError> {
    let mut found = set
        .ec2
        .describe_nat_gateways()
        .set_filter(filters)
        .max_results(PAGE)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeNatGateways"))?;
    found.retain(|nat| nat.state() != Some(&NatGatewayState::Deleted));
    Ok(found)
}

async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let operation = "CreateNatGateway";
    let made = set
        .ec2
        .create_nat_gateway()
        .subnet_id(required(create, "subnet")?)
        .allocation_id(required(create, "allocation")?)
        .set_client_token(create.token.map(|token| token.to_string()))
        .set_tag_specifications(tags::riding(ResourceType::Natgateway, &create.tags))
        .send()
        .await
        .map_err(set.ec2_failure(operation))?;
    let made = made.nat_gateway().and_then(read);
    made.ok_or_else(|| unanswered(operation, "NAT gateway"))
}

/// It is accepted, and takes its time.
async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let call = set.ec2.delete_nat_gateway();
    let deleted = call.nat_gateway_id(target.id.as_str()).send().await;
    deleted.map_err(set.ec2_failure("DeleteNatGateway"))?;
    Ok(())
}

fn read(nat: &NatGateway) -> Option<Resource> {
    let addresses = nat.nat_gateway_addresses();
    let primary = addresses
        .iter()
        .find(|address| address.is_primary() == Some(true));
    let allocation = primary.or(addresses.first());
    let allocation = allocation.and_then(|address| address.allocation_id());
    let props = Props::from_iter([
        ("subnet", nat.subnet_id().unwrap_or_default().into()),
        ("allocation", allocation.unwrap_or_default().into()),
    ]);
    let (id, tags) = (nat.nat_gateway_id()?, tags::read(nat.tags()));
    Some(Resource {
        created: nat.create_time().and_then(observe::time),
        life: life(nat),
        ..resource(&NAT_GATEWAY, id, props, tags)
    })
}

fn life(nat: &NatGateway) -> Life {
    match nat.state() {
        Some(NatGatewayState::Available) => Life::Ready,
        Some(NatGatewayState::Failed) => {
            let code = nat.failure_code().unwrap_or("it failed");
            let message = nat.failure_message().unwrap_or("EC2 does not say why");
            Life::Failed(format!("{code}: {message}").into())
        }
        Some(NatGatewayState::Deleting | NatGatewayState::Deleted) => Life::Going,
        _ => Life::Coming,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_life_is_what_ec2_tells() {
        let nat = |state| NatGateway::builder().state(state);
        assert_eq!(life(&nat(NatGatewayState::Pending).build()), Life::Coming);
        assert_eq!(life(&nat(NatGatewayState::Available).build()), Life::Ready);
        assert_eq!(life(&nat(NatGatewayState::Deleting).build()), Life::Going);
        let failed = nat(NatGatewayState::Failed).failure_code("Gateway.NotAttached");
        let failed = failed.failure_message("No gateway.").build();
        let why = "Gateway.NotAttached: No gateway.";
        assert_eq!(life(&failed), Life::Failed(why.into()));
    }
}
