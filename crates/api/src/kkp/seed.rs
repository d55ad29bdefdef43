//! `Seed`: where a datacenter's region stands.

use std::collections::BTreeMap;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A seed cluster of KKP, with the datacenters that it serves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seed {
    #[serde(rename = "apiVersion", default = "api_version")]
    api_version: String,
    #[serde(default = "kind")]
    kind: String,
    /// Kubernetes' own.
    pub metadata: ObjectMeta,
    /// What it serves.
    #[serde(default)]
    pub spec: SeedSpec,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeedSpec {
    /// The datacenters by name; a name is unique among all seeds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub datacenters: BTreeMap<String, Datacenter>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.datacenters.NAME`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Datacenter {
    /// Its cloud.
    #[serde(default)]
    pub spec: DatacenterSpec,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.datacenters.NAME.spec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatacenterSpec {
    /// Set if it is on AWS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aws: Option<AwsDatacenter>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.datacenters.NAME.spec.aws`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AwsDatacenter {
    /// The region.
    #[serde(default)]
    pub region: String,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Seed {
    /// The AWS region of a datacenter; `None` if it is not here, not on AWS, or has none.
    pub fn aws_region(&self, datacenter: &str) -> Option<&str> {
        let datacenter = self.spec.datacenters.get(datacenter)?;
        let region = datacenter.spec.aws.as_ref()?.region.as_str();
        (!region.is_empty()).then_some(region)
    }
}

kind!(
    Seed,
    "Seed",
    crate::kkp::GROUP,
    crate::kkp::VERSION,
    "seeds",
    NamespaceResourceScope
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datacenter_has_a_region_if_it_is_on_aws() {
        let seed: Seed = serde_json::from_value(serde_json::json!({
            "metadata": {"name": "europe", "namespace": "kubermatic"},
            "spec": {"country": "DE", "datacenters": {
                "frankfurt": {"country": "DE", "spec": {"aws": {"region": "eu-central-1"}}},
                "empty": {"spec": {"aws": {"region": ""}}},
                "hamburg": {"spec": {"hetzner": {"datacenter": "nbg1"}}},
            }},
        }))
        .unwrap();
        assert_eq!(seed.aws_region("frankfurt"), Some("eu-central-1"));
        assert_eq!(seed.aws_region("empty"), None);
        assert_eq!(seed.aws_region("hamburg"), None);
        assert_eq!(seed.aws_region("paris"), None);
    }
}
