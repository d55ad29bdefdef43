//! JSON values in expressions, by their schema or as they are.

use std::rc::Rc;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::budget;
use super::names;
use super::time;
use super::types::{ObjectType, Type};
use super::value::{Fault, List, Order, Outcome, Val, size_of_json};
use crate::schema::{self, Additional, Kind, ListKind, Schema};

/// A JSON object; with a schema it shows what that knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<'a> {
    map: &'a Map<String, Value>,
    shape: Option<Shape<'a>>,
}

#[derive(Clone, Copy, Debug)]
struct Shape<'a> {
    schema: &'a Schema,
    /// Whether it is a resource: then it has a kind, a version and a name, whatever the schema says.
    resource: bool,
}

static TEXT: LazyLock<Schema> = LazyLock::new(|| schema::compile(&json!({"type": "string"})));
/// What rules see of the metadata of a resource.
static METADATA: LazyLock<Schema> = LazyLock::new(|| {
    schema::compile(&json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
    }))
});

impl<'a> Shape<'a> {
    fn has_fields(self) -> bool {
        self.resource || !self.schema.properties.is_empty()
    }

    /// The schema of a field or an entry.
    fn field(self, key: &str) -> Option<&'a Schema> {
        if self.resource {
            match key {
                "kind" | "apiVersion" => return Some(&TEXT),
                "metadata" => return Some(&METADATA),
                _ => {}
            }
        }
        if self.has_fields() {
            return self.schema.properties.get(key);
        }
        self.schema.additional.as_ref().and_then(Additional::schema)
    }
}

impl<'a> Object<'a> {
    pub(super) fn len(&self) -> usize {
        self.map.len()
    }

