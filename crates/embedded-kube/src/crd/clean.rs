//! The schema inside a definition, decoded as the typed struct that it is.

use serde_json::Value;

use crate::schema::formats::is_known;
use crate::schema::kind_of;
use crate::typed::Findings;

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

/// Cleans all schemas of a definition.
pub(crate) fn definition(value: &mut Value, found: &mut Findings) {
    let Some(Value::Array(versions)) = value.pointer_mut("/spec/versions") else {
        return;
    };
    for (index, version) in versions.iter_mut().enumerate() {
        if let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") {
            let place = format!("spec.versions[{index}].schema.openAPIV3Schema");
            clean(schema, &place, found);
        }
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

fn clean(schema: &mut Value, place: &str, found: &mut Findings) {
    let Value::Object(map) = schema else { return };
    let mut unknown = Vec::new();
    map.retain(|key, value| {
        let key = key.as_str();
        if PLAIN.contains(&key) || LISTS.contains(&key) || MAPS.contains(&key) {
            return !is_empty(value);
        }
        if POINTERS.contains(&key) || ONE.contains(&key) {
            return !value.is_null();
        }
        unknown.push(format!("{place}.{key}"));
        false
    });
    found.unknown.append(&mut unknown);
    for (key, value) in map.iter_mut() {
        let place = format!("{place}.{key}");
        if ONE.contains(&key.as_str()) {
            clean(value, &place, found);
        } else if LISTS.contains(&key.as_str()) {
            for (index, item) in value.as_array_mut().into_iter().flatten().enumerate() {
                clean(item, &format!("{place}[{index}]"), found);
            }
        } else if MAPS.contains(&key.as_str()) {
            for (name, item) in value.as_object_mut().into_iter().flatten() {
                clean(item, &format!("{place}.{name}"), found);
            }
        }
    }
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
    use serde_json::json;

    #[test]
    fn unknown_and_empty_fields_go() {
        let mut value = json!({"spec": {"versions": [{"schema": {"openAPIV3Schema": {
            "type": "object", "nope": 1, "description": "", "nullable": false,
            "properties": {"a": {"type": "string", "minLength": 0, "also": 2, "format": "odd"}}
        }}}]}});
        let mut found = Findings::default();
        definition(&mut value, &mut found);
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
    }
}
