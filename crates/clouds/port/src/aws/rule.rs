//! Ingress rules of security groups, in the one spelling that two equal rules share.

use std::fmt;
use std::str::FromStr;

use ownership::Text;
use ownership::input::InputError;

use super::network::Network;

/// Who may reach the members of a group, and how.
///
/// As text: `[ingress] PROTOCOL [PORTS] PEER`. Its [`key`](Rule::key) is the canonical spelling,
/// which identifies the rule within its group: `ingress tcp 22-22 0.0.0.0/0`.
///
/// | protocol | ports |
/// | --- | --- |
/// | `tcp` (6), `udp` (17) | `22`, `8000-8999`, or `all` |
/// | `icmp` (1), `icmpv6` (58) | `all`, a type (`8`), or type and code (`8/0`) |
/// | `all` (-1), any other number | `all`, or nothing: EC2 opens all ports of these |
///
/// A peer is an address range, `self` (the members of the same group), another group (`sg-…`, with
/// its account before it if that is another: `123456789012/sg-…`) or a prefix list (`pl-…`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule {
    /// What may come.
    pub traffic: Traffic,
    /// From where.
    pub peer: Peer,
}

/// A protocol, with the ports that mean something in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Traffic {
    /// Everything.
    All,
    /// TCP.
    Tcp(Ports),
    /// UDP.
    Udp(Ports),
    /// ICMP.
    Icmp(Icmp),
    /// ICMP for IPv6.
    IcmpV6(Icmp),
    /// Another protocol of IP, by its number.
    Other(OtherProtocol),
}

/// A range of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ports {
    from: u16,
    to: u16,
}

/// Which ICMP messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Icmp {
    /// All of them.
    All,
    /// All codes of one type.
    Type(u8),
    /// One code of one type.
    Code(u8, u8),
}

/// The number of a protocol that has no ports and no name here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OtherProtocol(u8);

/// Where traffic comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Peer {
    /// An address range.
    Network(Network),
    /// The members of the same group.
    Itself,
    /// The members of another group: its id, after its account and `/` if that is another.
    Group(Text),
    /// A prefix list, by its id.
    PrefixList(Text),
}

const FIELD: &str = "rule";

impl Traffic {
    /// The key of a rule that lets this come from a peer: all of it, but for the peer if that is empty.
    pub fn key_from(self, peer: &str) -> Text {
        format!("ingress {self} {peer}").into()
    }
}

impl OtherProtocol {
    /// The number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl Rule {
    /// The canonical spelling.
    pub fn key(&self) -> Text {
        self.to_string().into()
    }

    /// Checks what a rule must be to be wished for. Whatever is found in a group can be read and
    /// removed all the same.
    ///
    /// # Errors
    /// ICMP of one family with a range of the other.
    pub fn check(&self) -> Result<(), InputError> {
        let rule = match (self.traffic, &self.peer) {
            (Traffic::Icmp(_), Peer::Network(network)) if !network.is_v4() => {
                "must have icmpv6 for a range of IPv6 addresses"
            }
            (Traffic::IcmpV6(_), Peer::Network(network)) if network.is_v4() => {
                "must have icmp for a range of IPv4 addresses"
            }
            _ => return Ok(()),
        };
        Err(InputError::new(FIELD, &self.key(), rule))
    }
}

impl Ports {
    /// Every port.
    pub const ALL: Self = Self {
        from: 0,
        to: u16::MAX,
    };

    /// The ports from one to another.
    ///
    /// # Errors
    /// A range that ends before it begins.
    pub fn new(from: u16, to: u16) -> Result<Self, InputError> {
        if from > to {
            let rule = "must not end before it begins";
            return Err(InputError::new("ports", &format!("{from}-{to}"), rule));
        }
        Ok(Self { from, to })
    }

    /// One port.
    pub const fn one(port: u16) -> Self {
        Self {
            from: port,
            to: port,
        }
    }

    /// The first port.
    pub const fn first(self) -> u16 {
        self.from
    }

