//! The managers of an object and their fields, as its metadata lists them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::set::Set;
use crate::meta;
use crate::text::go_quote;

/// How many managers that update an object are kept apart.
const MAX_UPDATERS: usize = 10;
/// Who has the fields of those that are not.
const ANCIENT: &str = "ancient-changes";

/// What tells a manager from others. Those that apply are the same in every version.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    pub(super) manager: String,
    pub(super) operation: Operation,
    /// Empty for one that applies.
    pub(super) version: String,
    pub(super) subresource: String,
}

/// How a manager came to its fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    Apply,
    #[default]
    Update,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// The fields of a manager.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The `apiVersion` that the fields are of.
    pub(super) version: String,
    pub(super) set: Set,
    pub(super) time: Option<String>,
}

/// All managers of an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Managed {
    pub(super) entries: BTreeMap<Identity, Entry>,
}

impl Identity {
    pub(super) fn new(
        manager: &str,
        operation: Operation,
        version: &str,
        subresource: &str,
    ) -> Self {
        let manager = if manager.is_empty() {
            "unknown"
        } else {
            manager
        };
        let version = match operation {
            Operation::Apply => "",
            Operation::Update => version,
        };
        Self {
            manager: manager.to_owned(),
            operation,
            version: version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }

    /// As conflicts name it.
    pub(super) fn shown(&self) -> String {
        let mut text = go_quote(&self.manager);
        if !self.subresource.is_empty() {
            text = format!("{text} with subresource {}", go_quote(&self.subresource));
        }
        if self.operation == Operation::Update {
            text = format!("{text} using {}", self.version);
        }
        text
    }
}

impl Managed {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The managers that an object lists.
    pub(super) fn of(object: &Value) -> Result<Self, String> {
        Self::decode(&object["metadata"]["managedFields"])
    }

    /// From `managedFields`.
    pub(super) fn decode(list: &Value) -> Result<Self, String> {
        let mut managed = Self::default();
        for (index, entry) in list.as_array().into_iter().flatten().enumerate() {
            let text = |key: &str| entry[key].as_str().unwrap_or_default();
            let operation = match text("operation") {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return Err("operation must be `Apply` or `Update`".to_owned()),
            };
            let version = text("apiVersion");
            if version.is_empty() {
                return Err("apiVersion must not be empty".to_owned());
            }
            match text("fieldsType") {
                "FieldsV1" => {}
                "" => {
                    let why = format!("missing fieldsType in managed fields entry {index}");
                    return Err(why);
                }
                other => {
                    let other = go_quote(other);
                    let why = format!("invalid fieldsType {other} in managed fields entry {index}");
                    return Err(why);
                }
            }
            let set = match &entry["fieldsV1"] {
                Value::Null => Set::default(),
                fields => Set::decode(fields)?,
            };
            let mut identity = Identity::new("", operation, version, text("subresource"));
            text("manager").clone_into(&mut identity.manager);
            let entry = Entry {
                version: version.to_owned(),
                set,
                time: entry["time"].as_str().map(str::to_owned),
            };
            managed.entries.insert(identity, entry);
        }
        Ok(managed)
    }

    /// As `managedFields`; nothing, if nobody manages anything.
    pub(super) fn encode(&self) -> Option<Value> {
        if self.is_empty() {
            return None;
        }
        let mut entries: Vec<(&Identity, &Entry)> = self.entries.iter().collect();
        entries.sort_by_key(|(identity, entry)| {
            (
                identity.operation,
                &entry.time,
                &identity.manager,
                &entry.version,
                &identity.subresource,
            )
        });
        let entries = entries.into_iter().map(|(identity, entry)| {
            let mut encoded = json!({
                "operation": identity.operation.name(),
                "apiVersion": entry.version,
                "fieldsType": "FieldsV1",
                "fieldsV1": entry.set.encode(),
            });
            for (key, value) in [
                ("manager", &identity.manager),
                ("subresource", &identity.subresource),
            ] {
                if !value.is_empty() {
                    encoded[key] = json!(value);
                }
            }
            if let Some(time) = &entry.time {
                encoded["time"] = json!(time);
            }
            encoded
        });
        Some(entries.collect())
    }

    /// How deep the sets nest.
    pub(super) fn levels(&self) -> usize {
        let levels = self.entries.values().map(|entry| entry.set.levels());
        levels.max().unwrap_or(0)
    }

    /// Lists them on an object.
    pub(super) fn write_to(&self, object: &mut Value) {
        match self.encode() {
            Some(list) => meta::of(object).insert("managedFields".to_owned(), list),
            None => meta::of(object).remove("managedFields"),
        };
    }

