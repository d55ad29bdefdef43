//! Hosts: what guests need until they have ended. A host's deletion waits for its guests and names
//! them; without any it is let go.

use std::collections::BTreeSet;
use std::sync::Mutex;

use api::names::{guest_finalizer, uuid_in_finalizer};
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt as _;
use kube::api::ListParams;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::ask::lock;
use super::clock::WallClock;
use super::events::{self, Note, REPORT};
use super::guest::{self, Host, LEAVING, has};
use super::pass::{HELD, Reconciler, shown};
use super::record;
use super::system::{Sources, api_of};

/// How many guests a host names.
const NAMED: usize = 10;

/// The hosts of which somebody should look whether they have guests.
#[derive(Debug)]
pub(crate) struct Due {
    finalizer: String,
    hosts: Mutex<BTreeSet<Host>>,
    more: Notify,
    /// Those that end and wait for guests. A guest may go without a word: by force, or with the answer
    /// to its last write lost.
    waiting: Mutex<BTreeSet<Host>>,
}

impl Default for Due {
    fn default() -> Self {
        Self::of("")
    }
}

impl Due {
    /// Nothing is due yet for guests of this kind.
    pub(crate) fn of(guests: &str) -> Self {
        Self {
            finalizer: guest_finalizer(guests),
            hosts: Mutex::default(),
            more: Notify::new(),
            waiting: Mutex::default(),
        }
    }

    /// A host has changed: somebody looks, if it ends, or if no guest of it is known.
    pub(crate) fn saw(&self, host: Host, meta: &ObjectMeta, has_guests: bool) {
        let held = has(meta, &self.finalizer);
        if held && (meta.deletion_timestamp.is_some() || !has_guests) {
            self.put(host);
        }
    }

    fn put(&self, host: Host) {
        lock(&self.hosts).insert(host);
        self.more.notify_one();
    }

    fn take(&self) -> BTreeSet<Host> {
        std::mem::take(&mut *lock(&self.hosts))
    }

    /// A host ends and waits for guests: it is looked at again by and by.
    fn waits(&self, host: Host) {
        lock(&self.waiting).insert(host);
        self.more.notify_one();
    }

    /// What is due, for as long as it takes until something is; of the waiting at the latest then.
    async fn next(&self, waiting_at: Instant) -> BTreeSet<Host> {
        if lock(&self.waiting).is_empty() {
            self.more.notified().await;
        } else if timeout_at(waiting_at, self.more.notified()).await.is_err() {
            return std::mem::take(&mut *lock(&self.waiting));
        }
        self.take()
    }
}

impl<S: Sources, K: WallClock> Reconciler<S, K> {
    /// Looks after hosts, for ever.
    pub(super) async fn look_after_hosts(&self) {
        let mut waiting_at = Instant::now() + HELD;
        loop {
            let due = self.references.due.next(waiting_at).await;
            if Instant::now() >= waiting_at {
                waiting_at = Instant::now() + HELD;
            }
            if !self.look_after(due).await {
                tokio::time::sleep(self.settings.retry).await;
            }
        }
    }

    /// Names the guests of hosts that end, and lets go of those without any. What fails is due again;
    /// answers whether nothing did.
    pub(super) async fn look_after(&self, hosts: BTreeSet<Host>) -> bool {
        let mut all = true;
        for host in hosts {
            if !self.references.hosts.contains_key(&host.kind) {
                continue;
            }
            if let Err(error) = self.look_after_one(&host).await {
                tracing::debug!(%error, %host, "it is looked after again");
                self.references.due.put(host);
                all = false;
            }
        }
        all
    }

    /// # Expected flow
    /// 1. Read the host, then list its guests: whoever comes after finds that it ends.
    /// 2. If it does not end, write that its guests leave, and list them again: whoever came in
    ///    between has taken that word away.
    /// 3. Nobody is left: the finalizer goes, from the very version that was read or written.
    async fn look_after_one(&self, host: &Host) -> Result<(), kube::Error> {
        let finalizer = guest_finalizer(S::CLAIM_KIND);
        let seen = self.host_api(host).get_metadata_opt(&host.name).await?;
        let Some(mut meta) = seen.map(|seen| seen.metadata) else {
            return Ok(());
        };
        if !has(&meta, &finalizer) {
            return Ok(());
        }
        let mut guests = self.guests_of(host).await?;
        let ends = meta.deletion_timestamp.is_some();
        if guests.is_empty() && !ends {
            let leaving = change(&meta, json!({"annotations": {&finalizer: LEAVING}}));
            meta = self.patch_host(host, leaving).await?;
            guests = self.guests_of(host).await?;
        }
        if guests.is_empty() {
            let mut finalizers = meta.finalizers.clone().unwrap_or_default();
            finalizers.retain(|name| *name != finalizer);
            let none = json!({"finalizers": finalizers, "annotations": {finalizer: null}});
            self.patch_host(host, change(&meta, none)).await?;
            return Ok(());
        }
        let said = meta
            .annotations
            .as_ref()
            .and_then(|all| all.get(&finalizer));
        let names = names(&guests);
        if ends {
            self.references.due.waits(host.clone());
        }
        if ends && said != Some(&names) {
            let named = json!({"annotations": {finalizer: names}});
            self.patch_host(host, change(&meta, named)).await?;
            self.tell_host(host, &meta, &names).await;
        }
        Ok(())
    }

    /// Says on a host whom its deletion waits for.
    async fn tell_host(&self, host: &Host, meta: &ObjectMeta, names: &str) {
        let resource = &self.references.hosts[&host.kind];
        let kind = S::CLAIM_KIND.split('.').next().unwrap_or_default();
        let reference = ObjectReference {
            api_version: Some(resource.api_version.clone()),
            kind: Some(resource.kind.clone()),
            name: Some(host.name.clone()),
            namespace: host.namespace.clone(),
            uid: meta.uid.clone(),
            ..ObjectReference::default()
        };
        let note = Note {
            warns: true,
            reason: "Guests",
            action: REPORT,
            words: guest::waits(&format!("{kind} {names}")),
        };
        let now = self.clock.wall();
        events::publish(&self.client, &reference, now, "guests", &[note]).await;
    }

    /// The objects that need a host until they have ended.
    async fn guests_of(&self, host: &Host) -> Result<Vec<String>, kube::Error> {
        let all = api_of::<S::Object>(&self.client, None);
        let all = all.list_metadata(&ListParams::default()).await?;
        let is_guest = |meta: &ObjectMeta| {
            let mut finalizers = meta.finalizers.iter().flatten();
            // Who has lost its record may need any host.
            finalizers.any(|name| uuid_in_finalizer(name).is_some())
                && record::hosts(meta).is_none_or(|hosts| hosts.contains(host))
        };
        let guests = all.items.iter().filter(|object| is_guest(&object.metadata));
        Ok(guests
            .map(|object| shown(&(object.namespace(), object.name_any())))
            .collect())
    }
}

/// A change to the version that was read.
fn change(meta: &ObjectMeta, mut metadata: Value) -> Value {
    metadata["resourceVersion"] = json!(meta.resource_version);
    json!({"metadata": metadata})
}

fn names(guests: &[String]) -> String {
    let named = guests.iter().take(NAMED).cloned().collect::<Vec<_>>();
    match guests.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
