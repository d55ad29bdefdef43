//! An object as the engine sees it: what fills its slots, and what would be done next. Nothing is
//! written, to the cloud or to the object.

use std::collections::BTreeMap;

use cloud_port::driver::{Planned, Report};
use cloud_port::{Cloud as _, Inventory, Survey};
use ownership::decide::{Filled, Phase};
use ownership::kind::InnerKind;
use ownership::part::InnerPart;
use ownership::{
    Blueprint, Claim, CloudError, Ledger, Query, SlotName, Step, Target, Text, Verdict,
};

use super::clock::WallClock;
use super::pass::Reconciler;
use super::prepare::{Prepared, Unready};
use super::system::{Sources, Trouble, api_of};

/// An object as the engine sees it.
#[derive(Debug)]
pub struct Inspection {
    /// The claim.
    pub claim: Claim,
    /// Whether it lives or ends.
    pub phase: Phase,
    /// Its slots.
    pub blueprint: Blueprint,
    /// Its record.
    pub ledger: Ledger,
    /// The Steps of a pass that succeeds, each with its reason.
    pub plan: Vec<Planned>,
    /// What such a pass finds; what it would create fills slots here, too.
    pub report: Report,
    /// Why nothing of that is done, in words.
    pub switch: Option<String>,
    /// What fills its slots, freshly read.
    pub found: BTreeMap<Target, Found>,
}

/// A resource that fills a slot.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// What it is called.
    pub name: Text,
    /// What is inside it, where it is ours.
    pub inside: Vec<(&'static InnerKind, InnerPart)>,
}

/// Why an object cannot be inspected.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// There is none of that name.
    #[error("there is no {kind} {name:?}")]
    Absent {
        /// The kind that was looked for.
        kind: String,
        /// The name that was looked for.
        name: String,
    },
    /// It is another controller's.
    #[error("{0:?} is not ours: it says nothing of a cloud that is served here")]
    NotOurs(String),
    /// Nobody can tell which claim it is.
    #[error("{0}")]
    Identity(String),
    /// It cannot be worked on.
    #[error(transparent)]
    Trouble(#[from] Trouble),
    /// The cloud could not be asked.
    #[error("the cloud says {0}")]
    Cloud(#[from] CloudError),
}

impl From<Unready> for InspectError {
    fn from(unready: Unready) -> Self {
        match unready {
            Unready::Identity(words) => Self::Identity(words),
            Unready::Trouble(trouble) => Self::Trouble(trouble),
            Unready::Slowed(left) => {
                let words = format!("the account is asked too much: try again in {left}");
                Self::Trouble(Trouble::Kubernetes(words))
            }
        }
    }
}

impl<S: Sources, K: WallClock> Reconciler<S, K> {
    /// Looks at the object of this name, and at its cloud.
    ///
    /// # Guarantees
    /// Read-only.
    ///
    /// # Errors
    /// Why that cannot be done, in words for people.
    pub async fn inspect(
        &self,
        name: &str,
        namespace: Option<&str>,
    ) -> Result<Inspection, InspectError> {
        let api = api_of::<S::Object>(&self.client, namespace);
        let object = api.get_opt(name).await.map_err(Trouble::from)?;
        let Some(object) = object else {
            let kind = S::CLAIM_KIND.to_owned();
            let name = name.to_owned();
            return Err(InspectError::Absent { kind, name });
        };
        if !S::is_ours(&object) {
            return Err(InspectError::NotOurs(name.to_owned()));
        }
        let Prepared {
            question,
            store,
            inventory,
            stop,
            ..
        } = self.prepare(&object).await?;
        let ledger = store.ledger().clone();
        let driver = self.driver(&inventory);
        let (plan, report) = driver.plan(&question.case(), &ledger).await?;
        let found = found(&inventory, &question.blueprint, &plan, &report).await?;
        Ok(Inspection {
            claim: question.identity.claim.clone(),
            phase: question.phase,
            blueprint: question.blueprint,
            ledger,
            plan,
            report,
            switch: stop.map(|stop| stop.to_string()),
            found,
        })
    }
}

impl Inspection {
    /// The slots that would be filled by a create: what fills them is imagined.
    pub fn to_come(&self) -> Vec<&SlotName> {
        to_come(&self.plan)
    }
}

fn to_come(plan: &[Planned]) -> Vec<&SlotName> {
    let creates = plan.iter().filter_map(|planned| match &planned.step {
        Step::Create(create) => Some(&create.slot),
        _ => None,
    });
    creates.collect()
}

/// What fills slots, freshly read: names, and what is inside where it is ours.
async fn found<C: Survey>(
    inventory: &Inventory<C>,
    blueprint: &Blueprint,
    plan: &[Planned],
    report: &Report,
) -> Result<BTreeMap<Target, Found>, CloudError> {
    let to_come = to_come(plan);
    let mut all = BTreeMap::new();
    let there = |filled: &&Filled| !to_come.contains(&&filled.slot);
    for filled in report.filled.iter().filter(there) {
        let target = &filled.target;
        let read = inventory.read(&Query::Id(target.clone())).await?;
        let mut found = Found::default();
        if let Some(resource) = read.resources.first() {
            found.name = resource.name.clone();
        }
        let kind = blueprint.slot(&filled.slot).map(|slot| slot.kind);
        let ours = matches!(filled.verdict, Verdict::Owned(_));
        for inner in kind.iter().filter(|_| ours).flat_map(|kind| kind.inner) {
            let query = Query::Inner {
                of: target.clone(),
                inner: inner.name,
            };
            let told = inventory.read(&query).await?.inner.into_iter();
            let told = told.filter(|told| told.of == *target && told.inner == inner.name);
            let parts = told.flat_map(|told| told.parts);
            found.inside.extend(parts.map(|part| (inner, part)));
        }
        all.insert(target.clone(), found);
    }
    Ok(all)
}
