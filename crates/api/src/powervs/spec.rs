//! The fields of an `IBMPowerVSCluster`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `spec`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IbmPowerVsClusterSpec {
    /// The older way to name the workspace.
    #[serde(
        rename = "serviceInstanceID",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub service_instance_id: Option<String>,
    /// The workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_instance: Option<Reference>,
    /// The network in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Reference>,
    /// The DHCP server that makes the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dhcp_server: Option<DhcpServer>,
    /// The zone of Power Virtual Server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// The resource group of everything that is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_group: Option<Reference>,
    /// The VPC, in which the load balancers are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc: Option<Vpc>,
    /// Its subnets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc_subnets: Option<Vec<VpcSubnet>>,
    /// Its security groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc_security_groups: Option<Vec<SecurityGroup>>,
    /// The transit gateway between workspace and VPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transit_gateway: Option<TransitGateway>,
    /// The load balancers of the API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_balancers: Option<Vec<LoadBalancer>>,
    /// The COS instance, for ignition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cos_instance: Option<CosInstance>,
    /// How machines start; with it there is a COS instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignition: Option<Ignition>,
    /// Where the API server is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane_endpoint: Option<Endpoint>,
    /// The user's tags, for what is made and what is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<Tag>>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A resource that is given: by its id, its name or an expression.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reference {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// An expression for its name: not served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.dhcpServer`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DhcpServer {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The range of its network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cidr: Option<String>,
    /// The DNS server that it tells machines of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns_server: Option<String>,
    /// Whether machines reach the internet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snat: Option<bool>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.vpc`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Vpc {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.vpcSubnets[]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VpcSubnet {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cidr: Option<String>,
    /// Its zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.vpcSecurityGroups[]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecurityGroup {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it lets through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<SecurityGroupRule>>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A rule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecurityGroupRule {
    /// `inbound` or `outbound`.
    #[serde(default)]
    pub direction: String,
    /// Where inbound traffic comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<RuleEnd>,
    /// Where outbound traffic goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<RuleEnd>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The other end of a rule, and what goes through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleEnd {
    /// The protocol.
    #[serde(default)]
    pub protocol: String,
    /// The ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_range: Option<PortRange>,
    /// The type of ICMP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icmp_type: Option<i64>,
    /// The code of ICMP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icmp_code: Option<i64>,
    /// Who is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remotes: Option<Vec<RuleRemote>>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Ports, from the first to the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PortRange {
    /// The first.
    #[serde(default)]
    pub minimum_port: i64,
    /// The last.
    #[serde(default)]
    pub maximum_port: i64,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Who is at the other end of a rule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleRemote {
    /// `any`, `cidr`, `address` or `sg`.
    #[serde(default)]
    pub remote_type: String,
    /// The address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The name of a subnet, whose range it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cidr_subnet_name: Option<String>,
    /// The name of a security group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_group_name: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.transitGateway`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransitGateway {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it connects other regions than its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_routing: Option<bool>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.loadBalancers[]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadBalancer {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it is reached from the internet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<bool>,
    /// What it listens to besides the port of the API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_listeners: Option<Vec<AdditionalListener>>,
    /// Where it forwards to besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_pools: Option<Vec<BackendPool>>,
    /// Its security groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_groups: Option<Vec<Reference>>,
    /// The subnets that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnets: Option<Vec<Reference>>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.loadBalancers[].additionalListeners[]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdditionalListener {
    /// The port.
    #[serde(default)]
    pub port: i64,
    /// The protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The pool that it forwards to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_pool_name: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.loadBalancers[].backendPools[]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackendPool {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The protocol.
    #[serde(default)]
    pub protocol: String,
    /// How it chooses.
    #[serde(default)]
    pub algorithm: String,
    /// How it finds out which machines can be used.
    #[serde(default)]
    pub health_monitor: HealthMonitor,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// How a pool finds out which machines can be used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HealthMonitor {
    /// The protocol.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// The seconds between two checks.
    #[serde(default)]
    pub delay: i64,
    /// The seconds until one has failed.
    #[serde(default)]
    pub timeout: i64,
    /// How many failures count.
    #[serde(default)]
    pub retries: i64,
    /// The port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<i64>,
    /// The path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_path: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.cosInstance`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CosInstance {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The name of its bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket_name: Option<String>,
    /// The region of its bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket_region: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.ignition`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ignition {
    /// The version of its format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `spec.controlPlaneEndpoint`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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

/// `spec.tags[]`: a tag of the user's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tag {
    /// Its key.
    #[serde(default)]
    pub key: String,
    /// Its value.
    #[serde(default)]
    pub value: String,
    /// Every other field.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
