//! An object as the engine sees it: what fills its slots, and what would be done next. Nothing is
//! written, to the cloud or to the object.

use std::collections::BTreeMap;

use api::Condition;
use cloud_port::driver::Plan;
use cloud_port::{Cloud, Places};
use kube::ResourceExt as _;
use kube::api::ListParams;
use ownership::decide::{Filled, Phase};
use ownership::kind::InnerKind;
use ownership::ledger::Origin;
use ownership::part::InnerPart;
use ownership::verdict::{ReadStamp, judge};
use ownership::{
    Blueprint, Claim, ClaimHash, CloudError, Finding, Ledger, Query, SlotName, Step, Target, Text,
    Verdict, mark,
};

use super::clock::WallClock;
use super::others::Names;
use super::outcome::Conditions;
use super::pass::{Reconciler, troubled};
use super::prepare::{Prepared, Question, Unready};
use super::system::{Sources, Trouble, api_of};

/// An object, and what there is to say of it.
#[derive(Debug)]
pub struct Inspection {
    /// Which object: `Cluster demo`.
    pub object: String,
    /// What the operator has told of it.
    pub conditions: Vec<(&'static str, Condition)>,
    /// How the engine sees it, or why it cannot be asked.
    pub sight: Result<Sight, Unseen>,
}

/// An object as the engine sees it.
#[derive(Debug)]
pub struct Sight {
    /// The claim.
    pub claim: Claim,
    /// Whether it lives or ends.
    pub phase: Phase,
    /// Its slots.
    pub blueprint: Blueprint,
    /// Its record.
    pub ledger: Ledger,
    /// What a pass that succeeds does and finds.
    pub plan: Plan,
    /// Why nothing of that is done, in words.
    pub stop: Option<String>,
    /// What fills its slots, freshly read; of an object that ends, what is still there.
    pub found: BTreeMap<Target, Found>,
    /// The other claims that have marked something inside it.
    pub names: Names,
}

/// Why the engine cannot be asked about an object: what its conditions will say.
#[derive(Debug)]
pub struct Unseen(pub Conditions);

impl Unseen {
    /// Whether that is so for whoever asks, and may be otherwise for the operator: a cloud or an API
    /// server that could not be reached, or refused.
    pub fn is_here(&self) -> bool {
        let said = |kind: &str| self.0.by_type.contains_key(kind);
        let waits = self
            .0
            .ready()
            .is_some_and(|ready| ready.reason == "Waiting");
        let known = ["Invalid", "Conflict", "Paused", "Blocked"];
        !waits && !known.into_iter().any(said)
    }
}

/// A resource that fills a slot.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// What it is called.
    pub name: Text,
    /// What is inside it, where it is ours.
    pub inside: Vec<Inside>,
}

/// A part inside a resource of ours.
#[derive(Clone, Debug)]
pub struct Inside {
    /// What it is.
    pub kind: &'static InnerKind,
    /// The part.
    pub part: InnerPart,
    /// The other claims whose marks are on it.
    pub others: Vec<ClaimHash>,
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
    /// The management cluster could not be asked.
    #[error(transparent)]
    Kubernetes(#[from] Trouble),
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
        if !S::is_ours(&object) && S::almost_ours(&object).is_none() {
            return Err(InspectError::NotOurs(name.to_owned()));
        }
        Ok(self.sight(&object).await)
    }

    /// Looks at every object of this kind, of one namespace or of all, that is ours.
    ///
    /// # Errors
    /// The management cluster could not be asked.
    pub async fn inspect_all(
        &self,
        namespace: Option<&str>,
    ) -> Result<Vec<Inspection>, InspectError> {
        let api = api_of::<S::Object>(&self.client, namespace);
        let all = api.list(&ListParams::default()).await;
        let all = all.map_err(Trouble::from)?.items.into_iter();
        let mut seen = Vec::new();
        for object in all.filter(S::is_ours) {
            seen.push(self.sight(&object).await);
        }
        Ok(seen)
    }

    async fn sight(&self, object: &S::Object) -> Inspection {
        let said = |kind: &'static str| Some((kind, S::STATUS.said(object, kind)?));
        Inspection {
            object: called::<S>(object),
            conditions: Conditions::TYPES.into_iter().filter_map(said).collect(),
            sight: self.look(object).await,
        }
    }

    async fn look(&self, object: &S::Object) -> Result<Sight, Unseen> {
        let unseen = |trouble: Trouble| Unseen(troubled::<S>(object, &trouble));
        if !S::is_ours(object)
            && let Some(error) = S::almost_ours(object)
        {
            return Err(unseen(error.into()));
        }
        let prepared = match self.prepare(object).await {
            Ok(prepared) => prepared,
            Err(Unready::Identity(words)) => return Err(Unseen(Conditions::conflict(&words))),
            Err(Unready::Trouble(trouble)) => return Err(unseen(trouble)),
            Err(Unready::Slowed(left)) => {
                let words = format!("the account is asked too much: try again in {left}");
                return Err(unseen(Trouble::Kubernetes(words)));
            }
        };
        let Prepared {
            question,
            store,
            places,
            stop,
            ..
        } = prepared;
        let ledger = store.ledger().clone();
        let driver = self.driver(&places);
        let plan = driver.plan(&question.case(), &ledger).await;
        let mut plan = plan.map_err(|error| unseen(error.into()))?;
        let own = question.identity.claim.hash().clone();
        let findings = [&mut plan.report.findings, &mut plan.later.findings];
        for findings in findings {
            self.name_blockers(&places, &own, findings).await;
        }
        if question.phase != Phase::Live {
            let left = self.left(&places, &question, &ledger, &plan).await;
            plan.report.filled = left.map_err(|error| unseen(error.into()))?;
        }
        let found = found(&places, &own, &plan).await;
        let found = found.map_err(|error| unseen(error.into()))?;
        let inside = found.values().flat_map(|found| &found.inside);
        let others = inside.flat_map(|inside| inside.others.clone()).collect();
        let names = self.names(&others).await;
        Ok(Sight {
            claim: question.identity.claim.clone(),
            phase: question.phase,
            blueprint: question.blueprint,
            ledger,
            plan,
            stop: stop.map(|stop| stop.to_string()),
            found,
            names,
        })
    }

