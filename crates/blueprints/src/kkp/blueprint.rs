//! What a KKP cluster needs on AWS, as a Blueprint.
//!
//! | slot | if the object names none | on it |
//! | --- | --- | --- |
//! | `vpc` | the account's default VPC | nothing, ever |
//! | `route-table` | the VPC's main route table | the cluster mark |
//! | `subnets` | all of the VPC | the cluster mark |
//! | `security-group` | ours: `kubernetes-<cluster>` | the cluster mark, rules |
//! | `control-plane-role` | ours: `kubernetes-<cluster>-control-plane` | a policy |
//! | `worker-role` | ours: `kubernetes-<cluster>-worker`, only for a profile of ours | a policy |
//! | `instance-profile` | ours: `kubernetes-<cluster>` | the worker role |
//!
//! A role or profile that the object names and that does not exist is made under that name. A group is
//! named by its id, which nobody can choose: it is made under our name.

use cloud_port::aws::instance_profile::{self, InstanceProfile};
use cloud_port::aws::network::Network;
use cloud_port::aws::role::{self, Role};
use cloud_port::aws::security_group::{self, Icmp, Peer, Ports, Rule, SecurityGroup, Traffic};
use cloud_port::aws::{route_table, subnet, vpc};
use ownership::blueprint::{Expr, IfMissing, Source};
use ownership::input::InputError;
use ownership::{Blueprint, Slot, SlotName, Text};

use super::Cluster;
use super::fields::{self, everybody};

/// The network that everything is in.
pub const VPC: &str = "vpc";
/// The network's route table.
pub const ROUTE_TABLE: &str = "route-table";
/// The network's subnets.
pub const SUBNETS: &str = "subnets";
/// The nodes' security group.
pub const SECURITY_GROUP: &str = "security-group";
/// The control plane's role.
pub const CONTROL_PLANE_ROLE: &str = "control-plane-role";
/// The workers' role.
pub const WORKER_ROLE: &str = "worker-role";
/// The workers' instance profile, which hands them their role.
pub const INSTANCE_PROFILE: &str = "instance-profile";

/// The names of all slots that a KKP cluster can have, dependencies first.
pub const SLOTS: [&str; 7] = [
    VPC,
    ROUTE_TABLE,
    SUBNETS,
    SECURITY_GROUP,
    CONTROL_PLANE_ROLE,
    WORKER_ROLE,
    INSTANCE_PROFILE,
];

/// Who may assume the roles: the machines themselves.
const TRUST: &str = include_str!("policies/trust.json");
/// For a control plane whose cloud controller serves routes, volumes and load balancers.
const CONTROL_PLANE: &str = include_str!("policies/control-plane.json");
/// For workers, which look at themselves and pull images.
const WORKER: &str = include_str!("policies/worker.json");

impl Cluster {
    /// The slots that the cluster needs filled. Ids that the object records are not part of it, but
    /// of the ledger: see [`Cluster::ids`]. Where an id is a name, the slot is called by it.
    ///
    /// # Errors
    /// The field that cannot be satisfied, and the rule it breaks.
    pub fn blueprint(&self) -> Result<Blueprint, InputError> {
        let main = route_table::find_main(slot(ROUTE_TABLE), Expr::Slot(slot(VPC)));
        let mut slots = vec![
            named_by(fields::VPC, vpc::find_default(slot(VPC))),
            with_cluster_mark(named_by(fields::ROUTE_TABLE, main)),
            with_cluster_mark(subnet::find_all(slot(SUBNETS), Expr::Slot(slot(VPC)))),
            with_cluster_mark(self.security_group()?),
        ];
        if !self.disable_iam {
            let control_plane = self.role(CONTROL_PLANE_ROLE, "control-plane", CONTROL_PLANE)?;
            slots.push(called(self.role_name()?, control_plane));
            // Somebody else's profile has somebody else's role in it.
            slots.push(Slot {
                only_for: Some(slot(INSTANCE_PROFILE)),
                ..self.role(WORKER_ROLE, "worker", WORKER)?
            });
            slots.push(called(self.profile_name()?, self.profile()?));
        }
        Ok(Blueprint::new(slots)
            .expect("the slots are fixed, in order, and ask for nothing that their Kinds lack"))
    }

    fn security_group(&self) -> Result<Slot, InputError> {
        let name = self.checked_name()?;
        let group = SecurityGroup {
            name: format!("kubernetes-{name}").into(),
            description: format!("Nodes of the Kubernetes cluster {name}").into(),
            vpc: Expr::Slot(slot(VPC)),
            rules: self.rules()?,
            groups: Vec::new(),
        };
        Ok(created_if_missing(group.slot(slot(SECURITY_GROUP))?))
    }

    /// Everything within the group, ssh and ping from everywhere, node ports from where it is allowed.
    fn rules(&self) -> Result<Vec<Rule>, InputError> {
        let (first, last) = self.node_ports()?;
        let node_ports = Ports::new(first, last)?;
        let everywhere = everybody(self.ip_family)?;
        let mut rules = vec![Rule {
            traffic: Traffic::All,
            peer: Peer::Itself,
        }];
        rules.extend(from(&everywhere, Traffic::Tcp(Ports::one(22))));
        for range in &everywhere {
            let ping = if range.is_v4() {
                Traffic::Icmp
            } else {
                Traffic::IcmpV6
            };
            rules.extend(from(std::slice::from_ref(range), ping(Icmp::All)));
        }
        let allowed = self.allowed()?;
        rules.extend(from(&allowed, Traffic::Tcp(node_ports)));
        rules.extend(from(&allowed, Traffic::Udp(node_ports)));
        security_group::check_rules(&rules).map_err(|error| self.too_many_allowed(&error))?;
        Ok(rules)
    }

    fn role(&self, slot_name: &str, suffix: &str, document: &str) -> Result<Slot, InputError> {
        let name = role::fit_name(&format!("kubernetes-{}-{suffix}", self.checked_name()?))?;
        let role = Role {
            trust: TRUST.into(),
            inline: vec![(name.clone(), document.into())],
            attached: Vec::new(),
            name,
        };
        Ok(created_if_missing(role.slot(slot(slot_name))?))
    }

    fn profile(&self) -> Result<Slot, InputError> {
        let name = instance_profile::fit_name(&format!("kubernetes-{}", self.checked_name()?))?;
        let role = Expr::Slot(slot(WORKER_ROLE));
        let profile = InstanceProfile { name, role }.slot(slot(INSTANCE_PROFILE))?;
        Ok(created_if_missing(profile))
    }
}

/// The name of a slot of ours: one of [`SLOTS`].
pub fn slot(name: &str) -> SlotName {
    SlotName::new(name).expect("the names of slots are fixed, and legal")
}

fn with_cluster_mark(slot: Slot) -> Slot {
    Slot {
        cluster_mark: true,
        ..slot
    }
}

/// The slot, called as the object says, if it does.
fn called(name: Option<&str>, slot: Slot) -> Slot {
    let label = name.map_or(slot.label, Text::from);
    Slot { label, ..slot }
}

fn named_by(field: &'static str, slot: Slot) -> Slot {
    let field = Some(field.into());
    Slot { field, ..slot }
}

/// KKP replaces a group, role or profile whose recorded id does not exist.
fn created_if_missing(slot: Slot) -> Slot {
    Slot {
        source: Source::Own {
            if_missing: IfMissing::Create,
        },
        ..slot
    }
}

fn from(ranges: &[Network], traffic: Traffic) -> impl Iterator<Item = Rule> {
    ranges.iter().map(move |range| Rule {
        traffic,
        peer: Peer::Network(*range),
    })
}
