//! Which schemas are structural, and so can prune and default.

use regex::Regex;
use serde_json::{Value, json};

use crate::builtin::string_list;
use crate::schema;
use crate::status::FieldError;

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Where in a schema one is: that decides how a missing type is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The complaints about a schema.
pub(super) fn validate_schema(source: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if source.is_null() {
        return errors;
    }
    structure(source, path, Level::Root, &mut errors);
    complete(source, source, path, &mut errors);
    errors.sort_by_key(ToString::to_string);
    unwanted(source, path, &mut errors);
    errors
}

/// What is refused whatever the structure.
fn unwanted(source: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let child = |key: &str| format!("{path}.{key}");
    for key in [
        "$ref",
        "definitions",
        "dependencies",
        "patternProperties",
        "additionalItems",
        "id",
    ] {
        if !source[key].is_null() {
            let detail = format!("{key} is not supported");
            errors.push(FieldError::forbidden(child(key), detail));
        }
    }
    if source["uniqueItems"] == true {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes \
                      quadratic";
        errors.push(FieldError::forbidden(child("uniqueItems"), detail));
    }
    let properties = source["properties"].as_object();
    if !source["additionalProperties"].is_null()
        && source["additionalProperties"] != true
        && properties.is_some_and(|properties| !properties.is_empty())
    {
        let detail = "additionalProperties and properties are mutual exclusive";
        errors.push(FieldError::forbidden(child("additionalProperties"), detail));
    }
    for (key, property) in properties.into_iter().flatten() {
        unwanted(property, &format!("{path}.properties[{key}]"), errors);
    }
    for key in ["items", "additionalProperties"] {
        if source[key].is_object() {
            unwanted(&source[key], &child(key), errors);
        }
    }
}

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

fn structure(source: &Value, path: &str, level: Level, errors: &mut Vec<FieldError>) {
    let kind = text(source, "type");
    let flag = |key: &str| source[key] == true;
    let child = |key: &str| format!("{path}.{key}");
    if !kind.is_empty() && !TYPES.contains(&kind) {
        errors.push(FieldError::not_supported(child("type"), kind, &TYPES));
    }
    if kind == "array" && source["items"].is_null() {
        errors.push(FieldError::required(child("items"), "must be specified"));
    }
    let embedded = flag("x-kubernetes-embedded-resource");
    let typeless =
        flag("x-kubernetes-int-or-string") || flag("x-kubernetes-preserve-unknown-fields");
    if embedded && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(if kind.is_empty() {
            FieldError::required(child("type"), detail)
        } else {
            FieldError::invalid(child("type"), kind, detail)
        });
    } else if kind.is_empty() && !typeless {
        let place = match level {
            Level::Root => "at the root",
            Level::Item => "for specified array items",
            Level::Field => "for specified object fields",
        };
        errors.push(FieldError::required(
            child("type"),
            format!("must not be empty {place}"),
        ));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.push(FieldError::invalid(
            child("type"),
            kind,
            "must be object at the root",
        ));
    }
    let properties = source["properties"].as_object();
    if !source["additionalProperties"].is_null() {
        if level == Level::Root {
            let detail = "must not be used at the root";
            errors.push(FieldError::forbidden(child("additionalProperties"), detail));
        }
        if source["additionalProperties"].is_object() {
            let below = child("additionalProperties");
            structure(
                &source["additionalProperties"],
                &below,
                Level::Field,
                errors,
            );
        }
    }
    if embedded
        && !flag("x-kubernetes-preserve-unknown-fields")
        && properties.is_none_or(serde_json::Map::is_empty)
    {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(child("properties"), detail));
    }
    for (key, property) in properties.into_iter().flatten() {
        let place = format!("{path}.properties[{key}]");
        if level == Level::Root && key == "metadata" {
            metadata(property, &place, errors);
            continue;
        }
        structure(property, &place, Level::Field, errors);
    }
    if source["items"].is_object() {
        structure(&source["items"], &child("items"), Level::Item, errors);
    }
    list_and_map(source, path, kind, errors);
    if source["x-kubernetes-preserve-unknown-fields"] == false {
        let place = child("x-kubernetes-preserve-unknown-fields");
        errors.push(FieldError::invalid(
            place,
            false,
            "must be true or undefined",
        ));
    }
    pattern(source, path, errors);
    if !source["default"].is_null() {
        default_value(source, path, errors);
    }
}