    /// The last port.
    pub const fn last(self) -> u16 {
        self.to
    }
}

impl FromStr for Rule {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        let mut words = text.split_whitespace().peekable();
        if words.peek() == Some(&"egress") {
            let rule = "must be an ingress rule: egress is not managed";
            return Err(InputError::new(FIELD, text, rule));
        }
        words.next_if_eq(&"ingress");
        let words = [words.next(), words.next(), words.next(), words.next()];
        let (protocol, ports, peer) = match words {
            [Some(protocol), Some(peer), None, _] => (protocol, None, peer),
            [Some(protocol), ports, Some(peer), None] => (protocol, ports, peer),
            _ => {
                let rule = "must have the form PROTOCOL [PORTS] PEER, such as tcp 22 10.0.0.0/8";
                return Err(InputError::new(FIELD, text, rule));
            }
        };
        Ok(Self {
            traffic: parse_traffic(protocol, ports)?,
            peer: peer.parse()?,
        })
    }
}

fn parse_traffic(protocol: &str, ports: Option<&str>) -> Result<Traffic, InputError> {
    let lower = protocol.to_ascii_lowercase();
    Ok(match lower.as_str() {
        "tcp" | "6" => Traffic::Tcp(parse_ports(protocol, ports)?),
        "udp" | "17" => Traffic::Udp(parse_ports(protocol, ports)?),
        "icmp" | "1" => Traffic::Icmp(parse_icmp(ports)?),
        "icmpv6" | "58" => Traffic::IcmpV6(parse_icmp(ports)?),
        "all" | "-1" => {
            check_no_ports(ports)?;
            Traffic::All
        }
        number => {
            // `+7` and `007` are numbers to Rust, not to EC2.
            let plain = number == "0" || !number.starts_with(['+', '0']);
            let Some(parsed) = number.parse().ok().filter(|_| plain) else {
                let rule = "must be tcp, udp, icmp, icmpv6, all, or a number from 0 to 255";
                return Err(InputError::new("protocol", protocol, rule));
            };
            check_no_ports(ports)?;
            Traffic::Other(OtherProtocol(parsed))
        }
    })
}

fn parse_ports(protocol: &str, ports: Option<&str>) -> Result<Ports, InputError> {
    let Some(text) = ports else {
        let rule = "must be followed by ports, such as 22, 8000-8999 or all";
        return Err(InputError::new("protocol", protocol, rule));
    };
    if text == "all" {
        return Ok(Ports::ALL);
    }
    let port = |port: &str| {
        let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
        port.parse::<u16>().ok().filter(|_| digits).ok_or_else(|| {
            let rule = "must be a port from 0 to 65535, a range such as 8000-8999, or all";
            InputError::new("ports", text, rule)
        })
    };
    match text.split_once('-') {
        None => Ok(Ports::one(port(text)?)),
        Some((from, to)) => Ports::new(port(from)?, port(to)?),
    }
}

fn parse_icmp(ports: Option<&str>) -> Result<Icmp, InputError> {
    let text = ports.unwrap_or("all");
    if text == "all" || text == "-1" {
        return Ok(Icmp::All);
    }
    let number = |word: &str| {
        let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        word.parse::<u8>().ok().filter(|_| digits).ok_or_else(|| {
            let rule = "must be an ICMP type from 0 to 255, type/code, or all";
            InputError::new("ports", text, rule)
        })
    };
    match text.split_once('/') {
        None | Some((_, "all")) => {
            let kind = text.split('/').next().unwrap_or(text);
            Ok(Icmp::Type(number(kind)?))
        }
        Some((kind, code)) => Ok(Icmp::Code(number(kind)?, number(code)?)),
    }
}

/// EC2 ignores ports here and opens everything: somebody who wrote some meant another protocol.
fn check_no_ports(ports: Option<&str>) -> Result<(), InputError> {
    match ports {
        None | Some("all" | "-1" | "0-65535") => Ok(()),
        Some(text) => {
            let rule = "must be all: this protocol opens all ports, whatever is written";
            Err(InputError::new("ports", text, rule))
        }
    }
}

