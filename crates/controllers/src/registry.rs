//! The served systems: one entry each. Everything that knows of more than one system asks here.

use std::pin::Pin;
use std::sync::Arc;

use api::manifests::protection;
use cloud_port::aws::{Access, Accounts, AwsPlace as _, Credentials};
use cloud_port::driver::Term;
use kube::Client;
use ownership::CloudError;

pub use crate::resources::Resources;
pub use crate::rights::Right;
pub use api::manifests::Served;

use crate::capa::machine::{self, CapaMachines};
use crate::capa::{self, Capa};
use crate::kkp::{self, Kkp};
use crate::land::{Land, Plot};
use crate::reconcile::{
    self, InspectError, Inspection, Monitor, Reconciler, Roll, Settings, Sources, Trouble,
    WallClock,
};

use crate::rights;

/// A served system, as people know it.
#[derive(Debug)]
pub struct Entry {
    /// Its name, as `--systems` takes it.
    pub name: &'static str,
    /// The system that it is served with: an API of several kinds has an entry for each, and `--systems`
    /// takes the name of all.
    pub part_of: Option<&'static str>,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Its objects.
    pub kind: Served,
    /// The definitions of its kinds, for clusters in which there are none.
    pub definitions: &'static [&'static str],
    /// The admission policies that it adds to the one that protects every system's claims, each with
    /// its binding.
    pub policies: &'static [&'static str],
    /// What it asks the API server for besides its objects: what its watches, its facts and its hosts
    /// need.
    pub asks: &'static [Right],
    /// What it has to do with resources of AWS: permissions are made of this.
    pub resources: Resources,
    /// The original.
    pub original: Original,
}

/// The program that does for its own API what we do.
#[derive(Debug)]
pub struct Original {
    /// As people know it.
    pub name: &'static str,
    /// What the name of its Lease begins with: where that is renewed, it is at work.
    pub lease: &'static str,
}

impl Entry {
    /// Its definition's name: `clusters.kubermatic.k8c.io`.
    pub fn definition(&self) -> String {
        format!("{}.{}", self.kind.plural, self.kind.group)
    }

    /// What it must be allowed to do.
    pub fn rights(&self) -> Vec<Right> {
        let own = rights::of_kind(&self.kind);
        own.into_iter().chain(self.asks.iter().copied()).collect()
    }

    /// Whether people mean its objects by this word.
    pub fn is_called(&self, word: &str) -> bool {
        let Served {
            plural,
            singular,
            group,
            ..
        } = self.kind;
        let word = word.to_lowercase();
        let alone = word.strip_suffix(&format!(".{group}")).unwrap_or(&word);
        alone == plural || alone == singular
    }
}

/// One row per system: its entry, and how it is made on its clouds.
///
/// A macro, because what is made is generic over clouds and clock, and the list of entries is not.
macro_rules! systems {
    ($($entry:path: |$clouds:ident| $system:expr,)+) => {
        /// Every system that there is.
        pub const ENTRIES: &[&Entry] = &[$(&$entry),+];

        /// The system of an entry.
        ///
        /// # Panics
        /// An entry that is not in [`ENTRIES`].
        pub fn system<C: Clouds, K: WallClock + 'static>(
            entry: &'static Entry,
            clouds: &C,
        ) -> Box<dyn System<K>> {
            $(if entry.name == $entry.name {
                let $clouds = clouds;
                return Box::new(On { entry, system: $system });
            })+
            unreachable!("{} is no entry", entry.name)
        }
    };
}

systems! {
    kkp::ENTRY: |clouds| Kkp { accounts: clouds.aws() },
    capa::ENTRY: |clouds| Capa { accounts: clouds.aws() },
    machine::ENTRY: |clouds| CapaMachines { accounts: clouds.aws() },
}

/// The entry of this name.
pub fn entry(name: &str) -> Option<&'static Entry> {
    let mut entries = ENTRIES.iter().copied();
    entries.find(|entry| entry.name == name)
}

/// The names that `--systems` takes.
pub fn names() -> Vec<&'static str> {
    let whole = ENTRIES.iter().filter(|entry| entry.part_of.is_none());
    whole.map(|entry| entry.name).collect()
}

/// Everything that is served under a name that `--systems` takes; nothing, if it is none.
pub fn served_as(name: &str) -> Vec<&'static Entry> {
    let entries = ENTRIES.iter().copied();
    entries
        .filter(|entry| entry.part_of.unwrap_or(entry.name) == name)
        .collect()
}

/// The admission policies of these systems, each with its binding: the one that protects the claims
/// of all of them, and their own.
pub fn policies(entries: &[&Entry]) -> Vec<String> {
    let kinds: Vec<Served> = entries.iter().map(|entry| entry.kind).collect();
    let own = entries.iter().flat_map(|entry| entry.policies);
    let mut all = protection(&kinds);
    all.extend(own.map(|&text| text.to_owned()));
    all
}

