//! What a schema says of merging, as a view of the schemas that are there anyway.

use std::collections::BTreeMap;

use serde_json::Value;

use super::json_schema;
use crate::meta::OBJECT_META;
use crate::schema::{Additional, Kind, ListKind, Schema};
use crate::typed::{Presence, Struct, Type};

/// The fields whose struct has many managers, although it is one of those above.
const GRANULAR: [(&str, &str); 1] = [("PersistentVolumeSpec", "claimRef")];

/// The lists that are merged by a key (or, without one, are sets) when they are applied, but not when
/// they are patched.
const KEYED: [(&str, &str, &str); 2] = [
    ("CustomResourceDefinitionStatus", "conditions", "type"),
    (
        "ValidatingAdmissionPolicyBindingSpec",
        "validationActions",
        "",
    ),
];

/// What a place of a document may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ref<'a> {
    /// A part of a custom resource. `preserve` says that fields which nobody knows stay, here or in
    /// something around it; `resource` that it has `apiVersion`, `kind` and `metadata`.
    Schema {
        schema: &'a Schema,
        preserve: bool,
        resource: bool,
    },
    /// A struct of a built-in kind.
    Struct(&'a Struct),
    /// A field of a built-in kind. `key` merges a list, `granular` takes a struct apart.
    Type {
        kind: &'a Type,
        key: Option<&'a str>,
        granular: bool,
    },
    /// Anything: of objects each field has its manager, lists have one.
    Deduced,
    /// Anything, as a whole.
    Untyped,
    /// A text, a number, or a flag.
    Plain(Scalar),
    /// A schema inside a definition.
    JsonSchema,
    /// Several of them: by name, or in a list.
    JsonSchemas { by_name: bool },
}

/// The forms that a value may have at a place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Atom<'a> {
    pub(super) scalar: Option<Scalar>,
    pub(super) list: Option<List<'a>>,
    pub(super) map: Option<Map<'a>>,
}

/// Which of the forms a value has; all, if it has none of them, or nothing is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forms {
    scalar: bool,
    list: bool,
    map: bool,
}

/// What is to be done with a value: the first of its forms counts.
pub(crate) enum Form<'s, 'a> {
    Map(&'s Map<'a>),
    Scalar(Scalar),
    List(&'s List<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Number,
    Text,
    Flag,
    Any,
}

#[derive(Clone, Debug)]
pub(crate) struct List<'a> {
    pub(super) item: Ref<'a>,
    pub(super) kind: Items<'a>,
}

/// How the items of a list are told apart.
#[derive(Clone, Debug)]
pub(crate) enum Items<'a> {
    Atomic,
    Set,
    Keys(Vec<&'a str>),
}

#[derive(Clone, Debug)]
pub(crate) struct Map<'a> {
    pub(super) atomic: bool,
    /// What fields that are not known hold, if there may be any.
    pub(super) other: Option<Ref<'a>>,
    fields: Fields<'a>,
}

#[derive(Clone, Debug)]
enum Fields<'a> {
    None,
    Struct {
        of: &'a Struct,
    },
    JsonSchema,
    Schema {
        properties: &'a BTreeMap<Box<str>, Schema>,
        preserve: bool,
        resource: bool,
    },
}

impl<'a> Ref<'a> {
    /// A whole custom resource.
    pub(crate) fn of_schema(schema: &'a Schema) -> Self {
        Self::Schema {
            schema,
            preserve: false,
            resource: true,
        }
    }

