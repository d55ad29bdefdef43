//! Roles and their policies.

use cloud_port::aws::errors::Service;
use cloud_port::aws::instance_profile::INSTANCE_PROFILE;
use cloud_port::aws::role::{self, ATTACHED_POLICY, INLINE_POLICY};
use ownership::error::Blocker;
use ownership::kind::InnerKind;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, Target, Text};

use super::{InnerRow, Model, OTHER_PART, Row, Told};
use crate::account::Account;
use crate::op::Op;
use crate::record::State;
use crate::settings::Quotas;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &Role,
    service: Service::Iam,
    prefix: "",
    unique: "AROA",
    not_found: "NoSuchEntity",
    duplicate: "EntityAlreadyExists",
    over_quota: "LimitExceeded",
    blocked: "DeleteConflict",
    tags_full: "LimitExceeded",
    get: Op::GetRole,
    // `ListRoles` shows no tags.
    list: Op::GetAccountAuthorizationDetails,
    create: Op::CreateRole,
    update: Op::UpdateAssumeRolePolicy,
    delete: Op::DeleteRole,
    tag: Op::TagRole,
    untag: Op::UntagRole,
    inner: &[
        InnerRow {
            prefix: "",
            list: Op::ListRolePolicies,
            get: Some(Op::GetRolePolicy),
            add: Op::PutRolePolicy,
            remove: Op::DeleteRolePolicy,
            duplicate: "EntityAlreadyExists",
            not_found: "NoSuchEntity",
            full: "LimitExceeded",
            told: Told::InList,
        },
        InnerRow {
            list: Op::ListAttachedRolePolicies,
            add: Op::AttachRolePolicy,
            remove: Op::DetachRolePolicy,
            duplicate: "EntityAlreadyExists",
            not_found: "NoSuchEntity",
            full: "LimitExceeded",
            told: Told::InList,
            ..OTHER_PART
        },
    ],
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

    fn quota<'p>(&self, quotas: &Quotas, _: &'p Props) -> (usize, Option<&'p Text>) {
        (quotas.roles, None)
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
        let invalid = |message| spot.refuse(op, ROW.invalid(), message);
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

    fn room(&self, quotas: &Quotas, inner: &InnerKind, parts: &[&InnerPart]) -> (usize, usize) {
        if inner.name == ATTACHED_POLICY {
            return (parts.len(), quotas.attached_policies);
        }
        let size = parts.iter().map(|part| part.value.chars().count()).sum();
        (size, quotas.inline_policy_size)
    }
}
