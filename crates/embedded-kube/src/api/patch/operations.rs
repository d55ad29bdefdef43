//! JSON patches: a list of operations, one after the other.

use serde_json::Value;

use crate::deep;
use crate::status::{ApiError, ApiResult};

/// How many operations a patch may have.
const MAX_OPERATIONS: usize = 10_000;
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
            // A missing key is copied as null.
            let from = tokens(text("from")?)?;
            let (_, parent) = from.split_last()?;
            descend(value, parent).filter(|parent| parent.is_object() || parent.is_array())?;
            let copy = descend(value, &from).map_or(Value::Null, |found| found.clone());
            *copied += copy.to_string().len();
            add(value, path, copy)
        }
        "test" => {
            let found = find(value, path).map(|found| &*found);
            let equal = match found {
                Some(found) => found == payload,
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

/// Adds a value, unless the document would nest deeper than one may.
fn add(value: &mut Value, path: &str, payload: Value) -> Option<()> {
    let tokens = tokens(path)?;
    if tokens.len() + levels(&payload) > deep::MAX_DEPTH {
        return None;
    }
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
