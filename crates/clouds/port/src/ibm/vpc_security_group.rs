//! Security groups of a VPC of IBM Cloud, with their rules as parts.

use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::{CreateMode, InnerKind, Naming};
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::Service;
use super::{CRN, Entry, MARKED_LATER, NAME, PART, RESOURCE_GROUP, fixed, given, names, vpc};
use crate::code::Code;
use crate::sample::{PartSample, Sample};

/// A security group that a claim wants for itself. A new one lets nothing through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VpcSecurityGroup {
    /// Its name, unique in its VPC.
    pub name: Text,
    /// The VPC that it is in.
    pub vpc: Expr,
    /// The id of its resource group.
    pub resource_group: Expr,
    /// What it lets through, each as a [`Rule`](super::rule::Rule) is spelled.
    pub rules: Vec<Expr>,
}

impl VpcSecurityGroup {
    /// The slot for it.
    ///
    /// # Errors
    /// A name that VPC does not accept.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        names::check(
            "vpc security group name",
            &self.name,
            VPC_SECURITY_GROUP.names,
        )?;
        let rules = self.rules.into_iter().map(|key| InnerWish {
            kind: RULE,
            key,
            value: "".into(),
        });
        Ok(Slot {
            props: vec![("vpc", self.vpc), (RESOURCE_GROUP, self.resource_group)],
            inner: rules.collect(),
            ..Slot::own(slot, &VPC_SECURITY_GROUP, self.name)
        })
    }
}

/// A rule: its key is how [`Rule`](super::rule::Rule) spells it. VPC takes a rule that says the same as
/// another one and keeps both; who adds one looks first, and who removes one removes all that say it.
pub const RULE: &str = "rule";

/// The declaration.
pub static VPC_SECURITY_GROUP: Kind = Kind {
    name: "ibm/vpc-security-group",
    noun: "VPC security group",
    naming: Naming::Within("vpc"),
    props: &[fixed("vpc"), fixed(RESOURCE_GROUP), given(CRN), given(NAME)],
    inner: &[InnerKind {
        name: RULE,
        noun: "rule",
        create: CreateMode::Upsert,
        // The list of groups tells their rules.
        is_listed: true,
        ..PART
    }],
    ..MARKED_LATER
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Vpc,
    codes: &CODES,
};

static CODES: [Code; 4] = [
    Code::quota("security_group_over_quota", "security groups per VPC"),
    Code::quota(
        "security_group_rules_per_sg_exceeded",
        "rules per security group",
    ),
    Code::new("security_group_remoting_rules", Class::Blocked(Vec::new())),
    Code::new("security_group_vpc_default", Class::Fatal)
        .advice("the default security group goes with its VPC"),
];

static SAMPLE: Sample = Sample {
    parent: Some(vpc::PARENT),
    props: &[(RESOURCE_GROUP, "group-of-the-account")],
    parts: &[PartSample {
        inner: RULE,
        wanted: &[
            ("inbound tcp 6443-6443 0.0.0.0/0", ""),
            ("outbound all 0.0.0.0/0", ""),
        ],
        others: [
            ("inbound tcp 22-22 192.168.0.0/16", ""),
            ("inbound udp 53-53 10.0.0.0/8", ""),
            ("inbound icmp all 10.0.0.0/8", ""),
        ],
    }],
    blocked_by: Some("network interface"),
    ..Sample::of(&VPC_SECURITY_GROUP)
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_can_name_another_group() {
        let name = |name| SlotName::new(name).unwrap();
        let group = |label: &str, rules| VpcSecurityGroup {
            name: label.into(),
            vpc: "r006-vpc".into(),
            resource_group: "group".into(),
            rules,
        };
        let from = Expr::join([
            "inbound tcp 22-22 ".into(),
            Expr::Slot(name("group-bastion")),
        ]);
        let slots = vec![
            group("nodes", vec![from])
                .slot(name("group-nodes"))
                .unwrap(),
            group("bastion", vec![])
                .slot(name("group-bastion"))
                .unwrap(),
        ];
        let blueprint = ownership::Blueprint::new(slots).unwrap();
        assert_eq!(blueprint.slots()[0].name.as_str(), "group-bastion");
    }
}
