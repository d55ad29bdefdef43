//! Clusters of the Kubermatic Kubernetes Platform (KKP) on AWS.

mod blueprint;
mod fields;
#[cfg(test)]
mod tests;

pub use blueprint::*;

/// What a KKP cluster says about its infrastructure, as its author wrote it.
///
/// An id that is set is a wish of the author's, or was recorded by us; which of the two, the
/// verdict on the resource says and not this object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// `metadata.name`.
    pub name: String,
    /// `spec.cloud.aws.vpcID`; else the account's default VPC.
    pub vpc_id: Option<String>,
    /// `spec.cloud.aws.routeTableID`; else the VPC's main route table.
    pub route_table_id: Option<String>,
    /// `spec.cloud.aws.securityGroupID`; else one of our own.
    pub security_group_id: Option<String>,
    /// `spec.cloud.aws.roleARN`, the control plane's role: an ARN, or a plain name as in older
    /// clusters; else one of our own.
    pub role: Option<String>,
    /// `spec.cloud.aws.instanceProfileName`, the workers' profile; else one of our own.
    pub instance_profile: Option<String>,
    /// `spec.clusterNetwork.ipFamily`.
    pub ip_family: IpFamily,
    /// `spec.componentsOverride.apiserver.nodePortRange`; else 30000-32767.
    pub node_port_range: Option<String>,
    /// `spec.cloud.aws.nodePortsAllowedIPRange`: one of the ranges.
    pub node_ports_allowed_one: Option<String>,
    /// `spec.cloud.aws.nodePortsAllowedIPRanges`, the others; if there are none at all, everybody of
    /// the cluster's IP family.
    pub node_ports_allowed: Vec<String>,
    /// `spec.cloud.aws.disableIAMReconciling`: roles and profile are somebody else's business.
    pub disable_iam: bool,
}

/// Which versions of IP a cluster speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IpFamily {
    /// `IPv4`, and what an empty field means.
    #[default]
    V4,
    /// `IPv6`.
    V6,
    /// `IPv4+IPv6`.
    Dual,
}

impl Cluster {
    /// A cluster that leaves everything to us.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            vpc_id: None,
            route_table_id: None,
            security_group_id: None,
            role: None,
            instance_profile: None,
            ip_family: IpFamily::default(),
            node_port_range: None,
            node_ports_allowed_one: None,
            node_ports_allowed: Vec::new(),
            disable_iam: false,
        }
    }

    /// As it ends: what is legal of it, for a mistake in a field must not keep what it has; and with
    /// its roles and profile, for they may be older than the switch which says that they are somebody
    /// else's business.
    #[must_use]
    pub fn at_its_end(mut self) -> Self {
        type Field = fn(&mut Cluster) -> &mut Option<String>;
        const IDS: [Field; 5] = [
            |cluster| &mut cluster.vpc_id,
            |cluster| &mut cluster.route_table_id,
            |cluster| &mut cluster.security_group_id,
            |cluster| &mut cluster.role,
            |cluster| &mut cluster.instance_profile,
        ];
        for id in IDS {
            let mut alone = Self::new(self.name.clone());
            id(&mut alone).clone_from(id(&mut self));
            if alone.ids().is_err() {
                *id(&mut self) = None;
            }
        }
        self.disable_iam = false;
        // What a cluster wants inside its group is nothing that its end asks for.
        self.node_port_range = None;
        self.node_ports_allowed_one = None;
        self.node_ports_allowed.clear();
        self
    }
}
