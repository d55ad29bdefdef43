//! `Cluster`: what we look at and write, typed; everything else, kept.

use std::collections::BTreeMap;

use ipnet::IpNet;
use k8s_openapi::ClusterResourceScope;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use ownership::input::InputError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Sensitive;

/// A cluster of KKP. It lives in no namespace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    #[serde(rename = "apiVersion", default = "api_version")]
    api_version: String,
    #[serde(default = "kind")]
    kind: String,
    /// Kubernetes' own; an API server keeps no fields here that it does not know.
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub spec: ClusterSpec,
    /// What was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ClusterStatus>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSpec {
    /// Where the cluster runs.
    #[serde(default)]
    pub cloud: Cloud,
    /// The networks inside the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_network: Option<ClusterNetwork>,
    /// Settings of single components.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub components_override: Option<Components>,
    /// Nobody may reconcile the cluster, nor delete what it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<bool>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.cloud`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cloud {
    /// The name of a datacenter of a Seed.
    #[serde(default)]
    pub dc: String,
    /// The cluster's AWS account and resources, if it runs there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aws: Option<AwsCloud>,
    /// Every other field, other clouds among them.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.cloud.aws`. The five ids must be there, and are empty until they are known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AwsCloud {
    /// A static key; see [`AwsCredentials`](super::AwsCredentials).
    #[serde(
        rename = "accessKeyID",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub access_key_id: Option<String>,
    /// Its secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_access_key: Option<Sensitive>,
    /// A Secret that holds what is not given here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials_reference: Option<SecretReference>,
    /// A role to assume.
    #[serde(
        rename = "assumeRoleARN",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub assume_role_arn: Option<String>,
    /// The external id to assume it with.
    #[serde(
        rename = "assumeRoleExternalID",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub assume_role_external_id: Option<String>,
    /// The VPC.
    #[serde(rename = "vpcID", default)]
    pub vpc_id: String,
    /// The control plane's role: an ARN, or a name in older clusters.
    #[serde(rename = "roleARN", default)]
    pub role_arn: String,
    /// The route table.
    #[serde(rename = "routeTableID", default)]
    pub route_table_id: String,
    /// The workers' instance profile.
    #[serde(default)]
    pub instance_profile_name: String,
    /// The security group of all machines.
    #[serde(rename = "securityGroupID", default)]
    pub security_group_id: String,
    /// One range that may reach the node ports.
    #[serde(
        rename = "nodePortsAllowedIPRange",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub node_ports_allowed_ip_range: Option<String>,
    /// The ranges that may reach the node ports.
    #[serde(
        rename = "nodePortsAllowedIPRanges",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub node_ports_allowed_ip_ranges: Option<NetworkRanges>,
    /// Roles and profile are somebody else's business.
    #[serde(
        rename = "disableIAMReconciling",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub disable_iam_reconciling: Option<bool>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Names a Secret in any namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SecretReference {
    /// The Secret's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The Secret's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Every other field. `key` is one of them: the keys of such a Secret are fixed.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.clusterNetwork`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterNetwork {
    /// `IPv4`, `IPv4+IPv6`, or empty: see [`Cluster::ip_family`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_family: Option<String>,
    /// Where pods get their addresses from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<NetworkRanges>,
    /// Where services get their addresses from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub services: Option<NetworkRanges>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A list of networks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkRanges {
    /// The networks, such as `10.0.0.0/8`.
    #[serde(default)]
    pub cidr_blocks: Vec<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.componentsOverride`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Components {
    /// The cluster's API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apiserver: Option<ApiServer>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.componentsOverride.apiserver`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiServer {
    /// The node ports, such as `30000-32767`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_port_range: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// When the cluster's cloud resources were last reconciled in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_provider_reconciliation: Option<Time>,
    /// Conditions by their type: in this API a map.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conditions: BTreeMap<String, Condition>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A condition. The API server refuses one without version, heartbeat and status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// The version of the controller that wrote it.
    pub kubermatic_version: String,
    /// When it was last written.
    pub last_heartbeat_time: Time,
    /// When `status` last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// One word for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Cluster {
    /// A cluster of this name that says nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            api_version: api_version(),
            kind: kind(),
            metadata: ObjectMeta {
                name: Some(name.into()),
                ..ObjectMeta::default()
            },
            spec: ClusterSpec::default(),
            status: None,
            rest: Map::new(),
        }
    }

    /// Whether `spec.pause` is set.
    pub fn is_paused(&self) -> bool {
        self.spec.pause.unwrap_or(false)
    }

    /// The cluster's IP family: the field, if it says something; else what the pods' networks are,
    /// then the services'; else `IPv4`.
    ///
    /// # Errors
    /// What is not a network.
    pub fn ip_family(&self) -> Result<&str, InputError> {
        let Some(network) = &self.spec.cluster_network else {
            return Ok("IPv4");
        };
        if let Some(family) = network.ip_family.as_deref().filter(|text| !text.is_empty()) {
            return Ok(family);
        }
        let fields = [
            ("spec.clusterNetwork.pods.cidrBlocks", &network.pods),
            ("spec.clusterNetwork.services.cidrBlocks", &network.services),
        ];
        for (field, ranges) in fields {
            let blocks = ranges.iter().flat_map(|ranges| &ranges.cidr_blocks);
            let parsed = blocks.map(|block| {
                let rule = "must be a network such as 10.0.0.0/8 or fd00::/8";
                block
                    .parse::<IpNet>()
                    .map_err(|_| InputError::new(field, block, rule))
            });
            let networks = parsed.collect::<Result<Vec<_>, _>>()?;
            let v4 = networks.iter().any(|n| matches!(n, IpNet::V4(_)));
            let v6 = networks.iter().any(|n| matches!(n, IpNet::V6(_)));
            match (v4, v6) {
                (true, true) => return Ok("IPv4+IPv6"),
                (false, true) => return Ok("IPv6"),
                (true, false) => return Ok("IPv4"),
                (false, false) => {}
            }
        }
        Ok("IPv4")
    }
}

