//! What every controller shares: from an object to a pass of the engine, and back to its status.
//!
//! ```text
//! object ──► pin (whose marks) ─┐
//!        ──► Blueprint ─────────┼──► driver's pass ──► ledger patches, conditions, events
//!        ──► place (which account)┘
//! ```
//!
//! A served system says what is its own in [`System`]; the rest is the same for all of them.

mod clock;
mod events;
mod guards;
mod inspect;
mod memory;
mod monitor;
mod outcome;
mod pass;
mod pin;
mod record;
mod rival;
mod run;
mod store;
mod switches;
mod tell;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use api::Change;
use cloud_port::{Inventory, Survey};
use kube::Client;
use kube::api::{Api, Resource};
use ownership::decide::Evidence;
use ownership::input::InputError;
use ownership::mark::Dialect;
use ownership::{Blueprint, CloudError, Kind, ResourceId, SlotName};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use clock::{TokioClock, WallClock};
pub use guards::Guards;
pub use inspect::{InspectError, Inspection};
pub use monitor::{Monitor, Passed};
pub use outcome::{Condition, Conditions};
pub use pass::{Next, Reconciler, Settings};
pub use run::run;

/// A served system: its object, where its clouds are, and how it wants to be told.
pub trait System: Send + Sync + 'static {
    /// The object.
    type Object: Resource<DynamicType = ()>
        + Clone
        + fmt::Debug
        + Serialize
        + DeserializeOwned
        + Send
        + Sync
        + 'static;
    /// Its cloud.
    type Cloud: Survey;

    /// The object's kind, as claims name it: `Cluster.kubermatic.k8c.io`.
    const CLAIM_KIND: &'static str;
    /// The served API's own finalizer.
    const FINALIZER: &'static str;
    /// Finalizers of the original that are ours to remove.
    const OLD_FINALIZERS: &'static [&'static str];

    /// The Kinds that its claims may own: deletion looks for all of them.
    fn owns(&self) -> &'static [&'static Kind];

    /// The Kinds that its claims may own or use.
    fn kinds(&self) -> &'static [&'static Kind];

    /// The API of its objects; in all namespaces without one, where there are namespaces.
    fn api(client: &Client, namespace: Option<&str>) -> Api<Self::Object>;

    /// Whether the object is this system's at all: a cluster on another cloud is not.
    fn is_ours(object: &Self::Object) -> bool;

    /// Whether the object says that it was reconciled in full before.
    fn was_reconciled(object: &Self::Object) -> bool;

    /// The original's finalizers that have done their duty when all is as it should be: everything
    /// that they vouched for carries our marks.
    fn migrated(object: &Self::Object) -> Vec<&'static str>;

    /// The served API's own switch which says that nobody may touch the object's resources.
    fn pause(object: &Self::Object) -> Option<&'static str>;

    /// What the object wants.
    ///
    /// # Errors
    /// The field that cannot be satisfied, and the rule it breaks.
    fn wants(object: &Self::Object) -> Result<Wants, InputError>;

    /// Whether the served API has a place for the id of this slot.
    fn keeps(slot: &SlotName) -> bool;

    /// The ids that the object records.
    ///
    /// # Errors
    /// The field whose value cannot be an id of its kind.
    fn ids(object: &Self::Object) -> Result<BTreeMap<SlotName, ResourceId>, InputError>;

    /// Writes ids to where the served API wants them, and what else deletion will need to know of
    /// the cloud they are in.
    fn record(
        cloud: &Self::Cloud,
        change: &mut Change<Self::Object>,
        object: &Self::Object,
        ids: &BTreeMap<SlotName, ResourceId>,
    );

    /// Where the object's resources are: the same inventory for all objects of one place.
    ///
    /// # Errors
    /// Why that cannot be told, or why nobody can sign in there.
    fn open(
        &self,
        client: &Client,
        object: &Self::Object,
    ) -> impl Future<Output = Result<Arc<Inventory<Self::Cloud>>, Trouble>> + Send;

    /// The account, and whatever else of a cloud resources cannot be moved from.
    fn place(cloud: &Self::Cloud) -> String;

    /// The field that leads to another place than the one that the object's resources are in.
    fn misplaced(object: &Self::Object, was: &str, is: &str) -> InputError;

    /// What can be checked only where the object leads us.
    ///
    /// # Errors
    /// The field that cannot be satisfied there, and the rule it breaks.
    fn check(object: &Self::Object, cloud: &Self::Cloud) -> Result<(), InputError>;

    /// The field that a refusal of the cloud is about, with the cure: what keeps us out of the
    /// account is something that a person wrote.
    fn blames(object: &Self::Object, error: &CloudError) -> Option<InputError>;

    /// What the object's status says of one of our conditions.
    fn said(object: &Self::Object, kind: &str) -> Option<Condition>;

    /// Tells the outcome of a pass in the object's status, and whatever else the original writes
    /// there.
    fn tell(
        &self,
        change: &mut Change<Self::Object>,
        object: &Self::Object,
        told: &Conditions,
        now: jiff::Timestamp,
    );
}

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

/// Why an object cannot be worked on at all: told in its conditions, with the cure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// Something that a person wrote.
    #[error(transparent)]
    Input(#[from] InputError),
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
