//! What a served system says of itself, in two halves: what is pure, and what must be asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::hash::Hash;

use api::{Change, Status};
use cloud_port::driver::Report;
use cloud_port::{Places, Survey};
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::Client;
use kube::api::{Api, Resource};
use ownership::decide::Evidence;
use ownership::input::InputError;
use ownership::mark::Dialect;
use ownership::{Blueprint, CloudError, Kind, Place, ResourceId, SlotName};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ask::{Ask, Watches};
use super::outcome::{Conditions, READY};
use super::unserved::Unserved;

/// A served system, as far as nobody must be asked: an object and facts in; wants, ids and status out.
///
/// What has a default is what most systems want.
pub trait System: Send + Sync + Sized + 'static {
    /// The object.
    type Object: Object;
    /// What must be known besides the object itself. If it changes, the object is looked at again.
    type Facts: Hash + Send + Sync;
    /// Its cloud.
    type Cloud: Survey;

    /// The object's kind, as claims name it: `Cluster.kubermatic.k8c.io`.
    const CLAIM_KIND: &'static str;
    /// The served API's own finalizer.
    const FINALIZER: &'static str;
    /// Finalizers of the original that are ours to remove.
    const OLD_FINALIZERS: &'static [&'static str] = &[];
    /// Where the served API wants to be told how an object is.
    const STATUS: Status;
    /// The field of the spec that has the ids which [`System::record`] writes, if there is one: people
    /// who free a copy must clear them.
    const IDS_IN: Option<&'static str> = None;
    /// The fields of the served API that are not served here: where one asks for something, nothing
    /// is made.
    const UNSERVED: &'static [Unserved] = &[];

    /// The Kinds that its claims may own: deletion looks for all of them.
    fn owns(&self) -> &'static [&'static Kind];

    /// The Kinds that its claims may own or use, in whatever place.
    fn kinds(&self) -> &'static [&'static Kind];

    /// The Kinds that its claims may own in another of their places.
    fn owns_in(&self, _: &Place) -> &'static [&'static Kind] {
        &[]
    }

    /// Whether the object is this system's at all: a cluster on another cloud is not.
    fn is_ours(_: &Self::Object) -> bool {
        true
    }

    /// Where an object that is not this system's names almost what would make it so.
    fn almost_ours(_: &Self::Object) -> Option<InputError> {
        None
    }

    /// Whether the object says that it was reconciled in full before.
    fn was_reconciled(object: &Self::Object) -> bool {
        let said = Self::STATUS.said(object, READY);
        said.is_some_and(|said| said.holds)
    }

    /// The original's finalizers that have done their duty when all is as it should be: everything
    /// that they vouched for carries our marks.
    fn migrated(_: &Self::Object) -> Vec<&'static str> {
        Self::OLD_FINALIZERS.to_vec()
    }

    /// The object's own switch which says that nobody may touch its resources.
    fn pause(_: &Self::Object) -> Option<&'static str> {
        None
    }

    /// What the object wants.
    ///
    /// # Errors
    /// The field that cannot be satisfied, and the rule it breaks.
    fn wants(object: &Self::Object, facts: &Self::Facts) -> Result<Wants, InputError>;

    /// Whether the served API has a place in its spec for the id of this slot. Ids of other slots are
    /// in the record; a status is no place for them, for it is lost in a restore.
    fn keeps(_: &SlotName) -> bool {
        false
    }

    /// The ids that the object's spec records.
    ///
    /// # Errors
    /// The field whose value cannot be an id of its kind.
    fn ids(_: &Self::Object) -> Result<Ids, InputError> {
        Ok(Ids::new())
    }

    /// Writes ids to where the served API keeps them, and what else deletion will need to know of
    /// the cloud they are in.
    ///
    /// It is called for every write of the record, the first one too, which comes before anything is
    /// made: what the facts decide once and for all is written here, so that it stays decided.
    fn record(
        _: &Self::Cloud,
        _: &Self::Facts,
        _: &mut Change<Self::Object>,
        _: &Self::Object,
        _: &Ids,
    ) {
    }

    /// Writes what the served API keeps in its spec of what the cloud made: an endpoint. When everything
    /// is as it should be; what is said already is not written again.
    fn publish(_: &Self::Facts, _: &mut Change<Self::Object>, _: &Self::Object, _: &Report) {}

    /// The account, and whatever else of a cloud resources cannot be moved from.
    fn place(cloud: &Self::Cloud) -> String;

    /// The field that leads to another place than the one that the object's resources are in.
    fn misplaced(object: &Self::Object, was: &str, is: &str) -> InputError;

    /// What can be checked only where the object leads us.
    ///
    /// # Errors
    /// The field that cannot be satisfied there, and the rule it breaks.
    fn check(_: &Self::Object, _: &Self::Cloud) -> Result<(), InputError> {
        Ok(())
    }

    /// The field that a refusal of the cloud is about, with the cure: what keeps us out of the
    /// account is something that a person wrote.
    fn blames(_: &Self::Object, _: &CloudError) -> Option<InputError> {
        None
    }

    /// Whatever else the served API tells besides conditions: ids, addresses, a flag. What is said
    /// already is not written again.
    fn status(_: &mut Change<Self::Object>, _: &Self::Object, _: &Told<'_>, _: jiff::Timestamp) {}
}

