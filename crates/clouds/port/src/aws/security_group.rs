//! Security groups, with their ingress rules as parts.

use ownership::Kind;
use ownership::kind::{BirthProof, CreateMode, InnerKind, InnerProof, Marking, Naming, PropRule};
use ownership::mark::Carrier;

use super::EC2_SETTLING;

/// Ingress rules. A rule carries tags of its own.
pub const RULE: &str = "rule";

/// The declaration.
pub static SECURITY_GROUP: Kind = Kind {
    name: "aws/security-group",
    noun: "security group",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    naming: Naming::Within("vpc"),
    has_creation_time: false,
    valuable: false,
    settling: EC2_SETTLING,
    props: &[
        PropRule {
            name: "vpc",
            mutable: false,
        },
        PropRule {
            name: "description",
            mutable: false,
        },
    ],
    inner: &[InnerKind {
        name: RULE,
        noun: "rule",
        proof: InnerProof::OwnMark,
        create: CreateMode::Insert,
        blocks_deletion: false,
        batch: true,
        single: false,
    }],
};
