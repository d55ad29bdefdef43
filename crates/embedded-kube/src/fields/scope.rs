//! What a request sees of objects, and in which versions.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::entries::{Identity, Operation};
use super::set::Set;
use super::shape::Ref;
use super::typed::check;
use super::updater::{Typed, Unconvertible, Versions};
use crate::builtin::{self, Builtin};
use crate::meta;
use crate::resource::{Definition, Resource, Rules, Sub, split_version};
use crate::text::go_quote;
use crate::typed::{self as decoding, Findings, Struct};

/// What a request to an object or to a part of it cannot change.
static STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_names(&[&["status"]]));
static SPEC: LazyLock<Set> = LazyLock::new(|| Set::of_names(&[&["spec"]]));
static ALL_BUT_STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_names(&[&["metadata"], &["spec"]]));

/// What a request sees of objects: a resource in one of its versions, or a part of it.
pub(crate) struct Scope<'a> {
    kind: ScopeKind<'a>,
    pub(super) version: String,
    pub(super) sub: &'static str,
}

enum ScopeKind<'a> {
    Resource {
        resource: &'a Resource,
        /// All versions of a custom resource.
        definition: Option<&'a Definition>,
        sub: Sub,
    },
    /// A part that has a kind of its own.
    Part(&'a Struct),
}

impl<'a> Scope<'a> {
    pub(crate) fn new(
        resource: &'a Resource,
        definition: Option<&'a Definition>,
        sub: Sub,
    ) -> Self {
        Self {
            version: resource.api_version(),
            sub: sub.name(),
            kind: ScopeKind::Resource {
                resource,
                definition,
                sub,
            },
        }
    }

    /// A part of objects with a kind of its own.
    pub(super) fn of_part(part: &'a Struct, version: &str, sub: Sub) -> Self {
        Self {
            kind: ScopeKind::Part(part),
            version: version.to_owned(),
            sub: sub.name(),
        }
    }

    pub(super) fn shape(&self) -> Ref<'a> {
        match &self.kind {
            ScopeKind::Part(part) => Ref::Struct(part),
            ScopeKind::Resource { resource, .. } => shape_of(resource),
        }
    }

    pub(super) fn kind(&self) -> &str {
        match &self.kind {
            ScopeKind::Part(part) => part.name,
            ScopeKind::Resource { resource, .. } => &resource.kind,
        }
    }

    /// Why nothing new of this kind can be made, if it cannot.
    pub(super) fn unmade(&self) -> Option<String> {
        matches!(self.kind, ScopeKind::Part(_)).then(|| {
            let version = &self.version;
            format!("request to convert CR to an invalid group/version: {version}")
        })
    }

    fn is_new_event(&self) -> bool {
        self.builtin() == Some(Builtin::NewEvent)
    }

    fn builtin(&self) -> Option<Builtin> {
        match &self.kind {
            ScopeKind::Part(_) => None,
            ScopeKind::Resource { resource, .. } => resource.builtin(),
        }
    }

    /// An object without anything in it.
    pub(super) fn empty(&self) -> Value {
        let mut empty = json!({"apiVersion": self.version, "kind": self.kind()});
        let fields = match &self.kind {
            ScopeKind::Part(part) => Some(*part),
            ScopeKind::Resource { resource, .. } => resource.builtin().map(Builtin::fields),
        };
        if let Some(fields) = fields {
            // Nothing in it has a wrong type.
            let _ = decoding::decode(&mut empty, fields, &mut Findings::default());
        }
        empty
    }

    /// An object as the request would see it: events have two shapes.
    fn seen<'v>(&self, object: &'v Value) -> Cow<'v, Value> {
        if !self.is_new_event() || object["apiVersion"] == *self.version {
            return Cow::Borrowed(object);
        }
        let mut seen = object.clone();
        builtin::event_from_core(&mut seen);
        Cow::Owned(seen)
    }

    pub(super) fn typed<'v>(
        &self,
        value: &'v Value,
        duplicates: bool,
    ) -> Result<Typed<'v, 'a>, String> {
        let at = self.shape();
        let value = self.seen(value);
        check(at, &value, duplicates)?;
        Ok(Typed { value, at })
    }

    /// What errors say an object is.
    pub(super) fn about(&self, object: &Value) -> String {
        let (group, version) = split_version(&self.version);
        format!(
            "{}/{}; {group}/{version}, Kind={}",
            meta::text(object, "namespace"),
            meta::text(object, "name"),
            self.kind()
        )
    }

    pub(super) fn identity(&self, manager: &str, operation: Operation) -> Identity {
        Identity::new(manager, operation, &self.version, self.sub)
    }
}

fn shape_of(resource: &Resource) -> Ref<'_> {
    match &resource.rules {
        Rules::Builtin(builtin) => Ref::Struct(builtin.fields()),
        Rules::Custom(custom) => Ref::of_schema(&custom.schema),
    }
}

impl<'a> Versions<'a> for Scope<'a> {
    fn own(&self) -> &str {
        &self.version
    }

    fn reset(&self, version: &str) -> Option<&'static Set> {
        let ScopeKind::Resource {
            resource,
            definition,
            sub,
        } = &self.kind
        else {
            return None;
        };
        match (&resource.rules, sub) {
            (Rules::Custom(_), Sub::Status) => {
                let version = split_version(version).1;
                let found = definition.and_then(|definition| definition.version(version));
                found
                    .is_some_and(|found| found.has(Sub::Status))
                    .then_some(&ALL_BUT_STATUS)
            }
            _ if version != self.version => None,
            (Rules::Custom(custom), _) => custom.status.then_some(&STATUS),
            (Rules::Builtin(builtin), _) if !builtin.has_status() => None,
            (Rules::Builtin(_), Sub::Status) => Some(&SPEC),
            (Rules::Builtin(_), _) => Some(&STATUS),
        }
    }

    fn convert<'v>(
        &self,
        object: &'v Typed<'_, 'a>,
        version: &str,
    ) -> Result<Typed<'v, 'a>, Unconvertible> {
        let from = object.value["apiVersion"].as_str().unwrap_or_default();
        if version.matches('/').count() > 1 {
            let why = format!("unexpected GroupVersion string: {version}");
            return Err(Unconvertible::Broken(why));
        }
        if from == version {
            return Ok(Typed {
                value: Cow::Borrowed(&object.value),
                at: object.at,
            });
        }
        let ScopeKind::Resource {
            resource,
            definition,
            ..
        } = &self.kind
        else {
            return Err(Unconvertible::Missing);
        };
        // Of the two groups that events have each knows only its own shape.
        if resource.builtin().is_some() {
            return Err(Unconvertible::Missing);
        }
        let (group, name) = split_version(version);
        if *group != *resource.group {
            let (group, of) = split_version(from);
            let (kind, version) = (&resource.kind, go_quote(version));
            return Err(Unconvertible::Broken(format!(
                "{group}/{of}, Kind={kind} is unstructured and is not suitable for converting to \
                 {version}"
            )));
        }
        let Some(found) = definition.and_then(|definition| definition.version(name)) else {
            let why = format!("request to convert CR to an invalid group/version: {version}");
            return Err(Unconvertible::Broken(why));
        };
        let mut value = object.value.clone().into_owned();
        value["apiVersion"] = json!(version);
        let at = shape_of(found);
        check(at, &value, false).map_err(Unconvertible::Broken)?;
        Ok(Typed {
            value: Cow::Owned(value),
            at,
        })
    }
}
