//! Clusters of Cluster API on AWS: a whole network, or what is made in somebody's.

mod balancer;
mod blueprint;
mod groups;
pub mod machine;
mod names;
mod ranges;
mod rules;
mod subnets;
mod tags;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use blueprint::{BALANCER, FAMILIES, INTERNET_GATEWAY, NETWORK_BALANCER, TARGETS, VPC};
pub use groups::Role;
pub use names::{Beside, address_slot, group_slot, nat_slot, override_slot, slot, table_slot};
pub use ranges::default_subnets;
pub use rules::IngressRule;

/// What a cluster says about its infrastructure, as its author wrote it.
///
/// An id that is set is a wish of the author's, or was recorded by us: `Cluster::ours` says which, as
/// far as the record tells. Whose the resource is only the verdict says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The name of the `Cluster` that it belongs to.
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// `spec.network.vpc`.
    pub vpc: Vpc,
    /// `spec.network.subnets`; without any, two are made in each zone.
    pub subnets: Vec<Subnet>,
    /// The zones of the region: only looked at where no subnets are given.
    pub zones: Vec<String>,
    /// `spec.network.securityGroupOverrides`.
    pub overrides: BTreeMap<String, String>,
    /// `spec.network.cni.cniIngressRules`; without the list, what Calico needs.
    pub cni_rules: Option<Vec<IngressRule>>,
    /// `spec.network.additionalControlPlaneIngressRules`.
    pub control_plane_rules: Vec<IngressRule>,
    /// `spec.network.additionalNodeIngressRules`.
    pub node_rules: Vec<IngressRule>,
    /// `spec.network.nodePortIngressRuleCidrBlocks`; without any, everybody.
    pub node_ports_allowed: Vec<String>,
    /// `spec.controlPlaneLoadBalancer`.
    pub balancer: LoadBalancer,
    /// `spec.controlPlaneEndpoint.host`, once it is known.
    pub endpoint: Option<String>,
    /// `spec.clusterNetwork.apiServerPort` of the `Cluster`; else 6443.
    pub api_server_port: Option<i64>,
    /// `spec.additionalTags`.
    pub tags: BTreeMap<String, String>,
    /// The ids that the record says we made or adopted.
    pub ours: BTreeSet<String>,
    /// The slots that the record knows: what was chosen for a cluster stays chosen.
    pub made: BTreeSet<String>,
    /// Whether it ends: then nothing is asked of its fields that only matters while it lives. See
    /// [`Cluster::at_its_end`].
    pub ends: bool,
}

/// `spec.network.vpc`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vpc {
    /// Its id.
    pub id: Option<String>,
    /// Its range; else 10.0.0.0/16.
    pub cidr: Option<String>,
    /// Its internet gateway.
    pub internet_gateway: Option<String>,
    /// In how many zones at most subnets are made, where none are given; else 3.
    pub zone_limit: Option<i64>,
    /// Which of them: `Ordered` or `Random`.
    pub zone_selection: Option<String>,
    /// Which subnets get the larger ranges: `PreferPrivate` or `PreferPublic`.
    pub subnet_schema: Option<String>,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// `spec.network.subnets[]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subnet {
    /// Its id in the cloud (`subnet-…`) if it is somebody's, else its name.
    pub id: String,
    /// Its id in the cloud.
    pub resource_id: Option<String>,
    /// Its range.
    pub cidr: Option<String>,
    /// Its zone.
    pub zone: Option<String>,
    /// Whether it is reached from outside.
    pub is_public: bool,
    /// Its route table.
    pub route_table: Option<String>,
    /// The NAT gateway in it.
    pub nat_gateway: Option<String>,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// `spec.controlPlaneLoadBalancer`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadBalancer {
    /// Its name; else one that is made of namespace and cluster.
    pub name: Option<String>,
    /// `classic`, `nlb` or `disabled`.
    pub kind: Option<String>,
    /// `internet-facing` or `internal`.
    pub scheme: Option<String>,
    /// The subnets that it is in; else one of the cluster in each zone.
    pub subnets: Vec<String>,
    /// Security groups besides the cluster's own.
    pub security_groups: Vec<String>,
    /// The protocol of its health check; else SSL for a classic one, TCP for the other.
    pub health_protocol: Option<String>,
    /// The seconds between two checks, until one has failed, and the numbers of good and bad ones.
    pub health: [Option<i64>; 4],
    /// Who may reach it; without any, everybody.
    pub rules: Vec<IngressRule>,
    /// Whether the API servers see the addresses of their clients.
    pub preserves_clients: bool,
}

impl Cluster {
    /// A cluster that leaves everything to us, in a region with these zones.
    pub fn new(namespace: &str, name: &str, zones: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            vpc: Vpc::default(),
            subnets: Vec::new(),
            zones: zones.iter().map(|&zone| zone.to_owned()).collect(),
            overrides: BTreeMap::new(),
            cni_rules: None,
            control_plane_rules: Vec::new(),
            node_rules: Vec::new(),
            node_ports_allowed: Vec::new(),
            balancer: LoadBalancer::default(),
            endpoint: None,
            api_server_port: None,
            tags: BTreeMap::new(),
            ours: BTreeSet::new(),
            made: BTreeSet::new(),
            ends: false,
        }
    }

    /// As it ends: what tells the order in which its resources go. A mistake in a field must not keep
    /// them: they are found by their marks.
    #[must_use]
    pub fn at_its_end(mut self) -> Self {
        self.ends = true;
        let mut alone = Self {
            zones: self.zones.clone(),
            made: self.made.clone(),
            ours: self.ours.clone(),
            ends: true,
            ..Self::new(&self.namespace, &self.name, &[])
        };
        let is_wrong = |cluster: &Self| cluster.ids().is_err() || cluster.blueprint().is_err();
        alone.vpc.id.clone_from(&self.vpc.id);
        alone
            .vpc
            .internet_gateway
            .clone_from(&self.vpc.internet_gateway);
        if is_wrong(&alone) {
            alone.vpc = Vpc::default();
        }
        let with = |field: fn(&mut Self, &Self)| {
            let mut cluster = alone.clone();
            field(&mut cluster, &self);
            !is_wrong(&cluster)
        };
        let (subnets, balancer) = (
            with(|it, from| it.subnets.clone_from(&from.subnets)),
            with(|it, from| it.balancer = from.balancer.clone()),
        );
        let (control_plane, node) = (
            with(|it, from| it.control_plane_rules.clone_from(&from.control_plane_rules)),
            with(|it, from| it.node_rules.clone_from(&from.node_rules)),
        );
        if control_plane {
            alone.control_plane_rules = self.control_plane_rules;
        }
        if node {
            alone.node_rules = self.node_rules;
        }
        if subnets {
            alone.subnets = self.subnets;
        }
        if balancer {
            alone.balancer = self.balancer;
            alone.endpoint = self.endpoint;
        }
        alone
    }
}
