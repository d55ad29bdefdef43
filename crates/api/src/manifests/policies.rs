//! Admission policies, as they are installed: for these kinds, and for this account of the operator.

use std::fmt::Write as _;

use k8s_openapi::api::admissionregistration::v1::ValidatingAdmissionPolicy;

use crate::names::{OPERATOR_ACCOUNT, OPERATOR_NAMESPACE, user_of_account};

const CLAIMS: [&str; 2] = [
    include_str!("claims-policy.yaml"),
    include_str!("claims-binding.yaml"),
];
/// The name of the policy that protects every system's claims.
pub const PROTECTION: &str = "claims.freehold.dev";

/// Where the policy says which kinds it is about.
const NO_RULES: &str = "    resourceRules: []\n";

/// A kind of served objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// `clusters`.
    pub plural: &'static str,
    /// `cluster`.
    pub singular: &'static str,
    /// `kubermatic.k8c.io`.
    pub group: &'static str,
    /// `v1`.
    pub version: &'static str,
}

/// The policy that protects claim, record and finalizer of these kinds, and its binding.
pub fn protection(kinds: &[Served]) -> Vec<String> {
    let mut rules = "    resourceRules:\n".to_owned();
    for kind in kinds {
        let Served {
            plural,
            group,
            version,
            ..
        } = kind;
        // Whoever writes through another version of the kind is judged, too: the API server
        // converts it.
        let _ = write!(
            rules,
            "    - apiGroups: [{group}]\n      apiVersions: [{version}]\n      \
             operations: [UPDATE]\n      resources: [{plural}]\n"
        );
    }
    CLAIMS.map(|text| text.replace(NO_RULES, &rules)).into()
}

/// A policy that knows the operator by another account than the usual one.
pub fn for_account(policy: &str, namespace: &str, account: &str) -> String {
    let usual = user_of_account(OPERATOR_NAMESPACE, OPERATOR_ACCOUNT);
    policy.replace(&usual, &user_of_account(namespace, account))
}

/// Whom a policy trusts as the operator; `None` where somebody has put it in other words.
pub fn trusted(policy: &ValidatingAdmissionPolicy) -> Option<&str> {
    let variables = policy.spec.as_ref()?.variables.as_ref()?;
    let operator = variables.iter().find(|it| it.name == "isOperator")?;
    let said = operator
        .expression
        .strip_prefix("request.userInfo.username == '")?;
    said.strip_suffix('\'')
}
