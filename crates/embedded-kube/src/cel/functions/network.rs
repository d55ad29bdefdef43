//! Addresses: of hosts, of networks, of pages.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use super::super::budget;
use super::super::value::{Fault, Key, Outcome, Val};
use super::{Row, text};
use crate::schema::formats;
use crate::text::go_quote;

pub(super) const ROWS: &[Row] = &[
    ("url(string) url", url),
    ("isURL(string) bool", |args| {
        Ok(Val::Bool(formats::fits("uri", text(args, 0)?)))
    }),
    ("url.getScheme() string", |args| {
        part(args, |url| &url.scheme)
    }),
    ("url.getHost() string", |args| part(args, |url| &url.host)),
    ("url.getHostname() string", |args| part(args, Url::hostname)),
    ("url.getPort() string", |args| part(args, Url::port)),
    ("url.getEscapedPath() string", |args| {
        part(args, |url| &url.path)
    }),
    ("url.getQuery() map<string,list<string>>", query),
    ("ip(string) ip", |args| address(text(args, 0)?).map(Val::Ip)),
    ("isIP(string) bool", |args| {
        Ok(Val::Bool(address(text(args, 0)?).is_ok()))
    }),
    ("ip:isCanonical(string) bool", |args| {
        let given = text(args, 0)?;
        Ok(Val::Bool(address(given)?.to_string() == given))
    }),
    ("ip.family() int", |args| {
        Ok(Val::Int(if ip(args)?.is_ipv4() { 4 } else { 6 }))
    }),
    ("ip.isUnspecified() bool", |args| {
        Ok(Val::Bool(ip(args)?.is_unspecified()))
    }),
    ("ip.isLoopback() bool", |args| {
        Ok(Val::Bool(ip(args)?.is_loopback()))
    }),
    ("ip.isLinkLocalMulticast() bool", |args| {
        Ok(Val::Bool(match ip(args)? {
            IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
            IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
        }))
    }),
    ("ip.isLinkLocalUnicast() bool", |args| {
        Ok(Val::Bool(is_link_local(ip(args)?)))
    }),
    ("ip.isGlobalUnicast() bool", |args| {
        let address = ip(args)?;
        let broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
        let special = address.is_unspecified() || address.is_loopback() || address.is_multicast();
        Ok(Val::Bool(!broadcast && !special && !is_link_local(address)))
    }),
    ("cidr(string) cidr", |args| {
        network(text(args, 0)?).map(Val::Cidr)
    }),
    ("isCIDR(string) bool", |args| {
        Ok(Val::Bool(network(text(args, 0)?).is_ok()))
    }),
    ("cidr.containsIP(string) bool", |args| {
        let address = address(text(args, 1)?)?;
        Ok(Val::Bool(cidr(args, 0)?.contains(address)))
    }),
    ("cidr.containsIP(ip) bool", |args| match &args[1] {
        Val::Ip(address) => Ok(Val::Bool(cidr(args, 0)?.contains(*address))),
        _ => Err(Fault::no_overload()),
    }),
    ("cidr.containsCIDR(string) bool", |args| {
        let other = network(text(args, 1)?)?;
        Ok(Val::Bool(cidr(args, 0)?.covers(other)))
    }),
    ("cidr.containsCIDR(cidr) bool", |args| {
        Ok(Val::Bool(cidr(args, 0)?.covers(cidr(args, 1)?)))
    }),
    ("cidr.ip() ip", |args| Ok(Val::Ip(cidr(args, 0)?.address))),
    ("cidr.prefixLength() int", |args| {
        Ok(Val::Int(i64::from(cidr(args, 0)?.bits)))
    }),
    ("cidr.masked() cidr", |args| {
        Ok(Val::Cidr(cidr(args, 0)?.masked()))
    }),
];

/// The address of a page, in its parts.
#[derive(Debug)]
pub(crate) struct Url {
    pub(in crate::cel) text: String,
    scheme: String,
    host: String,
    path: String,
    query: String,
}

impl Url {
    fn read(text: &str) -> Option<Self> {
        if !formats::fits("uri", text) {
            return None;
        }
        let without = text.split('#').next().unwrap_or_default();
        let (scheme, rest) = match without.split_once(':') {
            Some((scheme, rest)) if !scheme.contains('/') => (scheme, rest),
            _ => ("", without),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            // What is no path after a scheme has no parts.
            None if !scheme.is_empty() && !rest.starts_with('/') => ("", ""),
            None => ("", rest),
        };
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        Some(Self {
            text: text.to_owned(),
            scheme: scheme.to_lowercase(),
            host: host.to_owned(),
            path: escaped(path),
            query: query.to_owned(),
        })
    }

    fn split(&self) -> (&str, &str) {
        let after = self.host.rfind(']').map_or(0, |at| at + 1);
        match self.host[after..].find(':') {
            Some(at) => (&self.host[..after + at], &self.host[after + at + 1..]),
            None => (&self.host, ""),
        }
    }

    fn hostname(&self) -> &str {
        let host = self.split().0;
        let inner = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        inner.unwrap_or(host)
    }

    fn port(&self) -> &str {
        self.split().1
    }
}

