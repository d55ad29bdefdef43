//! A simulated account.

use std::collections::BTreeMap;
use std::sync::Arc;

use cloud_port::aws::{Access, Accounts, AwsPlace as _};
use cloud_port::{Calls, Clock as _, Inventory, aws as kinds};
use cloud_sim::{Account, Actor, Settings, SharedAccount, VirtualClock};
use ownership::{Class, CloudError};

use super::{Call, Countable};
use crate::clock::ProcessClock;

/// One simulated account for all credentials, in one region.
#[derive(Clone, Debug)]
pub struct Simulated {
    account: SharedAccount,
    inventory: Arc<Inventory<SharedAccount>>,
    under_way: Calls,
    clock: ProcessClock,
}

impl Simulated {
    /// A fresh account.
    pub fn new(clock: ProcessClock) -> Self {
        Self::with(clock, Settings::default())
    }

    /// A fresh account with settings of its own.
    pub fn with(clock: ProcessClock, settings: Settings) -> Self {
        let account = Account::new(settings, VirtualClock::at(clock.now()));
        let account = SharedAccount::new(account, Actor::Engine(0));
        let under_way = Calls::new(Arc::new(clock));
        let inventory = Inventory::new(account.clone(), &kinds::KINDS);
        let inventory = Arc::new(inventory.counted(under_way.clone()));
        Self {
            account,
            inventory,
            under_way,
            clock,
        }
    }

    /// The account, with its time brought up to the process's.
    pub fn account(&self) -> &SharedAccount {
        let account = self.account.lock();
        let clock = account.clock();
        clock.advance(self.clock.now() - clock.now());
        drop(account);
        &self.account
    }
}

impl Accounts for Simulated {
    type Cloud = SharedAccount;

    async fn open(&self, access: &Access) -> Result<Arc<Inventory<SharedAccount>>, CloudError> {
        let account = self.account();
        if access.region != account.region() {
            let message = format!("the simulated account is in {} only", account.region());
            return Err(CloudError::new(Class::Fatal, "UnknownRegion", message));
        }
        Ok(self.inventory.clone())
    }
}

impl Countable for Simulated {
    fn under_way(&self) -> &Calls {
        &self.under_way
    }

    /// The simulation does not count refusals apart.
    fn calls(&self) -> BTreeMap<Call, u64> {
        let account = self.account.lock();
        let calls = account.counters().iter().map(|(op, calls)| {
            let call = Call {
                service: "simulated".to_owned(),
                operation: op.name().to_owned(),
                outcome: "ok",
            };
            (call, calls)
        });
        calls.collect()
    }
}
