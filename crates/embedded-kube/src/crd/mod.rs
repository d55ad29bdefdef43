//! Definitions of custom resources: from the object to what is served, and its conditions.

pub(crate) mod clean;
mod conversion;
mod openapi;
mod rules;
mod structural;
pub(crate) mod validate;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::deep;
use crate::resource::{
    Custom, Definition, Resource, Rules, Scale, compare_versions, group_version,
};
use crate::schema;
use crate::table;
use crate::typed::seconds;

/// The finalizer that holds a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Fills in the defaults of a definition.
pub(crate) fn default(value: &mut Value) {
    let names = &mut value["spec"]["names"];
    let kind = names["kind"].as_str().unwrap_or_default().to_owned();
    if names["singular"].as_str().unwrap_or_default().is_empty() {
        names["singular"] = json!(kind.to_lowercase());
    }
    if names["listKind"].as_str().unwrap_or_default().is_empty() && !kind.is_empty() {
        names["listKind"] = json!(format!("{kind}List"));
    }
    if value["spec"]["conversion"].is_null() {
        value["spec"]["conversion"] = json!({"strategy": "None"});
    }
}

/// The name of the version that is stored.
fn storage_version(value: &Value) -> Option<String> {
    let versions = value["spec"]["versions"].as_array()?;
    let stored = versions.iter().find(|version| version["storage"] == true)?;
    stored["name"].as_str().map(str::to_owned)
}

/// The first status of a definition.
pub(crate) fn prepare_create(value: &mut Value) {
    let stored: Vec<String> = storage_version(value).into_iter().collect();
    value["status"] = json!({
        "conditions": null,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored,
    });
    value["metadata"]["generation"] = json!(1);
}

/// Generation and stored versions after a change.
pub(crate) fn prepare_update(new: &mut Value, old: &Value) {
    if new["spec"] != old["spec"] {
        let generation = old["metadata"]["generation"].as_i64().unwrap_or(0);
        new["metadata"]["generation"] = json!(generation + 1);
    }
    if let (Some(version), Some(stored)) = (
        storage_version(new),
        new["status"]["storedVersions"].as_array_mut(),
    ) && !stored.contains(&json!(version))
    {
        stored.push(json!(version));
    }
}

/// Whether a condition is true.
pub(crate) fn condition_is_true(value: &Value, kind: &str) -> bool {
    let conditions = value["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten();
    conditions
        .into_iter()
        .any(|c| c["type"] == kind && c["status"] == "True")
}

/// Sets a condition; its time changes only with its status.
pub(crate) fn set_condition(
    value: &mut Value,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: Timestamp,
) {
    let conditions = &mut value["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(list) = conditions.as_array_mut() else {
        return;
    };
    let mut condition = json!({
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": seconds(now),
    });
    match list.iter_mut().find(|c| c["type"] == kind) {
        Some(before) => {
            if before["status"] == condition["status"] {
                condition["lastTransitionTime"] = before["lastTransitionTime"].clone();
            }
            *before = condition;
        }
        None => list.push(condition),
    }
}

/// The names that other definitions of the group have taken.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) resources: Vec<String>,
    pub(crate) kinds: Vec<String>,
}

impl Taken {
    /// Adds the accepted names of another definition.
    pub(crate) fn add(&mut self, value: &Value) {
        let names = &value["status"]["acceptedNames"];
        let text = |key: &str| names[key].as_str().unwrap_or_default().to_owned();
        self.resources.extend([text("plural"), text("singular")]);
        self.resources
            .extend(crate::builtin::string_list(&names["shortNames"]));
        self.kinds.extend([text("kind"), text("listKind")]);
    }
}

