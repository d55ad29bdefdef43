//! The rules that hold for the metadata of every object.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::names::{self, NameRule};
use crate::status::FieldError;
use crate::text::go_quote;
use crate::typed::{self, Struct, Type, always, field, list, map, object, pointer};

/// The finalizer of a foreground deletion.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of a deletion that orphans dependents.
pub(crate) const ORPHAN: &str = "orphan";

const ANNOTATIONS_LIMIT: usize = 256 * 1024;
const IMMUTABLE: &str = "field is immutable";

/// The fields of `metadata`.
pub(crate) static OBJECT_META: LazyLock<Struct> = LazyLock::new(|| Struct {
    name: "ObjectMeta",
    fields: object_meta_fields(),
});

fn object_meta_fields() -> Vec<typed::Field> {
    let owner = object(
        "OwnerReference",
        vec![
            always("apiVersion", Type::String),
            always("kind", Type::String),
            always("name", Type::String),
            always("uid", Type::String),
            pointer("controller", Type::Bool),
            pointer("blockOwnerDeletion", Type::Bool),
        ],
    );
    let manager = object(
        "ManagedFieldsEntry",
        vec![
            field("manager", Type::String),
            field("operation", Type::String),
            field("apiVersion", Type::String),
            pointer("time", Type::Time),
            field("fieldsType", Type::String),
            pointer("fieldsV1", Type::Any),
            field("subresource", Type::String),
        ],
    );
    vec![
        field("name", Type::String),
        field("generateName", Type::String),
        field("namespace", Type::String),
        field("selfLink", Type::String),
        field("uid", Type::String),
        field("resourceVersion", Type::String),
        field("generation", Type::Int64),
        field("creationTimestamp", Type::Time),
        pointer("deletionTimestamp", Type::Time),
        pointer("deletionGracePeriodSeconds", Type::Int64),
        field("labels", map(Type::String)),
        field("annotations", map(Type::String)),
        field("ownerReferences", list(owner)).merged_by("uid"),
        field("finalizers", list(Type::String)).merged_by(""),
        // An empty list says that there are to be no managers.
        pointer("managedFields", list(manager)),
    ]
}

/// `metadata` as a field of a struct.
pub(crate) fn metadata_field() -> typed::Field {
    always("metadata", object("ObjectMeta", object_meta_fields()))
}

/// A reference to an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) api_version: Box<str>,
    pub(crate) kind: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) uid: Box<str>,
    pub(crate) blocks: bool,
}

/// What the server asks of an object without reading it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) name: Box<str>,
    pub(crate) namespace: Box<str>,
    pub(crate) uid: Box<str>,
    pub(crate) labels: Box<[(Box<str>, Box<str>)]>,
    pub(crate) owners: Box<[Owner]>,
    pub(crate) finalizers: Box<[Box<str>]>,
    pub(crate) deleting: bool,
}

impl Facts {
    /// The facts of an object.
    pub(crate) fn of(value: &Value) -> Self {
        let meta = &value["metadata"];
        let text = |key: &str| Box::from(meta[key].as_str().unwrap_or_default());
        let labels = meta["labels"].as_object().into_iter().flatten();
        let owners = meta["ownerReferences"].as_array().into_iter().flatten();
        let part = |owner: &Value, key: &str| Box::from(owner[key].as_str().unwrap_or_default());
        Self {
            name: text("name"),
            namespace: text("namespace"),
            uid: text("uid"),
            labels: labels
                .map(|(k, v)| (k.as_str().into(), v.as_str().unwrap_or_default().into()))
                .collect(),
            owners: owners
                .map(|owner| Owner {
                    api_version: part(owner, "apiVersion"),
                    kind: part(owner, "kind"),
                    name: part(owner, "name"),
                    uid: part(owner, "uid"),
                    blocks: owner["blockOwnerDeletion"] == true,
                })
                .collect(),
            finalizers: finalizers(value).into_iter().map(Into::into).collect(),
            deleting: meta.get("deletionTimestamp").is_some_and(|t| !t.is_null()),
        }
    }

