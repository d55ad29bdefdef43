//! Roles and their policies.

use cloud_port::aws::instance_profile::INSTANCE_PROFILE;
use cloud_port::aws::role::{self, INLINE_POLICY};
use ownership::error::Blocker;
use ownership::kind::InnerKind;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, Target};

use super::{IAM, OTHER, OTHER_PART, PAGE, SHORT_PAGE};
use crate::account::Account;
use crate::provider::{InnerRow, Model, Row, Told};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &Role,
    service: &IAM,
    prefix: "",
    unique: "AROA",
    not_found: "NoSuchEntity",
    duplicate: "EntityAlreadyExists",
    over_quota: "LimitExceeded",
    blocked: "DeleteConflict",
    tags_full: "LimitExceeded",
    get: IAM.reads("GetRole"),
    // `ListRoles` shows no tags.
    list: IAM.lists("GetAccountAuthorizationDetails", PAGE),
    create: IAM.writes("CreateRole"),
    update: IAM.writes("UpdateAssumeRolePolicy"),
    delete: IAM.writes("DeleteRole"),
    tag: IAM.writes("TagRole"),
    untag: IAM.writes("UntagRole"),
    quota: 1000,
    inner: &[
        InnerRow {
            list: IAM.lists("ListRolePolicies", SHORT_PAGE),
            get: Some(IAM.reads("GetRolePolicy")),
            add: IAM.writes("PutRolePolicy"),
            remove: IAM.writes("DeleteRolePolicy"),
            duplicate: "EntityAlreadyExists",
            not_found: "NoSuchEntity",
            full: "LimitExceeded",
            // Characters of all of them.
            quota: 10_240,
            told: Told::InList,
            ..OTHER_PART
        },
        InnerRow {
            list: IAM.lists("ListAttachedRolePolicies", SHORT_PAGE),
            add: IAM.writes("AttachRolePolicy"),
            remove: IAM.writes("DetachRolePolicy"),
            duplicate: "EntityAlreadyExists",
            not_found: "NoSuchEntity",
            full: "LimitExceeded",
            quota: 10,
            told: Told::InList,
            ..OTHER_PART
        },
    ],
    ..OTHER
};

#[derive(Debug)]
struct Role;

impl Model for Role {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        account.required(order, props, "trust")?;
        role::check_name(order.name).map_err(|error| ROW.invalid_create(error))
    }

    fn is_ready_at_once(&self) -> bool {
        true
    }

    /// Profiles that hold this role.
    fn users(&self, account: &Account, state: &State, blockers: &mut Vec<Blocker>) {
        for profile in account.states(&INSTANCE_PROFILE) {
            if profile.part(0, state.resource.id.as_str()).is_some() {
                blockers.push(Blocker {
                    noun: INSTANCE_PROFILE.noun.into(),
                    id: profile.resource.id.clone(),
                });
            }
        }
    }

    fn check_part(
        &self,
        _: &Account,
        spot: Spot,
        _: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        let op = spot.inner.add;
        let invalid = |message| spot.refuse(op, ROW.service.invalid, message);
        if spot.declared.name == INLINE_POLICY {
            role::check_policy_name(&part.key).map_err(|error| invalid(error.to_string()))?;
            if part.value.is_empty() {
                let message = "the policy document is empty".to_owned();
                return Err(spot.refuse(op, "MalformedPolicyDocument", message));
            }
        } else if !part.key.starts_with("arn:") {
            let message = format!("'{}' is not the ARN of a policy", part.key);
            return Err(invalid(message));
        }
        Ok(())
    }
    fn measure(&self, inner: &InnerKind, parts: &[&InnerPart]) -> usize {
        if inner.name == INLINE_POLICY {
            return parts.iter().map(|part| part.value.chars().count()).sum();
        }
        parts.len()
    }
}
