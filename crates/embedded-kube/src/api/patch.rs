//! Patching objects.

use serde_json::{Map, Value};

use super::{Call, Done, FieldValidation, match_name, update_with};
use crate::builtin::{self, Builtin};
use crate::json::{self, Document};
use crate::state::State;
use crate::status::{About, ApiError, ApiResult, FieldError};
use crate::strategy;
use crate::text::go_quote;
use crate::typed::Findings;

/// How many operations a JSON patch may have.
const MAX_OPERATIONS: usize = 10_000;

/// The kind of a patch, from its content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchKind {
    Json,
    Merge,
    /// As the real server merges built-in kinds: here by key, with lists replaced.
    Strategic,
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
    let (patched, duplicates) = patch_value(call, &current, kind, body)?;
    super::warn_of_lost_fields(state, call, &patched, &[])?;
    let value = decode(call, patched, &duplicates)?;
    match_patched_name(call, &value)?;
    Ok(value)
}

fn match_patched_name(call: &Call<'_>, value: &Value) -> ApiResult<()> {
    let namespace = crate::meta::text(value, "namespace");
    if call.resource.namespaced && !namespace.is_empty() && namespace != call.namespace {
        return Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    match_name(call, value)
}

/// Applies a patch to a value.
pub(super) fn patch_value(
    call: &Call<'_>,
    current: &Value,
    kind: PatchKind,
    body: &[u8],
) -> ApiResult<(Value, Vec<String>)> {
    let strict = call.validation != FieldValidation::Ignore;
    let document = json::parse(body).map_err(|message| {
        ApiError::bad_request(match kind {
            PatchKind::Strategic => message,
            _ if strict => format!("error decoding patch: {message}"),
            PatchKind::Json => message,
            PatchKind::Merge => "Invalid JSON Patch".to_owned(),
        })
    })?;
    let Document {
        value: patch,
        duplicates,
    } = document;
    match kind {
        PatchKind::Json => {
            let mut patched = current.clone();
            json_patch(&mut patched, &patch, strict)?;
            Ok((
                patched,
                duplicates
                    .iter()
                    .map(|d| format!("json patch {d}"))
                    .collect(),
            ))
        }
        PatchKind::Merge | PatchKind::Strategic => {
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
            merge(&mut patched, patch, kind == PatchKind::Strategic);
            Ok((patched, duplicates))
        }
    }
}

fn json_patch(value: &mut Value, patch: &Value, strict: bool) -> ApiResult<()> {
    let Value::Array(operations) = patch else {
        let prefix = if strict { "error decoding patch: " } else { "" };
        let kind = if strict {
            "[]handlers.jsonPatchOp"
        } else {
            "jsonpatch.Patch"
        };
        return Err(ApiError::bad_request(format!(
            "{prefix}json: cannot unmarshal {} into Go value of type {kind}",
            super::type_name(patch)
        )));
    };
    if operations.len() > MAX_OPERATIONS {
        return Err(ApiError::too_large(&format!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
            operations.len()
        )));
    }
    for operation in operations {
        well_formed(operation, strict)?;
    }
    for operation in operations {
        step(value, operation).ok_or_else(ApiError::rejected)?;
    }
    if value.is_object() {
        Ok(())
    } else {
        Err(ApiError::rejected())
    }
}

/// Whether an operation is one at all.
fn well_formed(operation: &Value, strict: bool) -> ApiResult<()> {
    let wrong = |found: &Value, place: &str, kind: &str| {
        let prefix = if strict { "error decoding patch: " } else { "" };
        let found = super::type_name(found);
        Err(ApiError::bad_request(format!(
            "{prefix}json: cannot unmarshal {found} into Go {place} of type {kind}"
        )))
    };
    if operation.is_null() {
        return Ok(());
    }
    if !operation.is_object() {
        return wrong(operation, "value", "handlers.jsonPatchOp");
    }
    for key in ["op", "path", "from"] {
        let value = &operation[key];
        if !value.is_null() && !value.is_string() {
            return wrong(value, &format!("struct field jsonPatchOp.{key}"), "string");
        }
    }
    Ok(())
}

