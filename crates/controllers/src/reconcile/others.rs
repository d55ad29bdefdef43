//! Other claims: what the marks of theirs call which object here.

use std::collections::{BTreeMap, BTreeSet};

use cloud_port::driver::Report;
use cloud_port::{Cloud, Inventory, Places, Survey};
use kube::Resource as _;
use kube::api::ListParams;
use ownership::decide::Guest;
use ownership::error::Blocker;
use ownership::verdict::Owner;
use ownership::{ClaimHash, CloudError, Finding, Query, Target, mark};

use super::clock::WallClock;
use super::inspect::called;
use super::pass::Reconciler;
use super::pin::Pin;
use super::system::{Sources, api_of};

/// What claims are called: the object where it is one here.
#[derive(Clone, Debug, Default)]
pub struct Names(BTreeMap<ClaimHash, String>);

impl Names {
    /// A claim as people call it.
    pub fn of(&self, claim: &ClaimHash) -> String {
        let known = self.0.get(claim).cloned();
        known.unwrap_or_else(|| format!("the claim {claim}"))
    }
}

impl<S: Sources, K: WallClock> Reconciler<S, K> {
    /// The names of claims. Nobody is asked where there is nothing to name, and who cannot be asked
    /// leaves them as they are.
    pub(super) async fn names(&self, claims: &BTreeSet<ClaimHash>) -> Names {
        if claims.is_empty() {
            return Names::default();
        }
        let all = api_of::<S::Object>(&self.client, None);
        let all = all.list(&ListParams::default()).await;
        let named = all.map(|all| all.items).unwrap_or_default().into_iter();
        let named = named.filter_map(|object| {
            let meta = object.meta();
            let pin = Pin::read(meta, S::FINALIZER).ok()?;
            let claim = pin.claim(S::CLAIM_KIND, meta).ok()?;
            let known = claims.contains(claim.hash());
            known.then(|| (claim.hash().clone(), called::<S>(&object)))
        });
        Names(named.collect())
    }

    /// Names whose it is that stands in the way of a deletion: a resource that a served system has
    /// marked, or a part that another claim has put there. What cannot be read stays as it is.
    pub(super) async fn name_blockers(
        &self,
        places: &Places<S::Cloud>,
        own: &ClaimHash,
        findings: &mut [Finding],
    ) {
        for finding in findings {
            let Finding::Blocked {
                target, blockers, ..
            } = finding
            else {
                continue;
            };
            let mut parts = parts(places, target).await.unwrap_or_default();
            for part in &mut parts {
                part.claims.retain(|claim| claim != own);
            }
            let claims = parts.iter().flat_map(|part| part.claims.clone());
            let names = self.names(&claims.collect()).await;
            for blocker in blockers {
                let part = parts.iter().find(|part| part.key == blocker.id.as_str());
                if let Some(part) = part.filter(|part| !part.claims.is_empty()) {
                    let owners: Vec<_> = part.claims.iter().map(|it| names.of(it)).collect();
                    blocker.noun = format!("{}'s {}", owners.join(" and "), part.noun).into();
                } else if let Some(owner) = owner(places.home(), blocker).await {
                    blocker.noun = format!("the {owner}'s {}", blocker.noun).into();
                }
            }
        }
    }

    /// The claims that own what is only used, named.
    pub(super) async fn name_owners(&self, report: &Report) -> Names {
        let claims = report
            .filled
            .iter()
            .filter_map(|filled| match &filled.owner {
                Some(Owner::Claim(other) | Owner::Disputed(other)) => Some(other.hash.clone()),
                _ => None,
            });
        self.names(&claims.collect()).await
    }

    /// The claims that use what is ours, named.
    pub(super) async fn name_guests(&self, guests: &[Guest]) -> Names {
        let claims = guests.iter().filter_map(|guest| guest.by.clone());
        self.names(&claims.collect()).await
    }
}

/// A part inside a resource, and the claims that have marked it.
struct Part {
    noun: &'static str,
    key: String,
    claims: Vec<ClaimHash>,
}

/// What is inside a resource.
async fn parts<C: Cloud>(cloud: &C, target: &Target) -> Result<Vec<Part>, CloudError> {
    let read = cloud.read(&Query::Id(target.clone())).await?;
    let Some(resource) = read.resources.into_iter().next() else {
        return Ok(Vec::new());
    };
    let mut all = Vec::new();
    for inner in target.kind.inner {
        let query = Query::Inner {
            of: target.clone(),
            inner: inner.name,
        };
        let told = cloud.read(&query).await?.inner.into_iter();
        let told = told.filter(|told| told.of == *target && told.inner == inner.name);
        all.extend(told.flat_map(|told| told.parts).map(|part| Part {
            noun: inner.noun,
            claims: mark::claims_on_part(target.kind.carrier, &resource.tags, inner, &part),
            key: part.key.to_string(),
        }));
    }
    Ok(all)
}

async fn owner<C: Survey>(inventory: &Inventory<C>, blocker: &Blocker) -> Option<String> {
    let kind = inventory.kinds().find(|kind| kind.noun == &*blocker.noun)?;
    let query = Query::Id(Target::new(kind, blocker.id.clone()));
    let read = inventory.read(&query).await.ok()?;
    let resource = read.resources.into_iter().next()?;
    let mut named = mark::named(kind.carrier, &resource.tags).into_iter();
    named
        .find(|named| named.owns)
        .map(|named| named.to_string())
}