kind!(
    Cluster,
    "Cluster",
    crate::kkp::GROUP,
    crate::kkp::VERSION,
    "clusters",
    ClusterResourceScope
);

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(ip_family: Option<&str>, pods: &[&str], services: &[&str]) -> Cluster {
        let ranges = |blocks: &[&str]| {
            Some(NetworkRanges {
                cidr_blocks: blocks.iter().map(|&block| block.to_owned()).collect(),
                ..NetworkRanges::default()
            })
        };
        let mut cluster = Cluster::new("a");
        cluster.spec.cluster_network = Some(ClusterNetwork {
            ip_family: ip_family.map(str::to_owned),
            pods: ranges(pods),
            services: ranges(services),
            ..ClusterNetwork::default()
        });
        cluster
    }

    #[test]
    fn the_ip_family_is_the_field_else_what_the_networks_are() {
        let cases = [
            (Some("IPv4+IPv6"), &["10.0.0.0/16"][..], "IPv4+IPv6"),
            (Some(""), &["10.0.0.0/16"], "IPv4"),
            (None, &["fd00::/64"], "IPv6"),
            (None, &["fd00::/64", "10.0.0.0/16"], "IPv4+IPv6"),
            (None, &[], "IPv4"),
        ];
        for (field, pods, expected) in cases {
            assert_eq!(
                cluster(field, pods, &[]).ip_family().unwrap(),
                expected,
                "{field:?} {pods:?}"
            );
        }
        assert_eq!(
            cluster(None, &[], &["fd00::/64"]).ip_family().unwrap(),
            "IPv6"
        );
        assert_eq!(Cluster::new("a").ip_family().unwrap(), "IPv4");
    }

    #[test]
    fn a_network_that_is_none_is_refused_by_field_and_rule() {
        let error = cluster(None, &["10.0.0.0/99"], &[])
            .ip_family()
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "spec.clusterNetwork.pods.cidrBlocks: \"10.0.0.0/99\" must be a network such as \
             10.0.0.0/8 or fd00::/8"
        );
    }

    #[test]
    fn an_object_that_says_nothing_is_read() {
        let text = r#"{"metadata":{"name":"a"},"status":{"lastProviderReconciliation":null}}"#;
        let cluster: Cluster = serde_json::from_str(text).unwrap();
        assert!(!cluster.is_paused());
        assert_eq!(
            cluster.status.unwrap().last_provider_reconciliation,
            None,
            "null is what the original's zero time looks like"
        );
    }
}
