//! The columns of the built-in kinds.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::age;
use crate::builtin::Builtin;
use crate::meta;
use crate::typed::read_time;

/// A column of a built-in kind.
#[derive(Clone, Copy)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) about: &'static str,
    /// Shown only if more is asked for.
    pub(super) wide: bool,
}

const fn text(name: &'static str, about: &'static str) -> Column {
    Column {
        name,
        kind: "string",
        about,
        wide: false,
    }
}

const fn wide(name: &'static str, about: &'static str) -> Column {
    Column {
        name,
        kind: "string",
        about,
        wide: true,
    }
}

const NAME: Column = text("Name", "The name of the object.");
const AGE: Column = text("Age", "How long ago the object was created.");

/// Policies take no parameters here.
const NO_PARAMETERS: &str = "<unset>";

/// The columns of a kind.
pub(super) fn of(builtin: Builtin) -> Vec<Column> {
    match builtin {
        Builtin::Namespace => vec![NAME, text("Status", "Whether it lives or ends."), AGE],
        Builtin::Secret => vec![
            NAME,
            text("Type", "What the data is for."),
            text("Data", "How many keys there are."),
            AGE,
        ],
        Builtin::ConfigMap => vec![NAME, text("Data", "How many keys there are."), AGE],
        Builtin::Event | Builtin::NewEvent => vec![
            text("Last Seen", "How long ago it happened last."),
            text("Type", "Normal or Warning."),
            text("Reason", "Why, in one word."),
            text("Object", "What it is about."),
            wide("Subobject", "The part that it is about."),
            wide("Source", "Who reports it."),
            text("Message", "What happened."),
            wide("First Seen", "How long ago it happened first."),
            wide("Count", "How often it happened."),
            wide("Name", "The name of the object."),
        ],
        Builtin::ServiceAccount => vec![NAME, AGE],
        Builtin::Volume => vec![
            NAME,
            text("Capacity", "How much it holds."),
            text("Access Modes", "How it can be mounted."),
            text("Reclaim Policy", "What becomes of it when it is released."),
            text("Status", "Whether it is bound."),
            text("Claim", "Which claim it is bound to."),
            text("StorageClass", "Its storage class."),
            text("VolumeAttributesClass", "Its class of attributes."),
            text("Reason", "Why it is in this state."),
            AGE,
            wide("VolumeMode", "File system or block device."),
        ],
        Builtin::Claim => vec![
            NAME,
            text("Status", "Whether it is bound."),
            text("Volume", "Which volume it is bound to."),
            text("Capacity", "How much the volume holds."),
            text("Access Modes", "How the volume can be mounted."),
            text("StorageClass", "Its storage class."),
            text("VolumeAttributesClass", "Its class of attributes."),
            AGE,
            wide("VolumeMode", "File system or block device."),
        ],
        Builtin::Lease => vec![NAME, text("Holder", "Who holds it."), AGE],
        Builtin::RoleBinding | Builtin::ClusterRoleBinding => vec![
            NAME,
            text("Role", "The role that it gives."),
            AGE,
            wide("Users", "The users that get it."),
            wide("Groups", "The groups that get it."),
            wide("ServiceAccounts", "The service accounts that get it."),
        ],
        Builtin::Policy => vec![
            NAME,
            Column {
                kind: "integer",
                ..text("Validations", "How many rules it has.")
            },
            text("ParamKind", "The kind of its parameters."),
            AGE,
        ],
        Builtin::PolicyBinding => vec![
            NAME,
            text("PolicyName", "The policy that it puts into force."),
            text("ParamRef", "The parameters that it gives."),
            AGE,
        ],
        Builtin::Definition
        | Builtin::Role
        | Builtin::ClusterRole
        | Builtin::SubjectReview
        | Builtin::LocalReview
        | Builtin::SelfReview
        | Builtin::RulesReview
        | Builtin::TokenReview
        | Builtin::WhoAmI => vec![
            NAME,
            Column {
                kind: "date",
                ..text("Created At", "When the object was created.")
            },
        ],
    }
}

/// Whether a list without objects says `null` instead of no rows.
pub(super) fn says_null(builtin: Builtin) -> bool {
    of(builtin).iter().any(|column| column.kind == "date")
}

/// The cells of an object; an event is in the shape of the core group.
pub(super) fn cells(builtin: Builtin, object: &Value, now: Timestamp) -> Vec<Value> {
    let name = json!(meta::text(object, "name"));
    let ago = |time: &Value| json!(since(time, now));
    let age = ago(&object["metadata"]["creationTimestamp"]);
    let count = |key: &str| object[key].as_object().map_or(0, serde_json::Map::len);
    match builtin {
        Builtin::Namespace => vec![name, string(&object["status"]["phase"]), age],
        Builtin::Secret => vec![name, string(&object["type"]), json!(count("data")), age],
        Builtin::ConfigMap => vec![name, json!(count("data") + count("binaryData")), age],
        Builtin::Event | Builtin::NewEvent => event(object, now),
        Builtin::ServiceAccount => vec![name, age],
        Builtin::Volume => volume(object, name, age),
        Builtin::Claim => claim(object, name, age),
        Builtin::Lease => vec![name, string(&object["spec"]["holderIdentity"]), age],
        Builtin::RoleBinding | Builtin::ClusterRoleBinding => binding(object, name, age),
        Builtin::Policy => {
            let count = object["spec"]["validations"].as_array().map_or(0, Vec::len);
            vec![name, json!(count), json!(NO_PARAMETERS), age]
        }
        Builtin::PolicyBinding => vec![
            name,
            string(&object["spec"]["policyName"]),
            json!(NO_PARAMETERS),
            age,
        ],
        _ => {
            let created = &object["metadata"]["creationTimestamp"];
            let created = created.as_str().unwrap_or("0001-01-01T00:00:00Z");
            vec![name, json!(created)]
        }
    }
}

