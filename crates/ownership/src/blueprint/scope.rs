//! What a blueprint says of slots that are not in it: which of them it has given up, and which it never
//! knew.

use super::{Blueprint, SlotName};
use crate::kind::Kind;

/// A sort of slots that a blueprint can have: one name, or all that begin with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// The name (`vpc`), or how names begin (`subnet-`).
    pub name: &'static str,
    /// What decides whether such a slot is wanted.
    pub asked: Asked,
}

/// What decides whether a slot is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The object itself: what is not in it any more, a person does not want.
    BySpec,
    /// What was asked for besides (other objects): it may be away for a while. What holds data is not
    /// ended for that.
    ByFacts,
}

/// What a blueprint may end of what it does not want.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    families: &'static [Family],
    revision: u32,
    is_partial: bool,
}

/// What controllers inside a cluster make in a resource of its claim, and leave there when it ends
/// (decision 19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The Kind.
    pub kind: &'static Kind,
    /// The property that names what it lies in.
    pub within: &'static str,
    /// The slot of what it lies in.
    pub slot: &'static str,
}

impl Blueprint {
    /// The same, where controllers inside the cluster may leave these behind: they go in this order, before
    /// anything of ours.
    #[must_use]
    pub fn leaving(mut self, leftovers: &'static [Leftover]) -> Self {
        self.leftovers = leftovers;
        self
    }

    /// What controllers inside the cluster may leave behind.
    pub fn leftovers(&self) -> &'static [Leftover] {
        self.leftovers
    }

    /// The same, which ends what the ledger knows of these families and the slots do not want.
    ///
    /// The revision rises when a family comes or goes: a build that is older than a ledger ends nothing.
    #[must_use]
    pub fn within(mut self, families: &'static [Family], revision: u32) -> Self {
        self.scope.families = families;
        self.scope.revision = revision;
        self
    }

    /// The same, of which something could not be computed: it ends nothing.
    #[must_use]
    pub fn partial(mut self) -> Self {
        self.scope.is_partial = true;
        self
    }

    /// Whether it ends anything.
    pub fn shrinks(&self) -> bool {
        !self.scope.families.is_empty()
    }

    /// Whether something of it could not be computed.
    pub fn is_partial(&self) -> bool {
        self.scope.is_partial
    }

    /// The revision of its families.
    pub fn revision(&self) -> u32 {
        self.scope.revision
    }

    /// The family of a slot; `None` for one that it does not know.
    pub fn family(&self, slot: &SlotName) -> Option<&'static Family> {
        let name = slot.as_str();
        self.scope.families.iter().find(|family| {
            name == family.name || (family.name.ends_with('-') && name.starts_with(family.name))
        })
    }
}
