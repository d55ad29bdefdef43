//! Tags in the metadata of an object: labels, and annotations for what no label can hold.
//!
//! A tag is a label. A value that no label can hold is in an annotation of the same key, beside an empty
//! label: so every tag is found by a selector that asks for its key. Of the annotations only marks are
//! read: others hold whole documents.

use ownership::Text;
use ownership::mark::{Carrier, Tags, is_label_text, reserved};
use serde_json::{Map, Value, json};

const CARRIER: Carrier = Carrier::KubeMetadata;

/// The tags of an object.
pub(crate) fn read(object: &Value) -> Tags {
    let (labels, annotations) = (texts(object, "labels"), texts(object, "annotations"));
    let long = |key: &str| annotations.clone().find(|(other, _)| *other == key);
    let tag = |(key, value): (&str, &str)| {
        let value = match long(key).filter(|_| value.is_empty() && is_mark(key)) {
            Some((_, long)) => long,
            None => value,
        };
        (key.into(), value.into())
    };
    labels.map(tag).collect()
}

/// Labels and annotations that hold these tags.
pub(crate) fn written<'t>(tags: impl IntoIterator<Item = &'t (Text, Text)>) -> (Value, Value) {
    let (mut labels, mut annotations) = (Map::new(), Map::new());
    for (key, value) in tags {
        if is_label_text(value) {
            labels.insert(key.to_string(), json!(**value));
        } else {
            labels.insert(key.to_string(), json!(""));
            annotations.insert(key.to_string(), json!(**value));
        }
    }
    (labels.into(), annotations.into())
}

/// The merge patch of the metadata that takes off these tags.
pub(crate) fn taken_off<'t>(
    object: &Value,
    tags: impl IntoIterator<Item = &'t (Text, Text)>,
) -> (Value, Value) {
    let there = read(object);
    let (mut labels, mut annotations) = (Map::new(), Map::new());
    for (key, value) in tags {
        if there.has(key, value) {
            labels.insert(key.to_string(), Value::Null);
            if !is_label_text(value) {
                annotations.insert(key.to_string(), Value::Null);
            }
        }
    }
    (labels.into(), annotations.into())
}

fn is_mark(key: &str) -> bool {
    reserved(CARRIER, key).is_some()
}

fn texts<'o>(object: &'o Value, part: &str) -> impl Iterator<Item = (&'o str, &'o str)> + Clone {
    let all = object["metadata"][part].as_object();
    let all = all.into_iter().flatten();
    all.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> Vec<(Text, Text)> {
        let tag = |(key, value): &(&str, &str)| ((*key).into(), (*value).into());
        pairs.iter().map(tag).collect()
    }

    #[test]
    fn a_long_value_stands_beside_an_empty_label() {
        let tags = tags(&[
            ("freehold.dev/managed", "true"),
            ("cloud-manager.kyma-project.io/remote-name", "team-a/volume"),
        ]);
        let (labels, annotations) = written(&tags);
        assert_eq!(labels["cloud-manager.kyma-project.io/remote-name"], "");
        assert_eq!(annotations.as_object().unwrap().len(), 1);
        let object = json!({"metadata": {"labels": labels, "annotations": annotations}});
        assert_eq!(read(&object), tags.iter().cloned().collect());
        let (labels, annotations) = taken_off(&object, &tags);
        assert_eq!(labels.as_object().unwrap().len(), 2);
        assert_eq!(annotations.as_object().unwrap().len(), 1);
    }

    #[test]
    fn only_the_very_tag_is_taken_off() {
        let object = json!({"metadata": {"labels": {"team": "blue"}}});
        let (labels, _) = taken_off(&object, &tags(&[("team", "red"), ("other", "")]));
        assert_eq!(labels, json!({}));
    }

    #[test]
    fn annotations_that_are_no_marks_are_not_read() {
        let object = json!({"metadata": {
            "labels": {"note": ""},
            "annotations": {"note": "a long story", "freehold.dev/managed": "x"},
        }});
        assert_eq!(read(&object), tags(&[("note", "")]).into_iter().collect());
    }
}
