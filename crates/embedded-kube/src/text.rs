//! Small texts that must look as Go prints them.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Number, Value};

/// The text in double quotes with Go's escapes.
pub(crate) fn go_quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            // Writing to a string cannot fail.
            c if c < ' ' || c == '\u{7f}' => {
                let _ = write!(quoted, "\\x{:02x}", u32::from(c));
            }
            c if !is_print(c) && u32::from(c) < 0x10000 => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c if !is_print(c) => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a character shows: letters, marks, numbers, signs, and of blanks the plain one.
pub(crate) fn is_print(c: char) -> bool {
    static HIDDEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{C}\p{Z}]$").ok());
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    let mut buffer = [0; 4];
    let text: &str = c.encode_utf8(&mut buffer);
    !HIDDEN.as_ref().is_some_and(|hidden| hidden.is_match(text))
}

/// A character as `%#U` prints it.
pub(crate) fn go_unicode(c: char) -> String {
    let code = u32::from(c);
    if is_print(c) {
        format!("U+{code:04X} '{c}'")
    } else {
        format!("U+{code:04X}")
    }
}

/// A value inside an error message: quoted text, plain numbers, JSON for the rest.
pub(crate) fn go_value(value: &Value) -> String {
    match value {
        Value::String(text) => go_quote(text),
        Value::Number(number) => go_number(number),
        Value::Bool(flag) => flag.to_string(),
        other => other.to_string(),
    }
}

/// Any value as `%v` prints what Go decoded it to.
pub(crate) fn go_format(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => go_number(number),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_format).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let mut fields: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key}:{}", go_format(value)))
                .collect();
            fields.sort();
            format!("map[{}]", fields.join(" "))
        }
    }
}

/// A number as `%v` prints it.
pub(crate) fn go_number(number: &Number) -> String {
    if let Some(integer) = number.as_i64() {
        return integer.to_string();
    }
    number.as_f64().map_or_else(|| number.to_string(), go_float)
}

/// A float as `%v` prints it: shortest form, exponent from 1e6 on and below 1e-4.
pub(crate) fn go_float(float: f64) -> String {
    let size = float.abs();
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        return go_exponent(float);
    }
    format!("{float}")
}

/// A float as it is written in JSON: shortest form, exponent from 1e21 on and below 1e-6.
pub(crate) fn json_float(float: f64) -> String {
    let size = float.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        // Exponents have no leading zero here.
        return go_exponent(float).replace("e-0", "e-").replace("e+0", "e+");
    }
    format!("{float}")
}

fn go_exponent(float: f64) -> String {
    let text = format!("{float:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// The text behind percent signs; plus signs are spaces in queries.
pub(crate) fn percent_decode(text: &str, plus: bool) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let hex = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
                let mut ahead = rest.clone();
                if let (Some(high), Some(low)) = (hex(ahead.next()), hex(ahead.next())) {
                    bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                    rest = ahead;
                } else {
                    bytes.push(b'%');
                }
            }
            b'+' if plus => bytes.push(b' '),
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_floats_look_like_go() {
        assert_eq!(go_quote("a\"b\n\u{1}é"), "\"a\\\"b\\n\\x01é\"");
        assert_eq!(go_float(1.5), "1.5");
        assert_eq!(go_float(100.0), "100");
        assert_eq!(go_float(1e21), "1e+21");
        assert_eq!(go_float(1_234_567.5), "1.2345675e+06");
        assert_eq!(json_float(1e18), "1000000000000000000");
        assert_eq!(json_float(1e21), "1e+21");
        assert_eq!(json_float(1.5e-7), "1.5e-7");
        assert_eq!(go_float(1.5e-7), "1.5e-07");
    }
}
