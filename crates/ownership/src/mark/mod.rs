//! Marks: what says whose a part is.
//!
//! ```text
//! claim, slot, attempt, holder ──► OwnershipMark ──► key and value ──► Carrier ──► tags of a resource
//! served system's names        ──► Dialect       ──► its own tags  ──►    "
//! ```
//!
//! Freehold's own mark has the claim in the **key**, so that marks of two claims can stand beside
//! each other and both be seen; one value could name only one.

mod carrier;
mod dialect;
mod tags;

pub use carrier::{Carrier, is_label_text};
pub use dialect::{Dialect, Named, Reading, Unmarked, named};
pub use tags::Tags;

use crate::blueprint::SlotName;
use crate::claim::{ClaimHash, Holder};
use crate::input::InputError;
use crate::kind::{InnerKind, InnerProof};
use crate::part::InnerPart;
use crate::text::Text;

const DOMAIN: &str = "freehold.dev/";

/// The most tags that marks take on one resource: Freehold's own and a dialect's, ownership mark and
/// cluster mark together. Marks that name parts come on top.
pub const MOST_MARKS: usize = 5;

/// Freehold's ownership mark: this part was created by us, for this claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnershipMark {
    /// The claim.
    pub claim: ClaimHash,
    /// Which of the claim's slots it fills.
    pub slot: SlotName,
    /// Which attempt to fill the slot made it; 0 for parts inside a resource.
    pub attempt: u32,
    /// The management cluster that holds the claim.
    pub holder: Holder,
    /// How often the claim was taken over by then: a take-over raises it.
    pub generation: u32,
}

impl OwnershipMark {
    /// The tag to write.
    ///
    /// # Errors
    /// None for legal slots and holders: the longest mark fits every carrier (see the tests). The
    /// carrier is asked all the same.
    pub fn encode(&self, carrier: Carrier) -> Result<(Text, Text), InputError> {
        let key = claim_key(carrier, &self.claim);
        let value = self.value();
        carrier.check(&key, &value)?;
        Ok((key, value))
    }

    /// What the tag says. A claim that was never taken over has no generation in it: so it was
    /// before there were any.
    pub(crate) fn value(&self) -> Text {
        let (slot, attempt, holder) = (&self.slot, self.attempt, &self.holder);
        match self.generation {
            0 => format!("{slot}_{attempt}_{holder}").into(),
            generation => format!("{slot}_{attempt}_{holder}_{generation}").into(),
        }
    }

    /// Reads a tag; `None` if it is not an ownership mark of Freehold's.
    pub fn decode(carrier: Carrier, key: &str, value: &str) -> Option<Self> {
        let claim = ClaimHash::parse(key.strip_prefix(claim_prefix(carrier))?)?;
        Self::of(claim, value)
    }

    fn of(claim: ClaimHash, value: &str) -> Option<Self> {
        // None of them has a `_` in it.
        let mut words = value.split('_');
        let slot = SlotName::new(words.next()?).ok()?;
        let attempt = number(words.next()?)?;
        let holder = Holder::parse(words.next()?).ok()?;
        let generation = match words.next() {
            None => 0,
            Some(text) => number(text).filter(|generation| *generation > 0)?,
        };
        words.next().is_none().then_some(Self {
            claim,
            slot,
            attempt,
            holder,
            generation,
        })
    }

    /// Every ownership mark of Freehold's among `tags`, whosever it is.
    pub fn all(carrier: Carrier, tags: &Tags) -> impl Iterator<Item = Self> {
        tags.with_prefix(claim_prefix(carrier))
            .filter_map(move |(k, v)| Self::decode(carrier, k, v))
    }
}

/// A number, spelled as we spell them.
fn number(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|digit| digit.is_ascii_digit());
    let spelled = digits && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| spelled)
}

