//! The account behind the port: what the driver talks to.

use std::future::{Future, ready};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cloud_port::{Cloud, Deadline, Effect, Survey};
use ownership::{Answer, CloudError, Kind, Query, Step};

use crate::account::Account;
use crate::provenance::Actor;
use crate::read::Staleness;

/// A shared account, as one actor sees it through the port. Reads lag as the settings say.
#[derive(Clone, Debug)]
pub struct SharedAccount {
    account: Arc<Mutex<Account>>,
    actor: Actor,
    pub(crate) number: &'static str,
    pub(crate) region: &'static str,
}

impl SharedAccount {
    /// Shares an account; calls come from `actor`.
    pub fn new(account: Account, actor: Actor) -> Self {
        let (number, region) = (account.settings.number, account.settings.region);
        Self {
            account: Arc::new(Mutex::new(account)),
            actor,
            number,
            region,
        }
    }

    /// The same account for another actor.
    #[must_use]
    pub fn as_actor(&self, actor: Actor) -> Self {
        Self {
            actor,
            ..self.clone()
        }
    }

    /// The same account, seen from another region.
    #[must_use]
    pub fn in_region(&self, region: &'static str) -> Self {
        Self {
            region,
            ..self.clone()
        }
    }

    /// The account itself, seen from this region: for the foreign actor and the oracle.
    pub fn lock(&self) -> MutexGuard<'_, Account> {
        // A call that panicked has not changed anything: it checks first.
        let account = self.account.lock();
        let mut account = account.unwrap_or_else(PoisonError::into_inner);
        account.enter(self.region);
        account
    }
}

impl Cloud for SharedAccount {
    fn read(&self, query: &Query) -> impl Future<Output = Result<Answer, CloudError>> + Send {
        ready(self.lock().read(query, Staleness::Lagging))
    }

    fn perform(
        &self,
        step: &Step,
        by: Deadline<'_>,
    ) -> impl Future<Output = Result<Effect, CloudError>> + Send {
        let in_time = by.check();
        ready(in_time.and_then(|()| self.lock().perform(self.actor, step)))
    }
}

impl Survey for SharedAccount {
    fn survey(
        &self,
        kind: &'static Kind,
    ) -> impl Future<Output = Result<Answer, CloudError>> + Send {
        ready(self.lock().survey(kind, Staleness::Lagging))
    }
}
