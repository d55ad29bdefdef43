//! Structural schemas of custom resources: read once, then used to prune, default and validate.

pub(crate) mod formats;
mod invariants;
pub(crate) mod path;
pub(crate) mod pattern;
pub(crate) mod rules;
mod shape;
mod validate;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::Regex;
use serde_json::Value;

use rules::RuleSet;

pub(crate) use invariants::{coerce_embedded, embedded_errors, list_errors};
pub(crate) use shape::{default, drop_nulls, prune, prune_part};
pub(crate) use validate::validate;

/// A schema, or a part of one.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
    pub(crate) preserve: bool,
    pub(crate) embedded: bool,
    pub(crate) properties: BTreeMap<Box<str>, Schema>,
    pub(crate) additional: Option<Additional>,
    pub(crate) items: Option<Box<Schema>>,
    pub(crate) default: Option<Value>,
    pub(crate) list: ListKind,
    pub(crate) atomic_map: bool,
    /// Whether a text has a format, known or not, that is more than its encoding.
    pub(crate) formatted: bool,
    /// The expressions that it must fulfil.
    pub(crate) rules: Option<Box<RuleSet>>,
    /// Whether there are such here or below.
    pub(crate) ruled: bool,
    /// What a value must fulfil besides its type; most fields need nothing.
    pub(crate) limits: Option<Box<Limits>>,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Any,
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
    IntOrString,
}

impl Kind {
    /// As schemas name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Any | Self::IntOrString => "",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    pub(crate) fn is_composite(self) -> bool {
        matches!(self, Self::Array | Self::Object)
    }
}

/// `additionalProperties`.
#[derive(Debug)]
pub(crate) enum Additional {
    /// `true`, or `false`.
    Allowed(bool),
    Schema(Box<Schema>),
}

impl Additional {
    pub(crate) fn schema(&self) -> Option<&Schema> {
        match self {
            Self::Allowed(_) => None,
            Self::Schema(schema) => Some(schema),
        }
    }
}

/// How a list is identified by its items.
#[derive(Debug, Default)]
pub(crate) enum ListKind {
    #[default]
    Atomic,
    Set,
    Map(Vec<Box<str>>),
}

/// The constraints of a value.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    pub(crate) format: Box<str>,
    pub(crate) maximum: Option<f64>,
    pub(crate) exclusive_maximum: bool,
    pub(crate) minimum: Option<f64>,
    pub(crate) exclusive_minimum: bool,
    pub(crate) multiple_of: Option<f64>,
    pub(crate) max_length: Option<i64>,
    pub(crate) min_length: Option<i64>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) max_items: Option<i64>,
    pub(crate) min_items: Option<i64>,
    pub(crate) max_properties: Option<i64>,
    pub(crate) min_properties: Option<i64>,
    pub(crate) required: Vec<Box<str>>,
    pub(crate) allowed: Vec<Value>,
    pub(crate) all_of: Vec<Schema>,
    pub(crate) any_of: Vec<Schema>,
    pub(crate) one_of: Vec<Schema>,
    pub(crate) not: Option<Box<Schema>>,
}

/// A regular expression that is compiled at its first use.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) text: Box<str>,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    fn new(text: &str) -> Self {
        Self {
            text: text.into(),
            compiled: OnceLock::new(),
        }
    }

    /// Whether it is found in the text; an expression that does not compile is found nowhere.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let regex = self
            .compiled
            .get_or_init(|| pattern::compile(&self.text).ok());
        regex.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

