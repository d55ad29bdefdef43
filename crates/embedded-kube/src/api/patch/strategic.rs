//! Strategic merge patches of built-in kinds: maps by key, lists as their fields say.
//!
//! A list with a merge key is merged item by item, a list that is a set takes in what is new, any
//! other list is replaced. Directives in the patch say more: `$patch` (`replace`, `delete`),
//! `$retainKeys`, `$deleteFromPrimitiveList/…` and `$setElementOrder/…`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::lists::{check_order, in_order, merge_list, same_type};
use crate::status::{ApiError, ApiResult};
use crate::text::go_format;
use crate::typed::{Struct, Type};

pub(super) const PATCH: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const DELETE: &str = "$deleteFromPrimitiveList";
pub(super) const ORDER: &str = "$setElementOrder";

/// Merges `patch` into an object of a kind with these fields.
pub(super) fn apply(
    object: &mut Value,
    patch: Map<String, Value>,
    fields: &Struct,
) -> ApiResult<()> {
    let map = object.as_object_mut().ok_or_else(ApiError::rejected)?;
    merge_map(map, patch, Shape::Struct(fields))
}

/// What is known of the value that is being merged.
#[derive(Clone, Copy)]
pub(super) enum Shape<'a> {
    Struct(&'a Struct),
    /// A map from texts to values of one type.
    Map,
    /// Values that nobody describes.
    Free,
}

/// What is known of one field.
pub(super) struct Place<'a> {
    /// The field itself, or the items of a list.
    pub(super) shape: Shape<'a>,
    pub(super) merge_key: Option<&'static str>,
}

impl<'a> Shape<'a> {
    fn of(kind: &'a Type) -> Self {
        match kind {
            Type::Struct(fields) => Self::Struct(fields),
            Type::Map(_) => Self::Map,
            Type::List(item) => Self::of(item),
            _ => Self::Free,
        }
    }

    fn field(self, key: &str) -> ApiResult<Place<'a>> {
        let fields = match self {
            Self::Struct(fields) => fields,
            Self::Map => {
                return Err(broken(
                    "merging an object in json but data type is not struct, instead is: map",
                ));
            }
            Self::Free => {
                return Ok(Place {
                    shape: Self::Free,
                    merge_key: None,
                });
            }
        };
        let found = fields.fields.iter().find(|field| field.name == key);
        let field = found.ok_or_else(|| {
            broken(format!(
                "unable to find api field in struct {} for the json field \"{key}\"",
                fields.name
            ))
        })?;
        Ok(Place {
            shape: Self::of(&field.kind),
            merge_key: field.merge_key,
        })
    }
}

/// A patch that the real server stumbles over.
pub(super) fn broken(message: impl Into<String>) -> ApiError {
    ApiError::new(500, "", message)
}

fn malformed(what: &str) -> ApiError {
    ApiError::bad_request(format!("invalid patch format of {what}"))
}

pub(super) fn merge_map(
    original: &mut Map<String, Value>,
    mut patch: Map<String, Value>,
    shape: Shape<'_>,
) -> ApiResult<()> {
    if let Some(directive) = patch.get(PATCH) {
        match directive.as_str() {
            Some("replace") => {
                patch.remove(PATCH);
                *original = patch;
            }
            Some("delete") => original.clear(),
            _ => return Err(unknown_directive(directive, &patch)),
        }
        return Ok(());
    }
    retain_keys(original, &mut patch)?;
    set_orders(original, &mut patch, shape)?;
    for (key, value) in patch {
        let deletes = key.starts_with(DELETE);
        let key = if deletes {
            below(&key, DELETE).ok_or_else(|| malformed("primitive list"))?
        } else {
            key
        };
        merge_field(original, key, value, shape, deletes)?;
    }
    Ok(())
}

