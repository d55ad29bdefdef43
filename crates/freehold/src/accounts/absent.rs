//! The accounts of a build without clouds: none.

use std::collections::BTreeMap;
use std::sync::Arc;

use cloud_port::aws::image::ImageQuery;
use cloud_port::aws::{Access, Accounts, AwsPlace};
use cloud_port::{Calls, Cloud, Deadline, Effect, Inventory, Survey};
use ownership::{Answer, Class, CloudError, Kind, Query, Step, Text};

use super::{Call, Countable};

/// What such a build says when it is asked for a cloud.
pub(crate) const WITHOUT: &str = "this freehold was built without a cloud: build it with the cargo \
                                  feature `aws`, which is on by default";

/// No accounts.
#[derive(Clone, Debug)]
pub(crate) struct Absent(Calls);

/// No cloud: nobody ever has one.
#[derive(Debug)]
pub(crate) enum Nowhere {}

impl Cloud for Nowhere {
    async fn read(&self, _: &Query) -> Result<Answer, CloudError> {
        match *self {}
    }

    async fn perform(&self, _: &Step, _: Deadline<'_>) -> Result<Effect, CloudError> {
        match *self {}
    }
}

impl Survey for Nowhere {
    async fn survey(&self, _: &'static Kind) -> Result<Answer, CloudError> {
        match *self {}
    }
}

impl AwsPlace for Nowhere {
    fn partition(&self) -> &str {
        match *self {}
    }

    fn account(&self) -> &str {
        match *self {}
    }

    fn region(&self) -> &str {
        match *self {}
    }

    async fn zones(&self) -> Result<Vec<Text>, CloudError> {
        match *self {}
    }

    async fn image(&self, _: &ImageQuery) -> Result<Option<Text>, CloudError> {
        match *self {}
    }
}

impl Accounts for Absent {
    type Cloud = Nowhere;

    async fn open(&self, _: &Access) -> Result<Arc<Inventory<Nowhere>>, CloudError> {
        Err(CloudError::new(Class::Fatal, "NoCloud", WITHOUT))
    }
}

impl Countable for Absent {
    fn under_way(&self) -> &Calls {
        &self.0
    }

    fn calls(&self) -> BTreeMap<Call, u64> {
        BTreeMap::new()
    }
}
