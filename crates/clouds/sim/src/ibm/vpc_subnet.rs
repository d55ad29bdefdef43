//! Subnets.

use cloud_port::ibm::RESOURCE_GROUP;
use cloud_port::ibm::vpc::VPC as VPC_KIND;
use cloud_port::ibm::vpc_load_balancer::{SUBNETS, VPC_LOAD_BALANCER};
use cloud_port::ibm::vpc_subnet::{ADDRESSES, CIDR, VPC_SUBNET, ZONE};
use cloud_port::network::Network;
use ownership::error::Blocker;
use ownership::part::Props;
use ownership::{CloudError, ResourceId, Text};

use super::crn::Where;
use super::{OTHER, PAGE, VPC};
use crate::account::{Account, refuse};
use crate::provider::{Model, Row};
use crate::record::State;
use crate::write::create::Order;

pub(crate) static ROW: Row = Row {
    model: &Subnet,
    prefix: "0717-",
    not_found: "not_found",
    over_quota: "subnet_over_quota",
    blocked: "subnet_not_empty",
    get: VPC.reads("GetSubnet"),
    list: VPC.lists("ListSubnets", PAGE),
    create: VPC.writes("CreateSubnet"),
    update: VPC.writes("UpdateSubnet"),
    delete: VPC.writes("DeleteSubnet"),
    quota: 100,
    quota_within: Some("vpc"),
    ..OTHER
};

#[derive(Debug)]
struct Subnet;

impl Model for Subnet {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        let vpc = account.beside(order, props, &VPC_KIND, "vpc")?.id.text();
        account.require(order, props, &[RESOURCE_GROUP])?;
        let zone = account.required(order, props, ZONE)?;
        let invalid = |message| Err(refuse(&ROW, ROW.create, ROW.service.invalid, message));
        if !account.vpc_zones().contains(&zone.to_string()) {
            return invalid(format!("there is no zone '{zone}' in the region"));
        }
        let taken: Vec<Network> = account
            .alive(&VPC_SUBNET)
            .filter(|other| other.props.get("vpc") == Some(&vpc))
            .filter_map(|other| Network::parse("cidr", other.props.get(CIDR)?).ok())
            .collect();
        let cidr = match (props.get(CIDR), props.get(ADDRESSES)) {
            (Some(cidr), None) => match Network::parse("cidr", cidr) {
                Ok(cidr) => cidr,
                Err(error) => return invalid(error.to_string()),
            },
            (None, Some(_)) => free(zone, &taken),
            _ => return invalid("a subnet has a range or a number of addresses".to_owned()),
        };
        if let Some(other) = taken.iter().find(|other| other.overlaps(cidr)) {
            let message = format!("the range {cidr} overlaps {other}");
            return Err(refuse(&ROW, ROW.create, "subnet_conflict", message));
        }
        let without = props.iter().filter(|(name, _)| *name != ADDRESSES);
        *props = without.cloned().collect();
        props.set(CIDR, cidr.to_string().into());
        Ok(())
    }

    fn gives(&self, account: &Account, id: &ResourceId, order: &Order<'_>, props: &mut Props) {
        let zone = props.get(ZONE).cloned().unwrap_or_else(|| "".into());
        let place = Where {
            service: "is",
            location: &zone,
            instance: "",
            sort: "subnet",
        };
        place.tell(account, id, order, props);
    }

    fn users(&self, account: &Account, state: &State, blockers: &mut Vec<Blocker>) {
        balancers(account, SUBNETS, &state.resource.id, blockers);
    }
}

/// The first free 256 addresses of a zone's own range.
fn free(zone: &Text, taken: &[Network]) -> Network {
    let third = match zone.rsplit('-').next() {
        Some("2") => 64,
        Some("3") => 128,
        _ => 0,
    };
    let range = |n: u8| Network::parse("cidr", &format!("10.240.{}.0/24", third + n));
    let mut ranges = (0..64).filter_map(|n| range(n).ok());
    ranges
        .find(|range| taken.iter().all(|other| !other.overlaps(*range)))
        .expect("a VPC has fewer subnets than a zone has ranges")
}

/// The load balancers that were put into a resource.
pub(super) fn balancers(
    account: &Account,
    prop: &str,
    id: &ResourceId,
    blockers: &mut Vec<Blocker>,
) {
    let all = account.alive(&VPC_LOAD_BALANCER);
    let inside = all.filter(|other| {
        let named = other.props.get(prop);
        named.is_some_and(|ids| id.is_named_in(ids))
    });
    blockers.extend(inside.map(|balancer| Blocker {
        noun: VPC_LOAD_BALANCER.noun.into(),
        id: balancer.id.clone(),
    }));
}