fn merge_field(
    original: &mut Map<String, Value>,
    key: String,
    value: Value,
    shape: Shape<'_>,
    deletes: bool,
) -> ApiResult<()> {
    match (original.get_mut(&key), value) {
        (_, Value::Null) => {
            original.remove(&key);
        }
        (Some(Value::Object(before)), Value::Object(value)) => {
            merge_map(before, value, shape.field(&key)?.shape)?;
        }
        (Some(Value::Array(before)), Value::Array(value)) => {
            let place = shape.field(&key)?;
            if deletes && !value.iter().chain(before.iter()).any(Value::is_object) {
                same_type(before, &value)?;
                let gone: BTreeSet<String> = value.iter().map(Value::to_string).collect();
                before.retain(|item| !gone.contains(&item.to_string()));
            } else if deletes || place.merge_key.is_some() {
                merge_list(before, value, &place)?;
            } else {
                *before = value;
            }
        }
        // What is to be deleted from is not there, or no list.
        (_, _) if deletes => {}
        (_, mut value) => {
            drop_nulls(&mut value);
            match without_directives(value) {
                Some(value) => original.insert(key, value),
                None => original.remove(&key),
            };
        }
    }
    Ok(())
}

/// The name of the field that a directive such as `$setElementOrder/finalizers` is about.
fn below(key: &str, directive: &str) -> Option<String> {
    let (before, name) = key.split_once('/')?;
    (before == directive).then(|| name.to_owned())
}

pub(super) fn unknown_directive(directive: &Value, patch: &Map<String, Value>) -> ApiError {
    let map = Value::Object(patch.clone());
    let shown = directive
        .as_str()
        .map_or_else(|| format!("%!s({})", go_format(directive)), str::to_owned);
    broken(format!(
        "unknown patch type: {shown} in map: {}",
        go_format(&map)
    ))
}

/// `$retainKeys`: other keys of the original go.
fn retain_keys(original: &mut Map<String, Value>, patch: &mut Map<String, Value>) -> ApiResult<()> {
    let Some(keys) = patch.remove(RETAIN) else {
        return Ok(());
    };
    let Value::Array(keys) = keys else {
        return Err(malformed("retainKeys"));
    };
    let keys: BTreeSet<&str> = keys.iter().filter_map(Value::as_str).collect();
    let allowed = |(key, value): (&String, &Value)| {
        value.is_null()
            || key.starts_with(DELETE)
            || key.starts_with(ORDER)
            || keys.contains(key.as_str())
    };
    if !patch.iter().all(allowed) {
        return Err(malformed("retainKeys"));
    }
    original.retain(|key, _| keys.contains(key.as_str()));
    Ok(())
}

/// `$setElementOrder`: lists are merged and put into that order; the patch keeps the rest.
fn set_orders(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    shape: Shape<'_>,
) -> ApiResult<()> {
    let directives: Vec<String> = patch
        .keys()
        .filter(|key| key.starts_with(ORDER))
        .cloned()
        .collect();
    for directive in directives {
        let order = match patch.remove(&directive) {
            Some(Value::Array(order)) => order,
            other => return Err(not_a_list(&other.unwrap_or_default())),
        };
        let key = below(&directive, ORDER).ok_or_else(|| malformed("setElementOrder list"))?;
        let before = match original.get(&key) {
            Some(Value::Array(before)) => Some(before.clone()),
            Some(other) => return Err(not_a_list(other)),
            None => None,
        };
        let added = match patch.get(&key) {
            Some(Value::Array(added)) => Some(added.clone()),
            Some(other) => return Err(not_a_list(other)),
            None => None,
        };
        let place = shape.field(&key)?;
        let merge_key = place.merge_key.unwrap_or_default();
        check_order(added.as_deref().unwrap_or_default(), &order, merge_key)?;
        let server_order = before.clone().unwrap_or_default();
        same_type(&server_order, added.as_deref().unwrap_or_default())?;
        let merged = match (before, added) {
            (None, None) => continue,
            (Some(before), None) => before,
            (None, Some(added)) => added.into_iter().filter_map(without_directives).collect(),
            (Some(mut before), Some(added)) if place.merge_key.is_some() => {
                merge_list(&mut before, added, &place)?;
                before
            }
            (Some(_), Some(added)) => added,
        };
        if server_order.is_empty() && !patch.get(&key).is_some_and(is_filled) {
            return Err(broken("no elements in any of the given slices"));
        }
        let merged = in_order(merged, &order, &server_order, merge_key)?;
        original.insert(key.clone(), Value::Array(merged));
        patch.remove(&key);
    }
    Ok(())
}

