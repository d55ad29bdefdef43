//! A plan: the engine's own Steps against the cloud as it is, with nothing performed.

use std::sync::Arc;

use ownership::decide::Decided;
use ownership::part::Resource;
use ownership::step::Create;
use ownership::{
    Case, CloudError, Decision, Ledger, Reason, ResourceId, Rules, Sightings, Step, View, decide,
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

impl<R: Rules + Sync, C: Cloud, K: Clock> Driver<'_, R, C, K> {
    /// The Steps of a whole pass that succeeds: reads go to the cloud, everything else is imagined.
    ///
    /// # Errors
    /// A read that failed.
    pub async fn plan(
        &self,
        case: &Case<'_>,
        ledger: &Ledger,
    ) -> Result<(Vec<Planned>, Report), CloudError> {
        let mut ledger = ledger.clone();
        let mut view = View::new();
        let mut sightings = Sightings::new();
        let mut plan = Vec::new();
        let mut report = Report::default();
        for _ in 0..TOO_MANY {
            let now = self.clock.now();
            let Decided {
                decision,
                reason,
                findings,
                filled,
                guests,
                ..
            } = decide(self.rules, case, &ledger, &view, &mut sightings, now);
            report = Report {
                findings,
                filled,
                guests,
            };
            match decision {
                // A read would show the cloud without the Steps before, and forget them.
                Decision::Look(query) if !plan.is_empty() && view.presume(&query, now) => {}
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
                    plan.push(Planned { step, reason });
                }
                Decision::Wait(_)
                | Decision::Rest(_)
                | Decision::Done
                | Decision::EndTurn(..)
                | Decision::Halt(_) => break,
            }
        }
        Ok((plan, report))
    }
}

/// The resource that a create would make.
fn imagine(create: &Create) -> Resource {
    Resource {
        kind: create.kind,
        id: ResourceId::new(format!("(new {})", create.slot)),
        unique: None,
        name: create.name.clone(),
        tags: create.tags.clone(),
        props: create.props.clone(),
        created: None,
        ready: true,
    }
}
