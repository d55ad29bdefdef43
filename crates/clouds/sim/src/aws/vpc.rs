//! VPCs.

use ownership::part::Props;
use ownership::{CloudError, ResourceId, Text};

use super::{Model, OTHER, Row};
use crate::account::{Account, refuse};
use crate::op::Op;
use crate::settings::Quotas;
use crate::write::create::Order;

pub(crate) static ROW: Row = Row {
    model: &Vpc,
    prefix: "vpc-",
    not_found: "InvalidVpcID.NotFound",
    over_quota: "VpcLimitExceeded",
    get: Op::DescribeVpcs,
    list: Op::DescribeVpcs,
    create: Op::CreateVpc,
    delete: Op::DeleteVpc,
    tag: Op::CreateTags,
    untag: Op::DeleteTags,
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

    fn quota<'p>(&self, quotas: &Quotas, _: &'p Props) -> (usize, Option<&'p Text>) {
        (quotas.vpcs, None)
    }

    fn is_born(&self, account: &mut Account, id: &ResourceId) {
        account.furnish_vpc(id);
    }

    fn ends(&self, account: &mut Account, id: &ResourceId) {
        account.clear_vpc(id);
    }
}