    /// What is still there of a claim that ends: what its record knows, what would be done away with,
    /// and what something was found about.
    async fn left(
        &self,
        places: &Places<S::Cloud>,
        question: &Question,
        ledger: &Ledger,
        plan: &Plan,
    ) -> Result<Vec<Filled>, CloudError> {
        let known = ledger.known.iter();
        let known = known.filter(|(_, known)| known.origin != Origin::Found);
        let steps = plan.steps().flat_map(|planned| planned.step.targets());
        let findings = plan.report.findings.iter().chain(&plan.later.findings);
        let mut targets: Vec<&Target> = known.map(|(target, _)| target).collect();
        targets.extend(steps);
        targets.extend(findings.flat_map(Finding::targets));
        targets.sort();
        targets.dedup();
        // What is only imagined cannot be read.
        targets.retain(|target| !target.id.as_str().starts_with('('));
        let mut left = Vec::new();
        for target in targets {
            let read = places.read(&Query::Id(target.clone())).await?;
            let Some(resource) = read.resources.first() else {
                continue;
            };
            let stamp = ReadStamp {
                at: self.clock.now(),
                fresh: true,
            };
            let (rules, identity) = (&self.settings.rules, &question.identity);
            let verdict = judge(rules, identity, target.kind, resource, stamp);
            let marked = match &verdict {
                Verdict::Owned(owned) => owned.mark().map(|mark| mark.slot.clone()),
                _ => None,
            };
            let recorded = ledger
                .known
                .get(target)
                .filter(|it| it.origin != Origin::Found);
            let slot = marked.or_else(|| recorded.map(|known| known.slot.clone()));
            left.extend(slot.map(|slot| Filled {
                slot,
                target: target.clone(),
                verdict,
                props: resource.props.clone(),
                name: resource.name.clone(),
                owner: None,
            }));
        }
        Ok(left)
    }
}

/// An object as people call it.
pub(crate) fn called<S: Sources>(object: &S::Object) -> String {
    let kind = S::CLAIM_KIND.split('.').next().unwrap_or(S::CLAIM_KIND);
    let name = object.name_any();
    match object.namespace() {
        None => format!("{kind} {name}"),
        Some(namespace) => format!("{kind} {namespace}/{name}"),
    }
}

impl Sight {
    /// The slots that would be filled by a create: what fills them is imagined.
    pub fn to_come(&self) -> Vec<&SlotName> {
        to_come(&self.plan)
    }
}

fn to_come(plan: &Plan) -> Vec<&SlotName> {
    let creates = plan.now.iter().filter_map(|planned| match &planned.step {
        Step::Create(create) => Some(&create.slot),
        _ => None,
    });
    creates.collect()
}

/// What fills slots, freshly read: names, and what is inside where it is ours.
async fn found<C: Cloud>(
    cloud: &C,
    own: &ClaimHash,
    plan: &Plan,
) -> Result<BTreeMap<Target, Found>, CloudError> {
    let to_come = to_come(plan);
    let mut all = BTreeMap::new();
    let filled = plan.report.filled.iter().chain(&plan.later.filled);
    let there = |filled: &&Filled| !to_come.contains(&&filled.slot);
    for filled in filled.filter(there) {
        let target = &filled.target;
        if all.contains_key(target) {
            continue;
        }
        let read = cloud.read(&Query::Id(target.clone())).await?;
        let mut found = Found::default();
        let resource = read.resources.first();
        if let Some(resource) = resource {
            found.name = resource.name.clone();
        }
        let ours = matches!(filled.verdict, Verdict::Owned(_));
        for inner in target.kind.inner.iter().filter(|_| ours) {
            let query = Query::Inner {
                of: target.clone(),
                inner: inner.name,
            };
            let told = cloud.read(&query).await?.inner.into_iter();
            let told = told.filter(|told| told.of == *target && told.inner == inner.name);
            for part in told.flat_map(|told| told.parts) {
                let tags = resource.map(|resource| resource.tags.clone());
                let carrier = target.kind.carrier;
                let tags = tags.unwrap_or_default();
                let mut others = mark::claims_on_part(carrier, &tags, inner, &part);
                others.retain(|claim| claim != own);
                let kind = inner;
                found.inside.push(Inside { kind, part, others });
            }
        }
        all.insert(target.clone(), found);
    }
    Ok(all)
}
