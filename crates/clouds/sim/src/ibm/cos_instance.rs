//! Instances of Cloud Object Storage and their buckets.

use cloud_port::ibm::RESOURCE_GROUP;
use cloud_port::ibm::cos_instance::{PLAN, check_bucket_name};
use ownership::error::Blocker;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, ResourceId, Target};

use super::crn::Where;
use super::{OTHER, OTHER_PART, PAGE, STORAGE};
use crate::account::Account;
use crate::op::Op;
use crate::provider::{InnerRow, Model, Row};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &CosInstance,
    service: &STORAGE,
    prefix: "8564c79d-",
    over_quota: "HTTP 400",
    blocked: "HTTP 409",
    get: STORAGE.reads("GetResourceInstance"),
    list: STORAGE.lists("ListResourceInstances", PAGE),
    create: STORAGE.writes("CreateResourceInstance"),
    update: STORAGE.writes("UpdateResourceInstance"),
    delete: STORAGE.writes("DeleteResourceInstance"),
    inner: &[InnerRow {
        list: Op::new("cloud-object-storage", "ListBuckets", true, PAGE),
        add: Op::new("cloud-object-storage", "CreateBucket", false, 1),
        remove: Op::new("cloud-object-storage", "DeleteBucket", false, 1),
        duplicate: "BucketAlreadyOwnedByYou",
        not_found: "NoSuchBucket",
        full: "HTTP 400",
        quota: 1000,
        ..OTHER_PART
    }],
    ..OTHER
};

#[derive(Debug)]
struct CosInstance;

impl Model for CosInstance {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        account.require(order, props, &[RESOURCE_GROUP, PLAN])
    }

    fn gives(&self, account: &Account, id: &ResourceId, order: &Order<'_>, props: &mut Props) {
        let place = Where {
            service: "cloud-object-storage",
            location: "global",
            instance: id.as_str(),
            sort: "",
        };
        place.tell(account, id, order, props);
    }

    fn users(&self, _: &Account, _: &State, _: &mut Vec<Blocker>) {}

    /// Nobody in the world has a bucket of that name. Of those in other accounts nothing is known but their
    /// names, which begin with `taken-` here.
    fn check_part(
        &self,
        _: &Account,
        spot: Spot,
        _: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        let op = spot.inner.add;
        if let Err(error) = check_bucket_name(&part.key) {
            return Err(spot.refuse(op, ROW.service.invalid, error.to_string()));
        }
        if part.key.starts_with("taken-") {
            let message = format!("the name '{}' is taken", part.key);
            return Err(spot.refuse(op, "BucketAlreadyExists", message));
        }
        Ok(())
    }
}