/// Accepts the names of a definition as far as they are free, and says so in its conditions.
pub(crate) fn accept_names(value: &mut Value, taken: &Taken, now: Timestamp) {
    let wanted = value["spec"]["names"].clone();
    let mut accepted = value["status"]["acceptedNames"].clone();
    let mut conflict: Option<(&str, String)> = None;
    let kinds = [
        ("plural", "PluralConflict", &taken.resources),
        ("singular", "SingularConflict", &taken.resources),
        ("shortNames", "ShortNamesConflict", &taken.resources),
        ("kind", "KindConflict", &taken.kinds),
        ("listKind", "ListKindConflict", &taken.kinds),
    ];
    for (key, reason, taken) in kinds {
        if wanted[key] == accepted[key] {
            continue;
        }
        let names = match &wanted[key] {
            Value::String(name) => vec![name.clone()],
            list => crate::builtin::string_list(list),
        };
        let clash = names
            .iter()
            .find(|name| taken.contains(name) && accepted[key] != json!(name));
        if let Some(name) = clash {
            conflict = Some((
                reason,
                format!("{} is already in use", crate::text::go_quote(name)),
            ));
        } else if wanted[key].is_null() {
            if let Some(map) = accepted.as_object_mut() {
                map.remove(key);
            }
        } else {
            accepted[key] = wanted[key].clone();
        }
    }
    if !wanted["categories"].is_null() {
        accepted["categories"] = wanted["categories"].clone();
    }
    value["status"]["acceptedNames"] = accepted;
    match conflict {
        None => {
            let message = "no conflicts found";
            set_condition(value, "NamesAccepted", "True", "NoConflicts", message, now);
            if !condition_is_true(value, "Established") {
                let message = "the initial names have been accepted";
                set_condition(value, "Established", "False", "Installing", message, now);
            }
        }
        Some((reason, message)) => {
            set_condition(value, "NamesAccepted", "False", reason, &message, now);
            if value["status"]["conditions"]
                .as_array()
                .is_none_or(|c| c.len() < 2)
            {
                let message = "not all names are accepted";
                set_condition(value, "Established", "False", "NotAccepted", message, now);
            }
        }
    }
}

/// Establishes a definition whose names are accepted.
pub(crate) fn establish(value: &mut Value, now: Timestamp) {
    let message = "the initial names have been accepted";
    set_condition(
        value,
        "Established",
        "True",
        "InitialNamesAccepted",
        message,
        now,
    );
}

/// Things that many clusters hold alike, once per process: by their text.
struct Pool<T: ?Sized> {
    entries: Mutex<BTreeMap<Vec<u8>, Weak<T>>>,
}

impl<T: ?Sized> Pool<T> {
    const fn new() -> Self {
        Self {
            entries: Mutex::new(BTreeMap::new()),
        }
    }

    fn get(&self, key: &[u8], make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = entries.get(key).and_then(Weak::upgrade) {
            return found;
        }
        entries.retain(|_, entry| entry.strong_count() > 0);
        let made = make();
        entries.insert(key.to_vec(), Arc::downgrade(&made));
        made
    }
}

static DEFINITIONS: Pool<Definition> = Pool::new();
static SPECS: Pool<SharedSpec> = Pool::new();

/// The bytes of a `spec`, kept once.
#[derive(Debug)]
struct SharedSpec(Vec<u8>);

struct SpecOwner(Arc<SharedSpec>);

impl AsRef<[u8]> for SpecOwner {
    fn as_ref(&self) -> &[u8] {
        &self.0.0
    }
}

/// The same bytes, shared with every other definition that has the same `spec`.
pub(crate) fn share_spec(spec: Vec<u8>) -> Bytes {
    let digest = digest(&spec);
    let shared = SPECS.get(&digest, || Arc::new(SharedSpec(spec.clone())));
    // Two texts can have one digest, however unlikely: then this one is not shared.
    if shared.0 == spec {
        Bytes::from_owner(SpecOwner(shared))
    } else {
        spec.into()
    }
}

