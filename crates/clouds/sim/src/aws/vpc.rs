//! VPCs.

use ownership::part::Props;
use ownership::{CloudError, ResourceId};

use super::{EC2, OTHER, PAGE};
use crate::account::{Account, refuse};
use crate::provider::{Model, Row};
use crate::write::create::Order;

pub(crate) static ROW: Row = Row {
    model: &Vpc,
    prefix: "vpc-",
    not_found: "InvalidVpcID.NotFound",
    over_quota: "VpcLimitExceeded",
    get: EC2.lists("DescribeVpcs", PAGE),
    list: EC2.lists("DescribeVpcs", PAGE),
    create: EC2.writes("CreateVpc"),
    delete: EC2.writes("DeleteVpc"),
    quota: 5,
    tag: EC2.writes("CreateTags"),
    untag: EC2.writes("DeleteTags"),
    ..OTHER
};

#[derive(Debug)]
struct Vpc;

impl Model for Vpc {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        let cidr = account.network(order, props)?;
        if !(16..=28).contains(&cidr.prefix()) {
            let message = format!("the range {cidr} must be between /16 and /28");
            return Err(refuse(&ROW, ROW.create, "InvalidVpc.Range", message));
        }
        props.set("cidr", cidr.to_string().into());
        props.set("default", "false".into());
        Ok(())
    }

    fn is_born(&self, account: &mut Account, id: &ResourceId) {
        account.furnish_vpc(id);
    }

    fn ends(&self, account: &mut Account, id: &ResourceId) {
        account.end_what_came_with(id);
    }
}
