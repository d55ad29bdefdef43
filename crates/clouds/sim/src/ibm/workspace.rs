//! Workspaces of Power Virtual Server.

use cloud_port::ibm::RESOURCE_GROUP;
use cloud_port::ibm::workspace::{PLAN, PLAN_ID, ZONE};
use ownership::error::Blocker;
use ownership::part::Props;
use ownership::{CloudError, ResourceId};

use super::crn::Where;
use super::{CONTROLLER, OTHER, PAGE};
use crate::account::{Account, refuse};
use crate::provider::{Model, Row};
use crate::record::State;
use crate::write::create::Order;

pub(crate) static ROW: Row = Row {
    model: &Workspace,
    service: &CONTROLLER,
    prefix: "6f1c0a4e-",
    over_quota: "HTTP 400",
    blocked: "HTTP 409",
    get: CONTROLLER.reads("GetResourceInstance"),
    list: CONTROLLER.lists("ListResourceInstances", PAGE),
    create: CONTROLLER.writes("CreateResourceInstance"),
    update: CONTROLLER.writes("UpdateResourceInstance"),
    delete: CONTROLLER.writes("DeleteResourceInstance"),
    ..OTHER
};

/// Some of the zones of Power Virtual Server.
const ZONES: [&str; 12] = [
    "dal10", "dal12", "eu-de-1", "lon04", "lon06", "mad02", "osa21", "sao01", "syd04", "syd05",
    "tok04", "wdc06",
];

#[derive(Debug)]
struct Workspace;

impl Model for Workspace {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        account.require(order, props, &[RESOURCE_GROUP, PLAN])?;
        let zone = account.required(order, props, ZONE)?;
        let plan = props.get(PLAN).map(|plan| &**plan);
        let wrong = match (ZONES.contains(&&**zone), plan == Some(PLAN_ID)) {
            (true, true) => return Ok(()),
            (false, _) => format!("there is no zone '{zone}' of Power Virtual Server"),
            (_, false) => "the plan is not one of the service".to_owned(),
        };
        Err(refuse(&ROW, ROW.create, ROW.service.invalid, wrong))
    }

    fn gives(&self, account: &Account, id: &ResourceId, order: &Order<'_>, props: &mut Props) {
        let location = props.get(ZONE).cloned().unwrap_or_else(|| "".into());
        let place = Where {
            service: "power-iaas",
            location: &location,
            instance: id.as_str(),
            sort: "",
        };
        place.tell(account, id, order, props);
    }

    /// What is in it, and the gateways that it is connected to.
    fn users(&self, account: &Account, state: &State, blockers: &mut Vec<Blocker>) {
        account.dependents(&state.resource.id, blockers);
        account.gateways_of(state, blockers);
    }
}
