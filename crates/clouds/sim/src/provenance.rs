//! Hidden provenance: who really made, marked, changed and destroyed each part.
//!
//! No read of the cloud shows any of this. It is what the oracle judges by: marks can lie, be lost or
//! be copied; this cannot.

use std::sync::Arc;

use ownership::part::{InnerPart, Resource};
use ownership::secret::Secrets;
use ownership::time::Tick;
use ownership::{SlotName, Target, Text};

/// Who did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// An engine; the number tells the claims of a run apart.
    Engine(u8),
    /// Somebody else with access to the account.
    Stranger,
    /// The cloud itself: default VPC, main route tables, default groups.
    Cloud,
}

/// The life of one resource.
#[derive(Clone, Debug)]
pub struct Life {
    /// The resource.
    pub target: Target,
    /// Its name.
    pub name: Text,
    /// Who created it.
    pub by: Actor,
    /// For which slot, if an engine did.
    pub slot: Option<SlotName>,
    /// At which attempt; 0 if no engine did.
    pub attempt: u32,
    /// When.
    pub born: Tick,
    /// The secrets that it was sent: no read shows them.
    pub secrets: Secrets,
    /// Its end, if it is not alive.
    pub end: Option<End>,
    /// Who wrote each of its tags: those that it has, or had when it ended.
    pub tags: Vec<TagFact>,
    /// Who added each part inside it: those that it has, or had when it ended.
    pub inner: Vec<InnerFact>,
}

/// The end of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Who deleted it.
    pub by: Actor,
    /// When.
    pub at: Tick,
}

/// Who wrote a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagFact {
    /// The key.
    pub key: Text,
    /// The value.
    pub value: Text,
    /// Who wrote this value first; writing the same value again changes nothing.
    pub by: Actor,
    /// The value that it replaced, and who had written that.
    pub replaced: Option<(Text, Actor)>,
}

/// Who added a part inside a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerFact {
    /// The inner Kind's name.
    pub inner: &'static str,
    /// The part's key.
    pub key: Text,
    /// Who added it, or gave it its present content.
    pub by: Actor,
    /// The content that it replaced, and who had written that.
    pub replaced: Option<(Text, Actor)>,
    /// The keys of tags that it got since, and when each was written last.
    pub tagged: Vec<(Text, Tick)>,
}

/// A destructive effect: something that was there is gone or different.
#[derive(Clone, Debug)]
pub struct Deed {
    /// When.
    pub at: Tick,
    /// Who did it.
    pub by: Actor,
    /// The resource as it was just before, marks included.
    pub victim: Arc<Resource>,
    /// Who had created that resource.
    pub made_by: Actor,
    /// For which slot, if an engine had.
    pub slot: Option<SlotName>,
    /// What was done to it.
    pub harm: Harm,
}

/// What was done to a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Harm {
    /// It was deleted, with everything inside it.
    Deleted,
    /// A create over its name overwrote it.
    Overwritten,
    /// A property was changed.
    Changed {
        /// The property.
        prop: &'static str,
        /// Its value before.
        from: Option<Text>,
        /// Its value since.
        to: Text,
    },
    /// A tag got another value.
    TagOverwritten {
        /// The tag as it was.
        was: TagFact,
        /// Its value since.
        to: Text,
    },
    /// A tag was removed.
    TagRemoved {
        /// The tag as it was.
        was: TagFact,
    },
    /// A part inside it got another content.
    InnerOverwritten {
        /// Its provenance.
        was: InnerFact,
        /// The part as it was.
        part: InnerPart,
    },
    /// A part inside it was removed.
    InnerRemoved {
        /// Its provenance.
        was: InnerFact,
        /// The part as it was.
        part: InnerPart,
    },
}

impl Life {
    /// Whether it is still there.
    pub fn is_alive(&self) -> bool {
        self.end.is_none()
    }

    /// Who wrote the tag of that key and value.
    pub fn tag(&self, key: &str, value: &str) -> Option<&TagFact> {
        self.tags
            .iter()
            .find(|fact| &*fact.key == key && &*fact.value == value)
    }

    /// Who added that part.
    pub fn inner(&self, inner: &str, key: &str) -> Option<&InnerFact> {
        self.inner
            .iter()
            .find(|fact| fact.inner == inner && &*fact.key == key)
    }
}
