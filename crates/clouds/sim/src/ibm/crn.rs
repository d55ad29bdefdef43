//! Names of resources in the whole of IBM Cloud, and what is found by them.

use cloud_port::ibm::transit_gateway::TRANSIT_GATEWAY;
use cloud_port::ibm::{CRN, NAME};
use ownership::error::Blocker;
use ownership::part::{Props, Resource};
use ownership::{CloudError, Kind, ResourceId, Target};
use std::sync::Arc;

use crate::account::{Account, refuse};
use crate::record::State;
use crate::write::create::Order;

/// Where a resource is, for its CRN.
pub(super) struct Where<'a> {
    /// The service that it is of.
    pub service: &'a str,
    /// Its region or zone; `global`.
    pub location: &'a str,
    /// The instance of the service that it is in, or is.
    pub instance: &'a str,
    /// What sort of thing it is, unless it is that instance.
    pub sort: &'a str,
}

impl Where<'_> {
    /// Tells a new resource its CRN and its name.
    pub(super) fn tell(
        &self,
        account: &Account,
        id: &ResourceId,
        order: &Order<'_>,
        props: &mut Props,
    ) {
        let Self {
            service,
            location,
            instance,
            sort,
        } = self;
        let id = if sort.is_empty() { "" } else { id.as_str() };
        let number = account.settings.number;
        let crn =
            format!("crn:v1:bluemix:public:{service}:{location}:a/{number}:{instance}:{sort}:{id}");
        props.set(CRN, crn.into());
        props.set(NAME, order.name.clone());
    }
}

impl Account {
    /// The region that VPC is seen from.
    pub(super) fn vpc_region(&self) -> &'static str {
        self.region()
    }

    /// The zones of the region, as VPC calls them.
    pub fn vpc_zones(&self) -> Vec<String> {
        let region = self.region();
        (1..=3).map(|number| format!("{region}-{number}")).collect()
    }

    /// The living resource in the same place that a create call must name by this property.
    pub(super) fn beside(
        &self,
        order: &Order<'_>,
        props: &Props,
        kind: &'static Kind,
        prop: &'static str,
    ) -> Result<&Arc<Resource>, CloudError> {
        let id = self.required(order, props, prop)?.clone();
        self.beside_by_id(order, kind, ResourceId::new(id))
    }

    /// The same, by its id.
    pub(super) fn beside_by_id(
        &self,
        order: &Order<'_>,
        kind: &'static Kind,
        id: ResourceId,
    ) -> Result<&Arc<Resource>, CloudError> {
        let shelf = &self.shelves[order.shelf];
        let target = Target::at(&shelf.place, kind, id);
        self.resource(&target).ok_or_else(|| {
            let message = format!("the {target} does not exist");
            refuse(shelf.row, shelf.row.create, shelf.row.not_found, message)
        })
    }

    /// The properties that a create call must have.
    pub(super) fn require(
        &self,
        order: &Order<'_>,
        props: &Props,
        names: &[&'static str],
    ) -> Result<(), CloudError> {
        names
            .iter()
            .try_for_each(|name| self.required(order, props, name).map(drop))
    }

    /// The gateways that a network is connected to.
    pub(super) fn gateways_of(&self, state: &State, blockers: &mut Vec<Blocker>) {
        let Some(crn) = state.resource.props.get(CRN) else {
            return;
        };
        let connects = |gateway: &&State| {
            let mut parts = gateway.inner.iter().flat_map(|parts| parts.iter());
            parts.any(|part| part.key.split(' ').any(|word| word == &**crn))
        };
        let gateways = self.states(&TRANSIT_GATEWAY).filter(connects);
        blockers.extend(gateways.map(|gateway| Blocker {
            noun: TRANSIT_GATEWAY.noun.into(),
            id: gateway.resource.id.clone(),
        }));
    }
}