    /// Gives a manager these fields as well.
    pub(super) fn add(&mut self, identity: Identity, version: &str, set: Set, now: &str) {
        let set = match self.entries.get(&identity) {
            Some(known) => set.union(&known.set),
            None => set,
        };
        let entry = Entry {
            version: version.to_owned(),
            set,
            time: Some(now.to_owned()),
        };
        self.entries.insert(identity, entry);
    }

    /// Keeps few managers that update: the oldest of each version become one.
    pub(super) fn cap(&mut self) {
        let of_updates = |identity: &&Identity| identity.operation == Operation::Update;
        let mut updaters: Vec<Identity> = self.entries.keys().filter(of_updates).cloned().collect();
        let mut count = updaters.len();
        if count <= MAX_UPDATERS {
            return;
        }
        updaters.sort_by_cached_key(|identity| {
            let time = self.entries.get(identity).and_then(|e| e.time.clone());
            (time, identity.clone())
        });
        let mut first: BTreeMap<String, Identity> = BTreeMap::new();
        for updater in updaters {
            if count <= MAX_UPDATERS {
                break;
            }
            let Some(entry) = self.entries.get(&updater) else {
                continue;
            };
            let version = entry.version.clone();
            let Some(oldest) = first.get(&version).cloned() else {
                first.insert(version, updater);
                continue;
            };
            let bucket = Identity::new(ANCIENT, Operation::Update, &version, "");
            if !self.entries.contains_key(&bucket)
                && let Some(entry) = self.entries.remove(&oldest)
            {
                self.entries.insert(bucket.clone(), entry);
            }
            if let Some(entry) = self.entries.remove(&updater) {
                let set = match self.entries.get(&bucket) {
                    Some(known) => entry.set.union(&known.set),
                    None => entry.set,
                };
                self.entries.insert(bucket, Entry { set, ..entry });
            }
            count -= 1;
        }
    }
}

/// Whether a list of managers says that there are to be none.
pub(super) fn is_reset(list: &Value) -> bool {
    match list.as_array().map(Vec::as_slice) {
        Some([]) => true,
        Some([only]) => only.as_object().is_some_and(serde_json::Map::is_empty),
        _ => false,
    }
}

/// Gives the managers of an object the times of another one: whether only these differ.
pub(crate) fn without_times(new: &mut Value, old: &Value) {
    let (Some(Value::Array(new)), Some(Value::Array(old))) = (
        new.pointer_mut("/metadata/managedFields"),
        old.pointer("/metadata/managedFields"),
    ) else {
        return;
    };
    if new.len() != old.len() {
        return;
    }
    for (new, old) in new.iter_mut().zip(old) {
        if let (Some(new), Some(time)) = (new.as_object_mut(), old.get("time")) {
            new.insert("time".to_owned(), time.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, time: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "time": time,
            "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    #[test]
    fn managers_are_listed_by_their_operation_and_time() {
        let list = json!([
            entry("b", "2026-01-02T00:00:00Z", &json!({"f:a": {}})),
            entry("a", "2026-01-03T00:00:00Z", &json!({"f:b": {}})),
            {"manager": "z", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "subresource": "status"},
        ]);
        let listed = Managed::decode(&list).unwrap().encode().unwrap();
        let managers: Vec<&str> = listed
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|entry| entry["manager"].as_str())
            .collect();
        assert_eq!(managers, ["z", "b", "a"]);
        for broken in [
            json!([{"operation": "X"}]),
            json!([{"operation": "Update"}]),
            json!([{"operation": "Update", "apiVersion": "v1"}]),
            json!([{"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV2"}]),
            json!([entry("a", "", &json!({"f": 1}))]),
        ] {
            assert!(Managed::decode(&broken).is_err(), "{broken}");
        }
        assert!(is_reset(&json!([])) && is_reset(&json!([{}])) && !is_reset(&json!(null)));
    }

    #[test]
    fn the_oldest_of_many_become_one() {
        let list: Value = (0..12)
            .map(|day| {
                entry(
                    &format!("m{day:02}"),
                    &format!("2026-01-{:02}T00:00:00Z", day + 1),
                    &json!({format!("f:a{day}"): {}}),
                )
            })
            .collect();
        let mut managed = Managed::decode(&list).unwrap();
        managed.cap();
        let listed = managed.encode().unwrap();
        assert_eq!(listed.as_array().unwrap().len(), 10);
        assert_eq!(listed[0]["manager"], ANCIENT);
        assert_eq!(listed[0]["time"], "2026-01-03T00:00:00Z");
        assert_eq!(
            listed[0]["fieldsV1"],
            json!({"f:a0": {}, "f:a1": {}, "f:a2": {}})
        );
    }
}
