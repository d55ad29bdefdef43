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
    /// Names that begin so and end in five letters were generated.
    generated: Vec<Regex>,
}

static UID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").expect("a regex")
});

/// Times before 2024 are those that cases write themselves.
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"20(2[4-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").expect("a regex")
});

/// How long ago something was, in a table.
static AGE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\d+[smhdy](\d+[smhd])?$").expect("a regex"));

/// The messages that quote versions of the store.
static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(too old resource version: |too large resource version: |, current: |",
        r"resourceversion in precondition: |resourceversion in object meta: |",
        r"resourceversion in the precondition \(|resourceversion in record \()\d+( \(\d+\))?"
    ))
    .expect("a regex")
});

/// Where a message quotes what only a Go program can say. `docs/embedded-kube.md` lists them.
static WORDS: LazyLock<[(Regex, &str); 11]> = LazyLock::new(|| {
    [
        // What a decoder made of a body is told in the words of that decoder.
        (
            "(?s)(cannot be handled as an? [A-Za-z]+: ).*",
            "${1}<decoder>",
        ),
        (
            "(cannot unmarshal [a-z]+)[^\"]*? into Go (struct field|value) .*",
            "${1} into <Go type>",
        ),
        // A patched object is quoted in the order of Go's fields.
        (
            r#"(?s)Invalid value: "\{(?:[^"\\]|\\.)*\}""#,
            "Invalid value: <object>",
        ),
        // So are the versions of a definition, by the names of Go's fields.
        (
            r#"(?s)Invalid value: \[\{"(?i:name)":"v.*?\}\]: "#,
            "Invalid value: <versions>: ",
        ),
        // And so is a schema.
        (
            r"(?s)Invalid value: \{.*?\}: only \[",
            "Invalid value: <schema>: only [",
        ),
        // What is no YAML.
        (
            "(?s)(error decoding YAML: error converting YAML to JSON: yaml: ).*",
            "${1}<reason>",
        ),
        // What is wrong with a regular expression.
        (
            "(?s)(must be a valid regular expression, but isn't: ).*",
            "${1}<reason>",
        ),
        // What a parser expected where an expression goes wrong, and what it thinks of the rest.
        (
            r"(?s)(ERROR: <input>:)\d+:\d+: Syntax error: .*",
            "${1}<syntax>",
        ),
        // What a Go library thinks of an address.
        (
            r"((?:ParseAddr|ParsePrefix)\([^)]*\)): .*? (evaluating rule)",
            "${1}: <reason> ${2}",
        ),
        // The type of what a rule looks at has a number that changes with the time.
        (r"selfType\d+", "selfType"),
        // How two specs of a volume differ, as a Go library draws it.
        (
            r"(?s)(is immutable after creation[^\n]*)\n.*",
            "${1}<difference>",
        ),
    ]
    .map(|(words, mask)| (Regex::new(words).expect("a regex"), mask))
});

impl Normaliser {
    pub(crate) fn answer(&mut self, answer: &Answer) -> Value {
        let mut outcome = json!({
            "status": answer.status,
            "type": answer.content_type,
            "body": self.value(answer.body.clone()),
        });
        if !answer.warnings.is_empty() {
            // What was wrong before is told in random order, as what is wrong now.
            let warnings = answer.warnings.iter().map(|warning| self.text(warning));
            let mut warnings: Vec<String> = warnings.collect();
            if warnings
                .iter()
                .any(|warning| warning.contains(": Invalid value: "))
            {
                warnings.sort();
            }
            outcome["warnings"] = json!(warnings);
        }
        outcome
    }

