//! Models of the built-in kinds, from the tables of their fields.

use serde_json::{Map, Value, json};

use super::{Dialect, own_kind};
use crate::builtin::Builtin;
use crate::meta;
use crate::resource::Resource;
use crate::typed::{Field, Presence, Struct, Type};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";

/// Where the types of a group are declared.
pub(super) fn package(group: &str) -> String {
    match group {
        "" => "io.k8s.api.core.v1".to_owned(),
        "apiextensions.k8s.io" => {
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1".to_owned()
        }
        group => {
            let first = group.split('.').next().unwrap_or_default();
            format!("io.k8s.api.{first}.v1")
        }
    }
}

/// Types that several groups use: those of metadata, and those of the core group.
const OF_META: [&str; 7] = [
    "ObjectMeta",
    "OwnerReference",
    "LabelSelector",
    "LabelSelectorRequirement",
    "ManagedFieldsEntry",
    "ListMeta",
    "Condition",
];
const OF_CORE: [&str; 4] = [
    "ObjectReference",
    "EventSource",
    "SecretReference",
    "LocalObjectReference",
];

/// Fields that must be there although their type does not show it, and the reverse.
fn is_required(structure: &str, group: &str, field: &Field) -> bool {
    match (structure, field.name) {
        ("Event", "metadata" | "involvedObject") => group.is_empty(),
        ("Event", "eventTime") => !group.is_empty(),
        ("Event", "reportingComponent" | "reportingInstance") => false,
        ("EventSeries", "count" | "lastObservedTime") => !group.is_empty(),
        ("CustomResourceDefinition", "spec") => true,
        ("CustomResourceDefinitionSpec", "names" | "versions") => true,
        ("PolicyRule", "verbs") => true,
        ("RoleBinding" | "ClusterRoleBinding", "roleRef") => true,
        ("RoleRef", "apiGroup") => false,
        ("TokenReviewSpec", "token") => true,
        ("ValidatingAdmissionPolicyBindingSpec", "policyName" | "validationActions") => true,
        (review, "spec") if review.ends_with("Review") => true,
        _ => {
            field.presence == Presence::Always
                && matches!(
                    field.kind,
                    Type::String | Type::Bool | Type::Int32 | Type::Int64
                )
        }
    }
}

/// The values that a field takes, where they are few.
fn values(structure: &str, field: &str) -> &'static [&'static str] {
    match (structure, field) {
        ("NamespaceStatus", "phase") => &["Active", "Terminating"],
        ("PersistentVolumeStatus", "phase") => {
            &["Available", "Bound", "Failed", "Pending", "Released"]
        }
        ("PersistentVolumeClaimStatus", "phase") => &["Bound", "Lost", "Pending"],
        (
            "PersistentVolumeSpec" | "PersistentVolumeClaimSpec" | "PersistentVolumeClaimStatus",
            "accessModes",
        ) => &[
            "ReadOnlyMany",
            "ReadWriteMany",
            "ReadWriteOnce",
            "ReadWriteOncePod",
        ],
        ("PersistentVolumeSpec" | "PersistentVolumeClaimSpec", "volumeMode") => {
            &["Block", "Filesystem"]
        }
        ("PersistentVolumeSpec", "persistentVolumeReclaimPolicy") => {
            &["Delete", "Recycle", "Retain"]
        }
        ("ValidatingAdmissionPolicySpec", "failurePolicy") => &["Fail", "Ignore"],
        ("MatchResources", "matchPolicy") => &["Equivalent", "Exact"],
        ("NamedRuleWithOperations", "operations") => {
            &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]
        }
        ("NamedRuleWithOperations", "scope") => &["*", "Cluster", "Namespaced"],
        ("ValidatingAdmissionPolicyBindingSpec", "validationActions") => &["Audit", "Deny", "Warn"],
        ("HostPathVolumeSource", "type") => &[
            "",
            "BlockDevice",
            "CharDevice",
            "Directory",
            "DirectoryOrCreate",
            "File",
            "FileOrCreate",
            "Socket",
        ],
        _ => &[],
    }
}

