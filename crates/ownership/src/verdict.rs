//! Verdicts: whose a resource is, as far as its marks tell.

mod left;

use std::collections::BTreeMap;

use crate::claim::{Claim, ClaimHash, Holder};
use crate::kind::{InnerKind, Kind};
use crate::mark::{self, Carrier, Dialect, OwnershipMark, Reading, Tags};
use crate::part::{InnerPart, Resource};
use crate::query::Target;
use crate::rules::Rules;
use crate::text::Text;
use crate::time::{FRESH, Tick};

pub(crate) use left::{Left, left_behind_mark};

/// Who asks: the claim, the management cluster that holds it, and the dialect it speaks.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The claim.
    pub claim: Claim,
    /// This management cluster.
    pub holder: Holder,
    /// Other management clusters whose claims this one has taken over, each up to the generation that
    /// was confirmed.
    pub taken_over: BTreeMap<Holder, u32>,
    /// The dialect, filled in for this object.
    pub dialect: Dialect,
}

/// Whose a resource is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Ours, with the proof.
    Owned(Owned),
    /// Ours to use, not to change or delete.
    Used,
    /// Somebody else's.
    Foreign(Owner),
    /// Nobody's mark is on it.
    Unmarked,
}

/// Another claim, as its marks on a resource tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherClaim {
    /// What its marks carry.
    pub hash: ClaimHash,
    /// Whom a served system's mark beside it names.
    pub object: Option<String>,
    /// Who holds it, where that is not the management cluster that asks.
    pub held_by: Option<Held>,
}

impl OtherClaim {
    /// `not` is the name of a cluster that cannot be meant: the one that asks has a mark there, too.
    fn new(
        carrier: Carrier,
        tags: &Tags,
        (hash, held_by): (ClaimHash, Option<Held>),
        not: Option<&str>,
    ) -> Self {
        let mut named = mark::named(carrier, tags).into_iter();
        let object = named.find(|named| named.owns && not != Some(named.name.as_str()));
        let object = object.map(|named| named.to_string());
        Self {
            hash,
            object,
            held_by,
        }
    }
}

impl std::fmt::Display for OtherClaim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the claim {}", self.hash)?;
        if let Some(object) = &self.object {
            write!(f, " ({object})")?;
        }
        match &self.held_by {
            Some(by) => write!(f, ", held by the management cluster {}", by.holder),
            None => Ok(()),
        }
    }
}

/// Who owns a foreign resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Another claim of Freehold's.
    Claim(OtherClaim),
    /// Both this claim and another: neither may act.
    Disputed(OtherClaim),
    /// Whoever a dialect's mark names.
    Named(String),
    /// Our own name in the dialect, without Freehold's mark: nobody can tell whose (legacy).
    Legacy,
}

/// The proof that a resource is ours: what was read and when.
///
/// There is no other way to a Step that deletes or changes a resource than through this value, and
/// no other way to this value than through [`judge`], the engine's record of its own creates, or the proof
/// that controllers inside the cluster left something behind in a resource of ours (decision 19).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    target: Target,
    proof: Proof,
    read_at: Tick,
    fresh: bool,
    held_by: Option<Held>,
}

/// Who holds a part that is not held here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The management cluster.
    pub holder: Holder,
    /// How often the claim was taken over before it came there.
    pub generation: u32,
}

/// The proof that a part inside a resource is ours to remove: what was read and when.
///
/// There is no other way to a Step that removes one. It is made by [`OwnedPart::derived`], or by the
/// engine: from a mark on the part or on its parent, or from what the ledger remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedPart {
    of: Target,
    inner: &'static str,
    part: InnerPart,
    read: ReadStamp,
}

/// What proves ownership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Its own mark.
    Mark(OwnershipMark),
    /// Our own create call returned this id in this pass.
    CreatedHere,
    /// A read shows that its name holds the nonce of a create that we announced, and that nobody has
    /// marked it.
    Nonce,
    /// Controllers inside the cluster left it behind in this resource, which is ours by its mark, and a
    /// person has asked for its end.
    LeftBehind(Target),
}

impl From<&OwnershipMark> for Held {
    fn from(mark: &OwnershipMark) -> Self {
        Self {
            holder: mark.holder.clone(),
            generation: mark.generation,
        }
    }
}

