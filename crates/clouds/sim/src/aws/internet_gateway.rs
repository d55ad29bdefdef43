//! Internet gateways and the attachment of each.

use cloud_port::aws::internet_gateway::INTERNET_GATEWAY;
use cloud_port::aws::nat_gateway::NAT_GATEWAY;
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use ownership::error::Blocker;
use ownership::part::InnerPart;
use ownership::{CloudError, ResourceId, Target, Text};

use super::{EC2, OTHER, OTHER_PART, PAGE};
use crate::account::Account;
use crate::provider::{InnerRow, Model, Row, Told};
use crate::record::State;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &InternetGateway,
    prefix: "igw-",
    not_found: "InvalidInternetGatewayID.NotFound",
    over_quota: "InternetGatewayLimitExceeded",
    get: EC2.lists("DescribeInternetGateways", PAGE),
    list: EC2.lists("DescribeInternetGateways", PAGE),
    create: EC2.writes("CreateInternetGateway"),
    delete: EC2.writes("DeleteInternetGateway"),
    quota: 5,
    tag: EC2.writes("CreateTags"),
    untag: EC2.writes("DeleteTags"),
    inner: &[InnerRow {
        list: EC2.lists("DescribeInternetGateways", PAGE),
        add: EC2.writes("AttachInternetGateway"),
        remove: EC2.writes("DetachInternetGateway"),
        duplicate: "Resource.AlreadyAssociated",
        not_found: "Gateway.NotAttached",
        full: "Resource.AlreadyAssociated",
        told: Told::Always,
        ..OTHER_PART
    }],
    ..OTHER
};

#[derive(Debug)]
struct InternetGateway;

impl Model for InternetGateway {
    fn is_ready_at_once(&self) -> bool {
        true
    }

    /// A route through it keeps none: it leads nowhere from then on.
    fn users(&self, _: &Account, _: &State, _: &mut Vec<Blocker>) {}

    /// As long as the VPC has public addresses, its gateway stays.
    fn holds_part(&self, account: &Account, _: Spot, vpc: &str, blockers: &mut Vec<Blocker>) {
        let inside = |subnet: &Text| {
            let subnet = Target::new(&SUBNET, ResourceId::new(subnet.clone()));
            let subnet = account.resource(&subnet);
            subnet.is_some_and(|subnet| subnet.props.get("vpc").is_some_and(|id| **id == *vpc))
        };
        let nats = account.alive(&NAT_GATEWAY);
        let nats = nats.filter(|nat| nat.props.get("subnet").is_some_and(inside));
        blockers.extend(nats.map(|nat| Blocker {
            noun: NAT_GATEWAY.noun.into(),
            id: nat.id.clone(),
        }));
    }

    /// A VPC has at most one.
    fn check_part(
        &self,
        account: &Account,
        spot: Spot,
        on: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        let op = spot.inner.add;
        let vpc = Target::new(&VPC, ResourceId::new(part.key.clone()));
        account.living(&vpc, op)?;
        let mut gateways = account.states(&INTERNET_GATEWAY);
        let other =
            gateways.find(|other| other.resource.id != on.id && other.part(0, &part.key).is_some());
        match other {
            None => Ok(()),
            Some(other) => {
                let message = format!("{vpc} has the gateway '{}' already", other.resource.id);
                Err(spot.refuse(op, ROW.service.invalid, message))
            }
        }
    }
}
