//! A cloud and an API server that take their time, and a note of what each slot was sent.
//!
//! Time is tokio's, paused: it passes when everybody waits for it, and the simulation's clock goes along.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use cloud_port::aws::AwsPlace;
use cloud_port::{Cloud, Deadline, Effect, Survey};
use cloud_sim::{SharedAccount, VirtualClock};
use embedded_kube::{ClusterService, LostAnswer, ResponseBody};
use http::{Request, Response};
use kube::client::Body;
use ownership::time::Millis;
use ownership::{Answer, CloudError, Kind, Query, SlotName, Step, Target, Text};
use tower_service::Service;

/// How long calls take.
#[derive(Clone, Copy, Default)]
pub(crate) struct Latency {
    /// What only reads from the cloud.
    pub(crate) read: Millis,
    /// What changes something there.
    pub(crate) step: Millis,
    /// Any call to the API server.
    pub(crate) kube: Millis,
}

/// The simulation's clock, which goes along with tokio's.
#[derive(Clone)]
pub(crate) struct Time(pub(crate) VirtualClock);

impl Time {
    async fn pass(&self, span: Millis) {
        if span == Millis(0) {
            return;
        }
        let until = self.0.now() + span;
        tokio::time::sleep(Duration::from_millis(span.0)).await;
        self.0.advance(until - self.0.now().min(until));
    }
}

/// The Steps that were sent for each slot.
#[derive(Default)]
struct Notes {
    of: BTreeMap<Target, SlotName>,
    steps: BTreeMap<SlotName, u64>,
}

/// A simulated account that takes its time.
#[derive(Clone)]
pub(crate) struct Slow {
    pub(crate) account: SharedAccount,
    time: Time,
    latency: Latency,
    notes: Arc<Mutex<Notes>>,
}

impl Slow {
    pub(crate) fn new(account: SharedAccount, time: &Time, latency: Latency) -> Self {
        Self {
            account,
            time: time.clone(),
            latency,
            notes: Arc::default(),
        }
    }

    /// How many Steps each slot was sent.
    pub(crate) fn steps(&self) -> BTreeMap<SlotName, u64> {
        self.noted().steps.clone()
    }

    fn noted(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, step: &Step, effect: &Effect) {
        let mut notes = self.noted();
        if let Step::Create(create) = step {
            if let Some(born) = &effect.born {
                notes.of.insert(born.target(), create.slot.clone());
            }
            *notes.steps.entry(create.slot.clone()).or_default() += 1;
            return;
        }
        let targets = step.targets().iter();
        let slots: Vec<_> = targets.filter_map(|it| notes.of.get(it).cloned()).collect();
        for slot in slots {
            *notes.steps.entry(slot).or_default() += 1;
        }
    }
}

impl Cloud for Slow {
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        self.time.pass(self.latency.read).await;
        self.account.read(query).await
    }

    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        by.check()?;
        self.time.pass(self.latency.step).await;
        let effect = self.account.perform(step, Deadline::never()).await?;
        self.note(step, &effect);
        Ok(effect)
    }
}

impl Survey for Slow {
    async fn survey(&self, kind: &'static Kind) -> Result<Answer, CloudError> {
        self.time.pass(self.latency.read).await;
        self.account.survey(kind).await
    }
}

impl AwsPlace for Slow {
    fn partition(&self) -> &str {
        self.account.partition()
    }

    fn account(&self) -> &str {
        self.account.account()
    }

    fn region(&self) -> &str {
        self.account.region()
    }

    async fn zones(&self) -> Result<Vec<Text>, CloudError> {
        self.time.pass(self.latency.read).await;
        self.account.zones().await
    }
}

/// A connection to the API server that takes its time.
#[derive(Clone)]
pub(crate) struct SlowKube {
    pub(crate) inner: ClusterService,
    pub(crate) time: Time,
    pub(crate) latency: Millis,
}

impl Service<Request<Body>> for SlowKube {
    type Response = Response<ResponseBody>;
    type Error = LostAnswer;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, LostAnswer>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), LostAnswer>> {
        Service::<Request<Body>>::poll_ready(&mut self.inner, context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (mut inner, time, latency) = (self.inner.clone(), self.time.clone(), self.latency);
        Box::pin(async move {
            time.pass(latency).await;
            inner.call(request).await
        })
    }
}
