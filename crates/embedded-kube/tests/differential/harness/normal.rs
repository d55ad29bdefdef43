//! Takes out of an answer what two servers cannot agree on, and nothing else.
//!
//! Uids and object versions become symbols in the order of their first appearance, so that two that
//! should be equal, or should not, still show.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use super::Answer;

/// The names given so far in one transcript.
#[derive(Debug, Default)]
pub(crate) struct Normaliser {
    uids: BTreeMap<String, usize>,
    versions: BTreeMap<String, usize>,
}

static UID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").expect("a regex")
});

/// Times before 2024 are those that cases write themselves.
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"20(2[4-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").expect("a regex")
});

/// The messages that quote versions of the store.
static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(too old resource version: |too large resource version: |, current: |",
        r"resourceversion in precondition: |resourceversion in object meta: )\d+( \(\d+\))?"
    ))
    .expect("a regex")
});

/// What a decoder made of a body is told in the words of that decoder.
static DECODER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("(?s)(cannot be handled as an? [A-Za-z]+: ).*").expect("a regex")
});

impl Normaliser {
    pub(crate) fn answer(&mut self, answer: &Answer) -> Value {
        let mut outcome = json!({
            "status": answer.status,
            "type": answer.content_type,
            "body": self.value(answer.body.clone()),
        });
        if !answer.warnings.is_empty() {
            outcome["warnings"] = json!(answer.warnings);
        }
        outcome
    }

    pub(crate) fn value(&mut self, value: Value) -> Value {
        match value {
            Value::Object(map) => self.object(map),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::String(text) => Value::String(self.text(&text)),
            other => other,
        }
    }

    fn object(&mut self, mut map: Map<String, Value>) -> Value {
        let is_list = map.contains_key("items") && map.contains_key("metadata");
        let is_bookmark = map.get("type").is_some_and(|kind| kind == "BOOKMARK");
        if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
            self.metadata(metadata, is_list);
        }
        if is_bookmark
            && let Some(version) = map.get_mut("object").and_then(|object| {
                object.pointer_mut("/metadata/resourceVersion")
            })
        {
            *version = json!("<now>");
        }
        // In the order of the keys, whatever order the map keeps: symbols are numbered on the way.
        let mut keys: Vec<String> = map.keys().cloned().collect();
        keys.sort();
        let fields = keys.into_iter().map(|key| {
            let value = map.remove(&key).expect("it is a key of this map");
            let value = self.value(value);
            (key, value)
        });
        Value::Object(fields.collect())
    }

    fn metadata(&mut self, metadata: &mut Map<String, Value>, is_list: bool) {
        // Field ownership is the second half's: server-side apply.
        metadata.remove("managedFields");
        if let Some(Value::String(version)) = metadata.get_mut("resourceVersion") {
            *version = match is_list {
                // The version of the whole store, which other cases move as well.
                true => "<now>".to_owned(),
                false if version.starts_with('<') => return,
                false => number(&mut self.versions, version, "version"),
            };
        }
        if let Some(Value::String(cursor)) = metadata.get_mut("continue")
            && !cursor.is_empty()
        {
            "<cursor>".clone_into(cursor);
        }
        if let (Some(Value::String(prefix)), Some(Value::String(name))) =
            (metadata.get("generateName").cloned(), metadata.get_mut("name"))
            // A name has at most 63 characters, five of them generated.
            && let prefix = &prefix[..prefix.len().min(58)]
            && let Some(suffix) = name.strip_prefix(prefix)
            && suffix.len() == 5
            && suffix.bytes().all(|byte| b"bcdfghjklmnpqrstvwxz2456789".contains(&byte))
        {
            *name = format!("{prefix}<5 characters>");
        }
    }

    fn text(&mut self, text: &str) -> String {
        let text = UID.replace_all(text, |found: &Captures<'_>| {
            number(&mut self.uids, &found[0], "uid")
        });
        let text = TIME.replace_all(&text, |found: &Captures<'_>| match found.get(2) {
            Some(_) => "<micro time>",
            None => "<time>",
        });
        let text = VERSION.replace_all(&text, "${1}<version>");
        DECODER.replace(&text, "${1}<decoder>").into_owned()
    }
}

fn number(names: &mut BTreeMap<String, usize>, name: &str, what: &str) -> String {
    let next = names.len() + 1;
    format!("<{what} {}>", names.entry(name.to_owned()).or_insert(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_versions_stay_equal_and_others_stay_apart() {
        let object = |version: &str| json!({"metadata": {"name": "a", "resourceVersion": version}});
        let mut normaliser = Normaliser::default();
        let first = normaliser.value(object("17"));
        assert_eq!(first, normaliser.value(object("17")));
        assert_ne!(first, normaliser.value(object("18")));
    }

    #[test]
    fn only_the_generated_part_of_a_name_is_hidden() {
        let object = |name: &str| json!({"metadata": {"generateName": "a-", "name": name}});
        let mut normaliser = Normaliser::default();
        let hidden = normaliser.value(object("a-bcdfg"));
        assert_eq!(hidden, normaliser.value(object("a-xz245")));
        assert_ne!(hidden, normaliser.value(object("a-bcdf")));
        assert_ne!(hidden, normaliser.value(object("a-aeiou")));
    }

    #[test]
    fn times_of_the_cases_are_compared() {
        let mut normaliser = Normaliser::default();
        assert_eq!(normaliser.text("2020-01-01T00:00:00Z"), "2020-01-01T00:00:00Z");
        assert_eq!(normaliser.text("2026-01-01T00:00:00Z"), "<time>");
        assert_eq!(normaliser.text("2026-01-01T00:00:00.000001Z"), "<micro time>");
    }
}
