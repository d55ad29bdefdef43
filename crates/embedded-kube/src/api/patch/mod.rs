//! Patching objects.

mod lists;
mod operations;
mod strategic;

use serde_json::Value;

use super::{Call, Done, FieldValidation, match_name, update_with};
use crate::builtin::{self, Builtin};
use crate::json::{self, Document};
use crate::state::State;
use crate::status::{About, ApiError, ApiResult, FieldError};
use crate::strategy;
use crate::text::go_quote;
use crate::typed::Findings;

/// The kind of a patch, from its content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchKind {
    Json,
    Merge,
    /// As built-in kinds are merged: lists by their merge keys, with directives.
    Strategic,
    /// A configuration, merged by who manages which fields.
    Apply,
}

/// Applies a patch to an object.
pub(crate) fn patch(
    state: &mut State,
    call: &mut Call<'_>,
    kind: PatchKind,
    body: &[u8],
) -> ApiResult<Done> {
    update_with(state, call, "", |state, call, old| {
        apply(state, call, old, kind, body)
    })
}

/// The object after the patch, decoded.
fn apply(
    state: &State,
    call: &mut Call<'_>,
    old: &Value,
    kind: PatchKind,
    body: &[u8],
) -> ApiResult<Value> {
    let mut current = old.clone();
    if call.resource.builtin() == Some(Builtin::NewEvent) {
        builtin::event_from_core(&mut current);
    }
    let (patched, complaints) = patch_value(call, &current, kind, body)?;
    super::warn_of_lost_fields(state, call, &patched, &[])?;
    let mut value = decode(call, patched, complaints, kind)?;
    call.track(state, Some(old), &mut value)?;
    match_patched_name(call, &value)?;
    super::dedup_owners(call, &mut value, " after mutating admission happens");
    Ok(value)
}

