//! A cloud in which something goes wrong or happens at a moment that a case chooses: during a create, in
//! the management cluster or to the operator; or in place of a Step.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cloud_port::aws::AwsPlace;
use cloud_port::{Cloud, Deadline, Effect, Survey};
use ownership::{Answer, Class, CloudError, Kind, Query, Step, Text};

type Deed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What happens once, when the cloud has created something of a Kind and has not answered yet; and which
/// Steps it does not take, by verb and Kind.
#[derive(Clone, Default)]
pub(crate) struct Deeds {
    plans: Arc<Mutex<Plans>>,
    under_way: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Plans {
    deeds: Vec<(&'static str, Deed)>,
    refused: Vec<(&'static str, &'static str)>,
}

impl Deeds {
    /// Plans one.
    pub(crate) fn plan(&self, kind: &Kind, deed: impl Future<Output = ()> + Send + 'static) {
        self.plans().deeds.push((kind.name, Box::pin(deed)));
    }

    /// The next Step of this verb on a resource of the Kind is refused.
    pub(crate) fn refuse(&self, verb: &'static str, kind: &Kind) {
        self.plans().refused.push((verb, kind.name));
    }

    /// How much of what was planned has not happened yet.
    pub(crate) fn left(&self) -> usize {
        let plans = self.plans();
        plans.deeds.len() + plans.refused.len()
    }

    /// Whether the cloud is at work: who crashes now may have sent what takes effect later.
    pub(crate) fn are_calls_under_way(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) > 0
    }

    fn begin(&self) -> Call {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        Call(self.under_way.clone())
    }

    fn take(&self, kind: &str) -> Option<Deed> {
        let deeds = &mut self.plans().deeds;
        let at = deeds.iter().position(|(of, _)| *of == kind)?;
        Some(deeds.remove(at).1)
    }

    fn refuses(&self, step: &Step) -> bool {
        let Some(kind) = step.kind() else {
            return false;
        };
        let refused = &mut self.plans().refused;
        let planned = refused
            .iter()
            .position(|it| *it == (step.verb(), kind.name));
        planned.map(|at| refused.swap_remove(at)).is_some()
    }

    fn plans(&self) -> MutexGuard<'_, Plans> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that the cloud has not ended yet.
struct Call(Arc<AtomicUsize>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A cloud with such deeds.
#[derive(Clone)]
pub struct During<C> {
    pub(crate) cloud: C,
    pub(crate) deeds: Deeds,
}

impl<C: fmt::Debug> fmt::Debug for During<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cloud.fmt(f)
    }
}

impl<C: Cloud> Cloud for During<C> {
    fn read(&self, query: &Query) -> impl Future<Output = Result<Answer, CloudError>> + Send {
        self.cloud.read(query)
    }

    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        if self.deeds.refuses(step) {
            let words = "the service is not available, says the case";
            return Err(CloudError::new(Class::Retryable, "Unavailable", words));
        }
        let call = self.deeds.begin();
        let effect = self.cloud.perform(step, by).await?;
        drop(call);
        if let Step::Create(create) = step
            && let Some(deed) = self.deeds.take(create.kind.name)
        {
            deed.await;
        }
        Ok(effect)
    }
}

impl<C: Survey> Survey for During<C> {
    fn survey(
        &self,
        kind: &'static Kind,
    ) -> impl Future<Output = Result<Answer, CloudError>> + Send {
        self.cloud.survey(kind)
    }
}

impl<C: AwsPlace> AwsPlace for During<C> {
    fn partition(&self) -> &str {
        self.cloud.partition()
    }

    fn account(&self) -> &str {
        self.cloud.account()
    }

    fn region(&self) -> &str {
        self.cloud.region()
    }

    fn zones(&self) -> impl Future<Output = Result<Vec<Text>, CloudError>> + Send {
        self.cloud.zones()
    }

    fn role_path(&self, name: &str) -> String {
        self.cloud.role_path(name)
    }
}
