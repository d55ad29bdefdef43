//! Objects that obey and break the CEL rules of a schema: what the rules name is varied.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::samples;

/// How many objects are made for one rule, and for one schema.
const PER_RULE: usize = 24;
const PER_SCHEMA: usize = 160;

static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:self|oldSelf|x)((?:\.[a-zA-Z_][a-zA-Z0-9_]*)+)(\(|)").expect("a regex")
});
static TEXT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"'([^']*)'|"([^"]*)""#).expect("a regex"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[0-9]+\b").expect("a regex"));

/// A rule, where in a full sample it applies, and the schema there.
struct Place<'a> {
    pointer: String,
    schema: &'a Value,
    rule: &'a str,
}

/// The objects of a schema; none if it has no rules.
pub(crate) fn objects(schema: &Value) -> Vec<Value> {
    let mut places = Vec::new();
    collect(schema, String::new(), &mut places);
    if places.is_empty() {
        return Vec::new();
    }
    let mut all = vec![samples::least(schema), samples::full(schema)];
    for place in &places {
        vary(schema, place, &mut all);
    }
    // Spread over all rules.
    let step = all.len().div_ceil(PER_SCHEMA).max(1);
    all.into_iter().step_by(step).collect()
}

fn collect<'a>(schema: &'a Value, pointer: String, places: &mut Vec<Place<'a>>) {
    let rules = schema["x-kubernetes-validations"].as_array();
    for rule in rules.into_iter().flatten() {
        places.push(Place {
            pointer: pointer.clone(),
            schema,
            rule: rule["rule"].as_str().unwrap_or_default(),
        });
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        collect(field, format!("{pointer}/{name}"), places);
    }
    if schema["items"].is_object() {
        collect(&schema["items"], format!("{pointer}/0"), places);
    }
    if schema["additionalProperties"].is_object() {
        let entry = &schema["additionalProperties"];
        collect(entry, format!("{pointer}/key"), places);
    }
}

/// Adds the full sample with what a rule names taken away and set to what it compares with.
fn vary(schema: &Value, place: &Place<'_>, all: &mut Vec<Value>) {
    let mut targets: Vec<(String, Vec<Option<Value>>)> = Vec::new();
    let own = candidates(place.schema, place.rule);
    if place.schema["type"] != "object" {
        targets.push((place.pointer.clone(), own));
    }
    for found in FIELD.captures_iter(place.rule) {
        let mut names: Vec<&str> = found[1].split('.').skip(1).collect();
        if &found[2] == "(" {
            names.pop();
        }
        // A rule of a list names the fields of its items.
        let (mut inner, mut pointer) = (place.schema, place.pointer.clone());
        if inner["items"].is_object() {
            inner = &inner["items"];
            pointer.push_str("/0");
        }
        for name in names {
            let next = &inner["properties"][name];
            if next.is_null() {
                break;
            }
            inner = next;
            pointer = format!("{pointer}/{name}");
            if targets.iter().all(|(known, _)| *known != pointer) {
                targets.push((pointer.clone(), candidates(inner, place.rule)));
            }
        }
    }
    let full = samples::full(schema);
    let before = all.len();
    for (index, (first, values)) in targets.iter().enumerate() {
        for value in values {
            let mut object = full.clone();
            set(&mut object, first, value.as_ref());
            all.push(object.clone());
            // Two at a time: many rules are about pairs.
            for (second, others) in &targets[index + 1..] {
                for other in others {
                    let mut object = object.clone();
                    set(&mut object, second, other.as_ref());
                    all.push(object);
                }
            }
        }
    }
    let made = all.split_off(before);
    let step = made.len().div_ceil(PER_RULE).max(1);
    all.extend(made.into_iter().step_by(step));
}

/// The values to try for a part: nothing, and what the rule and the schema name.
fn candidates(schema: &Value, rule: &str) -> Vec<Option<Value>> {
    let mut values = vec![None];
    let allowed = schema["enum"].as_array().into_iter().flatten().take(4);
    values.extend(allowed.cloned().map(Some));
    match schema["type"].as_str() {
        Some("string") => {
            let texts = TEXT.captures_iter(rule);
            let texts = texts.filter_map(|found| found.get(1).or_else(|| found.get(2)));
            values.extend(texts.map(|text| Some(json!(text.as_str()))));
            values.extend([
                Some(json!("")),
                Some(json!("other")),
                Some(json!("x".repeat(70))),
            ]);
        }
        Some("integer") => {
            for found in NUMBER.find_iter(rule) {
                let number: i64 = found.as_str().parse().unwrap_or(0);
                values.extend([number - 1, number, number + 1].map(|number| Some(json!(number))));
            }
            values.push(Some(json!(0)));
        }
        Some("array") => values.push(Some(json!([]))),
        Some("boolean") => values.push(Some(json!(false))),
        Some("object") if schema["additionalProperties"].is_object() => {
            let entry = samples::full(&schema["additionalProperties"]);
            values.push(Some(json!({})));
            for found in TEXT.captures_iter(rule) {
                let key = found.get(1).or_else(|| found.get(2));
                let key = key.map_or("", |key| key.as_str());
                values.push(Some(json!({key: entry})));
            }
        }
        _ => {}
    }
    values.dedup();
    values
}

/// Sets a part of an object, or takes it away.
fn set(object: &mut Value, pointer: &str, value: Option<&Value>) {
    if let Some(value) = value {
        if let Some(place) = object.pointer_mut(pointer) {
            *place = value.clone();
        }
        return;
    }
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        return;
    };
    match object.pointer_mut(parent) {
        Some(Value::Object(map)) => drop(map.remove(name)),
        Some(Value::Array(items)) => items.clear(),
        _ => {}
    }
}
