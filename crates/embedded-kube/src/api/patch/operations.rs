//! JSON patches: a list of operations, one after the other.

use serde_json::Value;

use crate::deep;
use crate::status::{ApiError, ApiResult};

/// How many operations a patch may have.
const MAX_OPERATIONS: usize = 10_000;
/// How many unknown fields are told.
const MAX_UNKNOWN: usize = 100;
/// How many bytes the `copy` operations of a patch may copy.
const MAX_COPIED: usize = 3 * 1024 * 1024;

/// Applies the operations of a JSON patch.
pub(super) fn apply(value: &mut Value, patch: &Value, strict: bool) -> ApiResult<()> {
    let Value::Array(operations) = patch else {
        let prefix = if strict { "error decoding patch: " } else { "" };
        let kind = if strict {
            "[]handlers.jsonPatchOp"
        } else {
            "jsonpatch.Patch"
        };
        return Err(ApiError::bad_request(format!(
            "{prefix}json: cannot unmarshal {} into Go value of type {kind}",
            crate::api::type_name(patch)
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
    let mut copied = 0;
    for operation in operations {
        step(value, operation, &mut copied).ok_or_else(ApiError::rejected)?;
        if copied > MAX_COPIED {
            return Err(ApiError::rejected());
        }
    }
    // A list is told as an object of no kind.
    if value.is_object() || value.is_array() {
        Ok(())
    } else {
        Err(ApiError::rejected())
    }
}

/// Whether an operation is one at all.
fn well_formed(operation: &Value, strict: bool) -> ApiResult<()> {
    let wrong = |found: &Value, place: &str, kind: &str| {
        let prefix = if strict { "error decoding patch: " } else { "" };
        let found = crate::api::type_name(found);
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

/// The fields that operations have and do not know, as `[0].more`.
pub(super) fn unknown_fields(patch: &Value) -> Vec<String> {
    let known = |key: &str| matches!(key, "op" | "path" | "from" | "value");
    let operations = patch.as_array().into_iter().flatten().enumerate();
    let unknown = operations.flat_map(|(index, operation)| {
        let keys = operation
            .as_object()
            .into_iter()
            .flat_map(serde_json::Map::keys);
        let strange = keys.filter(|key| !known(key));
        strange.map(move |key| format!("[{index}].{key}"))
    });
    unknown.take(MAX_UNKNOWN).collect()
}

/// One operation; none if it does not apply. `copied` grows by the bytes that it copies.
fn step(value: &mut Value, operation: &Value, copied: &mut usize) -> Option<()> {
    let text = |key: &str| operation[key].as_str();
    let payload = &operation["value"];
    let path = text("path")?;
    match text("op")? {
        "add" => add(value, path, payload.clone()),
        "remove" => remove(value, path).map(drop),
        "replace" => replace(value, path, payload.clone()),
        "move" => {
            let moved = remove(value, text("from")?)?;
            add(value, path, moved)
        }
        "copy" => {
            let from = tokens(text("from")?)?;
            from.split_last()?;
            let copy = look_up(value, &from)?;
            *copied += copy.to_string().len();
            add(value, path, copy)
        }
        "test" => {
            let found = look_up(value, &tokens(path)?)?;
            (found == *payload).then_some(())
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

/// The place that a token names in a list of this length; negative ones count from its end.
fn index(token: &str, length: usize) -> Option<usize> {
    let place: i64 = token.parse().ok()?;
    let back = usize::try_from(place.unsigned_abs()).ok()?;
    if place < 0 {
        length.checked_sub(back)
    } else {
        Some(back)
    }
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

/// What is there; a missing key of a map is null, a missing place of a list is nothing.
fn look_up(value: &mut Value, tokens: &[String]) -> Option<Value> {
    let Some((last, parent)) = tokens.split_last() else {
        return Some(value.clone());
    };
    match descend(value, parent)? {
        Value::Object(map) => Some(map.get(last).cloned().unwrap_or(Value::Null)),
        Value::Array(items) => items.get(index(last, items.len())?).cloned(),
        _ => None,
    }
}

/// Adds a value, unless the document would nest deeper than one may.
fn add(value: &mut Value, path: &str, payload: Value) -> Option<()> {
    let tokens = tokens(path)?;
    if tokens.len() + levels(&payload) > deep::MAX_DEPTH {
        return None;
    }
    // The whole can be replaced, but not added.
    let (last, parent) = tokens.split_last()?;
    match descend(value, parent)? {
        Value::Object(map) => {
            map.insert(last.clone(), payload);
        }
        Value::Array(items) => {
            // Counted from its end, the list is as long as it will be.
            let at = if last == "-" {
                items.len()
            } else {
                index(last, items.len() + 1)?
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

fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

/// Replaces a value; a key that is missing is added, as the real server does.
fn replace(value: &mut Value, path: &str, payload: Value) -> Option<()> {
    let tokens = tokens(path)?;
    let Some((last, parent)) = tokens.split_last() else {
        *value = payload;
        return Some(());
    };
    match descend(value, parent)? {
        Value::Array(items) => {
            let at = index(last, items.len())?;
            *items.get_mut(at)? = payload;
            Some(())
        }
        _ => add(value, path, payload),
    }
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
        apply(&mut value, &patch, true).unwrap();
        assert_eq!(value, json!({"a": {"b": [9, 3]}, "e": [9, 3], "f": 1}));
        for operation in [
            json!([{"op": "remove", "path": "/x"}]),
            json!([{"op": "test", "path": "/f", "value": 2}]),
            json!([{"op": "add", "path": "/x/y", "value": 2}]),
            json!([{"op": "nonsense", "path": "/f"}]),
        ] {
            assert_eq!(apply(&mut value, &operation, true).unwrap_err().code, 422);
        }
    }
}
