//! The schema inside a definition, decoded as the typed struct that it is.

use serde_json::{Value, json};

use crate::json;
use crate::schema::formats::is_known;
use crate::schema::kind_of;
use crate::typed::{self, Findings};

/// Fields that hold one schema.
const ONE: [&str; 4] = ["not", "items", "additionalProperties", "additionalItems"];
/// Fields that hold a list of schemas.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Fields that hold schemas by name.
const MAPS: [&str; 4] = [
    "properties",
    "patternProperties",
    "definitions",
    "dependencies",
];
/// Fields that are left out if they are empty.
const PLAIN: [&str; 18] = [
    "id",
    "$schema",
    "description",
    "type",
    "format",
    "title",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "pattern",
    "uniqueItems",
    "enum",
    "required",
    "nullable",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
    "externalDocs",
];
/// Fields that are kept whatever they hold, unless it is null.
const POINTERS: [&str; 15] = [
    "$ref",
    "default",
    "example",
    "maximum",
    "minimum",
    "maxLength",
    "minLength",
    "maxItems",
    "minItems",
    "multipleOf",
    "maxProperties",
    "minProperties",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
];

/// Cleans all schemas of a definition; an error says which field has the wrong type.
pub(crate) fn definition(value: &mut Value, found: &mut Findings) -> Result<(), String> {
    let Some(Value::Array(versions)) = value.pointer_mut("/spec/versions") else {
        return Ok(());
    };
    for (index, version) in versions.iter_mut().enumerate() {
        if let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") {
            json::whole_numbers(schema);
            let place = format!("spec.versions[{index}].schema.openAPIV3Schema");
            clean(schema, &place, found)?;
        }
    }
    Ok(())
}

/// Whether a field can hold a value that is not null.
fn fits(key: &str, value: &Value) -> bool {
    let texts = |value: &Value| {
        let list = value.as_array();
        list.is_some_and(|list| list.iter().all(|item| item.is_string() || item.is_null()))
    };
    match key {
        "id"
        | "$schema"
        | "$ref"
        | "description"
        | "type"
        | "format"
        | "title"
        | "pattern"
        | "x-kubernetes-list-type"
        | "x-kubernetes-map-type" => value.is_string(),
        "exclusiveMaximum"
        | "exclusiveMinimum"
        | "uniqueItems"
        | "nullable"
        | "x-kubernetes-embedded-resource"
        | "x-kubernetes-int-or-string"
        | "x-kubernetes-preserve-unknown-fields" => value.is_boolean(),
        "maximum" | "minimum" | "multipleOf" => value.is_number(),
        "maxLength" | "minLength" | "maxItems" | "minItems" | "maxProperties" | "minProperties" => {
            value.is_i64()
        }
        "required" | "x-kubernetes-list-map-keys" => texts(value),
        "enum" | "allOf" | "anyOf" | "oneOf" | "x-kubernetes-validations" => value.is_array(),
        "properties" | "patternProperties" | "definitions" | "dependencies" | "externalDocs"
        | "not" => value.is_object(),
        "additionalProperties" | "additionalItems" => value.is_object() || value.is_boolean(),
        // Items that are no schema and no list of them are taken, and mean nothing.
        _ => true,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Number(_) => false,
    }
}

