//! Kinds of Kubernetes objects, declared as tables: no code is written for one.
//!
//! Whoever needs a sort of object declares an [`ObjectKind`]: its [`Kind`], made of [`NAMESPACED`] or
//! [`CLUSTER_WIDE`]; where the API server keeps it; and which field of the object is which property.
//! The adapter (`cloud-kube`) and the engine need no more.
//!
//! ```
//! use cloud_port::kube::{self, Field, ObjectKind, Ready, Seen, Shape};
//! use ownership::Kind;
//! use ownership::kind::{Change, PropRule};
//!
//! static KIND: Kind = Kind {
//!     name: "kube/volume",
//!     noun: "volume object",
//!     props: &[
//!         kube::IN_NAMESPACE,
//!         PropRule { name: "size", change: Change::InPlace },
//!         PropRule { name: "handle", change: Change::Given },
//!     ],
//!     ..kube::NAMESPACED
//! };
//!
//! static VOLUME: ObjectKind = ObjectKind {
//!     kind: &KIND,
//!     api_version: "storage.example.org/v1",
//!     object: "Volume",
//!     plural: "volumes",
//!     fields: &[
//!         Field { prop: "size", at: "/spec/sizeGb", shape: Shape::Integer },
//!         Field { prop: "handle", at: "/status/handle", shape: Shape::Text },
//!     ],
//!     ready: Ready::Condition { is: "Ready", fails: &["OutOfSpace"] },
//!     seen: Seen::Managed,
//! };
//!
//! assert_eq!(VOLUME.check(), Ok(()));
//! ```
//!
//! *Invariant:* this is a vocabulary. Nothing here knows a client, or a type of Kubernetes.

mod id;

use ownership::blueprint::Expr;
use ownership::kind::{BirthProof, Change, CreateMode, Ids, Kind, Marking, Naming, PropRule};
use ownership::life::{Course, Failed};
use ownership::mark::Carrier;
use ownership::name::{Alphabet, NameRule};
use ownership::time::Millis;

pub use id::ObjectId;

/// A sort of Kubernetes objects as resources.
#[derive(Clone, Copy, Debug)]
pub struct ObjectKind {
    /// The declaration.
    pub kind: &'static Kind,
    /// The API's group and version, `apps/v1`; of the core group only the version.
    pub api_version: &'static str,
    /// What the API calls it: `Deployment`.
    pub object: &'static str,
    /// What it is called in paths: `deployments`.
    pub plural: &'static str,
    /// Which field is which property. [`NAMESPACE`], [`NAME`], [`UID`] and [`OWNER`] are known without.
    pub fields: &'static [Field],
    /// When it can be used.
    pub ready: Ready,
    /// What a survey of all of them shows.
    pub seen: Seen,
}

/// A field of an object that is a property.
///
/// Maps are declared key by key, so that what others write beside ours is no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The property.
    pub prop: &'static str,
    /// The field, as a JSON pointer: `/spec/replicas`. It leads through no list.
    pub at: &'static str,
    /// What is in it.
    pub shape: Shape,
}

/// What a field holds; a property's value is its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A text, as the API server keeps it.
    Text,
    /// A whole number, in decimal digits.
    Integer,
    /// `true` or `false`.
    Bool,
    /// A list of texts that is written and read as one: `["a","b"]`.
    Texts,
}

/// When an object can be used. One that is being deleted never can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// As soon as it is there.
    AtOnce,
    /// When it has this condition with the status `True`, for the spec of now.
    Condition {
        /// The condition's type.
        is: &'static str,
        /// The reasons with which it is `False` for good.
        fails: &'static [&'static str],
    },
    /// When a field has one of these values.
    Field {
        /// The field, as a JSON pointer.
        at: &'static str,
        /// The values with which it can be used.
        ready: &'static [&'static str],
        /// The values with which it never will.
        fails: &'static [&'static str],
    },
}

/// What a survey of all objects of a Kind shows to claims at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// What carries the badge of Freehold: in a large cluster that is little of what there is. A claim
    /// that only uses somebody's object of the Kind reads it at every visit.
    Managed,
    /// Everything.
    All,
}

