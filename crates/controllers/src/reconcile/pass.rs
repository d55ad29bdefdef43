//! One pass over one object.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use api::Change;
use api::names::{CLAIM_UUID, LEDGER};
use cloud_port::driver::{Driver, PassEnd, Rested, Term};
use cloud_port::{Inventory, LedgerError, LedgerStore as _, words};
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::{Client, Resource, ResourceExt as _};
use ownership::decide::{Case, Phase};
use ownership::error::Class;
use ownership::time::{Millis, Tick};
use ownership::{Claim, Freehold, Holder, Identity, Sightings};
use serde::Serialize;

use super::clock::WallClock;
use super::events::Steps;
use super::monitor::{Monitor, Nobody, Passed};
use super::outcome::Conditions;
use super::pin::{self, Pin};
use super::store::{Store, classify};
use super::{System, Trouble, Wants, switches};

/// How a reconciler behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// This management cluster.
    pub holder: Holder,
    /// Others whose claims it has taken over.
    pub taken_over: BTreeSet<Holder>,
    /// How often an object at rest is looked at. All of them at once: they share what is read.
    pub resync: Duration,
    /// How soon a failed pass is repeated, at first; each failure doubles it, up to the resync.
    pub retry: Duration,
}

/// Reconciles the objects of one system.
pub struct Reconciler<S, K> {
    /// The system.
    pub system: S,
    /// The management cluster.
    pub client: Client,
    /// The clock.
    pub clock: K,
    /// How it behaves.
    pub settings: Settings,
    monitor: Arc<dyn Monitor>,
    /// For how long this process may act.
    pub term: Arc<dyn Fn() -> Term + Send + Sync>,
    memory: Mutex<BTreeMap<String, Memory>>,
}

/// What is remembered of one object between passes: it only delays, and spares reads.
#[derive(Debug, Default)]
struct Memory {
    sightings: Sightings,
    failures: u32,
    /// What the object said when the last pass had ended, and when the next one is due.
    due: Option<(String, Tick)>,
    rested: Rested,
}

/// How soon an end that something holds is tried again.
const HELD: Duration = Duration::from_secs(30);

/// When an object is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// After this time, or when it changes.
    After(Duration),
    /// Only when it changes: it is on its way out, or not ours.
    OnChange,
}

impl<S: System, K: WallClock> Reconciler<S, K> {
    /// A reconciler that remembers nothing yet.
    pub fn new(
        system: S,
        client: Client,
        clock: K,
        settings: Settings,
        term: Arc<dyn Fn() -> Term + Send + Sync>,
    ) -> Self {
        Self {
            system,
            client,
            clock,
            settings,
            monitor: Arc::new(Nobody),
            term,
            memory: Mutex::default(),
        }
    }

    /// The same, with somebody who takes note of its passes.
    #[must_use]
    pub fn monitored(self, monitor: Arc<dyn Monitor>) -> Self {
        Self { monitor, ..self }
    }

