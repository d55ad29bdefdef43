//! NAT gateways.

use ownership::blueprint::Expr;
use ownership::error::Counts;
use ownership::kind::{BirthProof, Change, CreateMode, Ids, Marking, Naming, PropRule};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName};

use super::errors::{Code, Service};
use super::{EC2_SETTLING, EC2_TOKEN, Entry, elastic_ip, subnet};
use crate::sample::Sample;

/// A public NAT gateway that a claim wants for itself.
///
/// It comes to nothing while its VPC has no internet gateway attached: let its slot come after that one
/// ([`Slot::after`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatGateway {
    /// The subnet that it is in: a public one.
    pub subnet: Expr,
    /// Its address, by the id of the allocation. No two gateways can have the same.
    pub allocation: Expr,
}

impl NatGateway {
    /// The slot for it.
    pub fn slot(self, slot: SlotName) -> Slot {
        Slot {
            props: vec![("subnet", self.subnet), ("allocation", self.allocation)],
            ..Slot::own(slot, &NAT_GATEWAY, "")
        }
    }
}

/// The declaration. It takes minutes to come and to go, and while it goes it keeps its address and its
/// subnet.
pub static NAT_GATEWAY: Kind = Kind {
    name: "aws/nat-gateway",
    noun: "NAT gateway",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: Some(EC2_TOKEN),
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: true,
    naming: Naming::Free,
    names: ownership::name::NameRule::longest(255),
    ids: Ids::Unique,
    has_creation_time: true,
    recorded: true,
    lists_marks: true,
    valuable: false,
    settling: EC2_SETTLING,
    course: Course {
        lingers: true,
        ..Course::PLAIN
    },
    props: &[
        PropRule {
            name: "subnet",
            change: Change::Never,
        },
        PropRule {
            name: "allocation",
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

static CODES: [Code; 4] = [
    Code::quota(
        "NatGatewayLimitExceeded",
        "NAT gateways per Availability Zone",
    )
    .counting(Counts::Unknown),
    Code::new("NatGatewayNotFound", Class::NotFound),
    Code::new("InvalidAllocationID.NotFound", Class::NotFound),
    // Another gateway, or something else, has the address. It may be the very gateway that we wanted, by a
    // call whose answer was lost: look again.
    Code::new("Resource.AlreadyAssociated", Class::Exists).to("CreateNatGateway"),
];

static SAMPLE: Sample = Sample {
    parent: Some(subnet::PARENT),
    takes: Some(elastic_ip::ALLOCATION),
    ..Sample::of(&NAT_GATEWAY)
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_waits_for_its_subnet_and_its_address() {
        let name = |name| SlotName::new(name).unwrap();
        let nat = NatGateway {
            subnet: Expr::Slot(name("subnet-a")),
            allocation: Expr::Slot(name("address-a")),
        };
        let slot = nat.slot(name("nat-a"));
        let needs: Vec<_> = slot.dependencies().map(SlotName::as_str).collect();
        assert_eq!(needs, ["subnet-a", "address-a"]);
    }
}
