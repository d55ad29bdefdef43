//! The formats of texts that schemas can ask for.

use std::net::IpAddr;
use std::sync::LazyLock;

use regex::Regex;

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
pub(crate) fn fits(format: &str, text: &str) -> bool {
    match format {
        "uri" => is_uri(text),
        "email" => is_email(text),
        "hostname" => is_hostname(text),
        "ipv4" => text.contains('.') && is_address(&without_leading_zeros(text)),
        "ipv6" => text.contains(':') && is_address(text),
        "cidr" => is_cidr(text),
        "mac" => is_mac(text),
        "uuid" => is_uuid(text, None),
        "uuid3" => is_uuid(text, Some('3')),
        "uuid4" => is_uuid(text, Some('4')),
        "uuid5" => is_uuid(text, Some('5')),
        "byte" => !text.is_empty() && matches(&BASE64, text),
        "date" => is_date(text),
        "datetime" | "date-time" => is_date_time(text),
        "duration" => is_duration(text),
        "bsonobjectid" => matches(&OBJECT_ID, text),
        "isbn" => is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10(text),
        "isbn13" => is_isbn13(text),
        "creditcard" => is_credit_card(text),
        "ssn" => text.len() == 11 && matches(&SOCIAL_SECURITY, text),
        "hexcolor" => matches(&HEX_COLOR, text),
        "rgbcolor" => matches(&RGB_COLOR, text),
        "k8s-short-name" => crate::names::dns_label(text, false).is_empty(),
        "k8s-long-name" => crate::names::dns_subdomain(text, false).is_empty(),
        _ => true,
    }
}

/// A regular expression that is compiled at its first use.
type Expression = LazyLock<Option<Regex>>;

fn matches(expression: &Expression, text: &str) -> bool {
    expression
        .as_ref()
        .is_some_and(|regex| regex.is_match(text))
}

static BASE64: Expression = LazyLock::new(|| {
    Regex::new("^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$").ok()
});
static OBJECT_ID: Expression = LazyLock::new(|| Regex::new("^[0-9a-fA-F]{24}$").ok());
static SOCIAL_SECURITY: Expression =
    LazyLock::new(|| Regex::new("^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$").ok());
static HEX_COLOR: Expression =
    LazyLock::new(|| Regex::new("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$").ok());
static RGB_COLOR: Expression = LazyLock::new(|| {
    let part = "[ \\t\\n\\f\\r]*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[ \\t\\n\\f\\r]*";
    Regex::new(&format!(r"^rgb\({part},{part},{part}\)$")).ok()
});
/// A label may be alone, or labels with dots end in letters.
static HOSTNAME: Expression = LazyLock::new(|| {
    let (first, inner) = (r"[a-zA-Z0-9\p{S}\p{L}]", r"[a-zA-Z0-9\-\p{S}\p{L}]");
    Regex::new(&format!(
        r"^({first}(-?{first}{{0,62}})?|({first}({inner}{{0,61}}{first})?\.)+[a-zA-Z\p{{L}}]{{2,63}})$"
    ))
    .ok()
});
static DURATION: Expression =
    LazyLock::new(|| Regex::new(r"([0-9]+)[ \t\n\f\r]*([A-Za-zµ]+)").ok());
static TIME_OF_DAY: Expression = LazyLock::new(|| {
    Regex::new(r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})$").ok()
});

/// What can stand in the first line of a request.
fn is_uri(text: &str) -> bool {
    if text.is_empty() || text.contains(|c: char| c.is_ascii_control()) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let scheme = text.split_once(':').filter(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    let rest = match scheme {
        // Anything may follow a scheme, if it is no path.
        Some((_, rest)) if !rest.starts_with('/') => return !rest.is_empty() || scheme.is_some(),
        Some((_, rest)) => rest,
        None if text.starts_with(':') || !text.starts_with('/') => return false,
        None => text,
    };
    let rest = rest.split('?').next().unwrap_or_default();
    let (host, path) = match rest.strip_prefix("//") {
        Some(rest) if scheme.is_some() => match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        },
        _ => ("", rest),
    };
    is_host(host) && is_escaped(path)
}

