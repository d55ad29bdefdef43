//! A place: a client set that knows in which account it is.

use std::future::Future;
use std::sync::Arc;

use cloud_port::aws::AwsPlace;
use cloud_port::aws::image::ImageQuery;
use cloud_port::{Cloud, Deadline, Effect, Survey};
use ownership::{Answer, CloudError, Kind, Query, Step, Text};

use crate::client_set::ClientSet;
use crate::ec2;

/// One account and region, signed in to.
#[derive(Clone, Debug)]
pub struct Place {
    set: Arc<ClientSet>,
    account: Text,
    partition: Text,
}

impl Place {
    /// Signs in: AWS is asked once for each client set in which account and partition it is.
    ///
    /// # Errors
    /// The question failed: the credentials are wrong, or nobody answers.
    pub async fn open(set: Arc<ClientSet>) -> Result<Self, CloudError> {
        let (account, partition) = set.identity().await?.clone();
        Ok(Self {
            set,
            account,
            partition,
        })
    }

    /// The clients.
    pub fn set(&self) -> &ClientSet {
        &self.set
    }
}

impl Cloud for Place {
    fn read(&self, query: &Query) -> impl Future<Output = Result<Answer, CloudError>> + Send {
        self.set.read(query)
    }

    fn perform(
        &self,
        step: &Step,
        by: Deadline<'_>,
    ) -> impl Future<Output = Result<Effect, CloudError>> + Send {
        self.set.perform(step, by)
    }
}

impl Survey for Place {
    fn survey(
        &self,
        kind: &'static Kind,
    ) -> impl Future<Output = Result<Answer, CloudError>> + Send {
        self.set.survey(kind)
    }
}

impl AwsPlace for Place {
    fn partition(&self) -> &str {
        &self.partition
    }

    fn account(&self) -> &str {
        &self.account
    }

    fn region(&self) -> &str {
        &self.set.access().region
    }

    fn zones(&self) -> impl Future<Output = Result<Vec<Text>, CloudError>> + Send {
        self.set.zones()
    }

    async fn image(&self, query: &ImageQuery) -> Result<Option<Text>, CloudError> {
        Box::pin(ec2::image::newest(&self.set, query)).await
    }

    fn role_path(&self, name: &str) -> String {
        self.set.role_paths.of(name)
    }
}
