//! What two values of one shape have that the other has not.

use serde_json::{Map as Object, Value};

use super::element::{Element, same};
use super::set::{Node, Set};
use super::shape::{Form, Forms, List, Map, Ref};
use super::typed::fits;

/// The fields by which the second value differs from the first.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) removed: Set,
    pub(crate) modified: Set,
    pub(crate) added: Set,
}

impl Comparison {
    /// The same without these fields and what is below them.
    pub(super) fn without(self, reset: Option<&Set>) -> Self {
        match reset {
            None => self,
            Some(reset) => Self {
                removed: self.removed.without(reset),
                modified: self.modified.without(reset),
                added: self.added.without(reset),
            },
        }
    }
}

/// Compares two values of one shape.
pub(super) fn compare(at: Ref<'_>, old: &Value, new: &Value) -> Result<Comparison, String> {
    let mut found = Found::default();
    walk(Some(at), Some(old), Some(new), &mut found)?;
    Ok(Comparison {
        removed: found.removed.below,
        modified: found.modified.below,
        added: found.added.below,
    })
}

/// What was found at one place and below it.
#[derive(Default)]
struct Found {
    removed: Node,
    modified: Node,
    added: Node,
}

impl Found {
    fn attach(&mut self, element: impl Fn() -> Element, below: Self) {
        for (node, below) in [
            (&mut self.removed, below.removed),
            (&mut self.modified, below.modified),
            (&mut self.added, below.added),
        ] {
            if !below.is_empty() {
                node.below.attach(element(), below);
            }
        }
    }

    /// A value that is compared as a whole.
    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, _) => self.added.member = true,
            (_, None) => self.removed.member = true,
            (Some(old), Some(new)) => self.modified.member |= !same(old, new),
        }
    }
}

fn walk(
    at: Option<Ref<'_>>,
    old: Option<&Value>,
    new: Option<&Value>,
    found: &mut Found,
) -> Result<(), String> {
    let atom = at.map(Ref::atom).unwrap_or_default();
    let (before, after) = (atom.deduce(old), atom.deduce(new));
    let mut treat = |forms: Forms| -> Result<bool, String> {
        match atom.form(forms)? {
            Form::Scalar(scalar) => {
                let (left, right) = (fits(scalar, old, "lhs: "), fits(scalar, new, "rhs: "));
                if let (Err(left), Err(_)) = (left, right) {
                    return Err(left);
                }
                found.leaf(old, new);
                Ok(true)
            }
            Form::Map(map) => maps(map, old, new, found),
            Form::List(list) => lists(list, old, new, found),
        }
    };
    // What changes from one form to another is compared in both.
    let is_leaf = if new.is_none() {
        treat(before)?
    } else {
        if old.is_some() && before != after {
            treat(before)?;
        }
        treat(after)?
    };
    if !is_leaf {
        found.added.member |= old.is_none();
        found.removed.member |= old.is_some() && new.is_none();
    }
    Ok(())
}

/// The answer is whether they were compared as a whole.
fn maps(
    map: &Map<'_>,
    old: Option<&Value>,
    new: Option<&Value>,
    found: &mut Found,
) -> Result<bool, String> {
    let before = old.and_then(Value::as_object);
    let after = new.and_then(Value::as_object);
    let is_empty = |map: Option<&Object<String, Value>>| map.is_none_or(Object::is_empty);
    if map.atomic || (is_empty(before) && is_empty(after)) {
        found.leaf(old, new);
        return Ok(true);
    }
    let mut keys: Vec<&String> = before.into_iter().flat_map(|map| map.keys()).collect();
    if let Some(after) = after {
        let added = after.keys();
        keys.extend(added.filter(|key| before.is_none_or(|map| !map.contains_key(*key))));
    }
    keys.sort_unstable();
    for key in keys {
        let (old, new) = (
            before.and_then(|map| map.get(key)),
            after.and_then(|map| map.get(key)),
        );
        let mut below = Found::default();
        walk(map.at(key), old, new, &mut below)?;
        found.attach(|| Element::field(key), below);
    }
    Ok(false)
}

