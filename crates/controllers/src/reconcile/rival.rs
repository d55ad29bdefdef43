//! Of several live objects with one UUID, which is the original.
//!
//! The name is in a claim's hash, so each of them is a claim of its own; but only one of them can have
//! made anything before it was copied or restored. An object that ends is asked nothing of this: it
//! ends its own claim, and a copy's finds nothing.

use api::names::CLAIM_UUID;
use cloud_port::{Cloud, Places};
use kube::api::ListParams;
use kube::{Resource, ResourceExt as _};
use ownership::kind::Naming;
use ownership::verdict::{Owner, ReadStamp, judge};
use ownership::{Blueprint, CloudError, Freehold, Identity, KindAt, Query, Slot, Verdict};

use super::clock::WallClock;
use super::pass::{Reconciler, shown};
use super::pin::{self, Pin};
use super::prepare::owned;
use super::record;
use super::system::{Sources, Trouble, api_of};

/// What tells of an object's own claim, name and all: the more, the surer it is an original.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Made {
    /// Nothing.
    Nothing,
    /// Its record: it may have used what others own.
    Noted,
    /// The claim's own mark on something in the cloud.
    Marked,
}

/// An object whose UUID may be another one's.
pub(super) struct Rival<'a, S: Sources> {
    pub(super) places: &'a Places<S::Cloud>,
    pub(super) object: &'a S::Object,
    pub(super) pin: &'a Pin,
    pub(super) identity: &'a Identity,
    pub(super) blueprint: &'a Blueprint,
}

impl<S: Sources, K: WallClock> Reconciler<S, K> {
    /// The live object that this one is a copy of, in words; `None` if it is an original, or alone.
    ///
    /// # Expected flow
    /// 1. Only an object whose UUID was pinned for another one can be a copy.
    /// 2. Whoever owns something in the cloud is an original, whatever the others say.
    /// 3. Else another one is, if more is known of its own claim, or if the UUID was pinned for it.
    /// 4. Of those of whom nothing is known, the oldest.
    ///
    /// # Errors
    /// The management cluster or the cloud could not be asked.
    pub(super) async fn copied_from(&self, it: &Rival<'_, S>) -> Result<Option<String>, Trouble> {
        let (object, pin) = (it.object, it.pin);
        if !pin.moved {
            return Ok(None);
        }
        let all = api_of::<S::Object>(&self.client, None);
        let all = all.list(&ListParams::default()).await?.items;
        let is_rival = |other: &&S::Object| {
            let meta = other.meta();
            meta.uid != object.meta().uid
                && meta.deletion_timestamp.is_none()
                && pin::names(meta, &pin.uuid)
        };
        let rivals: Vec<&S::Object> = all.iter().filter(is_rival).collect();
        if rivals.is_empty() {
            return Ok(None);
        }
        let made = self
            .made(it.places, object, it.identity, it.blueprint)
            .await?;
        if made == Made::Marked {
            return Ok(None);
        }
        for other in &rivals {
            if made == Made::Nothing && pin::is_its_own(other.meta()) {
                return Ok(Some(copy_of::<S>(other)));
            }
            match self.made_by(other, object).await {
                Ok(others) if others > made => return Ok(Some(copy_of::<S>(other))),
                Ok(_) => {}
                Err(trouble) => return Ok(Some(untold(*other, &trouble))),
            }
        }
        let older = |other: &&&S::Object| pin::is_older(other.meta(), object.meta());
        let oldest = rivals.iter().find(older).map(|other| copy_of::<S>(other));
        Ok(oldest.filter(|_| made == Made::Nothing))
    }

    /// What tells of the claim that another object says it is.
    async fn made_by(&self, other: &S::Object, asker: &S::Object) -> Result<Made, Trouble> {
        let Ok(pin) = Pin::read(other.meta(), S::FINALIZER) else {
            // Nobody works for it before somebody has put that right.
            return Ok(Made::Nothing);
        };
        let asker = (asker.namespace(), asker.name_any());
        let facts = self.facts_for(&asker, other).await?;
        let wants = S::wants(other, &facts)?;
        let claim = pin.claim(S::CLAIM_KIND, other.meta())?;
        let places = self.system.open(&facts).await?;
        let identity = self.identity(claim, &wants);
        let made = self.made(&places, other, &identity, &wants.blueprint);
        Ok(made.await?)
    }

    /// What tells of an object's claim: fresh reads of the cloud, else its record.
    async fn made(
        &self,
        places: &Places<S::Cloud>,
        object: &S::Object,
        identity: &Identity,
        blueprint: &Blueprint,
    ) -> Result<Made, CloudError> {
        for at in owned(&self.system, places) {
            for query in queries(&at, identity, blueprint) {
                let read = ReadStamp {
                    at: self.clock.now(),
                    fresh: true,
                };
                let answer = places.read(&query).await?;
                let mut found = answer.resources.iter();
                if found.any(|it| is_marked(&judge(&Freehold, identity, at.kind, it, read))) {
                    return Ok(Made::Marked);
                }
            }
        }
        let record = record::of(object.meta(), &identity.claim, self.system.kinds());
        let noted = record.is_ok_and(|(_, ledger)| ledger.tells_of_anything());
        Ok(if noted { Made::Noted } else { Made::Nothing })
    }
}

/// The look-ups that show what a claim owns of a Kind: by marks, or where no list shows them, by what
/// its slots are called.
fn queries(at: &KindAt, identity: &Identity, blueprint: &Blueprint) -> Vec<Query> {
    let KindAt { kind, place } = at;
    if kind.lists_marks || kind.naming != Naming::Account {
        let key = identity.key(kind);
        return vec![Query::Marks {
            kind,
            place: place.clone(),
            keys: vec![key],
        }];
    }
    let own = |slot: &&Slot| slot.is_own() && slot.kind_at() == *at;
    let slots = blueprint.slots().iter().filter(own);
    let query = |slot: &Slot| Query::Name {
        kind,
        place: place.clone(),
        name: slot.label.clone(),
        within: None,
    };
    slots.map(query).collect()
}

/// Whether the claim's own mark is on it, whoever holds it and whoever else claims it.
fn is_marked(verdict: &Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Owned(_) | Verdict::Foreign(Owner::Disputed(_))
    )
}

fn copy_of<S: Sources>(other: &S::Object) -> String {
    let ids =
        S::IDS_IN.map(|field| format!(", and clear the ids in {field}, which are not its own"));
    format!(
        "the object {} has the same {CLAIM_UUID}, so this one is a copy of it: delete this one, or \
         take the freehold.dev annotations and finalizers off it{}",
        shown(&(other.namespace(), other.name_any())),
        ids.unwrap_or_default()
    )
}

fn untold(other: &impl Resource<DynamicType = ()>, trouble: &Trouble) -> String {
    format!(
        "the object {} has the same {CLAIM_UUID}, and which of the two is a copy cannot be told yet \
         ({trouble}): put that right, or delete the copy",
        shown(&(other.namespace(), other.name_any()))
    )
}
