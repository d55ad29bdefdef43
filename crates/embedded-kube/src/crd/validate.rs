//! Which definitions are accepted.

use regex::Regex;
use serde_json::{Value, json};

use crate::builtin::string_list;
use crate::meta;
use crate::names;
use crate::resource::at_path;
use crate::schema;
use crate::status::FieldError;

/// The complaints about a new definition.
pub(crate) fn create(value: &Value) -> Vec<FieldError> {
    let mut errors = meta::validate(value, false, names::dns_subdomain);
    let spec = &value["spec"];
    let wanted = format!("{}.{}", text(&spec["names"], "plural"), text(spec, "group"));
    let name = meta::text(value, "name");
    if errors.is_empty() && name != wanted {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        errors.push(FieldError::invalid("metadata.name", name, detail));
    }
    errors.extend(validate_spec(spec));
    errors.extend(stored_versions(value));
    errors.extend(approval(value, None));
    errors
}

/// The complaints about a changed definition.
pub(crate) fn update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = meta::validate_update(new, old);
    errors.extend(validate_spec(&new["spec"]));
    if super::condition_is_true(old, "Established") {
        for (path, pointer) in [
            ("spec.scope", "/spec/scope"),
            ("spec.names.kind", "/spec/names/kind"),
        ] {
            errors.extend(changed(path, pointer, new, old));
        }
    }
    for (path, pointer) in [
        ("spec.group", "/spec/group"),
        ("spec.names.plural", "/spec/names/plural"),
    ] {
        errors.extend(changed(path, pointer, new, old));
    }
    errors.extend(stored_versions(new));
    errors.extend(approval(new, Some(old)));
    errors
}

fn changed(path: &str, pointer: &str, new: &Value, old: &Value) -> Option<FieldError> {
    let at = |value: &Value| value.pointer(pointer).cloned().unwrap_or_default();
    meta::immutable(path, &at(new), &at(old))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn one_of(path: &str, value: &str, accepted: &[&str]) -> Option<FieldError> {
    if value.is_empty() {
        Some(FieldError::required(path, ""))
    } else if accepted.contains(&value) {
        None
    } else {
        Some(FieldError::not_supported(path, value, accepted))
    }
}

fn validate_spec(spec: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let group = text(spec, "group");
    let complaints = names::dns_subdomain(group, false);
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if !complaints.is_empty() {
        errors.push(FieldError::invalid(
            "spec.group",
            group,
            complaints.join(","),
        ));
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        errors.push(FieldError::invalid("spec.group", group, detail));
    }
    errors.extend(one_of(
        "spec.scope",
        text(spec, "scope"),
        &["Cluster", "Namespaced"],
    ));
    let empty = Vec::new();
    let versions = spec["versions"].as_array().unwrap_or(&empty);
    // What all versions have alike is reported once, under the name it had before there were
    // versions.
    let same = |key: &str| {
        versions
            .iter()
            .all(|v| v[key] == versions[0][key] && !v[key].is_null())
    };
    let mut seen: Vec<&str> = Vec::new();
    let mut unique = true;
    for (index, version) in versions.iter().enumerate() {
        let place = format!("spec.versions[{index}]");
        if version["schema"]["openAPIV3Schema"].is_null() {
            errors.push(FieldError::required(
                format!("{place}.schema.openAPIV3Schema"),
                "",
            ));
        }
        let name = text(version, "name");
        unique &= !seen.contains(&name);
        seen.push(name);
        let complaints = names::dns1035_label(name);
        if !complaints.is_empty() {
            errors.push(FieldError::invalid(
                format!("{place}.name"),
                name,
                complaints.join(","),
            ));
        }
        if !version["deprecationWarning"].is_null() && version["deprecated"] != true {
            errors.push(FieldError::invalid(
                format!("{place}.deprecationWarning"),
                version["deprecationWarning"].clone(),
                "can only be set for deprecated versions",
            ));
        }
        let hoisted = |key: &str, alone: &str| {
            if same(key) {
                (index == 0).then(|| format!("spec.{alone}"))
            } else {
                Some(format!("{place}.{key}"))
            }
        };
        if let Some(path) = hoisted("schema", "validation") {
            let schema = &version["schema"]["openAPIV3Schema"];
            errors.extend(validate_schema(schema, &format!("{path}.openAPIV3Schema")));
        }
        if let Some(path) = hoisted("subresources", "subresources") {
            errors.extend(scale(&version["subresources"]["scale"], &path));
        }
        if let Some(path) = hoisted("additionalPrinterColumns", "additionalPrinterColumns") {
            errors.extend(columns(&version["additionalPrinterColumns"], &path));
        }
        if let Some(path) = hoisted("selectableFields", "selectableFields") {
            errors.extend(selectable(version, &path));
        }
    }
    if !unique {
        let detail = "must contain unique version names";
        errors.push(FieldError::invalid(
            "spec.versions",
            spec["versions"].clone(),
            detail,
        ));
    }
    if versions
        .iter()
        .filter(|version| version["storage"] == true)
        .count()
        != 1
    {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid(
            "spec.versions",
            spec["versions"].clone(),
            detail,
        ));
    }
    if let Some(first) = versions.first().map(|version| text(version, "name")) {
        let complaints = names::dns1035_label(first);
        if !complaints.is_empty() {
            errors.push(FieldError::invalid(
                "spec.version",
                first,
                complaints.join(","),
            ));
        }
    }
    errors.extend(validate_names(&spec["names"]));
    let strategy = text(&spec["conversion"], "strategy");
    errors.extend(one_of(
        "spec.conversion.strategy",
        strategy,
        &["None", "Webhook"],
    ));
    if spec["preserveUnknownFields"] == true {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                      spec.versions[*].schema instead";
        errors.push(FieldError::invalid(
            "spec.preserveUnknownFields",
            true,
            detail,
        ));
    }
    errors
}