/// The rule that `key` breaks as a user's tag, if it could be taken for a mark: Freehold's, or one of
/// any dialect's. Case does not matter, because one carrier does not keep it.
pub fn reserved(carrier: Carrier, key: &str) -> Option<String> {
    let key = key.to_lowercase();
    std::iter::once(DOMAIN)
        .chain(dialect::KEYS)
        .find_map(|mark| {
            let written = carrier.encode_key(mark);
            let (taken, how) = if mark.ends_with('/') {
                (key.starts_with(&*written), "begin with")
            } else {
                (key == written, "be")
            };
            taken.then(|| format!("must not {how} {written:?}, which is kept for marks"))
        })
}

/// The key under which every part of a claim is marked: what a look-up by marks asks for.
pub fn claim_key(carrier: Carrier, claim: &ClaimHash) -> Text {
    format!("{}{claim}", claim_prefix(carrier)).into()
}

/// The key of a mark on a parent that names a part which cannot carry a mark of its own.
///
/// It says nothing about the parent itself.
pub fn part_key(carrier: Carrier, claim: &ClaimHash, inner_kind: &str, key: &str) -> Text {
    let digest = part_digest(inner_kind, key);
    format!("{}{digest}", part_prefix(carrier, claim)).into()
}

/// Whether a tag's key is that of a mark, of whichever claim, which names this part.
pub fn names_part(carrier: Carrier, tag: &str, inner_kind: &str, key: &str) -> bool {
    tag.starts_with(parts_prefix(carrier)) && tag.ends_with(&part_digest(inner_kind, key))
}

/// Every mark among `tags` that names a part of the resource, whosever it is: whose the part is.
pub fn part_marks(carrier: Carrier, tags: &Tags) -> impl Iterator<Item = OwnershipMark> {
    let prefix = parts_prefix(carrier);
    tags.with_prefix(prefix).filter_map(move |(key, value)| {
        let claim = key[prefix.len()..].get(..ClaimHash::LEN)?;
        OwnershipMark::of(ClaimHash::parse(claim)?, value)
    })
}

/// The claims whose marks say that a part inside a resource is theirs: its own, or the resource's that
/// name it.
pub fn claims_on_part(
    carrier: Carrier,
    parent: &Tags,
    inner: &InnerKind,
    part: &InnerPart,
) -> Vec<ClaimHash> {
    let marks: Vec<OwnershipMark> = match inner.proof {
        InnerProof::OwnMark => OwnershipMark::all(carrier, &part.tags).collect(),
        InnerProof::ParentMark => {
            let names = |(key, _): &&(Text, Text)| names_part(carrier, key, inner.name, &part.key);
            let named: Tags = parent.iter().filter(names).cloned().collect();
            part_marks(carrier, &named).collect()
        }
    };
    marks.into_iter().map(|mark| mark.claim).collect()
}

fn part_digest(inner_kind: &str, key: &str) -> String {
    let digest = uuid::Uuid::new_v5(
        &uuid::Uuid::NAMESPACE_OID,
        format!("{inner_kind}\n{key}").as_bytes(),
    );
    digest.simple().to_string()[..12].to_owned()
}

/// How the keys of all marks begin that name parts of a claim.
pub fn part_prefix(carrier: Carrier, claim: &ClaimHash) -> String {
    let end = if carrier == Carrier::AwsTags {
        '/'
    } else {
        '_'
    };
    format!("{}{claim}{end}", parts_prefix(carrier))
}

/// How the keys of all marks begin that name parts.
const fn parts_prefix(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::AwsTags => "freehold.dev/part/",
        Carrier::IbmTags | Carrier::AzureTags => "freehold.dev_part_",
        Carrier::GcpLabels => "freehold_dev_part_",
        Carrier::KubeMetadata => "freehold.dev/part_",
    }
}

const fn claim_prefix(carrier: Carrier) -> &'static str {
    match carrier {
        Carrier::AwsTags | Carrier::KubeMetadata => DOMAIN,
        Carrier::IbmTags | Carrier::AzureTags => "freehold.dev_",
        Carrier::GcpLabels => "freehold_dev_",
    }
}
