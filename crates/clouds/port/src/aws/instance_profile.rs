//! IAM instance profiles, with their role as a part.

use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::{BirthProof, CreateMode, Ids, InnerKind, InnerProof, Marking, Naming};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName, Text, name};

use super::errors::{Code, Service};
use super::{Entry, IAM_SETTLING, check};
use crate::sample::Sample;

/// An instance profile that a claim wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceProfile {
    /// Its name, unique in the account; [`fit_name`] shortens one that is derived.
    pub name: Text,
    /// The role that instances get: the id of a role is its name.
    pub role: Expr,
}

impl InstanceProfile {
    /// The slot for it. In a profile of ours another role gives way.
    ///
    /// # Errors
    /// The field, and the rule of IAM that it breaks.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        check_name(&self.name)?;
        Ok(Slot {
            inner: vec![InnerWish {
                kind: PROFILE_ROLE,
                key: self.role,
                value: "".into(),
            }],
            ..Slot::own(slot, &INSTANCE_PROFILE, self.name)
        })
    }
}

const LONGEST: usize = 128;

/// Checks a profile's name against the rules of IAM.
///
/// # Errors
/// The broken rule.
pub fn check_name(name: &str) -> Result<(), InputError> {
    check::iam_name("instance profile name", name, LONGEST)
}

/// A profile's name from one that was derived and may be too long: shortened with a stable hash.
///
/// # Errors
/// Characters that IAM does not accept.
pub fn fit_name(derived: &str) -> Result<Text, InputError> {
    let fitted = name::fit("instance profile name", derived, LONGEST)?;
    check_name(&fitted)?;
    Ok(fitted.into())
}

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
    tags_together: false,
    naming: Naming::Account,
    names: ownership::name::NameRule::longest(128),
    ids: Ids::Names(&[]),
    has_creation_time: true,
    lists_marks: false,
    recorded: true,
    valuable: false,
    settling: IAM_SETTLING,
    course: Course::PLAIN,
    props: &[],
    inner: &[InnerKind {
        name: PROFILE_ROLE,
        noun: "role",
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
    service: Service::Iam,
    codes: &CODES,
};

static CODES: [Code; 2] = [
    // A profile holds one role. The one that is there may be the very one we wanted, put there by a
    // call whose answer was lost: look again.
    Code::new("LimitExceeded", Class::Exists).to("AddRoleToInstanceProfile"),
    // The profile holds as many tags as it can.
    Code::new("LimitExceeded", Class::Blocked(Vec::new())).to("TagInstanceProfile"),
];

static SAMPLE: Sample = Sample::of(&INSTANCE_PROFILE);

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(name: &str) -> Result<Slot, InputError> {
        let role = Expr::Slot(SlotName::new("worker-role")?);
        let name = name.into();
        InstanceProfile { name, role }.slot(SlotName::new("profile")?)
    }

    #[test]
    fn a_slot_waits_for_its_role() {
        let slot = profile("kubernetes-a").unwrap();
        let needs: Vec<_> = slot.inner_dependencies().map(SlotName::as_str).collect();
        assert_eq!(needs, ["worker-role"]);
    }

    #[test]
    fn names_obey_iam() {
        assert!(profile(&"x".repeat(128)).is_ok());
        let error = profile(&"x".repeat(129)).unwrap_err().to_string();
        assert!(error.contains("at most 128 characters"), "{error}");
        assert!(
            profile("a/b")
                .unwrap_err()
                .to_string()
                .contains("must consist of")
        );
        assert_eq!(fit_name(&"x".repeat(200)).unwrap().len(), 128);
    }
}
