//! A value less a set of its fields.

use serde_json::{Map as Object, Value};

use super::element::Element;
use super::set::Set;
use super::shape::{Form, List, Map, Ref};

/// The value without these fields. What has nothing left is null.
pub(super) fn remove(at: Option<Ref<'_>>, value: &Value, fields: &Set) -> Value {
    let atom = at.map(Ref::atom).unwrap_or_default();
    match (atom.form(atom.deduce(Some(value))), value) {
        (Ok(Form::Scalar(_)), value) => value.clone(),
        (Ok(Form::List(list)), Value::Array(items)) if !list.is_atomic() => {
            from_list(list, items, fields)
        }
        (Ok(Form::Map(map)), Value::Object(object)) if !map.atomic => from_map(map, object, fields),
        _ => Value::Null,
    }
}

fn from_list(list: &List<'_>, items: &[Value], fields: &Set) -> Value {
    let left = items.iter().filter_map(|item| {
        let node = list
            .element(item)
            .ok()
            .and_then(|element| fields.get(&element));
        match node {
            None => Some(item.clone()),
            Some(node) if node.member => None,
            Some(node) => Some(remove(Some(list.item), item, &node.below)),
        }
    });
    let left: Vec<Value> = left.collect();
    if left.is_empty() {
        Value::Null
    } else {
        Value::Array(left)
    }
}

fn from_map(map: &Map<'_>, object: &Object<String, Value>, fields: &Set) -> Value {
    let mut left = Object::new();
    for (key, value) in object {
        match fields.get(&Element::field(key)) {
            None => {
                left.insert(key.clone(), value.clone());
            }
            Some(node) if node.member => {}
            Some(node) => {
                left.insert(key.clone(), remove(map.at(key), value, &node.below));
            }
        }
    }
    if left.is_empty() {
        Value::Null
    } else {
        Value::Object(left)
    }
}
