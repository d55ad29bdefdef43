//! Rules of security groups of VPC, in the one spelling that two equal rules share.

use std::fmt;
use std::str::FromStr;

use ownership::Text;
use ownership::input::InputError;

use crate::network::Network;

/// What a security group lets through.
///
/// As text: `DIRECTION PROTOCOL [PORTS] PEER`. Its [`key`](Rule::key) is the canonical spelling, which
/// identifies the rule within its group: `inbound tcp 6443-6443 0.0.0.0/0`.
///
/// | protocol | ports |
/// | --- | --- |
/// | `tcp`, `udp` | `22`, `8000-8999`, or `all` |
/// | `icmp` | `all`, a type (`8`), or type and code (`8/0`) |
/// | `all` | nothing |
///
/// A peer is an address range, an address, `self` (what is in the same group) or another group by its id.
/// VPC itself keeps an address and a range of one address apart; here they are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule {
    /// Which way.
    pub direction: Direction,
    /// What.
    pub traffic: Traffic,
    /// From or to where.
    pub peer: Peer,
}

/// Which way traffic goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// To what is in the group.
    Inbound,
    /// From there.
    Outbound,
}

/// A protocol, with what means something in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Traffic {
    /// Everything.
    All,
    /// TCP, from one port to another.
    Tcp(u16, u16),
    /// UDP, from one port to another.
    Udp(u16, u16),
    /// ICMP: all of it, one type, or one code of a type.
    Icmp(Option<(u8, Option<u8>)>),
}

/// The other end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Peer {
    /// An address range.
    Network(Network),
    /// What is in the same group.
    Itself,
    /// What is in another group, by its id.
    Group(Text),
}

const FIELD: &str = "rule";

impl Rule {
    /// The canonical spelling.
    pub fn key(&self) -> Text {
        self.to_string().into()
    }

    /// The key without the peer, for a peer that is not known yet.
    pub fn key_to(&self, peer: &str) -> Text {
        format!("{} {} {peer}", self.direction, self.traffic).into()
    }
}

impl FromStr for Rule {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        let words: Vec<&str> = text.split(' ').collect();
        let (direction, protocol, ports, peer) = match words[..] {
            [direction, protocol, peer] => (direction, protocol, None, peer),
            [direction, protocol, ports, peer] => (direction, protocol, Some(ports), peer),
            _ => {
                let rule = "must have the form DIRECTION PROTOCOL [PORTS] PEER";
                return Err(InputError::new(FIELD, text, rule));
            }
        };
        Ok(Self {
            direction: direction.parse()?,
            traffic: traffic(protocol, ports)?,
            peer: peer.parse()?,
        })
    }
}

impl FromStr for Direction {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        match text {
            "inbound" => Ok(Self::Inbound),
            "outbound" => Ok(Self::Outbound),
            _ => Err(InputError::new(
                "rule direction",
                text,
                "must be inbound or outbound",
            )),
        }
    }
}

fn traffic(protocol: &str, ports: Option<&str>) -> Result<Traffic, InputError> {
    let range = || port_range(ports.unwrap_or("all"));
    match protocol {
        "tcp" => range().map(|(from, to)| Traffic::Tcp(from, to)),
        "udp" => range().map(|(from, to)| Traffic::Udp(from, to)),
        "icmp" => icmp(ports.unwrap_or("all")).map(Traffic::Icmp),
        "all" if ports.is_none() => Ok(Traffic::All),
        _ => {
            let rule = "must be tcp, udp or icmp, with ports, or all, without";
            Err(InputError::new("rule protocol", protocol, rule))
        }
    }
}

fn port_range(text: &str) -> Result<(u16, u16), InputError> {
    let read = || {
        let (from, to) = match text.split_once('-') {
            _ if text == "all" => return Some((1, u16::MAX)),
            Some((from, to)) => (number::<u16>(from)?, number(to)?),
            None => (number(text)?, number(text)?),
        };
        (0 < from && from <= to).then_some((from, to))
    };
    let rule = "must be a port from 1 to 65535, a range such as 8000-8999, or all";
    read().ok_or_else(|| InputError::new("rule ports", text, rule))
}

fn icmp(text: &str) -> Result<Option<(u8, Option<u8>)>, InputError> {
    let read = || match text.split_once('/') {
        _ if text == "all" => Some(None),
        Some((sort, code)) => Some(Some((number(sort)?, Some(number(code)?)))),
        None => Some(Some((number(text)?, None))),
    };
    let rule = "must be an ICMP type from 0 to 255, type/code, or all";
    read().ok_or_else(|| InputError::new("rule ICMP", text, rule))
}

/// A number in plain digits.
fn number<N: FromStr>(text: &str) -> Option<N> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

impl FromStr for Peer {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        if text == "self" {
            return Ok(Self::Itself);
        }
        if text.parse::<std::net::IpAddr>().is_ok() {
            let one = format!("{text}/32");
            return Network::parse("rule peer", &one).map(Self::Network);
        }
        if text.contains('/') {
            return Network::parse("rule peer", text).map(Self::Network);
        }
        let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if text.is_empty() || !text.chars().all(legal) {
            let rule = "must be an address range, an address, self, or the id of a security group";
            return Err(InputError::new("rule peer", text, rule));
        }
        Ok(Self::Group(text.into()))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.direction, self.traffic, self.peer)
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inbound => "inbound",
            Self::Outbound => "outbound",
        })
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Tcp(from, to) => write!(f, "tcp {from}-{to}"),
            Self::Udp(from, to) => write!(f, "udp {from}-{to}"),
            Self::Icmp(None) => f.write_str("icmp all"),
            Self::Icmp(Some((sort, None))) => write!(f, "icmp {sort}"),
            Self::Icmp(Some((sort, Some(code)))) => write!(f, "icmp {sort}/{code}"),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(network) => network.fmt(f),
            Self::Itself => f.write_str("self"),
            Self::Group(id) => f.write_str(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rules_are_spelled_alike() {
        for (written, key) in [
            ("inbound tcp 22 10.1.2.3/8", "inbound tcp 22-22 10.0.0.0/8"),
            ("inbound tcp 0.0.0.0/0", "inbound tcp 1-65535 0.0.0.0/0"),
            ("outbound udp all self", "outbound udp 1-65535 self"),
            ("inbound all 1.2.3.4", "inbound all 1.2.3.4/32"),
            ("inbound icmp 8/0 r006-1f", "inbound icmp 8/0 r006-1f"),
            ("inbound icmp self", "inbound icmp all self"),
        ] {
            let rule: Rule = written.parse().unwrap();
            assert_eq!(&*rule.key(), key, "{written}");
            assert_eq!(rule.key().parse::<Rule>().unwrap(), rule);
        }
    }

    #[test]
    fn a_rule_that_is_none_is_refused_with_what_it_must_be() {
        for (written, rule) in [
            ("tcp 22 10.0.0.0/8", "inbound or outbound"),
            ("inbound tcp", "DIRECTION PROTOCOL"),
            ("inbound tcp 0 10.0.0.0/8", "from 1 to 65535"),
            ("inbound tcp 90-80 10.0.0.0/8", "from 1 to 65535"),
            ("inbound all 22 10.0.0.0/8", "or all, without"),
            ("inbound esp 10.0.0.0/8", "tcp, udp or icmp"),
            ("inbound icmp 256 self", "from 0 to 255"),
            ("inbound tcp 22 Not.A.Peer", "id of a security group"),
        ] {
            let error = written.parse::<Rule>().unwrap_err().to_string();
            assert!(error.contains(rule), "{error}");
        }
    }
}