fn validate_names(names: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for key in ["plural", "singular", "kind", "listKind"] {
        if text(names, key).is_empty() {
            errors.push(FieldError::required(format!("spec.names.{key}"), ""));
        }
    }
    for key in ["plural", "singular", "kind", "listKind"] {
        let (name, mixed) = (text(names, key), key.ends_with("ind"));
        let complaints = names::dns1035_label(&if mixed {
            name.to_lowercase()
        } else {
            name.to_owned()
        });
        if !name.is_empty() && !complaints.is_empty() {
            let mixed = if mixed {
                "may have mixed case, but should otherwise match: "
            } else {
                ""
            };
            let detail = format!("{mixed}{}", complaints.join(","));
            errors.push(FieldError::invalid(
                format!("spec.names.{key}"),
                name,
                detail,
            ));
        }
    }
    for key in ["shortNames", "categories"] {
        for (index, name) in string_list(&names[key]).iter().enumerate() {
            let complaints = names::dns1035_label(name);
            if !complaints.is_empty() {
                let path = format!("spec.names.{key}[{index}]");
                errors.push(FieldError::invalid(
                    path,
                    name.as_str(),
                    complaints.join(","),
                ));
            }
        }
    }
    if !text(names, "kind").is_empty() && names["kind"] == names["listKind"] {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(
            "spec.names.listKind",
            names["listKind"].clone(),
            detail,
        ));
    }
    errors
}

fn stored_versions(value: &Value) -> Vec<FieldError> {
    let path = "status.storedVersions";
    let stored = string_list(&value["status"]["storedVersions"]);
    if stored.is_empty() {
        let detail = "must have at least one stored version";
        return vec![FieldError::invalid(path, Value::Null, detail)];
    }
    let versions = value["spec"]["versions"].as_array().into_iter().flatten();
    let mut errors = Vec::new();
    let mut known: Vec<&str> = Vec::new();
    for version in versions {
        let name = text(version, "name");
        let listed = stored.iter().any(|s| s == name) && !known.contains(&name);
        if version["storage"] == true && !listed {
            let detail = format!("must have the storage version {name}");
            errors.push(FieldError::invalid(path, json!(stored), detail));
        }
        known.push(name);
    }
    let missing = stored
        .iter()
        .enumerate()
        .filter(|(_, version)| !known.contains(&version.as_str()))
        .map(|(index, version)| {
            let detail = format!(
                "missing from spec.versions; {version} was previously a storage version, and must \
                 remain in spec.versions until a storage migration ensures no data remains \
                 persisted in {version} and removes {version} from status.storedVersions"
            );
            FieldError::invalid(format!("{path}[{index}]"), version.as_str(), detail)
        });
    errors.extend(missing);
    errors
}

