//! The resources that scripts name by their plural alone.

use serde_json::{Value, json};

/// What a plural means: where it is served and how its objects introduce themselves.
#[derive(Clone, Debug)]
#[allow(clippy::struct_field_names, reason = "Kubernetes calls it so")]
pub(crate) struct Kind {
    pub(crate) plural: String,
    pub(crate) kind: String,
    /// Empty for the core group.
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespaced: bool,
}

impl Kind {
    pub(crate) fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    pub(crate) fn base(&self, namespace: &str) -> String {
        let root = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        if self.namespaced {
            format!("{root}/namespaces/{namespace}/{}", self.plural)
        } else {
            format!("{root}/{}", self.plural)
        }
    }
}

/// Built-in kinds and the fixtures' own.
const RBAC: &str = "rbac.authorization.k8s.io";

pub(crate) fn known() -> Vec<Kind> {
    let fixture = super::fixtures::GROUP;
    [
        ("namespaces", "Namespace", "", "v1", false),
        ("configmaps", "ConfigMap", "", "v1", true),
        ("secrets", "Secret", "", "v1", true),
        ("serviceaccounts", "ServiceAccount", "", "v1", true),
        ("persistentvolumes", "PersistentVolume", "", "v1", false),
        (
            "persistentvolumeclaims",
            "PersistentVolumeClaim",
            "",
            "v1",
            true,
        ),
        ("events", "Event", "", "v1", true),
        ("leases", "Lease", "coordination.k8s.io", "v1", true),
        (
            "customresourcedefinitions",
            "CustomResourceDefinition",
            "apiextensions.k8s.io",
            "v1",
            false,
        ),
        ("roles", "Role", RBAC, "v1", true),
        ("clusterroles", "ClusterRole", RBAC, "v1", false),
        ("rolebindings", "RoleBinding", RBAC, "v1", true),
        (
            "clusterrolebindings",
            "ClusterRoleBinding",
            RBAC,
            "v1",
            false,
        ),
        ("widgets", "Widget", fixture, "v1", true),
        ("notes", "Note", fixture, "v1", true),
        ("gadgets", "Gadget", fixture, "v1", false),
    ]
    .map(|(plural, kind, group, version, namespaced)| Kind {
        plural: plural.into(),
        kind: kind.into(),
        group: group.into(),
        version: version.into(),
        namespaced,
    })
    .into()
}

/// `over` laid onto `base`: objects are merged, everything else is replaced.
pub(crate) fn merge(base: Value, over: Value) -> Value {
    match (base, over) {
        (Value::Object(mut base), Value::Object(over)) => {
            for (key, value) in over {
                let merged = match base.remove(&key) {
                    Some(old) => merge(old, value),
                    None => value,
                };
                base.insert(key, merged);
            }
            Value::Object(base)
        }
        (_, over) => over,
    }
}

/// An object of this kind with this name, and whatever `rest` says.
pub(crate) fn object(kind: &Kind, name: &str, rest: Value) -> Value {
    let metadata = match name {
        "" => json!({}),
        name => json!({"name": name}),
    };
    merge(
        json!({"apiVersion": kind.api_version(), "kind": kind.kind, "metadata": metadata}),
        rest,
    )
}
