//! Blueprints: the slots of a claim with their wishes and dependencies.

mod check;
mod expr;
mod scope;

use std::collections::BTreeMap;
use std::fmt;

use crate::input::{self, Field, InputError};
use crate::kind::{BirthProof, Kind, Naming};
use crate::place::{KindAt, Place};
use crate::query::Target;
use crate::secret::Secrets;
use crate::text::{ResourceId, Text};

pub use expr::{Empty, Expr, Fills, Ids, Reference, resolve_props};
pub use scope::{Asked, Family, Scope};

/// The name of a slot: one part that a claim needs ("security-group", "subnet-b").
///
/// It goes into marks, so it obeys the narrowest carrier: at most 40 of a–z, 0–9 and `-`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotName(Text);

impl SlotName {
    /// The longest name of a slot.
    pub const LONGEST: usize = 40;

    /// Checks and wraps a slot's name.
    ///
    /// # Errors
    /// The rule that the name breaks.
    pub fn new(name: &str) -> Result<Self, InputError> {
        let alphabet = "lower-case letters, digits and '-'";
        input::check("slot", name, Self::LONGEST, input::is_label_char, alphabet)?;
        Ok(Self(name.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is wanted of one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The slot's name, unique in its blueprint.
    pub name: SlotName,
    /// The Kind that fills it.
    pub kind: &'static Kind,
    /// Where. A slot does not move: what is wanted elsewhere is another slot.
    pub place: Place,
    /// Where the resource comes from.
    pub source: Source,
    /// What the resource is called; empty for Kinds without names.
    pub label: Text,
    /// Its properties.
    pub props: Vec<(&'static str, Expr)>,
    /// Its secret properties.
    pub secrets: Secrets,
    /// The parts inside it.
    pub inner: Vec<InnerWish>,
    /// The inner Kinds that converge in both directions on a resource we own: what is not wished
    /// for is removed.
    pub exclusive: Vec<&'static str>,
    /// Whether the resource gets the dialect's cluster mark.
    pub cluster_mark: bool,
    /// The user's own tags for it.
    pub user_tags: Vec<(Text, Text)>,
    /// CAPA's role of this resource.
    pub role: Option<Text>,
    /// Slots that must be filled first although no property refers to them.
    pub after: Vec<SlotName>,
    /// The slot is wanted only for a resource of ours: while that slot is filled with somebody
    /// else's, this one stays empty, and wishes that refer to it are dropped.
    pub only_for: Option<SlotName>,
    /// The field in which the object names its resource, as its author knows it.
    pub field: Option<Field>,
}

/// Where the resource of a slot comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Ours: found by recorded id, marks, then name; created if there is none.
    ///
    /// An id that the user wrote is a wish of its own; `if_missing` says what its absence means.
    Own {
        /// What to do when the id that the user wrote does not exist.
        if_missing: IfMissing,
    },
    /// Somebody's: the recorded id, else whatever has these properties and tags, and the slot's label as
    /// its name where that is not empty. Never created or deleted.
    Find {
        /// The properties to find it by.
        by: Vec<(&'static str, Expr)>,
        /// The tags to find it by, as its owner wrote them.
        tags: Vec<(Text, Expr)>,
        /// Whether all that match belong to the slot (the subnets of a network), or just one: then two
        /// are a finding.
        all: bool,
    },
}

/// What the absence of an id that the user wrote means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMissing {
    /// An error, never a create (law 6).
    Refuse,
    /// The served API says to create one (KKP's group, role and profile).
    Create,
}

/// A part wanted inside a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerWish {
    /// Its inner Kind's name.
    pub kind: &'static str,
    /// What identifies it within the resource.
    pub key: Expr,
    /// What it says.
    pub value: Expr,
}

/// The slots of a claim, in dependency order.
///
/// # Guarantees
/// It is a DAG: every dependency stands before its dependents, and every reference is to a slot of
/// this blueprint. Parts inside resources may refer to each other in a circle (two groups that let
/// each other in): the resources come first, then the parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blueprint {
    slots: Vec<Slot>,
    scope: Scope,
}

/// Why slots do not make a blueprint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlueprintError {
    /// Two slots have one name.
    #[error("slot {0}: the name is used twice")]
    Duplicate(SlotName),
    /// A slot depends on one that is not there.
    #[error("slot {slot}: depends on {missing}, which is not in the blueprint")]
    Unknown {
        /// The slot.
        slot: SlotName,
        /// What it depends on.
        missing: SlotName,
    },
    /// Slots depend on each other.
    #[error("slots depend on each other in a circle: {}", circle(.0))]
    Cycle(Vec<SlotName>),
    /// A wish that its Kind does not know.
    #[error("slot {slot}: {field}: {kind} has no {what} {name:?}")]
    Undeclared {
        /// The slot.
        slot: SlotName,
        /// Where in the slot it stands.
        field: &'static str,
        /// Its Kind.
        kind: &'static str,
        /// "property" or "inner part".
        what: &'static str,
        /// The unknown name.
        name: &'static str,
    },
    /// A secret where none belongs, or something else in the place of a secret.
    #[error("slot {slot}: {field}: {name:?} of {kind} {rule}")]
    Secrecy {
        /// The slot.
        slot: SlotName,
        /// Where in the slot it stands.
        field: &'static str,
        /// The Kind of the property.
        kind: &'static str,
        /// The property.
        name: &'static str,
        /// The broken rule, and what to do.
        rule: &'static str,
    },
    /// A wish that stands there twice.
    #[error("slot {slot}: {field}: {name:?} must not be wished for twice")]
    Twice {
        /// The slot.
        slot: SlotName,
        /// Where in the slot it stands.
        field: &'static str,
        /// The property, or the key of the inner part.
        name: Text,
    },
    /// A name that is missing, or tags that the Kind's carrier does not accept beside our marks.
    #[error("slot {slot}: {source}")]
    Input {
        /// The slot.
        slot: SlotName,
        /// The broken rule.
        source: InputError,
    },
}

