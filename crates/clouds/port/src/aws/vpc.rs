//! Virtual private clouds.

use ownership::Kind;
use ownership::kind::{BirthProof, CreateMode, Marking, Naming, PropRule};
use ownership::mark::Carrier;

use super::EC2_SETTLING;

/// The declaration.
pub static VPC: Kind = Kind {
    name: "aws/vpc",
    noun: "VPC",
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
            name: "cidr",
            mutable: false,
        },
        PropRule {
            name: "default",
            mutable: false,
        },
    ],
    inner: &[],
};
