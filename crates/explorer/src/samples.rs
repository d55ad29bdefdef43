//! What a Kind's sample comes to in an account.

use cloud_port::Sample;
use cloud_port::sample::{Parent, Values};
use cloud_sim::{Account, Actor};
use ownership::blueprint::{Expr, InnerWish};
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props};
use ownership::time::Millis;
use ownership::{ResourceId, Slot, Text};

use crate::scenario::text;

/// What a resource lies in: one that the account comes with, else somebody's.
pub(crate) fn home(account: &mut Account, parent: Parent) -> ResourceId {
    let there = account
        .alive(parent.sample.kind)
        .next()
        .map(|there| there.id.clone());
    there.unwrap_or_else(|| make(account, parent.sample, &[]))
}

/// Somebody's resource, as the sample says but for what differs.
pub(crate) fn make(account: &mut Account, sample: &Sample, differs: Values) -> ResourceId {
    let mut props = Props::new();
    if let Some(parent) = sample.parent {
        props.set(parent.prop, home(account, parent).text());
    }
    if let Some(taken) = sample.takes {
        props.set(taken.prop, make(account, taken.sample, &[]).text());
    }
    for (name, value) in sample.props.iter().chain(differs) {
        props.set(name, (*value).into());
    }
    // Where names are unique, each needs one of its own.
    let name = match account.alive(sample.kind).count() {
        0 => "other".to_owned(),
        more => format!("other-{more}"),
    };
    let made = account.plant(Actor::Stranger, sample.kind, &name, &props, &Tags::new());
    // What takes its time to come can be used by the time that anything is put into it.
    account.clock().advance(Millis::seconds(3600));
    made.expect("room for it").id
}

/// What differs in a second one: what it takes for itself is made for it.
pub(crate) fn beside(account: &mut Account, sample: &Sample) -> Vec<(&'static str, Text)> {
    let values = sample.beside.iter();
    let mut differs: Vec<_> = values
        .map(|(name, value)| (*name, (*value).into()))
        .collect();
    if let Some(taken) = sample.takes {
        differs.push((taken.prop, make(account, taken.sample, &[]).text()));
    }
    differs
}

/// Wants what lies in a parent to lie in this one.
pub(crate) fn put_into(slot: &mut Slot, parent: Parent, home: &ResourceId) {
    want_one(slot, parent.prop, Expr::Text(home.text()));
    if let Some(kind) = parent.part {
        slot.inner.retain(|wish| wish.kind != kind);
        slot.inner.push(InnerWish {
            kind,
            key: Expr::Text(home.text()),
            value: "".into(),
        });
    }
}

/// Wants other values.
pub(crate) fn want(slot: &mut Slot, values: Values) {
    for (name, value) in values {
        want_one(slot, name, text(value));
    }
}

/// Wants another value.
pub(crate) fn want_one(slot: &mut Slot, name: &'static str, value: Expr) {
    let known = slot.props.iter_mut().find(|(known, _)| *known == name);
    match known {
        Some((_, wish)) => *wish = value,
        None => slot.props.push((name, value)),
    }
}

/// A part that somebody puts into a resource.
pub(crate) fn part((key, value): (&str, &str)) -> InnerPart {
    InnerPart::new(key, value, Tags::new())
}
