//! An object as the engine sees it: what fills its slots, and what would be done next. Nothing is
//! written, to the cloud or to the object.

use std::fmt;
use std::sync::Arc;

use cloud_port::Inventory;
use cloud_port::driver::{Driver, Planned, Report};
use cloud_port::{LedgerError, LedgerStore as _};
use kube::{Resource as _, ResourceExt as _};
use ownership::decide::{Case, Phase};
use ownership::{Blueprint, Claim, CloudError, Freehold, Ledger};

use super::clock::WallClock;
use super::pass::Reconciler;
use super::pin::Pin;
use super::store::Store;
use super::{System, Trouble, switches};

/// An object as the engine sees it.
#[derive(Debug)]
pub struct Inspection<C> {
    /// The claim.
    pub claim: Claim,
    /// Whether it lives or ends.
    pub phase: Phase,
    /// Its slots.
    pub blueprint: Blueprint,
    /// Its record.
    pub ledger: Ledger,
    /// The Steps of a pass that succeeds, each with its reason.
    pub plan: Vec<Planned>,
    /// What such a pass finds; what it would create fills slots here, too.
    pub report: Report,
    /// The switch because of which nothing of that is done, in words.
    pub switch: Option<&'static str>,
    /// The cloud that was asked.
    pub cloud: Arc<Inventory<C>>,
}

/// Why an object cannot be inspected.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// There is none of that name.
    #[error("there is no {kind} {name:?}")]
    Absent {
        /// The kind that was looked for.
        kind: String,
        /// The name that was looked for.
        name: String,
    },
    /// It is another controller's.
    #[error("{0:?} is not ours: it says nothing of a cloud that is served here")]
    NotOurs(String),
    /// Nobody can tell which claim it is.
    #[error("{0}")]
    Identity(String),
    /// It cannot be worked on.
    #[error(transparent)]
    Trouble(#[from] Trouble),
    /// Its record cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The cloud could not be asked.
    #[error("the cloud says {0}")]
    Cloud(#[from] CloudError),
}

impl<S: System, K: WallClock> Reconciler<S, K> {
    /// Looks at the object of this name, and at its cloud.
    ///
    /// # Guarantees
    /// Read-only.
    ///
    /// # Errors
    /// Why that cannot be done, in words for people.
    pub async fn inspect(
        &self,
        name: &str,
        namespace: Option<&str>,
    ) -> Result<Inspection<S::Cloud>, InspectError> {
        let api = S::api(&self.client, namespace);
        let answer = api.get_opt(name).await;
        let object = answer.map_err(|error| Trouble::Kubernetes(said(&error)))?;
        let Some(object) = object else {
            let kind = S::CLAIM_KIND.to_owned();
            let name = name.to_owned();
            return Err(InspectError::Absent { kind, name });
        };
        if !S::is_ours(&object) {
            return Err(InspectError::NotOurs(name.to_owned()));
        }
        let meta = object.meta();
        let pin = Pin::read(meta, S::FINALIZER);
        let pin = pin.map_err(|error| InspectError::Identity(error.to_string()))?;
        let wants = S::wants(&object).map_err(Trouble::from)?;
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let claim = Claim::new(S::CLAIM_KIND, namespace, &object.name_any(), &pin.uuid);
        let claim = claim.map_err(Trouble::from)?;
        let cloud = self.system.open(&self.client, &object).await?;
        let phase = switches::phase(meta);
        let switch = if S::is_paused(&object) {
            Some("the object is paused")
        } else if switches::observes(meta) {
            Some("freehold.dev/management is observe")
        } else {
            None
        };
        let ledger = Store::new(&self.system, cloud.cloud(), api, object)
            .load()
            .await?;
        let identity = self.identity(claim.clone(), &wants);
        let case = Case {
            identity: &identity,
            blueprint: &wants.blueprint,
            evidence: &wants.evidence,
            kinds: self.system.owns(),
            phase,
        };
        let driver = Driver {
            rules: &Freehold,
            cloud: &*cloud,
            clock: &self.clock,
            term: (self.term)(),
        };
        let (plan, report) = driver.plan(&case, &ledger).await?;
        Ok(Inspection {
            claim,
            phase,
            blueprint: wants.blueprint,
            ledger,
            plan,
            report,
            switch,
            cloud,
        })
    }
}

/// What the API server said, without the status object around it.
fn said(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        other => Chain(other).to_string(),
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
