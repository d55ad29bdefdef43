//! Elastic IP addresses.

use cloud_port::aws::elastic_ip::{ADDRESS, ELASTIC_IP};
use ownership::CloudError;
use ownership::part::Props;

use super::{EC2, OTHER, PAGE};
use crate::account::Account;
use crate::provider::{Model, Row};
use crate::write::create::Order;

pub(crate) static ROW: Row = Row {
    model: &ElasticIp,
    prefix: "eipalloc-",
    not_found: "InvalidAllocationID.NotFound",
    over_quota: "AddressLimitExceeded",
    blocked: "InvalidIPAddress.InUse",
    get: EC2.lists("DescribeAddresses", PAGE),
    list: EC2.lists("DescribeAddresses", PAGE),
    create: EC2.writes("AllocateAddress"),
    delete: EC2.writes("ReleaseAddress"),
    quota: 5,
    tag: EC2.writes("CreateTags"),
    untag: EC2.writes("DeleteTags"),
    ..OTHER
};

#[derive(Debug)]
struct ElasticIp;

impl Model for ElasticIp {
    fn prepare(
        &self,
        account: &Account,
        _: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        let ever = account
            .lives()
            .filter(|life| life.target.kind == &ELASTIC_IP);
        let nth = ever.count();
        let address = format!("198.18.{}.{}", nth / 250 % 250, nth % 250 + 1);
        props.set(ADDRESS, address.into());
        Ok(())
    }

    fn is_ready_at_once(&self) -> bool {
        true
    }
}