/// The property that names the namespace; it has no [`Field`].
pub const NAMESPACE: &str = "namespace";
/// The property that others can refer to for an object's name; it has no [`Field`].
pub const NAME: &str = "name";
/// The property that others can refer to for an object's uid; it has no [`Field`].
pub const UID: &str = "uid";
/// The property that names the controlling owner, as [`owner`] writes it; it has no [`Field`].
pub const OWNER: &str = "owner";

/// The rule of [`NAMESPACE`]: an object does not move.
pub const IN_NAMESPACE: PropRule = PropRule {
    name: NAMESPACE,
    change: Change::Never,
};

/// The rule of [`OWNER`]: it is chosen at birth.
pub const OWNED: PropRule = PropRule {
    name: OWNER,
    change: Change::Never,
};

/// What all objects in namespaces have in common. Name, noun and properties are each Kind's own.
///
/// A create is refused where the name is taken, its mark rides on it, and reads show at once what is
/// there: so nothing is recorded of single objects ([`Kind::recorded`]). Ids hold the uid, so nothing
/// that is sent to one object can meet another of its name. And anybody may put a finalizer on an
/// object: it is there until it is seen to be gone.
pub const NAMESPACED: Kind = Kind {
    name: "",
    noun: "",
    carrier: Carrier::KubeMetadata,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: false,
    naming: Naming::Within(NAMESPACE),
    names: NameRule {
        longest: 63,
        alphabet: Alphabet::Label,
    },
    ids: Ids::Unique,
    has_creation_time: true,
    lists_marks: true,
    recorded: false,
    valuable: false,
    settling: Millis(0),
    course: Course {
        ask_every: Millis::seconds(2),
        lingers: true,
        failed: Failed::Reported,
        ..Course::PLAIN
    },
    props: &[],
    inner: &[],
};

/// What all objects outside of namespaces have in common.
pub const CLUSTER_WIDE: Kind = Kind {
    naming: Naming::Account,
    ..NAMESPACED
};

/// The value of [`OWNER`]: an object of this API and sort, with this id, in the same namespace or in none.
/// The API server deletes what it owns after it; a blueprint still says in which order.
pub fn owner(of: &ObjectKind, id: Expr) -> Expr {
    let head = format!("{} {} ", of.api_version, of.object);
    Expr::join([Expr::Text(head.into()), id])
}

impl ObjectKind {
    /// Whether its objects are in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.kind.naming == Naming::Within(NAMESPACE)
    }

    /// The field of a property.
    pub fn field(&self, prop: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.prop == prop)
    }

    /// Whether the laws can be kept for such objects, and the table fits the declaration.
    ///
    /// # Errors
    /// The first rule that it breaks, in words.
    pub fn check(&self) -> Result<(), String> {
        let kind = self.kind;
        kind.check().map_err(|error| error.to_string())?;
        let refuse = |rule: &str| Err(format!("kind {}: {rule}", kind.name));
        if kind.carrier != Carrier::KubeMetadata || kind.ids != Ids::Unique {
            return refuse("objects are made of NAMESPACED or CLUSTER_WIDE");
        }
        if !self.is_namespaced() && kind.naming != Naming::Account {
            return refuse("names are unique in a namespace, or in the cluster");
        }
        for rule in kind.props {
            self.check_prop(rule)
                .or_else(|why| refuse(&format!("property {}: {why}", rule.name)))?;
        }
        let declared = |field: &&Field| kind.props.iter().any(|rule| rule.name == field.prop);
        if let Some(field) = self.fields.iter().find(|field| !declared(field)) {
            return refuse(&format!(
                "the field {} is no property: {}",
                field.at, field.prop
            ));
        }
        if self.is_namespaced() && kind.props.iter().all(|rule| rule.name != NAMESPACE) {
            return refuse("it needs the property namespace");
        }
        Ok(())
    }

    fn check_prop(&self, rule: &PropRule) -> Result<(), &'static str> {
        let mut fields = self.fields.iter().filter(|field| field.prop == rule.name);
        let (field, more) = (fields.next(), fields.next());
        let known = match rule.name {
            NAMESPACE if !self.is_namespaced() => return Err("it is in no namespace"),
            NAMESPACE | OWNER => Some(Change::Never),
            NAME | UID => Some(Change::Given),
            _ => None,
        };
        match (known, field) {
            (Some(_), Some(_)) => Err("it needs no field"),
            (Some(change), None) if change != rule.change => {
                Err("namespace and owner never change; name and uid are given")
            }
            (Some(_), None) => Ok(()),
            (None, None) => Err("it has no field"),
            (None, Some(_)) if more.is_some() => Err("it has two fields"),
            (None, Some(field)) => check_pointer(field.at, rule.change),
        }
    }
}