fn lists<'v>(
    list: &List<'_>,
    old: Option<&'v Value>,
    new: Option<&'v Value>,
    found: &mut Found,
) -> Result<bool, String> {
    let before = old.and_then(Value::as_array);
    let after = new.and_then(Value::as_array);
    let is_empty = |items: Option<&Vec<Value>>| items.is_none_or(Vec::is_empty);
    if list.is_atomic() || (is_empty(before) && is_empty(after)) {
        found.leaf(old, new);
        return Ok(true);
    }
    let items = |items: Option<&'v Vec<Value>>| items.map_or(&[][..], Vec::as_slice);
    let (before, after) = (list.sorted(items(before))?, list.sorted(items(after))?);
    let (mut before, mut after) = (groups(&before).peekable(), groups(&after).peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (Some(old), Some(new)) => old[0].0.cmp(&new[0].0),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return Ok(false),
        };
        let old = if order.is_le() { before.next() } else { None };
        let new = if order.is_ge() { after.next() } else { None };
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        if let Some((element, _)) = old.first().or(new.first()) {
            let mut below = Found::default();
            same_items(list, old, new, &mut below)?;
            found.attach(|| element.clone(), below);
        }
    }
}

/// Items with what tells them apart.
type Sorted<'v> = [(Element, &'v Value)];

/// The items that are alike, together.
fn groups<'s, 'v>(sorted: &'s Sorted<'v>) -> impl Iterator<Item = &'s Sorted<'v>> {
    sorted.chunk_by(|(a, _), (b, _)| a == b)
}

/// Compares the items of one element: usually one, or none.
fn same_items(
    list: &List<'_>,
    old: &Sorted<'_>,
    new: &Sorted<'_>,
    found: &mut Found,
) -> Result<(), String> {
    match (old, new) {
        ([] | [_], [] | [_]) => {
            let (old, new) = (
                old.first().map(|(_, value)| *value),
                new.first().map(|(_, value)| *value),
            );
            return walk(Some(list.item), old, new, found);
        }
        // What comes several times is one field.
        ([_, _, ..], [_, _, ..]) => {
            let equal =
                old.len() == new.len() && old.iter().zip(new).all(|((_, a), (_, b))| same(a, b));
            found.modified.member = !equal;
        }
        ([_, _, ..], _) => {
            if let [(_, new)] = new {
                walk(Some(list.item), None, Some(new), found)?;
            }
            found.removed.member = true;
        }
        _ => {
            if let [(_, old)] = old {
                walk(Some(list.item), Some(old), None, found)?;
            }
            found.added.member = true;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::compile;
    use serde_json::json;

    #[test]
    fn fields_are_added_changed_and_removed() {
        let schema = compile(
            &json!({"type": "object", "properties": {"spec": {"type": "object",
            "properties": {
                "a": {"type": "string"}, "free": {"x-kubernetes-preserve-unknown-fields": true},
                "parts": {"type": "array", "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "properties": {
                        "name": {"type": "string"}, "w": {"type": "integer"}}}}}}}}),
        );
        let at = Ref::of_schema(&schema);
        let told = |old: Value, new: Value| {
            let found = compare(at, &json!({"spec": old}), &json!({"spec": new})).unwrap();
            [found.added, found.modified, found.removed].map(|set| set.encode())
        };
        assert_eq!(
            told(json!({"a": "x"}), json!({"a": "y", "free": {"b": 1}})),
            [
                json!({"f:spec": {"f:free": {".": {}, "f:b": {}}}}),
                json!({"f:spec": {"f:a": {}}}),
                json!({}),
            ]
        );
        assert_eq!(
            told(
                json!({"parts": [{"name": "p", "w": 1}]}),
                json!({"parts": [{"name": "q"}, {"name": "p", "w": 2}]})
            ),
            [
                json!({"f:spec": {"f:parts": {"k:{\"name\":\"q\"}": {".": {}, "f:name": {}}}}}),
                json!({"f:spec": {"f:parts": {"k:{\"name\":\"p\"}": {"f:w": {}}}}}),
                json!({}),
            ]
        );
        // From an object to a text: the fields go, and the whole changes.
        assert_eq!(
            told(json!({"free": {"b": 1}}), json!({"free": "x"})),
            [
                json!({}),
                json!({"f:spec": {"f:free": {}}}),
                json!({"f:spec": {"f:free": {"f:b": {}}}}),
            ]
        );
    }
}
