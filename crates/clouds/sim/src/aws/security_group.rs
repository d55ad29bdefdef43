//! Security groups and their rules.

use std::str::FromStr;

use cloud_port::aws::security_group::{self, Peer, Rule, SECURITY_GROUP};
use ownership::error::Blocker;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, ResourceId, Target};

use super::{EC2, OTHER, OTHER_PART, PAGE, instance, load_balancer};
use crate::account::{Account, refuse};
use crate::provider::{InnerRow, Model, Row};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &SecurityGroup,
    prefix: "sg-",
    not_found: "InvalidGroup.NotFound",
    duplicate: "InvalidGroup.Duplicate",
    over_quota: "SecurityGroupLimitExceeded",
    get: EC2.lists("DescribeSecurityGroups", PAGE),
    list: EC2.lists("DescribeSecurityGroups", PAGE),
    create: EC2.writes("CreateSecurityGroup"),
    delete: EC2.writes("DeleteSecurityGroup"),
    quota: 2500,
    tag: EC2.writes("CreateTags"),
    untag: EC2.writes("DeleteTags"),
    inner: &[InnerRow {
        prefix: "sgr-",
        list: EC2.lists("DescribeSecurityGroupRules", PAGE),
        add: EC2.writes("AuthorizeSecurityGroupIngress"),
        remove: EC2.writes("RevokeSecurityGroupIngress"),
        duplicate: "InvalidPermission.Duplicate",
        not_found: "InvalidPermission.NotFound",
        id_not_found: "InvalidSecurityGroupRuleId.NotFound",
        quota: 60,
        full: "RulesPerSecurityGroupLimitExceeded",
        ..OTHER_PART
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
        account.required(order, props, "description")?;
        if props.get("vpc").is_none() {
            let message = "there is no default VPC: say which VPC".to_owned();
            let vpc = account
                .default_vpc()
                .ok_or_else(|| refuse(&ROW, ROW.create, "VPCIdNotSpecified", message))?;
            props.set("vpc", vpc.id.text());
        }
        account.required_vpc(order, props)?;
        let legal = security_group::check_name(order.name);
        legal.map_err(|error| ROW.invalid_create(error))
    }

    fn keeps(&self, target: &Target, state: &State) -> Option<CloudError> {
        let message = format!("{target} is the default group of its VPC");
        is_default(state).then(|| refuse(&ROW, ROW.delete, "CannotDelete", message))
    }

    /// Groups with a rule that admits the members of this one, load balancers and instances.
    fn users(&self, account: &Account, state: &State, blockers: &mut Vec<Blocker>) {
        let id = &state.resource.id;
        for other in account.states(&SECURITY_GROUP) {
            let refers = |rule: &&str| rule.rsplit(' ').next() == Some(id.as_str());
            let mut rules = other.inner.iter().flat_map(|p| p.iter()).map(|p| &*p.key);
            if other.resource.id != *id && rules.any(|rule| refers(&rule)) {
                blockers.push(Blocker {
                    noun: SECURITY_GROUP.noun.into(),
                    id: other.resource.id.clone(),
                });
            }
        }
        load_balancer::with_group(account, id, blockers);
        instance::with_group(account, id, blockers);
    }

    fn came_with_parent(&self, state: &State) -> bool {
        is_default(state)
    }

    /// In the default VPC, EC2 removes what it finds and says nothing of the rest.
    fn overlooks_missing_parts(&self, account: &Account, state: &State) -> bool {
        let default = account.default_vpc();
        default.is_some_and(|vpc| state.resource.props.get("vpc") == Some(&vpc.id.text()))
    }

    fn check_part(
        &self,
        account: &Account,
        spot: Spot,
        on: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        let op = spot.inner.add;
        let malformed = |message| spot.refuse(op, "InvalidPermission.Malformed", message);
        let rule = Rule::from_str(&part.key).map_err(|error| malformed(error.to_string()))?;
        if rule.key() != part.key {
            let message = format!("the rule must be written '{}'", rule.key());
            return Err(malformed(message));
        }
        match rule.peer {
            Peer::Group(id) if *id == *on.id.as_str() => {
                let message = "the group itself must be written 'self'".to_owned();
                Err(malformed(message))
            }
            // A group of another account cannot be looked up from here.
            Peer::Group(id) if !id.contains('/') => {
                let group = Target::new(&SECURITY_GROUP, ResourceId::new(id));
                account.living(&group, op).map(|_| ())
            }
            _ => Ok(()),
        }
    }
}

fn is_default(state: &State) -> bool {
    &*state.resource.name == security_group::DEFAULT_NAME
}