    /// Whether the deletion of the object waits for its dependents.
    pub(crate) fn waits(&self) -> bool {
        self.deleting && self.has_finalizer(FOREGROUND)
    }

    /// Whether this finalizer is on the object.
    pub(crate) fn has_finalizer(&self, name: &str) -> bool {
        self.finalizers.iter().any(|f| &**f == name)
    }

    /// The value of a label.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.labels
            .iter()
            .find(|(k, _)| &**k == key)
            .map(|(_, v)| &**v)
    }
}

/// `metadata`, made where it is missing.
pub(crate) fn of(value: &mut Value) -> &mut Map<String, Value> {
    if !value["metadata"].is_object() {
        value["metadata"] = json!({});
    }
    value["metadata"]
        .as_object_mut()
        .expect("it is an object as of the line above")
}

/// A text in `metadata`, empty if it is missing.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value["metadata"][key].as_str().unwrap_or_default()
}

/// The finalizers of an object.
pub(crate) fn finalizers(value: &Value) -> Vec<String> {
    let list = value["metadata"]["finalizers"]
        .as_array()
        .into_iter()
        .flatten();
    list.filter_map(|f| f.as_str().map(str::to_owned)).collect()
}

/// The finalizers that an object has and did not have before.
fn added_finalizers(new: &Value, old: Option<&Value>) -> BTreeSet<String> {
    let mut added: BTreeSet<String> = finalizers(new).into_iter().collect();
    for before in old.map(finalizers).unwrap_or_default() {
        added.remove(&before);
    }
    added
}

/// Replaces the finalizers of an object.
pub(crate) fn set_finalizers(value: &mut Value, finalizers: &[String]) {
    let meta = of(value);
    if finalizers.is_empty() {
        meta.remove("finalizers");
    } else {
        meta.insert("finalizers".to_owned(), json!(finalizers));
    }
}

/// Removes what only the server may set, as at a creation.
pub(crate) fn wipe_system_fields(value: &mut Value) {
    let meta = of(value);
    for key in [
        "creationTimestamp",
        "uid",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
    ] {
        meta.remove(key);
    }
}

/// Marks an object as deleting, now; its generation rises if it has one.
pub(crate) fn mark_deleting(value: &mut Value, now: Timestamp) {
    let generation = value["metadata"]["generation"].as_i64().unwrap_or(0);
    let meta = of(value);
    if !meta.contains_key("deletionTimestamp") {
        if generation > 0 {
            meta.insert("generation".to_owned(), json!(generation + 1));
        }
        meta.insert("deletionTimestamp".to_owned(), json!(typed::seconds(now)));
    }
    meta.insert("deletionGracePeriodSeconds".to_owned(), json!(0));
}

/// Removes owner references that are there twice; the answer is the uids of the copies.
pub(crate) fn dedup_owners(value: &mut Value) -> Vec<String> {
    let mut duplicates = Vec::new();
    if let Some(Value::Array(owners)) = value.pointer_mut("/metadata/ownerReferences") {
        let mut seen = BTreeSet::new();
        owners.retain(|owner| {
            let is_new = seen.insert(owner.to_string());
            if !is_new {
                duplicates.push(owner["uid"].as_str().unwrap_or_default().to_owned());
            }
            is_new
        });
    }
    duplicates
}

