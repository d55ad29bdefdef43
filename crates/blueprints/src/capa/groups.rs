//! Security groups by role, with the rules of the original and those that people add.

use std::collections::BTreeSet;

use cloud_port::aws::elastic_ip::ADDRESS;
use cloud_port::aws::network::Network;
use cloud_port::aws::security_group::{
    FromGroup, Peer, Ports, Rule, SECURITY_GROUP, SecurityGroup, Traffic,
};
use ownership::blueprint::{Expr, InnerWish};
use ownership::input::{Field, InputError};
use ownership::{Slot, SlotName};

use super::Cluster;
use super::balancer::{API_SERVER, Balancer};
use super::blueprint::VPC;
use super::names::{address_slot, group_slot, override_slot, slot};
use super::rules::{self, IngressRule, Source};

const OVERRIDES: &str = "spec.network.securityGroupOverrides";
const CONTROL_PLANE_RULES: &str = "spec.network.additionalControlPlaneIngressRules";
const NODE_RULES: &str = "spec.network.additionalNodeIngressRules";
const CNI_RULES: &str = "spec.network.cni.cniIngressRules";
const NODE_PORTS: &str = "spec.network.nodePortIngressRuleCidrBlocks";
const BALANCER_RULES: &str = "spec.controlPlaneLoadBalancer.ingressRules";

/// What the machines in a security group are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Machines of the control plane.
    ControlPlane,
    /// Worker machines.
    Node,
    /// The load balancer of the API server.
    ApiServerLb,
    /// Load balancers that the cloud controller inside the cluster makes: their rules are its own.
    Lb,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ControlPlane, Self::Node, Self::ApiServerLb, Self::Lb];

    /// As the API and the tags spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ControlPlane => "controlplane",
            Self::Node => "node",
            Self::ApiServerLb => "apiserver-lb",
            Self::Lb => "lb",
        }
    }

    pub(super) fn parse(field: impl Into<Field>, name: &str) -> Result<Self, InputError> {
        let mut all = Self::ALL.into_iter();
        all.find(|role| role.name() == name).ok_or_else(|| {
            let rule = "must be controlplane, node, apiserver-lb or lb: other roles are not served";
            InputError::new(field, name, rule)
        })
    }
}

/// The rules of a group, each once.
#[derive(Default)]
struct Wanted {
    rules: Vec<Rule>,
    groups: Vec<FromGroup>,
    /// The keys of those from addresses that only the cloud knows.
    others: Vec<Expr>,
}

impl Cluster {
    /// The groups of all roles: ours, or those that the object names.
    pub(super) fn groups(&self, nat_zones: &BTreeSet<String>) -> Result<Vec<Slot>, InputError> {
        let first = self.overrides.iter().next().filter(|_| !self.ends);
        if let Some((role, id)) = first.filter(|_| !self.brings_its_vpc()) {
            let rule =
                "must not be set without spec.network.vpc.id: a group is in the VPC of its maker";
            return Err(InputError::new(format!("{OVERRIDES}.{role}"), id, rule));
        }
        let roles = Role::ALL.into_iter();
        roles
            .map(|role| match self.overrides.get(role.name()) {
                Some(_) => Ok(Slot {
                    field: Some(format!("{OVERRIDES}.{}", role.name()).into()),
                    ..Slot::find(override_slot(role), &SECURITY_GROUP, Vec::new())
                }),
                None => self.group(role, nat_zones),
            })
            .collect()
    }

    /// The slot of a role's group, whosever it is.
    pub(super) fn group_of(&self, role: Role) -> SlotName {
        if self.overrides.contains_key(role.name()) {
            override_slot(role)
        } else {
            group_slot(role)
        }
    }

    fn group(&self, role: Role, nat_zones: &BTreeSet<String>) -> Result<Slot, InputError> {
        let cluster = self.checked_name()?;
        let name = self.group_name(role);
        // At the end, too: groups that let each other in must first let each other go.
        let wanted = self.rules_of(role, nat_zones)?;
        let group = SecurityGroup {
            name: name.as_str().into(),
            description: format!("Kubernetes cluster {cluster}: {}", role.name()).into(),
            vpc: Expr::Slot(slot(VPC)),
            rules: wanted.rules,
            groups: wanted.groups,
        };
        let too_many = |error: InputError| {
            let field = match role {
                Role::ControlPlane => CONTROL_PLANE_RULES,
                Role::ApiServerLb => BALANCER_RULES,
                Role::Node | Role::Lb => NODE_RULES,
            };
            InputError::new(field, &error.value, error.rule)
        };
        let mut slot = group.slot(group_slot(role)).map_err(too_many)?;
        slot.inner
            .extend(wanted.others.into_iter().map(|key| InnerWish {
                kind: cloud_port::aws::security_group::RULE,
                key,
                value: "".into(),
            }));
        Ok(self.ours(slot, role.name(), &name))
    }

    fn rules_of(&self, role: Role, nat_zones: &BTreeSet<String>) -> Result<Wanted, InputError> {
        let mut adding = Adding {
            cluster: self,
            role,
            nat_zones,
            wanted: Wanted::default(),
        };
        match role {
            Role::ControlPlane => adding.control_plane()?,
            Role::Node => adding.node()?,
            Role::ApiServerLb => adding.api_server_lb()?,
            Role::Lb => adding.lb()?,
        }
        Ok(adding.wanted)
    }
}

struct Adding<'a> {
    cluster: &'a Cluster,
    role: Role,
    nat_zones: &'a BTreeSet<String>,
    wanted: Wanted,
}

