//! What is refused in a schema whatever its structure.

use serde_json::{Value, json};

use crate::builtin::string_list;
use crate::status::FieldError;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// What holds for a part of a schema because of where it is.
#[derive(Clone, Copy)]
struct Place<'a> {
    root: bool,
    /// Whether it is inside of `metadata`, `kind` or `apiVersion` of a resource.
    in_header: bool,
    /// Why there may be no default here.
    no_default: Option<&'a str>,
    /// Whether expressions are looked at.
    ruled: bool,
    /// The part around that cannot be compared with what was there before.
    incomparable: Option<&'a str>,
}

/// Adds the complaints about a schema.
pub(super) fn rules(source: &Value, path: &str, ruled: bool, errors: &mut Vec<FieldError>) {
    let place = Place {
        root: true,
        in_header: false,
        no_default: None,
        ruled,
        incomparable: None,
    };
    let mut found = Found::default();
    walk(source, path, place, &mut found);
    errors.extend(found.schema);
    errors.extend(found.expressions);
}

/// The complaints about schemas, and those about the expressions in them.
#[derive(Default)]
struct Found {
    schema: Vec<FieldError>,
    expressions: Vec<FieldError>,
}

fn walk(source: &Value, path: &str, place: Place<'_>, found: &mut Found) {
    let child = |key: &str| format!("{path}.{key}");
    let before = found.schema.len();
    let errors = &mut found.schema;
    unwanted(source, path, place, errors);
    if source["uniqueItems"] == true {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes \
                      quadratic";
        errors.push(FieldError::forbidden(child("uniqueItems"), detail));
    }
    let properties = source["properties"].as_object();
    let additional = &source["additionalProperties"];
    if !additional.is_null()
        && *additional != true
        && properties.is_some_and(|properties| !properties.is_empty())
    {
        let detail = "additionalProperties and properties are mutual exclusive";
        errors.push(FieldError::forbidden(child("additionalProperties"), detail));
    }
    let inner = Place {
        root: false,
        ..place
    };
    if additional.is_object() {
        let why = "inside additionalProperties applying to object metadata";
        let no_default = if place.in_header {
            Some(why)
        } else {
            place.no_default
        };
        let inner = Place {
            no_default,
            ..inner
        };
        walk(additional, &child("additionalProperties"), inner, found);
    }
    let resource = place.root || source["x-kubernetes-embedded-resource"] == true;
    for (key, property) in properties.into_iter().flatten() {
        let header = resource && matches!(key.as_str(), "metadata" | "apiVersion" | "kind");
        let why = format!("in top-level {key}");
        let inner = Place {
            root: false,
            in_header: place.in_header || header,
            no_default: if header && place.root {
                Some(&why)
            } else {
                place.no_default
            },
            ..place
        };
        walk(property, &format!("{path}.properties[{key}]"), inner, found);
    }
    let apart = Place {
        ruled: false,
        ..inner
    };
    if source["not"].is_object() {
        walk(&source["not"], &child("not"), apart, found);
    }
    for junctor in ["allOf", "oneOf", "anyOf", "items"] {
        for (index, part) in source[junctor].as_array().into_iter().flatten().enumerate() {
            walk(part, &format!("{path}.{junctor}[{index}]"), apart, found);
        }
    }
    for key in ["definitions", "dependencies"] {
        for (name, part) in source[key].as_object().into_iter().flatten() {
            if part.is_object() {
                walk(part, &format!("{path}.{key}[{name}]"), apart, found);
            }
        }
    }
    if source["items"].is_object() {
        let keyed = source["x-kubernetes-list-type"] == "map";
        let inner = Place {
            incomparable: if keyed {
                inner.incomparable
            } else {
                Some(path)
            },
            ..inner
        };
        walk(&source["items"], &child("items"), inner, found);
    }
    let errors = &mut found.schema;
    let preserve = "x-kubernetes-preserve-unknown-fields";
    if source[preserve] == false {
        let detail = "must be true or undefined";
        errors.push(FieldError::invalid(child(preserve), false, detail));
    }
    list_and_map(source, path, errors);
    super::rules::written(source, path, errors);
    // An expression is looked at if nothing else is wrong here or below.
    if place.ruled && found.schema.len() == before {
        let resource = place.root || source["x-kubernetes-embedded-resource"] == true;
        let errors = &mut found.expressions;
        super::rules::compiled(source, path, resource, place.incomparable, errors);
    }
}

