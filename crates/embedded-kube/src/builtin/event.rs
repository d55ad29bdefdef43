//! Events: two shapes of the same objects, and what each demands.

use serde_json::{Map, Value, json};

use super::Builtin;
use crate::meta;
use crate::names;
use crate::status::FieldError;

/// The names of fields in `events.k8s.io` and in the core group, where they differ.
const RENAMED: [(&str, &str); 7] = [
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("reportingController", "reportingComponent"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

/// An event of `events.k8s.io` in the shape of the core group, in which it is stored.
pub(crate) fn to_core(value: &mut Value) {
    rename(value, |(new, old)| (new, old));
    value["apiVersion"] = json!("v1");
    let Some(map) = value.as_object_mut() else {
        return;
    };
    for key in ["reportingComponent", "reportingInstance"] {
        map.entry(key).or_insert_with(|| json!(""));
    }
}

/// An event of the core group in the shape of `events.k8s.io`.
pub(crate) fn from_core(value: &mut Value) {
    rename(value, |(new, old)| (old, new));
    value["apiVersion"] = json!("events.k8s.io/v1");
    let Some(map) = value.as_object_mut() else {
        return;
    };
    for key in ["reportingController", "reportingInstance"] {
        if map.get(key) == Some(&json!("")) {
            map.remove(key);
        }
    }
}

fn rename(
    value: &mut Value,
    direction: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) {
    let Some(map) = value.as_object_mut() else {
        return;
    };
    let mut renamed = Map::new();
    for (from, to) in RENAMED.map(direction) {
        if let Some(field) = map.remove(from) {
            renamed.insert(to.to_owned(), field);
        }
    }
    map.extend(renamed);
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The complaints about an event in the shape of the core group.
pub(super) fn validate(value: &Value, new_api: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let namespace = meta::text(value, "namespace");
    let involved = text(&value["involvedObject"], "namespace");
    let controller = if new_api {
        "reportingController"
    } else {
        "reportingComponent"
    };
    let mismatch = || {
        FieldError::invalid(
            "involvedObject.namespace",
            involved,
            "does not match event.namespace",
        )
    };
    if value["eventTime"].is_null() {
        let fits = if involved.is_empty() {
            matches!(namespace, "" | "default")
        } else {
            involved == namespace
        };
        if !fits {
            errors.push(mismatch());
        }
    } else {
        if involved.is_empty() && !matches!(namespace, "default" | "kube-system") {
            errors.push(mismatch());
        }
        let reporter = text(value, "reportingComponent");
        if reporter.is_empty() {
            errors.push(FieldError::required(controller, ""));
        }
        for complaint in names::qualified_name(reporter) {
            errors.push(FieldError::invalid(controller, reporter, complaint));
        }
        for (key, limit) in [("reportingInstance", 128), ("action", 128), ("reason", 128)] {
            let length = text(value, key).len();
            if length == 0 {
                errors.push(FieldError::required(key, ""));
            } else if length > limit {
                let detail = format!("can have at most {limit} characters");
                errors.push(FieldError::invalid(key, "", detail));
            }
        }
        if text(value, "message").len() > 1024 {
            errors.push(FieldError::invalid(
                "message",
                "",
                "can have at most 1024 characters",
            ));
        }
    }
    for complaint in names::dns_subdomain(namespace, false) {
        errors.push(FieldError::invalid("namespace", namespace, complaint));
    }
    errors
}

/// The complaints about a new event of `events.k8s.io`, given in the shape of the core group.
pub(super) fn validate_new(value: &Value) -> Vec<FieldError> {
    let mut errors = validate(value, true);
    errors.extend(meta::validate(value, true, names::dns_subdomain));
    errors.extend(series(value));
    if value["eventTime"].is_null() {
        errors.push(FieldError::required("eventTime", ""));
    }
    let kind = text(value, "type");
    if !matches!(kind, "Normal" | "Warning") {
        errors.push(FieldError::invalid(
            "type",
            "",
            format!("has invalid value: {kind}"),
        ));
    }
    for key in ["firstTimestamp", "lastTimestamp"] {
        if !value[key].is_null() {
            errors.push(FieldError::invalid(key, "", "needs to be unset"));
        }
    }
    if value["count"].as_i64().unwrap_or(0) != 0 {
        errors.push(FieldError::invalid("count", "", "needs to be unset"));
    }
    if value["source"]
        .as_object()
        .is_some_and(|source| !source.is_empty())
    {
        errors.push(FieldError::invalid("source", "", "needs to be unset"));
    }
    errors
}

/// The complaints about a changed event of `events.k8s.io`.
pub(super) fn validate_new_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = validate(new, true);
    errors.extend(meta::validate_update(new, old));
    if new["series"] != old["series"] {
        errors.extend(series(new));
    }
    let fixed = [
        ("involvedObject", "involvedObject"),
        ("reason", "reason"),
        ("message", "message"),
        ("source", "source"),
        ("firstTimestamp", "firstTimestamp"),
        ("lastTimestamp", "lastTimestamp"),
        ("count", "count"),
        ("type", "type"),
        ("eventTime", "eventTime"),
        ("action", "action"),
        ("related", "related"),
        ("reportingComponent", "reportingController"),
        ("reportingInstance", "reportingInstance"),
    ];
    for (key, name) in fixed {
        errors.extend(meta::immutable(name, &new[key], &old[key]));
    }
    errors
}

fn series(value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let series = &value["series"];
    if series.is_null() {
        return errors;
    }
    if series["count"].as_i64().unwrap_or(0) < 2 {
        errors.push(FieldError::invalid(
            "series.count",
            "",
            "should be at least 2",
        ));
    }
    if series["lastObservedTime"].is_null() {
        errors.push(FieldError::required("series.lastObservedTime", ""));
    }
    errors
}

/// What field selectors can name, from the stored shape.
pub(super) fn selectable(builtin: Builtin, value: &Value) -> Vec<(&'static str, String)> {
    let involved = |key: &str| text(&value["involvedObject"], key).to_owned();
    let source = match text(&value["source"], "component") {
        "" => text(value, "reportingComponent"),
        component => component,
    };
    let (prefix, reporter): ([&'static str; 7], &'static str) = if builtin == Builtin::Event {
        (
            [
                "involvedObject.kind",
                "involvedObject.namespace",
                "involvedObject.name",
                "involvedObject.uid",
                "involvedObject.apiVersion",
                "involvedObject.resourceVersion",
                "involvedObject.fieldPath",
            ],
            "reportingComponent",
        )
    } else {
        (
            [
                "regarding.kind",
                "regarding.namespace",
                "regarding.name",
                "regarding.uid",
                "regarding.apiVersion",
                "regarding.resourceVersion",
                "regarding.fieldPath",
            ],
            "reportingController",
        )
    };
    let parts = [
        "kind",
        "namespace",
        "name",
        "uid",
        "apiVersion",
        "resourceVersion",
        "fieldPath",
    ];
    let mut fields: Vec<(&'static str, String)> =
        prefix.into_iter().zip(parts.map(involved)).collect();
    fields.push(("reason", text(value, "reason").to_owned()));
    fields.push((reporter, text(value, "reportingComponent").to_owned()));
    fields.push(("type", text(value, "type").to_owned()));
    if builtin == Builtin::Event {
        fields.push(("source", source.to_owned()));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_tell_the_same() {
        let core = json!({
            "apiVersion": "v1", "kind": "Event", "message": "hi", "count": 2,
            "involvedObject": {"name": "x"}, "source": {}, "firstTimestamp": null,
            "lastTimestamp": null, "reportingComponent": "", "reportingInstance": ""
        });
        let mut other = core.clone();
        from_core(&mut other);
        assert_eq!(other["note"], "hi");
        assert_eq!(other["regarding"]["name"], "x");
        assert_eq!(other["deprecatedCount"], 2);
        to_core(&mut other);
        assert_eq!(other, core);
    }
}
