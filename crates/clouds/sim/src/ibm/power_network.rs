//! Networks of Power Virtual Server, each with the DHCP server that makes it.

use cloud_port::ibm::power_network::{SERVER, WORKSPACE};
use cloud_port::ibm::workspace::{self, ZONE};
use ownership::life::Life;
use ownership::part::Props;
use ownership::{CloudError, ResourceId, Target};

use super::crn::Where;
use super::{OTHER, PAGE, POWER};
use crate::account::{Account, refuse};
use crate::provider::{Model, Row};
use crate::write::create::Order;

pub(crate) static ROW: Row = Row {
    model: &PowerNetwork,
    service: &POWER,
    prefix: "c1d7e2f4-",
    not_found: "Not Found",
    duplicate: "Conflict",
    over_quota: "Bad Request",
    blocked: "Conflict",
    get: POWER.reads("GetNetwork"),
    list: POWER.lists("ListNetworks", PAGE),
    create: POWER.writes("CreateDhcp"),
    update: POWER.writes("UpdateNetwork"),
    delete: POWER.writes("DeleteDhcp"),
    quota: 100,
    quota_within: Some(WORKSPACE),
    ..OTHER
};

#[derive(Debug)]
struct PowerNetwork;

impl Model for PowerNetwork {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        let workspace = account.beside(order, props, &workspace::WORKSPACE, WORKSPACE)?;
        if workspace.life == Life::Ready {
            return Ok(());
        }
        let message = format!("the workspace '{}' is not active", workspace.id);
        Err(refuse(&ROW, ROW.create, ROW.service.invalid, message))
    }

    fn gives(&self, account: &Account, id: &ResourceId, order: &Order<'_>, props: &mut Props) {
        let guid = props.get(WORKSPACE).cloned().unwrap_or_else(|| "".into());
        let parent = &account.shelves[order.shelf].place;
        let parent = Target::at(parent, &workspace::WORKSPACE, ResourceId::new(guid.clone()));
        let zone = account.resource(&parent);
        let zone = zone.and_then(|parent| parent.props.get(ZONE).cloned());
        let place = Where {
            service: "power-iaas",
            location: zone.as_deref().unwrap_or_default(),
            instance: &guid,
            sort: "network",
        };
        place.tell(account, id, order, props);
        props.set(SERVER, format!("dhcp-{id}").into());
    }
}
