//! Instance profiles and the role in each.

use cloud_port::aws::instance_profile;
use cloud_port::aws::role::ROLE;
use ownership::error::Blocker;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, ResourceId, Target};

use super::{IAM, OTHER_PART, PAGE, role};
use crate::account::Account;
use crate::provider::{InnerRow, Model, Row, Told};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &InstanceProfile,
    unique: "AIPA",
    get: IAM.reads("GetInstanceProfile"),
    list: IAM.lists("ListInstanceProfiles", PAGE),
    create: IAM.writes("CreateInstanceProfile"),
    delete: IAM.writes("DeleteInstanceProfile"),
    tag: IAM.writes("TagInstanceProfile"),
    untag: IAM.writes("UntagInstanceProfile"),
    inner: &[InnerRow {
        list: IAM.reads("GetInstanceProfile"),
        add: IAM.writes("AddRoleToInstanceProfile"),
        remove: IAM.writes("RemoveRoleFromInstanceProfile"),
        duplicate: "LimitExceeded",
        not_found: "NoSuchEntity",
        full: "LimitExceeded",
        told: Told::Always,
        ..OTHER_PART
    }],
    ..role::ROW
};

#[derive(Debug)]
struct InstanceProfile;

impl Model for InstanceProfile {
    fn prepare(&self, _: &Account, order: &Order<'_>, _: &mut Props) -> Result<(), CloudError> {
        let legal = instance_profile::check_name(order.name);
        legal.map_err(|error| ROW.invalid_create(error))
    }

    fn is_ready_at_once(&self) -> bool {
        true
    }

    fn users(&self, _: &Account, _: &State, _: &mut Vec<Blocker>) {}

    fn check_part(
        &self,
        account: &Account,
        spot: Spot,
        _: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        let id = ResourceId::new(part.key.clone());
        let role = Target::new(&ROLE, id);
        account.living(&role, spot.inner.add).map(|_| ())
    }
}
