//! Transit gateways and their connections.

use cloud_port::ibm::RESOURCE_GROUP;
use cloud_port::ibm::transit_gateway::{GLOBAL, LOCATION, NetworkSort, check_name};
use ownership::error::Blocker;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, ResourceId, Target};

use super::crn::Where;
use super::{OTHER, OTHER_PART, PAGE, TRANSIT};
use crate::account::Account;
use crate::provider::{InnerRow, Model, Row};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &TransitGateway,
    service: &TRANSIT,
    prefix: "4a91c6b2-",
    duplicate: "HTTP 409",
    blocked: "HTTP 409",
    get: TRANSIT.reads("GetTransitGateway"),
    list: TRANSIT.lists("ListTransitGateways", PAGE),
    create: TRANSIT.writes("CreateTransitGateway"),
    update: TRANSIT.writes("UpdateTransitGateway"),
    delete: TRANSIT.writes("DeleteTransitGateway"),
    quota: 50,
    inner: &[InnerRow {
        list: TRANSIT.lists("ListTransitGatewayConnections", PAGE),
        add: TRANSIT.writes("CreateTransitGatewayConnection"),
        remove: TRANSIT.writes("DeleteTransitGatewayConnection"),
        duplicate: "HTTP 409",
        quota: 50,
        ..OTHER_PART
    }],
    ..OTHER
};

#[derive(Debug)]
struct TransitGateway;

impl Model for TransitGateway {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        check_name(order.name).map_err(|error| ROW.invalid_create(error))?;
        account.require(order, props, &[LOCATION, RESOURCE_GROUP])?;
        if props.get(GLOBAL).is_none() {
            props.set(GLOBAL, "false".into());
        }
        Ok(())
    }

    fn gives(&self, account: &Account, id: &ResourceId, order: &Order<'_>, props: &mut Props) {
        let location = props.get(LOCATION).cloned().unwrap_or_else(|| "".into());
        let place = Where {
            service: "transit",
            location: &location,
            instance: "",
            sort: "gateway",
        };
        place.tell(account, id, order, props);
    }

    fn users(&self, _: &Account, _: &State, _: &mut Vec<Blocker>) {}

    /// What it connects is a VPC or a workspace; whether there is one, perhaps in another account, comes
    /// out when it is asked there.
    fn check_part(
        &self,
        _: &Account,
        spot: Spot,
        _: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        let sorts = [NetworkSort::Vpc, NetworkSort::PowerVirtualServer];
        let read = part.key.split_once(' ');
        let is_legal = read.is_some_and(|(sort, network)| {
            sorts.iter().any(|known| known.as_str() == sort) && network.starts_with("crn:")
        });
        if is_legal {
            return Ok(());
        }
        let message = format!("'{}' is no network that can be connected", part.key);
        Err(spot.refuse(spot.inner.add, ROW.service.invalid, message))
    }
}
