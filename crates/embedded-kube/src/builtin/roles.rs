//! Roles and bindings.

use serde_json::{Value, json};

use super::{Builtin, set_default, string_list};
use crate::names;
use crate::status::FieldError;

const GROUP: &str = "rbac.authorization.k8s.io";

/// A role without rules has none at all.
pub(super) fn clean(value: &mut Value) {
    if value["rules"].as_array().is_some_and(Vec::is_empty) {
        value["rules"] = Value::Null;
    }
}

/// Fills in the group of roles and subjects.
pub(super) fn default(value: &mut Value) {
    if value["roleRef"]["apiGroup"] == "" {
        value["roleRef"]["apiGroup"] = json!(GROUP);
    }
    let subjects = value.get_mut("subjects").and_then(Value::as_array_mut);
    for subject in subjects.into_iter().flatten() {
        if matches!(subject["kind"].as_str(), Some("User" | "Group")) {
            set_default(subject, "apiGroup", json!(GROUP));
        }
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The complaints about a role or a binding, besides those about its metadata.
pub(super) fn validate(kind: Builtin, value: &Value) -> Vec<FieldError> {
    let namespaced = matches!(kind, Builtin::Role | Builtin::RoleBinding);
    let mut errors = Vec::new();
    match kind {
        Builtin::Role | Builtin::ClusterRole => {
            let rules = value["rules"].as_array().into_iter().flatten();
            for (index, rule) in rules.enumerate() {
                rule_errors(rule, namespaced, &format!("rules[{index}]"), &mut errors);
            }
            aggregation(&value["aggregationRule"], &mut errors);
        }
        _ => {
            let reference = &value["roleRef"];
            reference_errors(reference, namespaced, &mut errors);
            let subjects = value["subjects"].as_array().into_iter().flatten();
            for (index, subject) in subjects.enumerate() {
                subject_errors(
                    subject,
                    namespaced,
                    &format!("subjects[{index}]"),
                    &mut errors,
                );
            }
        }
    }
    errors
}

fn rule_errors(rule: &Value, namespaced: bool, path: &str, errors: &mut Vec<FieldError>) {
    let list = |key: &str| string_list(&rule[key]);
    let child = |key: &str| format!("{path}.{key}");
    if list("verbs").is_empty() {
        let detail = "verbs must contain at least one value";
        errors.push(FieldError::required(child("verbs"), detail));
    }
    let urls = list("nonResourceURLs");
    if !urls.is_empty() {
        let mut complain = |detail: &str| {
            errors.push(FieldError::invalid(
                child("nonResourceURLs"),
                json!(urls),
                detail,
            ));
        };
        if namespaced {
            complain("namespaced rules cannot apply to non-resource URLs");
        }
        let more = ["apiGroups", "resources", "resourceNames"];
        if more.iter().any(|key| !list(key).is_empty()) {
            complain("rules cannot apply to both regular resources and non-resource URLs");
        }
        return;
    }
    for (key, what) in [("apiGroups", "api group"), ("resources", "resource")] {
        if list(key).is_empty() {
            let detail = format!("resource rules must supply at least one {what}");
            errors.push(FieldError::required(child(key), detail));
        }
    }
}

fn aggregation(rule: &Value, errors: &mut Vec<FieldError>) {
    if rule.is_null() {
        return;
    }
    let path = "aggregationRule.clusterRoleSelectors";
    let selectors = rule["clusterRoleSelectors"].as_array();
    if selectors.is_none_or(Vec::is_empty) {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.push(FieldError::required(path, detail));
    }
    for (index, selector) in selectors.into_iter().flatten().enumerate() {
        let (before, place) = (errors.len(), format!("{path}[{index}]"));
        selector_errors(selector, &place, errors);
        if errors.len() > before {
            let detail = "invalid label selector.";
            errors.push(FieldError::invalid(place, Value::Null, detail));
        }
    }
}

fn selector_errors(selector: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let labels = selector["matchLabels"].as_object();
    for (key, value) in labels.into_iter().flatten() {
        let place = format!("{path}.matchLabels");
        let value = value.as_str().unwrap_or_default();
        let keys = names::qualified_name(key).into_iter();
        errors.extend(keys.map(|why| FieldError::invalid(&*place, key.as_str(), why)));
        let values = names::label_value(value).into_iter();
        errors.extend(values.map(|why| FieldError::invalid(&*place, value, why)));
    }
    let terms = selector["matchExpressions"].as_array();
    for (index, term) in terms.into_iter().flatten().enumerate() {
        let place = |key: &str| format!("{path}.matchExpressions[{index}].{key}");
        let values = string_list(&term["values"]);
        match text(term, "operator") {
            "In" | "NotIn" if values.is_empty() => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.push(FieldError::required(place("values"), detail));
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.push(FieldError::forbidden(place("values"), detail));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => {
                let detail = "not a valid selector operator";
                errors.push(FieldError::invalid(place("operator"), other, detail));
            }
        }
        let key = text(term, "key");
        let complaints = names::qualified_name(key).into_iter();
        errors.extend(complaints.map(|why| FieldError::invalid(place("key"), key, why)));
    }
}

fn reference_errors(reference: &Value, namespaced: bool, errors: &mut Vec<FieldError>) {
    let group = text(reference, "apiGroup");
    if group != GROUP {
        errors.push(FieldError::not_supported(
            "roleRef.apiGroup",
            group,
            &[GROUP],
        ));
    }
    let kinds: &[&str] = if namespaced {
        &["Role", "ClusterRole"]
    } else {
        &["ClusterRole"]
    };
    let kind = text(reference, "kind");
    if !kinds.contains(&kind) {
        errors.push(FieldError::not_supported("roleRef.kind", kind, kinds));
    }
    let name = text(reference, "name");
    if name.is_empty() {
        errors.push(FieldError::required("roleRef.name", ""));
    }
    let complaints = names::path_segment(name, false).into_iter();
    errors.extend(complaints.map(|why| FieldError::invalid("roleRef.name", name, why)));
}

fn subject_errors(subject: &Value, namespaced: bool, path: &str, errors: &mut Vec<FieldError>) {
    let child = |key: &str| format!("{path}.{key}");
    let (name, group) = (text(subject, "name"), text(subject, "apiGroup"));
    if name.is_empty() {
        errors.push(FieldError::required(child("name"), ""));
    }
    match text(subject, "kind") {
        "ServiceAccount" => {
            let complaints = names::dns_subdomain(name, false).into_iter();
            let complaints = complaints.filter(|_| !name.is_empty());
            errors.extend(complaints.map(|why| FieldError::invalid(child("name"), name, why)));
            if !group.is_empty() {
                errors.push(FieldError::not_supported(child("apiGroup"), group, &[""]));
            }
            if !namespaced && text(subject, "namespace").is_empty() {
                errors.push(FieldError::required(child("namespace"), ""));
            }
        }
        "User" | "Group" => {
            if group != GROUP {
                errors.push(FieldError::not_supported(
                    child("apiGroup"),
                    group,
                    &[GROUP],
                ));
            }
        }
        kind => {
            let kinds = ["ServiceAccount", "User", "Group"];
            errors.push(FieldError::not_supported(child("kind"), kind, &kinds));
        }
    }
}

/// The complaint about a binding that turns to another role.
pub(super) fn same_reference(new: &Value, old: &Value) -> Option<FieldError> {
    let (new, old) = (&new["roleRef"], &old["roleRef"]);
    (new != old).then(|| {
        let text = |key: &str| json!(new[key].as_str().unwrap_or_default());
        let shown = format!(
            "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
            text("apiGroup"),
            text("kind"),
            text("name")
        );
        FieldError::invalid_shown("roleRef", shown, "cannot change roleRef")
    })
}
