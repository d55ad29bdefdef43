//! A laboratory: an API server, a cloud, and the controller between them, one pass at a time.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};
use std::task::Poll;
use std::time::Duration;

use api::Condition;
use cloud_port::Survey;
use cloud_port::driver::Term;
use cloud_port::inventory::LIFE;
use cloud_sim::{Account, Actor, Life, SharedAccount, VirtualClock};
use controllers::reconcile::{Guards, Next, Reconciler, Settings, Sources, api_of};
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::{Client, Resource as _, ResourceExt as _};
use ownership::part::Resource;
use ownership::time::{Millis, Tick};
use ownership::{Freehold, Holder, Kind, Query, Target, Text};
use serde_json::{Value, json};

use crate::clock::LabClock;
use crate::during::{Deeds, During};
use crate::link::Writes;

/// How often the controller looks at an object at rest, in a laboratory.
pub const RESYNC: Duration = Duration::from_mins(5);
/// How soon it tries again to end what something holds.
const HELD: Duration = Duration::from_secs(30);
/// More passes than any case needs.
const TOO_MANY: usize = 400;

/// A laboratory.
pub struct Lab<S: Sources, C> {
    /// The API server.
    pub client: Client,
    /// The object's name, which no other case on this API server has.
    pub name: String,
    /// Its namespace, where it has one.
    pub namespace: Option<String>,
    /// An object to work with.
    pub sample: Sample,
    cloud: C,
    clock: VirtualClock,
    deeds: Deeds,
    writes: Writes,
    make: fn(During<C>) -> S,
    reconciler: Reconciler<S, LabClock>,
    guards: Guards,
}

/// An object to work with, as a suite's cases need it.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// The whole object, but for its name.
    pub manifest: Value,
    /// How many resources its claim owns when all is made.
    pub owns: usize,
    /// The Kinds of which it makes nothing, though claims of its system may own them.
    pub lacks: &'static [&'static Kind],
    /// A merge patch after which it wants something else of what it owns.
    pub edit: Value,
}

