//! `spec.network` of an `AWSCluster`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `spec.network`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Network {
    /// The VPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc: Option<Vpc>,
    /// Its subnets; by their ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnets: Option<Vec<Subnet>>,
    /// What the network plugin needs; else what Calico does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cni: Option<Cni>,
    /// Security groups by role that are somebody's, and used as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_group_overrides: Option<BTreeMap<String, String>>,
    /// Who may reach the control plane besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_control_plane_ingress_rules: Option<Vec<IngressRule>>,
    /// Who may reach the nodes besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_node_ingress_rules: Option<Vec<IngressRule>>,
    /// Who may reach the node ports; else everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_port_ingress_rule_cidr_blocks: Option<Vec<String>>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.network.vpc`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Vpc {
    /// Its id: somebody's, or recorded by us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its range; else 10.0.0.0/16.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cidr_block: Option<String>,
    /// Its internet gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internet_gateway_id: Option<String>,
    /// In how many zones at most subnets are made, where none are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability_zone_usage_limit: Option<i64>,
    /// Which of them: `Ordered` or `Random`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability_zone_selection: Option<String>,
    /// Which subnets get the larger ranges: `PreferPrivate` or `PreferPublic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnet_schema: Option<String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.network.subnets[]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subnet {
    /// Its id in the cloud if it is somebody's (`subnet-…`); else its name, which tells it from others.
    #[serde(default)]
    pub id: String,
    /// Its id in the cloud.
    #[serde(
        rename = "resourceID",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub resource_id: Option<String>,
    /// Its range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cidr_block: Option<String>,
    /// Its zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability_zone: Option<String>,
    /// Whether it is reached from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_public: Option<bool>,
    /// Its route table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route_table_id: Option<String>,
    /// The NAT gateway in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nat_gateway_id: Option<String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.network.cni`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cni {
    /// What all nodes may send to each other for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cni_ingress_rules: Option<Vec<CniIngressRule>>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A rule between all nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CniIngressRule {
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// `-1`, `4`, `tcp`, `udp`, `icmp`, `58` or `50`.
    #[serde(default)]
    pub protocol: String,
    /// The first port.
    #[serde(default)]
    pub from_port: i64,
    /// The last port.
    #[serde(default)]
    pub to_port: i64,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A rule of a security group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IngressRule {
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// `-1`, `4`, `tcp`, `udp`, `icmp`, `58` or `50`.
    #[serde(default)]
    pub protocol: String,
    /// The first port.
    #[serde(default)]
    pub from_port: i64,
    /// The last port.
    #[serde(default)]
    pub to_port: i64,
    /// From these ranges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cidr_blocks: Option<Vec<String>>,
    /// From these ranges of IPv6.
    #[serde(
        rename = "ipv6CidrBlocks",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub ipv6_cidr_blocks: Option<Vec<String>>,
    /// From the members of these groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_security_group_ids: Option<Vec<String>>,
    /// From the members of the cluster's groups of these roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_security_group_roles: Option<Vec<String>>,
    /// From the addresses of the cluster's NAT gateways.
    #[serde(
        rename = "natGatewaysIPsSource",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub nat_gateways_ips_source: Option<bool>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