    /// One pass over the object of this name.
    ///
    /// # Expected flow
    /// 1. Read the object from the API server: a cache may be old.
    /// 2. Who is it, may it be touched, what does it want, where is that.
    /// 3. One visit of the driver: a glance if it rested, else a pass. Tell the outcome, if it is
    ///    not told already.
    pub async fn reconcile(&self, name: &str, namespace: Option<&str>) -> Next {
        let api = self.api(namespace);
        let object = match api.get_opt(name).await {
            Ok(Some(object)) => object,
            Ok(None) => {
                self.forget(name, namespace);
                return Next::OnChange;
            }
            Err(_) => return Next::After(self.settings.retry),
        };
        let key = key(name, namespace);
        let mut memory = self.memory().remove(&key).unwrap_or_default();
        memory.due = None;
        let (told, next) = self.attend(&api, &object, &mut memory).await;
        if let (Next::After(wait), Some((_, due))) = (next, &mut memory.due) {
            *due = self.clock.now() + Millis(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        }
        let next = match &told {
            Some(told) => match self.tell(&api, name, told).await {
                Ok(()) => next,
                Err(_) => Next::After(self.settings.retry),
            },
            None => next,
        };
        self.monitor.passed(&Passed {
            object: key.trim_start_matches('/'),
            told: told.as_ref(),
            next,
        });
        if told.is_none() && next == Next::OnChange {
            // It has ended, or is not ours: nobody comes to say that it is gone.
            self.forget(name, namespace);
        } else {
            self.memory().insert(key, memory);
        }
        next
    }

    /// How long an event about an object can wait: nothing but what we wrote ourselves has changed
    /// since its last pass, and the next one is not due. Without this a pass would be the cause of
    /// the next, and a failed one would not be backed off from.
    pub(crate) fn can_wait(&self, object: &S::Object) -> Option<Duration> {
        let key = key(&object.name_any(), object.namespace().as_deref());
        let memory = self.memory();
        let (said, due) = memory.get(&key)?.due.as_ref()?;
        let left = due
            .0
            .checked_sub(self.clock.now().0)
            .filter(|left| *left > 0)?;
        (*said == fingerprint(object)).then(|| Duration::from_millis(left))
    }

    fn api(&self, namespace: Option<&str>) -> Api<S::Object> {
        S::api(&self.client, namespace)
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Memory>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, name: &str, namespace: Option<&str>) {
        let key = key(name, namespace);
        self.memory().remove(&key);
        self.monitor.forgotten(key.trim_start_matches('/'));
    }

    /// What comes of looking at an object; what is to be told about it, if anything.
    async fn attend(
        &self,
        api: &Api<S::Object>,
        object: &S::Object,
        memory: &mut Memory,
    ) -> (Option<Conditions>, Next) {
        let slow = Next::After(self.settings.resync);
        let meta = object.meta();
        let ending = meta.deletion_timestamp.is_some();
        let finalizers = meta.finalizers.as_deref().unwrap_or_default();
        let ours = |name: &String| {
            name == S::FINALIZER
                || api::names::uuid_in_finalizer(name).is_some()
                || S::OLD_FINALIZERS.contains(&name.as_str())
        };
        let held = finalizers.iter().any(ours);
        if (ending || !S::is_ours(object)) && !held {
            return (None, Next::OnChange);
        }
        if S::is_paused(object) {
            return (
                Some(Conditions::paused("spec.pause is set")),
                Next::OnChange,
            );
        }
        let pin = match Pin::read(meta, S::FINALIZER) {
            Ok(pin) => pin,
            Err(error) => {
                return (
                    Some(Conditions::conflict(&error.to_string())),
                    Next::OnChange,
                );
            }
        };
        if let Err(error) = switches::check(meta) {
            return (Some(Conditions::trouble(&error.into())), slow);
        }
        match self.rival(api, object, &pin).await {
            Ok(None) => {}
            Ok(Some(words)) => return (Some(Conditions::conflict(&words)), slow),
            Err(trouble) => return (Some(Conditions::trouble(&trouble)), self.later(memory)),
        }
        let wants = match S::ids(object).and_then(|_| S::wants(object)) {
            Ok(wants) => wants,
            Err(error) => return (Some(Conditions::trouble(&error.into())), slow),
        };
        let claim = Claim::new(
            S::CLAIM_KIND,
            meta.namespace.as_deref().unwrap_or_default(),
            &object.name_any(),
            &pin.uuid,
        );
        let claim = match claim {
            Ok(claim) => claim,
            Err(error) => return (Some(Conditions::trouble(&error.into())), slow),
        };
        let inventory = match self.system.open(&self.client, object).await {
            Ok(inventory) => inventory,
            Err(trouble) => {
                let next = match &trouble {
                    Trouble::Input(_) => slow,
                    Trouble::Cloud(error) if error.class == Class::Fatal => slow,
                    _ => self.later(memory),
                };
                return (Some(Conditions::trouble(&trouble)), next);
            }
        };
        let (phase, observe) = (switches::phase(meta), switches::observes(meta));
        let (told, next) = self
            .pass(
                api, object, &inventory, claim, &wants, phase, observe, memory,
            )
            .await;
        if told
            .as_ref()
            .is_some_and(|told| S::has_migrated(object, told))
            && let Err(error) = self.end_migration(api, object).await
        {
            tracing::debug!(%error, "the original's finalizers stay for now");
        }
        (told, next)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a pass is about all of these, once"
    )]
    async fn pass(
        &self,
        api: &Api<S::Object>,
        object: &S::Object,
        inventory: &Inventory<S::Cloud>,
        claim: Claim,
        wants: &Wants,
        phase: Phase,
        observe: bool,
        memory: &mut Memory,
    ) -> (Option<Conditions>, Next) {
        let identity = self.identity(claim, wants);
        let case = Case {
            identity: &identity,
            blueprint: &wants.blueprint,
            evidence: &wants.evidence,
            kinds: self.system.owns(),
            phase,
        };
        let driver = Driver {
            rules: &Freehold,
            cloud: inventory,
            clock: &self.clock,
            term: (self.term)(),
        };
        let mut store = Store::new(&self.system, inventory.cloud(), api.clone(), object.clone());
        if observe {
            return self.observe(&driver, &case, &mut store).await;
        }
        let mut steps = Steps::default();
        let Memory {
            sightings, rested, ..
        } = memory;
        let mut end = driver
            .visit(&case, &mut store, sightings, rested, &mut steps)
            .await;
        if let PassEnd::Rest(_) = &end
            && phase == Phase::Live
            && let Err(error) = store.tidy().await
        {
            end = PassEnd::Ledger(error);
        }
        memory.due = Some((fingerprint(store.object()), self.clock.now()));
        steps.publish(&self.client, object, self.clock.wall()).await;
        let worked = steps.count() > 0;
        let mut told = Conditions::of(&end, phase);
        told.reconciled &= worked || !S::was_reconciled(object);
        let now = cloud_port::Clock::now(&self.clock);
        let failed = |memory: &mut Memory| self.later(memory);
        let next = match &end {
            PassEnd::Done => return (None, Next::OnChange),
            PassEnd::Rest(_) => {
                memory.failures = 0;
                match phase {
                    Phase::Live => Next::After(until_next(self.settings.resync, now)),
                    // Somebody waits for the end, and what holds it may be gone any moment.
                    _ => Next::After(HELD.min(self.settings.resync)),
                }
            }
            PassEnd::Wait(until, ..) => {
                memory.failures = 0;
                let wait = Duration::from_millis((*until - now).0);
                Next::After(wait.clamp(Duration::from_millis(1), self.settings.resync))
            }
            PassEnd::Failed(error, _) if error.class == Class::Fatal => {
                Next::After(self.settings.resync)
            }
            // Somebody wrote in between, or nobody knows: what is true is read at once.
            PassEnd::Ledger(LedgerError::Conflict) => {
                memory.due = None;
                return (None, Next::After(self.settings.retry));
            }
            PassEnd::Failed(..) | PassEnd::Ledger(_) | PassEnd::NotNow => failed(memory),
        };
        (Some(told), next)
    }

