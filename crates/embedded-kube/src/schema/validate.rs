//! Validation against a schema, with the messages and the ratcheting of the real server.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Number, Value, json};

use super::formats;
use super::{Additional, Kind, Limits, ListKind, Schema};
use crate::status::FieldError;
use crate::text::{go_float, go_quote};

/// Of a list or a map with more wrong items than this, the rest is not complained about: a body of
/// a few megabytes could ask for an answer of hundreds.
const MAX_ERRORS: usize = 10_000;

/// The complaints about `value`, each under `prefix`. What is wrong but unchanged since `old` is
/// not complained about.
pub(crate) fn validate(
    value: &Value,
    old: Option<&Value>,
    schema: &Schema,
    prefix: &str,
) -> Vec<FieldError> {
    let walk = Walk { prefix };
    let mut told = BTreeSet::new();
    let errors = walk.node(value, old, schema, "").errors;
    // Schemas that repeat each other complain once.
    errors
        .into_iter()
        .filter(|error| told.insert(error.to_string()))
        .collect()
}

/// Whether a number is above a limit; integers are compared as integers.
fn above(float: f64, whole: Option<i64>, limit: f64) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "Go truncates here as well")]
    match whole {
        Some(number) if limit.fract() == 0.0 => number > limit as i64,
        _ => float > limit,
    }
}

struct Walk<'a> {
    prefix: &'a str,
}

/// Complaints, and how many checks passed: alternatives are compared by that.
#[derive(Default)]
struct Outcome {
    errors: Vec<FieldError>,
    passed: usize,
}

impl Outcome {
    fn merge(&mut self, other: Self) {
        self.errors.extend(other.errors);
        self.passed += other.passed;
    }
}

