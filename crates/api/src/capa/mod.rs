//! Cluster API on AWS: `infrastructure.cluster.x-k8s.io/v1beta2`, and what it refers to.

mod change;
mod cluster;
mod identity;
mod machine;
mod machine_change;
mod network;
mod owner;
mod owner_machine;

pub use change::STATUS;
pub use cluster::{
    AwsCluster, AwsClusterSpec, AwsClusterStatus, Endpoint, IdentityReference, LoadBalancer,
    LoadBalancerHealthCheck,
};
pub use identity::{
    AllowedNamespaces, ControllerIdentity, ControllerIdentitySpec, IdentityKind, RoleIdentity,
    RoleIdentitySpec, StaticIdentity, StaticIdentitySpec, secret_key,
};
pub use machine::{AwsMachine, AwsMachineSpec, AwsMachineStatus, Image, ResourceReference, Volume};
pub use network::{Cni, CniIngressRule, IngressRule, Network, Subnet, Vpc};
pub use owner::{InfrastructureReference, OwnerCluster, OwnerClusterNetwork, OwnerClusterSpec};
pub use owner_machine::{Bootstrap, OwnerMachine, OwnerMachineSpec};

/// The API group of infrastructure.
pub const GROUP: &str = "infrastructure.cluster.x-k8s.io";
/// The version that is served.
pub const VERSION: &str = "v1beta2";

/// The API group of Cluster API itself.
pub const OWNER_GROUP: &str = "cluster.x-k8s.io";
/// The version that its objects are read in.
pub const OWNER_VERSION: &str = "v1beta2";

/// The served API's finalizer.
pub const FINALIZER: &str = "awscluster.infrastructure.cluster.x-k8s.io";

/// The served API's finalizer of machines.
pub const MACHINE_FINALIZER: &str = "awsmachine.infrastructure.cluster.x-k8s.io";

/// The annotation that pauses an object. Its presence counts, whatever its value: the original's rule.
pub const PAUSED: &str = "cluster.x-k8s.io/paused";
/// The annotation which says that another controller manages the object.
pub const MANAGED_BY: &str = "cluster.x-k8s.io/managed-by";
/// The label with the name of the cluster that an object belongs to.
pub const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";

/// The label of what belongs to the control plane. Its presence counts, whatever its value.
pub const CONTROL_PLANE: &str = "cluster.x-k8s.io/control-plane";

/// The namespace in which the original looks for the Secrets of static identities: its own.
pub const SECRETS_NAMESPACE: &str = "capa-system";
