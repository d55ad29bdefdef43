//! What a schema demands beyond types: unique list items and sound embedded resources.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Additional, ListKind, Schema};
use crate::meta;
use crate::names;
use crate::status::FieldError;
use crate::typed::{self, Findings};

fn child(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// The complaints about lists of kind set and map that have an item twice.
pub(crate) fn list_errors(value: &Value, schema: &Schema) -> Vec<FieldError> {
    let mut errors = Vec::new();
    lists(value, schema, "", &mut errors);
    errors
}

fn lists(value: &Value, schema: &Schema, path: &str, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if let Some(field) = schema.properties.get(key.as_str()) {
                    lists(value, field, &child(path, key), errors);
                } else if let Some(Additional::Schema(field)) = &schema.additional {
                    lists(value, field, &format!("{path}[{key}]"), errors);
                }
            }
        }
        Value::Array(items) => {
            match &schema.list {
                ListKind::Atomic => {}
                ListKind::Set => duplicates(items, items, path, errors),
                ListKind::Map(keys) => {
                    let strange = items.iter().position(|i| !i.is_null() && !i.is_object());
                    if let Some(index) = strange {
                        errors.push(FieldError::invalid(
                            format!("{path}[{index}]"),
                            items[index].clone(),
                            "must be an object for an array of list-type map",
                        ));
                    } else {
                        let ids: Vec<Value> = items.iter().map(|item| id_of(item, keys)).collect();
                        duplicates(&ids, &ids, path, errors);
                    }
                }
            }
            if let Some(item_schema) = &schema.items {
                for (index, item) in items.iter().enumerate() {
                    lists(item, item_schema, &format!("{path}[{index}]"), errors);
                }
            }
        }
        _ => {}
    }
}

fn id_of(item: &Value, keys: &[Box<str>]) -> Value {
    let mut id = Map::new();
    for key in keys {
        if let Some(value) = item.get(&**key) {
            id.insert(key.to_string(), value.clone());
        }
    }
    Value::Object(id)
}

/// One complaint per value that comes again, at its second place.
fn duplicates(ids: &[Value], shown: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (index, id) in ids.iter().enumerate() {
        let count = seen.entry(id.to_string()).or_default();
        *count += 1;
        if *count == 2 {
            errors.push(FieldError::duplicate(
                format!("{path}[{index}]"),
                shown[index].clone(),
            ));
        }
    }
}

/// Decodes the headers of embedded resources; the answer is the fields that they do not have.
pub(crate) fn coerce_embedded(value: &mut Value, schema: &Schema) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    coerce(value, schema, "", &mut unknown)?;
    Ok(unknown)
}

fn coerce(
    value: &mut Value,
    schema: &Schema,
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    match value {
        Value::Object(map) => {
            if schema.embedded {
                for key in ["apiVersion", "kind"] {
                    if map.get(key).is_some_and(|v| !v.is_string() && !v.is_null()) {
                        let place = child(path, key);
                        return Err(format!("{place}: Invalid value: must be a string"));
                    }
                }
                if let Some(metadata) = map.get_mut("metadata") {
                    let mut found = Findings::default();
                    typed::decode(metadata, &meta::OBJECT_META, &mut found)?;
                    let place = child(path, "metadata");
                    unknown.extend(found.unknown.iter().map(|field| child(&place, field)));
                }
            }
            for (key, value) in map.iter_mut() {
                if let Some(field) = schema.field(key) {
                    coerce(value, field, &child(path, key), unknown)?;
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = &schema.items else {
                return Ok(());
            };
            for (index, item) in items.iter_mut().enumerate() {
                coerce(item, schema, &format!("{path}[{index}]"), unknown)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The complaints about objects inside an object that claim to be resources.
pub(crate) fn embedded_errors(value: &Value, schema: &Schema) -> Vec<FieldError> {
    let mut errors = Vec::new();
    embedded(value, schema, "", &mut errors);
    errors
}

fn embedded(value: &Value, schema: &Schema, path: &str, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(map) => {
            if schema.embedded {
                embedded_resource(value, map, path, errors);
            }
            for (key, value) in map {
                if let Some(field) = schema.properties.get(key.as_str()) {
                    embedded(value, field, &child(path, key), errors);
                } else if let Some(Additional::Schema(field)) = &schema.additional {
                    embedded(value, field, &format!("{path}[{key}]"), errors);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = &schema.items else { return };
            for (index, item) in items.iter().enumerate() {
                embedded(item, schema, &format!("{path}[{index}]"), errors);
            }
        }
        _ => {}
    }
}

fn embedded_resource(
    value: &Value,
    map: &Map<String, Value>,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    for key in ["apiVersion", "kind"] {
        let place = child(path, key);
        match map.get(key) {
            None => errors.push(FieldError::required(place, "")),
            Some(Value::String(text)) if text.is_empty() => {
                errors.push(FieldError::invalid(place, "", "must not be empty"));
            }
            Some(Value::String(text)) if key == "kind" => {
                let complaints = names::dns1035_label(&text.to_lowercase());
                if !complaints.is_empty() {
                    let detail = format!(
                        "may have mixed case, but should otherwise match: {}",
                        complaints.join(",")
                    );
                    errors.push(FieldError::invalid(place, text.as_str(), detail));
                }
            }
            Some(Value::String(text)) if text.matches('/').count() > 1 => {
                let detail = format!("unexpected GroupVersion string: {text}");
                errors.push(FieldError::invalid(place, text.as_str(), detail));
            }
            Some(Value::String(_)) => {}
            Some(other) => {
                errors.push(FieldError::invalid(
                    place,
                    other.clone(),
                    "must be a string",
                ));
            }
        }
    }
    if let Some(metadata) = map.get("metadata") {
        let mut copy = metadata.clone();
        let place = child(path, "metadata");
        let decoded = typed::decode(&mut copy, &meta::OBJECT_META, &mut Findings::default());
        if let Err(message) = decoded {
            errors.push(FieldError::invalid(place, metadata.clone(), message));
            return;
        }
        let mut whole = json!({"metadata": copy});
        if meta::text(value, "name").is_empty() {
            // Something must stand here, or its lack would be an error.
            whole["metadata"]["name"] = json!("fakename");
        }
        let namespaced = !meta::text(value, "namespace").is_empty();
        for mut error in meta::validate(&whole, namespaced, names::path_segment) {
            error.field = child(path, &error.field);
            errors.push(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::compile;
    use super::*;

    #[test]
    fn a_key_comes_once() {
        let schema = compile(&json!({"properties": {"l": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"],
            "items": {"type": "object"}
        }, "s": {"type": "array", "x-kubernetes-list-type": "set"}}}));
        let value = json!({"l": [{"n": "a"}, {"n": "b"}, {"n": "a"}], "s": [1, 1, 1]});
        let texts: Vec<String> = list_errors(&value, &schema)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            texts,
            [
                "l[2]: Duplicate value: {\"n\":\"a\"}",
                "s[1]: Duplicate value: 1"
            ]
        );
    }

    #[test]
    fn an_embedded_resource_has_a_kind() {
        let schema = compile(&json!({"properties": {"r": {
            "type": "object", "x-kubernetes-embedded-resource": true
        }}}));
        let value = json!({"r": {"apiVersion": "v1", "metadata": {"labels": {"a b": "c"}}}});
        let texts: Vec<String> = embedded_errors(&value, &schema)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(texts[0], "r.kind: Required value");
        assert!(texts[1].starts_with("r.metadata.labels: Invalid value: \"a b\""));
    }
}
