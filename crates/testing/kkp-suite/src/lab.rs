//! A laboratory: an API server, a cloud, and the controller between them, one pass at a time.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};
use std::task::Poll;
use std::time::Duration;

use api::kkp::{Cluster, Condition};
use cloud_port::Inventory;
use cloud_port::aws::errors::{self, Service};
use cloud_port::aws::{self, Access, Accounts, AwsPlace, Credentials};
use cloud_port::driver::{Clock, Term};
use cloud_port::inventory::LIFE;
use cloud_sim::{Account, Actor, SharedAccount, VirtualClock};
use controllers::kkp::Kkp;
use controllers::reconcile::{Guards, Next, Reconciler, Settings, WallClock};
use jiff::Timestamp;
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use ownership::time::{Millis, Tick};
use ownership::{Class, CloudError, Freehold, Holder, Kind};
use serde_json::{Value, json};

use crate::during::{Deeds, During};
use crate::hands::Hands;

/// How often the controller looks at an object at rest, in a laboratory.
pub const RESYNC: Duration = Duration::from_mins(5);
/// How soon it tries again to end what something holds.
const HELD: Duration = Duration::from_secs(30);
/// More passes than any case needs.
const TOO_MANY: usize = 400;

/// A laboratory.
pub struct Lab<C: AwsPlace> {
    /// What people do to the account, and what they see there.
    pub hands: Hands<C>,
    /// The API server.
    pub client: Client,
    /// The cluster's name, which no other case on this API server has.
    pub name: String,
    /// Whether the cloud keeps a group that another group's rule names, as AWS does.
    pub keeps_referenced: bool,
    cloud: C,
    clock: VirtualClock,
    deeds: Deeds,
    reconciler: Reconciler<Kkp<One<During<C>>>, LabClock>,
    guards: Guards,
}

/// The access key that no account accepts.
pub const WRONG_KEY: &str = "AKIAWRONG";

/// The one account that there is, in one region, for all keys but [`WRONG_KEY`].
#[derive(Debug)]
pub struct One<C>(Arc<Inventory<C>>);

impl<C> One<C> {
    /// This account.
    pub fn new(cloud: C) -> Self {
        Self(Arc::new(Inventory::new(cloud, &aws::KINDS)))
    }
}

impl<C: AwsPlace + 'static> Accounts for One<C> {
    type Cloud = C;

    async fn open(&self, access: &Access) -> Result<Arc<Inventory<C>>, CloudError> {
        // As the adapter tells what AWS says to such; its own tests show that it does.
        if access.region != self.0.cloud().region() {
            let message = format!("there are no servers for the region {}", access.region);
            return Err(CloudError::new(Class::Fatal, "UnknownRegion", message));
        }
        if matches!(&access.credentials, Credentials::Keys { id, .. } if id == WRONG_KEY) {
            let (code, message) = ("InvalidClientTokenId", "the security token is invalid");
            let operation = "GetCallerIdentity";
            return Err(errors::error(Service::Sts, operation, 403, code, message));
        }
        Ok(self.0.clone())
    }
}

/// The virtual clock, also as a time of day.
#[derive(Clone, Debug)]
struct LabClock(VirtualClock);

impl Clock for LabClock {
    fn now(&self) -> Tick {
        self.0.now()
    }
}

impl WallClock for LabClock {
    fn wall(&self) -> Timestamp {
        let seconds = i64::try_from(self.0.now().0 / 1000).unwrap();
        Timestamp::from_second(1_790_000_000 + seconds).unwrap()
    }
}