fn metadata(property: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if text(property, "type") != "object" {
        let place = format!("{path}.type");
        errors.push(FieldError::invalid(
            place,
            text(property, "type"),
            "must be object",
        ));
    }
    let named = |key: &String| matches!(key.as_str(), "name" | "generateName");
    let fields = property["properties"].as_object();
    if fields.is_some_and(|fields| !fields.keys().all(named)) {
        let detail = "must not specify anything other than name and generateName, but metadata is \
                      implicitly specified";
        errors.push(FieldError::forbidden(path, detail));
    }
}

fn pattern(source: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let pattern = text(source, "pattern");
    if !pattern.is_empty()
        && let Err(error) = Regex::new(pattern)
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(FieldError::invalid(
            format!("{path}.pattern"),
            pattern,
            detail,
        ));
    }
}

fn default_value(source: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let compiled = schema::compile(source);
    let place = format!("{path}.default");
    let mut copy = source["default"].clone();
    let unknown = schema::prune(&mut copy, &compiled);
    if !unknown.is_empty() {
        errors.push(FieldError::invalid(
            &*place,
            source["default"].clone(),
            "must not have unknown fields",
        ));
    }
    for error in schema::validate(&source["default"], None, &compiled, &place) {
        errors.push(error);
    }
}

fn list_and_map(source: &Value, path: &str, kind: &str, errors: &mut Vec<FieldError>) {
    let child = |key: &str| format!("{path}.{key}");
    let list = text(source, "x-kubernetes-list-type");
    let keys = string_list(&source["x-kubernetes-list-map-keys"]);
    let map = text(source, "x-kubernetes-map-type");
    let mut wants = |what: &str, of: &str| {
        let detail = format!("must be {what} if {of} is specified");
        errors.push(if kind.is_empty() {
            FieldError::required(child("type"), detail)
        } else {
            FieldError::invalid(child("type"), kind, detail)
        });
    };
    if !map.is_empty() && kind != "object" {
        wants("object", "x-kubernetes-map-type");
    }
    if !list.is_empty() && kind != "array" {
        wants("array", "x-kubernetes-list-type");
    }
    if !map.is_empty() && !matches!(map, "atomic" | "granular") {
        let place = child("x-kubernetes-map-type");
        errors.push(FieldError::not_supported(
            place,
            map,
            &["atomic", "granular"],
        ));
    }
    if !list.is_empty() && !matches!(list, "atomic" | "set" | "map") {
        let place = child("x-kubernetes-list-type");
        errors.push(FieldError::not_supported(
            place,
            list,
            &["atomic", "set", "map"],
        ));
    }
    let items = &source["items"];
    if list == "set"
        && text(items, "type") == "object"
        && items["x-kubernetes-map-type"] != "atomic"
    {
        errors.push(FieldError::invalid(
            child("items.x-kubernetes-map-type"),
            items["x-kubernetes-list-type"].clone(),
            "must be atomic as item of a list with x-kubernetes-list-type=set",
        ));
    }
    if !keys.is_empty() && list != "map" {
        let (place, detail) = (
            child("x-kubernetes-list-type"),
            "must be map if x-kubernetes-list-map-keys is non-empty",
        );
        errors.push(if list.is_empty() {
            FieldError::required(place, detail)
        } else {
            FieldError::invalid(place, list, detail)
        });
    }
    if list != "map" {
        return;
    }
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(
            child("x-kubernetes-list-map-keys"),
            detail,
        ));
    }
    let item_kind = text(items, "type");
    if !items.is_null() && item_kind != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid(child("items.type"), item_kind, detail));
        return;
    }
    let required = string_list(&items["required"]);
    for key in &keys {
        let property = &items["properties"][key.as_str()];
        let place = format!("{path}.items.properties[{key}]");
        if property.is_null() {
            errors.push(FieldError::invalid(
                child("x-kubernetes-list-map-keys"),
                json!(keys),
                "entries must all be names of item properties",
            ));
            continue;
        }
        if matches!(text(property, "type"), "array" | "object") {
            let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            errors.push(FieldError::invalid(
                format!("{place}.type"),
                item_kind,
                detail,
            ));
        }
        if !required.contains(key) && property["default"].is_null() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default \
                          or be a required property";
            errors.push(FieldError::required(format!("{place}.default"), detail));
        }
    }
}

