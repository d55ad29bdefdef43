//! Values of wishes: known, or made of what fills other slots.

use std::fmt;

use super::SlotName;
use crate::part::Props;
use crate::text::{ResourceId, Text};

/// A value of a wish: known, or made of what fills other slots.
///
/// ```
/// # use ownership::blueprint::{Expr, SlotName};
/// # fn main() -> Result<(), ownership::input::InputError> {
/// // A rule that lets in whoever is in the group of another slot.
/// let nodes = Expr::Slot(SlotName::new("nodes")?);
/// let rule = Expr::join(["ingress tcp 443 443 ".into(), nodes]);
/// assert_eq!(rule.to_string(), "ingress tcp 443 443 <nodes>");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expr {
    /// The value itself, canonical.
    Text(Text),
    /// The id of the resource in that slot.
    Slot(SlotName),
    /// A property of the resource in that slot, as the cloud tells it: an address, an ARN.
    Prop(SlotName, &'static str),
    /// These, one after the other.
    Join(Vec<Expr>),
}

/// A slot that something refers to, with the property where it is one and not the id.
pub type Reference<'a> = (&'a SlotName, Option<&'static str>);

/// What fills slots, for wishes that refer to them.
///
/// `None` while a slot is empty, or its resource does not have the property (yet).
pub trait Fills {
    /// The id of what fills a slot.
    fn id(&self, slot: &SlotName) -> Option<Text>;

    /// A property of what fills a slot.
    fn prop(&self, slot: &SlotName, name: &str) -> Option<Text>;
}

/// No slot is filled.
#[derive(Clone, Copy, Debug)]
pub struct Empty;

impl Fills for Empty {
    fn id(&self, _: &SlotName) -> Option<Text> {
        None
    }

    fn prop(&self, _: &SlotName, _: &str) -> Option<Text> {
        None
    }
}

/// Only ids are known: of recorded ones nobody has read the properties.
#[derive(Clone, Copy, Debug)]
pub struct Ids<F>(pub F);

impl<F: Fn(&SlotName) -> Option<ResourceId>> Fills for Ids<F> {
    fn id(&self, slot: &SlotName) -> Option<Text> {
        (self.0)(slot).map(|id| id.text())
    }

    fn prop(&self, _: &SlotName, _: &str) -> Option<Text> {
        None
    }
}

impl Expr {
    /// Values one after the other.
    pub fn join(parts: impl IntoIterator<Item = Expr>) -> Self {
        Self::Join(parts.into_iter().collect())
    }

    /// The value; `None` while something that it refers to is not there.
    pub fn resolve(&self, fills: &impl Fills) -> Option<Text> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Slot(slot) => fills.id(slot),
            Self::Prop(slot, name) => fills.prop(slot, name),
            Self::Join(parts) => {
                let parts = parts.iter().map(|part| part.resolve(fills));
                let parts: Option<Vec<Text>> = parts.collect();
                Some(parts?.concat().into())
            }
        }
    }

    /// What it refers to.
    pub fn references(&self) -> Vec<Reference<'_>> {
        match self {
            Self::Text(_) => Vec::new(),
            Self::Slot(slot) => vec![(slot, None)],
            Self::Prop(slot, name) => vec![(slot, Some(name))],
            Self::Join(parts) => parts.iter().flat_map(Self::references).collect(),
        }
    }

    /// Whether it refers to that slot.
    pub fn refers_to(&self, slot: &SlotName) -> bool {
        self.references().iter().any(|(name, _)| *name == slot)
    }
}

/// Resolves a list of properties; `None` while one refers to something that is not there.
pub fn resolve_props(props: &[(&'static str, Expr)], fills: &impl Fills) -> Option<Props> {
    props
        .iter()
        .map(|(name, expr)| Some((*name, expr.resolve(fills)?)))
        .collect()
}

impl From<&str> for Expr {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<Text> for Expr {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Slot(slot) => write!(f, "<{slot}>"),
            Self::Prop(slot, name) => write!(f, "<{name} of {slot}>"),
            Self::Join(parts) => parts.iter().try_for_each(|part| part.fmt(f)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Network;

    impl Fills for Network {
        fn id(&self, slot: &SlotName) -> Option<Text> {
            (slot.as_str() == "network").then(|| "vpc-1".into())
        }

        fn prop(&self, slot: &SlotName, name: &str) -> Option<Text> {
            (slot.as_str() == "network" && name == "cidr").then(|| "10.0.0.0/16".into())
        }
    }

    fn slot(name: &str) -> SlotName {
        SlotName::new(name).unwrap()
    }

    #[test]
    fn references_are_resolved_and_joined() {
        let cidr = Expr::Prop(slot("network"), "cidr");
        let rule = Expr::join(["tcp 22 from ".into(), cidr]);
        assert_eq!(
            rule.resolve(&Network).as_deref(),
            Some("tcp 22 from 10.0.0.0/16")
        );
        assert_eq!(
            Expr::Slot(slot("network")).resolve(&Network).as_deref(),
            Some("vpc-1")
        );
        assert_eq!(rule.to_string(), "tcp 22 from <cidr of network>");
    }

    #[test]
    fn what_is_not_there_resolves_to_nothing() {
        for expr in [
            Expr::Slot(slot("other")),
            Expr::Prop(slot("network"), "arn"),
            Expr::join(["a".into(), Expr::Slot(slot("other"))]),
        ] {
            assert_eq!(expr.resolve(&Network), None, "{expr}");
        }
    }

    #[test]
    fn all_references_are_known() {
        let (a, b) = (slot("a"), slot("b"));
        let expr = Expr::join([
            Expr::Slot(a.clone()),
            Expr::join([Expr::Prop(b.clone(), "arn")]),
        ]);
        assert_eq!(expr.references(), [(&a, None), (&b, Some("arn"))]);
        assert!(expr.refers_to(&b) && !expr.refers_to(&slot("c")));
    }
}
