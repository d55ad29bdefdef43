//! Who wrote the custom objects that are read back from disk.
//!
//! An object is shown as it is stored only to a reader of the schema that wrote it; to all others it
//! is pruned and defaulted first. The disk says the version, not the schema of that time. So the
//! object is asked: if the present schema of its version leaves it as it is, it counts as the
//! writer. Otherwise the writer is a past one, which nobody reads with.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::resource::{Definition, Resource};
use crate::strategy;

/// The writers of what one cluster reads back.
#[derive(Default)]
pub(crate) struct Writers {
    /// Past schemas by collection and version: one stands for all of a version.
    past: BTreeMap<(Box<str>, Box<str>), Arc<Resource>>,
}

impl Writers {
    /// What an object of this version is written as.
    pub(crate) fn of(
        &mut self,
        definition: &Definition,
        version: &str,
        value: &Value,
    ) -> Arc<Resource> {
        if let Some(present) = definition.version(version)
            && leaves(present, value)
        {
            return Arc::clone(present);
        }
        let like = definition.stored();
        let place = (like.store.clone(), Box::from(version));
        let past = self.past.entry(place);
        Arc::clone(past.or_insert_with(|| Arc::new(like.past(version))))
    }
}

/// Whether a schema shows an object as it is.
fn leaves(resource: &Resource, value: &Value) -> bool {
    let mut shown = value.clone();
    strategy::convert(resource, &mut shown);
    strategy::default(resource, &mut shown);
    shown == *value
}
