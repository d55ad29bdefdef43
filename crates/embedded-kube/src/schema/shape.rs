//! What a schema does to a value: fields that it does not know go, defaults come.

use serde_json::Value;

use super::{Additional, Schema};

const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Removes from a resource what its schema does not know; the answer is the paths removed, sorted.
pub(crate) fn prune(object: &mut Value, schema: &Schema) -> Vec<String> {
    let mut unknown = Vec::new();
    prune_part(object, Some(schema), true, "", &mut unknown);
    unknown.sort();
    unknown
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn prune_part(
    value: &mut Value,
    schema: Option<&Schema>,
    root: bool,
    path: &str,
    unknown: &mut Vec<String>,
) {
    if let Some(schema) = schema
        && schema.preserve
    {
        return prune_below_preserved(value, schema, root, path, unknown);
    }
    match value {
        Value::Object(map) => {
            let mut gone = Vec::new();
            for (key, value) in map.iter_mut() {
                let resource = root || schema.is_some_and(|s| s.embedded);
                if resource && META_FIELDS.contains(&key.as_str()) {
                    continue;
                }
                let known = schema.and_then(|s| s.properties.get(key.as_str()));
                let additional = schema.and_then(|s| s.additional.as_ref());
                match (known, additional) {
                    (Some(field), _) => {
                        prune_part(value, Some(field), false, &join(path, key), unknown);
                    }
                    (None, Some(additional)) => {
                        let below = join(path, key);
                        prune_part(value, additional.schema(), false, &below, unknown);
                    }
                    (None, None) => gone.push(key.clone()),
                }
            }
            for key in gone {
                map.remove(&key);
                unknown.push(join(path, &key));
            }
        }
        Value::Array(items) => {
            let schema = schema.and_then(|s| s.items.as_deref());
            for (index, item) in items.iter_mut().enumerate() {
                prune_part(item, schema, false, &format!("{path}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}

/// Below preserved fields everything stays, except inside fields that have a schema again.
fn prune_below_preserved(
    value: &mut Value,
    schema: &Schema,
    root: bool,
    path: &str,
    unknown: &mut Vec<String>,
) {
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
                prune_part(value, field, false, &join(path, key), unknown);
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.items.as_deref() else {
                return;
            };
            for (index, item) in items.iter_mut().enumerate() {
                let path = format!("{path}[{index}]");
                prune_below_preserved(item, schema, false, &path, unknown);
            }
        }
        _ => {}
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