/// A region of AWS with the credentials of the environment, whether any object is there or not.
///
/// # Errors
/// Why nobody can sign in there.
pub async fn land<C: Clouds>(clouds: &C, region: &str) -> Result<Box<dyn Land>, CloudError> {
    let access = Access {
        credentials: Credentials::Default,
        assume: None,
        region: region.to_owned(),
    };
    let inventory = clouds.aws().open(&access).await?;
    let place = inventory.cloud().place();
    Ok(Box::new(Plot::new(place, inventory)))
}

/// The clouds that systems are on.
pub trait Clouds: Send + Sync {
    /// The accounts of AWS.
    type Aws: Accounts + Clone;

    /// The accounts of AWS.
    fn aws(&self) -> Self::Aws;
}

impl<A: Accounts + Clone> Clouds for A {
    type Aws = A;

    fn aws(&self) -> A {
        self.clone()
    }
}

/// What every system is run with.
pub struct Road<K> {
    /// The management cluster.
    pub client: Client,
    /// The clock.
    pub clock: K,
    /// How a reconciler behaves.
    pub settings: Settings,
    /// For how long this process may act.
    pub term: Arc<dyn Fn() -> Term + Send + Sync>,
    /// Who takes note of passes, if anybody does.
    pub monitor: Option<Arc<dyn Monitor>>,
}

/// What is waited for.
pub type Future<'a, T> = Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;

/// A system on its clouds, whatever its objects are.
pub trait System<K>: Send + Sync {
    /// Its entry.
    fn entry(&self) -> &'static Entry;

    /// Works until `stop`, and then until the passes that have begun have ended.
    fn run(self: Box<Self>, road: Road<K>, stop: Stop) -> Future<'static, ()>;

    /// Looks at objects and at their clouds; nothing is written.
    fn inspect(
        self: Box<Self>,
        road: Road<K>,
        which: Which<'_>,
    ) -> Future<'_, Result<Vec<Inspection>, InspectError>>;

    /// Calls the roll of its objects; nothing is written.
    fn roll(self: Box<Self>, road: Road<K>) -> Future<'static, Result<Roll, Trouble>>;
}

/// Which objects are looked at.
#[derive(Clone, Copy, Debug)]
pub struct Which<'a> {
    /// Those of this name; all without one.
    pub name: Option<&'a str>,
    /// Those in this namespace, where they are in namespaces; in all without one.
    pub namespace: Option<&'a str>,
}

/// The word to stop.
pub type Stop = Pin<Box<dyn std::future::Future<Output = ()> + Send + Sync>>;

/// A system with its entry.
struct On<S> {
    entry: &'static Entry,
    system: S,
}

impl<S: Sources> On<S> {
    fn reconciler<K: WallClock>(self, road: Road<K>) -> Reconciler<S, K> {
        let Road {
            client,
            clock,
            settings,
            term,
            monitor,
        } = road;
        let reconciler = Reconciler::new(self.system, client, clock, settings, term);
        match monitor {
            Some(monitor) => reconciler.monitored(monitor),
            None => reconciler,
        }
    }
}

impl<S: Sources, K: WallClock + 'static> System<K> for On<S> {
    fn entry(&self) -> &'static Entry {
        self.entry
    }

    fn run(self: Box<Self>, road: Road<K>, stop: Stop) -> Future<'static, ()> {
        let reconciler = self.reconciler(road);
        Box::pin(reconcile::run(Arc::new(reconciler), stop))
    }

    fn inspect(
        self: Box<Self>,
        road: Road<K>,
        which: Which<'_>,
    ) -> Future<'_, Result<Vec<Inspection>, InspectError>> {
        let reconciler = self.reconciler(road);
        let Which { name, namespace } = which;
        Box::pin(async move {
            match name {
                Some(name) => Ok(vec![reconciler.inspect(name, namespace).await?]),
                None => reconciler.inspect_all(namespace).await,
            }
        })
    }

    fn roll(self: Box<Self>, road: Road<K>) -> Future<'static, Result<Roll, Trouble>> {
        let reconciler = self.reconciler(road);
        Box::pin(async move { reconciler.roll().await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_name_of_its_own_and_a_definition() {
        for (at, entry) in ENTRIES.iter().enumerate() {
            assert!(ENTRIES[..at].iter().all(|other| other.name != entry.name));
            let name = format!("name: {}", entry.definition());
            assert!(
                entry.definitions.iter().any(|text| text.contains(&name)),
                "{name}"
            );
        }
    }

    #[test]
    fn a_system_of_several_kinds_is_served_by_one_name() {
        let names: Vec<&str> = served_as("capa").iter().map(|it| it.name).collect();
        assert_eq!(names, ["capa", "capa-machines"]);
        assert!(served_as("capa-machines").is_empty());
        for entry in ENTRIES {
            let whole = entry.part_of.unwrap_or(entry.name);
            assert!(super::names().contains(&whole), "{whole}");
        }
    }

    #[test]
    fn people_call_objects_as_kubectl_does() {
        let kkp = entry("kkp").unwrap();
        for word in ["cluster", "Clusters", "cluster.kubermatic.k8c.io"] {
            assert!(kkp.is_called(word), "{word}");
        }
        for word in ["machine", "cluster.cluster.x-k8s.io", ""] {
            assert!(!kkp.is_called(word), "{word}");
        }
    }
}