fn circle(names: &[SlotName]) -> String {
    names
        .iter()
        .map(SlotName::as_str)
        .collect::<Vec<_>>()
        .join(" → ")
}

impl Blueprint {
    /// Sorts slots into dependency order; slots that do not depend on each other keep theirs. What they
    /// are called becomes what their Kinds' names may be.
    ///
    /// # Errors
    /// The first rule that the slots break, by slot.
    pub fn new(slots: Vec<Slot>) -> Result<Self, BlueprintError> {
        let mut index = BTreeMap::new();
        for (at, slot) in slots.iter().enumerate() {
            if index.insert(slot.name.clone(), at).is_some() {
                return Err(BlueprintError::Duplicate(slot.name.clone()));
            }
            slot.check()?;
        }
        let mut order = Order::default();
        for slot in &slots {
            let at = |name: &SlotName| {
                index.get(name).copied().ok_or(BlueprintError::Unknown {
                    slot: slot.name.clone(),
                    missing: name.clone(),
                })
            };
            for (name, prop) in slot.references() {
                slot.check_reference(&slots[at(name)?], prop)?;
            }
            slot.only_for
                .iter()
                .try_for_each(|name| at(name).map(drop))?;
            order
                .before
                .push(slot.dependencies().map(at).collect::<Result<_, _>>()?);
            order.rather.push(
                slot.inner_dependencies()
                    .map(at)
                    .collect::<Result<_, _>>()?,
            );
        }
        let order = order.sort().map_err(|circle| {
            BlueprintError::Cycle(
                circle
                    .into_iter()
                    .map(|at| slots[at].name.clone())
                    .collect(),
            )
        })?;
        let mut taken: Vec<Option<Slot>> =
            slots.into_iter().map(|slot| Some(slot.named())).collect();
        let slots = order
            .into_iter()
            .filter_map(|at| taken[at].take())
            .collect();
        Ok(Self {
            slots,
            scope: Scope::default(),
        })
    }

    /// The same, where resources of ours hold nothing but what is wished for: what others put there
    /// is removed.
    #[must_use]
    pub fn exclusive(mut self) -> Self {
        for slot in self.slots.iter_mut().filter(|slot| slot.is_own()) {
            slot.exclusive = slot.kind.inner.iter().map(|inner| inner.name).collect();
        }
        self
    }

    /// The same, with other names for what is created; names are fitted.
    #[must_use]
    pub fn labelled(mut self, label: impl Fn(&Slot) -> Option<Text>) -> Self {
        for slot in &mut self.slots {
            if let Some(label) = label(slot) {
                slot.label = label;
                *slot = slot.clone().named();
            }
        }
        self
    }

    /// The slots, dependencies first; reversed, the order of deletion.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The slot of that name.
    pub fn slot(&self, name: &SlotName) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.name == *name)
    }

    /// Where a slot stands in dependency order; what is not in the blueprint stands last, so that
    /// deletion takes it first.
    pub fn rank(&self, name: &SlotName) -> usize {
        self.slots
            .iter()
            .position(|slot| slot.name == *name)
            .unwrap_or(self.slots.len())
    }
}

/// What stands before what, by index.
#[derive(Default)]
struct Order {
    /// What must stand before each.
    before: Vec<Vec<usize>>,
    /// What should, where that makes no circle.
    rather: Vec<Vec<usize>>,
}