    /// The value of a field as it is written.
    pub(super) fn raw(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key)
    }

    pub(super) fn keys(&self) -> Result<Vec<Val<'a>>, Fault> {
        let shape = self.shape;
        let escaped = |key: &str| {
            let shape = shape.filter(|shape| shape.has_fields());
            shape.and_then(|_| names::escape(key))
        };
        self.map
            .keys()
            .filter(move |key| shape.is_none_or(|shape| shape.field(key).is_some()))
            .map(|key| {
                budget::pay_text(key.len())?;
                Ok(escaped(key).map_or_else(|| Val::text(key.as_str()), Val::text))
            })
            .collect()
    }

    pub(super) fn find(&self, key: &str) -> Result<Option<Val<'a>>, Fault> {
        let Some(shape) = self.shape else {
            return Ok(self.map.get(key).map(free));
        };
        budget::pay_text(key.len())?;
        let name;
        let key = if shape.has_fields() {
            match names::unescape(key) {
                Some(plain) => name = plain,
                None => return Ok(None),
            }
            name.as_str()
        } else {
            key
        };
        match (self.map.get(key), shape.field(key)) {
            // A field that is null is none.
            (Some(Value::Null), _) if shape.has_fields() => Ok(None),
            (Some(value), Some(schema)) => typed(value, schema, schema.embedded).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether there is something to be found, without a look at it.
    pub(super) fn has(&self, key: &str) -> bool {
        let Some(shape) = self.shape else {
            return self.map.contains_key(key);
        };
        if !shape.has_fields() {
            return self.map.contains_key(key) && shape.field(key).is_some();
        }
        let name = names::unescape(key);
        let found = name
            .as_deref()
            .and_then(|name| Some((self.map.get(name)?, name)));
        found.is_some_and(|(value, name)| !value.is_null() && shape.field(name).is_some())
    }

    pub(super) fn equals(&self, other: &Object<'a>) -> Result<bool, Fault> {
        if self.map.len() != other.map.len() {
            return Ok(false);
        }
        for (key, value) in self.map {
            budget::pay(1 + key.len() / 64)?;
            if self.shape.is_some_and(|shape| shape.field(key).is_none()) {
                // What the schema does not know is compared as it is written, where both have it.
                budget::pay(size_of_json(value))?;
                if other.map.get(key).is_some_and(|other| other != value) {
                    return Ok(false);
                }
                continue;
            }
            let name = match self.shape {
                Some(shape) if shape.has_fields() => match names::escape(key) {
                    Some(name) => name,
                    None => key.clone(),
                },
                _ => key.clone(),
            };
            match (self.find(&name)?, other.find(&name)?) {
                (Some(a), Some(b)) if a.equals(&b)? => {}
                (None, None) => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// A value without a schema.
pub(crate) fn free(value: &Value) -> Val<'_> {
    budget::spend(1);
    match value {
        Value::Null => Val::Null,
        Value::Bool(flag) => Val::Bool(*flag),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Val::Int(number),
            (None, Some(number)) => Val::Uint(number),
            _ => Val::Double(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Val::text(text.as_str()),
        Value::Array(items) => Val::List(Rc::new(List {
            items: items.iter().map(free).collect(),
            order: Order::Kept,
            made: 0,
        })),
        Value::Object(map) => Val::Object(Object { map, shape: None }),
    }
}

/// A value by its schema; `resource` says whether it is a resource.
pub(crate) fn typed<'a>(value: &'a Value, schema: &'a Schema, resource: bool) -> Outcome<'a> {
    let wrong = |wanted: &str| Fault::new(format!("invalid data, expected {wanted}"));
    budget::spend(1);
    if value.is_null() {
        return if schema.nullable {
            Ok(Val::Null)
        } else {
            Err(Fault::new(
                "invalid data, got null for schema with nullable=false",
            ))
        };
    }
    match schema.kind {
        Kind::IntOrString => match value {
            Value::String(text) => Ok(Val::text(text.as_str())),
            Value::Number(number) if number.is_i64() => Ok(free(value)),
            _ => Err(wrong("XIntOrString value to be either a string or integer")),
        },
        Kind::Object => {
            let map = value
                .as_object()
                .ok_or_else(|| wrong("a map for the provided schema with type=object"))?;
            let shape = Some(Shape { schema, resource });
            Ok(Val::Object(Object { map, shape }))
        }
        Kind::Array => {
            let items = value
                .as_array()
                .ok_or_else(|| wrong("an array for the provided schema with type=array"))?;
            let Some(item) = schema.items.as_deref() else {
                return Err(Fault::new(
                    "invalid array type, expected Items with a non-empty Schema",
                ));
            };
            let items: Result<Vec<Val<'a>>, Fault> = items
                .iter()
                .map(|value| typed(value, item, item.embedded))
                .collect();
            let order = match &schema.list {
                ListKind::Atomic => Order::Kept,
                ListKind::Set => Order::Set,
                ListKind::Map(keys) => Order::Keyed(keys),
            };
            Ok(Val::List(Rc::new(List {
                items: items?,
                order,
                made: 0,
            })))
        }
        Kind::String => {
            let text = value.as_str().ok_or_else(|| wrong("string"))?;
            let format = schema.limits.as_ref().map_or("", |limits| &*limits.format);
            formatted(text, format)
        }
        Kind::Number => value
            .as_f64()
            .map(Val::Double)
            .ok_or_else(|| wrong("float")),
        Kind::Integer => value.as_i64().map(Val::Int).ok_or_else(|| wrong("int")),
        Kind::Boolean => value.as_bool().map(Val::Bool).ok_or_else(|| wrong("bool")),
        Kind::Any if schema.preserve => Ok(Val::Preserved(value)),
        Kind::Any => Err(Fault::new("invalid type")),
    }
}

fn formatted<'a>(text: &'a str, format: &str) -> Outcome<'a> {
    let wrong = |what: &str| Fault::new(format!("Invalid {what} {text}"));
    match format {
        "duration" => time::loose_duration(text)
            .map(Val::Duration)
            .ok_or_else(|| wrong("duration")),
        "date" => time::moment(&format!("{text}T00:00:00Z"))
            .map(Val::Timestamp)
            .ok_or_else(|| wrong("date formatted string")),
        "date-time" => time::moment(text)
            .map(Val::Timestamp)
            .ok_or_else(|| wrong("date-time formatted string")),
        "byte" => STANDARD
            .decode(text)
            .map(|bytes| Val::Bytes(bytes.into()))
            .map_err(|_| wrong("byte formatted string")),
        _ => Ok(Val::text(text)),
    }
}

/// The type that expressions see where a schema says what is there; none if they do not see it.
pub(crate) fn type_of(schema: &Schema, resource: bool, name: &str) -> Option<Type> {
    let format = schema.limits.as_ref().map_or("", |limits| &*limits.format);
    Some(match schema.kind {
        Kind::IntOrString => Type::Dyn,
        Kind::Array => {
            let item = schema.items.as_deref()?;
            Type::list(type_of(item, item.embedded, &format!("{name}.@idx"))?)
        }
        Kind::Object => {
            if !resource
                && let Some(entry) = schema.additional.as_ref().and_then(Additional::schema)
            {
                let entry = type_of(entry, entry.embedded, &format!("{name}.@elem"))?;
                return Some(Type::map(Type::String, entry));
            }
            let shape = Shape { schema, resource };
            let header = ["kind", "apiVersion", "metadata"].into_iter();
            let header = header.filter(|_| resource);
            let keys = schema.properties.keys().map(|key| &**key).chain(header);
            let fields = keys.filter_map(|key| {
                let field = shape.field(key)?;
                let escaped = names::escape(key)?;
                let kind = type_of(field, field.embedded, &format!("{name}.{escaped}"))?;
                Some((escaped, kind))
            });
            Type::Object(
                ObjectType {
                    name: name.to_owned(),
                    fields: fields.collect(),
                }
                .into(),
            )
        }
        Kind::String => match format {
            "byte" => Type::Bytes,
            "duration" => Type::Duration,
            "date" | "date-time" => Type::Timestamp,
            _ => Type::String,
        },
        Kind::Boolean => Type::Bool,
        Kind::Number => Type::Double,
        Kind::Integer => Type::Int,
        Kind::Any => return None,
    })
}
