//! Which schemas are structural, and so can prune and default.

use serde_json::{Value, json};

use crate::schema;
use crate::status::FieldError;

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn flag(value: &Value, key: &str) -> bool {
    value[key] == true
}

/// The parts of a schema that are named, each with its name.
fn fields<'a>(source: &'a Value, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    source[key].as_object().into_iter().flatten()
}

/// The parts of a schema that are numbered.
fn parts<'a>(source: &'a Value, key: &str) -> impl Iterator<Item = (usize, &'a Value)> {
    source[key].as_array().into_iter().flatten().enumerate()
}

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

/// Where in a schema one is: that decides how a missing type is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The complaints about a schema. `status` says whether the status is a sub-resource.
pub(super) fn validate_schema(source: &Value, path: &str, status: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if source.is_null() {
        return errors;
    }
    if status {
        errors.extend(root_with_status(source, path));
    }
    if flag(source, "nullable") {
        let detail = "nullable cannot be true at the root";
        errors.push(FieldError::forbidden(format!("{path}.nullable"), detail));
    }
    let mut ruled = false;
    if !has_unsupported(source) {
        let mut structural = Vec::new();
        invariants(source, path, Level::Root, &mut structural);
        complete(source, source, path, path, &mut structural);
        structural.sort_by_key(ToString::to_string);
        if structural.is_empty() {
            defaults(source, path, true, false, &mut structural);
        }
        ruled = structural.is_empty();
        errors.extend(structural);
    }
    super::openapi::rules(source, path, ruled, &mut errors);
    errors
}

/// A schema whose status is cut out may say little at its root.
fn root_with_status(source: &Value, path: &str) -> Option<FieldError> {
    let is_set = |key: &str| {
        let value = &source[key];
        !value.is_null() && *value != false && *value != "" && *value != json!([])
    };
    let first = ["id", "$schema", "$ref"];
    let later = [
        "nullable",
        "default",
        "maxProperties",
        "minProperties",
        "enum",
        "allOf",
        "oneOf",
        "anyOf",
        "not",
        "additionalProperties",
        "patternProperties",
        "dependencies",
        "additionalItems",
        "definitions",
        EMBEDDED,
        INT_OR_STRING,
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
    ];
    let kind = text(source, "type");
    if !first.iter().any(|key| is_set(key)) && !matches!(kind, "" | "object") {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the status \
                      subresource is enabled";
        return Some(FieldError::invalid(format!("{path}.type"), kind, detail));
    }
    let strange = first.iter().chain(&later).any(|key| is_set(key));
    let detail = "only [Description Type Format Title Maximum ExclusiveMaximum Minimum \
                  ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems \
                  MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields \
                  XValidations] fields are allowed at the root of the schema if the status \
                  subresource is enabled";
    strange.then(|| FieldError::invalid(path, source.clone(), detail))
}

/// Whether something is in a schema that makes it no structural one at all.
fn has_unsupported(source: &Value) -> bool {
    let here = [
        "id",
        "$ref",
        "additionalItems",
        "patternProperties",
        "definitions",
        "dependencies",
    ];
    let below = |part: &Value| part.is_object() && has_unsupported(part);
    here.iter().any(|key| !source[*key].is_null())
        || source["items"]
            .as_array()
            .is_some_and(|items| !items.is_empty())
        || ["items", "additionalProperties", "not"]
            .iter()
            .any(|key| below(&source[*key]))
        || fields(source, "properties").any(|(_, part)| below(part))
        || ["allOf", "anyOf", "oneOf"]
            .iter()
            .any(|key| parts(source, key).any(|(_, part)| below(part)))
}

fn invariants(source: &Value, path: &str, level: Level, errors: &mut Vec<FieldError>) {
    let kind = text(source, "type");
    let child = |key: &str| format!("{path}.{key}");
    let embedded = flag(source, EMBEDDED);
    if kind == "array" && !source["items"].is_object() {
        errors.push(FieldError::required(child("items"), "must be specified"));
    }
    if source["items"].is_object() {
        invariants(&source["items"], &child("items"), Level::Item, errors);
    }
    for (key, property) in fields(source, "properties") {
        let place = format!("{path}.properties[{key}]");
        invariants(property, &place, Level::Field, errors);
    }
    let additional = &source["additionalProperties"];
    if !additional.is_null() {
        let mut refuse = |detail: &str| {
            errors.push(FieldError::forbidden(child("additionalProperties"), detail));
        };
        if level == Level::Root {
            refuse("must not be used at the root");
        }
        if embedded {
            refuse("must not be used if x-kubernetes-embedded-resource is set");
        }
    }
    if additional.is_object() {
        let place = child("additionalProperties");
        invariants(additional, &place, Level::Field, errors);
    }
    for key in [PRESERVE, EMBEDDED] {
        if flag(source, INT_OR_STRING) && flag(source, key) {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            errors.push(FieldError::invalid(child(key), true, detail));
        }
    }
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let skip_any = source["anyOf"] == either;
    let skip_first = source["allOf"][0]["anyOf"] == either;
    values(source, path, skip_any, skip_first, errors);
    type_of(source, path, kind, level, errors);
    header(source, path, level, errors);
    let properties = source["properties"].as_object();
    if embedded && !flag(source, PRESERVE) && properties.is_none_or(serde_json::Map::is_empty) {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(child("properties"), detail));
    }
}

