//! IAM roles, with inline and attached policies as parts.

use ownership::Kind;
use ownership::kind::{BirthProof, CreateMode, InnerKind, InnerProof, Marking, Naming, PropRule};
use ownership::mark::Carrier;

use super::IAM_SETTLING;

/// Inline policies: the key is the policy's name, the value its document.
pub const INLINE_POLICY: &str = "inline-policy";

/// Attached policies: the key is the policy's ARN.
pub const ATTACHED_POLICY: &str = "attached-policy";

/// The declaration.
pub static ROLE: Kind = Kind {
    name: "aws/iam-role",
    noun: "IAM role",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    naming: Naming::Account,
    has_creation_time: true,
    valuable: false,
    settling: IAM_SETTLING,
    props: &[PropRule {
        name: "trust",
        mutable: true,
    }],
    inner: &[
        InnerKind {
            name: INLINE_POLICY,
            noun: "inline policy",
            proof: InnerProof::ParentMark,
            create: CreateMode::Upsert,
            blocks_deletion: true,
            batch: false,
            single: false,
        },
        InnerKind {
            name: ATTACHED_POLICY,
            noun: "attached policy",
            proof: InnerProof::ParentMark,
            create: CreateMode::Upsert,
            blocks_deletion: true,
            batch: false,
            single: false,
        },
    ],
};
