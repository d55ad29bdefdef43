//! Clusters of Cluster API on IBM Cloud, on Power Virtual Server: everything is made, or what is given is
//! used.

mod balancers;
mod blueprint;
mod gateway;
mod groups;
mod names;
mod network;
mod regions;
mod tags;
#[cfg(test)]
mod tests;

pub use balancers::{BackendPool, LoadBalancer, PoolListener};
pub use blueprint::{BALANCER, COS, FAMILIES, GATEWAY, NETWORK, VPC, WORKSPACE, region};
pub use groups::{Group, GroupRule, Remote};
pub use names::{balancer_slot, group_slot, slot, subnet_slot};
pub use regions::vpc_region;

/// What a cluster says about its infrastructure, as its author wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// The object's name, of which everything is called that has no name of its own.
    pub name: String,
    /// The cluster's UUID.
    pub uuid: String,
    /// Whether the annotation `powervs.cluster.x-k8s.io/create-infra` is `true`. Else what is given is
    /// looked up, and nothing is made.
    pub creates: bool,
    /// `spec.zone`: the zone of Power Virtual Server.
    pub zone: Option<String>,
    /// The id of the resource group that `spec.resourceGroup` names, or of the account's default one.
    pub resource_group: String,
    /// `spec.serviceInstance`, or the older `spec.serviceInstanceID`.
    pub workspace: Reference,
    /// `spec.network`.
    pub network: Reference,
    /// `spec.dhcpServer`.
    pub dhcp: DhcpServer,
    /// `spec.vpc`.
    pub vpc: Reference,
    /// `spec.vpc.region`; else the one that is next to the zone.
    pub vpc_region: Option<String>,
    /// The zones of that region, as VPC calls them.
    pub vpc_zones: Vec<String>,
    /// `spec.vpcSubnets`; without any, one in each zone.
    pub subnets: Vec<Subnet>,
    /// `spec.vpcSecurityGroups`.
    pub groups: Vec<Group>,
    /// `spec.loadBalancers`; without any, a public one.
    pub balancers: Vec<LoadBalancer>,
    /// `spec.transitGateway`.
    pub gateway: Reference,
    /// `spec.transitGateway.globalRouting`; else as zone and region need it.
    pub global_routing: Option<bool>,
    /// `spec.ignition`: whether there is one. Only then is there a COS instance.
    pub ignites: bool,
    /// `spec.cosInstance`.
    pub cos: Cos,
    /// `spec.tags`: keys and values.
    pub tags: Vec<(String, String)>,
    /// `spec.clusterNetwork.apiServerPort` of the `Cluster`; else 6443.
    pub api_server_port: Option<i64>,
    /// Whether it ends: then nothing is asked of its fields that only matters while it lives.
    pub ends: bool,
}

/// A resource that the author names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// By its id: it is used.
    pub id: Option<String>,
    /// By its name: it is used if it is there without a mark, and made if not.
    pub name: Option<String>,
    /// By an expression, which is not served.
    pub regex: Option<String>,
}

/// `spec.dhcpServer`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DhcpServer {
    /// Its id: its network is used.
    pub id: Option<String>,
    /// Its name; else the network's, or the cluster's.
    pub name: Option<String>,
    /// The range of its network.
    pub cidr: Option<String>,
    /// The DNS server that it tells machines of.
    pub dns_server: Option<String>,
    /// Whether machines reach the internet; they do, unless it says no.
    pub snat: Option<bool>,
}

/// `spec.vpcSubnets[]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subnet {
    /// Its id: it is used.
    pub id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Its range.
    pub cidr: Option<String>,
    /// Its zone; else one zone after the other.
    pub zone: Option<String>,
}

/// `spec.cosInstance`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cos {
    /// Its name.
    pub name: Option<String>,
    /// The name of its bucket.
    pub bucket: Option<String>,
    /// The region of its bucket; else that of the VPC.
    pub bucket_region: Option<String>,
}

impl Cluster {
    /// A cluster that leaves everything to us.
    pub fn new(name: &str, uuid: &str, zone: &str, vpc_zones: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            uuid: uuid.to_owned(),
            creates: true,
            zone: Some(zone.to_owned()),
            resource_group: "default".to_owned(),
            vpc_zones: vpc_zones.iter().map(|&zone| zone.to_owned()).collect(),
            ..Self::default()
        }
    }

    /// As it ends: a mistake in a field must not keep what was made; it is found by its marks.
    #[must_use]
    pub fn at_its_end(self) -> Self {
        let ending = Self { ends: true, ..self };
        if ending.blueprint().is_ok() && ending.ids().is_ok() {
            return ending;
        }
        Self {
            ends: true,
            ..Self::new(&ending.name, &ending.uuid, "", &[])
        }
    }
}