/// A path with what may not stand in one written in another way.
fn escaped(path: &str) -> String {
    use std::fmt::Write as _;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@%!'()*[]".contains(&byte);
    path.bytes().fold(String::new(), |mut out, byte| {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// What is written with escapes and plus signs in a query.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                out.push(u8::from_str_radix(digits, 16).ok()?);
            }
            byte => out.push(byte),
        }
    }
    String::from_utf8(out).ok()
}

fn url<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let given = text(args, 0)?;
    let url = Url::read(given).ok_or_else(|| {
        Fault::new(format!(
            "URL parse error during conversion from string: parse {}: invalid URI for request",
            go_quote(given)
        ))
    })?;
    Ok(Val::Url(Rc::new(url)))
}

fn part<'a>(args: &[Val<'a>], get: fn(&Url) -> &str) -> Outcome<'a> {
    match args.first() {
        Some(Val::Url(url)) => {
            let found = get(url);
            budget::pay_new_text(found.len())?;
            Ok(Val::text(found.to_owned()))
        }
        _ => Err(Fault::no_overload()),
    }
}

fn query<'a>(args: &[Val<'a>]) -> Outcome<'a> {
    let Some(Val::Url(url)) = args.first() else {
        return Err(Fault::no_overload());
    };
    let mut found: BTreeMap<Key, Vec<Val<'a>>> = BTreeMap::new();
    for pair in url.query.split('&').filter(|pair| !pair.is_empty()) {
        budget::pay(1 + pair.len() / 10)?;
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if pair.contains(';') {
            continue;
        }
        if let (Some(key), Some(value)) = (unescaped(key), unescaped(value)) {
            found
                .entry(Key::String(key.into()))
                .or_default()
                .push(Val::text(value));
        }
    }
    let lists = found
        .into_iter()
        .map(|(key, values)| (key, Val::list(values)));
    Ok(Val::map(lists.collect()))
}

fn address(given: &str) -> Result<IpAddr, Fault> {
    let quoted = go_quote(given);
    if given.contains('%') && given.contains(':') {
        return Err(Fault::new(format!(
            "IP address {quoted} with zone value is not allowed"
        )));
    }
    let address: IpAddr = given.parse().map_err(|_| {
        Fault::new(format!(
            "IP Address {quoted} parse error during conversion from string: ParseAddr({quoted}): \
             unable to parse IP"
        ))
    })?;
    if matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some()) {
        return Err(Fault::new(format!(
            "IPv4-mapped IPv6 address {quoted} is not allowed"
        )));
    }
    Ok(address)
}

fn ip(args: &[Val<'_>]) -> Result<IpAddr, Fault> {
    match args.first() {
        Some(Val::Ip(address)) => Ok(*address),
        _ => Err(Fault::no_overload()),
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    }
}

/// A network: an address in it, and how many of its bits all have alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cidr {
    address: IpAddr,
    bits: u8,
}

impl Cidr {
    fn numbers(address: IpAddr) -> u128 {
        match address {
            IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
            IpAddr::V6(address) => address.to_bits(),
        }
    }

    fn mask(self) -> u128 {
        u128::MAX
            .checked_shl(128 - u32::from(self.bits))
            .unwrap_or(0)
    }

    fn contains(self, address: IpAddr) -> bool {
        let different = Self::numbers(self.address) ^ Self::numbers(address);
        self.address.is_ipv4() == address.is_ipv4() && different & self.mask() == 0
    }

    fn covers(self, other: Self) -> bool {
        self.bits <= other.bits && self.contains(other.address)
    }

    fn masked(self) -> Self {
        let number = Self::numbers(self.address) & self.mask();
        let address = match self.address {
            IpAddr::V4(_) => IpAddr::V4(((number >> 96) as u32).into()),
            IpAddr::V6(_) => IpAddr::V6(number.into()),
        };
        Self { address, ..self }
    }

    pub(super) fn text(self) -> String {
        format!("{}/{}", self.address, self.bits)
    }
}

fn network(given: &str) -> Result<Cidr, Fault> {
    let why = "network address parse error during conversion from string";
    let wrong = || {
        let quoted = go_quote(given);
        Fault::new(format!("{why}: {why}: netip.ParsePrefix({quoted}): no '/'"))
    };
    let (address, bits) = given.rsplit_once('/').ok_or_else(wrong)?;
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let number = !bits.is_empty()
        && bits.bytes().all(|b| b.is_ascii_digit())
        && (bits == "0" || !bits.starts_with('0'));
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits: u8 = bits.parse().map_err(|_| wrong())?;
    if !number || bits > most {
        return Err(wrong());
    }
    if matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some()) {
        let quoted = go_quote(given);
        return Err(Fault::new(format!(
            "{why}: IPv4-mapped IPv6 address {quoted} is not allowed"
        )));
    }
    Ok(Cidr { address, bits })
}

fn cidr(args: &[Val<'_>], index: usize) -> Result<Cidr, Fault> {
    match args.get(index) {
        Some(Val::Cidr(cidr)) => Ok(*cidr),
        _ => Err(Fault::no_overload()),
    }
}
