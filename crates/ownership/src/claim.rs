//! Claims: on whose behalf we act.

use std::fmt;

use uuid::Uuid;

use crate::input::{self, InputError};
use crate::text::Text;

/// On whose behalf we act: API kind, namespace, name and UUID.
///
/// # Guarantees
/// Two claims have the same [`hash`](Claim::hash) only if all four agree. The name alone decides
/// nothing: two clusters of one name in two namespaces are two claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    kind: Text,
    namespace: Text,
    name: Text,
    uuid: Uuid,
    hash: ClaimHash,
}

/// The four facts of a claim in 32 hexadecimal characters: what goes into marks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimHash(Text);

/// The management cluster that holds a claim: a short hash of its `kube-system` namespace's uid.
///
/// It tells a restored backup (same claim, new holder, take-over confirmed) from a copied manifest.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder(Text);

impl Claim {
    /// A claim, from the parts of a Kubernetes object.
    ///
    /// # Errors
    /// The field and the rule: names must be what Kubernetes itself accepts, `uuid` a UUID with its
    /// hyphens and not the nil one, and `kind` of the form `Kind.group`.
    pub fn new(kind: &str, namespace: &str, name: &str, uuid: &str) -> Result<Self, InputError> {
        let parsed = Uuid::parse_str(uuid)
            .ok()
            .filter(|_| uuid.len() == HYPHENATED)
            .ok_or_else(|| {
                InputError::new("uuid", uuid, "must be a UUID (8-4-4-4-12 hex digits)")
            })?;
        if parsed.is_nil() {
            let rule = "must not be the nil UUID, which everybody could share";
            return Err(InputError::new("uuid", uuid, rule));
        }
        Self::with_uuid(kind, namespace, name, parsed)
    }

    /// The claim of an object that we generate for `parent`: its UUID is derived, so the object may
    /// be deleted and generated again and is the same claim. Those of one name in two namespaces are
    /// two.
    pub fn derived(
        parent: &Claim,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Self, InputError> {
        let uuid = Uuid::new_v5(
            &parent.uuid,
            format!("{kind}\n{namespace}\n{name}").as_bytes(),
        );
        Self::with_uuid(kind, namespace, name, uuid)
    }

    /// The claim of an edge between members (a peering): neither member's, whoever is seen first.
    pub fn edge(
        members: &[&Claim],
        kind: &str,
        namespace: &str,
        mesh: &str,
    ) -> Result<Self, InputError> {
        let mut uuids: Vec<Uuid> = members.iter().map(|m| m.uuid).collect();
        uuids.sort_unstable();
        let seed: Vec<u8> = uuids.iter().flat_map(|u| *u.as_bytes()).collect();
        let root = Uuid::new_v5(&Uuid::NAMESPACE_OID, &seed);
        Self::with_uuid(kind, namespace, mesh, Uuid::new_v5(&root, mesh.as_bytes()))
    }

    /// A claim whose object is gone: only its marks tell of it.
    ///
    /// # Errors
    /// `kind` is not of the form `Kind.group`.
    pub fn gone(kind: &str, name: &str, hash: &ClaimHash) -> Result<Self, InputError> {
        check_kind(kind)?;
        Ok(Self {
            kind: kind.into(),
            namespace: "".into(),
            name: name.into(),
            uuid: Uuid::nil(),
            hash: hash.clone(),
        })
    }

    fn with_uuid(kind: &str, namespace: &str, name: &str, uuid: Uuid) -> Result<Self, InputError> {
        check_kind(kind)?;
        if !namespace.is_empty() {
            input::namespace("metadata.namespace", namespace)?;
        }
        input::object_name("metadata.name", name)?;
        let seed = format!("{kind}\n{namespace}\n{name}");
        let hash = Uuid::new_v5(&uuid, seed.as_bytes()).simple().to_string();
        Ok(Self {
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
            uuid,
            hash: ClaimHash(hash.into()),
        })
    }

    /// API kind and group, for example `Cluster.kubermatic.k8c.io`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The namespace; empty for objects that live in the whole cluster.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The object's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The pinned UUID.
    pub fn uuid(&self) -> &Uuid {
        &self.uuid
    }

    /// What goes into marks.
    pub fn hash(&self) -> &ClaimHash {
        &self.hash
    }
}

/// How long a UUID with its hyphens is; the other spellings have other lengths.
const HYPHENATED: usize = 36;

/// `Kind.group`: a word of letters and digits, and a group of at least one label.
fn check_kind(kind: &str) -> Result<(), InputError> {
    let field = "kind";
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    input::check(field, kind, 253, legal, "letters, digits, '-' and '.'")?;
    let well_formed = kind.split_once('.').is_some_and(|(word, group)| {
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && !word.contains('-')
            && input::object_name(field, group).is_ok()
    });
    if well_formed {
        return Ok(());
    }
    let rule = "must have the form Kind.group, such as Cluster.kubermatic.k8c.io";
    Err(InputError::new(field, kind, rule))
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.split('.').next().unwrap_or(&self.kind);
        if self.namespace.is_empty() {
            write!(f, "{kind} {}", self.name)
        } else {
            write!(f, "{kind} {}/{}", self.namespace, self.name)
        }
    }
}

impl ClaimHash {
    /// How many characters a hash has.
    pub const LEN: usize = 32;

    /// Reads a hash back from a mark; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |c: u8| matches!(c, b'0'..=b'9' | b'a'..=b'f');
        (text.len() == Self::LEN && text.bytes().all(hex)).then(|| Self(text.into()))
    }

    /// The 32 characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Holder {
    const LEN: usize = 10;

    /// The holder for the management cluster whose `kube-system` namespace has this uid.
    pub fn of_cluster(kube_system_uid: &str) -> Self {
        let hash = Uuid::new_v5(&Uuid::NAMESPACE_OID, kube_system_uid.as_bytes());
        Self(hash.simple().to_string()[..Self::LEN].into())
    }

    /// Reads a holder back from a mark, or from what a person typed after `take-over --from`.
    pub fn parse(text: &str) -> Result<Self, InputError> {
        let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        input::check("holder", text, Self::LEN, hex, "digits and a-f")?;
        if text.len() != Self::LEN {
            return Err(InputError::new("holder", text, "must have 10 characters"));
        }
        Ok(Self(text.into()))
    }

    /// The ten characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

macro_rules! show_as_text {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}
show_as_text!(ClaimHash, Holder);