/// The complaints about the type of a part of a schema.
fn type_of(source: &Value, path: &str, kind: &str, level: Level, errors: &mut Vec<FieldError>) {
    let place = format!("{path}.type");
    let typeless = flag(source, INT_OR_STRING) || flag(source, PRESERVE);
    if flag(source, EMBEDDED) && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(if kind.is_empty() {
            FieldError::required(&*place, detail)
        } else {
            FieldError::invalid(&*place, kind, detail)
        });
    } else if kind.is_empty() && !typeless {
        let of = match level {
            Level::Root => "at the root",
            Level::Item => "for specified array items",
            Level::Field => "for specified object fields",
        };
        errors.push(FieldError::required(
            &*place,
            format!("must not be empty {of}"),
        ));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.push(FieldError::invalid(
            place,
            kind,
            "must be object at the root",
        ));
    }
}

/// The complaints about `kind`, `apiVersion` and `metadata` of a resource.
fn header(source: &Value, path: &str, level: Level, errors: &mut Vec<FieldError>) {
    let resource = level == Level::Root || flag(source, EMBEDDED);
    for (key, kind) in [
        ("kind", "string"),
        ("apiVersion", "string"),
        ("metadata", "object"),
    ] {
        let property = &source["properties"][key];
        let found = text(property, "type");
        if !property.is_null() && resource && found != kind {
            let place = format!("{path}.properties[{key}].type");
            errors.push(FieldError::invalid(place, found, format!("must be {kind}")));
        }
    }
    let metadata = &source["properties"]["metadata"];
    if level != Level::Root || metadata.is_null() {
        return;
    }
    let named = |key: &String| matches!(key.as_str(), "name" | "generateName");
    let plain = fields(metadata, "properties").all(|(key, _)| named(key));
    let known = ["type", "properties", "default"];
    let more = metadata.as_object().into_iter().flatten();
    let more = more.filter(|(key, value)| !known.contains(&key.as_str()) && **value != false);
    if !plain || more.count() > 0 {
        let detail = "must not specify anything other than name and generateName, but metadata is \
                      implicitly specified";
        errors.push(FieldError::forbidden(
            format!("{path}.properties[metadata]"),
            detail,
        ));
    }
}

/// The complaints about what a part of a schema demands of values. `skip_any` and `skip_first` leave
/// out the pattern that fields for integers or texts have for other tools.
fn values(
    source: &Value,
    path: &str,
    skip_any: bool,
    skip_first: bool,
    errors: &mut Vec<FieldError>,
) {
    for junctor in ["allOf", "anyOf", "oneOf"] {
        if junctor == "anyOf" && skip_any {
            continue;
        }
        for (index, part) in parts(source, junctor) {
            let skip = junctor == "allOf" && index == 0 && skip_first;
            nested(part, &format!("{path}.{junctor}[{index}]"), skip, errors);
        }
    }
    if source["not"].is_object() {
        nested(&source["not"], &format!("{path}.not"), false, errors);
    }
    let pattern = text(source, "pattern");
    if !pattern.is_empty()
        && let Err(error) = schema::pattern::compile(pattern)
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(FieldError::invalid(
            format!("{path}.pattern"),
            pattern,
            detail,
        ));
    }
}

/// What may not be inside of `allOf`, `anyOf`, `oneOf` and `not`.
const ONLY_OUTSIDE: [(&str, &str); 12] = [
    ("type", "empty"),
    ("additionalProperties", "undefined"),
    ("default", "undefined"),
    ("title", "empty"),
    ("description", "empty"),
    ("nullable", "false"),
    (PRESERVE, "false"),
    (EMBEDDED, "false"),
    (INT_OR_STRING, "false"),
    ("x-kubernetes-list-map-keys", "empty"),
    ("x-kubernetes-list-type", "undefined"),
    ("x-kubernetes-map-type", "undefined"),
];