/// One operation; none if it does not apply.
fn step(value: &mut Value, operation: &Value) -> Option<()> {
    let text = |key: &str| operation[key].as_str();
    let payload = operation.get("value").cloned().unwrap_or(Value::Null);
    let path = text("path")?;
    match text("op")? {
        "add" => add(value, path, payload),
        "remove" => remove(value, path).map(drop),
        "replace" => replace(value, path, payload),
        "move" => {
            let moved = remove(value, text("from")?)?;
            add(value, path, moved)
        }
        "copy" => {
            // A missing key is copied as null.
            let from = tokens(text("from")?)?;
            let (_, parent) = from.split_last()?;
            descend(value, parent).filter(|parent| parent.is_object() || parent.is_array())?;
            let copied = descend(value, &from).map_or(Value::Null, |found| found.clone());
            add(value, path, copied)
        }
        "test" => {
            let found = find(value, path).map(|found| &*found);
            let equal = match found {
                Some(found) => *found == payload,
                None => payload.is_null(),
            };
            equal.then_some(())
        }
        _ => None,
    }
}

/// The keys of a path: what precedes the first slash does not count.
fn tokens(path: &str) -> Option<Vec<String>> {
    if path.is_empty() {
        return Some(Vec::new());
    }
    let (_, rest) = path.split_once('/')?;
    Some(
        rest.split('/')
            .map(|token| token.replace("~1", "/").replace("~0", "~"))
            .collect(),
    )
}

fn index(token: &str, length: usize) -> Option<usize> {
    if let Some(back) = token.strip_prefix('-') {
        let back: usize = back.parse().ok()?;
        return length.checked_sub(back);
    }
    token.parse().ok()
}

fn descend<'a>(value: &'a mut Value, tokens: &[String]) -> Option<&'a mut Value> {
    tokens.iter().try_fold(value, |value, token| match value {
        Value::Object(map) => map.get_mut(token),
        Value::Array(items) => {
            let at = index(token, items.len())?;
            items.get_mut(at)
        }
        _ => None,
    })
}

fn find<'a>(value: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    descend(value, &tokens(path)?)
}

fn add(value: &mut Value, path: &str, payload: Value) -> Option<()> {
    let tokens = tokens(path)?;
    let Some((last, parent)) = tokens.split_last() else {
        *value = payload;
        return Some(());
    };
    match descend(value, parent)? {
        Value::Object(map) => {
            map.insert(last.clone(), payload);
        }
        Value::Array(items) => {
            let at = if last == "-" {
                items.len()
            } else {
                index(last, items.len())?
            };
            if at > items.len() {
                return None;
            }
            items.insert(at, payload);
        }
        _ => return None,
    }
    Some(())
}

/// Replaces a value; a key that is missing is added, as the real server does.
fn replace(value: &mut Value, path: &str, payload: Value) -> Option<()> {
    let tokens = tokens(path)?;
    let Some((last, parent)) = tokens.split_last() else {
        *value = payload;
        return Some(());
    };
    match descend(value, parent)? {
        Value::Object(map) => {
            map.insert(last.clone(), payload);
        }
        Value::Array(items) => {
            let at = index(last, items.len())?;
            *items.get_mut(at)? = payload;
        }
        _ => return None,
    }
    Some(())
}

fn remove(value: &mut Value, path: &str) -> Option<Value> {
    let tokens = tokens(path)?;
    let (last, parent) = tokens.split_last()?;
    match descend(value, parent)? {
        Value::Object(map) => map.remove(last),
        Value::Array(items) => {
            let at = index(last, items.len())?;
            (at < items.len()).then(|| items.remove(at))
        }
        _ => None,
    }
}

