//! Remembered marks, for Kinds whose listing shows none.

use std::collections::BTreeMap;
use std::sync::Arc;

use ownership::mark::Tags;
use ownership::part::Resource;
use ownership::time::CloudTime;
use ownership::{ResourceId, Text};

/// The marks of one Kind's resources, each as last read.
#[derive(Debug, Default)]
pub(super) struct Marks {
    known: BTreeMap<ResourceId, Known>,
    reads: u64,
}

#[derive(Debug)]
struct Known {
    /// Another resource of this id, made since, is not the one whose marks these are.
    created: Option<CloudTime>,
    unique: Option<Text>,
    tags: Tags,
    /// Which read it was.
    read: u64,
}

impl Marks {
    /// Takes in what a read of the resource itself showed.
    pub(super) fn remember(&mut self, resource: &Resource) {
        self.reads += 1;
        let known = Known {
            created: resource.created,
            unique: resource.unique.clone(),
            tags: resource.tags.clone(),
            read: self.reads,
        };
        self.known.insert(resource.id.clone(), known);
    }

    pub(super) fn forget(&mut self, id: &ResourceId) {
        self.known.remove(id);
    }

    /// Forgets the marks of resources that are not there any more.
    pub(super) fn keep(&mut self, is_there: impl Fn(&ResourceId) -> bool) {
        self.known.retain(|id, _| is_there(id));
    }

    /// The resource whose marks were read before all others'.
    pub(super) fn oldest(&self) -> Option<ResourceId> {
        let oldest = self.known.iter().min_by_key(|(_, known)| known.read);
        oldest.map(|(id, _)| id.clone())
    }

    /// A listed resource with its marks; `None` if they are not known.
    pub(super) fn complete(&self, listed: &Resource) -> Option<Arc<Resource>> {
        let known = self.known.get(&listed.id)?;
        let same = match (&known.unique, &listed.unique) {
            (Some(known), Some(listed)) => known == listed,
            _ => known.created == listed.created,
        };
        same.then(|| {
            let tags = known.tags.clone();
            Arc::new(Resource {
                tags,
                ..listed.clone()
            })
        })
    }
}
