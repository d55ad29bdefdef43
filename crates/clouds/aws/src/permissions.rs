//! Permissions: what the adapter calls for each Kind, as actions of AWS' policies name it.
//!
//! Each Kind's file has its own table, beside the calls. `tests/conformance/permissions.rs` holds the
//! tables to the calls that are made, both ways.

use std::collections::BTreeSet;

use cloud_port::aws::instance::INSTANCE;
use cloud_port::aws::subnet::SUBNET;
use ownership::{CloudError, Kind};

use crate::ec2::image;
use crate::handler;

/// The action that lets somebody give a role to machines. It is no call of its own.
pub const PASS_ROLE: &str = "iam:PassRole";

/// What is called and needs no permission: everybody may ask who they are.
pub const UNRESTRICTED: &[&str] = &["sts:GetCallerIdentity"];

/// The action that tells the zones of a region, which whoever makes subnets must know.
const ZONES: &str = "ec2:DescribeAvailabilityZones";

/// What the adapter calls for one Kind.
#[derive(Debug)]
pub(crate) struct Operations {
    /// Reads of resources, and of what is inside of them.
    pub(crate) reads: &'static [&'static str],
    /// What marks are written and removed with; they ride on create calls, too.
    pub(crate) tags: &'static [&'static str],
    /// What creates, changes and deletes resources, removes what is inside of them, and looks for
    /// what blocks a deletion.
    pub(crate) owns: &'static [&'static str],
    /// What adds parts, inner Kind by inner Kind.
    pub(crate) adds: &'static [(&'static str, &'static [&'static str])],
}

/// What somebody has to do with the Kinds of AWS.
#[derive(Clone, Copy, Debug)]
pub struct Resources<'a> {
    /// The Kinds of resources that are created, changed and deleted.
    pub owns: &'a [&'static Kind],
    /// The Kinds of resources that are only read and marked.
    pub uses: &'a [&'static Kind],
    /// The inner Kinds of the parts that are added to what is owned.
    pub adds: &'a [&'static str],
    /// The parts that are added to what is only used, and removed again.
    pub adds_in: &'a [(&'static Kind, &'static str)],
}

/// The actions that must be allowed for this.
///
/// # Errors
/// A Kind that AWS does not have.
pub fn permissions(resources: Resources<'_>) -> Result<BTreeSet<&'static str>, CloudError> {
    let mut actions = BTreeSet::new();
    for kind in resources.uses.iter().chain(resources.owns) {
        let operations = handler::of(kind)?.operations();
        actions.extend(operations.reads.iter().chain(operations.tags));
    }
    if resources.owns.contains(&&SUBNET) {
        actions.insert(ZONES);
    }
    if resources.owns.contains(&&INSTANCE) {
        actions.extend(image::OPERATIONS);
    }
    for (kind, inner) in resources.adds_in {
        let added = handler::of(kind)?.operations().adds.iter();
        let added = added.filter(|(name, _)| name == inner);
        actions.extend(added.flat_map(|(_, actions)| *actions));
    }
    for kind in resources.owns {
        let operations = handler::of(kind)?.operations();
        actions.extend(operations.owns);
        let added = operations.adds.iter();
        let added = added.filter(|(inner, _)| resources.adds.contains(inner));
        actions.extend(added.flat_map(|(_, actions)| *actions));
    }
    Ok(actions)
}

#[cfg(test)]
mod tests {
    use cloud_port::aws::KINDS;
    use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
    use cloud_port::aws::vpc::VPC;

    use super::*;

    #[test]
    fn what_is_only_used_is_read_and_marked() {
        let used = Resources {
            owns: &[],
            uses: &[&VPC],
            adds: &[],
            adds_in: &[],
        };
        let expected = ["ec2:CreateTags", "ec2:DeleteTags", "ec2:DescribeVpcs"];
        assert_eq!(permissions(used).unwrap(), BTreeSet::from(expected));
        let owned = Resources {
            owns: &[&SECURITY_GROUP],
            ..used
        };
        let add = "ec2:AuthorizeSecurityGroupIngress";
        assert!(!permissions(owned).unwrap().contains(add));
        let filled = Resources {
            adds: &[RULE],
            ..owned
        };
        assert!(permissions(filled).unwrap().contains(add));
    }

    #[test]
    fn every_sort_of_part_has_its_operations() {
        for kind in KINDS {
            let operations = handler::of(kind).unwrap().operations();
            let inner: Vec<&str> = kind.inner.iter().map(|inner| inner.name).collect();
            let added: Vec<&str> = operations.adds.iter().map(|(inner, _)| *inner).collect();
            assert_eq!(added, inner, "{}", kind.name);
        }
    }
}
