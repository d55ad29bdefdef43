//! Blueprints: the slots of a claim with their wishes and dependencies.

mod check;

use std::collections::BTreeMap;
use std::fmt;

use crate::input::{self, Field, InputError};
use crate::kind::Kind;
use crate::part::Props;
use crate::text::{ResourceId, Text};

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
    /// Where the resource comes from.
    pub source: Source,
    /// What the resource is called; empty for Kinds without names.
    pub label: Text,
    /// Its properties.
    pub props: Vec<(&'static str, Expr)>,
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
    /// Somebody's: the recorded id, else whatever has these properties. Never created or deleted.
    Find {
        /// The properties to find it by.
        by: Vec<(&'static str, Expr)>,
        /// Whether all that match belong to the slot (the subnets of a network), or just one.
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

/// A value of a wish: known, or the resource of another slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// The value itself, canonical.
    Text(Text),
    /// The id of the resource in that slot.
    Slot(SlotName),
}

/// A part wanted inside a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerWish {
    /// Its inner Kind's name.
    pub kind: &'static str,
    /// What identifies it within the resource.
    pub key: Expr,
    /// What it says.
    pub value: Text,
}

/// The slots of a claim, in dependency order.
///
/// # Guarantees
/// It is a DAG: every dependency stands before its dependents, and every reference is to a slot of
/// this blueprint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blueprint {
    slots: Vec<Slot>,
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
    /// Sorts slots into dependency order; slots that do not depend on each other keep theirs.
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
        let mut before: Vec<Vec<usize>> = Vec::with_capacity(slots.len());
        for slot in &slots {
            let mut needs = Vec::new();
            for name in slot.dependencies() {
                let at = index.get(name).ok_or_else(|| BlueprintError::Unknown {
                    slot: slot.name.clone(),
                    missing: name.clone(),
                })?;
                needs.push(*at);
            }
            if let Some(name) = slot
                .only_for
                .as_ref()
                .filter(|name| !index.contains_key(*name))
            {
                return Err(BlueprintError::Unknown {
                    slot: slot.name.clone(),
                    missing: name.clone(),
                });
            }
            before.push(needs);
        }
        let order = sort(&before).map_err(|circle| {
            BlueprintError::Cycle(
                circle
                    .into_iter()
                    .map(|at| slots[at].name.clone())
                    .collect(),
            )
        })?;
        let mut taken: Vec<Option<Slot>> = slots.into_iter().map(Some).collect();
        let slots = order
            .into_iter()
            .filter_map(|at| taken[at].take())
            .collect();
        Ok(Self { slots })
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

/// Dependency order (Kahn's algorithm, stable); or the indices of a circle.
fn sort(before: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    let mut order = Vec::with_capacity(before.len());
    let mut done = vec![false; before.len()];
    while order.len() < before.len() {
        let ready = (0..before.len()).find(|at| !done[*at] && before[*at].iter().all(|b| done[*b]));
        let Some(at) = ready else {
            return Err(find_circle(before, &done));
        };
        done[at] = true;
        order.push(at);
    }
    Ok(order)
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
            source: Source::Own {
                if_missing: IfMissing::Refuse,
            },
            label: label.into(),
            props: Vec::new(),
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
            source: Source::Find { by, all: false },
            ..Self::own(name, kind, "")
        }
    }

    /// Whether its resource is ours to create.
    pub fn is_own(&self) -> bool {
        matches!(self.source, Source::Own { .. })
    }

    /// The slots that must be filled before this one.
    pub fn dependencies(&self) -> impl Iterator<Item = &SlotName> {
        let by = match &self.source {
            Source::Find { by, .. } => by.as_slice(),
            Source::Own { .. } => &[],
        };
        self.props
            .iter()
            .chain(by)
            .map(|(_, expr)| expr)
            .chain(self.inner.iter().map(|wish| &wish.key))
            .filter_map(Expr::slot)
            .chain(&self.after)
    }
}

impl Expr {
    fn slot(&self) -> Option<&SlotName> {
        match self {
            Self::Slot(name) => Some(name),
            Self::Text(_) => None,
        }
    }

    /// The value, given the ids of filled slots; `None` while the slot is empty.
    pub fn resolve(&self, id_of: &impl Fn(&SlotName) -> Option<ResourceId>) -> Option<Text> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Slot(name) => id_of(name).map(|id| id.text()),
        }
    }
}

/// Resolves a list of properties; `None` while one refers to an empty slot.
pub fn resolve_props(
    props: &[(&'static str, Expr)],
    id_of: &impl Fn(&SlotName) -> Option<ResourceId>,
) -> Option<Props> {
    props
        .iter()
        .map(|(name, expr)| Some((*name, expr.resolve(id_of)?)))
        .collect()
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
