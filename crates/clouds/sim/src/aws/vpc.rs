//! VPCs.

use cloud_port::aws::vpc::{DNS_HOSTNAMES, DNS_SUPPORT};
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, ResourceId, Target};

use super::{EC2, OTHER, OTHER_PART, PAGE};
use crate::account::{Account, refuse};
use crate::provenance::Actor;
use crate::provider::{InnerRow, Model, Row};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

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
    inner: &[InnerRow {
        list: EC2.reads("DescribeVpcAttribute"),
        // One for each attribute.
        list_calls: 2,
        add: EC2.writes("ModifyVpcAttribute"),
        remove: EC2.writes("ModifyVpcAttribute"),
        ..OTHER_PART
    }],
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

    fn is_born(&self, account: &mut Account, _: Actor, id: &ResourceId, _: &Order<'_>) {
        account.furnish_vpc(id);
    }

    /// To switch off what is off is nothing.
    fn overlooks_missing_parts(&self, _: &Account, _: &State) -> bool {
        true
    }

    fn check_part(
        &self,
        _: &Account,
        spot: Spot,
        _: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        if [DNS_SUPPORT, DNS_HOSTNAMES].contains(&&*part.key) {
            return Ok(());
        }
        let message = format!("a VPC has no attribute {}", part.key);
        Err(spot.refuse(spot.inner.add, ROW.service.invalid, message))
    }

    fn ends(&self, account: &mut Account, id: &ResourceId) {
        account.end_what_came_with(id);
    }
}