/// The complaints about the metadata of an object with a name.
pub(crate) fn validate(value: &Value, namespaced: bool, rule: NameRule) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (name, generate) = (text(value, "name"), text(value, "generateName"));
    if !generate.is_empty() {
        for complaint in rule(generate, true) {
            errors.push(FieldError::invalid(
                "metadata.generateName",
                generate,
                complaint,
            ));
        }
    }
    if name.is_empty() {
        let detail = "name or generateName is required";
        errors.push(FieldError::required("metadata.name", detail));
    } else {
        for complaint in rule(name, false) {
            errors.push(FieldError::invalid("metadata.name", name, complaint));
        }
    }
    let namespace = text(value, "namespace");
    if namespaced {
        if namespace.is_empty() {
            errors.push(FieldError::required("metadata.namespace", ""));
        }
        for complaint in names::dns_label(namespace, false) {
            errors.push(FieldError::invalid(
                "metadata.namespace",
                namespace,
                complaint,
            ));
        }
    } else if !namespace.is_empty() {
        errors.push(FieldError::forbidden(
            "metadata.namespace",
            "not allowed on this type",
        ));
    }
    let generation = value["metadata"]["generation"].as_i64().unwrap_or(0);
    if generation < 0 {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(
            "metadata.generation",
            generation,
            detail,
        ));
    }
    validate_maps(value, &mut errors);
    let finalizers = finalizers(value);
    for finalizer in &finalizers {
        for complaint in names::qualified_name(finalizer) {
            errors.push(FieldError::invalid(
                "metadata.finalizers",
                finalizer.as_str(),
                complaint,
            ));
        }
    }
    if [ORPHAN, FOREGROUND]
        .iter()
        .all(|f| finalizers.iter().any(|g| g == f))
    {
        let detail = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        errors.push(FieldError::invalid(
            "metadata.finalizers",
            json!(finalizers),
            detail,
        ));
    }
    errors
}

/// The complaints about labels, annotations and owner references.
fn validate_maps(value: &Value, errors: &mut Vec<FieldError>) {
    let meta = &value["metadata"];
    for (key, label) in meta["labels"].as_object().into_iter().flatten() {
        for complaint in names::qualified_name(key) {
            errors.push(FieldError::invalid(
                "metadata.labels",
                key.as_str(),
                complaint,
            ));
        }
        let label = label.as_str().unwrap_or_default();
        for complaint in names::label_value(label) {
            errors.push(FieldError::invalid("metadata.labels", label, complaint));
        }
    }
    let mut size = 0;
    for (key, annotation) in meta["annotations"].as_object().into_iter().flatten() {
        for complaint in names::qualified_name(&key.to_lowercase()) {
            errors.push(FieldError::invalid(
                "metadata.annotations",
                key.as_str(),
                complaint,
            ));
        }
        size += key.len() + annotation.as_str().unwrap_or_default().len();
    }
    if size > ANNOTATIONS_LIMIT {
        errors.push(FieldError::too_long("metadata.annotations", 262_144));
    }
    validate_owners(&meta["ownerReferences"], errors);
}

fn validate_owners(owners: &Value, errors: &mut Vec<FieldError>) {
    let path = "metadata.ownerReferences";
    let mut controller: Option<String> = None;
    for owner in owners.as_array().into_iter().flatten() {
        let part = |key: &str| owner[key].as_str().unwrap_or_default();
        let version = part("apiVersion");
        let (group, of_group) = crate::resource::split_version(version);
        if of_group.is_empty() || of_group.contains('/') {
            let detail = "version must not be empty";
            errors.push(FieldError::invalid(
                format!("{path}.apiVersion"),
                version,
                detail,
            ));
        }
        for key in ["kind", "name", "uid"] {
            if part(key).is_empty() {
                errors.push(FieldError::invalid(
                    format!("{path}.{key}"),
                    "",
                    "must not be empty",
                ));
            }
        }
        if (group, of_group, part("kind")) == ("", "v1", "Event") {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            errors.push(FieldError::invalid(path, owner.clone(), detail));
        }
        if owner["controller"] == true {
            let name = format!("{}/{}", part("kind"), part("name"));
            match &controller {
                Some(first) => {
                    let detail = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in \
                         references for {first} and {name}"
                    );
                    errors.push(FieldError::invalid_shown(path, show_owners(owners), detail));
                }
                None => controller = Some(name),
            }
        }
    }
}