/// Whether every percent sign begins an escape.
fn is_escaped(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| {
        let digits = rest.bytes().take(2).filter(u8::is_ascii_hexdigit);
        digits.count() == 2
    })
}

/// A host as it stands in an address: with a user before it and a port after it, or without.
fn is_host(text: &str) -> bool {
    let host = text.rsplit_once('@').map_or(text, |(_, host)| host);
    let (host, port) = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some(parts) => parts,
            None => return false,
        },
        None => host.find(':').map_or((host, ""), |at| host.split_at(at)),
    };
    let is_port = port
        .strip_prefix(':')
        .is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
    (port.is_empty() || is_port)
        && !host.contains([' ', '<', '>', '"', '%', '\\', '^', '`', '{', '}', '|', '#'])
}

/// An address, alone or in angle brackets behind a name.
fn is_email(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    let address = match text.strip_suffix('>') {
        Some(rest) => match rest.rsplit_once('<') {
            Some((name, address)) if is_display_name(name) => address,
            _ => return false,
        },
        None => text,
    };
    let Some((local, host)) = address.rsplit_once('@') else {
        return false;
    };
    let word = |text: &str| {
        let fine = |c: char| {
            c.is_ascii_alphanumeric() || !c.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(c)
        };
        !text.is_empty()
            && text
                .split('.')
                .all(|part| !part.is_empty() && part.chars().all(fine))
    };
    let literal = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_host = literal.map_or_else(|| word(host), |host| host.parse::<IpAddr>().is_ok());
    (word(local) || is_quoted(local)) && is_host
}

fn is_quoted(text: &str) -> bool {
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(['"', '\\', '\n', '\r']))
}

fn is_display_name(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    text.is_empty()
        || is_quoted(text)
        || !text.contains(['(', ')', '<', '>', '[', ']', ':', ';', '@', '\\', ',', '"'])
}

fn is_hostname(text: &str) -> bool {
    text.len() <= 255 && text.split('.').all(|label| label.len() <= 63) && matches(&HOSTNAME, text)
}

/// Zeros at the beginning of the parts of an old address mean nothing.
fn without_leading_zeros(text: &str) -> String {
    let parts = text.split('.').map(|part| {
        let digits = !part.is_empty() && part.len() < 4 && part.bytes().all(|b| b.is_ascii_digit());
        match part.trim_start_matches('0') {
            "" if digits => "0",
            trimmed if digits => trimmed,
            _ => part,
        }
    });
    parts.collect::<Vec<&str>>().join(".")
}

fn is_address(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    if bits.is_empty() || !bits.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let bits: u32 = bits.parse().unwrap_or(u32::MAX);
    match without_leading_zeros(address).parse() {
        Ok(IpAddr::V4(_)) => bits <= 32,
        Ok(IpAddr::V6(_)) => bits <= 128,
        Err(_) => false,
    }
}

/// Pairs of digits with colons or dashes, or groups of four with dots.
fn is_mac(text: &str) -> bool {
    let is_list = |separator: char, width: usize, lengths: [usize; 3]| {
        let parts: Vec<&str> = text.split(separator).collect();
        let fits = |part: &&str| part.len() == width && part.bytes().all(|b| b.is_ascii_hexdigit());
        lengths.contains(&parts.len()) && parts.iter().all(fits)
    };
    let bare = matches!(text.len(), 12 | 16 | 40) && text.bytes().all(|b| b.is_ascii_hexdigit());
    bare || is_list(':', 2, [6, 8, 20])
        || is_list('-', 2, [6, 8, 20])
        || is_list('.', 4, [3, 4, 10])
}