    /// From now on names with this prefix and five more characters are generated ones.
    pub(crate) fn generates(&mut self, prefix: &str) {
        // A name has at most 63 characters, five of them generated.
        let prefix = regex::escape(&prefix[..prefix.len().min(58)]);
        let name = Regex::new(&format!("{prefix}[bcdfghjklmnpqrstvwxz2456789]{{5}}"));
        self.generated.push(name.expect("the prefix is escaped"));
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
        let is_list =
            (map.contains_key("items") || map.contains_key("rows")) && map.contains_key("metadata");
        mask_table(&mut map);
        let is_bookmark = map.get("type").is_some_and(|kind| kind == "BOOKMARK");
        let mut managers = None;
        if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
            // Last, when the uids that name fields have their symbols.
            managers = metadata.remove("managedFields");
            self.metadata(metadata, is_list);
        }
        if is_bookmark && let Some(object) = map.get_mut("object") {
            for place in ["", "/rows/0/object"] {
                let place = format!("{place}/metadata/resourceVersion");
                if let Some(version) = object.pointer_mut(&place) {
                    *version = json!("<now>");
                }
            }
        }
        sort_causes(&mut map);
        sort_missing(&mut map);
        // In the order of the keys, whatever order the map keeps: symbols are numbered on the way.
        let mut keys: Vec<String> = map.keys().cloned().collect();
        keys.sort();
        let fields = keys.into_iter().map(|key| {
            let value = map.remove(&key).expect("it is a key of this map");
            let value = self.value(value);
            (key, value)
        });
        let mut object = Value::Object(fields.collect());
        if let Some(managers) = managers {
            object["metadata"]["managedFields"] = self.managers(managers);
        }
        object
    }

    /// Who manages what. They are listed by time, in whole seconds, so their order says little.
    fn managers(&mut self, managers: Value) -> Value {
        let Value::Array(entries) = managers else {
            return managers;
        };
        let mut entries: Vec<Value> = entries
            .into_iter()
            .map(|mut entry| {
                let fields = entry["fieldsV1"].take();
                let mut entry = self.value(entry);
                entry["fieldsV1"] = self.fields(fields);
                entry
            })
            .collect();
        entries.sort_by_cached_key(|entry| {
            let parts = [
                "operation",
                "manager",
                "apiVersion",
                "subresource",
                "fieldsV1",
            ];
            parts.map(|part| entry[part].to_string())
        });
        Value::Array(entries)
    }

    /// The names of fields can have uids in them.
    fn fields(&mut self, fields: Value) -> Value {
        let Value::Object(fields) = fields else {
            return fields;
        };
        let fields: BTreeMap<String, Value> = fields
            .into_iter()
            .map(|(name, below)| (self.text(&name), self.fields(below)))
            .collect();
        json!(fields)
    }

    fn metadata(&mut self, metadata: &mut Map<String, Value>, is_list: bool) {
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
        let mut text = text.into_owned();
        for (words, mask) in &*WORDS {
            text = words.replace_all(&text, *mask).into_owned();
        }
        for name in &self.generated {
            text = name.replace_all(&text, "<generated>").into_owned();
        }
        text
    }
}

/// Ages in a table, and the words about the columns of built-in kinds: those of definitions say where
/// they are from, or begin as the cases' own do.
fn mask_table(map: &mut Map<String, Value>) {
    for cell in map
        .get_mut("cells")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Value::String(text) = cell
            && AGE.is_match(text)
        {
            "<age>".clone_into(text);
        }
    }
    let columns = map.get_mut("columnDefinitions");
    for column in columns.and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(Value::String(words)) = column.get_mut("description")
            && !words.is_empty()
            && !words.starts_with("Custom resource definition column")
            && !words.starts_with("of the case")
        {
            "<words>".clone_into(words);
        }
    }
}

/// The real server walks the properties of a schema in random order, and so are its complaints: they
/// are compared as a set, in the list of causes and in the message that strings them together.
fn sort_causes(status: &mut Map<String, Value>) {
    let Some(causes) = status
        .get_mut("details")
        .and_then(|details| details.get_mut("causes"))
        .and_then(Value::as_array_mut)
        .filter(|causes| causes.len() > 1)
    else {
        return;
    };
    causes.sort_by_key(ToString::to_string);
    sort_list(status, " is invalid: [");
}

/// The real server looks at bindings in random order, and so are those named whose role is missing.
fn sort_missing(status: &mut Map<String, Value>) {
    sort_list(status, ": RBAC: [");
}

/// Sorts the list at the end of a message, which begins so.
fn sort_list(status: &mut Map<String, Value>, begins: &str) {
    if let Some(Value::String(message)) = status.get_mut("message")
        && let Some((head, list)) = message.split_once(begins)
        && let Some(list) = list.strip_suffix(']')
    {
        let mut parts: Vec<&str> = list.split(", ").collect();
        parts.sort_unstable();
        *message = format!("{head}{begins}{}]", parts.join(", "));
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
        let object = |name: &str| json!({"metadata": {"name": name}});
        let mut normaliser = Normaliser::default();
        normaliser.generates("a-");
        let hidden = normaliser.value(object("a-bcdfg"));
        assert_eq!(hidden, normaliser.value(object("a-xz245")));
        assert_ne!(hidden, normaliser.value(object("a-bcdf")));
        assert_ne!(hidden, normaliser.value(object("a-aeiou")));
    }

    #[test]
    fn causes_are_a_set() {
        let status = |first: &str, second: &str| {
            json!({"details": {"causes": [{"field": first}, {"field": second}]},
                "message": format!("X is invalid: [{first}: bad, {second}: bad]")})
        };
        let mut normaliser = Normaliser::default();
        let one = normaliser.value(status("a", "b"));
        assert_eq!(one, normaliser.value(status("b", "a")));
        assert_ne!(one, normaliser.value(status("a", "c")));
    }

    #[test]
    fn times_of_the_cases_are_compared() {
        let mut normaliser = Normaliser::default();
        assert_eq!(
            normaliser.text("2020-01-01T00:00:00Z"),
            "2020-01-01T00:00:00Z"
        );
        assert_eq!(normaliser.text("2026-01-01T00:00:00Z"), "<time>");
        assert_eq!(
            normaliser.text("2026-01-01T00:00:00.000001Z"),
            "<micro time>"
        );
    }
}