/// Groups of the Kubernetes community need its approval.
fn approval(value: &Value, old: Option<&Value>) -> Option<FieldError> {
    let group = text(&value["spec"], "group");
    let protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group == *domain || group.ends_with(&format!(".{domain}")));
    let key = "api-approved.kubernetes.io";
    let approved = |value: &Value| text(&value["metadata"]["annotations"], key).to_owned();
    let state = approved(value);
    if !protected || old.is_some_and(|old| approved(old).is_empty() == state.is_empty()) {
        return None;
    }
    let path = "metadata.annotations[api-approved.kubernetes.io]";
    if state.is_empty() {
        let detail = "protected groups must have approval annotation \
                      \"api-approved.kubernetes.io\", see \
                      https://github.com/kubernetes/enhancements/pull/1111";
        return Some(FieldError::required(path, detail));
    }
    if state.starts_with("unapproved") || state.contains("://") {
        return None;
    }
    let detail = "protected groups must have approval annotation \"api-approved.kubernetes.io\" \
                  with either a URL or a reason starting with \"unapproved\", see \
                  https://github.com/kubernetes/enhancements/pull/1111";
    Some(FieldError::invalid(path, state, detail))
}

fn scale(scale: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if scale.is_null() {
        return errors;
    }
    for (key, root) in [
        ("specReplicasPath", ".spec."),
        ("statusReplicasPath", ".status."),
    ] {
        let (place, value) = (format!("{path}.scale.{key}"), text(scale, key));
        if value.is_empty() {
            errors.push(FieldError::required(place, ""));
        } else if !value.starts_with(root) {
            let detail = format!("should be a json path under {}", root.trim_end_matches('.'));
            errors.push(FieldError::invalid(place, value, detail));
        }
    }
    let selector = text(scale, "labelSelectorPath");
    if !selector.is_empty() && !selector.starts_with(".spec.") && !selector.starts_with(".status.")
    {
        let detail = "should be a json path under either .spec or .status";
        errors.push(FieldError::invalid(
            format!("{path}.scale.labelSelectorPath"),
            selector,
            detail,
        ));
    }
    errors
}

fn columns(columns: &Value, path: &str) -> Vec<FieldError> {
    let types = ["boolean", "date", "integer", "number", "string"];
    let mut errors = Vec::new();
    for (index, column) in columns.as_array().into_iter().flatten().enumerate() {
        let path = format!("{path}[{index}]");
        if text(column, "name").is_empty() {
            errors.push(FieldError::required(format!("{path}.name"), ""));
        }
        let kind = text(column, "type");
        let detail = format!("must be one of {}", types.join(","));
        if kind.is_empty() {
            errors.push(FieldError::required(format!("{path}.type"), detail));
        } else if !types.contains(&kind) {
            errors.push(FieldError::invalid(format!("{path}.type"), kind, detail));
        }
        if text(column, "jsonPath").is_empty() {
            errors.push(FieldError::required(format!("{path}.JSONPath"), ""));
        }
    }
    errors
}

fn selectable(version: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let fields = version["selectableFields"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let mut seen: Vec<String> = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let (place, json_path) = (format!("{path}[{index}].jsonPath"), text(field, "jsonPath"));
        if json_path.is_empty() {
            errors.push(FieldError::required(place, ""));
            continue;
        }
        let steps: Vec<String> = json_path
            .trim_start_matches('.')
            .split('.')
            .map(|key| format!("properties.{key}"))
            .collect();
        let found = at_path(&version["schema"]["openAPIV3Schema"], &steps.join("."));
        let fits = found
            .is_some_and(|schema| matches!(text(schema, "type"), "string" | "boolean" | "integer"));
        if found.is_none() {
            let detail = "is an invalid path: does not refer to a valid field";
            errors.push(FieldError::invalid(place, json_path, detail));
        } else if json_path.starts_with(".metadata") {
            let detail = "must not point to fields in metadata";
            errors.push(FieldError::invalid(place, json_path, detail));
        } else if !fits {
            let detail = "must point to a field of type string, boolean or integer. Enum string \
                          fields and strings with formats are allowed.";
            errors.push(FieldError::invalid(place, json_path, detail));
        } else if seen.iter().any(|other| other == json_path) {
            errors.push(FieldError::duplicate(place, json_path));
        } else {
            seen.push(json_path.to_owned());
        }
    }
    if seen.len() > 8 {
        errors.push(FieldError::too_many(path, seen.len(), 8));
    }
    errors
}

/// Where in a schema one is: that decides how a missing type is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

fn validate_schema(source: &Value, path: &str) -> Vec<FieldError> {
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