impl FromStr for Peer {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        if text == "self" {
            return Ok(Self::Itself);
        }
        let (account, id) = match text.split_once('/') {
            Some((account, id)) if id.starts_with("sg-") => (Some(account), id),
            _ => (None, text),
        };
        let rule = if id.starts_with("sg-") {
            let account_is_legal =
                account.is_none_or(|a| a.len() == 12 && a.bytes().all(|b| b.is_ascii_digit()));
            if is_id(id, "sg-") && account_is_legal {
                return Ok(Self::Group(text.into()));
            }
            "must be the id of a security group, such as sg-0123456789abcdef0"
        } else if id.starts_with("pl-") {
            if is_id(id, "pl-") {
                return Ok(Self::PrefixList(text.into()));
            }
            "must be the id of a prefix list, such as pl-0123456789abcdef0"
        } else {
            return Network::parse("peer", text).map(Self::Network);
        };
        Err(InputError::new("peer", text, rule))
    }
}

/// EC2's ids have 8 hexadecimal digits if they are old, else 17.
fn is_id(id: &str, prefix: &str) -> bool {
    let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    id.strip_prefix(prefix)
        .is_some_and(|digits| matches!(digits.len(), 8 | 17) && digits.bytes().all(hex))
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ingress {} {}", self.traffic, self.peer)
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all all"),
            Self::Tcp(ports) => write!(f, "tcp {ports}"),
            Self::Udp(ports) => write!(f, "udp {ports}"),
            Self::Icmp(icmp) => write!(f, "icmp {icmp}"),
            Self::IcmpV6(icmp) => write!(f, "icmpv6 {icmp}"),
            Self::Other(OtherProtocol(number)) => write!(f, "{number} all"),
        }
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.from, self.to)
    }
}

