//! The one account of IBM Cloud that there is, with its regions, for all who can sign in.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use cloud_port::Inventory;
use cloud_port::ibm::errors::{self, Service};
use cloud_port::ibm::{Access, Accounts, IbmPlace, KINDS};
use cloud_sim::SharedAccount;
use ownership::{Class, CloudError, Text};

use crate::during::During;

/// The API key that no account accepts.
pub const WRONG_API_KEY: &str = "wrong";

/// The regions that there are.
const REGIONS: [&str; 2] = ["us-south", "eu-de"];

/// One simulated account of IBM Cloud and its regions, for all keys but [`WRONG_API_KEY`].
#[derive(Debug)]
pub struct IbmAccount {
    account: Arc<Inventory<During<SharedAccount>>>,
    regions: BTreeMap<&'static str, Arc<Inventory<During<SharedAccount>>>>,
}

impl IbmAccount {
    /// This account.
    pub fn new(during: During<SharedAccount>) -> Self {
        let inventory = |cloud| Arc::new(Inventory::new(cloud, &KINDS));
        let in_region = |region| During {
            cloud: during.cloud.in_region(region),
            deeds: during.deeds.clone(),
        };
        let regions = REGIONS.map(|region| (region, inventory(in_region(region))));
        Self {
            account: inventory(during.clone()),
            regions: regions.into(),
        }
    }
}

impl Accounts for IbmAccount {
    type Cloud = During<SharedAccount>;

    async fn open(&self, access: &Access) -> Result<Arc<Inventory<Self::Cloud>>, CloudError> {
        if access.key.reveal() == WRONG_API_KEY {
            // As IAM says it.
            let (code, message) = ("BXNIM0415E", "Provided API key could not be found.");
            return Err(errors::error(
                Service::Iam,
                "GetToken",
                400,
                code,
                message,
                Some("simulated"),
            ));
        }
        let Some(region) = &access.region else {
            return Ok(self.account.clone());
        };
        self.regions.get(region.as_str()).cloned().ok_or_else(|| {
            let message = format!("there are no servers for the region {region}");
            CloudError::new(Class::Fatal, "UnknownRegion", message)
        })
    }
}

impl<C: IbmPlace> IbmPlace for During<C> {
    fn account_id(&self) -> &str {
        self.cloud.account_id()
    }

    fn vpc_zones(
        &self,
        region: &str,
    ) -> impl Future<Output = Result<Vec<Text>, CloudError>> + Send {
        self.cloud.vpc_zones(region)
    }

    fn resource_group(
        &self,
        name: Option<&str>,
    ) -> impl Future<Output = Result<Option<Text>, CloudError>> + Send {
        self.cloud.resource_group(name)
    }
}
