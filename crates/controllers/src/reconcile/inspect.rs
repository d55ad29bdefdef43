//! An object as the engine sees it: what fills its slots, and what would be done next. Nothing is
//! written, to the cloud or to the object.

use std::sync::Arc;

use cloud_port::Inventory;
use cloud_port::driver::{Driver, Planned, Report};
use cloud_port::{LedgerError, LedgerStore as _};
use kube::Resource as _;
use ownership::decide::{Case, Phase};
use ownership::{Blueprint, Claim, CloudError, Ledger};

use super::clock::WallClock;
use super::guards::Guards;
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
        let object = api.get_opt(name).await.map_err(Trouble::from)?;
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
        let wants = S::wants(&object).and_then(|wants| switches::apply(meta, wants));
        let wants = wants.map_err(Trouble::from)?;
        let claim = pin.claim(S::CLAIM_KIND, meta).map_err(Trouble::from)?;
        let cloud = self.system.open(&self.client, &object).await?;
        let phase = switches::phase(meta);
        let switch = if let Some(by) = S::pause(&object) {
            Some(by)
        } else if switches::observes(meta) {
            Some("freehold.dev/management is observe")
        } else {
            None
        };
        let identity = self.identity(claim.clone(), &wants);
        let mut store = Store::new(
            &self.system,
            cloud.cloud(),
            api,
            object,
            &identity,
            Guards::ALL,
        );
        store.check_place().map_err(Trouble::from)?;
        let kept = "another management cluster keeps its record, and was not taken over";
        let switch = switch.or(store.kept_by().map(|_| kept));
        let blueprint = store.named_by_intents(&wants.blueprint);
        let ledger = store.load().await?;
        let case = Case {
            identity: &identity,
            blueprint: &blueprint,
            evidence: &wants.evidence,
            kinds: self.system.owns(),
            phase,
        };
        let driver = Driver {
            rules: &self.settings.rules,
            cloud: &*cloud,
            clock: &self.clock,
            term: (self.term)(),
        };
        let (plan, report) = driver.plan(&case, &ledger).await?;
        Ok(Inspection {
            claim,
            phase,
            blueprint,
            ledger,
            plan,
            report,
            switch,
            cloud,
        })
    }
}
