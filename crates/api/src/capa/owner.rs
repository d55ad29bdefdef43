//! `cluster.x-k8s.io` `Cluster`, which an `AWSCluster` belongs to. It is only read.

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A cluster of Cluster API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnerCluster {
    #[serde(rename = "apiVersion", default = "api_version")]
    api_version: String,
    #[serde(default = "kind")]
    kind: String,
    /// Kubernetes' own.
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub spec: OwnerClusterSpec,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerClusterSpec {
    /// Nobody may work on the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// The networks inside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_network: Option<OwnerClusterNetwork>,
    /// Its infrastructure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infrastructure_ref: Option<InfrastructureReference>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.clusterNetwork`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerClusterNetwork {
    /// The port of the API server; else 6443.
    #[serde(
        rename = "apiServerPort",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub api_server_port: Option<i64>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.infrastructureRef`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InfrastructureReference {
    /// Its kind.
    #[serde(default)]
    pub kind: String,
    /// Its name; it is in the same namespace.
    #[serde(default)]
    pub name: String,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl OwnerCluster {
    /// The name of the `AWSCluster` that it stands on, if it stands on one.
    pub fn aws_cluster(&self) -> Option<&str> {
        let infrastructure = self.spec.infrastructure_ref.as_ref()?;
        let is_ours = infrastructure.kind == "AWSCluster" && !infrastructure.name.is_empty();
        is_ours.then_some(infrastructure.name.as_str())
    }

    /// Whether `spec.paused` is set.
    pub fn is_paused(&self) -> bool {
        self.spec.paused.unwrap_or(false)
    }

    /// The port of the API server, where one is given.
    pub fn api_server_port(&self) -> Option<i64> {
        self.spec.cluster_network.as_ref()?.api_server_port
    }
}

kind!(
    OwnerCluster,
    "Cluster",
    crate::capa::OWNER_GROUP,
    crate::capa::OWNER_VERSION,
    "clusters",
    NamespaceResourceScope
);
