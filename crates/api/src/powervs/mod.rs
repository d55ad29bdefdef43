//! Cluster API on IBM Cloud: `infrastructure.cluster.x-k8s.io/v1beta2 IBMPowerVSCluster`.
//!
//! What it belongs to, [`OwnerCluster`](crate::capa::OwnerCluster), and the annotations of Cluster API are
//! those of [`capa`](crate::capa).

mod change;
mod cluster;
mod spec;

pub use change::STATUS;
pub use cluster::{IbmPowerVsCluster, IbmPowerVsClusterStatus};
pub use spec::{
    AdditionalListener, BackendPool, CosInstance, DhcpServer, Endpoint, HealthMonitor,
    IbmPowerVsClusterSpec, Ignition, LoadBalancer, PortRange, Reference, RuleEnd, RuleRemote,
    SecurityGroup, SecurityGroupRule, Tag, TransitGateway, Vpc, VpcSubnet,
};

/// The version that is served. The original stores `v1beta3`, and its webhook converts; our definition
/// stores this one.
pub const VERSION: &str = "v1beta2";

/// The served API's finalizer.
pub const FINALIZER: &str = "ibmpowervscluster.infrastructure.cluster.x-k8s.io";

/// The annotation which says whether infrastructure is made: it is, where its value is `true`.
pub const CREATE_INFRA: &str = "powervs.cluster.x-k8s.io/create-infra";

/// The annotation with the name of the Secret, in the object's namespace, that has the API key.
pub const SECRET: &str = "powervs.cluster.x-k8s.io/credentials-secret";

/// The Secret, in the object's namespace, that is read where the annotation names none.
pub const DEFAULT_SECRET: &str = "ibmcloud-credentials";

/// The key of the Secret's data with the API key.
pub const API_KEY: &str = "ibmcloud_api_key";
