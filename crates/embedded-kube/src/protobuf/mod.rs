//! Bodies in the protobuf form of Kubernetes, which is what `kubectl create` sends of built-in kinds.
//!
//! They are read into the same trees as JSON; answers are JSON, which such clients take as well.

mod messages;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::typed::{micros, seconds};

/// What a field holds.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Flag,
    Number,
    Bytes,
    Time,
    MicroTime,
    /// JSON, as bytes.
    Raw,
    Message(&'static str),
    List(&'static Kind),
    /// From texts to something.
    Map(&'static Kind),
}

/// What such a body begins with.
const MAGIC: &[u8] = b"k8s\0";

/// Reads a body.
pub(crate) fn parse(body: &[u8]) -> Result<Value, String> {
    let Some(mut rest) = body.strip_prefix(MAGIC) else {
        return Err(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
                .to_owned(),
        );
    };
    let (mut version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    while let Some((number, value)) = next(&mut rest)? {
        match (number, value) {
            (1, Wire::Bytes(mut inner)) => {
                while let Some((number, value)) = next(&mut inner)? {
                    match (number, value) {
                        (1, Wire::Bytes(text)) => version = string(text),
                        (2, Wire::Bytes(text)) => kind = string(text),
                        _ => {}
                    }
                }
            }
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let package = match (group.split('.').next().unwrap_or_default(), kind.as_str()) {
        (_, "DeleteOptions") => "meta",
        ("", _) => "core",
        (first, _) => first,
    };
    let fields = messages::of(&format!("{package}.{kind}"));
    if fields.is_empty() {
        return Err(format!(
            "no kind \"{kind}\" is read from protobuf in version \"{version}\""
        ));
    }
    let mut object = message(fields, raw)?;
    object["apiVersion"] = json!(version);
    object["kind"] = json!(kind);
    Ok(object)
}

/// A value on the wire.
#[derive(Clone, Copy)]
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

const BROKEN: &str = "unexpected EOF";

/// The next field and its value; none at the end.
fn next<'a>(rest: &mut &'a [u8]) -> Result<Option<(u64, Wire<'a>)>, String> {
    if rest.is_empty() {
        return Ok(None);
    }
    let tag = varint(rest)?;
    let value = match tag & 7 {
        0 => Wire::Number(varint(rest)?),
        1 => Wire::Bytes(take(rest, 8)?),
        2 => {
            let length = varint(rest)?;
            Wire::Bytes(take(rest, usize::try_from(length).unwrap_or(usize::MAX))?)
        }
        5 => Wire::Bytes(take(rest, 4)?),
        other => return Err(format!("proto: illegal wireType {other}")),
    };
    Ok(Some((tag >> 3, value)))
}

fn varint(rest: &mut &[u8]) -> Result<u64, String> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, after) = rest.split_first().ok_or(BROKEN)?;
        *rest = after;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err("proto: integer overflow".to_owned())
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8], String> {
    let (taken, after) = rest.split_at_checked(length).ok_or(BROKEN)?;
    *rest = after;
    Ok(taken)
}

fn string(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn message(fields: &[messages::Field], mut bytes: &[u8]) -> Result<Value, String> {
    let mut object = Map::new();
    while let Some((number, wire)) = next(&mut bytes)? {
        let Some((_, name, kind)) = fields.iter().find(|(known, ..)| *known == number) else {
            continue;
        };
        match kind {
            Kind::List(item) => {
                let list = object.entry(*name).or_insert_with(|| json!([]));
                if let Value::Array(list) = list {
                    list.push(value(item, wire)?);
                }
            }
            Kind::Map(item) => {
                let (key, inner) = entry(item, wire)?;
                let map = object.entry(*name).or_insert_with(|| json!({}));
                map[key] = inner;
            }
            kind => {
                object.insert((*name).to_owned(), value(kind, wire)?);
            }
        }
    }
    // A message that only stands for its list.
    if let ([(_, "", _)], Some(list)) = (fields, object.remove("")) {
        return Ok(list);
    }
    Ok(object.into())
}

fn entry(kind: &Kind, wire: Wire<'_>) -> Result<(String, Value), String> {
    let Wire::Bytes(mut bytes) = wire else {
        return Err("proto: wrong wireType for a map".to_owned());
    };
    let mut key = String::new();
    let mut found = match kind {
        Kind::Text | Kind::Bytes => json!(""),
        _ => Value::Null,
    };
    while let Some((number, wire)) = next(&mut bytes)? {
        match (number, wire) {
            (1, Wire::Bytes(text)) => key = string(text),
            (2, wire) => found = value(kind, wire)?,
            _ => {}
        }
    }
    Ok((key, found))
}

fn value(kind: &Kind, wire: Wire<'_>) -> Result<Value, String> {
    Ok(match (kind, wire) {
        (Kind::Text, Wire::Bytes(bytes)) => json!(string(bytes)),
        (Kind::Flag, Wire::Number(number)) => json!(number != 0),
        (Kind::Number, Wire::Number(number)) => json!(number.cast_signed()),
        (Kind::Bytes, Wire::Bytes(bytes)) => json!(STANDARD.encode(bytes)),
        (Kind::Time | Kind::MicroTime, Wire::Bytes(bytes)) => time(kind, bytes)?,
        (Kind::Raw, Wire::Bytes(mut bytes)) => match next(&mut bytes)? {
            Some((1, Wire::Bytes(text))) => {
                crate::json::parse(text).map(|document| document.value)?
            }
            _ => Value::Null,
        },
        (Kind::Message(name), Wire::Bytes(bytes)) => message(messages::of(name), bytes)?,
        _ => return Err("proto: wrong wireType".to_owned()),
    })
}

/// A moment; nothing is none.
fn time(kind: &Kind, mut bytes: &[u8]) -> Result<Value, String> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let (mut whole, mut nanos) = (0_i64, 0_i64);
    while let Some((number, wire)) = next(&mut bytes)? {
        match (number, wire) {
            (1, Wire::Number(number)) => whole = number.cast_signed(),
            (2, Wire::Number(number)) => nanos = number.cast_signed(),
            _ => {}
        }
    }
    let moment = i32::try_from(nanos)
        .ok()
        .and_then(|nanos| Timestamp::new(whole, nanos).ok());
    let moment = moment.ok_or("a time that no calendar has")?;
    Ok(match kind {
        Kind::MicroTime => json!(micros(moment)),
        _ => json!(seconds(moment)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u8::try_from(bytes.len()).unwrap();
        [&[number << 3 | 2, length][..], bytes].concat()
    }

    fn envelope(version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let head = [field(1, version.as_bytes()), field(2, kind.as_bytes())].concat();
        [MAGIC, &field(1, &head), &field(2, raw)].concat()
    }

    #[test]
    fn messages_become_trees() {
        let pair = [field(1, b"key"), field(2, b"value")].concat();
        let time = [&[1 << 3, 0x80, 0x92, 0xb8, 0xc3, 0x06][..]].concat();
        let meta = [
            field(1, b"name"),
            field(8, &time),
            field(11, &pair),
            field(14, b"f"),
        ]
        .concat();
        let raw = [
            field(1, &meta),
            field(2, &pair),
            field(3, &pair),
            vec![4 << 3, 1],
        ]
        .concat();
        let parsed = parse(&envelope("v1", "ConfigMap", &raw)).unwrap();
        assert_eq!(
            parsed,
            json!({"apiVersion": "v1", "kind": "ConfigMap", "immutable": true,
                "metadata": {"name": "name", "creationTimestamp": "2025-07-09T06:15:28Z",
                    "labels": {"key": "value"}, "finalizers": ["f"]},
                "data": {"key": "value"}, "binaryData": {"key": "dmFsdWU="}})
        );
    }

    #[test]
    fn broken_messages_are_refused() {
        let whole = envelope("v1", "ConfigMap", &field(1, &field(1, b"name")));
        assert!(parse(&whole).is_ok());
        for end in 0..whole.len() {
            // What is cut is refused, or it ends where a message could.
            let _ = parse(&whole[..end]);
        }
        assert!(parse(b"{}").is_err());
        assert!(parse(&envelope("v1", "Nonsense", b"")).is_err());
        assert!(parse(&[MAGIC, &[0x12, 0xff, 0xff, 0xff, 0xff, 0x0f]].concat()).is_err());
        assert!(parse(&[MAGIC, &[0xff; 11]].concat()).is_err());
    }
}
