//! `cluster.x-k8s.io` `Machine`, which an `AWSMachine` belongs to. It is only read.

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A machine of Cluster API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnerMachine {
    #[serde(rename = "apiVersion", default = "api_version")]
    api_version: String,
    #[serde(default = "kind")]
    kind: String,
    /// Kubernetes' own.
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub spec: OwnerMachineSpec,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerMachineSpec {
    /// The name of its cluster.
    #[serde(default)]
    pub cluster_name: String,
    /// What it is told at its first start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<Bootstrap>,
    /// The version of Kubernetes that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The zone that it is to be in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_domain: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.bootstrap`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bootstrap {
    /// The name of the Secret with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_secret_name: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl OwnerMachine {
    /// The name of the Secret with what it is told at its first start, once that is there.
    pub fn data_secret(&self) -> Option<&str> {
        let name = self.spec.bootstrap.as_ref()?.data_secret_name.as_deref()?;
        (!name.is_empty()).then_some(name)
    }

    /// Whether it is one of the control plane.
    pub fn is_control_plane(&self) -> bool {
        let labels = self.metadata.labels.as_ref();
        labels.is_some_and(|labels| labels.contains_key(super::CONTROL_PLANE))
    }
}

kind!(
    OwnerMachine,
    "Machine",
    crate::capa::OWNER_GROUP,
    crate::capa::OWNER_VERSION,
    "machines",
    NamespaceResourceScope
);