impl Adding<'_> {
    fn control_plane(&mut self) -> Result<(), InputError> {
        self.cni()?;
        let api = IngressRule::tcp(API_SERVER);
        for role in [Role::ApiServerLb, Role::ControlPlane, Role::Node] {
            self.add("", api, Source::Role(role))?;
        }
        // etcd, and its peers.
        for port in [2379, 2380] {
            self.add("", IngressRule::tcp(port), Source::Role(Role::ControlPlane))?;
        }
        self.all(CONTROL_PLANE_RULES, &self.cluster.control_plane_rules)
    }

    fn node(&mut self) -> Result<(), InputError> {
        self.cni()?;
        let node_ports = Traffic::Tcp(Ports::new(30000, 32767)?);
        let allowed = &self.cluster.node_ports_allowed;
        for (at, text) in allowed.iter().enumerate() {
            let field = format!("{NODE_PORTS}[{at}]");
            let range = Network::parse("range", text)
                .map_err(|error| InputError::new(field.clone(), text, error.rule))?;
            self.add(&field, node_ports, Source::Range(range))?;
        }
        if allowed.is_empty() {
            self.add("", node_ports, Source::Range(everybody()?))?;
        }
        // The kubelet, which metrics servers on nodes ask, too.
        for role in [Role::ControlPlane, Role::Node] {
            self.add("", IngressRule::tcp(10250), Source::Role(role))?;
        }
        self.all(NODE_RULES, &self.cluster.node_rules)
    }

    /// Whoever runs in the cluster reaches the API server through the load balancer: from the NAT
    /// gateways' addresses if it is outside, else from the VPC. Where everybody may, that says nothing.
    fn api_server_lb(&mut self) -> Result<(), InputError> {
        let port = IngressRule::tcp(self.cluster.port()?);
        let rules = &self.cluster.balancer.rules;
        let is_internal = self.cluster.is_internal()?;
        if is_internal {
            self.add("", port, Source::Vpc)?;
        } else if !rules.is_empty() && !self.nat_zones.is_empty() {
            self.add("", port, Source::Nat)?;
        }
        if rules.is_empty() {
            self.add("", port, Source::Range(everybody()?))?;
        }
        self.all(BALANCER_RULES, rules)
    }

    /// A network load balancer hands on what comes from its clients, or from its own addresses.
    fn lb(&mut self) -> Result<(), InputError> {
        if self.cluster.balancer_kind()? != Balancer::Network {
            return Ok(());
        }
        let source = if self.cluster.balancer.preserves_clients {
            Source::Range(everybody()?)
        } else {
            Source::Vpc
        };
        self.add("", IngressRule::tcp(self.cluster.port()?), source)
    }

    /// What the network plugin sends from every machine to every other.
    fn cni(&mut self) -> Result<(), InputError> {
        let calico = |protocol: &str, port| IngressRule {
            protocol: protocol.to_owned(),
            from: port,
            to: port,
            ..IngressRule::default()
        };
        let default = [calico("tcp", 179), calico("4", -1)];
        let rules = self.cluster.cni_rules.as_deref().unwrap_or(&default);
        for (at, rule) in rules.iter().enumerate() {
            let field = format!("{CNI_RULES}[{at}]");
            let traffic = rule.traffic(&field)?;
            for role in [Role::ControlPlane, Role::Node] {
                self.add(&field, traffic, Source::Role(role))?;
            }
        }
        Ok(())
    }

    fn all(&mut self, list: &str, rules: &[IngressRule]) -> Result<(), InputError> {
        for (at, rule) in rules.iter().enumerate() {
            let field = format!("{list}[{at}]");
            let traffic = rule.traffic(&field)?;
            if rule.from_nat && !self.has_nat() {
                let rule = "must not be set: the cluster has no NAT gateways of its own";
                return Err(InputError::new(
                    format!("{field}.natGatewaysIPsSource"),
                    "true",
                    rule,
                ));
            }
            for source in rule.sources(&field)? {
                self.add(&field, traffic, source)?;
            }
        }
        Ok(())
    }

    /// Whether there are NAT gateways of ours, as far as the object tells.
    fn has_nat(&self) -> bool {
        let in_ours = !self.cluster.brings_its_vpc() || self.cluster.had_a_record();
        in_ours && !self.nat_zones.is_empty()
    }

    fn add(&mut self, field: &str, traffic: Traffic, source: Source) -> Result<(), InputError> {
        let peer = match source {
            Source::Range(range) => Peer::Network(range),
            Source::Group(id) => Peer::Group(id.as_str().into()),
            Source::Role(role) => {
                let group = self.cluster.group_of(role);
                if role != self.role {
                    let group = Expr::Slot(group);
                    let from = FromGroup { traffic, group };
                    if !self.wanted.groups.contains(&from) {
                        self.wanted.groups.push(from);
                    }
                    return Ok(());
                }
                Peer::Itself
            }
            // In a VPC that turns out to be somebody's their slots stay empty, and these are not wanted.
            Source::Nat => {
                for zone in self.nat_zones {
                    let address = Expr::Prop(address_slot(zone), ADDRESS);
                    self.other(Expr::join([
                        traffic.key_from("").into(),
                        address,
                        "/32".into(),
                    ]));
                }
                return Ok(());
            }
            Source::Vpc => {
                let range = Expr::Prop(slot(VPC), "cidr");
                self.other(Expr::join([traffic.key_from("").into(), range]));
                return Ok(());
            }
        };
        self.wanted.rules.push(rules::rule(field, traffic, peer)?);
        Ok(())
    }

    fn other(&mut self, key: Expr) {
        if !self.wanted.others.contains(&key) {
            self.wanted.others.push(key);
        }
    }
}

fn everybody() -> Result<Network, InputError> {
    Network::parse(NODE_PORTS, "0.0.0.0/0")
}