impl Order {
    /// Dependency order (Kahn's algorithm, stable); or the indices of a circle.
    fn sort(&self) -> Result<Vec<usize>, Vec<usize>> {
        let count = self.before.len();
        let mut order = Vec::with_capacity(count);
        let mut done = vec![false; count];
        while order.len() < count {
            let met = |needs: &[Vec<usize>], at: usize| needs[at].iter().all(|need| done[*need]);
            let open = || (0..count).filter(|at| !done[*at] && met(&self.before, *at));
            let next = open().find(|at| met(&self.rather, *at));
            let Some(at) = next.or_else(|| open().next()) else {
                return Err(find_circle(&self.before, &done));
            };
            done[at] = true;
            order.push(at);
        }
        Ok(order)
    }
}

/// Walks unmet dependencies until one is met again.
fn find_circle(before: &[Vec<usize>], done: &[bool]) -> Vec<usize> {
    let mut path: Vec<usize> = (0..before.len())
        .find(|at| !done[*at])
        .into_iter()
        .collect();
    while let Some(next) = path
        .last()
        .and_then(|at| before[*at].iter().copied().find(|b| !done[*b]))
    {
        if let Some(from) = path.iter().position(|at| *at == next) {
            path.drain(..from);
            path.push(next);
            break;
        }
        path.push(next);
    }
    path
}

impl Slot {
    /// A slot that is created if it is not there, with nothing inside it.
    pub fn own(name: SlotName, kind: &'static Kind, label: impl Into<Text>) -> Self {
        Self {
            name,
            kind,
            place: Place::HOME,
            source: Source::Own {
                if_missing: IfMissing::Refuse,
            },
            label: label.into(),
            props: Vec::new(),
            secrets: Secrets::new(),
            inner: Vec::new(),
            exclusive: Vec::new(),
            cluster_mark: false,
            user_tags: Vec::new(),
            role: None,
            after: Vec::new(),
            only_for: None,
            field: None,
        }
    }

    /// A slot that is only looked up.
    pub fn find(name: SlotName, kind: &'static Kind, by: Vec<(&'static str, Expr)>) -> Self {
        Self {
            source: Source::Find {
                by,
                tags: Vec::new(),
                all: false,
            },
            ..Self::own(name, kind, "")
        }
    }

    /// The same, called what its Kind's names may be. Where a nonce belongs to the name, that is seen
    /// to when it is made.
    fn named(mut self) -> Self {
        if self.is_own() && self.kind.naming != Naming::Free && self.kind.birth != BirthProof::Nonce
        {
            self.label = self.kind.names.fit(&self.label);
        }
        self
    }

    /// The same, in another place.
    #[must_use]
    pub fn at(self, place: &Place) -> Self {
        let place = place.clone();
        Self { place, ..self }
    }

    /// The Kind and the place of what fills it.
    pub fn kind_at(&self) -> KindAt {
        KindAt {
            kind: self.kind,
            place: self.place.clone(),
        }
    }

    /// Whether such a resource can fill it.
    pub fn holds(&self, target: &Target) -> bool {
        target.kind == self.kind && target.place == self.place
    }

    /// What fills it, by its id.
    pub fn target(&self, id: ResourceId) -> Target {
        Target::at(&self.place, self.kind, id)
    }

    /// Whether its resource is ours to create.
    pub fn is_own(&self) -> bool {
        matches!(self.source, Source::Own { .. })
    }

    /// The slots that must be filled before this one.
    pub fn dependencies(&self) -> impl Iterator<Item = &SlotName> {
        self.prop_references()
            .map(|(slot, _)| slot)
            .chain(&self.after)
    }

    /// The slots that must be filled before all parts can be inside its resource.
    pub fn inner_dependencies(&self) -> impl Iterator<Item = &SlotName> {
        let parts = self.inner.iter();
        parts
            .flat_map(InnerWish::references)
            .map(|(slot, _)| slot)
            .filter(|slot| **slot != self.name)
    }

    /// Every slot that it refers to, with the property where it is one.
    fn references(&self) -> impl Iterator<Item = Reference<'_>> {
        let parts = self.inner.iter().flat_map(InnerWish::references);
        self.prop_references().chain(parts)
    }

    fn prop_references(&self) -> impl Iterator<Item = Reference<'_>> {
        let (by, tags) = match &self.source {
            Source::Find { by, tags, .. } => (by.as_slice(), tags.as_slice()),
            Source::Own { .. } => (&[] as &[_], &[] as &[_]),
        };
        let props = self.props.iter().chain(by).map(|(_, expr)| expr);
        let tags = tags.iter().map(|(_, expr)| expr);
        props.chain(tags).flat_map(Expr::references)
    }
}

impl InnerWish {
    /// The slots that it refers to, with the property where it is one.
    pub fn references(&self) -> impl Iterator<Item = Reference<'_>> {
        let key = self.key.references().into_iter();
        key.chain(self.value.references())
    }

    /// Whether it refers to that slot.
    pub fn refers_to(&self, slot: &SlotName) -> bool {
        self.references().any(|(name, _)| name == slot)
    }
}

impl fmt::Display for SlotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SlotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
