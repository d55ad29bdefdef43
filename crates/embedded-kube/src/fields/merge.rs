//! One value laid onto another by their shape.

use serde_json::{Map as Object, Value};

use super::element::Element;
use super::shape::{Form, Forms, List, Map, Ref};
use super::typed::fits;

/// What an applied value makes of a living one: nothing goes, and of two values the applied one
/// stays.
pub(super) fn merge(at: Ref<'_>, live: &Value, applied: &Value) -> Result<Value, String> {
    Ok(walk(Some(at), Some(live), Some(applied))?.unwrap_or_default())
}

fn walk(
    at: Option<Ref<'_>>,
    live: Option<&Value>,
    applied: Option<&Value>,
) -> Result<Option<Value>, String> {
    let atom = at.map(Ref::atom).unwrap_or_default();
    let (before, after) = (atom.deduce(live), atom.deduce(applied));
    let treat = |forms: Forms| -> Result<Option<Value>, String> {
        match atom.form(forms)? {
            Form::Scalar(scalar) => {
                let (left, right) = (fits(scalar, live, "lhs: "), fits(scalar, applied, "rhs: "));
                if let (Err(left), Err(_)) = (left, right) {
                    return Err(left);
                }
                Ok(leaf(live, applied))
            }
            Form::Map(map) => maps(map, live, applied),
            Form::List(list) => lists(list, live, applied),
        }
    };
    if applied.is_none() {
        return treat(before);
    }
    if live.is_some() && before != after {
        treat(before)?;
    }
    treat(after)
}

fn leaf(live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
    applied.or(live).cloned()
}

fn maps(
    map: &Map<'_>,
    live: Option<&Value>,
    applied: Option<&Value>,
) -> Result<Option<Value>, String> {
    let before = live.and_then(Value::as_object);
    let after = applied.and_then(Value::as_object);
    let is_empty = |map: Option<&Object<String, Value>>| map.is_none_or(Object::is_empty);
    if map.atomic || (is_empty(before) && is_empty(after)) {
        return Ok(leaf(live, applied));
    }
    let mut out = Object::new();
    let ours = before.into_iter().flat_map(|map| map.keys());
    let theirs = after.into_iter().flat_map(|map| map.keys());
    for key in ours.chain(theirs) {
        if out.contains_key(key) {
            continue;
        }
        let (live, applied) = (
            before.and_then(|map| map.get(key)),
            after.and_then(|map| map.get(key)),
        );
        if let Some(value) = walk(map.at(key), live, applied)? {
            out.insert(key.clone(), value);
        }
    }
    Ok((!out.is_empty()).then_some(Value::Object(out)))
}

fn lists(
    list: &List<'_>,
    live: Option<&Value>,
    applied: Option<&Value>,
) -> Result<Option<Value>, String> {
    let before = live.and_then(Value::as_array);
    let after = applied.and_then(Value::as_array);
    let is_empty = |items: Option<&Vec<Value>>| items.is_none_or(Vec::is_empty);
    if list.is_atomic() || (is_empty(before) && is_empty(after)) {
        return Ok(leaf(live, applied));
    }
    let after = Items::read(list, after, false)?;
    let before = Items::read(list, before, true)?;
    let mut merging = Merging {
        list,
        before: &before,
        after: &after,
        taken: vec![false; after.index.len()],
        out: Vec::new(),
    };
    merging.run()?;
    let out = merging.out;
    Ok((!out.is_empty()).then_some(Value::Array(out)))
}

