//! The properties of a create call: checked, and completed as the cloud does.

use std::sync::Arc;

use cloud_port::aws::network::Network;
use cloud_port::aws::vpc;
use ownership::part::{Props, Resource};
use ownership::{CloudError, ResourceId, Target, Text};

use super::create::Order;
use crate::account::{Account, refuse};

impl Account {
    /// Checks a create call's properties and completes them as the cloud does.
    pub(super) fn prepare(&self, order: &Order<'_>) -> Result<Props, CloudError> {
        let shelf = &self.shelves[order.shelf];
        let (row, op) = (shelf.row, shelf.row.create);
        for (name, _) in order.props.iter() {
            if !shelf.kind.props.iter().any(|rule| rule.name == *name) {
                let message = format!("a {} has no property {name}", shelf.kind.noun);
                return Err(refuse(row, op, "UnknownParameter", message));
            }
        }
        let mut props = order.props.clone();
        row.model.prepare(self, order, &mut props)?;
        Ok(props)
    }

    pub(crate) fn required<'a>(
        &self,
        order: &Order<'_>,
        props: &'a Props,
        name: &'static str,
    ) -> Result<&'a Text, CloudError> {
        props.get(name).ok_or_else(|| {
            let row = self.shelves[order.shelf].row;
            let message = format!("the request must have the parameter {name}");
            refuse(row, row.create, "MissingParameter", message)
        })
    }

    pub(crate) fn required_vpc(
        &self,
        order: &Order<'_>,
        props: &Props,
    ) -> Result<&Arc<Resource>, CloudError> {
        let vpc = self.required(order, props, "vpc")?;
        let target = Target::new(&vpc::VPC, ResourceId::new(vpc.clone()));
        let (_, state) = self.living(&target, self.shelves[order.shelf].row.create)?;
        Ok(&state.resource)
    }

    pub(crate) fn network(&self, order: &Order<'_>, props: &Props) -> Result<Network, CloudError> {
        let cidr = self.required(order, props, "cidr")?;
        Network::parse("cidr", cidr).map_err(|error| {
            let row = self.shelves[order.shelf].row;
            refuse(row, row.create, row.invalid(), error.to_string())
        })
    }
}
