//! What classic and network load balancers have in common.

use cloud_port::aws::classic_load_balancer::CLASSIC_LOAD_BALANCER;
use cloud_port::aws::load_balancer::{DNS_NAME, GROUPS, SUBNETS, VPC, check_name, ids};
use cloud_port::aws::network_load_balancer::NETWORK_LOAD_BALANCER;
use cloud_port::aws::security_group::{self, SECURITY_GROUP};
use cloud_port::aws::subnet::SUBNET;
use ownership::error::Blocker;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, Kind, ResourceId, Target, Text};

use super::ELB;
use crate::account::{Account, refuse};
use crate::op::Op;
use crate::provenance::Actor;
use crate::provider::{InnerRow, Row, Told};
use crate::write::create::Order;
use crate::write::inner::Spot;

/// Where subnets and groups stand in the declarations.
const SUBNET_PARTS: usize = 0;
const GROUP_PARTS: usize = 1;

/// Subnets and groups: to attach what is attached is nothing.
pub(super) const ATTACHED: InnerRow = InnerRow {
    not_found: "LoadBalancerNotFound",
    id_not_found: "LoadBalancerNotFound",
    full: "InvalidConfigurationRequest",
    told: Told::Always,
    list: ELB.reads("DescribeLoadBalancers"),
    list_calls: 1,
    prefix: "",
    get: None,
    add: ELB.writes("AttachLoadBalancerToSubnets"),
    remove: ELB.writes("DetachLoadBalancerFromSubnets"),
    duplicate: "DuplicateListener",
    quota: usize::MAX,
};

/// Checks what the create call of either says, and leaves out what becomes parts.
pub(super) fn prepare(
    account: &Account,
    row: &Row,
    order: &Order<'_>,
    props: &mut Props,
) -> Result<(), CloudError> {
    check_name("load balancer name", order.name).map_err(|error| row.invalid_create(error))?;
    let subnets = account.required(order, props, SUBNETS)?;
    let mut vpc = None;
    for id in ids(subnets) {
        there(account, row, row.create, &SUBNET, id)?;
        let subnet = account.resource(&Target::new(&SUBNET, ResourceId::new(id)));
        vpc = subnet.and_then(|it| it.props.get("vpc").cloned()).or(vpc);
    }
    let groups = props.get(GROUPS).cloned().unwrap_or_else(|| "".into());
    for id in ids(&groups) {
        there(account, row, row.create, &SECURITY_GROUP, id)?;
    }
    let kind = if row.prefix.is_empty() {
        &CLASSIC_LOAD_BALANCER
    } else {
        &NETWORK_LOAD_BALANCER
    };
    let ever = account.lives().filter(|life| life.target.kind == kind);
    let dns_name = format!("{}-{}.elb.amazonaws.com", order.name, ever.count() + 1);
    without(props, &[SUBNETS, GROUPS]);
    if props.get("scheme").is_none() {
        props.set("scheme", "internet-facing".into());
    }
    props.set(DNS_NAME, dns_name.into());
    if let Some(vpc) = vpc {
        props.set(VPC, vpc);
    }
    Ok(())
}

/// The properties without those that become parts.
pub(super) fn without(props: &mut Props, left_out: &[&str]) {
    let kept = props.iter().filter(|(name, _)| !left_out.contains(name));
    *props = kept.cloned().collect();
}

/// Puts the subnets and groups of the create call in. Without a group a classic load balancer gets the
/// default one of its VPC.
pub(super) fn attach(account: &mut Account, actor: Actor, made: &Target, order: &Order<'_>) {
    let named = |prop: &str| {
        let joined = order.props.get(prop).cloned().unwrap_or_else(|| "".into());
        ids(&joined).map(part).collect::<Vec<_>>()
    };
    let (subnets, groups) = (named(SUBNETS), named(GROUPS));
    let first = subnets.first().map(|part| part.key.clone());
    account.put_parts(actor, made, SUBNET_PARTS, &subnets);
    account.put_parts(actor, made, GROUP_PARTS, &groups);
    if groups.is_empty()
        && made.kind == &CLASSIC_LOAD_BALANCER
        && let Some(group) = first.and_then(|subnet| default_group(account, subnet))
    {
        account.put_parts(Actor::Cloud, made, GROUP_PARTS, &[part(&group)]);
    }
}

fn part(id: &str) -> InnerPart {
    InnerPart::new(id, "", Tags::new())
}

fn default_group(account: &Account, subnet: Text) -> Option<Text> {
    let subnet = account.resource(&Target::new(&SUBNET, ResourceId::new(subnet)))?;
    let vpc = subnet.props.get("vpc")?;
    let mut groups = account.alive(&SECURITY_GROUP);
    let default = groups.find(|group| {
        &*group.name == security_group::DEFAULT_NAME && group.props.get("vpc") == Some(vpc)
    })?;
    Some(default.id.text())
}

/// A part that is a subnet or a group must be there.
pub(super) fn check_attachment(
    account: &Account,
    row: &Row,
    spot: Spot,
    part: &InnerPart,
) -> Result<(), CloudError> {
    let kind = if spot.declared.name == cloud_port::aws::load_balancer::SUBNET {
        &SUBNET
    } else {
        &SECURITY_GROUP
    };
    there(account, row, spot.inner.add, kind, &part.key)
}

/// To these services what is not there is invalid, or theirs to say.
fn there(
    account: &Account,
    row: &Row,
    op: Op,
    kind: &'static Kind,
    id: &str,
) -> Result<(), CloudError> {
    if account
        .resource(&Target::new(kind, ResourceId::new(id)))
        .is_some()
    {
        return Ok(());
    }
    let code = if kind == &SUBNET {
        "SubnetNotFound"
    } else {
        "InvalidSecurityGroup"
    };
    let message = format!("the {} '{id}' does not exist", kind.noun);
    Err(refuse(row, op, code, message))
}

/// Load balancers that have a group.
pub(super) fn with_group(account: &Account, group: &ResourceId, blockers: &mut Vec<Blocker>) {
    for kind in [&CLASSIC_LOAD_BALANCER, &NETWORK_LOAD_BALANCER] {
        let states = account.states(kind);
        let having = states.filter(|state| state.part(GROUP_PARTS, group.as_str()).is_some());
        blockers.extend(having.map(|state| Blocker {
            noun: kind.noun.into(),
            id: state.resource.id.clone(),
        }));
    }
}
