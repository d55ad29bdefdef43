//! Network load balancers.

use cloud_port::aws::network_load_balancer::{LISTENER, NETWORK_LOAD_BALANCER};
use cloud_port::aws::target_group::TARGET_GROUP;
use ownership::error::Blocker;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, ResourceId, Target};

use super::load_balancer::ATTACHED;
use super::{ELBV2, OTHER, OTHER_PART, load_balancer, target_group};
use crate::account::Account;
use crate::provenance::Actor;
use crate::provider::{InnerRow, Model, Row};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

/// As many as the service shows at once.
pub(super) const PAGE: usize = 400;
/// Of whose tags one call tells.
pub(super) const TAGS_PAGE: usize = 20;

pub(crate) static ROW: Row = Row {
    model: &NetworkLoadBalancer,
    service: &ELBV2,
    prefix: "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/net/",
    not_found: "LoadBalancerNotFound",
    duplicate: "DuplicateLoadBalancerName",
    over_quota: "TooManyLoadBalancers",
    blocked: "ResourceInUse",
    tags_full: "TooManyTags",
    get: ELBV2.reads("DescribeLoadBalancers"),
    list: ELBV2.lists("DescribeLoadBalancers", PAGE),
    create: ELBV2.writes("CreateLoadBalancer"),
    delete: ELBV2.writes("DeleteLoadBalancer"),
    tag: ELBV2.writes("AddTags"),
    untag: ELBV2.writes("RemoveTags"),
    shows_tags: Some(ELBV2.lists("DescribeTags", TAGS_PAGE)),
    forgives: true,
    quota: 50,
    inner: &[
        InnerRow {
            list: ELBV2.reads("DescribeLoadBalancers"),
            add: ELBV2.writes("SetSubnets"),
            remove: ELBV2.writes("SetSubnets"),
            ..ATTACHED
        },
        InnerRow {
            list: ELBV2.reads("DescribeLoadBalancers"),
            add: ELBV2.writes("SetSecurityGroups"),
            remove: ELBV2.writes("SetSecurityGroups"),
            ..ATTACHED
        },
        InnerRow {
            prefix: "arn:aws:elasticloadbalancing:eu-central-1:123456789012:listener/net/",
            list: ELBV2.lists("DescribeListeners", PAGE),
            add: ELBV2.writes("CreateListener"),
            remove: ELBV2.writes("DeleteListener"),
            duplicate: "DuplicateListener",
            not_found: "ListenerNotFound",
            id_not_found: "ListenerNotFound",
            quota: 50,
            full: "TooManyListeners",
            ..OTHER_PART
        },
    ],
    ..OTHER
};

#[derive(Debug)]
struct NetworkLoadBalancer;

impl Model for NetworkLoadBalancer {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        load_balancer::prepare(account, &ROW, order, props)
    }

    fn is_born(&self, account: &mut Account, actor: Actor, id: &ResourceId, order: &Order<'_>) {
        let made = Target::new(&NETWORK_LOAD_BALANCER, id.clone());
        load_balancer::attach(account, actor, &made, order);
    }

    fn users(&self, _: &Account, _: &State, _: &mut Vec<Blocker>) {}

    fn overlooks_missing_parts(&self, _: &Account, _: &State) -> bool {
        true
    }

    /// A target group of another account cannot be looked up from here.
    fn check_part(
        &self,
        account: &Account,
        spot: Spot,
        _: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        if spot.declared.name != LISTENER {
            return load_balancer::check_attachment(account, &ROW, spot, part);
        }
        if !part.value.starts_with(target_group::ROW.prefix) {
            return Ok(());
        }
        let group = Target::new(&TARGET_GROUP, ResourceId::new(part.value.clone()));
        account.living(&group, spot.inner.add).map(|_| ())
    }
}
