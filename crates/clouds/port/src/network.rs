//! Address ranges as AWS keeps them.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;
use ownership::input::InputError;

/// An IPv4 or IPv6 address range in canonical form.
///
/// AWS accepts a range whose host bits are set and keeps it with those bits cleared: `10.1.2.3/16`
/// becomes `10.1.0.0/16`, in security-group rules as in VPCs and subnets, and a second rule that
/// differs only there is a duplicate. A bare address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network(IpNet);

impl Network {
    /// Reads a range.
    ///
    /// # Errors
    /// The rule that `text` breaks.
    pub fn parse(field: &'static str, text: &str) -> Result<Self, InputError> {
        match read(text) {
            Ok(net) => Ok(Self(net.trunc())),
            Err(rule) => Err(InputError::new(field, text, rule)),
        }
    }

    /// The length of the prefix.
    pub fn prefix(self) -> u8 {
        self.0.prefix_len()
    }

    /// Whether it is a range of IPv4 addresses.
    pub fn is_v4(self) -> bool {
        matches!(self.0, IpNet::V4(_))
    }

    /// Whether `other` lies within it.
    pub fn contains(self, other: Self) -> bool {
        self.0.contains(&other.0)
    }

    /// Whether the two have an address in common.
    pub fn overlaps(self, other: Self) -> bool {
        self.contains(other) || other.contains(self)
    }
}

const FORM: &str = "must be an address range such as 10.0.0.0/16 or 2001:db8::/32";

/// The range, or the rule that `text` breaks.
fn read(text: &str) -> Result<IpNet, &'static str> {
    if text.contains(char::is_whitespace) {
        return Err("must not have blanks or line breaks in it or around it");
    }
    let Some((address, length)) = text.split_once('/') else {
        return Err(match text.parse::<IpAddr>() {
            Ok(_) => "must have a prefix length, for example /32 for a single IPv4 address",
            Err(_) => FORM,
        });
    };
    let Ok(address) = address.parse::<IpAddr>() else {
        return Err(if has_leading_zeros(address) {
            "must be written without leading zeros, which some read as octal"
        } else {
            FORM
        });
    };
    // `+8` and `08` are numbers to Rust, not to EC2.
    let plain = length == "0" || !length.starts_with(['+', '0']);
    let length = length.parse().ok().filter(|_| plain);
    length
        .and_then(|length| IpNet::new(address, length).ok())
        .ok_or("must have a prefix length from 0 to 32 (IPv4) or 128 (IPv6), without leading zeros")
}

/// Whether leading zeros are all that is wrong with an IPv4 address.
fn has_leading_zeros(address: &str) -> bool {
    let strip = |octet: &str| match octet.trim_start_matches('0') {
        "" => octet.chars().take(1).collect(),
        rest => rest.to_owned(),
    };
    let stripped: Vec<String> = address.split('.').map(strip).collect();
    stripped.join(".").parse::<Ipv4Addr>().is_ok()
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        Network::parse("cidr", text).unwrap().to_string()
    }

    #[test]
    fn host_bits_are_cleared_and_spelling_is_unified() {
        assert_eq!(canonical("100.68.0.18/18"), "100.68.0.0/18");
        assert_eq!(canonical("0.0.0.0/0"), "0.0.0.0/0");
        assert_eq!(canonical("2001:DB8:0:0::1/64"), "2001:db8::/64");
        assert_eq!(canonical("2001:0db8::/32"), "2001:db8::/32");
        assert_eq!(canonical("::/0"), "::/0");
    }

    #[test]
    fn what_is_no_range_is_refused_with_the_rule() {
        let rule = |text: &str| Network::parse("cidr", text).unwrap_err().to_string();
        assert!(rule("10.0.0.1").contains("must have a prefix length"));
        assert!(rule("10.0.0.0/33").contains("0 to 32"));
        assert!(rule("10.0.0.256/8").contains("address range such as"));
        assert!(rule("").contains("address range such as"));
        assert!(rule("10.0.0/8").contains("address range such as"));
        assert!(rule("010.0.0.0/8").contains("without leading zeros, which some read as octal"));
        assert!(rule("10.0.00.0/8").contains("without leading zeros, which some read as octal"));
        for length in ["08", "+8", "00", ""] {
            let said = rule(&format!("10.0.0.0/{length}"));
            assert!(said.contains("(IPv6), without leading zeros"), "{said}");
        }
        for blank in [" 10.0.0.0/8", "10.0.0.0/8 ", "10.0.0.0 /8", "10.0.0.0/8\n"] {
            assert!(rule(blank).contains("blanks or line breaks"), "{blank:?}");
        }
    }

    #[test]
    fn ranges_contain_and_overlap() {
        let net = |text| Network::parse("cidr", text).unwrap();
        assert!(net("10.0.0.0/8").contains(net("10.1.0.0/16")));
        assert!(net("10.1.0.0/16").overlaps(net("10.0.0.0/8")));
        assert!(!net("10.1.0.0/16").overlaps(net("10.2.0.0/16")));
        assert!(!net("0.0.0.0/0").contains(net("::/0")));
    }
}
