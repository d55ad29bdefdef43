//! Target groups.

use cloud_port::aws::load_balancer::check_name;
use cloud_port::aws::network_load_balancer::NETWORK_LOAD_BALANCER;
use cloud_port::aws::target_group::TARGETS;
use ownership::error::Blocker;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, Target};

use super::network_load_balancer::{PAGE, TAGS_PAGE};
use super::{ELBV2, OTHER, OTHER_PART, instance};
use crate::account::Account;
use crate::provider::{InnerRow, Model, Row};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &TargetGroup,
    service: &ELBV2,
    prefix: "arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/",
    not_found: "TargetGroupNotFound",
    duplicate: "DuplicateTargetGroupName",
    over_quota: "TooManyTargetGroups",
    blocked: "ResourceInUse",
    tags_full: "TooManyTags",
    get: ELBV2.reads("DescribeTargetGroups"),
    list: ELBV2.lists("DescribeTargetGroups", PAGE),
    create: ELBV2.writes("CreateTargetGroup"),
    update: ELBV2.writes("ModifyTargetGroup"),
    delete: ELBV2.writes("DeleteTargetGroup"),
    tag: ELBV2.writes("AddTags"),
    untag: ELBV2.writes("RemoveTags"),
    shows_tags: Some(ELBV2.lists("DescribeTags", TAGS_PAGE)),
    quota: 3000,
    inner: &[InnerRow {
        list: ELBV2.reads("DescribeTargetHealth"),
        add: ELBV2.writes("RegisterTargets"),
        remove: ELBV2.writes("DeregisterTargets"),
        not_found: "TargetGroupNotFound",
        id_not_found: "TargetGroupNotFound",
        full: "TooManyTargets",
        quota: 1000,
        ..OTHER_PART
    }],
    ..OTHER
};

#[derive(Debug)]
struct TargetGroup;

impl Model for TargetGroup {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        account.required_vpc(order, props)?;
        account.required(order, props, "port")?;
        check_name("target group name", order.name).map_err(|error| ROW.invalid_create(error))
    }

    fn is_ready_at_once(&self) -> bool {
        true
    }

    /// Load balancers with a listener that forwards to it.
    fn users(&self, account: &Account, state: &State, blockers: &mut Vec<Blocker>) {
        let id = state.resource.id.text();
        for balancer in account.states(&NETWORK_LOAD_BALANCER) {
            let mut parts = balancer.inner.iter().flat_map(|parts| parts.iter());
            if parts.any(|part| part.value == id) {
                blockers.push(Blocker {
                    noun: NETWORK_LOAD_BALANCER.noun.into(),
                    id: balancer.resource.id.clone(),
                });
            }
        }
    }

    fn overlooks_missing_parts(&self, _: &Account, _: &State) -> bool {
        true
    }

    /// Addresses are not looked up.
    fn check_part(
        &self,
        account: &Account,
        spot: Spot,
        on: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        let group = account.resource(on);
        let kind = group.and_then(|group| group.props.get(TARGETS));
        if kind.is_none_or(|kind| **kind != *"instance") {
            return Ok(());
        }
        instance::check_registered(account, spot, part, "InvalidTarget")
    }

    /// A VPC can go although it has target groups.
    fn lets_go(&self, _: &State) -> bool {
        true
    }
}