/// The time since a moment that an object names.
pub(super) fn since(time: &Value, now: Timestamp) -> String {
    match time.as_str().and_then(read_time) {
        Some(time) => age::since(time, now),
        None => "<unknown>".to_owned(),
    }
}

fn string(value: &Value) -> Value {
    json!(value.as_str().unwrap_or_default())
}

/// The text of a pointer, or that there is none.
fn or_unset(value: &Value) -> Value {
    json!(value.as_str().unwrap_or("<unset>"))
}

fn event(object: &Value, now: Timestamp) -> Vec<Value> {
    let ago = |time: &Value| since(time, now);
    let is_set = |time: &Value| time.is_string();
    let first = if is_set(&object["firstTimestamp"]) {
        ago(&object["firstTimestamp"])
    } else {
        ago(&object["eventTime"])
    };
    let series = &object["series"];
    let (last, count) = if series.is_object() {
        (ago(&series["lastObservedTime"]), series["count"].as_i64())
    } else if is_set(&object["lastTimestamp"]) {
        (ago(&object["lastTimestamp"]), object["count"].as_i64())
    } else {
        (first.clone(), object["count"].as_i64())
    };
    // An event that happened once need not say so.
    let count = match count.unwrap_or(0) {
        0 if !series.is_object() => 1,
        count => count,
    };
    let about = &object["involvedObject"];
    let kind = about["kind"].as_str().unwrap_or_default().to_lowercase();
    let target = match about["name"].as_str().unwrap_or_default() {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let either = |a: &Value, b: &Value| match a.as_str().unwrap_or_default() {
        "" => b.as_str().unwrap_or_default().to_owned(),
        text => text.to_owned(),
    };
    let mut source = either(
        &object["source"]["component"],
        &object["reportingComponent"],
    );
    let place = either(&object["source"]["host"], &object["reportingInstance"]);
    if !place.is_empty() {
        source = format!("{source}, {place}");
    }
    let message = object["message"].as_str().unwrap_or_default().trim();
    vec![
        json!(last),
        string(&object["type"]),
        string(&object["reason"]),
        json!(target),
        string(&about["fieldPath"]),
        json!(source),
        json!(message),
        json!(first),
        json!(count),
        json!(meta::text(object, "name")),
    ]
}

fn binding(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let subjects = object["subjects"].as_array().map_or(&[][..], Vec::as_slice);
    let part = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let all = |kind: &str| {
        let names = subjects
            .iter()
            .filter(|subject| subject["kind"] == kind)
            .map(|subject| match kind {
                "ServiceAccount" => {
                    format!("{}/{}", part(subject, "namespace"), part(subject, "name"))
                }
                _ => part(subject, "name"),
            });
        json!(names.collect::<Vec<_>>().join(", "))
    };
    let role = &object["roleRef"];
    vec![
        name,
        json!(format!("{}/{}", part(role, "kind"), part(role, "name"))),
        age,
        all("User"),
        all("Group"),
        all("ServiceAccount"),
    ]
}

const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

fn class(object: &Value) -> Value {
    match &object["metadata"]["annotations"][CLASS] {
        Value::String(class) => json!(class),
        _ => string(&object["spec"]["storageClassName"]),
    }
}

fn phase(object: &Value) -> Value {
    if object["metadata"]["deletionTimestamp"].is_null() {
        string(&object["status"]["phase"])
    } else {
        json!("Terminating")
    }
}

fn modes(list: &Value) -> Value {
    let has = |mode: &str| list.as_array().is_some_and(|l| l.iter().any(|m| m == mode));
    let known = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let short: Vec<&str> = known
        .iter()
        .filter(|(mode, _)| has(mode))
        .map(|(_, short)| *short)
        .collect();
    json!(short.join(","))
}

/// An amount that is not there is none.
fn amount(value: &Value) -> Value {
    json!(value.as_str().unwrap_or("0"))
}

fn volume(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let spec = &object["spec"];
    let claim = &spec["claimRef"];
    let part = |key: &str| claim[key].as_str().unwrap_or_default();
    let claim = match claim {
        Value::Object(_) => format!("{}/{}", part("namespace"), part("name")),
        _ => String::new(),
    };
    vec![
        name,
        amount(&spec["capacity"]["storage"]),
        modes(&spec["accessModes"]),
        string(&spec["persistentVolumeReclaimPolicy"]),
        phase(object),
        json!(claim),
        class(object),
        or_unset(&spec["volumeAttributesClassName"]),
        string(&object["status"]["reason"]),
        age,
        or_unset(&spec["volumeMode"]),
    ]
}

fn claim(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let bound = !spec["volumeName"].as_str().unwrap_or_default().is_empty();
    let (capacity, modes) = if bound {
        (
            amount(&status["capacity"]["storage"]),
            modes(&status["accessModes"]),
        )
    } else {
        (json!(""), json!(""))
    };
    vec![
        name,
        phase(object),
        string(&spec["volumeName"]),
        capacity,
        modes,
        class(object),
        or_unset(&spec["volumeAttributesClassName"]),
        age,
        or_unset(&spec["volumeMode"]),
    ]
}
