//! NAT gateways.

use cloud_port::aws::elastic_ip::ELASTIC_IP;
use cloud_port::aws::internet_gateway::{ATTACHMENT, INTERNET_GATEWAY};
use cloud_port::aws::nat_gateway::NAT_GATEWAY;
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use ownership::CloudError;
use ownership::error::Blocker;
use ownership::life::Life;
use ownership::part::Props;
use ownership::{ResourceId, Target};

use super::{EC2, OTHER, PAGE};
use crate::account::{Account, refuse};
use crate::provider::{Model, Row};
use crate::record::State;
use crate::write::create::Order;

pub(crate) static ROW: Row = Row {
    model: &NatGateway,
    prefix: "nat-",
    not_found: "NatGatewayNotFound",
    over_quota: "NatGatewayLimitExceeded",
    get: EC2.lists("DescribeNatGateways", PAGE),
    list: EC2.lists("DescribeNatGateways", PAGE),
    create: EC2.writes("CreateNatGateway"),
    delete: EC2.writes("DeleteNatGateway"),
    // Five a zone, and most regions have three.
    quota: 15,
    tag: EC2.writes("CreateTags"),
    untag: EC2.writes("DeleteTags"),
    ..OTHER
};

#[derive(Debug)]
struct NatGateway;

impl Model for NatGateway {
    /// What has failed has no address.
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        account.required_resource(order, props, &SUBNET, "subnet")?;
        let address = account.required_resource(order, props, &ELASTIC_IP, "allocation")?;
        let id = address.id.text();
        let taken = account
            .alive(&NAT_GATEWAY)
            .filter(|other| !matches!(other.life, Life::Failed(_)))
            .find(|other| other.props.get("allocation") == Some(&id));
        match taken {
            None => Ok(()),
            Some(other) => {
                let message = format!("the address '{id}' is that of '{}'", other.id);
                let code = "Resource.AlreadyAssociated";
                Err(refuse(&ROW, ROW.create, code, message))
            }
        }
    }

    /// Without an internet gateway it comes to nothing. The default VPC comes with one, which is not
    /// simulated.
    fn dooms(&self, account: &Account, props: &Props) -> Option<&'static str> {
        let subnet = ResourceId::new(props.get("subnet")?.clone());
        let subnet = account.resource(&Target::new(&SUBNET, subnet))?;
        let id = subnet.props.get("vpc")?;
        let vpc = Target::new(&VPC, ResourceId::new(id.clone()));
        let vpc = account.resource(&vpc)?;
        if vpc.props.get("default").is_some_and(|it| **it == *"true") {
            return None;
        }
        let mut gateways = account.alive(&INTERNET_GATEWAY);
        let attached = gateways.any(|gateway| {
            let mut parts = account.parts(&gateway.target(), ATTACHMENT).iter();
            parts.any(|part| part.key == *id)
        });
        (!attached).then_some("Gateway.NotAttached: the network has no internet gateway attached")
    }

    /// A route through it keeps none: it leads nowhere from then on.
    fn users(&self, _: &Account, _: &State, _: &mut Vec<Blocker>) {}
}
