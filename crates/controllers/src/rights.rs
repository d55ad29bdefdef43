//! What a system must be allowed to do in the management cluster.

use api::manifests::Served;

/// What is done with the objects of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    /// `kubermatic.k8c.io`; nothing for Kubernetes' own first kinds.
    pub group: &'static str,
    /// `v1`.
    pub version: &'static str,
    /// `clusters`.
    pub plural: &'static str,
    /// `status`, where it is not about the objects themselves.
    pub part: Option<&'static str>,
    /// `get`, `list`.
    pub verbs: &'static [&'static str],
    /// Whether people may give it in single namespaces, in place of the whole cluster: then it is told
    /// of an object that it is missing for.
    pub in_parts: bool,
}

impl Right {
    /// To do this with objects.
    pub const fn new(
        group: &'static str,
        version: &'static str,
        plural: &'static str,
        verbs: &'static [&'static str],
    ) -> Self {
        Self {
            group,
            version,
            plural,
            part: None,
            verbs,
            in_parts: false,
        }
    }

    /// The same, where people may give it in single namespaces.
    #[must_use]
    pub const fn in_parts(self) -> Self {
        Self {
            in_parts: true,
            ..self
        }
    }

    /// Whether every API server has the kind.
    pub fn is_kubernetes_own(&self) -> bool {
        self.group.is_empty() || self.group.ends_with(".k8s.io")
    }

    /// The kind, with its part, as roles name it: `clusters/status`.
    pub fn resource(&self) -> String {
        let part = self.part.map(|part| format!("/{part}"));
        format!("{}{}", self.plural, part.unwrap_or_default())
    }
}

/// What every system does with its objects, and tells of them.
pub(crate) fn of_kind(kind: &Served) -> [Right; 3] {
    let Served {
        plural,
        group,
        version,
        ..
    } = *kind;
    let objects = Right::new(group, version, plural, &["get", "list", "watch", "patch"]);
    let status = Right {
        part: Some("status"),
        verbs: &["patch"],
        ..objects
    };
    let events = Right::new("events.k8s.io", "v1", "events", &["create"]);
    [objects, status, events]
}