/// The other half: what must be asked for.
pub trait Sources: System {
    /// The kinds that [`Sources::facts`] asks for: a change of one activates whoever asked for it.
    fn watches(watches: Watches<Self>) -> Watches<Self> {
        watches
    }

    /// What must be known besides the object itself.
    ///
    /// # Errors
    /// What is missing, in words with the cure; [`Trouble::Waits`] for what will come by itself.
    fn facts(
        &self,
        ask: &Ask<'_>,
        object: &Self::Object,
    ) -> impl Future<Output = Result<Self::Facts, Trouble>> + Send;

    /// Where the object's resources are: the same inventory for all objects of one place. A claim with
    /// several places keeps what it calls each of them.
    ///
    /// # Errors
    /// Why nobody can sign in there.
    fn open(
        &self,
        facts: &Self::Facts,
    ) -> impl Future<Output = Result<Places<Self::Cloud>, CloudError>> + Send;
}

/// The ids of what fills slots.
pub type Ids = BTreeMap<SlotName, ResourceId>;

/// What an object wants.
#[derive(Clone, Debug)]
pub struct Wants {
    /// The slots.
    pub blueprint: Blueprint,
    /// The dialect of its marks.
    pub dialect: Dialect,
    /// What the object says that the marks do not.
    pub evidence: Evidence,
}

/// What there is to tell of an object.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// Its conditions.
    pub conditions: &'a Conditions,
    /// What fills its slots, if everything was looked at.
    pub report: Option<&'a Report>,
}

/// Why an object cannot be worked on at all: told in its conditions, with the cure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// Something that a person wrote.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Something that a person must put right outside the object, and that nobody watches: it is looked
    /// at again every half minute. A deletion is [`Blocked`](ownership::Finding::Blocked) by it.
    #[error(transparent)]
    Unwatched(InputError),
    /// Something that comes by itself, and is watched for.
    #[error("waits for {0}")]
    Waits(String),
    /// Something that we asked for says that nobody may touch the object's resources.
    #[error("{0}")]
    Paused(String),
    /// The cloud refused us, or could not be reached.
    #[error(transparent)]
    Cloud(#[from] CloudError),
    /// The management cluster could not be asked.
    #[error("the API server: {0}")]
    Kubernetes(String),
}

impl From<kube::Error> for Trouble {
    /// What the API server said, without the status object around it.
    fn from(error: kube::Error) -> Self {
        Self::Kubernetes(match error {
            kube::Error::Api(status) => status.message,
            other => Chain(&other).to_string(),
        })
    }
}

/// An error with all its causes.
struct Chain<'a>(&'a dyn std::error::Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// An object of an API server, in a namespace or in none.
pub trait Object:
    Resource<DynamicType = (), Scope: Scope<Self>>
    + Clone
    + fmt::Debug
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + 'static
{
}

impl<K> Object for K where
    K: Resource<DynamicType = (), Scope: Scope<K>>
        + Clone
        + fmt::Debug
        + Serialize
        + DeserializeOwned
        + Send
        + Sync
        + 'static
{
}

/// Where objects are: in namespaces, or in none.
pub trait Scope<K> {
    /// Whether they are in namespaces.
    const NAMESPACED: bool;

    /// The API of the objects of one namespace; of all without one.
    fn api(client: &Client, namespace: Option<&str>) -> Api<K>;
}

impl<K: Resource<DynamicType = (), Scope = Self>> Scope<K> for ClusterResourceScope {
    const NAMESPACED: bool = false;

    fn api(client: &Client, _: Option<&str>) -> Api<K> {
        Api::all(client.clone())
    }
}

impl<K: Resource<DynamicType = (), Scope = Self>> Scope<K> for NamespaceResourceScope {
    const NAMESPACED: bool = true;

    fn api(client: &Client, namespace: Option<&str>) -> Api<K> {
        match namespace {
            Some(namespace) => Api::namespaced(client.clone(), namespace),
            None => Api::all(client.clone()),
        }
    }
}

/// The API of a kind's objects; in all namespaces without one, where there are namespaces.
pub fn api_of<K: Object>(client: &Client, namespace: Option<&str>) -> Api<K> {
    <K::Scope as Scope<K>>::api(client, namespace)
}