/// Owner references in the order of their fields.
fn show_owners(owners: &Value) -> String {
    let fields = [
        "apiVersion",
        "kind",
        "name",
        "uid",
        "controller",
        "blockOwnerDeletion",
    ];
    let owners = owners.as_array().into_iter().flatten().map(|owner| {
        let shown = fields.iter().filter(|key| !owner[**key].is_null());
        let shown: Vec<String> = shown
            .map(|key| format!("\"{key}\":{}", owner[*key]))
            .collect();
        format!("{{{}}}", shown.join(","))
    });
    format!("[{}]", owners.collect::<Vec<String>>().join(","))
}

/// The complaints about a change of metadata.
pub(crate) fn validate_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if !old["metadata"]["deletionTimestamp"].is_null() {
        let added = added_finalizers(new, Some(old));
        if !added.is_empty() {
            let quoted: Vec<String> = added.iter().map(|f| go_quote(f)).collect();
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new \
                 finalizers []string{{{}}}",
                quoted.join(", ")
            );
            errors.push(FieldError::forbidden("metadata.finalizers", detail));
        }
    }
    if text(new, "resourceVersion").is_empty() {
        let detail = "must be specified for an update";
        errors.push(FieldError::invalid("metadata.resourceVersion", "", detail));
    }
    for key in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
    ] {
        let (after, before) = (&new["metadata"][key], &old["metadata"][key]);
        if after != before {
            let shown = match after {
                Value::Null if key.ends_with("Timestamp") => Value::Null,
                Value::Null => json!(""),
                other => other.clone(),
            };
            errors.push(FieldError::invalid(
                format!("metadata.{key}"),
                shown,
                IMMUTABLE,
            ));
        }
    }
    let key = "deletionGracePeriodSeconds";
    if new["metadata"][key] != old["metadata"][key] {
        let after = new["metadata"][key].clone();
        errors.push(FieldError::invalid(
            format!("metadata.{key}"),
            after,
            IMMUTABLE,
        ));
    }
    validate_maps(new, &mut errors);
    errors
}

/// The complaint about a changed field that may not change.
pub(crate) fn immutable(path: &str, new: &Value, old: &Value) -> Option<FieldError> {
    (new != old).then(|| FieldError::invalid(path, new.clone(), IMMUTABLE))
}

/// Advice about finalizers that a custom resource newly has.
pub(crate) fn finalizer_warnings(new: &Value, old: Option<&Value>) -> Vec<String> {
    let standard = [ORPHAN, FOREGROUND, "kubernetes"];
    added_finalizers(new, old)
        .into_iter()
        .filter(|f| !f.contains('/') && !standard.contains(&f.as_str()))
        .map(|f| {
            let path = if f.contains('.') {
                " including a path (/)"
            } else {
                ""
            };
            format!(
                "metadata.finalizers: {}: prefer a domain-qualified finalizer name{path} to avoid \
                 accidental conflicts with other finalizer writers",
                go_quote(&f)
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deleting_object_takes_no_new_finalizer() {
        let old = json!({"metadata": {
            "resourceVersion": "1", "finalizers": ["a/b"], "deletionTimestamp": "x"}});
        let mut new = old.clone();
        assert!(validate_update(&new, &old).is_empty());
        set_finalizers(&mut new, &["a/b".to_owned(), "c/d".to_owned()]);
        let errors = validate_update(&new, &old);
        assert!(
            errors[0]
                .to_string()
                .contains("found new finalizers []string{\"c/d\"}")
        );
    }

    #[test]
    fn two_controllers_are_refused() {
        let owner = |name: &str| json!({"apiVersion": "v1", "kind": "A", "name": name, "uid": name, "controller": true});
        let value = json!({"metadata": {"name": "x", "ownerReferences": [owner("a"), owner("b")]}});
        let errors = validate(&value, false, names::dns_subdomain);
        assert_eq!(errors.len(), 1);
        assert!(errors[0].to_string().contains("references for A/a and A/b"));
    }
}
