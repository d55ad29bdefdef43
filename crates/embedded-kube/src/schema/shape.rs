//! What a schema does to a value: fields that it does not know go, defaults come.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Additional, Schema};

const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// How many bytes of paths are kept: what is told of them is far less.
const MAX_TOLD: usize = 1024 * 1024;

/// Removes from a resource what its schema does not know; the answer is the paths removed, sorted.
pub(crate) fn prune(object: &mut Value, schema: &Schema) -> Vec<String> {
    prune_part(object, schema, true)
}

/// The same for a part of a resource; `root` says whether it is a resource itself.
pub(crate) fn prune_part(object: &mut Value, schema: &Schema, root: bool) -> Vec<String> {
    let mut pruning = Pruning::default();
    pruning.part(object, Some(schema), root);
    pruning.unknown.sort();
    pruning.unknown
}

/// A walk through an object.
#[derive(Default)]
struct Pruning {
    /// Where it is.
    path: String,
    unknown: Vec<String>,
    /// How many bytes the unknown paths have.
    told: usize,
}

impl Pruning {
    fn below(&mut self, key: &str, work: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        work(self);
        self.path.truncate(length);
    }

    fn at(&mut self, index: usize, work: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        // Writing to a string cannot fail.
        let _ = write!(self.path, "[{index}]");
        work(self);
        self.path.truncate(length);
    }

    fn tell(&mut self) {
        self.told += self.path.len();
        if self.told <= MAX_TOLD {
            self.unknown.push(self.path.clone());
        }
    }

    fn part(&mut self, value: &mut Value, schema: Option<&Schema>, root: bool) {
        if let Some(schema) = schema
            && schema.preserve
        {
            return self.preserved(value, schema, root);
        }
        match value {
            Value::Object(map) => {
                let resource = root || schema.is_some_and(|s| s.embedded);
                map.retain(|key, value| {
                    if resource && META_FIELDS.contains(&key.as_str()) {
                        return true;
                    }
                    let known = schema.and_then(|s| s.properties.get(key.as_str()));
                    let additional = schema.and_then(|s| s.additional.as_ref());
                    match (known, additional) {
                        (Some(field), _) => {
                            self.below(key, |walk| walk.part(value, Some(field), false));
                        }
                        (None, Some(additional)) => {
                            self.below(key, |walk| walk.part(value, additional.schema(), false));
                        }
                        (None, None) => {
                            self.below(key, Self::tell);
                            return false;
                        }
                    }
                    true
                });
            }
            Value::Array(items) => {
                let schema = schema.and_then(|s| s.items.as_deref());
                for (index, item) in items.iter_mut().enumerate() {
                    self.at(index, |walk| walk.part(item, schema, false));
                }
            }
            _ => {}
        }
    }

    /// Below preserved fields everything stays, except inside fields that have a schema again.
    fn preserved(&mut self, value: &mut Value, schema: &Schema, root: bool) {
        match value {
            Value::Object(map) => {
                for (key, value) in map.iter_mut() {
                    if (root || schema.embedded) && META_FIELDS.contains(&key.as_str()) {
                        continue;
                    }
                    let field = schema.properties.get(key.as_str());
                    if field.is_none() && schema.additional.is_none() {
                        continue;
                    }
                    let field =
                        field.or_else(|| schema.additional.as_ref().and_then(Additional::schema));
                    self.below(key, |walk| walk.part(value, field, false));
                }
            }
            Value::Array(items) => {
                let Some(schema) = schema.items.as_deref() else {
                    return;
                };
                for (index, item) in items.iter_mut().enumerate() {
                    self.at(index, |walk| walk.preserved(item, schema, false));
                }
            }
            _ => {}
        }
    }
}

