//! What is served: resources with their versions, built in or defined.

use std::cmp::Ordering;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::builtin::Builtin;
use crate::deep;
use crate::schema::Schema;
use crate::status::About;
use crate::table::CustomColumn;

/// One version of one resource.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) group: Box<str>,
    pub(crate) version: Box<str>,
    pub(crate) plural: Box<str>,
    pub(crate) singular: Box<str>,
    pub(crate) kind: Box<str>,
    pub(crate) list_kind: Box<str>,
    pub(crate) short_names: Vec<Box<str>>,
    pub(crate) categories: Vec<Box<str>>,
    pub(crate) namespaced: bool,
    /// The collection that its objects are in; two resources can show the same objects.
    pub(crate) store: Box<str>,
    pub(crate) rules: Rules,
}

/// Which rules its objects obey.
#[derive(Debug)]
pub(crate) enum Rules {
    Builtin(Builtin),
    Custom(Box<Custom>),
}

/// The rules of a version of a custom resource.
#[derive(Debug)]
pub(crate) struct Custom {
    pub(crate) schema: Schema,
    /// How deep the text nests that the schema was read from.
    pub(crate) depth: usize,
    pub(crate) served: bool,
    /// Whether there is a `status` subresource.
    pub(crate) status: bool,
    pub(crate) scale: Option<Scale>,
    /// The fields that field selectors can name, as `spec.a.b`.
    pub(crate) selectable: Vec<Box<str>>,
    /// What its tables show besides the name.
    pub(crate) columns: Vec<CustomColumn>,
    /// What a user of this version is warned of.
    pub(crate) warning: Option<Box<str>>,
}

impl Drop for Custom {
    fn drop(&mut self) {
        let schema = std::mem::take(&mut self.schema);
        deep::with_room(self.depth, || drop(schema));
    }
}

/// Where a custom resource keeps what `scale` shows.
#[derive(Debug)]
pub(crate) struct Scale {
    pub(crate) spec_replicas: Box<str>,
    pub(crate) status_replicas: Box<str>,
    pub(crate) selector: Option<Box<str>>,
}

/// A part of an object with an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sub {
    None,
    Status,
    Scale,
    Finalize,
}

impl Sub {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Status => "status",
            Self::Scale => "scale",
            Self::Finalize => "finalize",
        }
    }
}

impl Resource {
    /// A version of the same custom resource as it once was; what it said is not known any more.
    pub(crate) fn past(&self, version: &str) -> Self {
        Self {
            group: self.group.clone(),
            version: version.into(),
            plural: self.plural.clone(),
            singular: self.singular.clone(),
            kind: self.kind.clone(),
            list_kind: self.list_kind.clone(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: self.namespaced,
            store: self.store.clone(),
            rules: Rules::Custom(Box::new(Custom {
                schema: Schema::default(),
                depth: 0,
                served: false,
                status: false,
                scale: None,
                selectable: Vec::new(),
                columns: Vec::new(),
                warning: None,
            })),
        }
    }

    /// `apiVersion` of its objects.
    pub(crate) fn api_version(&self) -> String {
        group_version(&self.group, &self.version)
    }

    /// How errors about an object name it.
    pub(crate) fn about(&self) -> About<'_> {
        About {
            group: &self.group,
            resource: &self.plural,
        }
    }

    /// How validation errors about this object of it name the kind.
    pub(crate) fn about_kind<'a>(&'a self, object: &'a Value) -> About<'a> {
        let kind = match &self.rules {
            // Events are checked in the shape of the core group.
            Rules::Builtin(Builtin::NewEvent) => {
                return About {
                    group: "",
                    resource: &self.kind,
                };
            }
            Rules::Builtin(_) => &self.kind,
            // A custom resource is called what it calls itself.
            Rules::Custom(_) => object["kind"].as_str().unwrap_or(&self.kind),
        };
        About {
            group: &self.group,
            resource: kind,
        }
    }

    pub(crate) fn custom(&self) -> Option<&Custom> {
        match &self.rules {
            Rules::Custom(custom) => Some(custom),
            Rules::Builtin(_) => None,
        }
    }

    pub(crate) fn builtin(&self) -> Option<Builtin> {
        match self.rules {
            Rules::Builtin(builtin) => Some(builtin),
            Rules::Custom(_) => None,
        }
    }

    /// Whether an object has this part.
    pub(crate) fn has(&self, sub: Sub) -> bool {
        match (&self.rules, sub) {
            (_, Sub::None) => true,
            (Rules::Custom(custom), Sub::Status) => custom.status,
            (Rules::Custom(custom), Sub::Scale) => custom.scale.is_some(),
            (Rules::Custom(_), Sub::Finalize) | (Rules::Builtin(_), Sub::Scale) => false,
            (Rules::Builtin(builtin), Sub::Status) => builtin.has_status(),
            (Rules::Builtin(builtin), Sub::Finalize) => *builtin == Builtin::Namespace,
        }
    }

    /// The key of an object in its collection.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced {
            format!("{namespace}/{name}")
        } else {
            name.to_owned()
        }
    }

    /// The key as messages of the storage layer show it.
    pub(crate) fn registry_key(&self, key: &str) -> String {
        let place = match (self.builtin(), &*self.group) {
            (Some(Builtin::Lease), _) => "leases".to_owned(),
            (Some(Builtin::Definition), _) => {
                "apiextensions.k8s.io/customresourcedefinitions".to_owned()
            }
            (Some(_), _) => self.plural.to_string(),
            (None, group) => format!("{group}/{}", self.plural),
        };
        format!("/registry/{place}/{key}")
    }
}

/// `group/version`, or the version alone in the core group.
pub(crate) fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

/// The group and version of an `apiVersion`.
pub(crate) fn split_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// A custom resource with all its versions, as one definition gives it.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) versions: Vec<Arc<Resource>>,
    /// The text of the `spec` that says all this.
    pub(crate) source: Bytes,
    /// Which of them is stored.
    pub(crate) storage: usize,
}

impl Definition {
    /// The version of this name.
    pub(crate) fn version(&self, name: &str) -> Option<&Arc<Resource>> {
        self.versions
            .iter()
            .find(|resource| &*resource.version == name)
    }

    /// The version that objects are stored in.
    pub(crate) fn stored(&self) -> &Arc<Resource> {
        &self.versions[self.storage]
    }
}

/// A value inside an object, by a path such as `.spec.a.b`.
pub(crate) fn at_path<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    path.trim_start_matches('.')
        .split('.')
        .try_fold(object, |value, key| value.get(key))
}

/// The rank of a version: `v2` before `v1` before `v1beta1` before anything else.
fn rank(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let major: u64 = rest[..digits].parse().ok()?;
    let stage = &rest[digits..];
    for (name, rank) in [("alpha", 0), ("beta", 1)] {
        if let Some(minor) = stage.strip_prefix(name) {
            return Some((rank, major, minor.parse().ok()?));
        }
    }
    stage.is_empty().then_some((2, major, 0))
}

/// How versions follow each other, the best one last.
pub(crate) fn compare_versions(a: &str, b: &str) -> Ordering {
    match (rank(a), rank(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => b.cmp(a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ranked() {
        let mut versions = vec!["v1alpha1", "v2", "foo", "v1", "v1beta2", "v10", "v1beta1"];
        versions.sort_by(|a, b| compare_versions(b, a));
        assert_eq!(
            versions,
            ["v10", "v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "foo"]
        );
    }
}
