//! Remembered parts, for inner Kinds that no listing shows.

use std::collections::BTreeMap;

use ownership::part::InnerPart;
use ownership::query::InnerAnswer;
use ownership::{Kind, ResourceId};

/// The parts inside one Kind's resources, as last read.
#[derive(Debug, Default)]
pub(super) struct Insides {
    known: BTreeMap<(ResourceId, &'static str), Known>,
    reads: u64,
}

#[derive(Debug)]
struct Known {
    parts: Vec<InnerPart>,
    /// Which read it was.
    read: u64,
}

/// Whether a Kind has parts that no listing shows.
pub(super) fn has_unlisted(kind: &Kind) -> bool {
    kind.inner.iter().any(|inner| !inner.is_listed)
}

/// Whether these parts are such.
pub(super) fn is_unlisted(kind: &Kind, inner: &str) -> bool {
    kind.inner(inner).is_some_and(|inner| !inner.is_listed)
}

impl Insides {
    /// Takes in what a read showed inside a resource.
    pub(super) fn remember(&mut self, told: &InnerAnswer) {
        if !is_unlisted(told.of.kind, told.inner) {
            return;
        }
        self.reads += 1;
        let (parts, read) = (told.parts.clone(), self.reads);
        let place = (told.of.id.clone(), told.inner);
        self.known.insert(place, Known { parts, read });
    }

    pub(super) fn forget(&mut self, id: &ResourceId) {
        self.known.retain(|(of, _), _| of != id);
    }

    /// Forgets what was inside of resources that are not there any more.
    pub(super) fn keep(&mut self, is_there: impl Fn(&ResourceId) -> bool) {
        self.known.retain(|(of, _), _| is_there(of));
    }

    /// What was read before everything else.
    pub(super) fn oldest(&self) -> Option<(ResourceId, &'static str)> {
        let oldest = self.known.iter().min_by_key(|(_, known)| known.read);
        oldest.map(|(place, _)| place.clone())
    }

    /// The parts inside a resource; `None` if they are not known.
    pub(super) fn parts(&self, id: &ResourceId, inner: &'static str) -> Option<Vec<InnerPart>> {
        let known = self.known.get(&(id.clone(), inner));
        known.map(|known| known.parts.clone())
    }
}
