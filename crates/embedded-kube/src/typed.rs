//! Typed decoding: what a server with Go structs does to JSON, from a table of fields.
//!
//! Unknown fields are dropped (and reported), nulls and zero values vanish where the struct would
//! omit them, and a value of another type is refused with the decoder's own words.

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use serde_json::{Map, Value, json};

use crate::quantity;
use crate::text::go_quote;

/// The type of a field.
#[derive(Clone, Debug)]
pub(crate) enum Type {
    String,
    Bool,
    Int32,
    Int64,
    /// Base64 text.
    Bytes,
    /// An amount with a unit, kept in the form that the user wrote.
    Quantity,
    /// RFC 3339 with seconds.
    Time,
    /// RFC 3339 with microseconds.
    MicroTime,
    /// Any JSON, kept as it is.
    Any,
    List(Box<Type>),
    Map(Box<Type>),
    Struct(Struct),
}

/// A struct: its Go name and its fields.
#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub(crate) name: &'static str,
    pub(crate) fields: Vec<Field>,
}

/// The structs that are replaced as a whole, and have one manager.
const ATOMIC: [&str; 15] = [
    "LabelSelector",
    "LocalObjectReference",
    "MatchResources",
    "NamedRuleWithOperations",
    "NodeSelector",
    "NodeSelectorTerm",
    "ObjectReference",
    "OwnerReference",
    "ParamKind",
    "ParamRef",
    "RoleRef",
    "SecretReference",
    "Subject",
    "TypedLocalObjectReference",
    "Variable",
];

impl Struct {
    pub(crate) fn is_atomic(&self) -> bool {
        ATOMIC.contains(&self.name)
    }
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Type,
    pub(crate) presence: Presence,
    /// How a strategic merge patch merges a list: by this field of its items, or, if it is empty,
    /// as a set. Other lists are replaced.
    pub(crate) merge_key: Option<&'static str>,
}

impl Field {
    /// The same field as a list that is merged by this key of its items.
    pub(crate) fn merged_by(mut self, key: &'static str) -> Self {
        self.merge_key = Some(key);
        self
    }
}

/// When a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Left out if it has its zero value.
    OmitZero,
    /// A pointer: left out only if it is not set.
    Pointer,
    /// Always written.
    Always,
}

/// A field that is left out if zero.
pub(crate) fn field(name: &'static str, kind: Type) -> Field {
    Field {
        name,
        kind,
        presence: Presence::OmitZero,
        merge_key: None,
    }
}

/// A field that is a pointer.
pub(crate) fn pointer(name: &'static str, kind: Type) -> Field {
    Field {
        name,
        kind,
        presence: Presence::Pointer,
        merge_key: None,
    }
}

/// A field that is always written.
pub(crate) fn always(name: &'static str, kind: Type) -> Field {
    Field {
        name,
        kind,
        presence: Presence::Always,
        merge_key: None,
    }
}

/// A struct of these fields.
pub(crate) fn object(name: &'static str, fields: Vec<Field>) -> Type {
    Type::Struct(Struct { name, fields })
}

/// A list of this type.
pub(crate) fn list(item: Type) -> Type {
    Type::List(Box::new(item))
}

/// A map from text to this type.
pub(crate) fn map(item: Type) -> Type {
    Type::Map(Box::new(item))
}

/// How many unknown fields are told.
const MAX_UNKNOWN: usize = 100;

/// What decoding found besides the value.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The paths of fields that the type does not have.
    pub(crate) unknown: Vec<String>,
}

/// Decodes `value` in place.
pub(crate) fn decode(value: &mut Value, kind: &Struct, found: &mut Findings) -> Result<(), String> {
    let Value::Object(map) = value else {
        return Err(mismatch(value, kind.name, "", kind.name));
    };
    decode_struct(map, kind, "", "", found)
}

/// What the decoder says of a value of another type.
pub(crate) fn mismatch(value: &Value, root: &str, path: &str, kind: &str) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if path.is_empty() {
        return format!("json: cannot unmarshal {found} into Go value of type {kind}");
    }
    format!("json: cannot unmarshal {found} into Go struct field {root}.{path} of type {kind}")
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// `root` is the innermost struct; `path` is what errors name (without indices), `place` what unknown fields name (with them).
fn decode_struct(
    map: &mut Map<String, Value>,
    kind: &Struct,
    path: &str,
    place: &str,
    found: &mut Findings,
) -> Result<(), String> {
    let known = |key: &str| kind.fields.iter().any(|f| f.name == key);
    let unknown: Vec<String> = map.keys().filter(|k| !known(k)).cloned().collect();
    for key in unknown {
        map.remove(&key);
        if found.unknown.len() < MAX_UNKNOWN {
            found.unknown.push(join(place, &key));
        }
    }
    for field in &kind.fields {
        let name = field.name;
        if let Some(value) = map.get_mut(name)
            && !value.is_null()
        {
            let (path, place) = (join(path, name), join(place, name));
            decode_value(value, &field.kind, kind.name, &path, &place, found)?;
        }
        let zero = match map.get(name) {
            None | Some(Value::Null) => true,
            Some(value) => field.presence == Presence::OmitZero && is_zero(value, &field.kind),
        };
        if !zero {
            continue;
        }
        match (field.presence, &field.kind) {
            (Presence::Always, kind) => {
                let mut value = zero_value(kind);
                if let (Value::Object(inner), Type::Struct(kind)) = (&mut value, kind) {
                    decode_struct(inner, kind, path, place, &mut Findings::default())?;
                }
                map.insert(name.to_owned(), value);
            }
            _ => {
                map.remove(name);
            }
        }
    }
    Ok(())
}

