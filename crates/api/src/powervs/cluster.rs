//! `IBMPowerVSCluster`: what we look at and write, typed; everything else, kept.

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::spec::IbmPowerVsClusterSpec;

/// The infrastructure of one cluster on Power Virtual Server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IbmPowerVsCluster {
    #[serde(rename = "apiVersion", default = "api_version")]
    api_version: String,
    #[serde(default = "kind")]
    kind: String,
    /// Kubernetes' own; an API server keeps no fields here that it does not know.
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub spec: IbmPowerVsClusterSpec,
    /// What was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<IbmPowerVsClusterStatus>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IbmPowerVsClusterStatus {
    /// Whether machines can be made: the flag of Cluster API's contract v1beta1.
    #[serde(default)]
    pub ready: bool,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl IbmPowerVsCluster {
    /// The value of an annotation.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        let annotations = self.metadata.annotations.as_ref()?;
        annotations.get(name).map(String::as_str)
    }

    /// Whether infrastructure is to be made for it; else what is given is only looked up.
    pub fn creates(&self) -> bool {
        self.annotation(super::CREATE_INFRA) == Some("true")
    }
}

kind!(
    IbmPowerVsCluster,
    "IBMPowerVSCluster",
    crate::capa::GROUP,
    crate::powervs::VERSION,
    "ibmpowervsclusters",
    NamespaceResourceScope
);
