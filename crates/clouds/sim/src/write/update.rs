//! Properties that can be changed in place.

use std::sync::Arc;

use ownership::kind::Change;
use ownership::part::Props;
use ownership::{CloudError, Target};

use crate::account::{Account, refuse};
use crate::provenance::{Actor, Harm};

impl Account {
    /// Changes properties of a resource.
    ///
    /// # Errors
    /// What the real account refuses: properties that are fixed at creation, or unknown.
    pub fn update(
        &mut self,
        actor: Actor,
        target: &Target,
        props: &Props,
    ) -> Result<(), CloudError> {
        let shelf = self.shelf_or_refuse(&target.place, target.kind)?;
        let (kind, row) = (self.shelves[shelf].kind, self.shelves[shelf].row);
        self.admit_write(actor, row, row.update)?;
        let (place, state) = self.living(target, row.update)?;
        for (name, _) in props.iter() {
            let rule = kind.props.iter().find(|rule| rule.name == *name);
            if !rule.is_some_and(|rule| rule.change == Change::InPlace) {
                let message = format!("the {name} of a {} cannot be changed", kind.noun);
                return Err(refuse(row, row.update, row.service.invalid, message));
            }
        }
        if state.resource.props.include(props) {
            return Ok(());
        }
        let mut state = state.clone();
        let resource = Arc::make_mut(&mut state.resource);
        for (prop, value) in props.iter() {
            let from = resource.props.get(prop).cloned();
            if from.as_ref() != Some(value) {
                let (prop, to) = (*prop, value.clone());
                self.log(place, actor, Harm::Changed { prop, from, to });
                resource.props.set(prop, value.clone());
            }
        }
        self.commit(place, Some(state), |_| {});
        Ok(())
    }
}