/// The items of a list with what tells them apart.
struct Items<'v> {
    items: Vec<(Element, &'v Value)>,
    /// The same, sorted, each once; null for what comes several times.
    index: Vec<(Element, &'v Value)>,
}

impl<'v> Items<'v> {
    fn read(
        list: &List<'_>,
        values: Option<&'v Vec<Value>>,
        duplicates: bool,
    ) -> Result<Self, String> {
        let values = values.map_or(&[][..], Vec::as_slice);
        let mut index = Vec::with_capacity(values.len());
        for same in list.sorted(values)?.chunk_by(|(a, _), (b, _)| a == b) {
            let (element, value) = &same[0];
            if same.len() > 1 && !duplicates {
                return Err(format!("duplicate entries for key {element}"));
            }
            let value = if same.len() == 1 {
                *value
            } else {
                &Value::Null
            };
            index.push((element.clone(), value));
        }
        let items = values.iter().map(|value| Ok((list.element(value)?, value)));
        Ok(Self {
            items: items.collect::<Result<_, String>>()?,
            index,
        })
    }

    fn position(&self, element: &Element) -> Option<usize> {
        self.index
            .binary_search_by(|(known, _)| known.cmp(element))
            .ok()
    }

    fn has(&self, element: &Element) -> bool {
        self.position(element).is_some()
    }

    /// The item of this element; null, if there are several.
    fn get(&self, element: &Element) -> Option<&'v Value> {
        Some(self.index[self.position(element)?].1)
    }
}

/// Lists keep the order of what is applied, and what only lives stays near its neighbours.
struct Merging<'m, 'v, 'a> {
    list: &'m List<'a>,
    before: &'m Items<'v>,
    after: &'m Items<'v>,
    /// Which of the applied items are in the result, in their sorted order.
    taken: Vec<bool>,
    out: Vec<Value>,
}

impl Merging<'_, '_, '_> {
    fn run(&mut self) -> Result<(), String> {
        let (before, after) = (&self.before.items, &self.after.items);
        // The items that both have, in the order in which they are applied.
        let mut shared = after
            .iter()
            .map(|(element, _)| element)
            .filter(|element| self.before.has(element));
        let mut next = shared.next();
        let (mut left, mut right) = (0, 0);
        while left < before.len() || right < after.len() {
            if let (Some((ours, value)), theirs) = (before.get(left), after.get(right)) {
                if let Some((theirs, _)) = theirs {
                    if ours == theirs {
                        self.take(theirs)?;
                        left += 1;
                        right += 1;
                        next = shared.next();
                        continue;
                    }
                    if self.after.has(ours) && next.is_some_and(|next| next != ours) {
                        // It comes later.
                        left += 1;
                        continue;
                    }
                }
                if !self.after.has(ours) {
                    let merged = walk(Some(self.list.item), Some(value), None)?;
                    self.out.extend(merged);
                    left += 1;
                    continue;
                }
                let place = self.after.position(ours);
                if place.is_some_and(|place| self.taken[place]) {
                    left += 1;
                }
            }
            if let Some((theirs, _)) = after.get(right) {
                self.take(theirs)?;
                right += 1;
                if next == Some(theirs) {
                    next = shared.next();
                }
            }
        }
        Ok(())
    }

    /// Takes an applied item, laid onto the living one.
    fn take(&mut self, element: &Element) -> Result<(), String> {
        if let Some(place) = self.after.position(element) {
            self.taken[place] = true;
        }
        let merged = walk(
            Some(self.list.item),
            self.before.get(element),
            self.after.get(element),
        )?;
        self.out.extend(merged);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::compile;
    use serde_json::json;

    #[test]
    fn lists_keep_the_applied_order() {
        let schema = compile(&json!({"type": "object", "properties": {
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "all": {"type": "array", "items": {"type": "string"}},
            "gone": {"type": "object", "properties": {"a": {"type": "object"}}}}}));
        let at = Ref::of_schema(&schema);
        let merged = |live: Value, applied: Value| {
            merge(at, &json!({"tags": live}), &json!({"tags": applied})).unwrap()["tags"].clone()
        };
        assert_eq!(
            merged(json!(["a", "b", "c"]), json!(["c", "d", "a"])),
            json!(["b", "c", "d", "a"])
        );
        assert_eq!(merged(json!(["a"]), json!([])), json!(["a"]));
        assert_eq!(merged(json!([]), json!([])), json!([]));
        assert_eq!(
            merged(json!(["x", "a", "y"]), json!(["b", "a"])),
            json!(["x", "b", "a", "y"])
        );
        let (live, applied) = (
            json!({"all": ["a"], "gone": {"a": {}}}),
            json!({"all": ["b"]}),
        );
        assert_eq!(
            merge(at, &live, &applied).unwrap(),
            json!({"all": ["b"], "gone": {"a": {}}})
        );
    }
}
