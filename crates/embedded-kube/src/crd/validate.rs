//! Which definitions are accepted.

use serde_json::{Value, json};

use super::structural::validate_schema;
use crate::builtin::string_list;
use crate::meta;
use crate::names;
use crate::resource::at_path;
use crate::status::FieldError;
use crate::text::is_print;

/// The complaints about a new definition.
pub(crate) fn create(value: &Value) -> Vec<FieldError> {
    let mut errors = meta::validate(value, false, names::dns_subdomain);
    let spec = &value["spec"];
    let wanted = format!("{}.{}", text(&spec["names"], "plural"), text(spec, "group"));
    let name = meta::text(value, "name");
    let detail = "must be spec.names.plural+\".\"+spec.group";
    let generate = meta::text(value, "generateName");
    if !generate.is_empty() && generate != wanted {
        errors.push(FieldError::invalid(
            "metadata.generateName",
            generate,
            detail,
        ));
    }
    if !name.is_empty() && name != wanted {
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

pub(super) fn one_of(path: &str, value: &str, accepted: &[&str]) -> Option<FieldError> {
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
        for complaint in deprecation_errors(version) {
            errors.push(FieldError::invalid(
                format!("{place}.deprecationWarning"),
                version["deprecationWarning"].clone(),
                complaint,
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
            let has_status = |version: &Value| !version["subresources"]["status"].is_null();
            let status = if same("schema") {
                versions.iter().any(has_status)
            } else {
                has_status(version)
            };
            let path = format!("{path}.openAPIV3Schema");
            errors.extend(validate_schema(schema, &path, status));
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
    let first = versions.first().map(|version| text(version, "name"));
    if let Some(first) = first.filter(|first| !first.is_empty()) {
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
    errors.extend(super::conversion::errors(&spec["conversion"]));
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

/// What is wrong with the warning of a deprecated version.
fn deprecation_errors(version: &Value) -> Vec<String> {
    let Some(warning) = version["deprecationWarning"].as_str() else {
        return Vec::new();
    };
    if version["deprecated"] != true {
        return vec!["can only be set for deprecated versions".to_owned()];
    }
    let mut complaints = Vec::new();
    if warning.len() > 256 {
        complaints.push("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        complaints.push("must not be an empty string".to_owned());
    }
    if let Some((at, _)) = warning.char_indices().find(|(_, c)| !is_print(*c)) {
        complaints.push(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index \
             {at}"
        ));
    }
    complaints
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
        } else if let Some(error) = simple_path(&place, value) {
            errors.push(error);
        } else if !value.starts_with(root) {
            let detail = format!("should be a json path under {}", root.trim_end_matches('.'));
            errors.push(FieldError::invalid(place, value, detail));
        }
    }
    let selector = text(scale, "labelSelectorPath");
    let place = format!("{path}.scale.labelSelectorPath");
    if selector.is_empty() {
        return errors;
    }
    if let Some(error) = simple_path(&place, selector) {
        errors.push(error);
    } else if !selector.starts_with(".spec.") && !selector.starts_with(".status.") {
        let detail = "should be a json path under either .spec or .status";
        errors.push(FieldError::invalid(place, selector, detail));
    }
    errors
}

/// A path into an object begins with a dot; more is not looked at.
fn simple_path(place: &str, path: &str) -> Option<FieldError> {
    let detail = "must be a simple json path starting with .";
    (!path.starts_with('.')).then(|| FieldError::invalid(place, path, detail))
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
        let format = text(column, "format");
        let formats = [
            "byte",
            "date",
            "date-time",
            "double",
            "float",
            "int32",
            "int64",
            "password",
        ];
        if !format.is_empty() && !formats.contains(&format) {
            let detail = format!("must be one of {}", formats.join(","));
            errors.push(FieldError::invalid(
                format!("{path}.format"),
                format,
                detail,
            ));
        }
        let (place, json_path) = (format!("{path}.JSONPath"), text(column, "jsonPath"));
        if json_path.is_empty() {
            errors.push(FieldError::required(place, ""));
        } else {
            errors.extend(simple_path(&place, json_path));
        }
    }
    errors
}

/// Why a text is no path to a field, as far as that can be told from the text.
fn path_error(path: &str) -> Option<String> {
    if !path.starts_with(['.', '[']) {
        let end = path.find(['.', '[']).unwrap_or(path.len());
        return Some(format!("expected [ or . but got: {}", &path[..end]));
    }
    if path == "." {
        return Some("unexpected end of JSON path".to_owned());
    }
    path.contains('[')
        .then(|| "array notation is not allowed".to_owned())
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
        if let Some(wrong) = path_error(json_path) {
            let detail = format!("is an invalid path: {wrong}");
            errors.push(FieldError::invalid(place, json_path, detail));
            continue;
        }
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
