//! Where two transcripts differ, in words.

use std::fmt;

use serde_json::Value;

use super::script::Transcript;

/// One request that the servers answered differently.
#[derive(Debug)]
pub(crate) struct Difference {
    request: String,
    places: Vec<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {}", self.request)?;
        for place in &self.places {
            writeln!(f, "    {place}")?;
        }
        Ok(())
    }
}

/// Every difference, the first request's first.
pub(crate) fn compare(real: Transcript, embedded: Transcript) -> Vec<Difference> {
    let mut differences = Vec::new();
    for index in 0..real.0.len().max(embedded.0.len()) {
        let (left, right) = (real.0.get(index), embedded.0.get(index));
        let request = left
            .or(right)
            .map(|entry| entry.request.clone())
            .unwrap_or_default();
        let mut places = Vec::new();
        match (left, right) {
            (Some(left), Some(right)) if same_request(&left.request, &right.request) => {
                walk("", Some(&left.outcome), Some(&right.outcome), &mut places);
            }
            _ => {
                let show = |side: Option<&super::script::Entry>| {
                    side.map_or_else(
                        || "nothing".to_owned(),
                        |e| format!("{} {}", e.request, e.outcome),
                    )
                };
                places.push(format!("real     {}", show(left)));
                places.push(format!("embedded {}", show(right)));
            }
        }
        if !places.is_empty() {
            differences.push(Difference { request, places });
        }
    }
    differences
}

/// Requests name versions and cursors, which differ; their first word and their path do not.
fn same_request(left: &str, right: &str) -> bool {
    let head = |text: &str| text.split('?').next().unwrap_or_default().to_owned();
    head(left) == head(right)
}

fn walk(path: &str, left: Option<&Value>, right: Option<&Value>, places: &mut Vec<String>) {
    match (left, right) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let mut keys: Vec<&String> = left.keys().chain(right.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                walk(
                    &format!("{path}/{key}"),
                    left.get(key),
                    right.get(key),
                    places,
                );
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            for index in 0..left.len().max(right.len()) {
                walk(
                    &format!("{path}/{index}"),
                    left.get(index),
                    right.get(index),
                    places,
                );
            }
        }
        (left, right) if left == right => {}
        (left, right) => {
            let show = |value: Option<&Value>| {
                value.map_or_else(|| "(absent)".to_owned(), ToString::to_string)
            };
            places.push(format!(
                "{path}\n      real     {}\n      embedded {}",
                show(left),
                show(right)
            ));
        }
    }
}
