//! Subnets of a VPC of IBM Cloud.

use ownership::blueprint::Expr;
use ownership::input::InputError;
use ownership::kind::Naming;
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::Service;
use super::{
    CRN, Entry, MARKED_LATER, NAME, RESOURCE_GROUP, fixed, given, names, of_the_call, vpc,
};
use crate::code::Code;
use crate::network::Network;
use crate::sample::{Parent, Sample};

/// A subnet that a claim wants for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VpcSubnet {
    /// Its name, unique in its VPC.
    pub name: Text,
    /// The VPC that it is in.
    pub vpc: Expr,
    /// The zone that it is in: `us-south-1`.
    pub zone: Text,
    /// Its range; else 256 addresses that are free in the VPC's range of the zone.
    pub cidr: Option<Network>,
    /// The id of its resource group.
    pub resource_group: Expr,
}

impl VpcSubnet {
    /// The slot for it.
    ///
    /// # Errors
    /// A name or a range that VPC does not accept.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        names::check("vpc subnet name", &self.name, VPC_SUBNET.names)?;
        let mut props = vec![
            ("vpc", self.vpc),
            (ZONE, Expr::Text(self.zone)),
            (RESOURCE_GROUP, self.resource_group),
        ];
        match self.cidr {
            Some(cidr) if cidr.is_v4() && (9..=29).contains(&cidr.prefix()) => {
                props.push((CIDR, Expr::Text(cidr.to_string().into())));
            }
            Some(cidr) => {
                let rule = "must be an IPv4 range between /9 and /29";
                return Err(InputError::new("vpc subnet cidr", &cidr.to_string(), rule));
            }
            None => props.push((ADDRESSES, "256".into())),
        }
        Ok(Slot {
            props,
            ..Slot::own(slot, &VPC_SUBNET, self.name)
        })
    }
}

/// The property with the zone.
pub const ZONE: &str = "zone";
/// The property with the range.
pub const CIDR: &str = "cidr";
/// The property of a create call without a range: how many addresses are wanted.
pub const ADDRESSES: &str = "addresses";

/// The declaration.
pub static VPC_SUBNET: Kind = Kind {
    name: "ibm/vpc-subnet",
    noun: "VPC subnet",
    naming: Naming::Within("vpc"),
    props: &[
        fixed("vpc"),
        fixed(ZONE),
        fixed(CIDR),
        of_the_call(ADDRESSES),
        fixed(RESOURCE_GROUP),
        given(CRN),
        given(NAME),
    ],
    ..MARKED_LATER
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Vpc,
    codes: &CODES,
};

static CODES: [Code; 3] = [
    Code::quota("subnet_over_quota", "subnets per VPC"),
    Code::new("subnet_conflict", Class::Fatal)
        .advice("choose a range that no other subnet of the VPC has"),
    Code::new("network_conflict", Class::Fatal)
        .advice("choose a range within one of the VPC's address prefixes"),
];

static SAMPLE: Sample = Sample {
    parent: Some(vpc::PARENT),
    props: &[
        (ZONE, "us-south-1"),
        (CIDR, "10.240.0.0/24"),
        (RESOURCE_GROUP, "group-of-the-account"),
    ],
    beside: &[(CIDR, "10.240.1.0/24")],
    ..Sample::of(&VPC_SUBNET)
};

/// For the samples of what lies in a subnet.
pub(super) const PARENT: Parent = Parent {
    prop: super::vpc_load_balancer::SUBNETS,
    part: None,
    sample: &SAMPLE,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subnet_has_a_range_or_a_number_of_addresses() {
        let subnet = |cidr: Option<&str>| VpcSubnet {
            name: "prod-vpcsubnet-us-south-1".into(),
            vpc: "vpc".into(),
            zone: "us-south-1".into(),
            cidr: cidr.map(|cidr| Network::parse("cidr", cidr).unwrap()),
            resource_group: "group".into(),
        };
        let slot = |cidr| subnet(cidr).slot(SlotName::new("subnet").unwrap());
        let has = |cidr, prop| {
            let slot = slot(cidr).unwrap();
            slot.props.iter().any(|(name, _)| *name == prop)
        };
        assert!(has(None, ADDRESSES) && !has(None, CIDR));
        assert!(has(Some("10.240.0.0/24"), CIDR) && !has(Some("10.240.0.0/24"), ADDRESSES));
        let error = slot(Some("10.0.0.0/8")).unwrap_err().to_string();
        assert!(error.contains("between /9 and /29"), "{error}");
    }
}
