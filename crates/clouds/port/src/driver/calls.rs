//! One call of a round: sent, and what came of it.

use ownership::decide::{Call, Op};
use ownership::error::{Class, Counts, Quota};
use ownership::part::Props;
use ownership::query::InnerAnswer;
use ownership::step::Effect;
use ownership::time::Tick;
use ownership::{Answer, CloudError, Query, SlotName, Step, Text, View};

use super::{Clock, Driver};
use crate::cloud::{Cloud, Deadline};

/// What came of a call.
pub(super) enum Outcome {
    Read(Result<Answer, CloudError>),
    Performed(Result<Effect, CloudError>),
}

impl<C: Cloud, K: Clock> Driver<'_, C, K> {
    /// Sends one call; with when it was answered.
    pub(super) async fn send(&self, call: &Call, view: &View) -> (Outcome, Tick) {
        let outcome = match &call.op {
            Op::Read(query) => Outcome::Read(self.cloud.read(query).await),
            Op::Perform(step) => {
                let fresh = view.good_until(step, self.rules.fresh_for());
                // What can be repeated under its token may land after the Lease, as a repetition does.
                let last = is_delicate(step).then(|| self.last_call());
                let by = Deadline::new(self.clock, last.map_or(fresh, |last| fresh.min(last)));
                let performed = self.cloud.perform(step, by).await;
                let answered = self.clock.now();
                let performed = match performed {
                    Err(error) if error.quota.is_some() => Err(self.count(step, error).await),
                    performed => performed,
                };
                return (Outcome::Performed(performed), answered);
            }
        };
        (outcome, self.clock.now())
    }

    /// The same failure, with how much of its quota is used, as far as that can be counted here.
    async fn count(&self, step: &Step, error: CloudError) -> CloudError {
        let Some((query, within)) = error.quota.as_ref().and_then(|quota| used(step, quota)) else {
            return error;
        };
        // What cannot be counted now is not told.
        let Ok(answer) = self.cloud.read(&query).await else {
            return error;
        };
        let used = match &query {
            Query::Inner { of, inner } => {
                let its = |told: &&InnerAnswer| told.of == *of && told.inner == *inner;
                let told = answer.inner.iter().find(its);
                told.map_or(0, |told| told.parts.len())
            }
            _ => answer.resources.len(),
        };
        error.used(used, within.as_deref())
    }

    /// Takes in the failure of a Step. What the cloud refuses ends the turn of one slot; what it does not
    /// answer, or answers too often, ends the pass.
    pub(super) fn absorb(
        view: &mut View,
        step: Step,
        slot: Option<SlotName>,
        error: CloudError,
        at: Tick,
    ) {
        match (step, &error.class, slot) {
            (_, Class::Unknown, _) => view.fail(error),
            (Step::Create(create), class, _) => {
                if *class == Class::Throttled {
                    view.fail(error.clone());
                }
                view.refuse_create(create.slot, error);
            }
            (_, Class::Throttled, _) => view.fail(error),
            (Step::Delete(deletion), Class::NotFound, _) => view.miss(deletion.target(), at),
            (Step::RemoveInner(removal), Class::NotFound, _) => view.miss_parts(&removal),
            (Step::Delete(deletion), Class::Blocked(_), _) => {
                view.block(deletion.target().clone(), error);
            }
            (_, _, Some(slot)) => view.end_turn(slot, error),
            // At the end of a claim: what cannot be taken out keeps its resource from going.
            (Step::RemoveInner(removal), Class::Blocked(_), None) => {
                view.keep_inside(removal.target().clone(), error);
            }
            _ => view.fail(error),
        }
    }

    pub(super) fn classed(&self, error: CloudError) -> CloudError {
        let class = self.rules.class(&error);
        CloudError { class, ..error }
    }
}

/// The question whose answer is what uses up a quota, and the resource that the quota is for, where it is not
/// for a whole place.
fn used(step: &Step, quota: &Quota) -> Option<(Query, Option<Text>)> {
    match (step, quota.counts) {
        (Step::Create(create), Counts::All | Counts::Within(_)) => {
            let mut props = Props::new();
            let mut parent = None;
            if let Counts::Within(prop) = quota.counts {
                let value = create.props.get(prop)?;
                props.set(prop, value.clone());
                parent = Some(value.clone());
            }
            let query = Query::Match {
                kind: create.kind,
                place: create.place.clone(),
                name: "".into(),
                props,
            };
            Some((query, parent))
        }
        (Step::AddInner { target, inner, .. }, Counts::All) => {
            let (of, id) = (target.clone(), target.id.text());
            Some((Query::Inner { of, inner }, Some(id)))
        }
        _ => None,
    }
}

/// Calls that must take effect in time or not at all (A3): all but those that can be repeated under a
/// client token.
pub(super) fn is_delicate(step: &Step) -> bool {
    match step {
        Step::Create(create) => create.token.is_none(),
        _ => true,
    }
}