fn nested(part: &Value, path: &str, skip_any: bool, errors: &mut Vec<FieldError>) {
    let child = |key: &str| format!("{path}.{key}");
    values(part, path, skip_any, false, errors);
    if part["items"].is_object() {
        nested(&part["items"], &child("items"), false, errors);
    }
    for (key, property) in fields(part, "properties") {
        nested(
            property,
            &format!("{path}.properties[{key}]"),
            false,
            errors,
        );
    }
    for (key, wanted) in ONLY_OUTSIDE {
        let value = &part[key];
        if !value.is_null() && *value != "" && *value != false {
            let detail = format!("must be {wanted} to be structural");
            errors.push(FieldError::forbidden(child(key), detail));
        }
    }
    let rules = "x-kubernetes-validations";
    if part[rules]
        .as_array()
        .is_some_and(|rules| !rules.is_empty())
    {
        let detail = "must be empty to be structural";
        errors.push(FieldError::forbidden(child(rules), detail));
    }
    if !part["properties"]["metadata"].is_null() {
        let place = child("properties[metadata]");
        let detail = "must not be specified in a nested context";
        errors.push(FieldError::forbidden(place, detail));
    }
}

/// What `allOf`, `anyOf`, `oneOf` and `not` of the root name must be specified outside of them.
fn complete(
    part: &Value,
    outer: &Value,
    outer_path: &str,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    if outer.is_null() {
        let detail = format!("because it is defined in {path}");
        errors.push(FieldError::required(outer_path, detail));
        return;
    }
    if part["not"].is_object() {
        below(
            &part["not"],
            outer,
            outer_path,
            &format!("{path}.not"),
            errors,
        );
    }
    for junctor in ["allOf", "anyOf", "oneOf"] {
        for (index, inner) in parts(part, junctor) {
            let place = format!("{path}.{junctor}[{index}]");
            below(inner, outer, outer_path, &place, errors);
        }
    }
}

fn below(part: &Value, outer: &Value, outer_path: &str, path: &str, errors: &mut Vec<FieldError>) {
    complete(part, outer, outer_path, path, errors);
    if outer.is_null() {
        return;
    }
    if part["items"].is_object() {
        let places = (format!("{outer_path}.items"), format!("{path}.items"));
        below(
            &part["items"],
            &outer["items"],
            &places.0,
            &places.1,
            errors,
        );
    }
    for (key, property) in fields(part, "properties") {
        let (place, from) = (
            format!("{outer_path}.properties[{key}]"),
            format!("{path}.properties[{key}]"),
        );
        let known = &outer["properties"][key.as_str()];
        below(property, known, &place, &from, errors);
    }
}

/// The complaints about default values. `inside` says whether one is inside of a resource's header.
fn defaults(source: &Value, path: &str, root: bool, inside: bool, errors: &mut Vec<FieldError>) {
    let resource = root || flag(source, EMBEDDED);
    let inside = inside && !resource;
    if !source["default"].is_null() && !inside {
        default_value(source, path, resource, errors);
    }
    if source["items"].is_object() {
        defaults(
            &source["items"],
            &format!("{path}.items"),
            false,
            inside,
            errors,
        );
    }
    for (key, property) in fields(source, "properties") {
        let header = resource && matches!(key.as_str(), "metadata" | "apiVersion" | "kind");
        let place = format!("{path}.properties[{key}]");
        defaults(property, &place, false, inside || header, errors);
    }
}

fn default_value(source: &Value, path: &str, resource: bool, errors: &mut Vec<FieldError>) {
    let mut compiled = schema::compile(source);
    compiled.embedded = resource;
    let place = format!("{path}.default");
    let value = &source["default"];
    let mut copy = value.clone();
    let unknown = schema::prune_part(&mut copy, &compiled, resource);
    if !unknown.is_empty() {
        let detail = "must not have unknown fields";
        errors.push(FieldError::invalid(&*place, value.clone(), detail));
    }
    let headers = schema::embedded_errors(value, &compiled);
    if !headers.is_empty() {
        let moved = headers.into_iter().map(|mut error| {
            error.field = format!("{place}.{}", error.field);
            error
        });
        errors.extend(moved);
        return;
    }
    errors.extend(schema::validate(value, None, &compiled, &place));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(schema: Value) -> Vec<String> {
        validate_schema(&schema, "s", false)
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
    fn only_the_root_must_be_complete() {
        let inner = json!({"type": "object", "not": {"properties": {"b": {}}}});
        assert!(texts(json!({"type": "object", "properties": {"a": inner}})).is_empty());
    }

    #[test]
    fn a_status_cut_out_leaves_little_for_the_root() {
        let root = json!({"type": "object", "minProperties": 1});
        assert!(validate_schema(&root, "s", false).is_empty());
        assert_eq!(validate_schema(&root, "s", true).len(), 1);
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