/// Inside `allOf`, `anyOf`, `oneOf` and `not` only what is specified outside may be named.
fn complete(source: &Value, outer: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for junctor in ["allOf", "anyOf", "oneOf"] {
        for (index, part) in source[junctor].as_array().into_iter().flatten().enumerate() {
            // The pattern that int-or-string fields have for other tools.
            let marked = outer["x-kubernetes-int-or-string"] == true;
            if !marked {
                nested(
                    part,
                    outer,
                    &format!("{path}.{junctor}[{index}]"),
                    path,
                    errors,
                );
            }
        }
    }
    if source["not"].is_object() {
        nested(&source["not"], outer, &format!("{path}.not"), path, errors);
    }
    for (key, property) in source["properties"].as_object().into_iter().flatten() {
        complete(
            property,
            property,
            &format!("{path}.properties[{key}]"),
            errors,
        );
    }
    for key in ["items", "additionalProperties"] {
        if source[key].is_object() {
            complete(&source[key], &source[key], &format!("{path}.{key}"), errors);
        }
    }
}

fn nested(part: &Value, outer: &Value, path: &str, outer_path: &str, errors: &mut Vec<FieldError>) {
    let child = |key: &str| format!("{path}.{key}");
    for key in [
        "type",
        "additionalProperties",
        "default",
        "title",
        "description",
        "nullable",
    ] {
        let what = if key == "type" { "empty" } else { "undefined" };
        if !part[key].is_null() && part[key] != "" && part[key] != false {
            let detail = format!("must be {what} to be structural");
            errors.push(FieldError::forbidden(child(key), detail));
        }
    }
    pattern(part, path, errors);
    for (key, property) in part["properties"].as_object().into_iter().flatten() {
        let known = &outer["properties"][key.as_str()];
        let place = format!("{outer_path}.properties[{key}]");
        if known.is_null() && outer["additionalProperties"].is_null() {
            let detail = format!("because it is defined in {path}.properties[{key}]");
            errors.push(FieldError::required(place, detail));
        } else {
            nested(
                property,
                known,
                &format!("{path}.properties[{key}]"),
                &place,
                errors,
            );
        }
    }
    if part["items"].is_object() {
        let place = format!("{outer_path}.items");
        nested(
            &part["items"],
            &outer["items"],
            &child("items"),
            &place,
            errors,
        );
    }
    for junctor in ["allOf", "anyOf", "oneOf"] {
        for (index, inner) in part[junctor].as_array().into_iter().flatten().enumerate() {
            nested(
                inner,
                outer,
                &format!("{path}.{junctor}[{index}]"),
                outer_path,
                errors,
            );
        }
    }
    if part["not"].is_object() {
        nested(&part["not"], outer, &child("not"), outer_path, errors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(schema: Value) -> Vec<String> {
        validate_schema(&schema, "s")
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn schemas_are_structural() {
        assert!(
            texts(json!({"type": "object", "properties": {
                "metadata": {"type": "object"},
                "p": {"x-kubernetes-int-or-string": true,
                      "anyOf": [{"type": "integer"}, {"type": "string"}]}
            }}))
            .is_empty()
        );
        assert_eq!(
            texts(json!({"type": "object", "properties": {"a": {}}})),
            ["s.properties[a].type: Required value: must not be empty for specified object fields"]
        );
        assert_eq!(
            texts(json!({"type": "object", "anyOf": [{"properties": {"b": {}}}]})),
            ["s.properties[b]: Required value: because it is defined in s.anyOf[0].properties[b]"]
        );
        assert_eq!(
            texts(json!({"type": "object", "properties": {"l": {"type": "array"}}})),
            ["s.properties[l].items: Required value: must be specified"]
        );
    }

    #[test]
    fn list_keys_are_required_or_have_a_default() {
        let list = |required: Value| {
            json!({"type": "object", "properties": {"l": {
                "type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "required": required,
                          "properties": {"k": {"type": "string"}}}
            }}})
        };
        assert!(texts(list(json!(["k"]))).is_empty());
        assert_eq!(texts(list(json!([]))).len(), 1);
    }
}