fn zero_value(kind: &Type) -> Value {
    match kind {
        Type::String | Type::Bytes => json!(""),
        Type::Bool => json!(false),
        Type::Int32 | Type::Int64 => json!(0),
        Type::Struct(_) => json!({}),
        _ => Value::Null,
    }
}

fn is_zero(value: &Value, kind: &Type) -> bool {
    match (kind, value) {
        // A struct that is not a pointer is never left out.
        (Type::Struct(_) | Type::Any, _) => false,
        (_, Value::String(text)) => text.is_empty(),
        (_, Value::Bool(flag)) => !flag,
        (_, Value::Number(number)) => number.as_i64() == Some(0),
        (_, Value::Array(items)) => items.is_empty(),
        (_, Value::Object(map)) => map.is_empty(),
        (_, Value::Null) => true,
    }
}

fn decode_value(
    value: &mut Value,
    kind: &Type,
    root: &str,
    path: &str,
    place: &str,
    found: &mut Findings,
) -> Result<(), String> {
    let wrong = |value: &Value, kind: &str| Err(mismatch(value, root, path, kind));
    match kind {
        Type::Any => {}
        Type::String if !value.is_string() => return wrong(value, "string"),
        Type::Bool if !value.is_boolean() => return wrong(value, "bool"),
        Type::Int32 => match value.as_i64() {
            Some(number) if i32::try_from(number).is_ok() => {}
            Some(number) => return wrong_number(number, root, path, "int32"),
            None => return wrong(value, "int32"),
        },
        Type::Int64 if value.as_i64().is_none() => return wrong(value, "int64"),
        Type::Bytes => {
            let Some(text) = value.as_str() else {
                return wrong(value, "[]uint8");
            };
            match decode_base64(text) {
                Ok(bytes) => *value = json!(STANDARD.encode(bytes)),
                Err(at) => return Err(format!("illegal base64 data at input byte {at}")),
            }
        }
        Type::Quantity => {
            let text = match &*value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                other => return wrong(other, "string"),
            };
            if !quantity::is_quantity(&text) {
                return Err("quantities must match the regular expression \
                     '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
                    .to_owned());
            }
            *value = Value::String(quantity::canonical(&text));
        }
        Type::Time => {
            let time = parse_time(value, root, path, "2006-01-02T15:04:05Z07:00")?;
            // The first moment of all is no time.
            *value = match seconds(time) {
                zero if zero == "0001-01-01T00:00:00Z" => Value::Null,
                shown => json!(shown),
            };
        }
        Type::MicroTime => {
            let time = parse_time(value, root, path, "2006-01-02T15:04:05.000000Z07:00")?;
            // Exactly six digits after the dot are read.
            let fraction = value.as_str().and_then(|text| text.split_once(['.', ',']));
            let digits = fraction.map_or(0, |(_, rest)| {
                rest.bytes().take_while(u8::is_ascii_digit).count()
            });
            if digits != 6 {
                let text = go_quote(value.as_str().unwrap_or_default());
                return Err(format!(
                    "parsing time {text} as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \
                     \"Z\" as \".000000\""
                ));
            }
            *value = json!(micros(time));
        }
        Type::String | Type::Bool | Type::Int64 => {}
        Type::List(item) => {
            let Value::Array(items) = value else {
                return wrong(value, &format!("[]{}", go_name(item)));
            };
            for (index, entry) in items.iter_mut().enumerate() {
                let place = format!("{place}[{index}]");
                decode_item(entry, item, root, path, &place, found)?;
            }
        }
        Type::Map(item) => {
            let Value::Object(entries) = value else {
                return wrong(value, &format!("map[string]{}", go_name(item)));
            };
            for (key, entry) in entries.iter_mut() {
                decode_item(entry, item, root, path, &format!("{place}.{key}"), found)?;
            }
        }
        Type::Struct(kind) => {
            let Value::Object(map) = value else {
                return wrong(value, kind.name);
            };
            decode_struct(map, kind, path, place, found)?;
        }
    }
    Ok(())
}

