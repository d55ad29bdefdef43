//! Where the accounts of clusters are: the real AWS, or a simulated one.

use std::collections::BTreeMap;
use std::sync::Arc;

use cloud_port::aws::{Access, Accounts, AwsPlace as _};
use cloud_port::{Calls, Clock as _, Inventory, aws as kinds};
use cloud_sim::{Account, Actor, Settings, SharedAccount, VirtualClock};
use ownership::time::Millis;
use ownership::{Class, CloudError};

use crate::clock::ProcessClock;

/// Accounts that can tell what was called.
///
/// # Guarantees that an implementation gives
/// Every inventory that it opens counts on [`Countable::under_way`].
pub trait Countable: Accounts + Clone {
    /// What was sent and may still take effect, so that a Lease is released for what it is.
    fn under_way(&self) -> &Calls;

    /// How often calls ended in which way, so far: for metrics.
    fn calls(&self) -> BTreeMap<Call, u64>;
}

/// How a call to a cloud ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// The service, such as `EC2`.
    pub service: String,
    /// The operation, by its name in the service's reference.
    pub operation: String,
    /// `ok`, `refused` or `no-answer`.
    pub outcome: &'static str,
}

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
        let account = Account::new(Settings::default(), VirtualClock::at(clock.now()));
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

/// The accounts of this build.
#[cfg(feature = "aws")]
pub(crate) type Real = aws::Aws;

/// The accounts of this build: none.
#[cfg(not(feature = "aws"))]
pub(crate) type Real = Absent;

/// The accounts of this build, where a call is given up after `request_timeout`.
///
/// # Errors
/// There are none.
#[cfg(feature = "aws")]
#[expect(
    clippy::unnecessary_wraps,
    reason = "a build without clouds has none to give"
)]
pub(crate) fn real(clock: ProcessClock, request_timeout: Millis) -> anyhow::Result<Real> {
    Ok(aws::Aws::from_env(clock, request_timeout))
}

/// The accounts of this build.
///
/// # Errors
/// There are none.
#[cfg(not(feature = "aws"))]
pub(crate) fn real(_: ProcessClock, _: Millis) -> anyhow::Result<Real> {
    anyhow::bail!(WITHOUT)
}

#[cfg(not(feature = "aws"))]
const WITHOUT: &str = "this freehold was built without a cloud: build it with the cargo feature \
                       `aws`, which is on by default";

/// No accounts.
#[cfg(not(feature = "aws"))]
#[derive(Clone, Debug)]
pub(crate) struct Absent(Calls);

#[cfg(not(feature = "aws"))]
impl Accounts for Absent {
    type Cloud = SharedAccount;

    async fn open(&self, _: &Access) -> Result<Arc<Inventory<SharedAccount>>, CloudError> {
        Err(CloudError::new(Class::Fatal, "NoCloud", WITHOUT))
    }
}

#[cfg(not(feature = "aws"))]
impl Countable for Absent {
    fn under_way(&self) -> &Calls {
        &self.0
    }

    fn calls(&self) -> BTreeMap<Call, u64> {
        BTreeMap::new()
    }
}

#[cfg(feature = "aws")]
mod aws {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::Duration;

    use cloud_aws::{ClientSets, Ended, Place, Settings};
    use cloud_port::aws::{Access, Accounts};
    use cloud_port::{Calls, Inventory, aws as kinds};
    use ownership::CloudError;
    use ownership::time::Millis;

    use super::{Call, Countable, ProcessClock};

    /// AWS, by the vendor's SDK.
    #[derive(Clone, Debug)]
    pub(crate) struct Aws {
        sets: Arc<ClientSets>,
        /// One for each access: what is shown is what those credentials may see, and what is
        /// performed is performed with them.
        inventories: Arc<Mutex<BTreeMap<Access, Arc<Inventory<Place>>>>>,
        under_way: Calls,
    }

    impl Aws {
        /// As the environment says.
        pub(crate) fn from_env(clock: ProcessClock, request_timeout: Millis) -> Self {
            let settings = Settings {
                request_timeout: Duration::from_millis(request_timeout.0),
                ..Settings::from_env()
            };
            Self {
                sets: Arc::new(ClientSets::new(settings)),
                inventories: Arc::default(),
                under_way: Calls::new(Arc::new(clock)),
            }
        }
    }

    impl Accounts for Aws {
        type Cloud = Place;

        async fn open(&self, access: &Access) -> Result<Arc<Inventory<Place>>, CloudError> {
            let place = Place::open(self.sets.get(access).await?).await?;
            // Whoever panicked while it held the lock has not changed an inventory.
            let mut all = self
                .inventories
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let new = || {
                let inventory = Inventory::new(place, &kinds::KINDS);
                Arc::new(inventory.counted(self.under_way.clone()))
            };
            Ok(all.entry(access.clone()).or_insert_with(new).clone())
        }
    }

    impl Countable for Aws {
        fn under_way(&self) -> &Calls {
            &self.under_way
        }

        fn calls(&self) -> BTreeMap<Call, u64> {
            let call = |ended: Ended| Call {
                service: ended.service,
                operation: ended.operation,
                outcome: ended.outcome,
            };
            let calls = self.sets.calls().into_iter();
            calls.map(|(ended, calls)| (call(ended), calls)).collect()
        }
    }
}
