//! Elastic IP addresses.

use ownership::kind::{BirthProof, Change, CreateMode, Ids, Marking, Naming, PropRule};
use ownership::life::{Course, Failed};
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName};

use super::errors::{Code, Service};
use super::{EC2_SETTLING, Entry};
use crate::sample::{Parent, Sample};

/// A slot for an address that a claim wants for itself. What it is used for (a NAT gateway, a network
/// interface) says so itself.
pub fn slot(slot: SlotName) -> Slot {
    Slot::own(slot, &ELASTIC_IP, "")
}

/// The property with the public address itself.
pub const ADDRESS: &str = "address";

/// The declaration. Its id is that of the allocation.
pub static ELASTIC_IP: Kind = Kind {
    name: "aws/elastic-ip",
    noun: "Elastic IP address",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: true,
    naming: Naming::Free,
    names: ownership::name::NameRule::longest(255),
    ids: Ids::Unique,
    has_creation_time: false,
    recorded: true,
    lists_marks: true,
    // Others know it: firewalls let it in, names point to it.
    valuable: true,
    settling: EC2_SETTLING,
    course: Course {
        failed: Failed::Reported,
        ..Course::PLAIN
    },
    props: &[PropRule {
        name: ADDRESS,
        change: Change::Given,
    }],
    inner: &[],
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Ec2,
    codes: &CODES,
};

static CODES: [Code; 2] = [
    Code::quota("AddressLimitExceeded", "EC2-VPC Elastic IPs"),
    Code::new("InvalidIPAddress.InUse", Class::Blocked(Vec::new())),
];

static SAMPLE: Sample = Sample::of(&ELASTIC_IP);

/// For the samples of what takes an address.
pub(super) const ALLOCATION: Parent = Parent {
    prop: "allocation",
    part: None,
    sample: &SAMPLE,
};

#[cfg(test)]
mod tests {
    use ownership::blueprint::Expr;

    use super::*;
    use crate::aws::nat_gateway::NatGateway;

    #[test]
    fn others_can_refer_to_the_address_and_nobody_can_wish_for_one() {
        let name = |name| SlotName::new(name).unwrap();
        let nat = NatGateway {
            subnet: "subnet-1".into(),
            allocation: Expr::Slot(name("address")),
        };
        let slots = vec![slot(name("address")), nat.slot(name("nat"))];
        ownership::Blueprint::new(slots).unwrap();
        let mut wished = slot(name("address"));
        wished.props.push((ADDRESS, "192.0.2.1".into()));
        assert!(ownership::Blueprint::new(vec![wished]).is_err());
    }
}
