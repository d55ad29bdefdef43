//! An object as the engine sees it: what fills its slots, and what would be done next. Nothing is
//! written, to the cloud or to the object.

use std::sync::Arc;

use cloud_port::Inventory;
use cloud_port::driver::{Planned, Report};
use ownership::decide::Phase;
use ownership::{Blueprint, Claim, CloudError, Ledger};

use super::clock::WallClock;
use super::pass::Reconciler;
use super::prepare::{Prepared, Unready};
use super::system::{Sources, Trouble, api_of};

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
    /// Why nothing of that is done, in words.
    pub switch: Option<String>,
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
    /// The cloud could not be asked.
    #[error("the cloud says {0}")]
    Cloud(#[from] CloudError),
}

impl From<Unready> for InspectError {
    fn from(unready: Unready) -> Self {
        match unready {
            Unready::Identity(words) => Self::Identity(words),
            Unready::Trouble(trouble) => Self::Trouble(trouble),
            Unready::Slowed(left) => {
                let words = format!("the account is asked too much: try again in {left}");
                Self::Trouble(Trouble::Kubernetes(words))
            }
        }
    }
}

impl<S: Sources, K: WallClock> Reconciler<S, K> {
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
        let api = api_of::<S::Object>(&self.client, namespace);
        let object = api.get_opt(name).await.map_err(Trouble::from)?;
        let Some(object) = object else {
            let kind = S::CLAIM_KIND.to_owned();
            let name = name.to_owned();
            return Err(InspectError::Absent { kind, name });
        };
        if !S::is_ours(&object) {
            return Err(InspectError::NotOurs(name.to_owned()));
        }
        let Prepared {
            question,
            store,
            inventory,
            stop,
            ..
        } = self.prepare(&object).await?;
        let ledger = store.ledger().clone();
        let driver = self.driver(&inventory);
        let (plan, report) = driver.plan(&question.case(), &ledger).await?;
        Ok(Inspection {
            claim: question.identity.claim.clone(),
            phase: question.phase,
            blueprint: question.blueprint,
            ledger,
            plan,
            report,
            switch: stop.map(|stop| stop.to_string()),
            cloud: inventory,
        })
    }
}
