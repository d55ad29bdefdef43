//! Writes: what each call changes, and what the real account refuses.
//!
//! Each call checks everything first and then changes everything, so a refused call has changed
//! nothing. The engine comes in through [`Account::perform`](crate::Account::perform); tests and the
//! foreign actor use the same methods by hand.

pub(crate) mod create;
mod delete;
pub(crate) mod inner;
mod params;
mod tag;
mod update;

use ownership::mark::{Carrier, Tags};
use ownership::{CloudError, Text};

use crate::account::{Account, refuse};
use crate::op::Op;
use crate::provider::Row;

impl Account {
    /// The place of an inner Kind in its parent's declaration.
    pub(crate) fn inner_at(&self, shelf: usize, inner: &str) -> Result<usize, CloudError> {
        let shelf = &self.shelves[shelf];
        let at = shelf.kind.inner.iter().position(|i| i.name == inner);
        at.ok_or_else(|| {
            let message = format!("a {} has no parts of the kind {inner}", shelf.kind.noun);
            let row = shelf.row;
            refuse(row, row.update, row.service.unsupported, message)
        })
    }
}

/// Checks new tags against the carrier's rules; no key may come twice in one call.
fn check_tags(
    row: &Row,
    op: Op,
    carrier: Carrier,
    tags: &[&(Text, Text)],
) -> Result<(), CloudError> {
    for (at, (key, value)) in tags.iter().enumerate() {
        if let Err(error) = carrier.check(key, value) {
            return Err(refuse(row, op, row.service.invalid, error.to_string()));
        }
        if carrier != Carrier::IbmTags && tags[..at].iter().any(|(other, _)| other == key) {
            let message = format!("the tag key '{key}' comes twice");
            return Err(refuse(row, op, row.service.invalid, message));
        }
    }
    Ok(())
}

/// How many tags count towards the carrier's capacity: those of AWS itself do not.
fn counted(carrier: Carrier, tags: &Tags) -> usize {
    match carrier {
        Carrier::AwsTags => tags.iter().filter(|(k, _)| !k.starts_with("aws:")).count(),
        _ => tags.len(),
    }
}