fn check_pointer(at: &str, change: Change) -> Result<(), &'static str> {
    let Some(path) = at.strip_prefix('/') else {
        return Err("a JSON pointer begins with '/'");
    };
    let number = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    if path.split('/').any(|part| part.is_empty() || number(part)) {
        return Err("its field leads through a list, or nowhere");
    }
    let is_status = at.starts_with("/status/");
    if is_status && change != Change::Given {
        return Err("a status is given, not wished for");
    }
    let in_metadata = at.starts_with("/metadata/");
    let writable = at.starts_with("/metadata/labels/") || at.starts_with("/metadata/annotations/");
    if in_metadata && !writable && change != Change::Given {
        return Err("of the metadata only labels and annotations are wished for");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn prop(name: &'static str, change: Change) -> PropRule {
        PropRule { name, change }
    }

    const fn at(prop: &'static str, at: &'static str) -> Field {
        let shape = Shape::Text;
        Field { prop, at, shape }
    }

    fn object(props: &[PropRule], fields: &[Field]) -> ObjectKind {
        let kind = Kind {
            name: "test/object",
            noun: "object",
            props: props.to_vec().leak(),
            ..NAMESPACED
        };
        ObjectKind {
            kind: Box::leak(Box::new(kind)),
            api_version: "v1",
            object: "ConfigMap",
            plural: "configmaps",
            fields: fields.to_vec().leak(),
            ready: Ready::AtOnce,
            seen: Seen::Managed,
        }
    }

    #[test]
    fn a_table_fits_its_declaration() {
        let size = prop("size", Change::InPlace);
        let whole = [
            IN_NAMESPACE,
            OWNED,
            size,
            prop(UID, Change::Given),
            prop("address", Change::Given),
        ];
        let fields = [at("size", "/data/size"), at("address", "/status/address")];
        assert_eq!(object(&whole, &fields).check(), Ok(()));
        let broken: [(&[PropRule], &[Field], &str); 8] = [
            (&[IN_NAMESPACE, size], &[], "size: it has no field"),
            (
                &[IN_NAMESPACE],
                &[at("size", "/data/size")],
                "is no property: size",
            ),
            (
                &[IN_NAMESPACE, size],
                &[at("size", "/data/a"), at("size", "/data/b")],
                "two fields",
            ),
            (
                &[IN_NAMESPACE, size],
                &[at("size", "/spec/disks/0/size")],
                "through a list",
            ),
            (
                &[IN_NAMESPACE, size],
                &[at("size", "/status/size")],
                "given, not wished for",
            ),
            (
                &[IN_NAMESPACE, size],
                &[at("size", "/metadata/finalizers")],
                "only labels and annotations",
            ),
            (&[size], &[at("size", "/data/size")], "needs the property"),
            (
                &[IN_NAMESPACE, prop(UID, Change::Never)],
                &[],
                "name and uid are given",
            ),
        ];
        for (props, fields, words) in broken {
            let told = object(props, fields).check().unwrap_err();
            assert!(told.contains(words), "{told}");
        }
    }

    #[test]
    fn an_owner_is_told_by_api_sort_and_id() {
        let parent = object(&[IN_NAMESPACE], &[]);
        let told = owner(&parent, "team-a/settings/1f2e".into());
        assert_eq!(told.to_string(), "v1 ConfigMap team-a/settings/1f2e");
    }
}