    async fn observe(
        &self,
        driver: &Driver<'_, Freehold, Inventory<S::Cloud>, K>,
        case: &Case<'_>,
        store: &mut Store<'_, S>,
    ) -> (Option<Conditions>, Next) {
        let slow = Next::After(self.settings.resync);
        let ledger = match store.load().await {
            Ok(ledger) => ledger,
            Err(error) => {
                let told = Conditions::of(&PassEnd::Ledger(error), case.phase);
                return (Some(told), slow);
            }
        };
        let told = match driver.plan(case, &ledger).await {
            Ok((plan, report)) => {
                let steps: Vec<String> = plan
                    .iter()
                    .map(|planned| {
                        format!("{} {}", planned.step.verb(), words::deed(&planned.step))
                    })
                    .collect();
                Conditions::observed(&steps, &report)
            }
            Err(error) => Conditions::trouble(&Trouble::Cloud(error)),
        };
        (Some(told), slow)
    }

    /// Who asks.
    pub(crate) fn identity(&self, claim: Claim, wants: &Wants) -> Identity {
        Identity {
            claim,
            holder: self.settings.holder.clone(),
            taken_over: self.settings.taken_over.clone(),
            dialect: wants.dialect.clone(),
        }
    }

    /// Another live object that is this claim, and that this one must give way to.
    async fn rival(
        &self,
        api: &Api<S::Object>,
        object: &S::Object,
        pin: &Pin,
    ) -> Result<Option<String>, Trouble> {
        // Only an object whose UUID was pinned elsewhere can be a copy.
        if !pin.moved {
            return Ok(None);
        }
        let all = S::api(&self.client, None);
        let all = if object.namespace().is_some() {
            all
        } else {
            api.clone()
        };
        let list = all.list(&ListParams::default()).await;
        let list = list.map_err(|error| Trouble::Kubernetes(error.to_string()))?;
        let rival = list.items.iter().find(|other| {
            other.uid() != object.uid()
                && other.annotations().get(CLAIM_UUID) == Some(&pin.uuid)
                && pin::loses(object.meta(), other.meta())
        });
        Ok(rival.map(|other| {
            format!(
                "the object {} has the same {CLAIM_UUID}; this one is a copy of it: remove the \
                 freehold.dev annotations and finalizers from this one",
                other.name_any()
            )
        }))
    }

