//! Subnets.

use ownership::blueprint::{Expr, Source};
use ownership::kind::{BirthProof, Change, CreateMode, Ids, Marking, Naming, PropRule};
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName};

use super::errors::{Code, Service};
use super::{EC2_SETTLING, Entry, vpc};
use crate::sample::Sample;

/// A slot for all subnets of a VPC, which are only used.
pub fn find_all(slot: SlotName, vpc: Expr) -> Slot {
    let by = vec![("vpc", vpc)];
    let source = Source::Find { by, all: true };
    Slot {
        source,
        ..Slot::find(slot, &SUBNET, Vec::new())
    }
}

/// The declaration.
pub static SUBNET: Kind = Kind {
    name: "aws/subnet",
    noun: "subnet",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: true,
    naming: Naming::Free,
    ids: Ids::Unique,
    has_creation_time: false,
    lists_marks: true,
    valuable: false,
    settling: EC2_SETTLING,
    props: &[
        PropRule {
            name: "vpc",
            change: Change::Never,
        },
        PropRule {
            name: "cidr",
            change: Change::Never,
        },
        PropRule {
            name: "zone",
            change: Change::Never,
        },
    ],
    inner: &[],
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Ec2,
    codes: &CODES,
};

static CODES: [Code; 5] = [
    Code::new("InvalidSubnet.Range", Class::Fatal).advice("choose a range within that of the VPC"),
    Code::new("InvalidSubnet.Conflict", Class::Fatal)
        .advice("choose a range that no other subnet of the VPC has"),
    Code::new("InvalidZone.NotFound", Class::Fatal).advice("choose a zone of the region"),
    Code::new("InvalidAvailabilityZone", Class::Fatal).advice("choose a zone of the region"),
    Code::new("SubnetLimitExceeded", Class::Fatal)
        .advice("delete a subnet of the VPC that nobody needs, or ask AWS for more"),
];

/// Its ranges are in the default VPC, beside the subnets there.
static SAMPLE: Sample = Sample {
    parent: Some(vpc::PARENT),
    props: &[("cidr", "172.31.128.0/24"), ("zone", "zone-a")],
    beside: &[("cidr", "172.31.129.0/24")],
    moved: &[("cidr", "10.1.1.0/24")],
    blocked_by: Some("network interface"),
    ..Sample::of(&SUBNET)
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_for_in_the_vpc_that_was_found() {
        let name = |name| SlotName::new(name).unwrap();
        let found = find_all(name("subnets"), Expr::Slot(name("vpc")));
        assert!(!found.is_own());
        let blueprint =
            ownership::Blueprint::new(vec![found, vpc::find_default(name("vpc"))]).unwrap();
        let order: Vec<_> = blueprint
            .slots()
            .iter()
            .map(|slot| slot.name.as_str())
            .collect();
        assert_eq!(order, ["vpc", "subnets"]);
    }
}
