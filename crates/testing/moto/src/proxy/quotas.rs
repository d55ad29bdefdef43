//! How many there may be of something.

use std::io;

use super::call::Api;
use super::refusal::Refusal;
use super::rules::Visit;

/// How many there may be in each account and region. There is room for all, unless a test says
/// otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotas {
    /// VPCs, the default one included.
    pub vpcs: usize,
    /// Elastic IP addresses.
    pub addresses: usize,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            vpcs: usize::MAX,
            addresses: usize::MAX,
        }
    }
}

pub(crate) async fn refused(quotas: Quotas, visit: &Visit<'_>) -> io::Result<Option<Refusal>> {
    let (limit, operation, list, code, message) = match visit.call.operation.as_str() {
        "CreateVpc" => (
            quotas.vpcs,
            "DescribeVpcs",
            "vpcSet",
            "VpcLimitExceeded",
            "The maximum number of VPCs has been reached.",
        ),
        "AllocateAddress" => (
            quotas.addresses,
            "DescribeAddresses",
            "addressesSet",
            "AddressLimitExceeded",
            "The maximum number of addresses has been reached.",
        ),
        _ => return Ok(None),
    };
    if limit == usize::MAX {
        return Ok(None);
    }
    let there = visit.moto.found(Api::Ec2, operation, &[], list).await?;
    Ok((there.len() >= limit).then(|| Refusal::bad(code, message)))
}