impl Verdict {
    /// Whether the other says the same, whenever each of them was read.
    pub fn agrees_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Owned(one), Self::Owned(other)) => {
                one.target == other.target
                    && one.proof == other.proof
                    && one.held_by == other.held_by
            }
            (one, other) => one == other,
        }
    }
}

impl Owned {
    pub(crate) fn created_here(target: Target, read_at: Tick) -> Self {
        Self {
            target,
            proof: Proof::CreatedHere,
            read_at,
            fresh: true,
            held_by: None,
        }
    }

    /// By the nonce in its name, as it was read.
    pub(crate) fn by_nonce(target: Target, read: ReadStamp) -> Self {
        Self {
            target,
            proof: Proof::Nonce,
            read_at: read.at,
            fresh: read.fresh,
            held_by: None,
        }
    }

    /// The resource.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// What proves it.
    pub fn proof(&self) -> &Proof {
        &self.proof
    }

    /// When it was read.
    pub fn read_at(&self) -> Tick {
        self.read_at
    }

    /// Whether the read was answered by the cloud in this pass, after our last Step on it.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// The management cluster that holds it, if it is not this one: then it is shown as owned, but
    /// neither changed nor deleted.
    pub fn held_by(&self) -> Option<&Held> {
        self.held_by.as_ref()
    }

    /// Whether a Step that changes or deletes it may be sent now.
    pub(crate) fn permits(&self, now: Tick) -> bool {
        self.held_by.is_none() && self.fresh && now - self.read_at <= FRESH
    }

    /// The mark, if a mark proves it.
    pub fn mark(&self) -> Option<&OwnershipMark> {
        match &self.proof {
            Proof::Mark(mark) => Some(mark),
            Proof::CreatedHere | Proof::Nonce | Proof::LeftBehind(_) => None,
        }
    }
}

impl OwnedPart {
    /// A part inside a resource of ours, where it was read at `read`: ours by derivation. `None` if
    /// another management cluster holds the resource.
    pub fn derived(
        owned: &Owned,
        inner: &InnerKind,
        part: InnerPart,
        read: ReadStamp,
    ) -> Option<Self> {
        let of = owned.target().clone();
        let oldest = ReadStamp {
            at: read.at.min(owned.read_at),
            fresh: read.fresh && owned.fresh,
        };
        owned
            .held_by
            .is_none()
            .then(|| Self::proved(of, inner, part, oldest))
    }

    /// A part that the engine has proved to be ours: by a mark, or by what the ledger remembers.
    pub(crate) fn proved(of: Target, inner: &InnerKind, part: InnerPart, read: ReadStamp) -> Self {
        let inner = inner.name;
        Self {
            of,
            inner,
            part,
            read,
        }
    }

    /// The resource it is in.
    pub fn of(&self) -> &Target {
        &self.of
    }

    /// Its inner Kind's name.
    pub fn inner(&self) -> &'static str {
        self.inner
    }

    /// When it was read.
    pub fn read_at(&self) -> Tick {
        self.read.at
    }

    /// Whether the read was answered by the cloud in this pass, after our last Step on it.
    pub fn is_fresh(&self) -> bool {
        self.read.fresh
    }

    pub(crate) fn into_part(self) -> InnerPart {
        self.part
    }
}

/// When and how a resource was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadStamp {
    /// When.
    pub at: Tick,
    /// Whether it still counts as fresh: from the cloud, in this pass, after our last Step on it.
    pub fresh: bool,
}

/// Judges a resource by its marks.
pub fn judge(
    rules: &dyn Rules,
    identity: &Identity,
    kind: &Kind,
    resource: &Resource,
    read: ReadStamp,
) -> Verdict {
    let marks = read_marks(rules, identity, kind, &resource.tags);
    match marks.standing() {
        Standing::Ours(mark) => {
            let holds = rules.holds(identity, &mark);
            Verdict::Owned(Owned {
                target: resource.target(),
                held_by: (!holds).then(|| Held::from(&mark)),
                proof: Proof::Mark(mark),
                read_at: read.at,
                fresh: read.fresh,
            })
        }
        Standing::Foreign(owner) => Verdict::Foreign(owner),
        Standing::Unmarked => Verdict::Unmarked,
    }
}

