//! Guests: objects that need another one until they have ended, the network that they are in, the
//! Secret with their key. This is the guest's side; [`host`](super::host) is the other.
//!
//! What makes it safe is the order. A guest records its hosts, then reads each of them and puts a
//! finalizer on it, and only then writes to a cloud. Whoever lets go of a host first reads that it is
//! about to end, and then who its guests are. So a guest that found its host alive is seen.

use std::collections::BTreeSet;
use std::fmt;

use api::names::{guest_finalizer, guests_in_finalizer};
use api::written;
use cloud_port::LedgerError;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, DynamicObject, Patch};
use ownership::Phase;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ask::Key;
use super::clock::WallClock;
use super::pass::{Reconciler, shown};
use super::store::Store;
use super::system::{Sources, Trouble};

/// What a guest needs until it has ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Host {
    /// Its kind, as claims name it.
    pub(crate) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.split('.').next().unwrap_or_default();
        let key: Key = (self.namespace.clone(), self.name.clone());
        write!(f, "{kind} {}", shown(&key))
    }
}

/// A host, as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) host: Host,
    pub(crate) meta: ObjectMeta,
}

impl Seen {
    /// Whether it is held for guests of this kind, and will be.
    pub(crate) fn is_held_for(&self, guests: &str) -> bool {
        let finalizer = guest_finalizer(guests);
        let annotations = self.meta.annotations.as_ref();
        let said = annotations.and_then(|all| all.get(&finalizer));
        has(&self.meta, &finalizer) && said.is_none_or(|said| said != LEAVING)
    }

    /// Whether somebody has deleted it.
    pub(crate) fn ends(&self) -> bool {
        self.meta.deletion_timestamp.is_some()
    }
}

/// What a host says of guests of which nobody is left: whoever comes now takes the word away.
pub(super) const LEAVING: &str = "(leaving)";

/// Why a guest cannot begin.
pub(super) enum Unlodged {
    /// Its record could not be written.
    Ledger(LedgerError),
    /// Its host ends, or could not be asked.
    Trouble(Trouble),
}

impl From<LedgerError> for Unlodged {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl From<kube::Error> for Unlodged {
    fn from(error: kube::Error) -> Self {
        match error {
            // Somebody wrote in between: everything is read again.
            kube::Error::Api(status) if [404, 409].contains(&status.code) => {
                Self::Ledger(LedgerError::Conflict)
            }
            error => Self::Trouble(error.into()),
        }
    }
}

impl<S: Sources, K: WallClock> Reconciler<S, K> {
    /// Sees to it that what the object needs stays until it has ended.
    ///
    /// # Expected flow
    /// 1. Whoever lives and has nothing in a cloud yet moves in with no host that ends; nor does anybody
    ///    go on with one that ends and does not wait.
    /// 2. A host that it does not record yet is recorded, together with its pin: that makes it a guest.
    ///    Then the hosts are read once more. Who came in vain takes that back.
    /// 3. Each host gets the finalizer, unless it has it. One that ends takes none.
    pub(super) async fn lodge(
        &self,
        store: &mut Store<'_, S>,
        hosts: &[Seen],
        phase: Phase,
    ) -> Result<(), Unlodged> {
        let before = store.hosts().clone();
        let lives = phase == Phase::Live;
        let has_moved_in = store.told_of_anything();
        let (was_new, was_pinned) = (store.ledger().is_new, store.ledger().pinned);
        let refused = |seen: &&Seen| {
            let at_home = has_moved_in && before.contains(&seen.host);
            lives && seen.ends() && !(at_home && has(&seen.meta, &guest_finalizer(S::CLAIM_KIND)))
        };
        let mut hosts = hosts.to_vec();
        refuse(hosts.iter().find(refused))?;
        let mut missing = hosts.iter().filter(|seen| !before.contains(&seen.host));
        if missing.next().is_some() || (lives && !was_pinned && !hosts.is_empty()) {
            let all = before.iter().cloned();
            let all = all.chain(hosts.iter().map(|seen| seen.host.clone()));
            store.record_hosts(all.collect()).await?;
            if lives {
                let again = match self.read_again(&mut hosts).await {
                    Ok(()) => refuse(hosts.iter().find(refused)),
                    Err(error) => Err(error),
                };
                match again {
                    Ok(()) => {}
                    // Nobody knows: it comes again.
                    Err(Unlodged::Trouble(trouble)) if !matches!(trouble, Trouble::Waits(_)) => {
                        return Err(Unlodged::Trouble(trouble));
                    }
                    Err(in_vain) => {
                        // The host must not wait for somebody who waits for it; and who owns nothing
                        // needs nobody to end.
                        if was_new {
                            store.unpin().await?;
                        } else {
                            store.record_hosts(before).await?;
                        }
                        return Err(in_vain);
                    }
                }
            }
        }
        for seen in hosts.iter().filter(|seen| !seen.ends()) {
            if !seen.is_held_for(S::CLAIM_KIND) {
                self.hold(seen).await?;
            }
        }
        Ok(())
    }

