//! Lists in strategic merge patches: merged by a key of their items or as sets, and put in order.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::strategic::{ORDER, PATCH, Place, broken, merge_map, unknown_directive};
use crate::status::{ApiError, ApiResult};
use crate::text::go_format;

/// The items of a patch must come in the order that `$setElementOrder` gives.
pub(super) fn check_order(patch: &[Value], order: &[Value], key: &str) -> ApiResult<()> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut order_left = order.iter();
    for item in patch.iter().filter(|item| item.get(PATCH).is_none()) {
        let wanted = identity_of(item, key)?;
        loop {
            let Some(next) = order_left.next() else {
                return Err(broken(format!(
                    "The order in patch list:\n{}\n doesn't match {ORDER} list:\n{}\n",
                    go_format(&Value::from(patch)),
                    go_format(&Value::from(order))
                )));
            };
            if identity_of(next, key)? == wanted {
                break;
            }
        }
    }
    Ok(())
}

/// What tells an item of a list from the others: the item itself, or the value of its merge key.
fn identity_of<'a>(item: &'a Value, key: &str) -> ApiResult<&'a Value> {
    if key.is_empty() {
        return Ok(item);
    }
    let Value::Object(map) = item else {
        return Err(broken("value for key is not a map"));
    };
    map.get(key).ok_or_else(|| {
        broken(format!(
            "map: {} does not contain declared merge key: {key}",
            go_format(item)
        ))
    })
}

/// Lists can be merged only if all their items are of one type.
pub(super) fn same_type(left: &[Value], right: &[Value]) -> ApiResult<()> {
    let mut items = left.iter().chain(right);
    let Some(first) = items.next() else {
        return Ok(());
    };
    if first.is_array() {
        // Told as a patch that does not apply.
        return Err(ApiError::rejected());
    }
    let kind = |value: &Value| (std::mem::discriminant(value), value.is_f64());
    if first.is_null() || items.any(|item| kind(item) != kind(first)) {
        let shown = go_format(&Value::from(vec![Value::from(left), Value::from(right)]));
        return Err(broken(format!(
            "list element types are not identical: {shown}"
        )));
    }
    Ok(())
}

/// Merges a list by the key of its items, or as a set.
pub(super) fn merge_list(
    original: &mut Vec<Value>,
    patch: Vec<Value>,
    place: &Place<'_>,
) -> ApiResult<()> {
    if original.is_empty() && patch.is_empty() {
        return Ok(());
    }
    same_type(original, &patch)?;
    let is_map = original.iter().chain(&patch).any(Value::is_object);
    let key = place.merge_key.unwrap_or_default();
    if !is_map {
        let server_order = original.clone();
        for item in &patch {
            original.push(item.clone());
        }
        deduplicate(original);
        *original = in_order(std::mem::take(original), &patch, &server_order, key)?;
        return Ok(());
    }
    if key.is_empty() {
        return Err(broken("cannot merge lists without merge key for struct"));
    }
    let patch = special_items(original, patch, key)?;
    let server_order = original.clone();
    let mut known = positions(original, key)?;
    for item in &patch {
        let identity = identity_of(item, key)?.to_string();
        let found = known.get(&identity).and_then(|at| original.get_mut(*at));
        if let (Some(Value::Object(found)), Value::Object(item)) = (found, item) {
            merge_map(found, item.clone(), place.shape)?;
        } else {
            known.insert(identity, original.len());
            original.push(item.clone());
        }
    }
    *original = in_order(std::mem::take(original), &patch, &server_order, key)?;
    Ok(())
}

/// Does what `$patch` in items of a list says; the answer is the items to be merged.
fn special_items(original: &mut Vec<Value>, patch: Vec<Value>, key: &str) -> ApiResult<Vec<Value>> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut replaces = false;
    for item in patch {
        let Some(directive) = item.get(PATCH) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let gone = identity_of(&item, key)?;
                original.retain(|one| one.get(key) != Some(gone));
            }
            Some("replace") => replaces = true,
            Some("merge") => {
                return Err(broken("merging lists cannot yet be specified in the patch"));
            }
            _ => {
                let map = item.as_object().cloned().unwrap_or_default();
                return Err(unknown_directive(directive, &map));
            }
        }
    }
    if replaces {
        *original = plain;
        return Ok(Vec::new());
    }
    Ok(plain)
}

fn deduplicate(items: &mut Vec<Value>) {
    let mut seen = BTreeSet::new();
    items.retain(|item| seen.insert(item.to_string()));
}

/// Where each item of a list first is, by what tells it from the others.
fn positions(list: &[Value], key: &str) -> ApiResult<BTreeMap<String, usize>> {
    let mut positions = BTreeMap::new();
    for (at, item) in list.iter().enumerate() {
        let identity = identity_of(item, key)?.to_string();
        positions.entry(identity).or_insert(at);
    }
    Ok(positions)
}

/// Items that `order` names come in that order, the others as on the server, both interleaved as
/// they were there.
pub(super) fn in_order(
    items: Vec<Value>,
    order: &[Value],
    server_order: &[Value],
    key: &str,
) -> ApiResult<Vec<Value>> {
    let (wanted, server) = (positions(order, key)?, positions(server_order, key)?);
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for item in items {
        let identity = identity_of(&item, key)?.to_string();
        let at_server = server.get(&identity).copied();
        match wanted.get(&identity).copied() {
            Some(at) => named.push((at, at_server, item)),
            None => others.push((at_server, item)),
        }
    }
    named.sort_by_key(|(at, _, _)| *at);
    others.sort_by_key(|(at, _)| *at);
    let mut sorted = Vec::with_capacity(named.len() + others.len());
    let mut others = others.into_iter().peekable();
    for (_, at_server, item) in named {
        while let Some(at_server) = at_server
            && let Some((_, other)) =
                others.next_if(|(other, _)| other.is_some_and(|other| other < at_server))
        {
            sorted.push(other);
        }
        sorted.push(item);
    }
    sorted.extend(others.map(|(_, item)| item));
    Ok(sorted)
}
