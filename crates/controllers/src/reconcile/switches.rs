//! The switches that people have on every object: annotations with two values each.

use api::names::{DELETION, MANAGEMENT};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use ownership::decide::Phase;
use ownership::input::InputError;

const SWITCHES: [(&str, [&str; 2]); 2] = [
    (MANAGEMENT, ["manage", "observe"]),
    (DELETION, ["delete", "retain"]),
];

fn value<'m>(meta: &'m ObjectMeta, key: &str) -> Option<&'m str> {
    let annotations = meta.annotations.as_ref()?;
    annotations.get(key).map(String::as_str)
}

/// Whether each switch that is set has a value that it knows: nobody is to lose what a misspelt one
/// was meant to keep.
pub(crate) fn check(meta: &ObjectMeta) -> Result<(), InputError> {
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