/// The name and namespace of a patched object must be those of the request.
pub(super) fn match_patched_name(call: &Call<'_>, value: &Value) -> ApiResult<()> {
    let namespace = crate::meta::text(value, "namespace");
    if call.resource.namespaced && !namespace.is_empty() && namespace != call.namespace {
        return Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    match_name(call, value)
}

/// Applies a patch to a value; the answer has besides what is odd in the patch itself.
pub(super) fn patch_value(
    call: &Call<'_>,
    current: &Value,
    kind: PatchKind,
    body: &[u8],
) -> ApiResult<(Value, Vec<String>)> {
    let strict = call.validation != FieldValidation::Ignore;
    let read = json::parse(body).and_then(|document| match document.overflow {
        Some(message) => Err(message),
        None => Ok(document),
    });
    let document = read.map_err(|message| {
        ApiError::bad_request(match kind {
            PatchKind::Strategic => message,
            _ if strict => format!("error decoding patch: {message}"),
            PatchKind::Json => message,
            PatchKind::Merge | PatchKind::Apply => "Invalid JSON Patch".to_owned(),
        })
    })?;
    let Document {
        value: patch,
        duplicates,
        ..
    } = document;
    match kind {
        PatchKind::Json => {
            let mut patched = current.clone();
            operations::apply(&mut patched, &patch, strict)?;
            let twice = duplicates.iter().map(|path| ("duplicate", path.clone()));
            let strange = operations::unknown_fields(&patch)
                .into_iter()
                .map(|path| ("unknown", path));
            let complaints = twice.chain(strange);
            let complaints = complaints
                .map(|(what, path)| format!("json patch {what} field {}", go_quote(&path)));
            Ok((patched, complaints.collect()))
        }
        PatchKind::Merge | PatchKind::Strategic | PatchKind::Apply => {
            if patch.is_null() && kind == PatchKind::Merge {
                return Err(ApiError::bad_request("Invalid JSON Patch"));
            }
            if !patch.is_object() {
                let found = super::type_name(&patch);
                return Err(ApiError::bad_request(format!(
                    "{}json: cannot unmarshal {found} into Go value of type map[string]interface {{}}",
                    if kind == PatchKind::Merge {
                        "error decoding patch: "
                    } else {
                        ""
                    }
                )));
            }
            let mut patched = current.clone();
            match (call.resource.builtin(), patch) {
                (Some(builtin), Value::Object(patch)) if kind == PatchKind::Strategic => {
                    strategic::apply(&mut patched, patch, builtin.fields())?;
                }
                (_, patch) => merge(&mut patched, patch),
            }
            let twice = duplicates
                .iter()
                .map(|path| format!("duplicate field {}", go_quote(path)));
            Ok((patched, twice.collect()))
        }
    }
}

/// Merges `patch` into `target`; nulls remove.
fn merge(target: &mut Value, patch: Value) {
    match (target, patch) {
        (Value::Object(map), Value::Object(patch)) => {
            for (key, value) in patch {
                if value.is_null() {
                    map.remove(&key);
                } else {
                    merge(map.entry(key).or_insert(Value::Null), value);
                }
            }
        }
        // What takes the place of a map is taken as it is.
        (target @ Value::Object(_), patch) => *target = patch,
        (target, mut patch) => {
            strategic::drop_nulls(&mut patch);
            *target = patch;
        }
    }
}

/// Decodes a patched object; what is wrong is reported as an invalid patch.
fn decode(
    call: &mut Call<'_>,
    mut value: Value,
    complaints: Vec<String>,
    kind: PatchKind,
) -> ApiResult<Value> {
    let shown = value.to_string();
    let invalid = |message: String| {
        let error = FieldError::invalid("patch", shown.as_str(), message);
        ApiError::invalid(
            About {
                group: "",
                resource: "",
            },
            "",
            &[error],
        )
    };
    let mut found = Findings::default();
    value = super::header_of(value).map_err(&invalid)?;
    let unversioned = value["apiVersion"].as_str().unwrap_or_default().is_empty();
    if unversioned && call.resource.builtin().is_some() && kind != PatchKind::Strategic {
        return Err(versionless(call, &value, complaints).unwrap_or_else(invalid));
    }
    if call.resource.custom().is_some() {
        let version = value["apiVersion"].as_str().unwrap_or_default();
        if value["kind"].as_str().unwrap_or_default().is_empty() {
            return Err(invalid(format!("Object 'Kind' is missing in '{shown}'")));
        }
        if version.matches('/').count() > 1 {
            let why = format!("unexpected GroupVersion string: {version}");
            return Err(invalid(why));
        }
        if unversioned {
            let why = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
            return Err(ApiError::internal(why));
        }
    }
    if let Some(why) = foreign_kind(call, &mut value) {
        return Err(invalid(why));
    }
    strategy::decode(call.resource, &mut value, &mut found).map_err(&invalid)?;
    if call.resource.custom().is_none() {
        found.unknown.sort();
    }
    tell(call, complaints, &found.unknown).map_err(invalid)?;
    strategy::default(call.resource, &mut value);
    Ok(value)
}

/// The refusal of a built-in object that has lost its version: it is taken for one in the form that
/// the real server keeps for itself, where no field has the name that it has outside.
fn versionless(
    call: &mut Call<'_>,
    value: &Value,
    complaints: Vec<String>,
) -> Result<ApiError, String> {
    let keys = value
        .as_object()
        .into_iter()
        .flat_map(serde_json::Map::keys);
    let own = |key: &&String| !matches!(key.as_str(), "apiVersion" | "kind");
    let mut unknown: Vec<String> = keys.filter(own).cloned().collect();
    unknown.sort();
    tell(call, complaints, &unknown)?;
    Ok(match match_name(call, &Value::Null) {
        Err(error) => error,
        Ok(()) => call.not_found(),
    })
}

/// Complains about what is odd in a patch and about fields that nobody knows, as the request asks.
pub(super) fn tell(
    call: &mut Call<'_>,
    mut complaints: Vec<String>,
    unknown: &[String],
) -> Result<(), String> {
    complaints.extend(
        unknown
            .iter()
            .map(|path| format!("unknown field {}", go_quote(path))),
    );
    match call.validation {
        FieldValidation::Strict if !complaints.is_empty() => {
            Err(format!("strict decoding error: {}", complaints.join(", ")))
        }
        FieldValidation::Warn => {
            call.warnings.extend(complaints);
            Ok(())
        }
        FieldValidation::Strict | FieldValidation::Ignore => Ok(()),
    }
}

/// Why a patched built-in object is no object of this resource any more, if it is not.
fn foreign_kind(call: &Call<'_>, value: &mut Value) -> Option<String> {
    let resource = call.resource;
    resource.builtin()?;
    let wanted = resource.api_version();
    for (key, wanted) in [("apiVersion", wanted.as_str()), ("kind", &*resource.kind)] {
        if value[key].is_null() || value[key] == "" {
            value[key] = serde_json::json!(wanted);
        }
    }
    let kind = value["kind"].as_str()?;
    let version = value["apiVersion"].as_str()?;
    if *kind == *resource.kind && version == wanted {
        return None;
    }
    if version.matches('/').count() > 1 {
        return Some(format!("unexpected GroupVersion string: {version}"));
    }
    let known = builtin::RESOURCES
        .iter()
        .any(|r| *r.kind == *kind && r.api_version() == version);
    Some(if known {
        format!(
            "converting (v1.{kind}) to (core.{}): unknown conversion",
            resource.kind
        )
    } else {
        format!(
            "no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:111\"",
            go_quote(kind),
            go_quote(version)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn merge_patches() {
        let mut value = json!({"a": {"b": 1, "c": 2}, "d": [1]});
        merge(
            &mut value,
            json!({"a": {"b": null, "e": 3}, "d": [2], "f": {"g": null}}),
        );
        assert_eq!(value, json!({"a": {"c": 2, "e": 3}, "d": [2], "f": {}}));
        // Nulls inside of what is new mean nothing, in lists as well.
        merge(
            &mut value,
            json!({"d": [{"x": null, "y": 1}, null], "a": [{"x": null}]}),
        );
        assert_eq!(
            value,
            json!({"a": [{"x": null}], "d": [{"y": 1}, null], "f": {}})
        );
    }
}
