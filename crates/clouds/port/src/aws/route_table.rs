//! Route tables.

use ownership::Kind;
use ownership::kind::{BirthProof, CreateMode, Marking, Naming, PropRule};
use ownership::mark::Carrier;

use super::{EC2_SETTLING, EC2_TOKEN};

/// The declaration.
pub static ROUTE_TABLE: Kind = Kind {
    name: "aws/route-table",
    noun: "route table",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: Some(EC2_TOKEN),
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
            name: "main",
            mutable: false,
        },
    ],
    inner: &[],
};