fn is_filled(list: &Value) -> bool {
    list.as_array().is_some_and(|list| !list.is_empty())
}

fn not_a_list(found: &Value) -> ApiError {
    let found = match found {
        Value::Object(_) => "map[string]interface {}",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::Array(_) => "[]interface {}",
        Value::Null => "%!s(<nil>)",
    };
    broken(format!(
        "expected a []interface {{}}, but received a {found}"
    ))
}

/// Nulls in what is new mean nothing.
pub(super) fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// What is new without the parts that hold a directive; none if it is one itself.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(PATCH) => None,
        Value::Object(map) => {
            let fields = map
                .into_iter()
                .filter_map(|(key, value)| Some((key, without_directives(value)?)));
            Some(Value::Object(fields.collect()))
        }
        Value::Array(items) => {
            let items = items.into_iter().filter_map(without_directives);
            Some(Value::Array(items.collect()))
        }
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    use crate::builtin::Builtin;

    fn patched(mut object: Value, patch: Value) -> ApiResult<Value> {
        let Value::Object(patch) = patch else {
            panic!("a patch is an object")
        };
        apply(&mut object, patch, Builtin::ServiceAccount.fields())?;
        Ok(object)
    }

    #[test]
    fn lists_are_merged_by_their_keys() {
        let object = json!({"secrets": [{"name": "a"}, {"name": "b", "kind": "x"}]});
        let patch = json!({"secrets": [
            {"name": "b", "uid": "u"}, {"name": "c"}, {"$patch": "delete", "name": "a"}]});
        assert_eq!(
            patched(object, patch).unwrap(),
            json!({"secrets": [{"name": "b", "kind": "x", "uid": "u"}, {"name": "c"}]})
        );
    }

    #[test]
    fn sets_take_in_what_is_new_and_give_up_what_is_named() {
        let object = json!({"metadata": {"finalizers": ["a", "b", "c"]}});
        let patch = json!({"metadata": {"finalizers": ["d", "b"]}});
        assert_eq!(
            patched(object.clone(), patch).unwrap(),
            json!({"metadata": {"finalizers": ["d", "a", "b", "c"]}})
        );
        let patch = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["b", "x"]}});
        assert_eq!(
            patched(object.clone(), patch).unwrap(),
            json!({"metadata": {"finalizers": ["a", "c"]}})
        );
        let patch = json!({"metadata": {"$setElementOrder/finalizers": ["c", "a"]}});
        assert_eq!(
            patched(object, patch).unwrap(),
            json!({"metadata": {"finalizers": ["b", "c", "a"]}})
        );
    }

    #[test]
    fn directives_replace_delete_and_retain() {
        let object = json!({"metadata": {"labels": {"a": "1", "b": "2"}}});
        for (labels, expected) in [
            (json!({"$patch": "replace", "c": "3"}), json!({"c": "3"})),
            (json!({"$patch": "delete"}), json!({})),
            (
                json!({"$retainKeys": ["b", "c"], "c": "3"}),
                json!({"b": "2", "c": "3"}),
            ),
        ] {
            let patch = json!({"metadata": {"labels": labels}});
            assert_eq!(
                patched(object.clone(), patch).unwrap()["metadata"]["labels"],
                expected
            );
        }
        let refused = json!({"metadata": {"labels": {"$retainKeys": ["b"], "c": "3"}}});
        assert_eq!(patched(object, refused).unwrap_err().code, 400);
    }
}
