//! A plan: the engine's own Steps against the cloud as it is, with nothing performed.
//!
//! A pass does at once what it can. A plan is read, so it has one Step after the other, slot by slot.

use std::sync::Arc;

use ownership::decide::{Call, Decided, Entry, Op};
use ownership::life::Life;
use ownership::part::Resource;
use ownership::query::InnerAnswer;
use ownership::step::{Create, Effect};
use ownership::time::Millis;
use ownership::{
    Case, CloudError, Decision, Ledger, Query, Reason, ResourceId, Sightings, SlotName, Step,
    Target, View, decide,
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
    /// What it finds after the wait, if nothing changes meanwhile and there is nothing to do by then.
    pub later: Report,
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

impl<C: Cloud, K: Clock> Driver<'_, C, K> {
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
        // Nothing that is imagined gets old while the cloud is read.
        let began = self.clock.now();
        let mut ahead = Millis(0);
        for _ in 0..TOO_MANY {
            let now = began + ahead;
            let Decided {
                decision,
                reason,
                findings,
                filled,
                guests,
                coming,
                ..
            } = decide(self.rules, case, &ledger, &view, &mut sightings, now);
            let report = Report {
                findings,
                filled,
                guests,
                coming,
            };
            if plan.wait.is_none() {
                plan.report = report;
            } else if steps.is_empty() {
                plan.later = report;
            }
            match decision {
                Decision::Write(entries) => {
                    for Entry { edits, reason } in &entries {
                        for edit in edits {
                            ledger.apply(edit);
                        }
                        view.wrote(edits, now, reason);
                    }
                }
                Decision::Call(calls) => match first(calls) {
                    First::Step(planned) => {
                        view.performed(&planned.step, imagine(&planned.step), now);
                        steps.push(*planned);
                    }
                    First::Reads(queries) => {
                        for query in queries {
                            // A read would show the cloud without the Steps before, and forget them.
                            if steps.is_empty() || !view.presume(&query, now) {
                                let answer = self.cloud.read(&query).await?;
                                view.learn(query, answer, now);
                            }
                        }
                    }
                },
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

/// What a plan does first of a round.
enum First {
    Step(Box<Planned>),
    Reads(Vec<Query>),
}

/// The Step of the first slot, or every read, if that slot needs one.
fn first(calls: Vec<Call>) -> First {
    let mut queries = Vec::new();
    for call in calls {
        match call.op {
            Op::Perform(step) if queries.is_empty() => {
                let reason = call.reason;
                return First::Step(Box::new(Planned { step, reason }));
            }
            Op::Perform(_) => {}
            Op::Read(query) => queries.push(query),
        }
    }
    First::Reads(queries)
}

/// The placeholder for the id of what a create would make.
pub fn new_id(slot: &SlotName) -> String {
    format!("(new {slot})")
}

/// What a Step would come to.
fn imagine(step: &Step) -> Effect {
    let Step::Create(create) = step else {
        return Effect::default();
    };
    let born = Some(Arc::new(new(create)));
    // What would come along inside it nobody can read.
    let id = ResourceId::new(new_id(&create.slot));
    let of = Target::at(&create.place, create.kind, id);
    let inner = create.kind.inner.iter().map(|inner| InnerAnswer {
        of: of.clone(),
        inner: inner.name,
        parts: Vec::new(),
    });
    Effect {
        born,
        inner: inner.collect(),
        operation: None,
    }
}

/// The resource that a create would make.
fn new(create: &Create) -> Resource {
    Resource {
        kind: create.kind,
        id: ResourceId::new(new_id(&create.slot)),
        unique: None,
        name: create.name.clone(),
        tags: create.tags.clone(),
        props: create.props.clone(),
        created: None,
        life: Life::Ready,
        place: create.place.clone(),
    }
}