impl<S: Sources, C: Survey + Clone + 'static> Lab<S, C> {
    /// A laboratory around an account: `cloud` is what the controller talks to. The served kinds must
    /// be installed.
    pub fn new(
        client: Client,
        cloud: C,
        clock: VirtualClock,
        case: &str,
        sample: Sample,
        make: fn(During<C>) -> S,
    ) -> Self {
        let name = case.replace('_', "-");
        let name = name[..name.len().min(30)].trim_end_matches('-').to_owned();
        let deeds = Deeds::default();
        let during = During {
            cloud: cloud.clone(),
            deeds: deeds.clone(),
        };
        let system = make(during);
        let writes = Writes::default();
        let link = writes.link(&client);
        let reconciler = operator(system, &link, &clock, "here", &[], Guards::ALL);
        let namespace = sample.manifest["metadata"]["namespace"].as_str();
        Self {
            client,
            name,
            namespace: namespace.map(str::to_owned),
            sample,
            cloud,
            clock,
            deeds,
            writes,
            make,
            reconciler,
            guards: Guards::ALL,
        }
    }

    /// The operator lacks a check from now on: something must break.
    pub fn break_with(&mut self, guards: Guards) {
        self.guards = guards;
        self.restart();
    }

    /// The operator of another management cluster takes the first one's place, as after a restore of
    /// its backup; it has confirmed the take-over from these.
    pub fn move_to(&mut self, holder: &str, taken_over: &[&str]) {
        let during = During {
            cloud: self.cloud.clone(),
            deeds: self.deeds.clone(),
        };
        let system = (self.make)(during);
        let (link, clock) = (self.writes.link(&self.client), &self.clock);
        self.reconciler = operator(system, &link, clock, holder, taken_over, self.guards);
    }

    /// The operator starts again: what it remembered is gone.
    pub fn restart(&mut self) {
        self.move_to("here", &[]);
    }

    /// The cloud that the controller talks to.
    pub fn cloud(&self) -> &C {
        &self.cloud
    }

    /// The clock.
    pub fn clock(&self) -> &VirtualClock {
        &self.clock
    }

    /// The same credentials lead to another account from now on; the first one is returned.
    pub fn lead_to(&mut self, cloud: C) -> C {
        let first = std::mem::replace(&mut self.cloud, cloud);
        self.restart();
        first
    }

    /// The API of the system's objects.
    pub fn api(&self) -> Api<S::Object> {
        api_of(&self.client, self.namespace.as_deref())
    }

    /// Creates the sample, under the laboratory's name.
    pub async fn create_sample(&self) {
        self.create_object(&self.sample.manifest).await;
    }

    /// Creates an object under the laboratory's name, unless it has one.
    pub async fn create_object(&self, manifest: &Value) {
        let mut manifest = manifest.clone();
        let name = manifest["metadata"]["name"].as_str().map(str::to_owned);
        manifest["metadata"]["name"] = json!(name.unwrap_or_else(|| self.name.clone()));
        let object: S::Object = serde_json::from_value(manifest).unwrap();
        let created = self.api().create(&PostParams::default(), &object).await;
        created.unwrap();
    }

    /// Something happens when the cloud has created the next resource of a Kind, before it says so.
    pub fn during_create(&self, kind: &Kind, deed: impl Future<Output = ()> + Send + 'static) {
        self.deeds.plan(kind, deed);
    }

    /// The next Step of this verb on a resource of a Kind is refused: something is out of order for a
    /// moment.
    pub fn refuse(&self, verb: &'static str, kind: &Kind) {
        self.deeds.refuse(verb, kind);
    }

    /// How much of what was planned, in creates or in place of Steps, has not happened yet.
    pub fn plans_left(&self) -> usize {
        self.deeds.left()
    }

    /// Whether what the controller writes reaches the API server; what people write does.
    pub fn writes(&self) -> &Writes {
        &self.writes
    }

    /// One pass, in which the operator crashes when the cloud has created a resource of a Kind; then
    /// it starts again.
    pub async fn crash_in_create(&mut self, kind: &Kind) {
        let crashed = self.plan_crash(&[kind]);
        let ended = self.pass_or_crash(&crashed).await;
        assert!(ended.is_none(), "the pass ended before such a create");
    }

    /// Settles, and crashes on the way in the first create of each of these Kinds.
    pub async fn settle_with_crashes(&mut self, kinds: &[&Kind]) {
        let crashed = self.plan_crash(kinds);
        for _ in 0..TOO_MANY {
            match self.pass_or_crash(&crashed).await {
                Some(Next::After(wait)) if wait < RESYNC => self.wait(wait),
                Some(_) => return,
                None => {}
            }
        }
        panic!("no rest after {TOO_MANY} passes");
    }

    /// The operator is to crash in the next create of each of these Kinds.
    fn plan_crash(&self, kinds: &[&Kind]) -> Arc<AtomicBool> {
        let crashed = Arc::new(AtomicBool::new(false));
        for kind in kinds {
            let told = crashed.clone();
            self.during_create(kind, async move {
                told.store(true, Ordering::Relaxed);
                std::future::pending::<()>().await;
            });
        }
        crashed
    }

    /// One pass; `None` if the operator crashed in it, and started again. What else it had sent has taken
    /// effect: no call outlives its deadline, and no time passes here.
    async fn pass_or_crash(&mut self, crashed: &AtomicBool) -> Option<Next> {
        let next = {
            let mut pass = std::pin::pin!(self.pass());
            std::future::poll_fn(|context| match pass.as_mut().poll(context) {
                Poll::Ready(next) => Poll::Ready(Some(next)),
                Poll::Pending => {
                    let crashes =
                        crashed.load(Ordering::Relaxed) && !self.deeds.are_calls_under_way();
                    if crashes {
                        Poll::Ready(None)
                    } else {
                        Poll::Pending
                    }
                }
            })
            .await
        };
        if next.is_none() {
            crashed.store(false, Ordering::Relaxed);
            self.restart();
        }
        next
    }

    /// Changes the object by a merge patch.
    pub async fn patch(&self, patch: Value) {
        let patched = self
            .api()
            .patch(&self.name, &PatchParams::default(), &Patch::Merge(patch))
            .await;
        patched.unwrap();
    }

    /// Changes the object by a merge patch, unless the served definition forbids it.
    pub async fn patch_if_allowed(&self, patch: Value) -> bool {
        let patch = Patch::Merge(patch);
        let patched = self
            .api()
            .patch(&self.name, &PatchParams::default(), &patch)
            .await;
        match patched {
            Ok(_) => true,
            Err(kube::Error::Api(status)) if status.code == 422 => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// Asks for the object's deletion.
    pub async fn delete(&self) {
        let deleted = self
            .api()
            .delete(&self.name, &DeleteParams::default())
            .await;
        deleted.unwrap();
    }

    /// The object, as the API server has it.
    pub async fn object(&self) -> S::Object {
        self.api().get(&self.name).await.unwrap()
    }

    /// Whether the object is gone from the API server.
    pub async fn is_gone(&self) -> bool {
        self.api().get_opt(&self.name).await.unwrap().is_none()
    }

    /// One pass over the object; time does not move.
    pub async fn pass(&self) -> Next {
        self.pass_over(&self.name).await
    }

    /// The same for an object of another name.
    pub async fn pass_over(&self, name: &str) -> Next {
        self.reconciler
            .reconcile(name, self.namespace.as_deref())
            .await
    }

    /// Lets time pass.
    pub fn wait(&self, span: Duration) {
        self.clock.advance(millis(span));
    }

    /// Passes, with the time between them that the controller asks for, until it is at rest.
    pub async fn settle(&self) {
        self.settle_as(&self.name).await;
    }

    /// The same for an object of another name.
    pub async fn settle_as(&self, name: &str) {
        // What the inventory has seen is past.
        self.clock.advance(LIFE);
        let mut seen = String::new();
        let mut held = 0;
        for _ in 0..TOO_MANY {
            match self.pass_over(name).await {
                Next::OnChange => return,
                // An end that something holds is tried again and again.
                Next::After(wait) if wait == HELD && held < 3 => {
                    held += 1;
                    self.wait(wait);
                }
                Next::After(wait) if wait == HELD => return,
                Next::After(wait) if wait >= RESYNC => return,
                Next::After(wait) => {
                    let _ = writeln!(seen, "again after {wait:?}");
                    self.wait(wait);
                }
            }
        }
        let object = self.api().get_opt(name).await.unwrap();
        let object = serde_json::to_string_pretty(&object).unwrap();
        panic!("no rest after {TOO_MANY} passes\n{seen}\n{object}");
    }

    /// Passes over several objects, each when it is due, until all are at rest.
    pub async fn settle_together(&self, nexts: &[(&str, Next)]) {
        let due = |next: &Next| match next {
            Next::After(wait) if *wait < RESYNC => Some(self.clock.now() + millis(*wait)),
            _ => None,
        };
        let mut all: BTreeSet<(Tick, &str)> = nexts
            .iter()
            .filter_map(|(name, next)| Some((due(next)?, *name)))
            .collect();
        while let Some((at, name)) = all.pop_first() {
            self.clock.advance(at - self.clock.now());
            let next = self.pass_over(name).await;
            all.extend(due(&next).map(|at| (at, name)));
        }
    }

    /// The next time at which everything at rest is looked at comes: these are looked at, once.
    pub async fn resync(&self, names: &[String]) -> Vec<Next> {
        let period = millis(RESYNC).0;
        let left = period - self.clock.now().0 % period;
        self.clock.advance(Millis(left));
        let mut nexts = Vec::with_capacity(names.len());
        for name in names {
            nexts.push(self.pass_over(name).await);
        }
        nexts
    }

    /// Settles, and says that everything is as it should be.
    pub async fn converge(&self) {
        self.settle().await;
        let ready = self.condition("Ready").await;
        assert_eq!(
            ready.as_ref().map(|ready| ready.holds),
            Some(true),
            "{ready:?}"
        );
    }

    /// A condition of the object.
    pub async fn condition(&self, kind: &str) -> Option<Condition> {
        S::STATUS.said(&self.object().await, kind)
    }

    /// Says that a condition holds, in words that contain all of these.
    pub async fn assert_condition(&self, kind: &str, words: &[&str]) {
        let condition = self.condition(kind).await;
        let condition = condition.unwrap_or_else(|| panic!("there is no condition {kind}"));
        assert!(condition.holds, "{kind}: {condition:?}");
        let message = condition.message;
        for word in words {
            assert!(
                message.contains(word),
                "{kind}: {word:?} is not in {message:?}"
            );
        }
    }

    /// Says that the object is not written to at rest, and nothing is told: law 8.
    pub async fn assert_silent(&self) {
        let version = |object: &S::Object| object.resource_version();
        let before = version(&self.object().await);
        let events = self.events().await;
        for _ in 0..3 {
            self.wait(RESYNC);
            self.settle().await;
        }
        assert_eq!(
            version(&self.object().await),
            before,
            "law 8: rest is silent"
        );
        assert_eq!(self.events().await, events, "law 8: rest is silent");
    }

    /// The reasons of the object's events, in the order of their names.
    pub async fn events(&self) -> Vec<String> {
        let api: Api<k8s_openapi::api::events::v1::Event> = Api::namespaced(
            self.client.clone(),
            self.namespace.as_deref().unwrap_or("default"),
        );
        let list = api.list(&ListParams::default()).await.unwrap();
        let ours = list.items.into_iter().filter(|event| {
            let regarding = event
                .regarding
                .as_ref()
                .and_then(|object| object.name.as_ref());
            regarding == Some(&self.name)
        });
        ours.map(|event| {
            let reason = event.reason.unwrap_or_default();
            format!("{reason} {}", event.note.unwrap_or_default())
        })
        .collect()
    }

    /// The object as a backup keeps it: what the API server decides is not in it.
    pub async fn backup(&self) -> Value {
        kept(&self.object().await)
    }

    /// Removes the object with its finalizers, as a lost management cluster does; the cloud keeps
    /// everything.
    pub async fn lose(&self) {
        self.patch(json!({"metadata": {"finalizers": null}})).await;
        if !self.is_gone().await {
            self.delete().await;
        }
        assert!(self.is_gone().await);
    }

    /// Creates the object of a backup.
    pub async fn restore(&self, backup: &Value) {
        self.create_object(backup).await;
    }

    /// The object's metadata.
    pub async fn metadata(&self) -> ObjectMeta {
        self.object().await.meta().clone()
    }

    /// Everything in the cloud that carries the mark of a claim, whichever, of the Kinds that the
    /// system's claims may own.
    pub async fn marked(&self) -> BTreeSet<String> {
        let mut marked = BTreeSet::new();
        for kind in self.reconciler.system.owns() {
            for listed in self.cloud.survey(kind).await.unwrap().resources {
                let is_marked = |it: &Resource| {
                    let mut keys = it.tags.iter().map(|(key, _)| key);
                    keys.any(|key| key.starts_with("freehold.dev/"))
                };
                // Some lists show no tags.
                let it = Query::Id(Target::new(kind, listed.id.clone()));
                if is_marked(&listed)
                    || self
                        .cloud
                        .read(&it)
                        .await
                        .unwrap()
                        .resources
                        .iter()
                        .any(|it| is_marked(it))
                {
                    marked.insert(format!("{} {}", kind.name, listed.id));
                }
            }
        }
        marked
    }

    /// The Kinds that the system's claims may own.
    pub fn owns(&self) -> &'static [&'static Kind] {
        self.reconciler.system.owns()
    }
}

