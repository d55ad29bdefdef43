//! IAM instance profiles, with their role as a part.

use ownership::Kind;
use ownership::kind::{BirthProof, CreateMode, InnerKind, InnerProof, Marking, Naming};
use ownership::mark::Carrier;

use super::IAM_SETTLING;

/// The role in a profile: the key is the role's id. A profile holds at most one.
pub const PROFILE_ROLE: &str = "role";

/// The declaration.
pub static INSTANCE_PROFILE: Kind = Kind {
    name: "aws/instance-profile",
    noun: "instance profile",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    naming: Naming::Account,
    has_creation_time: true,
    valuable: false,
    settling: IAM_SETTLING,
    props: &[],
    inner: &[InnerKind {
        name: PROFILE_ROLE,
        noun: "role",
        proof: InnerProof::ParentMark,
        create: CreateMode::Insert,
        blocks_deletion: true,
        batch: false,
        single: true,
    }],
};
