//! Subnets.

use cloud_port::aws::network::Network;
use cloud_port::aws::route_table::ROUTE_TABLE;
use cloud_port::aws::subnet::{self, SUBNET};
use ownership::error::Blocker;
use ownership::part::{Props, Resource};
use ownership::{CloudError, ResourceId};

use super::{EC2, OTHER, PAGE, route_table};
use crate::account::{Account, refuse};
use crate::provider::{Model, Row};
use crate::record::State;
use crate::write::create::Order;

pub(crate) static ROW: Row = Row {
    model: &Subnet,
    prefix: "subnet-",
    not_found: "InvalidSubnetID.NotFound",
    over_quota: "SubnetLimitExceeded",
    get: EC2.lists("DescribeSubnets", PAGE),
    list: EC2.lists("DescribeSubnets", PAGE),
    create: EC2.writes("CreateSubnet"),
    update: EC2.writes("ModifySubnetAttribute"),
    delete: EC2.writes("DeleteSubnet"),
    quota: 200,
    quota_within: Some("vpc"),
    tag: EC2.writes("CreateTags"),
    untag: EC2.writes("DeleteTags"),
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
        let vpc = account.required_vpc(order, props)?;
        let cidr = account.network(order, props)?;
        check_range(account, vpc, cidr)?;
        props.set("cidr", cidr.to_string().into());
        // The call takes none: it is switched on afterwards.
        props.set(subnet::PUBLIC_IPS, "false".into());
        if props.get("zone").is_none() {
            // AWS chooses one.
            props.set("zone", "zone-a".into());
        }
        Ok(())
    }

    /// What has an interface in it. A route table's association goes with it.
    fn users(&self, account: &Account, state: &State, blockers: &mut Vec<Blocker>) {
        account.dependents(&state.resource.id, blockers);
        blockers.retain(|blocker| *blocker.noun != *ROUTE_TABLE.noun);
    }

    fn ends(&self, account: &mut Account, id: &ResourceId) {
        account.forget_parts(&ROUTE_TABLE, route_table::ASSOCIATIONS, id);
    }
}

fn check_range(account: &Account, vpc: &Resource, cidr: Network) -> Result<(), CloudError> {
    let range = |resource: &Resource| {
        let text = resource.props.get("cidr")?;
        Network::parse("cidr", text).ok()
    };
    if !range(vpc).is_some_and(|whole| whole.contains(cidr)) {
        let message = format!(
            "the range {cidr} is not within that of the VPC '{}'",
            vpc.id
        );
        return Err(refuse(&ROW, ROW.create, "InvalidSubnet.Range", message));
    }
    let id = vpc.id.text();
    let taken = account
        .alive(&SUBNET)
        .filter(|other| other.props.get("vpc") == Some(&id))
        .find(|other| range(other).is_some_and(|net| net.overlaps(cidr)));
    match taken {
        None => Ok(()),
        Some(other) => {
            let message = format!("the range {cidr} overlaps that of '{}'", other.id);
            Err(refuse(&ROW, ROW.create, "InvalidSubnet.Conflict", message))
        }
    }
}
