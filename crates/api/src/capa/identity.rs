//! Identities: as whom AWS is called for a cluster, and which namespaces may use them.

use std::collections::BTreeMap;

use k8s_openapi::ClusterResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use ownership::input::InputError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The keys of a static identity's Secret, as the original reads them.
pub mod secret_key {
    /// The id of the access key.
    pub const ACCESS_KEY_ID: &str = "AccessKeyID";
    /// The access key's secret.
    pub const SECRET_ACCESS_KEY: &str = "SecretAccessKey";
    /// The token of a session; not served.
    pub const SESSION_TOKEN: &str = "SessionToken";
}

/// The kinds of identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdentityKind {
    /// What the operator itself runs with.
    Controller,
    /// An access key in a Secret.
    Static,
    /// A role that is taken on.
    Role,
}

impl IdentityKind {
    /// The name of the only controller identity that there is.
    pub const CONTROLLER: &'static str = "default";

    /// Reads `kind` of a reference.
    ///
    /// # Errors
    /// A kind that is none of the three.
    pub fn parse(field: &'static str, kind: &str) -> Result<Self, InputError> {
        match kind {
            "AWSClusterControllerIdentity" => Ok(Self::Controller),
            "AWSClusterStaticIdentity" => Ok(Self::Static),
            "AWSClusterRoleIdentity" => Ok(Self::Role),
            _ => {
                let rule = "must be AWSClusterControllerIdentity, AWSClusterStaticIdentity or \
                            AWSClusterRoleIdentity";
                Err(InputError::new(field, kind, rule))
            }
        }
    }
}

/// Which namespaces may use an identity: none where this is missing, all where it is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AllowedNamespaces {
    /// These.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<String>>,
    /// Those with such labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl AllowedNamespaces {
    /// Whether it lists the namespace, or all of them.
    pub fn lists(&self, namespace: &str) -> bool {
        match (&self.list, &self.selector) {
            (None, None) => true,
            (Some(list), None) if list.is_empty() => true,
            (list, _) => list.iter().flatten().any(|listed| listed == namespace),
        }
    }

    /// Whether its selector selects a namespace with these labels. An empty one selects none, as in the
    /// original.
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        let Some(selector) = &self.selector else {
            return false;
        };
        let equal = selector.match_labels.iter().flatten();
        let mut equal = equal.peekable();
        let others = selector.match_expressions.iter().flatten();
        let mut others = others.peekable();
        if equal.peek().is_none() && others.peek().is_none() {
            return false;
        }
        equal.all(|(key, value)| labels.get(key) == Some(value))
            && others.all(|one| {
                let value = labels.get(&one.key);
                let among = || {
                    let mut values = one.values.iter().flatten();
                    value.is_some_and(|value| values.any(|listed| listed == value))
                };
                match one.operator.as_str() {
                    "In" => among(),
                    "NotIn" => !among(),
                    "Exists" => value.is_some(),
                    "DoesNotExist" => value.is_none(),
                    _ => false,
                }
            })
    }
}

macro_rules! identity {
    ($(#[$doc:meta])* $view:ident, $spec:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct $view {
            #[serde(rename = "apiVersion", default = "api_version")]
            api_version: String,
            #[serde(default = "kind")]
            kind: String,
            /// Kubernetes' own.
            pub metadata: ObjectMeta,
            /// What it is.
            #[serde(default)]
            pub spec: $spec,
            /// Every other field.
            #[serde(flatten)]
            pub rest: Map<String, Value>,
        }
    };
}

mod controller {
    use super::{
        ClusterResourceScope, ControllerIdentitySpec, Deserialize, Map, ObjectMeta, Serialize,
        Value,
    };

    identity! {
        /// What the operator itself runs with.
        ControllerIdentity, ControllerIdentitySpec
    }

    kind!(
        ControllerIdentity,
        "AWSClusterControllerIdentity",
        crate::capa::GROUP,
        crate::capa::VERSION,
        "awsclustercontrolleridentities",
        ClusterResourceScope
    );
}

mod fixed {
    use super::{
        ClusterResourceScope, Deserialize, Map, ObjectMeta, Serialize, StaticIdentitySpec, Value,
    };

    identity! {
        /// An access key in a Secret.
        StaticIdentity, StaticIdentitySpec
    }

    kind!(
        StaticIdentity,
        "AWSClusterStaticIdentity",
        crate::capa::GROUP,
        crate::capa::VERSION,
        "awsclusterstaticidentities",
        ClusterResourceScope
    );
}

mod role {
    use super::{
        ClusterResourceScope, Deserialize, Map, ObjectMeta, RoleIdentitySpec, Serialize, Value,
    };

    identity! {
        /// A role that is taken on.
        RoleIdentity, RoleIdentitySpec
    }

    kind!(
        RoleIdentity,
        "AWSClusterRoleIdentity",
        crate::capa::GROUP,
        crate::capa::VERSION,
        "awsclusterroleidentities",
        ClusterResourceScope
    );
}

pub use controller::ControllerIdentity;
pub use fixed::StaticIdentity;
pub use role::RoleIdentity;

/// `spec` of a controller identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ControllerIdentitySpec {
    /// Who may use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_namespaces: Option<AllowedNamespaces>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec` of a static identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StaticIdentitySpec {
    /// Who may use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_namespaces: Option<AllowedNamespaces>,
    /// The Secret's name.
    #[serde(default)]
    pub secret_ref: String,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec` of a role identity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RoleIdentitySpec {
    /// Who may use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_namespaces: Option<AllowedNamespaces>,
    /// The role.
    #[serde(rename = "roleARN", default)]
    pub role_arn: String,
    /// The external id that its trust policy asks for.
    #[serde(
        rename = "externalID",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub external_id: Option<String>,
    /// As whom it is taken on; else as the operator itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_identity_ref: Option<super::IdentityReference>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn allowed(value: Value) -> AllowedNamespaces {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn an_empty_list_allows_everybody_and_a_list_those_in_it() {
        assert!(allowed(json!({})).lists("any"));
        assert!(allowed(json!({"list": []})).lists("any"));
        let some = allowed(json!({"list": ["team-a"]}));
        assert!(some.lists("team-a") && !some.lists("team-b"));
        let labelled = allowed(json!({"selector": {"matchLabels": {"team": "a"}}}));
        assert!(!labelled.lists("any"));
    }

    #[test]
    fn a_selector_selects_by_labels() {
        let labels = |pairs: &[(&str, &str)]| {
            let owned = pairs
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
            owned.collect::<BTreeMap<_, _>>()
        };
        let team = labels(&[("team", "a")]);
        let equal = allowed(json!({"selector": {"matchLabels": {"team": "a"}}}));
        assert!(equal.selects(&team) && !equal.selects(&labels(&[])));
        for (expression, selects) in [
            (
                json!({"key": "team", "operator": "In", "values": ["a", "b"]}),
                true,
            ),
            (
                json!({"key": "team", "operator": "NotIn", "values": ["a"]}),
                false,
            ),
            (json!({"key": "team", "operator": "Exists"}), true),
            (json!({"key": "team", "operator": "DoesNotExist"}), false),
        ] {
            let said = expression.to_string();
            let one = allowed(json!({"selector": {"matchExpressions": [expression]}}));
            assert_eq!(one.selects(&team), selects, "{said}");
        }
        assert!(!allowed(json!({"selector": {}})).selects(&team));
        assert!(!allowed(json!({})).selects(&team));
    }
}
