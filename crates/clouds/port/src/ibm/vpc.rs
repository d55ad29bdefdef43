//! Virtual private clouds of IBM Cloud.

use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::{CreateMode, InnerKind};
use ownership::{Kind, Slot, SlotName, Text};

use super::errors::Service;
use super::rule::Rule;
use super::{CRN, Entry, MARKED_LATER, NAME, PART, RESOURCE_GROUP, fixed, given, names};
use crate::code::Code;
use crate::sample::{Parent, PartSample, Sample};

/// A VPC that a claim wants for itself, with a range of addresses in each zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vpc {
    /// Its name, unique in the region.
    pub name: Text,
    /// The id of its resource group.
    pub resource_group: Expr,
    /// Rules besides its own for the security group that it comes with, in which everything is that is put
    /// into no other.
    pub default_rules: Vec<Rule>,
}

impl Vpc {
    /// The slot for it.
    ///
    /// # Errors
    /// A name that VPC does not accept.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        names::check("vpc name", &self.name, VPC.names)?;
        let rules = self.default_rules.iter().map(|rule| InnerWish {
            kind: DEFAULT_RULE,
            key: Expr::Text(rule.key()),
            value: "".into(),
        });
        Ok(Slot {
            props: vec![(RESOURCE_GROUP, self.resource_group)],
            inner: rules.collect(),
            ..Slot::own(slot, &VPC, self.name)
        })
    }
}

/// A rule of the security group that the VPC comes with, as [`Rule`] spells it.
pub const DEFAULT_RULE: &str = "default-rule";

/// The property with the id of the security group that the VPC comes with.
pub const DEFAULT_GROUP: &str = "default-group";

/// The declaration.
pub static VPC: Kind = Kind {
    name: "ibm/vpc",
    noun: "VPC",
    props: &[
        fixed(RESOURCE_GROUP),
        given(DEFAULT_GROUP),
        given(CRN),
        given(NAME),
    ],
    inner: &[InnerKind {
        name: DEFAULT_RULE,
        noun: "rule of its default security group",
        // One that says the same is not made a second time.
        create: CreateMode::Upsert,
        comes_along: &["inbound all self", "outbound all 0.0.0.0/0"],
        ..PART
    }],
    ..MARKED_LATER
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Vpc,
    codes: &CODES,
};

static CODES: [Code; 1] = [Code::quota("vpc_over_quota", "VPCs per region")];

static SAMPLE: Sample = Sample {
    props: &[(RESOURCE_GROUP, "group-of-the-account")],
    parts: &[PartSample {
        inner: DEFAULT_RULE,
        wanted: &[
            ("inbound tcp 6443-6443 0.0.0.0/0", ""),
            ("inbound tcp 22623-22623 10.0.0.0/8", ""),
        ],
        others: [
            ("inbound tcp 22-22 192.168.0.0/16", ""),
            ("inbound udp 53-53 10.0.0.0/8", ""),
            ("inbound icmp all 10.0.0.0/8", ""),
        ],
    }],
    blocked_by: Some("public gateway"),
    ..Sample::of(&VPC)
};

/// For the samples of what lies in a VPC.
pub(super) const PARENT: Parent = Parent {
    prop: "vpc",
    part: None,
    sample: &SAMPLE,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vpc_has_a_name_that_ibm_cloud_accepts() {
        let vpc = |name: &str| Vpc {
            name: name.into(),
            resource_group: "group".into(),
            default_rules: vec!["inbound tcp 6443 0.0.0.0/0".parse().unwrap()],
        };
        let slot = |name| vpc(name).slot(SlotName::new("vpc").unwrap());
        let made = slot("prod-vpc").unwrap();
        assert_eq!(made.inner[0].key, "inbound tcp 6443-6443 0.0.0.0/0".into());
        ownership::Blueprint::new(vec![made]).unwrap();
        assert!(slot("Prod").unwrap_err().to_string().contains("vpc name"));
    }
}
