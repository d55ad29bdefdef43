//! Subnets.

use ownership::Kind;
use ownership::kind::{BirthProof, CreateMode, Marking, Naming, PropRule};
use ownership::mark::Carrier;

use super::EC2_SETTLING;

/// The declaration.
pub static SUBNET: Kind = Kind {
    name: "aws/subnet",
    noun: "subnet",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    naming: Naming::Free,
    has_creation_time: false,
    valuable: false,
    settling: EC2_SETTLING,
    props: &[
        PropRule {
            name: "vpc",
            mutable: false,
        },
        PropRule {
            name: "cidr",
            mutable: false,
        },
        PropRule {
            name: "zone",
            mutable: false,
        },
    ],
    inner: &[],
};
