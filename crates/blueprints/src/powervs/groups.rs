//! Security groups of the VPC, and what they let through.

use cloud_port::ibm::rule::{Direction, Peer, Rule, Traffic};
use cloud_port::ibm::vpc_security_group::{VPC_SECURITY_GROUP, VpcSecurityGroup};
use cloud_port::ibm::vpc_subnet;
use ownership::blueprint::Expr;
use ownership::input::InputError;
use ownership::{Slot, SlotName};

use super::Cluster;
use super::blueprint::{VPC, group, region};
use super::names::{group_slot, set, slot};

const FIELD: &str = "spec.vpcSecurityGroups";

/// `spec.vpcSecurityGroups[]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Its id: it is used as it is.
    pub id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// What it lets through.
    pub rules: Vec<GroupRule>,
}

/// `spec.vpcSecurityGroups[].rules[]`, with its source or its destination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupRule {
    /// `inbound` or `outbound`.
    pub direction: String,
    /// The protocol: `all`, `tcp`, `udp` or `icmp`.
    pub protocol: String,
    /// The first and the last port.
    pub ports: Option<(i64, i64)>,
    /// The type and the code of ICMP.
    pub icmp: (Option<i64>, Option<i64>),
    /// The other ends: a rule for each.
    pub remotes: Vec<Remote>,
}

/// The other end of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remote {
    /// Everybody.
    Any,
    /// One address.
    Address(String),
    /// The range of a subnet, by its name.
    Subnet(String),
    /// What is in a security group, by its name.
    Group(String),
}

impl Cluster {
    /// The security groups that are given.
    pub(super) fn groups(&self) -> Result<Vec<Slot>, InputError> {
        let groups = self.groups.iter().enumerate();
        groups.map(|(at, group)| self.group(at, group)).collect()
    }

    /// The slot of a security group that is given.
    pub(super) fn group_of(at: usize, group: &Group) -> SlotName {
        let given = set(group.id.as_ref()).or_else(|| set(group.name.as_ref()));
        group_slot(given.unwrap_or(&at.to_string()))
    }

    /// The slot of the security group of that name.
    pub(super) fn group_called(&self, name: &str) -> Option<SlotName> {
        let mut groups = self.groups.iter().enumerate();
        let found = groups.find(|(_, group)| set(group.name.as_ref()) == Some(name))?;
        Some(Self::group_of(found.0, found.1))
    }

    fn group(&self, at: usize, given: &Group) -> Result<Slot, InputError> {
        let name_of_slot = Self::group_of(at, given);
        let within = Expr::Slot(slot(VPC));
        let field = |name: &str| format!("{FIELD}[{at}].{name}");
        if let Some(id) = set(given.id.as_ref()) {
            let own = Slot {
                props: vec![("vpc", within)],
                field: Some(field("id").into()),
                ..Slot::own(name_of_slot, &VPC_SECURITY_GROUP, id)
            };
            return Ok(own.at(&region()));
        }
        let Some(name) = set(given.name.as_ref()) else {
            return Err(InputError::new(
                field("name"),
                "",
                "must have a name or an id",
            ));
        };
        let mut rules: Vec<Expr> = Vec::new();
        for (nth, rule) in given.rules.iter().enumerate() {
            for key in self.rule(&format!("{FIELD}[{at}].rules[{nth}]"), &name_of_slot, rule)? {
                if !rules.contains(&key) {
                    rules.push(key);
                }
            }
        }
        let own = VpcSecurityGroup {
            name: name.into(),
            vpc: within,
            resource_group: group(self),
            rules,
        };
        let blame = |error: InputError| InputError::new(field("name"), &error.value, error.rule);
        let own = own.slot(name_of_slot).map_err(blame)?;
        let own = Slot {
            field: Some(field("name").into()),
            ..own
        };
        Ok(own.at(&region()))
    }

