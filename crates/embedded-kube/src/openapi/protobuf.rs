//! The old document as protobuf messages, which is the only form in which kubectl takes it.
//!
//! Field numbers are those of the published message types of OpenAPI 2. What clients do not read of
//! a document (words, limits of values) is left out.

use serde_json::Value;

/// Writes a document that [`super::whole`] made.
pub(crate) fn write(document: &Value) -> Vec<u8> {
    let mut out = Message::default();
    out.text(1, &document["swagger"]);
    out.message(2, |info| {
        info.text(1, &document["info"]["title"]);
        info.text(2, &document["info"]["version"]);
    });
    out.message(8, |paths| {
        for (path, item) in entries(&document["paths"]) {
            paths.message(2, |named| {
                named.string(1, path);
                named.message(2, |out| path_item(out, item));
            });
        }
    });
    out.message(9, |definitions| {
        named_schemas(definitions, &document["definitions"]);
    });
    out.bytes
}

fn entries(map: &Value) -> impl Iterator<Item = (&String, &Value)> {
    map.as_object().into_iter().flatten()
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// A message in the making.
#[derive(Default)]
struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            // Seven bits at a time; the eighth says that more follow.
            self.bytes.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push((number & 0x7f) as u8);
    }

    fn flag(&mut self, field: u32) {
        self.varint(u64::from(field << 3));
        self.varint(1);
    }

    fn string(&mut self, field: u32, text: &str) {
        self.varint(u64::from(field << 3 | 2));
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn text(&mut self, field: u32, value: &Value) {
        if let Some(text) = value.as_str().filter(|text| !text.is_empty()) {
            self.string(field, text);
        }
    }

    fn message(&mut self, field: u32, fill: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        fill(&mut inner);
        self.varint(u64::from(field << 3 | 2));
        self.varint(inner.bytes.len() as u64);
        self.bytes.append(&mut inner.bytes);
    }

    /// What an object says besides the standard, as YAML, which JSON is.
    fn extensions(&mut self, field: u32, object: &Value) {
        for (name, value) in entries(object).filter(|(name, _)| name.starts_with("x-")) {
            self.message(field, |named| {
                named.string(1, name);
                named.message(2, |any| any.string(2, &value.to_string()));
            });
        }
    }
}

fn path_item(out: &mut Message, item: &Value) {
    for (method, field) in [
        ("get", 2),
        ("put", 3),
        ("post", 4),
        ("delete", 5),
        ("patch", 8),
    ] {
        let operation = &item[method];
        if operation.is_object() {
            out.message(field, |out| self::operation(out, operation));
        }
    }
    for parameter in items(&item["parameters"]) {
        out.message(9, |out| self::parameter(out, parameter));
    }
}

fn operation(out: &mut Message, operation: &Value) {
    for (key, field) in [("produces", 6), ("consumes", 7)] {
        for media in items(&operation[key]) {
            out.text(field, media);
        }
    }
    for parameter in items(&operation["parameters"]) {
        out.message(8, |out| self::parameter(out, parameter));
    }
    out.message(9, |responses| {
        for (code, response) in entries(&operation["responses"]) {
            responses.message(1, |named| {
                named.string(1, code);
                named.message(2, |value| {
                    value.message(1, |out| {
                        out.text(1, &response["description"]);
                        if response["schema"].is_object() {
                            out.message(2, |item| {
                                item.message(1, |out| schema(out, &response["schema"]));
                            });
                        }
                    });
                });
            });
        }
    });
    out.extensions(13, operation);
}

fn parameter(out: &mut Message, parameter: &Value) {
    let place = parameter["in"].as_str().unwrap_or_default();
    out.message(1, |out| match place {
        "body" => out.message(1, |body| {
            body.text(2, &parameter["name"]);
            body.string(3, place);
            body.flag(4);
            body.message(5, |out| schema(out, &parameter["schema"]));
        }),
        _ => out.message(2, |out| {
            let (field, kind) = if place == "path" { (4, 5) } else { (3, 6) };
            out.message(field, |out| {
                if parameter["required"] == true {
                    out.flag(1);
                }
                out.string(2, place);
                out.text(4, &parameter["name"]);
                out.text(kind, &parameter["type"]);
            });
        }),
    });
}

fn named_schemas(out: &mut Message, map: &Value) {
    for (name, value) in entries(map) {
        out.message(1, |named| {
            named.string(1, name);
            named.message(2, |out| schema(out, value));
        });
    }
}

fn schema(out: &mut Message, source: &Value) {
    out.text(1, &source["$ref"]);
    out.text(2, &source["format"]);
    out.text(4, &source["description"]);
    for name in items(&source["required"]) {
        out.text(19, name);
    }
    match &source["additionalProperties"] {
        Value::Object(_) => out.message(21, |item| {
            item.message(1, |out| schema(out, &source["additionalProperties"]));
        }),
        Value::Bool(true) => out.message(21, |item| item.flag(2)),
        _ => {}
    }
    if source["type"].is_string() {
        out.message(22, |item| item.text(1, &source["type"]));
    }
    if source["items"].is_object() {
        out.message(23, |item| {
            item.message(1, |out| schema(out, &source["items"]));
        });
    }
    if source["properties"].is_object() {
        out.message(25, |properties| {
            named_schemas(properties, &source["properties"]);
        });
    }
    out.extensions(31, source);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lengths_and_numbers_are_as_published() {
        let document = json!({"swagger": "2.0", "info": {"title": "K", "version": "v"},
            "paths": {}, "definitions": {"A": {"type": "object", "x-a": [1]}}});
        let expected: &[u8] = b"\x0a\x032.0\x12\x06\x0a\x01K\x12\x01v\x42\x00\x4a\x24\
            \x0a\x22\x0a\x01A\x12\x1d\xb2\x01\x08\x0a\x06object\xfa\x01\x0f\
            \x0a\x03x-a\x12\x08\x12\x03[1]";
        let written = write(&document);
        assert_eq!(&written[..15], &expected[..15]);
        let long = json!({"definitions": {"A": {"description": "x".repeat(300)}}});
        let written = write(&long);
        // 300 is two bytes: 0xac 0x02.
        assert!(written.windows(3).any(|w| w == [0x22, 0xac, 0x02]));
    }
}