/// The marks on a part that matter to one claim.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    pub(crate) ours: Option<OwnershipMark>,
    pub(crate) other: Option<OtherClaim>,
    pub(crate) dialect: Reading,
}

/// What the marks on a part come to.
pub(crate) enum Standing {
    Ours(OwnershipMark),
    Foreign(Owner),
    Unmarked,
}

pub(crate) fn read_marks(
    rules: &dyn Rules,
    identity: &Identity,
    kind: &Kind,
    tags: &Tags,
) -> Marks {
    let (mut ours, mut other) = (None, None);
    for mark in OwnershipMark::all(kind.carrier, tags) {
        if rules.same_claim(identity.claim.hash(), &mark.claim) {
            ours = Some(mark);
        } else {
            let held = (!rules.holds(identity, &mark)).then(|| Held::from(&mark));
            other = Some((mark.claim, held));
        }
    }
    let own = identity.dialect.cluster_name().filter(|_| ours.is_some());
    let other = other.map(|other| OtherClaim::new(kind.carrier, tags, other, own));
    let dialect = identity.dialect.read(kind.carrier, tags);
    Marks {
        ours,
        other,
        dialect,
    }
}

impl Marks {
    pub(crate) fn standing(self) -> Standing {
        match (self.ours, self.other, self.dialect) {
            (Some(_), Some(other), _) => Standing::Foreign(Owner::Disputed(other)),
            (Some(mark), None, _) => Standing::Ours(mark),
            (None, Some(other), _) => Standing::Foreign(Owner::Claim(other)),
            (None, None, Reading::Other(name)) => Standing::Foreign(Owner::Named(name)),
            (None, None, Reading::Ours | Reading::Partly) => Standing::Foreign(Owner::Legacy),
            (None, None, Reading::None) => Standing::Unmarked,
        }
    }
}

impl Identity {
    /// The tags that make a resource of `kind` ours, for `slot` and `attempt`.
    ///
    /// # Errors
    /// A mark that the Kind's carrier cannot hold.
    pub fn ownership_tags(
        &self,
        kind: &Kind,
        slot: &crate::blueprint::Slot,
        attempt: u32,
    ) -> Result<Vec<(Text, Text)>, crate::input::InputError> {
        let own = self.mark(&slot.name, attempt);
        let mut tags = vec![own.encode(kind.carrier)?];
        let badge = kind.carrier.badge();
        tags.extend(badge.map(|(key, value)| (key.into(), value.into())));
        tags.extend(
            self.dialect
                .ownership_on(kind, slot.role.as_deref())?
                .iter()
                .cloned(),
        );
        Ok(tags)
    }

    /// The mark of a part of this claim, as it is written here and now.
    pub(crate) fn mark(&self, slot: &crate::blueprint::SlotName, attempt: u32) -> OwnershipMark {
        OwnershipMark {
            claim: self.claim.hash().clone(),
            slot: slot.clone(),
            attempt,
            holder: self.holder.clone(),
            generation: self.generation(),
        }
    }

    /// The generation of the marks that are written here: higher than any that was taken over, so
    /// that whoever held a part before sees that he does no more.
    pub fn generation(&self) -> u32 {
        let highest = self.taken_over.values().max();
        highest.map_or(0, |confirmed| confirmed.saturating_add(1))
    }

    /// Whether a mark that is held here was written by whoever held it before: a higher generation of
    /// our own than what was confirmed since stays.
    pub(crate) fn outdates(&self, mark: &OwnershipMark) -> bool {
        mark.holder != self.holder || mark.generation < self.generation()
    }

    /// The key of this claim's marks.
    pub fn key(&self, kind: &Kind) -> Text {
        mark::claim_key(kind.carrier, self.claim.hash())
    }
}

impl std::fmt::Display for Held {
    /// As `take-over --from` takes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.generation {
            0 => write!(f, "{}", self.holder),
            generation => write!(f, "{}@{generation}", self.holder),
        }
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Claim(other) => write!(f, "{other}"),
            Self::Disputed(other) => write!(f, "this claim and {other} at once"),
            Self::Named(name) => write!(f, "{name}"),
            Self::Legacy => write!(f, "a cluster of this name, without a Freehold mark"),
        }
    }
}