    /// Reads hosts once more. What was read before says nothing of another one of the same name.
    async fn read_again(&self, hosts: &mut [Seen]) -> Result<(), Unlodged> {
        for seen in hosts {
            let api = self.host_api(&seen.host);
            let meta = api.get_metadata(&seen.host.name).await?.metadata;
            if meta.uid != seen.meta.uid {
                return Err(LedgerError::Conflict.into());
            }
            seen.meta = meta;
        }
        Ok(())
    }

    /// Puts the finalizer on a host.
    async fn hold(&self, seen: &Seen) -> Result<(), kube::Error> {
        let finalizer = guest_finalizer(S::CLAIM_KIND);
        let mut finalizers = seen.meta.finalizers.clone().unwrap_or_default();
        finalizers.retain(|name| *name != finalizer);
        finalizers.push(finalizer.clone());
        let patch = json!({"metadata": {
            "resourceVersion": seen.meta.resource_version,
            "finalizers": finalizers,
            "annotations": {finalizer: null},
        }});
        self.patch_host(&seen.host, patch).await?;
        Ok(())
    }

    /// Changes the metadata of a host.
    pub(super) async fn patch_host(
        &self,
        host: &Host,
        patch: serde_json::Value,
    ) -> Result<ObjectMeta, kube::Error> {
        let (api, patch) = (self.host_api(host), Patch::Merge(patch));
        let parameters = written::patches();
        let patched = api.patch_metadata(&host.name, &parameters, &patch).await?;
        Ok(patched.metadata)
    }

    /// The API of a host's kind. A record may name a kind that is none any more: nothing is there.
    pub(super) fn host_api(&self, host: &Host) -> Api<DynamicObject> {
        let resource = &self.references.hosts[&host.kind];
        match &host.namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, resource),
            None => Api::all_with(self.client.clone(), resource),
        }
    }
}

/// Nobody moves in with a host that ends.
fn refuse(ending: Option<&Seen>) -> Result<(), Unlodged> {
    match ending {
        None => Ok(()),
        Some(seen) => {
            let what = format!("another {}: this one is being deleted", seen.host);
            Err(Unlodged::Trouble(Trouble::Waits(what)))
        }
    }
}

/// Who an object must wait for, in words; `None` if it is nobody's host.
pub(super) fn holds(meta: &ObjectMeta) -> Option<String> {
    let finalizers = meta.finalizers.iter().flatten();
    let guests: BTreeSet<String> = finalizers
        .filter_map(|name| {
            let kind = guests_in_finalizer(name)?;
            let said = meta.annotations.as_ref().and_then(|all| all.get(name));
            let kind = kind.split('.').next().unwrap_or(kind);
            Some(match said.filter(|said| *said != LEAVING) {
                Some(names) => format!("{kind} {names}"),
                None => kind.to_owned(),
            })
        })
        .collect();
    let guests: Vec<String> = guests.into_iter().collect();
    (!guests.is_empty()).then(|| waits(&guests.join("; ")))
}

/// That a deletion waits for guests.
pub(super) fn waits(guests: &str) -> String {
    format!("its deletion waits for what needs it: {guests}")
}

pub(super) fn has(meta: &ObjectMeta, finalizer: &str) -> bool {
    let mut finalizers = meta.finalizers.iter().flatten();
    finalizers.any(|name| name == finalizer)
}
