//! How the items of a list are told apart.

use serde_json::Value;

use super::element::Element;
use super::shape::{Items, List};
use crate::text::go_quote;

impl List<'_> {
    pub(super) fn is_atomic(&self) -> bool {
        matches!(self.kind, Items::Atomic)
    }

    /// How an item of the list is found again.
    pub(super) fn element(&self, item: &Value) -> Result<Element, String> {
        match &self.kind {
            Items::Atomic => Err("invalid indexing of non-associative list".to_owned()),
            Items::Set => match item {
                Value::Object(_) => {
                    Err("associative list without keys has an element that's a map type".to_owned())
                }
                Value::Array(_) => {
                    Err("not supported: associative list with lists as elements".to_owned())
                }
                Value::Null => {
                    let why =
                        "associative list without keys has an element that's an explicit null";
                    Err(why.to_owned())
                }
                item => Ok(Element::Value(item.clone())),
            },
            Items::Keys(keys) => self.keyed(keys, item),
        }
    }

    /// The items of the list, sorted by what tells them apart; those that are alike in their order.
    pub(super) fn sorted<'v>(
        &self,
        items: &'v [Value],
    ) -> Result<Vec<(Element, &'v Value)>, String> {
        let mut sorted = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let element = self
                .element(item)
                .map_err(|why| format!("element {index}: {why}"))?;
            sorted.push((element, item));
        }
        sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(sorted)
    }

    fn keyed(&self, keys: &[&str], item: &Value) -> Result<Element, String> {
        let map = match item {
            Value::Object(map) => map,
            Value::Null => {
                return Err("associative list with keys may not have a null element".to_owned());
            }
            _ => {
                return Err("associative list with keys may not have non-map elements".to_owned());
            }
        };
        let mut fields: Vec<(Box<str>, Value)> = Vec::new();
        for &key in keys {
            let value = match map.get(key) {
                Some(value) => Some(value.clone()),
                None => match self.item.atom().map {
                    Some(shape) => shape.default_of(key),
                    None => {
                        return Err(format!(
                            "couldn't find default value for {key}: associative list may not have \
                             non-map types"
                        ));
                    }
                },
            };
            fields.extend(value.map(|value| (key.into(), value)));
        }
        if fields.is_empty() && !keys.is_empty() {
            let keys: Vec<String> = keys.iter().map(|key| go_quote(key)).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and \
                 doesn't have default values for any key fields)",
                keys.join(" ")
            ));
        }
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Element::Key(fields))
    }
}