    /// Backs off: each failure in a row doubles the time.
    fn later(&self, memory: &mut Memory) -> Next {
        let times = 1_u32
            .checked_shl(memory.failures.min(16))
            .unwrap_or(u32::MAX);
        memory.failures += 1;
        let wait = self.settings.retry.saturating_mul(times);
        Next::After(wait.min(self.settings.resync))
    }

    /// Tells conditions, unless the object says the same already.
    async fn tell(
        &self,
        api: &Api<S::Object>,
        name: &str,
        told: &Conditions,
    ) -> Result<(), LedgerError> {
        let object = api.get_opt(name).await.map_err(classify)?;
        let Some(object) = object else {
            return Ok(());
        };
        let change = Change::new(&object);
        let mut change = change.map_err(|error| LedgerError::Refused(error.to_string()))?;
        self.system
            .tell(&mut change, &object, told, self.clock.wall());
        let Some(patch) = change.status_patch() else {
            return Ok(());
        };
        let parameters = PatchParams::default();
        let patch = Patch::Merge(patch);
        api.patch_status(name, &parameters, &patch)
            .await
            .map(drop)
            .map_err(classify)
    }

    /// The original's finalizers go once everything that they vouched for carries our marks.
    async fn end_migration(
        &self,
        api: &Api<S::Object>,
        object: &S::Object,
    ) -> Result<(), LedgerError> {
        let name = object.name_any();
        let Some(object) = api.get_opt(&name).await.map_err(classify)? else {
            return Ok(());
        };
        let change = Change::new(&object);
        let mut change = change.map_err(|error| LedgerError::Refused(error.to_string()))?;
        for old in S::OLD_FINALIZERS {
            change.remove_finalizer(old);
        }
        let Some(patch) = change.object_patch() else {
            return Ok(());
        };
        let parameters = PatchParams::default();
        api.patch(&name, &parameters, &Patch::Merge(patch))
            .await
            .map(drop)
            .map_err(classify)
    }
}

/// What an object says, but for what only we write, and what changes with every write.
fn fingerprint<K: Resource<DynamicType = ()> + Serialize>(object: &K) -> String {
    let mut said = serde_json::to_value(object).unwrap_or_default();
    if let Some(said) = said.as_object_mut() {
        said.remove("status");
    }
    if let Some(metadata) = said["metadata"].as_object_mut() {
        for changing in ["resourceVersion", "generation", "managedFields"] {
            metadata.remove(changing);
        }
    }
    if let Some(annotations) = said["metadata"]["annotations"].as_object_mut() {
        annotations.remove(LEDGER);
    }
    said.to_string()
}

/// The time until the next multiple of a period: the same moment for everybody.
fn until_next(period: Duration, now: Tick) -> Duration {
    let period = u64::try_from(period.as_millis()).unwrap_or(u64::MAX).max(1);
    Duration::from_millis(period - now.0 % period)
}

fn key(name: &str, namespace: Option<&str>) -> String {
    format!("{}/{name}", namespace.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_rests_is_looked_at_when_the_others_are() {
        let period = Duration::from_mins(5);
        for (now, left) in [(0, 300_000), (1, 299_999), (299_999, 1), (300_000, 300_000)] {
            assert_eq!(until_next(period, Tick(now)), Duration::from_millis(left));
        }
        assert_eq!(
            until_next(Duration::ZERO, Tick(7)),
            Duration::from_millis(1)
        );
    }
}