    /// The forms that a value may have here.
    pub(crate) fn atom(self) -> Atom<'a> {
        match self {
            Self::Schema {
                schema,
                preserve,
                resource,
            } => of_schema(schema, preserve, resource),
            Self::Struct(of) => of_struct(of, false),
            Self::Type {
                kind,
                key,
                granular,
            } => of_type(kind, key, granular),
            Self::Deduced => Atom {
                scalar: Some(Scalar::Any),
                list: Some(List {
                    item: Self::Untyped,
                    kind: Items::Atomic,
                }),
                map: Some(open_map(Self::Deduced, false)),
            },
            Self::Untyped => Atom {
                scalar: Some(Scalar::Any),
                list: Some(List {
                    item: Self::Untyped,
                    kind: Items::Atomic,
                }),
                map: Some(open_map(Self::Untyped, true)),
            },
            Self::Plain(kind) => scalar(kind),
            Self::JsonSchema => Atom {
                map: Some(Map {
                    atomic: false,
                    other: None,
                    fields: Fields::JsonSchema,
                }),
                ..Atom::default()
            },
            Self::JsonSchemas { by_name: true } => Atom {
                map: Some(open_map(Self::JsonSchema, false)),
                ..Atom::default()
            },
            Self::JsonSchemas { by_name: false } => Atom {
                list: Some(List {
                    item: Self::JsonSchema,
                    kind: Items::Atomic,
                }),
                ..Atom::default()
            },
        }
    }
}

fn scalar<'a>(scalar: Scalar) -> Atom<'a> {
    Atom {
        scalar: Some(scalar),
        ..Atom::default()
    }
}

fn open_map(other: Ref<'_>, atomic: bool) -> Map<'_> {
    Map {
        atomic,
        other: Some(other),
        fields: Fields::None,
    }
}

fn of_schema(schema: &Schema, preserve: bool, resource: bool) -> Atom<'_> {
    let preserve = preserve || schema.preserve;
    let part = |schema| Ref::Schema {
        schema,
        preserve,
        resource: false,
    };
    let list = || List {
        item: schema.items.as_deref().map_or(Ref::Untyped, part),
        kind: match &schema.list {
            ListKind::Atomic => Items::Atomic,
            ListKind::Set => Items::Set,
            ListKind::Map(keys) => Items::Keys(keys.iter().map(|key| &**key).collect()),
        },
    };
    let map = || {
        let resource = resource || schema.embedded;
        let open = preserve || (schema.properties.is_empty() && !resource);
        Map {
            atomic: schema.atomic_map,
            other: match &schema.additional {
                None => open.then_some(Ref::Deduced),
                Some(Additional::Schema(schema)) => Some(part(schema)),
                Some(Additional::Allowed(allowed)) => allowed.then_some(Ref::Deduced),
            },
            fields: Fields::Schema {
                properties: &schema.properties,
                preserve,
                resource,
            },
        }
    };
    match schema.kind {
        Kind::Any | Kind::IntOrString => Atom {
            scalar: Some(Scalar::Any),
            list: Some(list()),
            map: Some(map()),
        },
        Kind::Object => Atom {
            map: Some(map()),
            ..Atom::default()
        },
        Kind::Array => Atom {
            list: Some(list()),
            ..Atom::default()
        },
        Kind::String if schema.formatted => scalar(Scalar::Any),
        Kind::String => scalar(Scalar::Text),
        Kind::Integer | Kind::Number => scalar(Scalar::Number),
        Kind::Boolean => scalar(Scalar::Flag),
    }
}

fn of_struct(of: &Struct, granular: bool) -> Atom<'_> {
    Atom {
        map: Some(Map {
            atomic: !granular && of.is_atomic(),
            other: of.fields.is_empty().then_some(Ref::Deduced),
            fields: Fields::Struct { of },
        }),
        ..Atom::default()
    }
}

fn of_type<'a>(kind: &'a Type, key: Option<&'a str>, granular: bool) -> Atom<'a> {
    let plain = |kind| Ref::Type {
        kind,
        key: None,
        granular: false,
    };
    match kind {
        Type::String | Type::Bytes => scalar(Scalar::Text),
        Type::Bool => scalar(Scalar::Flag),
        Type::Int32 | Type::Int64 => scalar(Scalar::Number),
        Type::Quantity | Type::Time | Type::MicroTime => scalar(Scalar::Any),
        Type::Any => Ref::Deduced.atom(),
        Type::List(item) => Atom {
            list: Some(List {
                item: plain(item),
                kind: match key {
                    None => Items::Atomic,
                    Some("") => Items::Set,
                    Some(key) => Items::Keys(vec![key]),
                },
            }),
            ..Atom::default()
        },
        Type::Map(item) => Atom {
            map: Some(open_map(plain(item), false)),
            ..Atom::default()
        },
        Type::Struct(of) => of_struct(of, granular),
    }
}

