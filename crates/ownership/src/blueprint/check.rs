//! What one slot may wish for: what its Kind declares, each thing once, and tags that fit.

use std::collections::BTreeSet;

use super::{BlueprintError, Expr, Slot, Source};
use crate::input::InputError;
use crate::kind::{InnerProof, Naming};
use crate::mark;
use crate::text::Text;

impl Slot {
    /// Checks everything that needs no other slot.
    pub(super) fn check(&self) -> Result<(), BlueprintError> {
        self.check_props("props", &self.props)?;
        if let Source::Find { by, .. } = &self.source {
            self.check_props("find by", by)?;
        }
        self.check_inner()?;
        self.check_user_tags()
            .and_then(|()| self.check_label())
            .map_err(|source| BlueprintError::Input {
                slot: self.name.clone(),
                source,
            })
    }

    fn check_props(
        &self,
        field: &'static str,
        props: &[(&'static str, Expr)],
    ) -> Result<(), BlueprintError> {
        let mut seen = BTreeSet::new();
        for (name, _) in props {
            if !self.kind.props.iter().any(|rule| rule.name == *name) {
                return Err(self.undeclared(field, "property", name));
            }
            if !seen.insert(*name) {
                return Err(self.twice(field, (*name).into()));
            }
        }
        Ok(())
    }

    fn check_inner(&self) -> Result<(), BlueprintError> {
        let wished = self.inner.iter().map(|wish| ("inner", wish.kind));
        let exclusive = self.exclusive.iter().map(|kind| ("exclusive", *kind));
        for (field, kind) in wished.chain(exclusive) {
            if self.kind.inner(kind).is_none() {
                return Err(self.undeclared(field, "inner part", kind));
            }
        }
        // A key that is another slot's id is not known yet: only the same slot is surely the same.
        let mut seen = BTreeSet::new();
        for wish in &self.inner {
            let (key, known) = match &wish.key {
                Expr::Text(text) => (&**text, true),
                Expr::Slot(slot) => (slot.as_str(), false),
            };
            if !seen.insert((wish.kind, key, known)) {
                return Err(self.twice("inner", format!("{} {key}", wish.kind).into()));
            }
        }
        Ok(())
    }

    fn check_user_tags(&self) -> Result<(), InputError> {
        let carrier = self.kind.carrier;
        let mut seen = BTreeSet::new();
        for (key, value) in &self.user_tags {
            carrier.check(key, value)?;
            if let Some(rule) = mark::reserved(carrier, key) {
                return Err(InputError::new("tag key", key, rule));
            }
            if !seen.insert(carrier.fold_key(key)) {
                return Err(InputError::new("tag key", key, "must not be there twice"));
            }
        }
        // On a resource that turns out to be somebody's, a mark names each such part of ours.
        let by_parent = |kind| {
            let inner = self.kind.inner(kind);
            inner.is_some_and(|inner| inner.proof == InnerProof::ParentMark)
        };
        let parts = self.inner.iter().filter(|wish| by_parent(wish.kind));
        let room = carrier
            .capacity()
            .saturating_sub(mark::MOST_MARKS + parts.count());
        if self.user_tags.len() > room && !self.user_tags.is_empty() {
            let number = self.user_tags.len().to_string();
            let noun = self.kind.noun;
            let rule = format!("are too many: beside the marks, this {noun} has room for {room}");
            return Err(InputError::new("user tags", &number, rule));
        }
        Ok(())
    }

    fn check_label(&self) -> Result<(), InputError> {
        if self.is_own() && self.kind.naming != Naming::Free && self.label.is_empty() {
            let rule = "must not be empty: this kind has names";
            return Err(InputError::new("name", "", rule));
        }
        Ok(())
    }

    fn undeclared(
        &self,
        field: &'static str,
        what: &'static str,
        name: &'static str,
    ) -> BlueprintError {
        BlueprintError::Undeclared {
            slot: self.name.clone(),
            field,
            kind: self.kind.name,
            what,
            name,
        }
    }

    fn twice(&self, field: &'static str, name: Text) -> BlueprintError {
        BlueprintError::Twice {
            slot: self.name.clone(),
            field,
            name,
        }
    }
}