impl Walk<'_> {
    /// The field that an error is about.
    fn at(&self, path: &str) -> String {
        match (self.prefix.is_empty(), path.trim_start_matches('.')) {
            (true, "") => "<nil>".to_owned(),
            (true, path) => path.to_owned(),
            (false, "") => self.prefix.to_owned(),
            (false, path) => format!("{}.{path}", self.prefix),
        }
    }

    /// An error without a place of its own.
    fn loose(&self, message: String) -> FieldError {
        FieldError::invalid(self.at(""), "", message)
    }

    fn node(&self, value: &Value, old: Option<&Value>, schema: &Schema, path: &str) -> Outcome {
        let mut outcome = Outcome::default();
        match self.wrong_type(value, schema, path) {
            Some(error) => outcome.errors.push(error),
            None => outcome.passed += 1,
        }
        if value.is_null() {
            if let Some(limits) = &schema.limits {
                self.allowed_values(value, limits, path, &mut outcome);
            }
        } else {
            if let Value::Number(number) = value {
                self.range(number, schema, path, &mut outcome);
            }
            if let Some(limits) = &schema.limits {
                self.alternatives(value, old, limits, path, &mut outcome);
                self.scalars(value, limits, path, &mut outcome);
                self.allowed_values(value, limits, path, &mut outcome);
            }
            match value {
                Value::Array(items) => self.array(items, old, schema, path, &mut outcome),
                Value::Object(_) => self.object(value, old, schema, path, &mut outcome),
                _ => {}
            }
        }
        if !outcome.errors.is_empty() && old == Some(value) {
            outcome.errors.clear();
        }
        outcome
    }

    fn wrong_type(&self, value: &Value, schema: &Schema, path: &str) -> Option<FieldError> {
        let expected = match schema.kind {
            Kind::Any => return None,
            Kind::String => "string",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::Array => "array",
            Kind::Object => "object",
            Kind::IntOrString => "integer,string",
        };
        let format = schema.limits.as_ref().map_or("", |limits| &*limits.format);
        let (found, found_format) = match value {
            Value::Null if schema.nullable => return None,
            Value::Null => ("null", ""),
            Value::Bool(_) => ("boolean", ""),
            Value::Number(number) if number.is_f64() => ("number", "float64"),
            Value::Number(_) => ("integer", "int64"),
            Value::String(_) => ("string", ""),
            Value::Array(_) => ("array", ""),
            Value::Object(_) => ("object", ""),
        };
        let fits = match schema.kind {
            Kind::Number => matches!(found, "number" | "integer"),
            Kind::IntOrString => matches!(found, "string" | "integer"),
            _ => found == expected,
        };
        if fits {
            return None;
        }
        let text_or_list = matches!(value, Value::String(_) | Value::Array(_));
        let numeric = matches!(
            schema.kind,
            Kind::Number | Kind::Integer | Kind::IntOrString
        );
        if !format.is_empty() && !value.is_null() {
            if !text_or_list {
                let detail = format!(
                    "{path} in body must be of type {format}: {}",
                    go_quote(found_format)
                );
                return Some(FieldError::type_invalid(
                    self.at(path),
                    found_format,
                    detail,
                ));
            }
            if !numeric {
                return None;
            }
        }
        let detail = format!(
            "{path} in body must be of type {expected}: {}",
            go_quote(found)
        );
        Some(FieldError::type_invalid(self.at(path), found, detail))
    }

    fn allowed_values(&self, value: &Value, limits: &Limits, path: &str, outcome: &mut Outcome) {
        if limits.allowed.is_empty() || limits.allowed.contains(value) {
            return;
        }
        let allowed: Vec<String> = limits
            .allowed
            .iter()
            .map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
            .collect();
        outcome.errors.push(FieldError::not_supported(
            self.at(path),
            value.clone(),
            &allowed,
        ));
    }

    /// Whether a number fits the type and format of its schema.
    fn range(&self, number: &Number, schema: &Schema, path: &str, outcome: &mut Outcome) {
        let format = schema.limits.as_ref().map_or("", |limits| &*limits.format);
        let whole = number.as_i64();
        // Beyond 2^53 a float is no integer any more, but it is in range of one.
        let in_range = number
            .as_f64()
            .is_some_and(|float| float.fract() == 0.0 && float.abs() < 9.223_372_036_854_775e18);
        let (kind, fits) = match (schema.kind, format) {
            (Kind::Integer, "int32") => (
                "integer",
                whole.is_some_and(|number| i32::try_from(number).is_ok()),
            ),
            (Kind::Integer, _) => ("integer", whole.is_some() || in_range),
            (Kind::Number, "float") => {
                let size = number.as_f64().unwrap_or_default().abs();
                ("number", size <= f64::from(f32::MAX))
            }
            _ => return,
        };
        if !fits {
            let format = match format {
                "" => "(default format)".to_owned(),
                format => format!("with format {format}"),
            };
            let message = format!("Checked value must be of type {kind} {format} in {path}");
            outcome.errors.push(self.loose(message));
        }
    }

    fn scalars(&self, value: &Value, limits: &Limits, path: &str, outcome: &mut Outcome) {
        match value {
            Value::String(text) => self.text(text, limits, path, outcome),
            Value::Number(_) => self.number(value, limits, path, outcome),
            _ => {}
        }
    }

    fn text(&self, text: &str, limits: &Limits, path: &str, outcome: &mut Outcome) {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        // Of these the first that is not kept is told.
        let error = match (limits.max_length, limits.min_length, &limits.pattern) {
            (Some(max), _, _) if length > max => Some(FieldError::too_long(self.at(path), max)),
            (_, Some(min), _) if length < min => {
                let detail = format!("{path} in body should be at least {min} chars long");
                Some(FieldError::invalid(self.at(path), text, detail))
            }
            (_, _, Some(pattern)) if !pattern.matches(text) => {
                let detail = format!("{path} in body should match '{}'", pattern.text);
                Some(FieldError::invalid(self.at(path), text, detail))
            }
            _ => None,
        };
        outcome.errors.extend(error);
        if !limits.format.is_empty() && !formats::fits(&limits.format, text) {
            let detail = format!(
                "{path} in body must be of type {}: {}",
                limits.format,
                go_quote(text)
            );
            outcome
                .errors
                .push(FieldError::type_invalid(self.at(path), text, detail));
        }
    }

    fn number(&self, value: &Value, limits: &Limits, path: &str, outcome: &mut Outcome) {
        let Some(float) = value.as_f64() else { return };
        let whole = value.as_i64();
        let shown = |limit: f64| {
            #[expect(clippy::cast_possible_truncation, reason = "Go truncates here as well")]
            match whole {
                Some(_) => (limit as i64).to_string(),
                None => go_float(limit),
            }
        };
        let mut complain = |wrong: bool, what: &str, limit: f64| {
            if wrong {
                let detail = format!("{path} in body should be {what} {}", shown(limit));
                outcome
                    .errors
                    .push(FieldError::invalid(self.at(path), value.clone(), detail));
            }
        };
        if let Some(factor) = limits.multiple_of {
            let ratio = float / factor;
            complain(
                (ratio - ratio.round()).abs() > 1e-9 || ratio.abs() > 9_007_199_254_740_991.0,
                "a multiple of",
                factor,
            );
        }
        match limits.maximum {
            Some(max) if limits.exclusive_maximum => complain(float >= max, "less than", max),
            Some(max) => complain(above(float, whole, max), "less than or equal to", max),
            None => {}
        }
        match limits.minimum {
            Some(min) if limits.exclusive_minimum => complain(float <= min, "greater than", min),
            Some(min) => complain(
                above(-float, whole.map(i64::wrapping_neg), -min),
                "greater than or equal to",
                min,
            ),
            None => {}
        }
    }

    fn array(
        &self,
        items: &[Value],
        old: Option<&Value>,
        schema: &Schema,
        path: &str,
        outcome: &mut Outcome,
    ) {
        if let Some(item_schema) = &schema.items {
            let id = |item: &Value, keys: &[Box<str>]| -> String {
                let parts: Vec<&Value> = keys.iter().map(|key| &item[&**key]).collect();
                json!(parts).to_string()
            };
            let mut known = BTreeMap::new();
            if let (ListKind::Map(keys), Some(Value::Array(before))) = (&schema.list, old) {
                for item in before {
                    known.entry(id(item, keys)).or_insert(item);
                }
            }
            for (index, item) in items.iter().enumerate() {
                if outcome.errors.len() >= MAX_ERRORS {
                    break;
                }
                let before = match &schema.list {
                    ListKind::Map(keys) if !known.is_empty() => known.get(&id(item, keys)).copied(),
                    _ => None,
                };
                outcome.merge(self.node(item, before, item_schema, &format!("{path}[{index}]")));
            }
        }
        if let Some(limits) = &schema.limits {
            let size = i64::try_from(items.len()).unwrap_or(i64::MAX);
            if let Some(min) = limits.min_items
                && size < min
            {
                let detail = format!("{path} in body should have at least {min} items");
                outcome
                    .errors
                    .push(FieldError::invalid(self.at(path), size, detail));
            }
            if let Some(max) = limits.max_items
                && size > max
            {
                outcome
                    .errors
                    .push(FieldError::too_many(self.at(path), items.len(), max));
            }
        }
        outcome.passed += 1;
    }

    fn object(
        &self,
        value: &Value,
        old: Option<&Value>,
        schema: &Schema,
        path: &str,
        outcome: &mut Outcome,
    ) {
        let Value::Object(map) = value else { return };
        let below = |key: &str| {
            if path.is_empty() {
                key.to_owned()
            } else {
                format!("{path}.{key}")
            }
        };
        let before = |key: &str| {
            if schema.atomic_map {
                None
            } else {
                old.and_then(|old| old.get(key))
            }
        };
        if let Some(limits) = &schema.limits {
            let size = i64::try_from(map.len()).unwrap_or(i64::MAX);
            if let Some(min) = limits.min_properties
                && size < min
            {
                let detail = format!("{path} in body should have at least {min} properties");
                outcome
                    .errors
                    .push(FieldError::invalid(self.at(path), size, detail));
            }
            if let Some(max) = limits.max_properties
                && size > max
            {
                outcome
                    .errors
                    .push(FieldError::too_many(self.at(path), map.len(), max));
            }
        }
        for (key, value) in map {
            match (schema.properties.get(key.as_str()), &schema.additional) {
                (Some(field), _) => {
                    outcome.merge(self.node(value, before(key), field, &below(key)));
                }
                (None, Some(Additional::Schema(field))) => {
                    let path = format!("{path}.{key}");
                    outcome.merge(self.node(value, before(key), field, &path));
                }
                (None, Some(Additional::Allowed(false))) => {
                    let detail = format!("{path}.{key} in body is a forbidden property");
                    let error = FieldError::invalid(self.at(path), key.as_str(), detail);
                    outcome.errors.push(error);
                }
                (None, _) => {}
            }
        }
        for key in schema.limits.iter().flat_map(|limits| &limits.required) {
            if !map.contains_key(&**key) {
                outcome
                    .errors
                    .push(FieldError::required(self.at(&below(key)), ""));
            }
        }
    }

    fn alternatives(
        &self,
        value: &Value,
        old: Option<&Value>,
        limits: &Limits,
        path: &str,
        outcome: &mut Outcome,
    ) {
        let try_each = |schemas: &[Schema]| -> (usize, Option<Outcome>) {
            let (mut fitting, mut best): (usize, Option<Outcome>) = (0, None);
            for schema in schemas {
                let result = self.node(value, old, schema, path);
                if result.errors.is_empty() {
                    fitting += 1;
                } else if best.as_ref().is_none_or(|best| result.passed > best.passed) {
                    best = Some(result);
                }
            }
            (fitting, best)
        };
        let name = go_quote(path);
        if !limits.any_of.is_empty() {
            let (fitting, best) = try_each(&limits.any_of);
            if fitting == 0 {
                let message = format!("{name} must validate at least one schema (anyOf)");
                outcome.errors.push(self.loose(message));
                outcome.merge(best.unwrap_or_default());
            }
        }
        if !limits.one_of.is_empty() {
            let (fitting, best) = try_each(&limits.one_of);
            if fitting != 1 {
                let found = match fitting {
                    0 => "Found none valid".to_owned(),
                    several => format!("Found {several} valid alternatives"),
                };
                let message =
                    format!("{name} must validate one and only one schema (oneOf). {found}");
                outcome.errors.push(self.loose(message));
                if fitting == 0 {
                    outcome.merge(best.unwrap_or_default());
                }
            }
        }
        if !limits.all_of.is_empty() {
            let mut fitting = 0;
            for schema in &limits.all_of {
                let result = self.node(value, old, schema, path);
                fitting += usize::from(result.errors.is_empty());
                outcome.merge(result);
            }
            if fitting != limits.all_of.len() {
                let none = if fitting == 0 { ". None validated" } else { "" };
                let message = format!("{name} must validate all the schemas (allOf){none}");
                outcome.errors.push(self.loose(message));
            }
        }
        if let Some(not) = &limits.not
            && self.node(value, old, not, path).errors.is_empty()
        {
            let message = format!("{name} must not validate the schema (not)");
            outcome.errors.push(self.loose(message));
        }
        outcome.passed += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::compile;
    use super::*;
    use serde_json::json;

    fn texts(value: Value, old: Option<Value>, schema: Value) -> Vec<String> {
        let errors = validate(&value, old.as_ref(), &compile(&schema), "");
        errors.iter().map(ToString::to_string).collect()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {"spec": {
                "type": "object",
                "required": ["size"],
                "properties": {
                    "size": {"type": "integer", "minimum": 1, "maximum": 5},
                    "name": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^a"},
                    "mode": {"type": "string", "enum": ["A", "B"]},
                    "port": {"x-kubernetes-int-or-string": true},
                    "list": {"type": "array", "maxItems": 1, "items": {"type": "string"}}
                }
            }}
        })
    }

    #[test]
    fn complaints_read_like_the_real_ones() {
        assert_eq!(
            texts(json!({"spec": {}}), None, schema()),
            ["spec.size: Required value"]
        );
        assert_eq!(
            texts(json!({"spec": {"size": "x"}}), None, schema()),
            [
                "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \
              \"string\""
            ]
        );
        assert_eq!(
            texts(json!({"spec": {"size": 9}}), None, schema()),
            ["spec.size: Invalid value: 9: spec.size in body should be less than or equal to 5"]
        );
        assert_eq!(
            texts(json!({"spec": {"size": 1, "mode": "C"}}), None, schema()),
            ["spec.mode: Unsupported value: \"C\": supported values: \"A\", \"B\""]
        );
        assert_eq!(
            texts(
                json!({"spec": {"size": 1, "name": "abcde"}}),
                None,
                schema()
            ),
            ["spec.name: Too long: may not be more than 4 bytes"]
        );
        assert_eq!(
            texts(
                json!({"spec": {"size": 1, "list": ["a", "b"]}}),
                None,
                schema()
            ),
            ["spec.list: Too many: 2: must have at most 1 items"]
                .map(|t| t.replace("1 items", "1 item"))
        );
        assert_eq!(
            texts(json!({"spec": {"size": 1, "port": true}}), None, schema()),
            [
                "spec.port: Invalid value: \"boolean\": spec.port in body must be of type \
              integer,string: \"boolean\""
            ]
        );
    }

    #[test]
    fn what_was_wrong_before_may_stay() {
        let old = json!({"spec": {"size": 9}});
        let new = json!({"spec": {"size": 9, "name": "ab"}});
        assert!(texts(new, Some(old.clone()), schema()).is_empty());
        assert_eq!(
            texts(json!({"spec": {"size": 8}}), Some(old), schema()).len(),
            1
        );
    }

    #[test]
    fn alternatives() {
        let schema = json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
        assert!(texts(json!({"a": 1}), None, schema.clone()).is_empty());
        assert_eq!(
            texts(json!({"a": 1, "b": 1}), None, schema.clone()),
            [
                "<nil>: Invalid value: \"\": \"\" must validate one and only one schema (oneOf). \
              Found 2 valid alternatives"
            ]
        );
        assert_eq!(texts(json!({}), None, schema).len(), 2);
    }
}
