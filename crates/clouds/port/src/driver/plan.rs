//! A plan: the engine's own Steps against the cloud as it is, with nothing performed.

use std::sync::Arc;

use ownership::decide::Decided;
use ownership::part::Resource;
use ownership::step::Create;
use ownership::time::Millis;
use ownership::{
    Case, CloudError, Decision, Ledger, Reason, ResourceId, Rules, Sightings, SlotName, Step, View,
    decide,
};

use super::{Clock, Driver, Report, TOO_MANY};
use crate::cloud::Cloud;

/// A Step that would be performed, and why.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The Step. What it creates has a placeholder for an id: `(new SLOT)`.
    pub step: Step,
    /// Why.
    pub reason: Reason,
}

/// What a pass that succeeds would do, and what is waited for before that.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The Steps that could be performed now.
    pub now: Vec<Planned>,
    /// What is waited for after them.
    pub wait: Option<Wait>,
    /// The Steps after the wait, if nothing changes meanwhile.
    pub then: Vec<Planned>,
    /// What such a pass finds before it waits; what it would create fills slots here, too.
    pub report: Report,
}

/// A wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// For how long at most: whoever has watched longer waits less.
    pub at_most: Millis,
    /// What for.
    pub reason: Reason,
}

impl Plan {
    /// Every Step, now and after the wait.
    pub fn steps(&self) -> impl Iterator<Item = &Planned> {
        self.now.iter().chain(&self.then)
    }
}

impl<R: Rules + Sync, C: Cloud, K: Clock> Driver<'_, R, C, K> {
    /// The Steps of a whole pass that succeeds, and of those after a wait: reads go to the cloud,
    /// everything else is imagined, time included.
    ///
    /// # Errors
    /// A read that failed.
    pub async fn plan(&self, case: &Case<'_>, ledger: &Ledger) -> Result<Plan, CloudError> {
        let mut ledger = ledger.clone();
        let mut view = View::new();
        let mut sightings = Sightings::new();
        let mut steps = Vec::new();
        let mut plan = Plan::default();
        let mut ahead = Millis(0);
        for _ in 0..TOO_MANY {
            let now = self.clock.now() + ahead;
            let Decided {
                decision,
                reason,
                findings,
                filled,
                guests,
                ..
            } = decide(self.rules, case, &ledger, &view, &mut sightings, now);
            if plan.wait.is_none() {
                plan.report = Report {
                    findings,
                    filled,
                    guests,
                };
            }
            match decision {
                // A read would show the cloud without the Steps before, and forget them.
                Decision::Look(query) if !steps.is_empty() && view.presume(&query, now) => {}
                Decision::Look(query) => {
                    let answer = self.cloud.read(&query).await?;
                    view.learn(query, answer, now);
                }
                Decision::Write(edits) => {
                    for edit in &edits {
                        ledger.apply(edit);
                    }
                    view.wrote(&edits, now, &reason);
                }
                Decision::Do(step) => {
                    let born = match &step {
                        Step::Create(create) => Some(Arc::new(imagine(create))),
                        _ => None,
                    };
                    view.performed(&step, born, now);
                    steps.push(Planned { step, reason });
                }
                // One wait is told; what comes after a second one is anybody's guess.
                Decision::Wait(until) if plan.wait.is_none() => {
                    let at_most = until - now;
                    plan.now = std::mem::take(&mut steps);
                    plan.wait = Some(Wait { at_most, reason });
                    // Imagined Steps cannot be read again.
                    if !plan.now.is_empty() {
                        break;
                    }
                    ahead = ahead + at_most;
                    view = View::new();
                }
                Decision::Wait(_)
                | Decision::Rest(_)
                | Decision::Done
                | Decision::EndTurn(..)
                | Decision::Halt(_) => break,
            }
        }
        if plan.wait.is_none() {
            plan.now = steps;
        } else {
            plan.then = steps;
        }
        Ok(plan)
    }
}

/// The placeholder for the id of what a create would make.
pub fn new_id(slot: &SlotName) -> String {
    format!("(new {slot})")
}

/// The resource that a create would make.
fn imagine(create: &Create) -> Resource {
    Resource {
        kind: create.kind,
        id: ResourceId::new(new_id(&create.slot)),
        unique: None,
        name: create.name.clone(),
        tags: create.tags.clone(),
        props: create.props.clone(),
        created: None,
        ready: true,
    }
}