/// Reads a schema from its JSON; what the definition's own validation has let through is trusted.
pub(crate) fn compile(source: &Value) -> Schema {
    let flag = |key: &str| source[key] == true;
    let kind = kind_of(source);
    let properties = source["properties"].as_object().into_iter().flatten();
    let additional = match &source["additionalProperties"] {
        Value::Bool(allowed) => Some(Additional::Allowed(*allowed)),
        schema @ Value::Object(_) => Some(Additional::Schema(Box::new(compile(schema)))),
        _ => None,
    };
    let list = match source["x-kubernetes-list-type"].as_str() {
        Some("set") => ListKind::Set,
        Some("map") => ListKind::Map(texts(&source["x-kubernetes-list-map-keys"])),
        _ => ListKind::Atomic,
    };
    let mut schema = Schema {
        kind,
        nullable: flag("nullable"),
        preserve: flag("x-kubernetes-preserve-unknown-fields"),
        embedded: flag("x-kubernetes-embedded-resource"),
        properties: properties
            .map(|(key, value)| (key.as_str().into(), compile(value)))
            .collect(),
        additional,
        items: source["items"]
            .is_object()
            .then(|| Box::new(compile(&source["items"]))),
        default: source
            .get("default")
            .filter(|value| !value.is_null())
            .cloned(),
        list,
        atomic_map: source["x-kubernetes-map-type"] == "atomic",
        formatted: !matches!(source["format"].as_str(), None | Some("" | "byte")),
        rules: RuleSet::read(source),
        ruled: false,
        limits: limits(source, kind),
    };
    let below = schema.properties.values().chain(schema.items.as_deref());
    let below = below.chain(schema.additional.as_ref().and_then(Additional::schema));
    schema.ruled = schema.rules.is_some() || below.into_iter().any(|part| part.ruled);
    schema
}

/// The type that a schema names.
pub(crate) fn kind_of(source: &Value) -> Kind {
    if source["x-kubernetes-int-or-string"] == true {
        return Kind::IntOrString;
    }
    match source["type"].as_str() {
        Some("string") => Kind::String,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("boolean") => Kind::Boolean,
        Some("array") => Kind::Array,
        Some("object") => Kind::Object,
        _ => Kind::Any,
    }
}

fn texts(list: &Value) -> Vec<Box<str>> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(|v| v.as_str().map(Into::into))
        .collect()
}

const LIMITING: &[&str] = &[
    "format",
    "maximum",
    "minimum",
    "multipleOf",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "maxProperties",
    "minProperties",
    "required",
    "enum",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
];

fn limits(source: &Value, kind: Kind) -> Option<Box<Limits>> {
    let map = source.as_object()?;
    if !LIMITING.iter().any(|key| map.contains_key(*key)) {
        return None;
    }
    let parts = |key: &str| {
        source[key]
            .as_array()
            .into_iter()
            .flatten()
            .map(compile)
            .collect()
    };
    let format = source["format"].as_str().unwrap_or_default();
    Some(Box::new(Limits {
        format: if formats::is_known(format, kind) {
            format.into()
        } else {
            "".into()
        },
        maximum: source["maximum"].as_f64(),
        exclusive_maximum: source["exclusiveMaximum"] == true,
        minimum: source["minimum"].as_f64(),
        exclusive_minimum: source["exclusiveMinimum"] == true,
        multiple_of: source["multipleOf"].as_f64(),
        max_length: source["maxLength"].as_i64(),
        min_length: source["minLength"].as_i64(),
        pattern: source["pattern"]
            .as_str()
            .filter(|p| !p.is_empty())
            .map(Pattern::new),
        max_items: source["maxItems"].as_i64(),
        min_items: source["minItems"].as_i64(),
        max_properties: source["maxProperties"].as_i64(),
        min_properties: source["minProperties"].as_i64(),
        required: texts(&source["required"]),
        allowed: source["enum"].as_array().cloned().unwrap_or_default(),
        all_of: parts("allOf"),
        any_of: parts("anyOf"),
        one_of: parts("oneOf"),
        not: source["not"]
            .is_object()
            .then(|| Box::new(compile(&source["not"]))),
    }))
}

impl Schema {
    /// The schema of a field of an object.
    pub(crate) fn field(&self, key: &str) -> Option<&Schema> {
        self.properties
            .get(key)
            .or_else(|| self.additional.as_ref().and_then(Additional::schema))
    }
}
