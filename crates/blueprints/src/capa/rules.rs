//! Rules of security groups, as people write them.

use cloud_port::aws::network::Network;
use cloud_port::aws::security_group::{Icmp, Peer, Ports, Rule, Traffic};
use ownership::input::InputError;

use super::groups::Role;
use super::names::aws_id;

/// A rule of a security group, as its author wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IngressRule {
    /// `-1`, `4`, `tcp`, `udp`, `icmp`, `58` or `50`.
    pub protocol: String,
    /// The first port; the type, for ICMP.
    pub from: i64,
    /// The last port; the code, for ICMP.
    pub to: i64,
    /// From these ranges.
    pub ranges: Vec<String>,
    /// From these ranges of IPv6.
    pub ranges_v6: Vec<String>,
    /// From the members of these groups.
    pub groups: Vec<String>,
    /// From the members of the cluster's groups of these roles.
    pub roles: Vec<String>,
    /// From the addresses of the cluster's NAT gateways.
    pub from_nat: bool,
}

/// Where traffic comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A range.
    Range(Network),
    /// The members of somebody's group.
    Group(String),
    /// The members of the cluster's group of a role.
    Role(Role),
    /// The cluster's NAT gateways.
    Nat,
    /// The whole VPC.
    Vpc,
}

impl IngressRule {
    /// TCP to one port, from the members of the groups of these roles.
    pub(super) fn tcp(port: u16) -> Traffic {
        Traffic::Tcp(Ports::one(port))
    }

    /// What may come.
    ///
    /// # Errors
    /// The part of the field that is wrong.
    pub(super) fn traffic(&self, field: &str) -> Result<Traffic, InputError> {
        let port = |name: &str, number: i64| {
            u16::try_from(number).map_err(|_| {
                let rule = "must be a port from 0 to 65535";
                InputError::new(format!("{field}.{name}"), &number.to_string(), rule)
            })
        };
        let ports = || {
            let (from, to) = (port("fromPort", self.from)?, port("toPort", self.to)?);
            Ports::new(from, to).map_err(|error| {
                InputError::new(format!("{field}.fromPort"), &error.value, error.rule)
            })
        };
        Ok(match self.protocol.to_ascii_lowercase().as_str() {
            "-1" => Traffic::All,
            "tcp" | "6" => Traffic::Tcp(ports()?),
            "udp" | "17" => Traffic::Udp(ports()?),
            "icmp" | "1" => Traffic::Icmp(self.icmp(field)?),
            "58" | "icmpv6" => Traffic::IcmpV6(self.icmp(field)?),
            other => {
                let rule: Rule = format!("{other} self").parse().map_err(|_| {
                    let rule = "must be -1, tcp, udp, icmp, 58 (ICMP for IPv6), 4 (IP in IP) or 50";
                    InputError::new(format!("{field}.protocol"), &self.protocol, rule)
                })?;
                rule.traffic
            }
        })
    }

    /// Type and code, where -1 means all.
    fn icmp(&self, field: &str) -> Result<Icmp, InputError> {
        let number = |name: &str, number: i64| {
            u8::try_from(number).map_err(|_| {
                let rule = "must be a type or code of ICMP from 0 to 255, or -1 for all";
                InputError::new(format!("{field}.{name}"), &number.to_string(), rule)
            })
        };
        Ok(match (self.from, self.to) {
            (-1, _) => Icmp::All,
            (kind, -1) => Icmp::Type(number("fromPort", kind)?),
            (kind, code) => Icmp::Code(number("fromPort", kind)?, number("toPort", code)?),
        })
    }