fn decode_item(
    value: &mut Value,
    kind: &Type,
    root: &str,
    path: &str,
    place: &str,
    found: &mut Findings,
) -> Result<(), String> {
    if value.is_null() {
        *value = zero_value(kind);
        if value.is_null() {
            return Ok(());
        }
    }
    decode_value(value, kind, root, path, place, found)
}

fn wrong_number(number: i64, root: &str, path: &str, kind: &str) -> Result<(), String> {
    Err(format!(
        "json: cannot unmarshal number {number} into Go struct field {root}.{path} of type {kind}"
    ))
}

fn go_name(kind: &Type) -> String {
    match kind {
        Type::String => "string".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Int32 => "int32".to_owned(),
        Type::Int64 => "int64".to_owned(),
        Type::Bytes => "[]uint8".to_owned(),
        Type::Quantity => "resource.Quantity".to_owned(),
        Type::Time => "v1.Time".to_owned(),
        Type::MicroTime => "v1.MicroTime".to_owned(),
        Type::Any => "interface {}".to_owned(),
        Type::List(item) => format!("[]{}", go_name(item)),
        Type::Map(item) => format!("map[string]{}", go_name(item)),
        Type::Struct(kind) => kind.name.to_owned(),
    }
}

/// Reads base64 as Go does: line ends are skipped, and bits that are left over do not matter. An
/// error says where the text stops to be base64.
fn decode_base64(text: &str) -> Result<Vec<u8>, usize> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
    );
    let clean: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    LENIENT.decode(&clean).map_err(|error| match error {
        base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => {
            at
        }
        base64::DecodeError::InvalidLength(length) => length / 4 * 4,
        base64::DecodeError::InvalidPadding => clean.len() / 4 * 4,
    })
}

fn parse_time(
    value: &Value,
    root: &str,
    path: &str,
    layout: &str,
) -> Result<jiff::Timestamp, String> {
    let Some(text) = value.as_str() else {
        return Err(mismatch(value, root, path, "string"));
    };
    read_time(text).ok_or_else(|| {
        format!(
            "parsing time {} as {}: cannot parse {} as \"2006\"",
            go_quote(text),
            go_quote(layout),
            go_quote(text)
        )
    })
}

/// A time of RFC 3339 as Go reads it: an hour may have one digit, and a fraction a comma.
pub(crate) fn read_time(text: &str) -> Option<jiff::Timestamp> {
    let (date, time) = text.split_once('T')?;
    let (clock, offset) = match time.strip_suffix('Z') {
        Some(clock) => (clock, "Z"),
        None => time.split_at_checked(time.len().checked_sub(6)?)?,
    };
    let (clock, fraction) = match clock.split_once(['.', ',']) {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (clock, None),
    };
    let shaped = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text
                .bytes()
                .zip(shape.bytes())
                .all(|(byte, wanted)| match wanted {
                    b'0' => byte.is_ascii_digit(),
                    b'+' => matches!(byte, b'+' | b'-'),
                    wanted => byte == wanted,
                })
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let fits = shaped(date, "0000-00-00")
        && (shaped(clock, "00:00:00") || shaped(clock, "0:00:00"))
        && !clock.ends_with(":60")
        && fraction.is_none_or(digits)
        && (offset == "Z" || shaped(offset, "+00:00"));
    if !fits {
        return None;
    }
    let nanos: String = fraction.unwrap_or("0").chars().take(9).collect();
    format!("{date}T{clock:0>8}.{nanos}{offset}").parse().ok()
}

/// A time stamp in whole seconds, as `creationTimestamp` is written.
pub(crate) fn seconds(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A time stamp in microseconds, as leases have it.
pub(crate) fn micros(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Struct {
        Struct {
            name: "Sample",
            fields: vec![
                field("text", Type::String),
                pointer("flag", Type::Bool),
                field("labels", map(Type::String)),
                always(
                    "spec",
                    object("SampleSpec", vec![field("size", Type::Int32)]),
                ),
            ],
        }
    }

    #[test]
    fn drops_unknown_fields_and_zero_values() {
        let mut value = json!({"text": "", "flag": false, "x": 1, "labels": {}, "spec": {"y": 2}});
        let mut found = Findings::default();
        decode(&mut value, &sample(), &mut found).unwrap();
        assert_eq!(value, json!({"flag": false, "spec": {}}));
        assert_eq!(found.unknown, ["x", "spec.y"]);
    }

    #[test]
    fn refuses_other_types_in_the_decoders_words() {
        let mut value = json!({"spec": {"size": "x"}});
        let error = decode(&mut value, &sample(), &mut Findings::default()).unwrap_err();
        assert_eq!(
            error,
            "json: cannot unmarshal string into Go struct field SampleSpec.spec.size of type int32"
        );
    }
}
