//! Internet gateways, with their attachment to a VPC as a part.

use ownership::blueprint::{Expr, InnerWish};
use ownership::kind::{BirthProof, CreateMode, Ids, InnerKind, InnerProof, Marking, Naming};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName};

use super::errors::{Code, Service};
use super::{EC2_SETTLING, Entry};
use crate::sample::Sample;

/// An internet gateway that a claim wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternetGateway {
    /// The VPC that it is attached to, which can have no other.
    pub vpc: Expr,
}

impl InternetGateway {
    /// The slot for it.
    pub fn slot(self, slot: SlotName) -> Slot {
        Slot {
            inner: vec![InnerWish {
                kind: ATTACHMENT,
                key: self.vpc,
                value: "".into(),
            }],
            ..Slot::own(slot, &INTERNET_GATEWAY, "")
        }
    }
}

/// The attachment to a VPC: the key is the VPC's id. A gateway has at most one.
pub const ATTACHMENT: &str = "attachment";

/// The declaration. A gateway lies in no VPC: it is made without one and can be detached.
pub static INTERNET_GATEWAY: Kind = Kind {
    name: "aws/internet-gateway",
    noun: "internet gateway",
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
    lists_marks: true,
    recorded: true,
    valuable: false,
    settling: EC2_SETTLING,
    course: Course::PLAIN,
    props: &[],
    inner: &[InnerKind {
        name: ATTACHMENT,
        noun: "attachment",
        proof: InnerProof::ParentMark,
        create: CreateMode::Insert,
        blocks_deletion: true,
        batch: false,
        single: true,
        comes_along: &[],
        born_with: None,
        is_listed: true,
    }],
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Ec2,
    codes: &CODES,
};

static CODES: [Code; 4] = [
    // The gateway is attached. It may be to the very VPC we wanted, by a call whose answer was lost:
    // look again.
    Code::new("Resource.AlreadyAssociated", Class::Exists).to("AttachInternetGateway"),
    // The VPC has another gateway: EC2 has no code of its own for it.
    Code::new("InvalidParameterValue", Class::Fatal)
        .to("AttachInternetGateway")
        .advice("a VPC can have one internet gateway: detach the other one"),
    Code::new("Gateway.NotAttached", Class::NotFound),
    Code::quota(
        "InternetGatewayLimitExceeded",
        "Internet gateways per Region",
    ),
];

static SAMPLE: Sample = Sample::of(&INTERNET_GATEWAY);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::{errors, vpc};

    #[test]
    fn a_slot_waits_for_its_vpc() {
        let name = |name| SlotName::new(name).unwrap();
        let wanted = InternetGateway {
            vpc: Expr::Slot(name("vpc")),
        };
        let slot = wanted.slot(name("gateway"));
        let needs: Vec<_> = slot.inner_dependencies().map(SlotName::as_str).collect();
        assert_eq!(needs, ["vpc"]);
        ownership::Blueprint::new(vec![slot, vpc::find_default(name("vpc"))]).unwrap();
    }

    #[test]
    fn a_vpc_with_another_gateway_comes_with_advice() {
        let refused = |operation| {
            let code = "InvalidParameterValue";
            errors::error(Service::Ec2, "", operation, 400, code, "No.")
        };
        let error = refused("AttachInternetGateway");
        assert_eq!(error.class, Class::Fatal);
        assert!(error.message.contains("detach the other one"), "{error}");
        assert_eq!(&*refused("CreateVpc").message, "No.");
    }
}
