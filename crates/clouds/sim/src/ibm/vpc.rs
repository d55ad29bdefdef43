//! VPCs.

use cloud_port::ibm::RESOURCE_GROUP;
use cloud_port::ibm::rule::Rule;
use cloud_port::ibm::vpc::DEFAULT_GROUP;
use ownership::error::Blocker;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, ResourceId, Target};

use super::crn::Where;
use super::{OTHER, OTHER_PART, PAGE, VPC};
use crate::account::Account;
use crate::provider::{InnerRow, Model, Row};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &Vpc,
    not_found: "not_found",
    over_quota: "vpc_over_quota",
    get: VPC.reads("GetVpc"),
    list: VPC.lists("ListVpcs", PAGE),
    create: VPC.writes("CreateVpc"),
    update: VPC.writes("UpdateVpc"),
    delete: VPC.writes("DeleteVpc"),
    quota: 10,
    inner: &[InnerRow {
        list: VPC.reads("GetVpcDefaultSecurityGroup"),
        ..RULES
    }],
    ..OTHER
};

/// Rules of security groups, whichever group it is.
pub(super) const RULES: InnerRow = InnerRow {
    list: VPC.lists("ListSecurityGroupRules", PAGE),
    list_calls: 1,
    prefix: "",
    get: None,
    add: VPC.writes("CreateSecurityGroupRule"),
    remove: VPC.writes("DeleteSecurityGroupRule"),
    duplicate: OTHER_PART.duplicate,
    not_found: "not_found",
    id_not_found: "not_found",
    full: "security_group_rules_per_sg_exceeded",
    quota: 250,
    told: OTHER_PART.told,
};

#[derive(Debug)]
struct Vpc;

impl Model for Vpc {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        account.require(order, props, &[RESOURCE_GROUP])
    }

    fn gives(&self, account: &Account, id: &ResourceId, order: &Order<'_>, props: &mut Props) {
        let place = Where {
            service: "is",
            location: account.vpc_region(),
            instance: "",
            sort: "vpc",
        };
        place.tell(account, id, order, props);
        props.set(DEFAULT_GROUP, format!("{id}-default").into());
    }

    fn users(&self, account: &Account, state: &State, blockers: &mut Vec<Blocker>) {
        account.dependents(&state.resource.id, blockers);
        account.gateways_of(state, blockers);
    }

    fn check_part(
        &self,
        _: &Account,
        spot: Spot,
        _: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        read_rule(spot, part).map(drop)
    }
}

/// A rule that somebody adds, as it must be spelled.
pub(super) fn read_rule(spot: Spot, part: &InnerPart) -> Result<Rule, CloudError> {
    let refuse = |message| spot.refuse(spot.inner.add, VPC.invalid, message);
    let rule: Rule = part
        .key
        .parse()
        .map_err(|error: ownership::input::InputError| refuse(error.to_string()))?;
    if rule.key() != part.key {
        return Err(refuse(format!("the rule must be written '{}'", rule.key())));
    }
    Ok(rule)
}
