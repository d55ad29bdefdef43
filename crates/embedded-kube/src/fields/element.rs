//! One step of a path to a field.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Map, Number, Value};

use crate::json;
use crate::text::{go_number, go_quote, json_float};

/// How a field is found in what contains it.
#[derive(Clone, Debug)]
pub(crate) enum Element {
    /// A field of an object.
    Field(Box<str>),
    /// The item of a list whose fields have these values; sorted by their names.
    Key(Vec<(Box<str>, Value)>),
    /// The item of a set.
    Value(Value),
    /// The item of a list at this place.
    Index(i64),
}

impl Element {
    pub(super) fn field(name: &str) -> Self {
        Self::Field(name.into())
    }

    /// The name of the field.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Field(name) => Some(name),
            _ => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }

    /// As a key of `FieldsV1`.
    pub(super) fn encode(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("{}:{}", text(name, false), written(value)))
                    .collect();
                format!("k:{{{}}}", fields.join(","))
            }
            Self::Value(value) => format!("v:{}", written(value)),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    /// From a key of `FieldsV1`; nothing, where it is of a kind that is not known.
    pub(super) fn decode(key: &str) -> Result<Option<Self>, String> {
        let (Some(kind), Some(rest)) = (key.get(..2), key.get(2..)) else {
            return Err("key must be 2 characters long:".to_owned());
        };
        let read = || -> Result<Value, String> {
            let mut value = json::parse_inner(rest.as_bytes())?.value;
            all_floats(&mut value);
            Ok(value)
        };
        Ok(Some(match kind {
            "f:" => Self::field(rest),
            "v:" => Self::Value(read()?),
            "k:" => {
                let Value::Object(fields) = read()? else {
                    return Err("expect { or n".to_owned());
                };
                Self::key(fields)
            }
            "i:" => Self::Index(rest.parse().map_err(|_| "invalid syntax".to_owned())?),
            _ if kind.ends_with(':') => return Ok(None),
            _ => return Err(format!("missing colon: {key}")),
        }))
    }

    fn key(fields: Map<String, Value>) -> Self {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value));
        let mut fields: Vec<(Box<str>, Value)> = fields.collect();
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        Self::Key(fields)
    }
}

impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Element {}

impl PartialOrd for Element {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Element {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(a), Self::Field(b)) => a.cmp(b),
            (Self::Key(a), Self::Key(b)) => {
                let pairs = a.iter().zip(b).map(|((name, value), (other, with))| {
                    name.cmp(other).then_with(|| order(value, with))
                });
                first_difference(pairs).then(a.len().cmp(&b.len()))
            }
            (Self::Value(a), Self::Value(b)) => order(a, b),
            (Self::Index(a), Self::Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// As messages show a path.
impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("{name}={}", shown(value)))
                    .collect();
                write!(f, "[{}]", fields.join(","))
            }
            Self::Value(value) => write!(f, "[={}]", shown(value)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

fn first_difference(orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders
        .into_iter()
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// A value inside a path, in a message.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => go_number(number),
        Value::String(text) => go_quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(map) => {
            let fields = map
                .iter()
                .map(|(key, value)| format!("{key}={}", shown(value)));
            fields.collect()
        }
    }
}

/// A value inside a key: the writer of the real server escapes what HTML would read.
fn written(value: &Value) -> String {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.to_string(),
            None => number
                .as_f64()
                .map_or_else(|| number.to_string(), json_float),
        },
        Value::String(value) => text(value, true),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(written).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(map) => {
            let fields: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}:{}", text(key, true), written(value)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string(),
    }
}

fn text(text: &str, html: bool) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a string cannot fail.
            c if c < ' ' || (html && matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}')) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The reader of keys knows no integers.
fn all_floats(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(float) = number.as_f64().and_then(Number::from_f64) {
                *number = float;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(all_floats),
        Value::Object(map) => map.values_mut().for_each(all_floats),
        _ => {}
    }
}

/// The order of values: by their type, then by what they are. Whole numbers and others are numbers.
fn order(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    };
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => numbers(a, b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            first_difference(a.iter().zip(b).map(|(a, b)| order(a, b))).then(a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            let pairs = a.iter().zip(b).map(|((key, value), (other, with))| {
                key.cmp(other).then_with(|| order(value, with))
            });
            first_difference(pairs).then(a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

fn numbers(a: &Number, b: &Number) -> Ordering {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a.cmp(&b);
    }
    let float = |number: &Number| number.as_f64().unwrap_or(0.0);
    float(a).partial_cmp(&float(b)).unwrap_or(Ordering::Equal)
}

/// Whether two values are the same: `1` is `1.0`.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => numbers(a, b).is_eq(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn elements_are_written_and_read() {
        for (element, written, shown) in [
            (Element::field("a.b"), "f:a.b", ".a.b"),
            (
                Element::Key(vec![("n".into(), json!("x<y")), ("p".into(), json!(80))]),
                r#"k:{"n":"x\u003cy","p":80}"#,
                r#"[n="x<y",p=80]"#,
            ),
            (Element::Value(json!("a")), r#"v:"a""#, r#"[="a"]"#),
            (Element::Value(json!(true)), "v:true", "[=true]"),
            (Element::Index(3), "i:3", "[3]"),
        ] {
            assert_eq!(element.encode(), written);
            assert_eq!(element.to_string(), shown);
            assert_eq!(Element::decode(written), Ok(Some(element)));
        }
        assert_eq!(Element::decode("x:1"), Ok(None));
        assert!(Element::decode("f").is_err());
        assert!(Element::decode("fx").is_err());
        assert!(Element::decode("v:{").is_err());
        let large = Element::decode("v:1000000").unwrap().unwrap();
        assert_eq!(
            (large.encode(), large.to_string()),
            ("v:1000000".to_owned(), "[=1e+06]".to_owned())
        );
    }

    #[test]
    fn whole_numbers_are_numbers() {
        assert!(same(&json!({"a": [1]}), &json!({"a": [1.0]})));
        assert!(!same(&json!({"a": null}), &json!({})));
        assert_eq!(Element::Value(json!(2)), Element::Value(json!(2.0)));
        assert!(Element::Value(json!(2)) < Element::Value(json!("1")));
        assert!(Element::field("z") < Element::Index(0));
    }
}