impl<S: Sources> Lab<S, SharedAccount> {
    /// A laboratory around a simulated account.
    pub fn simulated(
        client: Client,
        settings: cloud_sim::Settings,
        case: &str,
        sample: Sample,
        make: fn(During<SharedAccount>) -> S,
    ) -> Self {
        let clock = VirtualClock::new();
        let account = Account::new(settings, clock.clone());
        let cloud = SharedAccount::new(account, Actor::Engine(0));
        Self::new(client, cloud, clock, case, sample, make)
    }

    /// Another account on the same clock.
    pub fn another(&self, settings: cloud_sim::Settings) -> SharedAccount {
        let account = Account::new(settings, self.clock.clone());
        SharedAccount::new(account, Actor::Engine(0))
    }

    /// Somebody deletes everything that the system made; how much that was.
    pub fn delete_all_by_hand(&self) -> usize {
        let mut account = self.account();
        let made = |life: &&Life| life.is_alive() && matches!(life.by, Actor::Engine(_));
        let lives = account.lives().filter(made);
        let mut targets: Vec<Target> = lives.map(|life| life.target.clone()).collect();
        // What was made last uses what was made before.
        targets.reverse();
        let number = targets.len();
        // Some let each other in, and some hold what others are attached to: as often as anything goes.
        while !targets.is_empty() {
            let before = targets.len();
            for target in &targets {
                for inner in target.kind.inner {
                    let parts = account.parts(target, inner.name).iter();
                    let keys: Vec<Text> = parts.map(|part| part.key.clone()).collect();
                    // Some calls take one part.
                    for key in keys {
                        let _ = account.remove_parts(Actor::Stranger, target, inner.name, &[key]);
                    }
                }
            }
            targets.retain(|target| account.delete(Actor::Stranger, target).is_err());
            assert!(targets.len() < before, "nothing goes: {targets:#?}");
        }
        number
    }