impl fmt::Display for Icmp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Type(kind) => write!(f, "{kind}/all"),
            Self::Code(kind, code) => write!(f, "{kind}/{code}"),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(network) => network.fmt(f),
            Self::Itself => f.write_str("self"),
            Self::Group(id) | Self::PrefixList(id) => f.write_str(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(text: &str) -> String {
        text.parse::<Rule>().unwrap().key().to_string()
    }

    fn refusal(text: &str) -> String {
        text.parse::<Rule>().unwrap_err().to_string()
    }

    #[test]
    fn equal_rules_have_one_spelling() {
        assert_eq!(key("tcp 22 0.0.0.0/0"), "ingress tcp 22-22 0.0.0.0/0");
        assert_eq!(key("6 22-22 0.0.0.0/0"), "ingress tcp 22-22 0.0.0.0/0");
        assert_eq!(
            key("ingress TCP 22 0.0.0.0/0"),
            "ingress tcp 22-22 0.0.0.0/0"
        );
        assert_eq!(key("udp all ::/0"), "ingress udp 0-65535 ::/0");
        assert_eq!(
            key("tcp 30000-32767 10.1.2.3/8"),
            "ingress tcp 30000-32767 10.0.0.0/8"
        );
        assert_eq!(key("all self"), "ingress all all self");
        assert_eq!(key("-1 0-65535 self"), "ingress all all self");
        assert_eq!(key("icmp 10.0.0.0/8"), "ingress icmp all 10.0.0.0/8");
        assert_eq!(key("1 8 10.0.0.0/8"), "ingress icmp 8/all 10.0.0.0/8");
        assert_eq!(key("icmpv6 128/0 ::/0"), "ingress icmpv6 128/0 ::/0");
        assert_eq!(key("58 -1 ::/0"), "ingress icmpv6 all ::/0");
        assert_eq!(key("50 10.0.0.0/8"), "ingress 50 all 10.0.0.0/8");
        let group = "123456789012/sg-0123456789abcdef0";
        assert_eq!(
            key(&format!("tcp 443 {group}")),
            format!("ingress tcp 443-443 {group}")
        );
        assert_eq!(
            key("tcp 443 pl-01234567"),
            "ingress tcp 443-443 pl-01234567"
        );
    }

    #[test]
    fn bad_rules_are_refused_with_field_and_rule() {
        assert!(refusal("tcp").contains("PROTOCOL [PORTS] PEER"));
        assert!(refusal("egress tcp 22 self").contains("egress is not managed"));
        assert!(refusal("tcp self").contains("must be followed by ports"));
        assert!(refusal("tcp 65536 self").starts_with("ports:"));
        assert!(refusal("tcp 80-22 self").contains("must not end before it begins"));
        assert!(refusal("tcp -1 self").starts_with("ports:"));
        assert!(refusal("all 22 self").contains("opens all ports"));
        assert!(refusal("sctp 22 self").starts_with("protocol:"));
        assert!(refusal("256 self").starts_with("protocol:"));
        assert!(refusal("06 self").starts_with("protocol:"));
        assert!(refusal("+7 self").starts_with("protocol:"));
        assert!(refusal("icmp 8/300 self").contains("ICMP type"));
        assert!(refusal("tcp 22 10.0.0.1").contains("prefix length"));
        assert!(refusal("tcp 22 sg-xyz").contains("id of a security group"));
        assert!(refusal("tcp 22 12/sg-01234567").contains("id of a security group"));
        assert!(refusal("tcp 22 pl-1").contains("id of a prefix list"));
    }

    fn a_rule() -> impl Strategy<Value = Rule> {
        let icmp = prop_oneof![
            Just(Icmp::All),
            any::<u8>().prop_map(Icmp::Type),
            any::<(u8, u8)>().prop_map(|(kind, code)| Icmp::Code(kind, code)),
        ];
        let ports = any::<(u16, u16)>().prop_map(|(a, b)| Ports::new(a.min(b), a.max(b)).unwrap());
        let unnamed = any::<u8>().prop_filter("has a name", |n| ![1, 6, 17, 58].contains(n));
        let traffic = prop_oneof![
            Just(Traffic::All),
            ports.clone().prop_map(Traffic::Tcp),
            ports.prop_map(Traffic::Udp),
            icmp.clone().prop_map(Traffic::Icmp),
            icmp.prop_map(Traffic::IcmpV6),
            unnamed.prop_map(|n| Traffic::Other(OtherProtocol(n))),
        ];
        let network = prop_oneof![
            (any::<[u8; 4]>(), 0..=32u8).prop_map(|(a, p)| (std::net::IpAddr::from(a), p)),
            (any::<[u8; 16]>(), 0..=128u8).prop_map(|(a, p)| (std::net::IpAddr::from(a), p)),
        ];
        let network =
            network.prop_map(|(a, p)| Network::parse("peer", &format!("{a}/{p}")).unwrap());
        let peer = prop_oneof![
            network.prop_map(Peer::Network),
            Just(Peer::Itself),
            "([0-9]{12}/)?sg-[0-9a-f]{17}".prop_map(|id| Peer::Group(id.into())),
            "pl-[0-9a-f]{8}".prop_map(|id| Peer::PrefixList(id.into())),
        ];
        (traffic, peer).prop_map(|(traffic, peer)| Rule { traffic, peer })
    }

    proptest! {
        #[test]
        fn a_key_reads_back_as_its_rule(rule in a_rule()) {
            prop_assert_eq!(rule.key().parse::<Rule>().unwrap(), rule);
        }

        #[test]
        fn whatever_is_read_has_a_key_that_reads_the_same(
            text in "(ingress )?(tcp|udp|icmp|icmpv6|all|-1|[0-9]{1,3}) ([0-9]{1,5}[-/]?[0-9]{0,5} |all )?(self|::/0|[0-9.]{7,11}/[0-9]{1,2})"
        ) {
            if let Ok(rule) = text.parse::<Rule>() {
                prop_assert_eq!(rule.key().parse::<Rule>().unwrap(), rule);
            }
        }

        #[test]
        fn hostile_text_is_refused_without_a_panic(text in any::<String>()) {
            prop_assert!(text.parse::<Rule>().is_err());
        }
    }
}
