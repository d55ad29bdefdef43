//! Access: with which API key IBM Cloud is called, and where.

use std::future::Future;
use std::sync::Arc;

use ownership::{CloudError, Text};

use crate::aws::Secret;
use crate::{Inventory, Survey};

/// Where the accounts are: the real IBM Cloud, or a simulated one.
pub trait Accounts: Send + Sync + 'static {
    /// One account, or a region of VPC in it.
    type Cloud: IbmPlace;

    /// Signs in. Whoever signs in to the same place gets the same inventory.
    ///
    /// # Errors
    /// Fatal, if the key or the region is wrong; else it is worth another try.
    fn open(
        &self,
        access: &Access,
    ) -> impl Future<Output = Result<Arc<Inventory<Self::Cloud>>, CloudError>> + Send;
}

/// With which key IBM Cloud is called, and where. Whose account it is the key says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// The API key.
    pub key: Secret,
    /// The region of VPC; none for what is the account's.
    pub region: Option<String>,
}

impl Access {
    /// The account.
    pub fn account(key: Secret) -> Self {
        Self { key, region: None }
    }

    /// The same, in a region of VPC.
    #[must_use]
    pub fn in_region(&self, region: &str) -> Self {
        Self {
            region: Some(region.to_owned()),
            ..self.clone()
        }
    }
}

/// A cloud that is an account of IBM Cloud, or a region of VPC in it.
pub trait IbmPlace: Survey {
    /// The account's id.
    fn account_id(&self) -> &str;

    /// The zones of a region of VPC in which subnets can be made; none of a region that there is not.
    ///
    /// # Errors
    /// IBM Cloud could not be asked.
    fn vpc_zones(&self, region: &str)
    -> impl Future<Output = Result<Vec<Text>, CloudError>> + Send;

    /// The id of the resource group of that name; of the account's default one without a name.
    ///
    /// # Errors
    /// IBM Cloud could not be asked.
    fn resource_group(
        &self,
        name: Option<&str>,
    ) -> impl Future<Output = Result<Option<Text>, CloudError>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let access = Access::account(Secret::new("hush")).in_region("eu-de");
        let shown = format!("{access:?}");
        assert!(
            shown.contains("eu-de") && !shown.contains("hush"),
            "{shown}"
        );
    }
}