/// A short name for a text: its length and two FNV-1a hashes with different seeds.
fn digest(text: &[u8]) -> Vec<u8> {
    let hash = |seed: u64| {
        text.iter().fold(seed, |h, &b| {
            (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let parts = [
        text.len() as u64,
        hash(0xcbf2_9ce4_8422_2325),
        hash(0x9e37_79b9_7f4a_7c15),
    ];
    parts.iter().flat_map(|part| part.to_le_bytes()).collect()
}

/// A digest as a text.
pub(crate) fn hash(text: &[u8]) -> String {
    use std::fmt::Write as _;
    digest(text).iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02X}");
        hex
    })
}

/// What a definition serves; equal definitions of many clusters share it.
pub(crate) fn compile(value: &Value) -> Arc<Definition> {
    let spec = &value["spec"];
    let source = share_spec(spec.to_string().into_bytes());
    let make = || Arc::new(compile_spec(spec, source.clone()));
    let shared = DEFINITIONS.get(&digest(&source), make);
    // As with the texts: a digest proves nothing.
    if shared.source == source {
        shared
    } else {
        make()
    }
}

/// The warning about a version that has none of its own: it names the best version to use.
fn deprecation(spec: &Value, name: &str) -> String {
    let group = spec["group"].as_str().unwrap_or_default();
    let kind = spec["names"]["kind"].as_str().unwrap_or_default();
    let mut better: Vec<&str> = spec["versions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|version| version["served"] == true && version["deprecated"] != true)
        .filter_map(|version| version["name"].as_str())
        .filter(|other| compare_versions(name, other).is_lt())
        .collect();
    better.sort_by(|a, b| compare_versions(b, a));
    let warning = format!("{} {kind} is deprecated", group_version(group, name));
    match better.first() {
        Some(best) => format!("{warning}; use {} {kind}", group_version(group, best)),
        None => warning,
    }
}

fn compile_spec(spec: &Value, source: Bytes) -> Definition {
    let depth = deep::of(&source);
    let text = |value: &Value| Box::<str>::from(value.as_str().unwrap_or_default());
    let texts = |value: &Value| -> Vec<Box<str>> {
        crate::builtin::string_list(value)
            .into_iter()
            .map(Into::into)
            .collect()
    };
    let names = &spec["names"];
    let (group, plural) = (text(&spec["group"]), text(&names["plural"]));
    let mut storage = 0;
    let mut versions = Vec::new();
    for (index, version) in spec["versions"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        if version["storage"] == true {
            storage = index;
        }
        let name = text(&version["name"]);
        let scale = &version["subresources"]["scale"];
        let warning = (version["deprecated"] == true).then(|| {
            version["deprecationWarning"]
                .as_str()
                .map_or_else(|| deprecation(spec, &name), str::to_owned)
        });
        let mut compiled = schema::compile(&version["schema"]["openAPIV3Schema"]);
        compiled.preserve |= spec["preserveUnknownFields"] == true;
        versions.push(Arc::new(Resource {
            group: group.clone(),
            plural: plural.clone(),
            singular: text(&names["singular"]),
            kind: text(&names["kind"]),
            list_kind: text(&names["listKind"]),
            short_names: texts(&names["shortNames"]),
            categories: texts(&names["categories"]),
            namespaced: spec["scope"] == "Namespaced",
            store: format!("{plural}.{group}").into(),
            rules: Rules::Custom(Box::new(Custom {
                schema: compiled,
                depth,
                served: version["served"] == true,
                status: !version["subresources"]["status"].is_null(),
                scale: (!scale.is_null()).then(|| Scale {
                    spec_replicas: text(&scale["specReplicasPath"]),
                    status_replicas: text(&scale["statusReplicasPath"]),
                    selector: scale["labelSelectorPath"].as_str().map(Into::into),
                }),
                selectable: version["selectableFields"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|f| f["jsonPath"].as_str())
                    .map(|path| path.trim_start_matches('.').into())
                    .collect(),
                columns: table::custom_columns(version),
                warning: warning.map(Into::into),
            })),
            version: name,
        }));
    }
    Definition {
        versions,
        source,
        storage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Value {
        json!({"spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing", "singular": "thing"},
            "versions": [
                {"name": "v1", "served": true, "storage": false, "deprecated": true},
                {"name": "v2", "served": true, "storage": true,
                 "schema": {"openAPIV3Schema": {"type": "object"}}}
            ]
        }})
    }

    #[test]
    fn equal_definitions_are_one() {
        let (a, b) = (compile(&sample()), compile(&sample()));
        assert!(Arc::ptr_eq(&a, &b));
        assert_eq!(&*a.stored().version, "v2");
        let warning = a.version("v1").unwrap().custom().unwrap().warning.clone();
        assert_eq!(
            warning.as_deref(),
            Some("example.com/v1 Thing is deprecated; use example.com/v2 Thing")
        );
        let spec = br#"{"a":1}"#.to_vec();
        let kept = share_spec(spec.clone());
        assert_eq!(kept.as_ptr(), share_spec(spec).as_ptr());
    }

    #[test]
    fn a_taken_kind_is_not_accepted() {
        let now = Timestamp::UNIX_EPOCH;
        let mut value = sample();
        default(&mut value);
        prepare_create(&mut value);
        let taken = Taken {
            resources: vec![],
            kinds: vec!["Thing".to_owned()],
        };
        accept_names(&mut value, &taken, now);
        assert_eq!(value["status"]["conditions"][0]["reason"], "KindConflict");
        assert!(!condition_is_true(&value, "NamesAccepted"));
        accept_names(&mut value, &Taken::default(), now);
        assert!(condition_is_true(&value, "NamesAccepted"));
        assert_eq!(value["status"]["acceptedNames"]["listKind"], "ThingList");
    }
}
