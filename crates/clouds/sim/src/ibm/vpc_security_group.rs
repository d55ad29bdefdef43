//! Security groups and their rules.

use cloud_port::ibm::RESOURCE_GROUP;
use cloud_port::ibm::rule::Peer;
use cloud_port::ibm::vpc::VPC as VPC_KIND;
use cloud_port::ibm::vpc_load_balancer::GROUPS;
use cloud_port::ibm::vpc_security_group::VPC_SECURITY_GROUP;
use ownership::error::Blocker;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, ResourceId, Target};

use super::crn::Where;
use super::vpc::{RULES, read_rule};
use super::vpc_subnet::balancers;
use super::{OTHER, PAGE, VPC};
use crate::account::Account;
use crate::provider::{InnerRow, Model, Row, Told};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &SecurityGroup,
    not_found: "not_found",
    over_quota: "security_group_over_quota",
    blocked: "security_group_in_use",
    get: VPC.reads("GetSecurityGroup"),
    list: VPC.lists("ListSecurityGroups", PAGE),
    create: VPC.writes("CreateSecurityGroup"),
    update: VPC.writes("UpdateSecurityGroup"),
    delete: VPC.writes("DeleteSecurityGroup"),
    quota: 100,
    quota_within: Some("vpc"),
    inner: &[InnerRow {
        told: Told::Always,
        ..RULES
    }],
    ..OTHER
};

#[derive(Debug)]
struct SecurityGroup;

impl Model for SecurityGroup {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        account.beside(order, props, &VPC_KIND, "vpc")?;
        account.require(order, props, &[RESOURCE_GROUP])
    }

    fn gives(&self, account: &Account, id: &ResourceId, order: &Order<'_>, props: &mut Props) {
        let place = Where {
            service: "is",
            location: account.vpc_region(),
            instance: "",
            sort: "security-group",
        };
        place.tell(account, id, order, props);
    }

    /// Load balancers in it, and rules of other groups that name it.
    fn users(&self, account: &Account, state: &State, blockers: &mut Vec<Blocker>) {
        let id = &state.resource.id;
        balancers(account, GROUPS, id, blockers);
        let names = |other: &&State| {
            let mut rules = other.inner.iter().flat_map(|parts| parts.iter());
            other.resource.id != *id && rules.any(|rule| id.is_named_in(&rule.key))
        };
        let groups = account.states(&VPC_SECURITY_GROUP).filter(names);
        blockers.extend(groups.map(|other| Blocker {
            noun: VPC_SECURITY_GROUP.noun.into(),
            id: other.resource.id.clone(),
        }));
    }

    fn check_part(
        &self,
        account: &Account,
        spot: Spot,
        on: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        let Peer::Group(id) = read_rule(spot, part)?.peer else {
            return Ok(());
        };
        let group = Target::at(&on.place, on.kind, ResourceId::new(id));
        account.living(&group, spot.inner.add).map(drop)
    }
}
