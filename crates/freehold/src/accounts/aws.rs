//! The accounts of the real AWS.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cloud_aws::{ClientSets, Ended, Place, Settings};
use cloud_port::aws::{Access, Accounts};
use cloud_port::{Calls, Inventory, aws as kinds};
use ownership::CloudError;
use ownership::time::Millis;

use super::{Call, Countable};
use crate::clock::ProcessClock;

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