impl<C: AwsPlace + Clone + 'static> Lab<C> {
    /// A laboratory around an account: `cloud` is what the controller talks to, `hands` what people
    /// do. The served kinds must be installed.
    pub fn new(client: Client, cloud: C, hands: C, clock: VirtualClock, case: &str) -> Self {
        let name = case.replace('_', "-");
        let name = name[..name.len().min(30)].trim_end_matches('-').to_owned();
        let deeds = Deeds::default();
        let during = During {
            cloud: cloud.clone(),
            deeds: deeds.clone(),
        };
        let reconciler = operator(&client, during, &clock, "here", &[], Guards::ALL);
        Self {
            hands: Hands::new(hands, clock.clone()),
            client,
            name,
            keeps_referenced: true,
            cloud,
            clock,
            deeds,
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
        let (client, clock) = (&self.client, &self.clock);
        self.reconciler = operator(client, during, clock, holder, taken_over, self.guards);
    }

    /// The operator starts again: what it remembered is gone.
    pub fn restart(&mut self) {
        self.move_to("here", &[]);
    }

    /// The account and the region.
    pub fn place(&self) -> (&str, &str) {
        (self.cloud.account(), self.cloud.region())
    }

    /// The API of clusters.
    pub fn api(&self) -> Api<Cluster> {
        Api::all(self.client.clone())
    }

    /// Creates the cluster with these fields in `spec.cloud.aws` and these in `spec`.
    pub async fn create(&self, aws: Value, spec: Value) {
        self.create_as(&self.name, aws, spec, json!({})).await;
    }

    /// Creates a cluster of this name, with this metadata.
    pub async fn create_as(&self, name: &str, aws: Value, spec: Value, metadata: Value) {
        let cluster = manifest(name, aws, spec, metadata);
        let created = self.api().create(&PostParams::default(), &cluster).await;
        created.unwrap();
    }

    /// Something happens when the cloud has created the next resource of a Kind, before it says so.
    pub fn during_create(&self, kind: &Kind, deed: impl Future<Output = ()> + Send + 'static) {
        self.deeds.plan(kind, deed);
    }

    /// One pass, in which the operator crashes when the cloud has created a resource of a Kind; then
    /// it starts again.
    pub async fn crash_in_create(&mut self, kind: &Kind) {
        let created = Arc::new(AtomicBool::new(false));
        let told = created.clone();
        self.during_create(kind, async move {
            told.store(true, Ordering::Relaxed);
            std::future::pending::<()>().await;
        });
        {
            let mut pass = std::pin::pin!(self.pass());
            std::future::poll_fn(|context| {
                let over = pass.as_mut().poll(context).map(drop);
                assert!(over.is_pending(), "the pass ended before such a create");
                if created.load(Ordering::Relaxed) {
                    Poll::Ready(())
                } else {
                    over
                }
            })
            .await;
        }
        self.restart();
    }

    /// Changes the cluster by a merge patch.
    pub async fn patch(&self, patch: Value) {
        let patched = self
            .api()
            .patch(&self.name, &PatchParams::default(), &Patch::Merge(patch))
            .await;
        patched.unwrap();
    }

    /// Changes the cluster by a merge patch, unless the served definition forbids it.
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

    /// Asks for the cluster's deletion.
    pub async fn delete(&self) {
        let deleted = self
            .api()
            .delete(&self.name, &DeleteParams::default())
            .await;
        deleted.unwrap();
    }

    /// The cluster, as the API server has it.
    pub async fn cluster(&self) -> Cluster {
        self.api().get(&self.name).await.unwrap()
    }

    /// Whether the cluster is gone from the API server.
    pub async fn is_gone(&self) -> bool {
        self.api().get_opt(&self.name).await.unwrap().is_none()
    }

    /// One pass over the cluster; time does not move.
    pub async fn pass(&self) -> Next {
        self.pass_over(&self.name).await
    }

    /// The same for a cluster of another name.
    pub async fn pass_over(&self, name: &str) -> Next {
        self.reconciler.reconcile(name, None).await
    }

    /// Lets time pass.
    pub fn wait(&self, span: Duration) {
        self.clock.advance(millis(span));
    }

    /// Passes, with the time between them that the controller asks for, until it is at rest.
    pub async fn settle(&self) {
        self.settle_as(&self.name).await;
    }

    /// The same for a cluster of another name.
    pub async fn settle_as(&self, name: &str) {
        // What the inventory has seen is past.
        self.clock.advance(LIFE);
        let mut seen = String::new();
        let mut held = 0;
        for _ in 0..TOO_MANY {
            match self.reconciler.reconcile(name, None).await {
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

    /// Passes over several clusters, each when it is due, until all are at rest.
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
            nexts.push(self.reconciler.reconcile(name, None).await);
        }
        nexts
    }

    /// Settles, and says that everything is as it should be.
    pub async fn converge(&self) {
        self.settle().await;
        let ready = self.condition("Ready").await;
        assert_eq!(
            ready.as_ref().map(|c| c.status.as_str()),
            Some("True"),
            "{ready:?}"
        );
    }

    /// A condition of the cluster.
    pub async fn condition(&self, kind: &str) -> Option<Condition> {
        let status = self.cluster().await.status?;
        status.conditions.get(kind).cloned()
    }

    /// Says that a condition holds, in words that contain all of these.
    pub async fn assert_condition(&self, kind: &str, words: &[&str]) {
        let condition = self.condition(kind).await;
        let condition = condition.unwrap_or_else(|| panic!("there is no condition {kind}"));
        assert_eq!(condition.status, "True", "{kind}: {condition:?}");
        let message = condition.message.unwrap_or_default();
        for word in words {
            assert!(
                message.contains(word),
                "{kind}: {word:?} is not in {message:?}"
            );
        }
    }

    /// Says that the object is not written to at rest, and nothing is told: law 8.
    pub async fn assert_silent(&self) {
        let version = |cluster: &Cluster| cluster.metadata.resource_version.clone();
        let before = version(&self.cluster().await);
        let events = self.events().await;
        for _ in 0..3 {
            self.wait(RESYNC);
            self.settle().await;
        }
        assert_eq!(
            version(&self.cluster().await),
            before,
            "law 8: rest is silent"
        );
        assert_eq!(self.events().await, events, "law 8: rest is silent");
    }

    /// The reasons of the cluster's events, in the order of their names.
    pub async fn events(&self) -> Vec<String> {
        let api: Api<k8s_openapi::api::events::v1::Event> =
            Api::namespaced(self.client.clone(), "default");
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

    /// The cluster as a backup keeps it: what the API server decides is not in it.
    pub async fn backup(&self) -> Value {
        let mut object = serde_json::to_value(self.cluster().await).unwrap();
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
        let cluster: Cluster = serde_json::from_value(backup.clone()).unwrap();
        let created = self.api().create(&PostParams::default(), &cluster).await;
        created.unwrap();
    }

    /// The object's metadata.
    pub async fn metadata(&self) -> ObjectMeta {
        self.cluster().await.metadata
    }
}

impl Lab<SharedAccount> {
    /// A laboratory around a simulated account.
    pub fn simulated(client: Client, settings: cloud_sim::Settings, case: &str) -> Self {
        let clock = VirtualClock::new();
        let account = Account::new(settings, clock.clone());
        let cloud = SharedAccount::new(account, Actor::Engine(0));
        let hands = cloud.as_actor(Actor::Stranger);
        Self::new(client, cloud, hands, clock, case)
    }

    /// The same credentials lead to another account from now on; people still see the first one.
    pub fn lead_elsewhere(&mut self, settings: cloud_sim::Settings) -> SharedAccount {
        let first = self.cloud.clone();
        let account = Account::new(settings, self.clock.clone());
        self.cloud = SharedAccount::new(account, Actor::Engine(0));
        self.restart();
        first
    }

    /// They lead back.
    pub fn lead_to(&mut self, cloud: SharedAccount) {
        self.cloud = cloud;
        self.restart();
    }

    /// The account itself: what was called, and who made what.
    pub fn account(&self) -> MutexGuard<'_, Account> {
        self.cloud.lock()
    }
}

/// A cluster of this name, with these fields in `spec.cloud.aws`, in `spec` and in its metadata.
pub(crate) fn manifest(name: &str, aws: Value, spec: Value, metadata: Value) -> Cluster {
    let mut object = json!({
        "apiVersion": "kubermatic.k8c.io/v1",
        "kind": "Cluster",
        "metadata": {"name": name, "annotations": {"kubermatic.io/aws-region": "eu-central-1"}},
        "spec": {
            "humanReadableName": name,
            "version": "1.33.0",
            "exposeStrategy": "NodePort",
            "clusterNetwork": {
                "dnsDomain": "cluster.local",
                "proxyMode": "ipvs",
                "pods": {"cidrBlocks": ["10.0.0.0/16"]},
                "services": {"cidrBlocks": ["10.1.0.0/16"]},
            },
            "cloud": {
                "dc": "frankfurt",
                "providerName": "aws",
                "aws": {
                    "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
                    "instanceProfileName": "",
                },
            },
        },
    });
    merge(&mut object["spec"]["cloud"]["aws"], aws);
    merge(&mut object["spec"], spec);
    merge(&mut object["metadata"], metadata);
    serde_json::from_value(object).unwrap()
}

fn operator<C: AwsPlace + Clone + 'static>(
    client: &Client,
    cloud: During<C>,
    clock: &VirtualClock,
    holder: &str,
    taken_over: &[&str],
    guards: Guards,
) -> Reconciler<Kkp<One<During<C>>>, LabClock> {
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
    let accounts = One::new(cloud);
    let clock = LabClock(clock.clone());
    Reconciler::new(
        Kkp { accounts },
        client.clone(),
        clock,
        settings,
        Arc::new(Term::alone),
    )
    .guarded(guards)
}

fn millis(span: Duration) -> Millis {
    Millis(u64::try_from(span.as_millis()).unwrap())
}

/// Puts the fields of `with` into `into`, deep.
fn merge(into: &mut Value, with: Value) {
    match (into, with) {
        (Value::Object(into), Value::Object(with)) => {
            for (key, value) in with {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, with) => *into = with,
    }
}