fn unwanted(source: &Value, path: &str, place: Place<'_>, errors: &mut Vec<FieldError>) {
    let child = |key: &str| format!("{path}.{key}");
    let kind = text(source, "type");
    if !kind.is_empty() && !TYPES.contains(&kind) {
        errors.push(FieldError::not_supported(child("type"), kind, &TYPES));
    }
    if let Some(why) = place.no_default
        && !source["default"].is_null()
    {
        let detail = format!("must not be set {why}");
        errors.push(FieldError::forbidden(child("default"), detail));
    }
    let unsupported = [
        "id",
        "additionalItems",
        "patternProperties",
        "definitions",
        "dependencies",
        "$ref",
    ];
    for key in unsupported {
        if !source[key].is_null() {
            let detail = format!("{key} is not supported");
            errors.push(FieldError::forbidden(child(key), detail));
        }
    }
    if kind == "null" {
        let detail = "type cannot be set to null, use nullable as an alternative";
        errors.push(FieldError::forbidden(child("type"), detail));
    }
    if source["items"]
        .as_array()
        .is_some_and(|items| !items.is_empty())
    {
        let detail = "items must be a schema object and not an array";
        errors.push(FieldError::forbidden(child("items"), detail));
    }
    let embedded = "x-kubernetes-embedded-resource";
    if place.in_header && source[embedded] == true {
        let detail = "must not be used inside of resource meta";
        errors.push(FieldError::forbidden(child(embedded), detail));
    }
}

fn list_and_map(source: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let child = |key: &str| format!("{path}.{key}");
    let kind = text(source, "type");
    let list = text(source, "x-kubernetes-list-type");
    let (has_list, has_map) = (
        !source["x-kubernetes-list-type"].is_null(),
        !source["x-kubernetes-map-type"].is_null(),
    );
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
    if has_map && kind != "object" {
        wants("object", "x-kubernetes-map-type");
    }
    if has_list && kind != "array" {
        wants("array", "x-kubernetes-list-type");
    } else if list == "set" {
        set_items(source, path, errors);
    }
    if has_map && !matches!(map, "atomic" | "granular") {
        let place = child("x-kubernetes-map-type");
        errors.push(FieldError::not_supported(
            place,
            map,
            &["atomic", "granular"],
        ));
    }
    if has_list && !matches!(list, "atomic" | "set" | "map") {
        let place = child("x-kubernetes-list-type");
        errors.push(FieldError::not_supported(
            place,
            list,
            &["atomic", "set", "map"],
        ));
    }
    if !keys.is_empty() && list != "map" {
        let (place, detail) = (
            child("x-kubernetes-list-type"),
            "must be map if x-kubernetes-list-map-keys is non-empty",
        );
        errors.push(if has_list {
            FieldError::invalid(place, list, detail)
        } else {
            FieldError::required(place, detail)
        });
    }
    if matches!(list, "set" | "map") && source["items"]["nullable"] == true {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        errors.push(FieldError::forbidden(child("items.nullable"), detail));
    }
    if list == "map" {
        map_keys(source, path, &keys, errors);
    }
}

/// The items of a set are compared as a whole.
fn set_items(source: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let items = &source["items"];
    let inner = &items["x-kubernetes-list-type"];
    let key = match text(items, "type") {
        "array" if !inner.is_null() && *inner != "atomic" => "x-kubernetes-list-type",
        "object" if items["x-kubernetes-map-type"] != "atomic" => "x-kubernetes-map-type",
        _ => return,
    };
    errors.push(FieldError::invalid(
        format!("{path}.items.{key}"),
        inner.clone(),
        "must be atomic as item of a list with x-kubernetes-list-type=set",
    ));
}

fn map_keys(source: &Value, path: &str, keys: &[String], errors: &mut Vec<FieldError>) {
    let child = |key: &str| format!("{path}.{key}");
    let items = &source["items"];
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(
            child("x-kubernetes-list-map-keys"),
            detail,
        ));
    }
    if items.is_null() {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        errors.push(FieldError::required(child("items"), detail));
    }
    let item_kind = text(items, "type");
    if items.is_object() && item_kind != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(FieldError::invalid(child("items.type"), item_kind, detail));
    }
    let required = string_list(&items["required"]);
    for (index, key) in keys.iter().enumerate() {
        let property = &items["properties"][key.as_str()];
        let place = format!("{path}.items.properties[{key}]");
        let mut complain = |detail: &str| {
            let place = child("x-kubernetes-list-map-keys");
            errors.push(FieldError::invalid(place, json!(keys), detail));
        };
        if item_kind == "object" && property.is_null() {
            complain("entries must all be names of item properties");
        }
        if item_kind == "object" && keys[..index].contains(key) {
            complain("must not contain duplicate entries");
        }
        if property.is_null() {
            continue;
        }
        if item_kind == "object" && matches!(text(property, "type"), "array" | "object") {
            let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            let place = format!("{place}.type");
            errors.push(FieldError::invalid(place, item_kind, detail));
        }
        if !required.contains(key) && property["default"].is_null() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default \
                          or be a required property";
            errors.push(FieldError::required(format!("{place}.default"), detail));
        }
        if property["nullable"] == true {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(format!("{place}.nullable"), detail));
        }
    }
}
