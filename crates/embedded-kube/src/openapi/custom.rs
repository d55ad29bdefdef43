//! Models of custom resources, from the schemas of their definitions.

use serde_json::{Map, Value, json};

use super::{Dialect, kinds, own_kind};
use crate::resource::Resource;

/// The model of one version of a definition.
pub(super) fn schema(dialect: Dialect, resource: &Resource, spec: &Value) -> Value {
    let versions = spec["versions"].as_array().into_iter().flatten();
    let version = versions
        .into_iter()
        .find(|version| version["name"] == *resource.version);
    let source = version.map_or(&Value::Null, |v| &v["schema"]["openAPIV3Schema"]);
    let free = spec["preserveUnknownFields"] == true
        || source["x-kubernetes-preserve-unknown-fields"] == true;
    let mut schema = if source.is_null() || (dialect == Dialect::V2 && free) {
        // Clients take a field that is not named for one that is not allowed.
        json!({"type": "object"})
    } else {
        let mut schema = clean(source, dialect);
        if !schema["properties"].is_object() {
            schema["properties"] = json!({});
        }
        schema["properties"]["apiVersion"] = json!({"type": "string"});
        schema["properties"]["kind"] = json!({"type": "string"});
        schema["properties"]["metadata"] = kinds::metadata(dialect);
        schema
    };
    schema["x-kubernetes-group-version-kind"] = json!([own_kind(resource, &resource.kind)]);
    let selectable: Vec<Value> = resource
        .custom()
        .into_iter()
        .flat_map(|custom| custom.selectable.iter())
        .map(|path| json!({"fieldPath": path}))
        .collect();
    if !selectable.is_empty() && dialect == Dialect::V3 {
        schema["x-kubernetes-selectable-fields"] = selectable.into();
    }
    schema
}

/// What of a schema is told.
const TOLD: [&str; 33] = [
    "description",
    "type",
    "title",
    "default",
    "nullable",
    "format",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "enum",
    "maxProperties",
    "minProperties",
    "required",
    "allOf",
    "oneOf",
    "anyOf",
    "not",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-validations",
    "additionalProperties",
];

fn clean(source: &Value, dialect: Dialect) -> Value {
    let old = dialect == Dialect::V2;
    let flag = |key: &str| source[key] == true;
    let free = flag("x-kubernetes-preserve-unknown-fields");
    let nullable = flag("nullable");
    let hides = old && (nullable || free);
    let mut schema = Map::new();
    for key in TOLD {
        let Some(value) = source.get(key) else {
            continue;
        };
        let told = match key {
            "allOf" | "oneOf" | "anyOf" | "not" | "default" | "nullable" => !old,
            "type" => !(old && nullable),
            "additionalProperties" => false,
            _ => *value != Value::Bool(false),
        };
        if told {
            schema.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(properties) = source["properties"].as_object().filter(|_| !hides) {
        let properties: Map<String, Value> = properties
            .iter()
            .map(|(name, field)| (name.clone(), clean(field, dialect)))
            .collect();
        if old {
            drop_nullable(&mut schema, source);
        }
        schema.insert("properties".to_owned(), properties.into());
    }
    match &source["additionalProperties"] {
        Value::Null => {}
        Value::Bool(allowed) => {
            schema.insert("additionalProperties".to_owned(), json!(allowed));
        }
        inner => {
            schema.insert("additionalProperties".to_owned(), clean(inner, dialect));
        }
    }
    if source["items"].is_object() && !hides {
        schema.insert("items".to_owned(), clean(&source["items"], dialect));
    }
    let mut schema = Value::Object(schema);
    if old {
        let untyped = schema["type"] == "array" && schema["items"].is_null();
        if (untyped || (free && schema["type"] == "object"))
            && let Some(map) = schema.as_object_mut()
        {
            map.remove("type");
        }
    }
    if flag("x-kubernetes-int-or-string") && !old {
        either_type(&mut schema);
    }
    if flag("x-kubernetes-embedded-resource") && !(old && free) {
        embed(&mut schema, dialect);
    }
    schema
}

/// In the old version a field that can be null cannot be required.
fn drop_nullable(schema: &mut Map<String, Value>, source: &Value) {
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| {
            let name = name.as_str().unwrap_or_default();
            source["properties"][name]["nullable"] != true
        });
        if required.is_empty() {
            schema.remove("required");
        }
    }
}

/// A whole number or a text, in so many words.
fn either_type(schema: &mut Value) {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let starts = |list: &Value| {
        let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
        list.len() >= 2 && list[0]["type"] == "integer" && list[1]["type"] == "string"
    };
    if starts(&schema["anyOf"]) || starts(&schema["allOf"][0]["anyOf"]) {
        return;
    }
    if schema["anyOf"].is_null() {
        schema["anyOf"] = either;
        return;
    }
    let mut all = vec![json!({"anyOf": either})];
    all.extend(schema["allOf"].as_array().cloned().unwrap_or_default());
    schema["allOf"] = all.into();
}

/// An object within an object says what it is, too.
fn embed(schema: &mut Value, dialect: Dialect) {
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    schema["properties"]["apiVersion"] = json!({"type": "string"});
    schema["properties"]["kind"] = json!({"type": "string"});
    schema["properties"]["metadata"] = kinds::metadata(dialect);
    let mut required = schema["required"].as_array().cloned().unwrap_or_default();
    for key in ["kind", "apiVersion"] {
        if !required.contains(&json!(key)) {
            required.push(json!(key));
        }
    }
    schema["required"] = required.into();
}
