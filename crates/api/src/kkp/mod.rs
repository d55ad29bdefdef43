//! `kubermatic.k8c.io/v1`: clusters and seeds of the Kubermatic Kubernetes Platform (KKP).

mod change;
mod cluster;
mod credentials;
mod seed;

pub use change::{Id, STATUS};
pub use cluster::{
    ApiServer, AwsCloud, Cloud, Cluster, ClusterNetwork, ClusterSpec, ClusterStatus, Components,
    Condition, NetworkRanges, SecretReference,
};
pub use credentials::{AwsCredentials, AwsKeys, field, secret_key};
pub use seed::{AwsDatacenter, Datacenter, DatacenterSpec, Seed, SeedSpec};

/// The API group.
pub const GROUP: &str = "kubermatic.k8c.io";
/// The version that is served.
pub const VERSION: &str = "v1";

/// The annotation that names the region of a cluster on AWS.
pub const AWS_REGION: &str = "kubermatic.io/aws-region";

/// The finalizer that holds a cluster until its AWS resources are gone.
pub const CLEANUP_AWS: &str = "kubermatic.k8c.io/cleanup-aws";

/// Finalizers of older clusters, one a resource: the evidence that KKP created it.
pub mod old_finalizers {
    /// The security group.
    pub const SECURITY_GROUP: &str = "kubermatic.k8c.io/cleanup-aws-security-group";
    /// The workers' instance profile, and the role in it.
    pub const INSTANCE_PROFILE: &str = "kubermatic.k8c.io/cleanup-aws-instance-profile";
    /// The control plane's role.
    pub const CONTROL_PLANE_ROLE: &str = "kubermatic.k8c.io/cleanup-aws-control-plane-role";
    /// The cluster's tags; says nothing of ownership.
    pub const TAGS: &str = "kubermatic.k8c.io/cleanup-aws-tags";
    /// All of them.
    pub const ALL: [&str; 4] = [SECURITY_GROUP, INSTANCE_PROFILE, CONTROL_PLANE_ROLE, TAGS];
}
