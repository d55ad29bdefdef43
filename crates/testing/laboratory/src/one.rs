//! The one account that there is, for all who can sign in.

use std::sync::Arc;

use cloud_port::Inventory;
use cloud_port::aws::errors::{self, Service};
use cloud_port::aws::{self, Access, Accounts, AwsPlace, Credentials};
use ownership::{Class, CloudError};

/// The access key that no account accepts.
pub const WRONG_KEY: &str = "AKIAWRONG";

/// The one account that there is, in one region, for all keys but [`WRONG_KEY`].
#[derive(Debug)]
pub struct One<C>(Arc<Inventory<C>>);

impl<C> One<C> {
    /// This account.
    pub fn new(cloud: C) -> Self {
        Self(Arc::new(Inventory::new(cloud, &aws::KINDS)))
    }
}

impl<C: AwsPlace + 'static> Accounts for One<C> {
    type Cloud = C;

    async fn open(&self, access: &Access) -> Result<Arc<Inventory<C>>, CloudError> {
        // As the adapter tells what AWS says to such; its own tests show that it does.
        if access.region != self.0.cloud().region() {
            let message = format!("there are no servers for the region {}", access.region);
            return Err(CloudError::new(Class::Fatal, "UnknownRegion", message));
        }
        if matches!(&access.credentials, Credentials::Keys { id, .. } if id == WRONG_KEY) {
            return Err(wrong_key());
        }
        Ok(self.0.clone())
    }
}

/// What AWS says to a key that it does not know.
pub(crate) fn wrong_key() -> CloudError {
    let (code, message) = ("InvalidClientTokenId", "the security token is invalid");
    errors::error(Service::Sts, "", "GetCallerIdentity", 403, code, message)
}