/// Removes nulls where a field may not be null and has no default.
pub(crate) fn drop_nulls(value: &mut Value, schema: Option<&Schema>) {
    match value {
        Value::Object(map) => {
            map.retain(|key, value| {
                let field = schema.and_then(|s| s.field(key));
                let forbidden = field.is_some_and(|f| !f.nullable && f.default.is_none());
                if value.is_null() && forbidden {
                    return false;
                }
                drop_nulls(value, field);
                true
            });
        }
        Value::Array(items) => {
            let schema = schema.and_then(|s| s.items.as_deref());
            for item in items {
                drop_nulls(item, schema);
            }
        }
        _ => {}
    }
}

/// Fills in defaults, from the outside to the inside.
pub(crate) fn default(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(map) => {
            for (key, field) in &schema.properties {
                let Some(default) = &field.default else {
                    continue;
                };
                let missing = match map.get(&**key) {
                    None => true,
                    Some(value) => value.is_null() && !field.nullable,
                };
                if missing {
                    map.insert(key.to_string(), default.clone());
                }
            }
            for (key, value) in map.iter_mut() {
                if let Some(field) = schema.properties.get(key.as_str()) {
                    default(value, field);
                } else if let Some(Additional::Schema(field)) = &schema.additional {
                    if value.is_null() && !field.nullable {
                        *value = field.default.clone().unwrap_or(Value::Null);
                    }
                    default(value, field);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.items.as_deref() else {
                return;
            };
            for item in items {
                if item.is_null() && !schema.nullable {
                    *item = schema.default.clone().unwrap_or(Value::Null);
                }
                default(item, schema);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::compile;
    use super::*;
    use serde_json::json;

    #[test]
    fn unknown_fields_go_and_preserved_ones_stay() {
        let schema = compile(&json!({
            "type": "object",
            "properties": {
                "spec": {"type": "object", "properties": {
                    "known": {"type": "string"},
                    "free": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": true,
                        "properties": {"fixed": {"type": "object", "properties": {}}}
                    }
                }}
            }
        }));
        let mut object = json!({
            "apiVersion": "a/v1", "kind": "K", "metadata": {"name": "x"}, "extra": 1,
            "spec": {"known": "k", "other": [1], "free": {"any": {"thing": 1}, "fixed": {"x": 1}}}
        });
        let unknown = prune(&mut object, &schema);
        assert_eq!(unknown, ["extra", "spec.free.fixed.x", "spec.other"]);
        assert_eq!(
            object["spec"],
            json!({"known": "k", "free": {"any": {"thing": 1}, "fixed": {}}})
        );
    }

    #[test]
    fn additional_properties_without_a_schema_keep_only_scalars() {
        let schema = compile(&json!({
            "properties": {"m": {"type": "object", "additionalProperties": true}}
        }));
        let mut object = json!({"m": {"a": 1, "b": {"c": 1}}});
        prune(&mut object, &schema);
        assert_eq!(object, json!({"m": {"a": 1, "b": {}}}));
    }

    #[test]
    fn defaults_come_from_the_outside_in() {
        let schema = compile(&json!({
            "properties": {
                "spec": {"type": "object", "default": {}, "properties": {
                    "size": {"type": "integer", "default": 3},
                    "opt": {"type": "string", "nullable": true, "default": "x"},
                    "list": {"type": "array", "items": {"properties": {"p": {"default": "q"}}}}
                }}
            }
        }));
        let mut object = json!({});
        default(&mut object, &schema);
        assert_eq!(object, json!({"spec": {"size": 3, "opt": "x"}}));
        let mut object = json!({"spec": {"size": null, "opt": null, "list": [{}]}});
        default(&mut object, &schema);
        assert_eq!(
            object,
            json!({"spec": {"size": 3, "opt": null, "list": [{"p": "q"}]}})
        );
    }

    #[test]
    fn nulls_go_where_they_may_not_be() {
        let schema = compile(&json!({"properties": {
            "a": {"type": "string"}, "b": {"type": "string", "nullable": true},
            "c": {"type": "string", "default": "d"}
        }}));
        let mut object = json!({"a": null, "b": null, "c": null, "x": null});
        drop_nulls(&mut object, Some(&schema));
        assert_eq!(object, json!({"b": null, "c": null, "x": null}));
    }
}
