//! The properties of a create call: checked, and completed as the cloud does.

use ownership::part::Props;
use ownership::{CloudError, Text};

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
                return Err(refuse(row, op, row.service.unknown, message));
            }
            // A real account takes it, and shows it to everybody.
            if shelf.kind.is_secret(name) {
                let message = format!("the {name} of a {} is secret", shelf.kind.noun);
                return Err(refuse(row, op, row.service.invalid, message));
            }
        }
        let unknown = order
            .secrets
            .names()
            .find(|name| !shelf.kind.is_secret(name));
        if let Some(name) = unknown {
            let message = format!("a {} has no secret {name}", shelf.kind.noun);
            return Err(refuse(row, op, row.service.unknown, message));
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
            refuse(row, row.create, row.service.missing, message)
        })
    }
}