impl<'a> Atom<'a> {
    /// The forms that a value has; nothing may have all of them.
    pub(super) fn deduce(&self, value: Option<&Value>) -> Forms {
        let all = Forms {
            scalar: self.scalar.is_some(),
            list: self.list.is_some(),
            map: self.map.is_some(),
        };
        let none = Forms {
            scalar: false,
            list: false,
            map: false,
        };
        match value {
            Some(Value::Object(_)) if all.map => Forms { map: true, ..none },
            Some(Value::Array(_)) if all.list => Forms { list: true, ..none },
            Some(Value::String(_) | Value::Number(_) | Value::Bool(_)) if all.scalar => Forms {
                scalar: true,
                ..none
            },
            _ => all,
        }
    }

    /// The form in which a value of these forms is treated.
    pub(super) fn form(&self, forms: Forms) -> Result<Form<'_, 'a>, String> {
        if let (true, Some(map)) = (forms.map, &self.map) {
            return Ok(Form::Map(map));
        }
        if let (true, Some(scalar)) = (forms.scalar, self.scalar) {
            return Ok(Form::Scalar(scalar));
        }
        if let (true, Some(list)) = (forms.list, &self.list) {
            return Ok(Form::List(list));
        }
        Err("schema error: invalid atom: inlined".to_owned())
    }
}

impl<'a> Map<'a> {
    /// What a field that is known holds.
    pub(super) fn field(&self, name: &str) -> Option<Ref<'a>> {
        match self.fields {
            Fields::None => None,
            Fields::JsonSchema => json_schema::field(name),
            Fields::Struct { of } if (of.name, name) == json_schema::PLACE => Some(Ref::JsonSchema),
            Fields::Struct { of } => {
                let field = of.fields.iter().find(|field| field.name == name)?;
                let keyed = KEYED
                    .iter()
                    .find(|(within, at, _)| (*within, *at) == (of.name, name));
                Some(Ref::Type {
                    kind: &field.kind,
                    key: field.merge_key.or(keyed.map(|(_, _, key)| *key)),
                    granular: GRANULAR.contains(&(of.name, field.name)),
                })
            }
            Fields::Schema {
                properties,
                preserve,
                resource,
            } => {
                match name {
                    "apiVersion" | "kind" if resource => {
                        return Some(Ref::Plain(Scalar::Text));
                    }
                    "metadata" if resource => return Some(Ref::Struct(&OBJECT_META)),
                    _ => {}
                }
                properties.get(name).map(|schema| Ref::Schema {
                    schema,
                    preserve,
                    resource: false,
                })
            }
        }
    }

    /// What a field holds, known or not.
    pub(super) fn at(&self, name: &str) -> Option<Ref<'a>> {
        self.field(name).or(self.other)
    }

    /// What a key of a list has where it is missing.
    pub(super) fn default_of(&self, name: &str) -> Option<Value> {
        match self.fields {
            Fields::None | Fields::JsonSchema => None,
            Fields::Struct { of } => {
                let field = of.fields.iter().find(|field| field.name == name)?;
                let text = field.presence == Presence::Always && matches!(field.kind, Type::String);
                text.then(|| Value::from(""))
            }
            Fields::Schema { properties, .. } => properties.get(name)?.default.clone(),
        }
    }

    /// Whether nothing at all is known of its fields.
    pub(super) fn is_unknown(&self) -> bool {
        let open = match self.other {
            Some(Ref::Deduced) => true,
            Some(Ref::Schema { .. }) => self
                .other
                .is_some_and(|other| other.atom().scalar == Some(Scalar::Any)),
            _ => false,
        };
        open && match self.fields {
            Fields::None => true,
            Fields::JsonSchema => false,
            Fields::Struct { of } => of.fields.is_empty(),
            Fields::Schema {
                properties,
                resource,
                ..
            } => properties.is_empty() && !resource,
        }
    }
}
