//! Instance profiles and the role in each.

use cloud_port::aws::instance_profile;
use cloud_port::aws::role::ROLE;
use ownership::error::Blocker;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, ResourceId, Target, Text};

use super::{InnerRow, Model, OTHER_PART, Row, Told, role};
use crate::account::Account;
use crate::op::Op;
use crate::record::State;
use crate::settings::Quotas;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &InstanceProfile,
    unique: "AIPA",
    get: Op::GetInstanceProfile,
    list: Op::ListInstanceProfiles,
    create: Op::CreateInstanceProfile,
    delete: Op::DeleteInstanceProfile,
    tag: Op::TagInstanceProfile,
    untag: Op::UntagInstanceProfile,
    inner: &[InnerRow {
        list: Op::GetInstanceProfile,
        add: Op::AddRoleToInstanceProfile,
        remove: Op::RemoveRoleFromInstanceProfile,
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

    fn quota<'p>(&self, quotas: &Quotas, _: &'p Props) -> (usize, Option<&'p Text>) {
        (quotas.instance_profiles, None)
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
