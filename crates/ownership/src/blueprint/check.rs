//! What one slot may wish for: what its Kind declares, each thing once, and tags that fit.

use std::collections::BTreeSet;

use super::{BlueprintError, Expr, Slot, Source};
use crate::input::InputError;
use crate::kind::{Change, InnerProof, Kind, Naming};
use crate::mark;
use crate::text::Text;

impl Slot {
    /// Checks everything that needs no other slot.
    pub(super) fn check(&self) -> Result<(), BlueprintError> {
        self.check_props("props", &self.props)?;
        self.check_secrets()?;
        if let Source::Find { by, .. } = &self.source {
            self.check_props("find by", by)?;
        }
        self.check_find_tags()?;
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
            let rule = self.kind.props.iter().find(|rule| rule.name == *name);
            let wished = rule.filter(|rule| field != "props" || rule.change != Change::Given);
            if wished.is_none() {
                return Err(self.undeclared(field, "property", name));
            }
            if self.kind.is_secret(name) {
                let rule = "is secret: wish for it in secrets, and find nothing by it";
                return Err(self.secrecy(field, self.kind, name, rule));
            }
            if !seen.insert(*name) {
                return Err(self.twice(field, (*name).into()));
            }
        }
        Ok(())
    }

    fn check_find_tags(&self) -> Result<(), BlueprintError> {
        let Source::Find { tags, .. } = &self.source else {
            return Ok(());
        };
        let mut seen = BTreeSet::new();
        for (key, _) in tags {
            if !seen.insert(self.kind.carrier.fold_key(key)) {
                return Err(self.twice("find by tags", key.clone()));
            }
        }
        Ok(())
    }

    fn check_secrets(&self) -> Result<(), BlueprintError> {
        for name in self.secrets.names() {
            if self.kind.props.iter().all(|rule| rule.name != name) {
                return Err(self.undeclared("secrets", "property", name));
            }
            if !self.kind.is_secret(name) {
                let rule = "is not secret: wish for it in props";
                return Err(self.secrecy("secrets", self.kind, name, rule));
            }
            if !self.is_own() {
                let rule = "is chosen at birth, but this slot is only looked up";
                return Err(self.secrecy("secrets", self.kind, name, rule));
            }
        }
        Ok(())
    }

    /// Checks a reference to another slot: what is referred to must be declared there, and no secret.
    pub(super) fn check_reference(
        &self,
        to: &Slot,
        prop: Option<&'static str>,
    ) -> Result<(), BlueprintError> {
        let declared = |name: &str| to.kind.props.iter().any(|rule| rule.name == name);
        if let Some(name) = prop.filter(|name| to.kind.is_secret(name)) {
            let rule = "is secret: nothing can refer to it";
            return Err(self.secrecy("reference", to.kind, name, rule));
        }
        match prop.filter(|name| !declared(name)) {
            None => Ok(()),
            Some(name) => Err(BlueprintError::Undeclared {
                slot: self.name.clone(),
                field: "reference",
                kind: to.kind.name,
                what: "property",
                name,
            }),
        }
    }

    fn check_inner(&self) -> Result<(), BlueprintError> {
        let wished = self.inner.iter().map(|wish| ("inner", wish.kind));
        let exclusive = self.exclusive.iter().map(|kind| ("exclusive", *kind));
        for (field, kind) in wished.chain(exclusive) {
            if self.kind.inner(kind).is_none() {
                return Err(self.undeclared(field, "inner part", kind));
            }
        }
        // A key that refers to another slot is not known yet: only the same reference is surely the
        // same.
        let mut seen = BTreeSet::new();
        for wish in &self.inner {
            if !seen.insert((wish.kind, &wish.key)) {
                return Err(self.twice("inner", format!("{} {}", wish.kind, wish.key).into()));
            }
        }
        Ok(())
    }

    fn check_user_tags(&self) -> Result<(), InputError> {
        let carrier = self.kind.carrier;
        if let (Some((key, _)), true, false) =
            (self.user_tags.first(), self.is_own(), self.kind.recorded)
        {
            let noun = self.kind.noun;
            let rule = format!("must be a property: nobody notes which tags of a {noun} we wrote");
            return Err(InputError::new("tag key", key, rule));
        }
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

    fn secrecy(
        &self,
        field: &'static str,
        kind: &'static Kind,
        name: &'static str,
        rule: &'static str,
    ) -> BlueprintError {
        BlueprintError::Secrecy {
            slot: self.name.clone(),
            field,
            kind: kind.name,
            name,
            rule,
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