fn clean(schema: &mut Value, place: &str, found: &mut Findings) -> Result<(), String> {
    let kind = "v1.JSONSchemaProps";
    if schema.is_null() {
        *schema = json!({});
    }
    let Value::Object(map) = schema else {
        return Err(typed::mismatch(schema, "JSONSchemaProps", place, kind));
    };
    let mut unknown = Vec::new();
    let mut wrong = None;
    map.retain(|key, value| {
        let key = key.as_str();
        if !value.is_null() && !fits(key, value) {
            wrong.get_or_insert(typed::mismatch(
                value,
                "JSONSchemaProps",
                key,
                "another type",
            ));
        }
        if PLAIN.contains(&key) || LISTS.contains(&key) || MAPS.contains(&key) {
            return !is_empty(value);
        }
        if POINTERS.contains(&key) || ONE.contains(&key) {
            return !value.is_null();
        }
        unknown.push(format!("{place}.{key}"));
        false
    });
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    found.unknown.append(&mut unknown);
    for (key, value) in map.iter_mut() {
        let place = format!("{place}.{key}");
        let key = key.as_str();
        match value {
            // Limits are floats, and as exact as these.
            Value::Number(number) if matches!(key, "maximum" | "minimum" | "multipleOf") => {
                *value = json!(number.as_f64());
                json::whole_numbers(value);
            }
            Value::Object(docs) if key == "externalDocs" => {
                let strange = docs
                    .keys()
                    .filter(|key| !matches!(key.as_str(), "description" | "url"));
                let strange = strange.map(|key| format!("{place}.{key}"));
                found.unknown.extend(strange);
                docs.retain(|key, _| matches!(key.as_str(), "description" | "url"));
            }
            Value::Array(rules) if key == "x-kubernetes-validations" => {
                for (index, rule) in rules.iter_mut().enumerate() {
                    super::rules::clean(rule, &format!("{place}[{index}]"), found)?;
                }
            }
            Value::Array(items) if LISTS.contains(&key) || key == "items" => {
                for (index, item) in items.iter_mut().enumerate() {
                    clean(item, &format!("{place}[{index}]"), found)?;
                }
            }
            Value::Object(parts) if MAPS.contains(&key) => {
                for (name, part) in parts {
                    let texts = key == "dependencies" && part.is_array();
                    if !texts {
                        clean(part, &format!("{place}.{name}"), found)?;
                    }
                }
            }
            Value::Object(_) if ONE.contains(&key) => clean(value, &place, found)?,
            // What is neither a schema nor a list of them is none.
            _ if key == "items" => *value = Value::Null,
            _ => {}
        }
    }
    Ok(())
}

/// The formats in a definition that mean nothing, in the order of its schemas.
pub(crate) fn unknown_formats(value: &Value) -> Vec<String> {
    let mut formats = Vec::new();
    for version in value["spec"]["versions"].as_array().into_iter().flatten() {
        collect(&version["schema"]["openAPIV3Schema"], &mut formats);
    }
    formats
}

fn collect(schema: &Value, formats: &mut Vec<String>) {
    let format = schema["format"].as_str().unwrap_or_default();
    if !format.is_empty() && !is_known(format, kind_of(schema)) {
        formats.push(format.to_owned());
    }
    for key in ONE {
        if schema[key].is_object() {
            collect(&schema[key], formats);
        }
    }
    for key in LISTS {
        schema[key]
            .as_array()
            .into_iter()
            .flatten()
            .for_each(|item| collect(item, formats));
    }
    for key in MAPS {
        let map = schema[key].as_object().into_iter().flatten();
        map.for_each(|(_, item)| collect(item, formats));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_empty_fields_go() {
        let mut value = json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": {
            "type": "object", "nope": 1, "description": "", "nullable": false,
            "properties": {"a": {"type": "string", "minLength": 0, "also": 2, "format": "odd"}}
        }}}]}});
        let mut found = Findings::default();
        definition(&mut value, &mut found).unwrap();
        let schema = &value["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        assert_eq!(
            *schema,
            json!({"type": "object",
                   "properties": {"a": {"type": "string", "minLength": 0, "format": "odd"}}})
        );
        assert_eq!(
            found.unknown,
            [
                "spec.versions[0].schema.openAPIV3Schema.nope",
                "spec.versions[0].schema.openAPIV3Schema.properties.a.also"
            ]
        );
        assert_eq!(unknown_formats(&value), ["odd"]);
        for wrong in [
            json!(5),
            json!({"type": 5}),
            json!({"properties": {"a": []}}),
        ] {
            let schema = json!({"openAPIV3Schema": wrong});
            let mut value = json!({"spec": {"versions": [{"schema": schema}]}});
            assert!(definition(&mut value, &mut Findings::default()).is_err());
        }
    }
}