    /// What one rule of the object comes to: one for each of its other ends.
    fn rule(&self, field: &str, its: &SlotName, rule: &GroupRule) -> Result<Vec<Expr>, InputError> {
        let direction: Direction = rule.direction.parse().map_err(|error: InputError| {
            InputError::new(format!("{field}.direction"), &error.value, error.rule)
        })?;
        let end = match direction {
            Direction::Inbound => "source",
            Direction::Outbound => "destination",
        };
        let traffic = traffic(&format!("{field}.{end}"), rule)?;
        if rule.remotes.is_empty() {
            let rule = "must not be empty: a rule is for somebody";
            return Err(InputError::new(format!("{field}.{end}.remotes"), "", rule));
        }
        let mut keys = Vec::with_capacity(rule.remotes.len());
        for (at, remote) in rule.remotes.iter().enumerate() {
            let field = format!("{field}.{end}.remotes[{at}]");
            let to = |peer: &str| {
                Rule {
                    direction,
                    traffic,
                    peer: Peer::Itself,
                }
                .key_to(peer)
            };
            keys.push(match remote {
                Remote::Any => Expr::Text(to("0.0.0.0/0")),
                Remote::Address(address) => {
                    let peer: Peer = address.parse().map_err(|error: InputError| {
                        InputError::new(format!("{field}.address"), &error.value, error.rule)
                    })?;
                    if !matches!(peer, Peer::Network(_)) {
                        let rule = "must be an address such as 192.168.0.1";
                        return Err(InputError::new(format!("{field}.address"), address, rule));
                    }
                    Expr::Text(to(&peer.to_string()))
                }
                Remote::Subnet(name) => {
                    let mut subnets = self.subnets.iter().enumerate();
                    let found = subnets.find(|(_, it)| set(it.name.as_ref()) == Some(name));
                    let Some((at, subnet)) = found else {
                        let rule = "must be the name of one of spec.vpcSubnets";
                        let field = format!("{field}.cidrSubnetName");
                        return Err(InputError::new(field, name, rule));
                    };
                    let cidr = Expr::Prop(self.subnet_of(at, subnet), vpc_subnet::CIDR);
                    Expr::join([Expr::Text(to("")), cidr])
                }
                Remote::Group(name) => match self.group_called(name) {
                    Some(slot) if slot == *its => Expr::Text(to("self")),
                    Some(slot) => Expr::join([Expr::Text(to("")), Expr::Slot(slot)]),
                    None => {
                        let rule = "must be the name of one of spec.vpcSecurityGroups";
                        let field = format!("{field}.securityGroupName");
                        return Err(InputError::new(field, name, rule));
                    }
                },
            });
        }
        Ok(keys)
    }
}

fn traffic(field: &str, rule: &GroupRule) -> Result<Traffic, InputError> {
    let ports = || {
        let Some((from, to)) = rule.ports else {
            return Ok((1, u16::MAX));
        };
        let port = |port| u16::try_from(port).ok().filter(|port| *port > 0);
        match (port(from), port(to)) {
            (Some(from), Some(to)) if from <= to => Ok((from, to)),
            _ => {
                let rule = "must be ports from 1 to 65535, the first not after the last";
                let field = format!("{field}.portRange");
                Err(InputError::new(field, &format!("{from}-{to}"), rule))
            }
        }
    };
    let small = |name: &str, number: Option<i64>| {
        let Some(number) = number else {
            return Ok(None);
        };
        u8::try_from(number).map(Some).map_err(|_| {
            let field = format!("{field}.{name}");
            InputError::new(field, &number.to_string(), "must be from 0 to 255")
        })
    };
    Ok(match rule.protocol.as_str() {
        "all" | "any" => Traffic::All,
        "tcp" => ports().map(|(from, to)| Traffic::Tcp(from, to))?,
        "udp" => ports().map(|(from, to)| Traffic::Udp(from, to))?,
        "icmp" => {
            let (sort, code) = (
                small("icmpType", rule.icmp.0)?,
                small("icmpCode", rule.icmp.1)?,
            );
            Traffic::Icmp(sort.map(|sort| (sort, code)))
        }
        other => {
            let rule = "must be all, tcp, udp or icmp: other protocols are not served";
            let field = format!("{field}.protocol");
            return Err(InputError::new(field, other, rule));
        }
    })
}
