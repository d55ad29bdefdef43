//! Subnets.

use cloud_port::aws::network::Network;
use cloud_port::aws::subnet::SUBNET;
use ownership::error::Blocker;
use ownership::part::{Props, Resource};
use ownership::{CloudError, Text};

use super::{Model, OTHER, Row};
use crate::account::{Account, refuse};
use crate::op::Op;
use crate::record::State;
use crate::settings::Quotas;
use crate::write::create::Order;

pub(crate) static ROW: Row = Row {
    model: &Subnet,
    prefix: "subnet-",
    not_found: "InvalidSubnetID.NotFound",
    over_quota: "SubnetLimitExceeded",
    get: Op::DescribeSubnets,
    list: Op::DescribeSubnets,
    create: Op::CreateSubnet,
    delete: Op::DeleteSubnet,
    tag: Op::CreateTags,
    untag: Op::DeleteTags,
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
        if props.get("zone").is_none() {
            // AWS chooses one.
            props.set("zone", "zone-a".into());
        }
        Ok(())
    }

    fn quota<'p>(&self, quotas: &Quotas, props: &'p Props) -> (usize, Option<&'p Text>) {
        (quotas.subnets_per_vpc, props.get("vpc"))
    }

    fn users(&self, _: &Account, _: &State, _: &mut Vec<Blocker>) {}
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