fn is_uuid(text: &str, version: Option<char>) -> bool {
    // Each of the four dashes may be missing.
    let mut rest = text;
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((part, after)) = rest.split_at_checked(length) else {
            return false;
        };
        let variant = index == 3 && matches!(version, Some('4' | '5'));
        if !part.bytes().all(|b| b.is_ascii_hexdigit())
            || (index == 2 && version.is_some_and(|version| !part.starts_with(version)))
            || (variant && !part.starts_with(['8', '9', 'a', 'b', 'A', 'B']))
        {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    let found = TIME_OF_DAY.as_ref().and_then(|regex| regex.captures(time));
    is_date(date)
        && found.is_some_and(|part| &part[1] <= "23" && &part[2] <= "59" && &part[3] <= "59")
}

/// A duration as Go reads one, or a text with a number and a unit of time in it.
fn is_duration(text: &str) -> bool {
    is_go_duration(text) || {
        let Some(regex) = DURATION.as_ref() else {
            return false;
        };
        let mut known = false;
        for part in regex.captures_iter(text) {
            if part[1].parse::<i64>().is_err() {
                return false;
            }
            known |= is_unit(&part[2].to_lowercase());
        }
        known
    }
}

fn is_unit(unit: &str) -> bool {
    let short = ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"];
    let long = [
        "nano", "micro", "milli", "sec", "min", "hour", "day", "week",
    ];
    short.contains(&unit) || long.iter().any(|start| unit.starts_with(start))
}

fn is_go_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let number = &rest[..rest.len() - after.len()];
        if number.matches('.').count() > 1 || !number.contains(|c: char| c.is_ascii_digit()) {
            return false;
        }
        let next = after.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '.');
        let factor = match &after[..after.len() - next.len()] {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return false,
        };
        seconds += number.parse::<f64>().unwrap_or(f64::INFINITY) * factor;
        rest = next;
    }
    !text.is_empty() && text != "+" && text != "-" && seconds < 9.223_372_036e9
}

fn digits_of(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

fn without_blanks(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, ' ' | '\t' | '\n' | '\u{c}' | '\r' | '-'))
        .collect()
}

fn is_isbn10(text: &str) -> bool {
    let text = without_blanks(text);
    let (body, last) = match text.strip_suffix('X') {
        Some(body) => (body, Some(10)),
        None => (text.as_str(), None),
    };
    let digits: Vec<u32> = digits_of(body).into_iter().chain(last).collect();
    let sum: u32 = (1..).zip(&digits).map(|(place, digit)| place * digit).sum();
    text.len() == 10 && digits.len() == 10 && sum.is_multiple_of(11)
}

fn is_isbn13(text: &str) -> bool {
    let text = without_blanks(text);
    let digits = digits_of(&text);
    let weights = [1, 3].into_iter().cycle();
    let sum: u32 = weights
        .zip(&digits)
        .map(|(weight, digit)| weight * digit)
        .sum();
    text.len() == 13 && digits.len() == 13 && sum.is_multiple_of(10)
}

fn is_credit_card(text: &str) -> bool {
    static NUMBER: Expression = LazyLock::new(|| {
        let visa = "4[0-9]{12}([0-9]{3})?";
        let others = "5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}";
        let rest = "3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11}";
        Regex::new(&format!("^({visa}|{others}|{rest})$")).ok()
    });
    let number: String = text.chars().filter(char::is_ascii_digit).collect();
    let doubled = |(index, digit): (usize, u32)| match (index % 2, digit * 2) {
        (0, _) => digit,
        (_, twice) if twice > 9 => twice - 9,
        (_, twice) => twice,
    };
    let digits = digits_of(&number);
    let sum: u32 = digits.into_iter().rev().enumerate().map(doubled).sum();
    matches(&NUMBER, &number) && sum.is_multiple_of(10)
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
            ("hostname", "b-c.example", "a.b-c"),
            ("byte", "YWJj", "YW"),
            ("mac", "00:11:22:33:44:55", "00:11"),
            ("email", "A <a@b.c>", "a b@c"),
            (
                "uuid4",
                "12345678-1234-4234-8234-123456789abc",
                "12345678-1234-4234-1234-123456789abc",
            ),
            ("isbn10", "080442957X", "0306406153"),
            ("isbn13", "978-0-306-40615-7", "9780306406158"),
            ("creditcard", "4111-1111-1111-1111", "4111111111111112"),
            ("ssn", "123-45-6789", "123456789"),
            ("rgbcolor", "rgb( 1 , 2 , 3 )", "rgb(256,0,0)"),
            ("hexcolor", "#fff", "red"),
        ] {
            assert!(fits(format, right), "{format} {right}");
            assert!(!fits(format, wrong), "{format} {wrong}");
        }
        assert!(!is_known("int32", Kind::String));
    }
}