/// Merges `patch` into `target`; nulls remove.
fn merge(target: &mut Value, patch: Value, strategic: bool) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(map) = target.as_object_mut() else {
        return;
    };
    if strategic && patch.get("$patch").and_then(Value::as_str) == Some("replace") {
        map.clear();
    }
    for (key, value) in patch {
        if strategic && key == "$patch" {
            continue;
        }
        if value.is_null() {
            map.remove(&key);
        } else if strategic && key == "finalizers" && value.is_array() {
            let list = map.entry(key).or_insert_with(|| Value::Array(Vec::new()));
            if let (Value::Array(list), Value::Array(added)) = (list, value) {
                for item in added {
                    if !list.contains(&item) {
                        list.push(item);
                    }
                }
            }
        } else if strategic && key.starts_with("$deleteFromPrimitiveList/") {
            let name = key.trim_start_matches("$deleteFromPrimitiveList/");
            if let (Some(Value::Array(list)), Value::Array(gone)) = (map.get_mut(name), &value) {
                list.retain(|item| !gone.contains(item));
            }
        } else {
            merge(map.entry(key).or_insert(Value::Null), value, strategic);
        }
    }
}

/// Decodes a patched object; what is wrong is reported as an invalid patch.
fn decode(call: &mut Call<'_>, mut value: Value, duplicates: &[String]) -> ApiResult<Value> {
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
    if let Some(why) = foreign_kind(call, &mut value) {
        return Err(invalid(why));
    }
    strategy::decode(call.resource, &mut value, &mut found).map_err(&invalid)?;
    if call.resource.custom().is_none() {
        found.unknown.sort();
    }
    let complaints: Vec<String> = duplicates
        .iter()
        .map(|path| match path.strip_prefix("json patch ") {
            Some(path) => format!("json patch duplicate field {}", go_quote(path)),
            None => format!("duplicate field {}", go_quote(path)),
        })
        .chain(
            found
                .unknown
                .iter()
                .map(|path| format!("unknown field {}", go_quote(path))),
        )
        .collect();
    if !complaints.is_empty() {
        match call.validation {
            FieldValidation::Ignore => {}
            FieldValidation::Warn => call.warnings.extend(complaints),
            FieldValidation::Strict => {
                return Err(invalid(format!(
                    "strict decoding error: {}",
                    complaints.join(", ")
                )));
            }
        }
    }
    strategy::default(call.resource, &mut value);
    Ok(value)
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
    fn json_patches() {
        let mut value = json!({"a": {"b": [1, 2]}, "c/d": 1});
        let patch = json!([
            {"op": "test", "path": "/c~1d", "value": 1},
            {"op": "add", "path": "/a/b/-", "value": 3},
            {"op": "remove", "path": "/a/b/0"},
            {"op": "replace", "path": "/a/b/0", "value": 9},
            {"op": "copy", "from": "/a/b", "path": "/e"},
            {"op": "move", "from": "/c~1d", "path": "/f"}
        ]);
        json_patch(&mut value, &patch, true).unwrap();
        assert_eq!(value, json!({"a": {"b": [9, 3]}, "e": [9, 3], "f": 1}));
        for operation in [
            json!([{"op": "remove", "path": "/x"}]),
            json!([{"op": "test", "path": "/f", "value": 2}]),
            json!([{"op": "add", "path": "/x/y", "value": 2}]),
            json!([{"op": "nonsense", "path": "/f"}]),
        ] {
            assert_eq!(
                json_patch(&mut value, &operation, true).unwrap_err().code,
                422
            );
        }
    }

    #[test]
    fn merge_patches() {
        let mut value = json!({"a": {"b": 1, "c": 2}, "d": [1]});
        merge(
            &mut value,
            json!({"a": {"b": null, "e": 3}, "d": [2], "f": {"g": null}}),
            false,
        );
        assert_eq!(value, json!({"a": {"c": 2, "e": 3}, "d": [2], "f": {}}));
    }
}