/// Adds the models of a kind.
pub(super) fn add(
    dialect: Dialect,
    builtin: Builtin,
    resource: &Resource,
    model: &str,
    models: &mut Map<String, Value>,
) {
    add_meta(dialect, models);
    let mut maker = Maker {
        dialect,
        group: &resource.group,
        models,
    };
    let mut schema = maker.structure(builtin.fields());
    schema["x-kubernetes-group-version-kind"] = json!([own_kind(resource, &resource.kind)]);
    models.insert(model.to_owned(), schema);
}

/// Adds the models of metadata.
pub(super) fn add_meta(dialect: Dialect, models: &mut Map<String, Value>) {
    if models.contains_key(&format!("{META}.ObjectMeta")) {
        return;
    }
    let time = json!({"type": "string", "format": "date-time"});
    let quantity = match dialect {
        Dialect::V2 => json!({"type": "string"}),
        Dialect::V3 => json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
    };
    let text = json!({"type": "string"});
    for (name, schema) in [
        (format!("{META}.Time"), time.clone()),
        (format!("{META}.MicroTime"), time),
        (QUANTITY.to_owned(), quantity),
        (format!("{META}.FieldsV1"), json!({"type": "object"})),
        (
            format!("{META}.ManagedFieldsEntry"),
            json!({"type": "object", "properties": {
                "apiVersion": text, "fieldsType": text, "manager": text, "operation": text,
                "subresource": text,
                "fieldsV1": dialect.field(&format!("{META}.FieldsV1"), false),
                "time": dialect.field(&format!("{META}.Time"), false),
            }}),
        ),
        (
            format!("{META}.ShardInfo"),
            json!({"type": "object", "required": ["selector"],
                "properties": {"selector": scalar(dialect, "string", "", Some(json!("")))}}),
        ),
        (
            format!("{META}.ListMeta"),
            json!({"type": "object", "properties": {
                "continue": text, "resourceVersion": text, "selfLink": text,
                "remainingItemCount": {"type": "integer", "format": "int64"},
                "shardInfo": dialect.field(&format!("{META}.ShardInfo"), false),
            }}),
        ),
    ] {
        models.insert(name, schema);
    }
    let mut maker = Maker {
        dialect,
        group: "",
        models,
    };
    maker.reference(&meta::OBJECT_META);
}

/// `metadata` of an object, as a field.
pub(super) fn metadata(dialect: Dialect) -> Value {
    let mut field = dialect.field(&format!("{META}.ObjectMeta"), false);
    if dialect == Dialect::V2 {
        field["description"] = json!("Standard metadata of an object.");
    }
    field
}

/// The model of a list.
pub(super) fn list(dialect: Dialect, resource: &Resource, model: &str) -> Value {
    let custom = resource.custom().is_some();
    let mut items = dialect.field(model, !custom);
    if custom {
        items = dialect.reference(model);
    }
    json!({
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": dialect.field(&format!("{META}.ListMeta"), !custom),
            "items": {"type": "array", "items": items},
        },
        "x-kubernetes-group-version-kind": [own_kind(resource, &resource.list_kind)],
    })
}

fn scalar(dialect: Dialect, kind: &str, format: &str, default: Option<Value>) -> Value {
    let mut schema = json!({"type": kind});
    if !format.is_empty() {
        schema["format"] = json!(format);
    }
    if let (Dialect::V3, Some(default)) = (dialect, default) {
        schema["default"] = default;
    }
    schema
}

struct Maker<'a> {
    dialect: Dialect,
    group: &'a str,
    models: &'a mut Map<String, Value>,
}