    /// From where it may come. Ranges count before groups, as in the original; with neither, it is the
    /// control plane.
    ///
    /// # Errors
    /// The part of the field that is wrong.
    pub(super) fn sources(&self, field: &str) -> Result<Vec<Source>, InputError> {
        if self.from_nat {
            return Ok(vec![Source::Nat]);
        }
        let ranges = listed(field, "cidrBlocks", &self.ranges);
        let ranges = ranges.chain(listed(field, "ipv6CidrBlocks", &self.ranges_v6));
        let ranges = ranges.map(|(field, text)| {
            let range = Network::parse("range", text);
            range.map_err(|error| InputError::new(field, text, error.rule))
        });
        let ranges: Vec<Network> = ranges.collect::<Result<_, _>>()?;
        if !ranges.is_empty() {
            return Ok(ranges.into_iter().map(Source::Range).collect());
        }
        let mut sources = Vec::new();
        for (field, id) in listed(field, "sourceSecurityGroupIds", &self.groups) {
            aws_id(field, id, "sg-")?;
            sources.push(Source::Group(id.clone()));
        }
        for (field, name) in listed(field, "sourceSecurityGroupRoles", &self.roles) {
            sources.push(Source::Role(Role::parse(field, name)?));
        }
        if sources.is_empty() {
            sources.push(Source::Role(Role::ControlPlane));
        }
        Ok(sources)
    }
}

/// The elements of a list with their fields.
fn listed<'l>(
    field: &str,
    name: &str,
    list: &'l [String],
) -> impl Iterator<Item = (String, &'l String)> {
    let stem = format!("{field}.{name}");
    let list = list.iter().enumerate();
    list.map(move |(at, text)| (format!("{stem}[{at}]"), text))
}

/// A rule from a peer, if the two go together.
pub(super) fn rule(field: &str, traffic: Traffic, peer: Peer) -> Result<Rule, InputError> {
    let rule = Rule { traffic, peer };
    rule.check()
        .map_err(|error| InputError::new(field.to_owned(), &error.value, error.rule))?;
    Ok(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(protocol: &str, from: i64, to: i64) -> IngressRule {
        IngressRule {
            protocol: protocol.to_owned(),
            from,
            to,
            ..IngressRule::default()
        }
    }

    #[test]
    fn protocols_and_ports_are_read_as_the_original_reads_them() {
        let key = |rule: IngressRule| rule.traffic("r").unwrap().key_from("x").to_string();
        assert_eq!(key(rule("tcp", 179, 179)), "ingress tcp 179-179 x");
        assert_eq!(key(rule("4", -1, 65535)), "ingress 4 all x");
        assert_eq!(key(rule("50", 0, 0)), "ingress 50 all x");
        assert_eq!(key(rule("-1", -1, -1)), "ingress all all x");
        assert_eq!(key(rule("icmp", 8, -1)), "ingress icmp 8/all x");
        assert_eq!(key(rule("58", -1, -1)), "ingress icmpv6 all x");
        let refused = |rule: IngressRule| rule.traffic("r").unwrap_err().to_string();
        assert!(refused(rule("tcp", -1, 80)).starts_with("r.fromPort: \"-1\" must be a port"));
        assert!(refused(rule("tcp", 80, 70000)).starts_with("r.toPort"));
        assert!(refused(rule("tcp", 90, 80)).starts_with("r.fromPort"));
        assert!(refused(rule("icmp", 8, 256)).starts_with("r.toPort"));
        assert!(refused(rule("sctp", 1, 2)).starts_with("r.protocol"));
    }

    #[test]
    fn ranges_count_before_groups_and_nobody_means_the_control_plane() {
        let tcp = || rule("tcp", 22, 22);
        assert_eq!(
            tcp().sources("r").unwrap(),
            [Source::Role(Role::ControlPlane)]
        );
        let both = IngressRule {
            ranges: vec!["10.1.2.3/8".to_owned()],
            roles: vec!["node".to_owned()],
            ..tcp()
        };
        let range = Network::parse("r", "10.0.0.0/8").unwrap();
        assert_eq!(both.sources("r").unwrap(), [Source::Range(range)]);
        let wrong = |rule: IngressRule| rule.sources("r").unwrap_err().field;
        let text = || vec!["x".to_owned()];
        assert_eq!(
            wrong(IngressRule {
                ranges: text(),
                ..tcp()
            }),
            "r.cidrBlocks[0]"
        );
        assert_eq!(
            wrong(IngressRule {
                groups: text(),
                ..tcp()
            }),
            "r.sourceSecurityGroupIds[0]"
        );
        assert_eq!(
            wrong(IngressRule {
                roles: text(),
                ..tcp()
            }),
            "r.sourceSecurityGroupRoles[0]"
        );
    }
}
