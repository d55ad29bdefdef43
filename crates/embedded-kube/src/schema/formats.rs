//! The formats of texts that schemas can ask for.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Kind;

const KNOWN: &[&str] = &[
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "date-time",
    "bsonobjectid",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "k8s-short-name",
    "k8s-long-name",
];

/// Whether a format means something for this type; others are ignored.
pub(crate) fn is_known(format: &str, kind: Kind) -> bool {
    match kind {
        Kind::Integer => matches!(format, "int32" | "int64"),
        Kind::Number => matches!(format, "float" | "double"),
        Kind::String | Kind::Any => KNOWN.contains(&format),
        _ => false,
    }
}

/// Whether a text has this format.
pub(super) fn fits(format: &str, text: &str) -> bool {
    match format {
        "uri" => is_uri(text),
        "email" => is_email(text),
        "hostname" => is_hostname(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "mac" => is_mac(text),
        "uuid" => is_uuid(text, None),
        "uuid3" => is_uuid(text, Some('3')),
        "uuid4" => is_uuid(text, Some('4')),
        "uuid5" => is_uuid(text, Some('5')),
        "byte" => text.len().is_multiple_of(4) && crate::typed::base64_error(text).is_none(),
        "date" => text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok(),
        "datetime" | "date-time" => is_date_time(text),
        "duration" => is_duration(text),
        "k8s-short-name" => crate::names::dns_label(text, false).is_empty(),
        "k8s-long-name" => crate::names::dns_subdomain(text, false).is_empty(),
        _ => true,
    }
}

fn is_uri(text: &str) -> bool {
    let absolute = text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    (absolute || text.starts_with('/')) && !text.contains(|c: char| c.is_control() || c == ' ')
}

fn is_email(text: &str) -> bool {
    text.rsplit_once('@').is_some_and(|(local, host)| {
        !local.is_empty() && !host.is_empty() && !text.contains(char::is_whitespace)
    })
}

fn is_hostname(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    !text.is_empty() && text.len() <= 255 && text.split('.').all(label)
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    if bits.is_empty() || !bits.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let bits: u32 = bits.parse().unwrap_or(u32::MAX);
    (address.parse::<Ipv4Addr>().is_ok() && bits <= 32)
        || (address.parse::<Ipv6Addr>().is_ok() && bits <= 128)
}

fn is_mac(text: &str) -> bool {
    let separator = if text.contains(':') { ':' } else { '-' };
    let parts: Vec<&str> = text.split(separator).collect();
    matches!(parts.len(), 6 | 8 | 20)
        && parts
            .iter()
            .all(|p| p.len() == 2 && p.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn is_uuid(text: &str, version: Option<char>) -> bool {
    let digits: String = text.chars().filter(|&c| c != '-').collect();
    digits.len() == 32
        && digits.bytes().all(|b| b.is_ascii_hexdigit())
        && version.is_none_or(|version| digits[12..].starts_with(version))
}

fn is_date_time(text: &str) -> bool {
    text.len() > 10 && text.as_bytes()[10].eq_ignore_ascii_case(&b't') && {
        text.parse::<jiff::Timestamp>().is_ok()
    }
}

fn is_duration(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['+', '-']);
    if text == "0" {
        return true;
    }
    let mut rest = text;
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        if unit.len() == rest.len() {
            return false;
        }
        let unit = unit.trim_start();
        let after = unit.trim_start_matches(|c: char| c.is_alphabetic());
        let name = &unit[..unit.len() - after.len()];
        let known = matches!(
            name,
            "ns" | "us"
                | "µs"
                | "μs"
                | "ms"
                | "s"
                | "m"
                | "h"
                | "d"
                | "w"
                | "day"
                | "days"
                | "hour"
                | "hours"
                | "minute"
                | "minutes"
                | "second"
                | "seconds"
                | "week"
                | "weeks"
        );
        if !known {
            return false;
        }
        rest = after.trim_start();
    }
    !text.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_tell_right_from_wrong() {
        for (format, right, wrong) in [
            ("ipv4", "10.0.0.1", "10.0.0"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("date-time", "2026-01-02T03:04:05Z", "2026-01-02"),
            ("date", "2026-01-02", "2026-13-02"),
            ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
            ("duration", "1h30m", "1x"),
            ("uri", "https://a.b/c", "a b"),
            ("hostname", "a.b-c", "-a"),
            ("byte", "YWJj", "YW"),
            ("mac", "00:11:22:33:44:55", "00:11"),
        ] {
            assert!(fits(format, right), "{format} {right}");
            assert!(!fits(format, wrong), "{format} {wrong}");
        }
        assert!(!is_known("int32", Kind::String));
    }
}
