//! Samples from a schema: the least, the most, and broken ones.

use regex::Regex;
use serde_json::{Map, Value, json};

/// Broken samples of one version: enough to meet every kind of rule, few enough for the real server.
const BROKEN: usize = 12;

/// Strings that patterns of real definitions accept.
const STRINGS: [&str; 14] = [
    "a",
    "abc",
    "10.0.0.0/16",
    "1",
    "v1.2.3",
    "vpc-0123",
    "1.2.3",
    "10.0.0.1",
    "a.example.com",
    "1Gi",
    "arn:aws:iam::123456789012:role/a",
    "https://example.com",
    "1h",
    "us-east-1a",
];

/// Every sample with the name of what it tries.
pub(crate) fn all(schema: &Value) -> Vec<(String, Value)> {
    let full = full(schema);
    let mut samples = vec![
        ("least".to_owned(), least(schema)),
        ("most".to_owned(), full.clone()),
        ("nothing".to_owned(), json!({})),
    ];
    let mut paths = Vec::new();
    collect(&full, &mut String::new(), &mut paths);
    // Spread over the whole object.
    let step = (paths.len() / BROKEN).max(1);
    for (index, path) in paths.iter().step_by(step).take(BROKEN).enumerate() {
        let mut broken = full.clone();
        if let Some(place) = broken.pointer_mut(path) {
            *place = match (index % 5, &*place) {
                (0, Value::String(_)) => json!(5),
                (0, _) => json!("text"),
                (1, _) => Value::Null,
                (2, Value::Object(_)) => json!([]),
                (2, _) => json!({}),
                (3, Value::Object(map)) => {
                    let mut map = map.clone();
                    map.insert("unknownField".into(), json!(1));
                    Value::Object(map)
                }
                (3, Value::Number(_)) => json!(-1_000_000_000),
                (3, _) => json!("x".repeat(5_000)),
                _ => json!([1, "x"]),
            };
        }
        samples.push((format!("broken-{index}"), broken));
    }
    samples
}

/// A sample with every field.
pub(crate) fn full(schema: &Value) -> Value {
    sample(schema, true, 0)
}

/// A sample with what is required.
pub(crate) fn least(schema: &Value) -> Value {
    sample(schema, false, 0)
}

fn collect(value: &Value, path: &mut String, paths: &mut Vec<String>) {
    let length = path.len();
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, child)| (key.clone(), child))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, child)| (index.to_string(), child))
            .collect(),
        _ => Vec::new(),
    };
    for (key, child) in children {
        path.push('/');
        path.push_str(&key.replace('~', "~0").replace('/', "~1"));
        paths.push(path.clone());
        collect(child, path, paths);
        path.truncate(length);
    }
}

fn sample(schema: &Value, full: bool, depth: usize) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return json!(1);
    }
    match schema["type"].as_str() {
        Some("object") => object(schema, full, depth),
        Some("array") => json!([sample(&schema["items"], full, depth + 1)]),
        Some("integer") => json!(schema["minimum"].as_i64().unwrap_or(1)),
        Some("number") => json!(schema["minimum"].as_f64().unwrap_or(1.5)),
        Some("boolean") => json!(true),
        Some("string") => json!(string(schema)),
        _ => json!({"anything": [1]}),
    }
}

fn object(schema: &Value, full: bool, depth: usize) -> Value {
    let mut object = Map::new();
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let header = depth == 0 && ["apiVersion", "kind", "metadata"].contains(&name.as_str());
        if !header && (full || required.contains(&name.as_str())) {
            object.insert(name.clone(), sample(property, full, depth + 1));
        }
    }
    if full && schema["additionalProperties"].is_object() {
        object.insert(
            "key".into(),
            sample(&schema["additionalProperties"], full, depth + 1),
        );
    }
    if full && schema["x-kubernetes-preserve-unknown-fields"] == true {
        object.insert("extra".into(), json!({"kept": 1}));
    }
    Value::Object(object)
}

fn string(schema: &Value) -> String {
    let formatted = match schema["format"].as_str() {
        Some("date-time") => Some("2020-01-01T00:00:00Z"),
        Some("date") => Some("2020-01-01"),
        Some("duration") => Some("1m"),
        Some("byte") => Some("aGk="),
        Some("ipv4") => Some("10.0.0.1"),
        Some("cidr") => Some("10.0.0.0/8"),
        Some("uri") => Some("https://example.com"),
        _ => None,
    };
    if let Some(text) = formatted {
        return text.to_owned();
    }
    let pattern = schema["pattern"]
        .as_str()
        .and_then(|pattern| Regex::new(pattern).ok());
    let found = pattern.and_then(|pattern| STRINGS.iter().find(|text| pattern.is_match(text)));
    let text = found.copied().unwrap_or("a");
    let least = schema["minLength"].as_u64().unwrap_or(0);
    let least = usize::try_from(least).unwrap_or(0);
    format!("{text}{}", "a".repeat(least.saturating_sub(text.len())))
}