impl Maker<'_> {
    fn structure(&mut self, structure: &Struct) -> Value {
        let properties: Map<String, Value> = structure
            .fields
            .iter()
            .map(|field| (field.name.to_owned(), self.field(structure.name, field)))
            .collect();
        let mut schema = json!({"type": "object"});
        if !properties.is_empty() {
            schema["properties"] = properties.into();
        }
        let required: Vec<&str> = structure
            .fields
            .iter()
            .filter(|field| is_required(structure.name, self.group, field))
            .map(|field| field.name)
            .collect();
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        if structure.is_atomic() {
            schema["x-kubernetes-map-type"] = json!("atomic");
        }
        schema
    }

    /// Adds the model of a struct; the answer is its name.
    fn reference(&mut self, structure: &Struct) -> String {
        let package = if OF_META.contains(&structure.name) {
            META.to_owned()
        } else if OF_CORE.contains(&structure.name) {
            package("")
        } else {
            package(self.group)
        };
        let name = format!("{package}.{}", structure.name);
        if !self.models.contains_key(&name) {
            let schema = self.structure(structure);
            self.models.insert(name.clone(), schema);
        }
        name
    }

    fn field(&mut self, structure: &str, field: &Field) -> Value {
        let always = field.presence == Presence::Always;
        let mut schema = self.value(&field.kind, always);
        let values = values(structure, field.name);
        if !values.is_empty() {
            let place = match field.kind {
                Type::List(_) => &mut schema["items"],
                _ => &mut schema,
            };
            place["enum"] = json!(values);
        }
        if structure == "EventSeries" && field.name == "count" && !self.group.is_empty() {
            schema["default"] = json!(0);
        }
        if field.name == "managedFields" {
            let item = self
                .dialect
                .field(&format!("{META}.ManagedFieldsEntry"), true);
            schema["items"] = item;
        }
        if structure == "LocalObjectReference" && self.dialect == Dialect::V3 {
            schema["default"] = json!("");
        }
        if structure == "PersistentVolumeSpec" && field.name == "claimRef" {
            schema["x-kubernetes-map-type"] = json!("granular");
        }
        if field.name == "allocatedResourceStatuses" {
            schema["x-kubernetes-map-type"] = json!("granular");
        }
        if matches!(field.kind, Type::List(_)) {
            Self::list_marks(structure, field, &mut schema);
        }
        schema
    }

    /// How a list is merged.
    fn list_marks(structure: &str, field: &Field, schema: &mut Value) {
        let keyed = match (field.merge_key, structure, field.name) {
            (Some(""), ..) => {
                schema["x-kubernetes-list-type"] = json!("set");
                schema["x-kubernetes-patch-strategy"] = json!("merge");
                return;
            }
            (Some(key), ..) => {
                schema["x-kubernetes-patch-merge-key"] = json!(key);
                schema["x-kubernetes-patch-strategy"] = json!("merge");
                Some(key)
            }
            (None, "CustomResourceDefinitionStatus", "conditions") => Some("type"),
            (None, "ValidatingAdmissionPolicyBindingSpec", "validationActions") => {
                schema["x-kubernetes-list-type"] = json!("set");
                return;
            }
            _ => None,
        };
        match keyed {
            Some(key) => {
                schema["x-kubernetes-list-type"] = json!("map");
                schema["x-kubernetes-list-map-keys"] = json!([key]);
            }
            None => schema["x-kubernetes-list-type"] = json!("atomic"),
        }
    }

    /// The schema of a value; `present` says that it is always there, so that it has a default.
    fn value(&mut self, kind: &Type, present: bool) -> Value {
        let dialect = self.dialect;
        let simple = |kind: &str, format: &str, zero: Value| {
            scalar(dialect, kind, format, present.then_some(zero))
        };
        match kind {
            Type::String => simple("string", "", json!("")),
            Type::Bool => simple("boolean", "", json!(false)),
            Type::Int32 => simple("integer", "int32", json!(0)),
            Type::Int64 => simple("integer", "int64", json!(0)),
            Type::Bytes => json!({"type": "string", "format": "byte"}),
            Type::Quantity => dialect.reference(QUANTITY),
            Type::Time => dialect.field(&format!("{META}.Time"), false),
            Type::MicroTime => dialect.field(&format!("{META}.MicroTime"), false),
            Type::List(item) => json!({"type": "array", "items": self.value(item, true)}),
            Type::Map(item) => {
                json!({"type": "object", "additionalProperties": self.value(item, true)})
            }
            Type::Struct(structure) => {
                let name = self.reference(structure);
                dialect.field(&name, present)
            }
            Type::Any => json!({"type": "object"}),
        }
    }
}
