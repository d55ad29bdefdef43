//! `AWSCluster`: what we look at and write, typed; everything else, kept.

use std::collections::BTreeMap;

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::network::{IngressRule, Network};

/// The infrastructure of one cluster on AWS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AwsCluster {
    #[serde(rename = "apiVersion", default = "api_version")]
    api_version: String,
    #[serde(default = "kind")]
    kind: String,
    /// Kubernetes' own; an API server keeps no fields here that it does not know.
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub spec: AwsClusterSpec,
    /// What was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<AwsClusterStatus>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwsClusterSpec {
    /// The region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// Tags for everything that is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_tags: Option<BTreeMap<String, String>>,
    /// The load balancer of the API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_load_balancer: Option<LoadBalancer>,
    /// Where the API server is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<Endpoint>,
    /// As whom AWS is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_ref: Option<IdentityReference>,
    /// The SSH key of machines that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh_key_name: Option<String>,
    /// How images of machines are named that name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_lookup_format: Option<String>,
    /// The account that has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_lookup_org: Option<String>,
    /// Their operating system.
    #[serde(
        rename = "imageLookupBaseOS",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub image_lookup_base_os: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.controlPlaneLoadBalancer`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancer {
    /// Its name; else one that is made of the cluster's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `internet-facing` or `internal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// `classic`, `nlb` or `disabled`; others are not served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_balancer_type: Option<String>,
    /// Whether it sends traffic to other zones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_zone_load_balancing: Option<bool>,
    /// The subnets that it is in; else those of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnets: Option<Vec<String>>,
    /// Security groups that it gets besides the cluster's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_security_groups: Option<Vec<String>>,
    /// How it finds out whether an API server is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_check_protocol: Option<String>,
    /// How often and how patiently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_check: Option<LoadBalancerHealthCheck>,
    /// Who may reach it; else everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingress_rules: Option<Vec<IngressRule>>,
    /// Whether the API servers see their clients' addresses.
    #[serde(
        rename = "preserveClientIP",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub preserve_client_ip: Option<bool>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.controlPlaneLoadBalancer.healthCheck`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancerHealthCheck {
    /// Seconds between two checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_seconds: Option<i64>,
    /// Seconds until a check has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i64>,
    /// How many good checks make a target healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold_count: Option<i64>,
    /// How many failed ones make it unhealthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unhealthy_threshold_count: Option<i64>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.controlPlaneEndpoint`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Endpoint {
    /// The name or address.
    #[serde(default)]
    pub host: String,
    /// The port.
    #[serde(default)]
    pub port: i64,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.identityRef`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdentityReference {
    /// The identity's kind.
    #[serde(default)]
    pub kind: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwsClusterStatus {
    /// Whether machines can be made: the flag of Cluster API's contract v1beta1.
    #[serde(default)]
    pub ready: bool,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl AwsCluster {
    /// Its network, as its author wrote it.
    pub fn network(&self) -> Network {
        self.spec.network.clone().unwrap_or_default()
    }

    /// Whether an annotation is there, whatever its value.
    pub fn has_annotation(&self, name: &str) -> bool {
        let annotations = self.metadata.annotations.as_ref();
        annotations.is_some_and(|annotations| annotations.contains_key(name))
    }
}

kind!(
    AwsCluster,
    "AWSCluster",
    crate::capa::GROUP,
    crate::capa::VERSION,
    "awsclusters",
    NamespaceResourceScope
);
