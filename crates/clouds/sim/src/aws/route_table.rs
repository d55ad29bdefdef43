//! Route tables.

use cloud_port::aws::internet_gateway::{ATTACHMENT, INTERNET_GATEWAY};
use cloud_port::aws::nat_gateway::NAT_GATEWAY;
use cloud_port::aws::network::Network;
use cloud_port::aws::route_table::{ROUTE, ROUTE_TABLE};
use cloud_port::aws::subnet::SUBNET;
use ownership::error::Blocker;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, ResourceId, Target};

use super::{EC2, OTHER, OTHER_PART};
use crate::account::Account;
use crate::provider::{InnerRow, Model, Row, Told};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &RouteTable,
    prefix: "rtb-",
    not_found: "InvalidRouteTableID.NotFound",
    over_quota: "RouteTableLimitExceeded",
    get: EC2.lists("DescribeRouteTables", 100),
    list: EC2.lists("DescribeRouteTables", 100),
    create: EC2.writes("CreateRouteTable"),
    delete: EC2.writes("DeleteRouteTable"),
    quota: 200,
    quota_within: Some("vpc"),
    tag: EC2.writes("CreateTags"),
    untag: EC2.writes("DeleteTags"),
    inner: &[
        InnerRow {
            list: EC2.lists("DescribeRouteTables", 100),
            // Where there is a route to that destination already, `ReplaceRoute`.
            add: EC2.writes("CreateRoute"),
            remove: EC2.writes("DeleteRoute"),
            duplicate: "RouteAlreadyExists",
            not_found: "InvalidRoute.NotFound",
            quota: 500,
            full: "RouteLimitExceeded",
            told: Told::Always,
            ..OTHER_PART
        },
        InnerRow {
            prefix: "rtbassoc-",
            list: EC2.lists("DescribeRouteTables", 100),
            add: EC2.writes("AssociateRouteTable"),
            remove: EC2.writes("DisassociateRouteTable"),
            duplicate: "Resource.AlreadyAssociated",
            not_found: "InvalidAssociationID.NotFound",
            id_not_found: "InvalidAssociationID.NotFound",
            told: Told::Always,
            ..OTHER_PART
        },
    ],
    ..OTHER
};

#[derive(Debug)]
struct RouteTable;

impl Model for RouteTable {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        account.required_vpc(order, props)?;
        props.set("main", "false".into());
        Ok(())
    }

    fn users(&self, _: &Account, state: &State, blockers: &mut Vec<Blocker>) {
        let vpc = state.resource.props.get("vpc");
        if let Some(vpc) = vpc.filter(|_| is_main(state)) {
            blockers.push(Blocker {
                noun: "VPC whose main route table it is".into(),
                id: ResourceId::new(vpc.clone()),
            });
        }
    }

    fn came_with_parent(&self, state: &State) -> bool {
        is_main(state)
    }

    fn check_part(
        &self,
        account: &Account,
        spot: Spot,
        on: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        if spot.declared.name == ROUTE {
            return check_route(account, spot, on, part);
        }
        check_association(account, spot, on, part)
    }
}

/// Where the associations stand in the declaration.
pub(super) const ASSOCIATIONS: usize = 1;

/// What a route leads through must be there, and an internet gateway must be that of the VPC. Of what is
/// not simulated nobody can tell.
fn check_route(
    account: &Account,
    spot: Spot,
    on: &Target,
    part: &InnerPart,
) -> Result<(), CloudError> {
    let op = spot.inner.add;
    let invalid = |message| spot.refuse(op, ROW.service.invalid, message);
    let network = Network::parse("destination", &part.key);
    let network = network.map_err(|error| invalid(error.to_string()))?;
    if *network.to_string() != *part.key {
        return Err(invalid(format!(
            "the destination must be written '{network}'"
        )));
    }
    let through = ResourceId::new(part.value.clone());
    let absent = |code| {
        let message = format!("the gateway '{through}' does not exist");
        spot.refuse(op, code, message)
    };
    if through.as_str().starts_with("nat-") {
        let nat = Target::new(&NAT_GATEWAY, through.clone());
        let there = account.resource(&nat).is_some();
        return there
            .then_some(())
            .ok_or_else(|| absent("InvalidNatGatewayID.NotFound"));
    }
    if through.as_str().starts_with("igw-") {
        let gateway = Target::new(&INTERNET_GATEWAY, through.clone());
        if account.resource(&gateway).is_none() {
            return Err(absent("InvalidGatewayID.NotFound"));
        }
        let vpc = account
            .resource(on)
            .and_then(|table| table.props.get("vpc"));
        let attached = account.parts(&gateway, ATTACHMENT).iter();
        if !attached.map(|part| &part.key).any(|key| Some(key) == vpc) {
            let message = format!("{on} and the gateway '{through}' belong to different networks");
            return Err(invalid(message));
        }
    }
    Ok(())
}

/// A subnet goes by one table at most, of its own VPC.
fn check_association(
    account: &Account,
    spot: Spot,
    on: &Target,
    part: &InnerPart,
) -> Result<(), CloudError> {
    let op = spot.inner.add;
    let subnet = Target::new(&SUBNET, ResourceId::new(part.key.clone()));
    let (_, state) = account.living(&subnet, op)?;
    let vpc = account
        .resource(on)
        .and_then(|table| table.props.get("vpc"));
    if state.resource.props.get("vpc") != vpc {
        let message = format!("{on} and {subnet} belong to different networks");
        return Err(spot.refuse(op, ROW.service.invalid, message));
    }
    let mut tables = account.states(&ROUTE_TABLE);
    let other = tables
        .find(|other| other.resource.id != on.id && other.part(ASSOCIATIONS, &part.key).is_some());
    match other {
        None => Ok(()),
        Some(other) => {
            let message = format!("{subnet} goes by the route table '{}'", other.resource.id);
            Err(spot.refuse(op, "Resource.AlreadyAssociated", message))
        }
    }
}

fn is_main(state: &State) -> bool {
    let main = state.resource.props.get("main");
    main.is_some_and(|main| **main == *"true")
}