    /// The account itself: what was called, and who made what.
    pub fn account(&self) -> MutexGuard<'_, Account> {
        self.cloud.lock()
    }
}

fn operator<S: Sources>(
    system: S,
    client: &Client,
    clock: &VirtualClock,
    holder: &str,
    taken_over: &[&str],
    guards: Guards,
) -> Reconciler<S, LabClock> {
    let settings = Settings {
        holder: Holder::of_cluster(holder),
        taken_over: taken_over
            .iter()
            .map(|name| (Holder::of_cluster(name), 0))
            .collect(),
        resync: RESYNC,
        retry: Duration::from_secs(1),
        rules: Freehold,
    };
    let clock = LabClock(clock.clone());
    let term = Arc::new(Term::alone);
    Reconciler::new(system, client.clone(), clock, settings, term).guarded(guards)
}

fn millis(span: Duration) -> Millis {
    Millis(u64::try_from(span.as_millis()).unwrap())
}

/// An object as a backup keeps it: what the API server decides is not in it.
pub(crate) fn kept(object: &impl serde::Serialize) -> Value {
    let mut object = serde_json::to_value(object).unwrap();
    let metadata = object["metadata"].as_object_mut().unwrap();
    for decided in [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "generation",
        "managedFields",
    ] {
        metadata.remove(decided);
    }
    object
}

/// Puts the fields of `with` into `into`, deep.
pub fn merge(into: &mut Value, with: Value) {
    match (into, with) {
        (Value::Object(into), Value::Object(with)) => {
            for (key, value) in with {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, with) => *into = with,
    }
}
