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
    update_with(state, call, "", |call, old| apply(call, old, kind, body))
}

/// The object after the patch, decoded.
fn apply(call: &mut Call<'_>, old: &Value, kind: PatchKind, body: &[u8]) -> ApiResult<Value> {
    let mut current = old.clone();
    if call.resource.builtin() == Some(Builtin::NewEvent) {
        builtin::event_from_core(&mut current);
    }
    let (patched, duplicates) = patch_value(call, &current, kind, body)?;
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
    let Document { value: patch, duplicates } = document;
    match kind {
        PatchKind::Json => {
            let mut patched = current.clone();
            json_patch(&mut patched, &patch, strict)?;
            Ok((patched, duplicates.iter().map(|d| format!("json patch {d}")).collect()))
        }
        PatchKind::Merge | PatchKind::Strategic => {
            if !patch.is_object() {
                let found = super::type_name(&patch);
                return Err(ApiError::bad_request(format!(
                    "{}json: cannot unmarshal {found} into Go value of type map[string]interface {{}}",
                    if kind == PatchKind::Merge { "error decoding patch: " } else { "" }
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
        let kind = if strict { "[]handlers.jsonPatchOp" } else { "jsonpatch.Patch" };
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
        step(value, operation)
            .map_err(|message| ApiError::new(422, "Invalid", message.clone()).with_message(message))?;
    }
    Ok(())
}

fn step(value: &mut Value, operation: &Value) -> Result<(), String> {
    let text = |key: &str| operation[key].as_str().unwrap_or_default().to_owned();
    let (op, path, from) = (text("op"), text("path"), text("from"));
    let payload = operation.get("value").cloned().unwrap_or(Value::Null);
    match op.as_str() {
        "add" => add(value, &path, payload)
            .map_err(|why| format!("add operation does not apply: doc is missing path: {}: {why}", go_quote(&path))),
        "remove" => remove(value, &path).map(drop).map_err(|why| {
            format!("remove operation does not apply: doc is missing path: {}: {why}", go_quote(&path))
        }),
        "replace" => match find(value, &path) {
            Some(place) => {
                *place = payload;
                Ok(())
            }
            None => Err(format!(
                "replace operation does not apply: doc is missing {}: {path}: missing value",
                if parent_exists(value, &path) { "key" } else { "path" }
            )),
        },
        "move" => {
            let moved = remove(value, &from).map_err(|why| {
                format!("move operation does not apply: doc is missing from path: {from}: {why}")
            })?;
            add(value, &path, moved).map_err(|why| {
                format!("move operation does not apply: doc is missing destination path: {path}: {why}")
            })
        }
        "copy" => {
            let copied = find(value, &from).cloned().ok_or_else(|| {
                format!("copy operation does not apply: doc is missing from path: {from}: missing value")
            })?;
            add(value, &path, copied).map_err(|why| {
                format!("copy operation does not apply: doc is missing destination path: {path}: {why}")
            })
        }
        "test" => {
            let found = find(value, &path).cloned();
            if found == Some(payload.clone()) || (found.is_none() && payload.is_null()) {
                Ok(())
            } else {
                Err(format!("testing value {path} failed: test failed"))
            }
        }
        other => Err(format!("Unexpected kind: {other}")),
    }
}

fn tokens(path: &str) -> Option<Vec<String>> {
    if path.is_empty() {
        return Some(Vec::new());
    }
    let rest = path.strip_prefix('/')?;
    Some(rest.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect())
}

fn index(token: &str, length: usize) -> Option<usize> {
    if let Some(back) = token.strip_prefix('-') {
        let back: usize = back.parse().ok()?;
        return length.checked_sub(back);
    }
    token.parse().ok()
}

fn find<'a>(value: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    tokens(path)?.iter().try_fold(value, |value, token| match value {
        Value::Object(map) => map.get_mut(token),
        Value::Array(items) => {
            let at = index(token, items.len())?;
            items.get_mut(at)
        }
        _ => None,
    })
}

fn split(path: &str) -> (&str, String) {
    let (parent, last) = path.rsplit_once('/').unwrap_or(("", path));
    (parent, last.replace("~1", "/").replace("~0", "~"))
}

fn parent_exists(value: &mut Value, path: &str) -> bool {
    find(value, split(path).0).is_some_and(|parent| parent.is_object() || parent.is_array())
}

fn add(value: &mut Value, path: &str, payload: Value) -> Result<(), String> {
    if path.is_empty() {
        *value = payload;
        return Ok(());
    }
    let (parent, last) = split(path);
    match find(value, parent) {
        Some(Value::Object(map)) => {
            map.insert(last, payload);
            Ok(())
        }
        Some(Value::Array(items)) => {
            let at = if last == "-" {
                items.len()
            } else {
                index(&last, items.len()).ok_or("missing value")?
            };
            if at > items.len() {
                return Err(format!(
                    "Unable to access invalid index: {last}: invalid index referenced"
                ));
            }
            items.insert(at, payload);
            Ok(())
        }
        _ => Err("missing value".to_owned()),
    }
}

fn remove(value: &mut Value, path: &str) -> Result<Value, String> {
    let (parent, last) = split(path);
    match find(value, parent) {
        Some(Value::Object(map)) => map
            .remove(&last)
            .ok_or_else(|| format!("Unable to remove nonexistent key: {last}: missing value")),
        Some(Value::Array(items)) => match index(&last, items.len()) {
            Some(at) if at < items.len() => Ok(items.remove(at)),
            _ => Err(format!("Unable to access invalid index: {last}: invalid index referenced")),
        },
        _ => Err("missing value".to_owned()),
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
    let Some(map) = target.as_object_mut() else { return };
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
        ApiError::invalid(About { group: "", resource: "" }, "", &[error])
    };
    let mut found = Findings::default();
    if !value.is_object() {
        return Err(invalid(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value \
             of type struct",
            super::type_name(&value)
        )));
    }
    super::check_type(call.resource, &value).map_err(|error| invalid(error.message().to_owned()))?;
    strategy::decode(call.resource, &mut value, &mut found).map_err(&invalid)?;
    let complaints: Vec<String> = duplicates
        .iter()
        .map(|path| match path.strip_prefix("json patch ") {
            Some(path) => format!("json patch duplicate field {}", go_quote(path)),
            None => format!("duplicate field {}", go_quote(path)),
        })
        .chain(found.unknown.iter().map(|path| format!("unknown field {}", go_quote(path))))
        .collect();
    if !complaints.is_empty() {
        match call.validation {
            FieldValidation::Ignore => {}
            FieldValidation::Warn => call.warnings.extend(complaints),
            FieldValidation::Strict => {
                return Err(invalid(format!("strict decoding error: {}", complaints.join(", "))));
            }
        }
    }
    strategy::default(call.resource, &mut value);
    Ok(value)
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
        for (op, message) in [
            (json!([{"op": "remove", "path": "/x"}]), "missing"),
            (json!([{"op": "test", "path": "/f", "value": 2}]), "testing value /f failed"),
            (json!([{"op": "add", "path": "/x/y", "value": 2}]), "missing"),
        ] {
            let error = json_patch(&mut value, &op, true).unwrap_err();
            assert_eq!(error.code, 422);
            assert!(error.message().contains(message), "{}", error.message());
        }
    }

    #[test]
    fn merge_patches() {
        let mut value = json!({"a": {"b": 1, "c": 2}, "d": [1]});
        merge(&mut value, json!({"a": {"b": null, "e": 3}, "d": [2], "f": {"g": null}}), false);
        assert_eq!(value, json!({"a": {"c": 2, "e": 3}, "d": [2], "f": {}}));
    }
}
