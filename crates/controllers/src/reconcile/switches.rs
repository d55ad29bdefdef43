//! The switches that people have on every object: annotations.

use api::names::{
    ADOPT, ANNOTATIONS, DELETION, DOMAIN, LEFT_BEHIND, MANAGEMENT, RULES, UNMARKED,
    guests_in_finalizer,
};
use cloud_port::driver::Report;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use ownership::decide::{Filled, Phase};
use ownership::input::InputError;
use ownership::mark::Unmarked;
use ownership::{Slot, SlotName, Verdict};

use super::spelling;
use super::system::Wants;

const SWITCHES: [(&str, [&str; 2]); 5] = [
    (MANAGEMENT, ["manage", "observe"]),
    (DELETION, ["delete", "retain"]),
    (RULES, ["shared", "exclusive"]),
    (UNMARKED, ["use", "conflict"]),
    (LEFT_BEHIND, ["keep", "delete"]),
];

fn value<'m>(meta: &'m ObjectMeta, key: &str) -> Option<&'m str> {
    let annotations = meta.annotations.as_ref()?;
    annotations.get(key).map(String::as_str)
}

/// What people may set.
const PEOPLES: [&str; 6] = [ADOPT, DELETION, LEFT_BEHIND, MANAGEMENT, RULES, UNMARKED];

/// Whether every annotation under our domain is one that we know: nobody is to lose what a misspelt one
/// was meant to keep.
fn check_keys(meta: &ObjectMeta) -> Result<(), InputError> {
    let keys = meta.annotations.iter().flatten();
    for (key, value) in keys.filter(|(key, _)| key.to_lowercase().starts_with(DOMAIN)) {
        if ANNOTATIONS.contains(&key.as_str()) || guests_in_finalizer(key).is_some() {
            continue;
        }
        let name = &key[DOMAIN.len()..];
        let meant = PEOPLES.into_iter().find(|known| {
            let known = &known[DOMAIN.len()..];
            let begin = name.get(..5).map(str::to_lowercase);
            let alike = begin.is_some_and(|begin| known.starts_with(&begin));
            alike || spelling::is_near(name, known)
        });
        let meant = match meant {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("there are {};", PEOPLES.join(", ")),
        };
        let until = match meta.deletion_timestamp {
            None => "nothing is done for this object",
            Some(_) => "nothing is deleted",
        };
        let rule = format!(
            "is the value of an annotation that Freehold does not know: {meant} Until it is corrected \
             or removed, {until}"
        );
        return Err(InputError::new(key.clone(), value, rule));
    }
    Ok(())
}

/// Whether each switch that is set is one that we know, and has a value that it knows.
pub(crate) fn check(meta: &ObjectMeta) -> Result<(), InputError> {
    check_keys(meta)?;
    for (key, values) in SWITCHES {
        if let Some(value) = value(meta, key)
            && !values.contains(&value)
        {
            let rule = format!("must be {} or {}", values[0], values[1]);
            return Err(InputError::new(key, value, rule));
        }
    }
    Ok(())
}

/// What people have switched on for what an object wants: that resources of ours hold nothing but
/// what we put there, and what is to be adopted.
pub(crate) fn apply(meta: &ObjectMeta, mut wants: Wants) -> Result<Wants, InputError> {
    if value(meta, RULES) == Some("exclusive") {
        wants.blueprint = wants.blueprint.exclusive();
    }
    wants.evidence.unmarked = match value(meta, UNMARKED) {
        Some("conflict") => Some(Unmarked::Conflict),
        Some("use") => Some(Unmarked::Use),
        _ => None,
    };
    match value(meta, LEFT_BEHIND) {
        Some("delete") => wants.evidence.left_behind = true,
        Some("keep") => wants.evidence.left_behind = false,
        _ => {}
    }
    adopt(meta, wants)
}

/// What a person has told us to adopt is evidence: slots, with commas between.
fn adopt(meta: &ObjectMeta, mut wants: Wants) -> Result<Wants, InputError> {
    for name in told_to_adopt(meta) {
        let slot = SlotName::new(name).ok();
        let known = slot.filter(|slot| wants.blueprint.slot(slot).is_some_and(Slot::is_own));
        let Some(slot) = known else {
            let own = wants.blueprint.slots().iter().filter(|slot| slot.is_own());
            let names: Vec<&str> = own.map(|slot| slot.name.as_str()).collect();
            let rule = format!("must name slots that Freehold fills: {}", names.join(", "));
            return Err(InputError::new(ADOPT, name, rule));
        };
        wants.evidence.adopt.insert(slot);
    }
    Ok(wants)
}

/// What of that is still to be adopted after a pass: not what carries our mark by now, for a later
/// namesake is another; and nothing, when all is as it should be.
pub(crate) fn still_adopts(meta: &ObjectMeta, report: &Report, ready: bool) -> Option<String> {
    let marked = |name: &&str| {
        let is_marked = |filled: &Filled| match &filled.verdict {
            Verdict::Owned(owned) => filled.slot.as_str() == *name && owned.mark().is_some(),
            _ => false,
        };
        report.filled.iter().any(is_marked)
    };
    let left: Vec<&str> = told_to_adopt(meta)
        .filter(|name| !ready && !marked(name))
        .collect();
    let some = !left.is_empty();
    some.then(|| left.join(","))
}

/// The names that a person wrote there.
fn told_to_adopt(meta: &ObjectMeta) -> impl Iterator<Item = &str> {
    let names = value(meta, ADOPT).unwrap_or_default().split(',');
    names.map(str::trim).filter(|name| !name.is_empty())
}

/// Whether Freehold only looks, and says what it would do.
pub(crate) fn observes(meta: &ObjectMeta) -> bool {
    value(meta, MANAGEMENT) == Some("observe")
}

/// Whether the object lives, or how it ends.
pub(crate) fn phase(meta: &ObjectMeta) -> Phase {
    match (&meta.deletion_timestamp, value(meta, DELETION)) {
        (None, _) => Phase::Live,
        (Some(_), Some("retain")) => Phase::Retaining,
        (Some(_), _) => Phase::Ending,
    }
}
