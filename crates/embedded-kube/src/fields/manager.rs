//! What is tracked of a write.

use std::borrow::Cow;
use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::Value;

use super::entries::{Managed, Operation, is_reset};
use super::scope::Scope;
use super::set::Set;
use super::updater::{self, Failure};
use crate::deep::MAX_DEPTH;
use crate::meta;
use crate::status::{ApiError, ApiResult};
use crate::text::is_print;
use crate::typed::seconds;

/// How long the name of a manager may be.
const MAX_NAME: usize = 128;
/// What nobody manages.
pub(super) static UNMANAGED: LazyLock<Set> = LazyLock::new(|| {
    let paths: [&[&str]; 12] = [
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ];
    Set::of_names(&paths)
});
/// The manager that a client is by its name, which ends at the first slash.
pub(crate) fn from_user_agent(agent: &str) -> String {
    let mut name = String::new();
    let shown = agent.split('/').next().unwrap_or_default().chars();
    for c in shown.filter(|c| is_print(*c)) {
        if name.len() + c.len_utf8() > MAX_NAME {
            break;
        }
        name.push(c);
    }
    name
}

/// How deep the lists of managers are in an object.
const ABOVE: usize = 4;

/// Tracks a change by anything but an apply. What the new object says of its managers counts where
/// it is sound; an object that does not fit its schema loses them, and so does one whose fields
/// nest deeper than any document may.
///
/// # Errors
/// Where the object with its managers is too deep. The real server stores it, and cannot read it.
pub(crate) fn track(
    scope: &Scope<'_>,
    live: Option<&Value>,
    new: &mut Value,
    manager: &str,
    now: Timestamp,
) -> ApiResult<()> {
    let said = new
        .get_mut("metadata")
        .and_then(Value::as_object_mut)
        .and_then(|meta| meta.remove("managedFields"))
        .unwrap_or_default();
    let lists = || {
        live.map(Managed::of)
            .and_then(Result::ok)
            .unwrap_or_default()
    };
    let mut managed = if !scope.sub.is_empty() {
        lists()
    } else if is_reset(&said) {
        Managed::default()
    } else {
        match Managed::decode(&said) {
            Ok(managed) if !managed.is_empty() => managed,
            _ => lists(),
        }
    };
    // Whoever has no managers gets none before the first apply, except at birth.
    if managed.is_empty() && live.is_some_and(|live| !meta::text(live, "uid").is_empty()) {
        return Ok(());
    }
    let live = live.map_or_else(|| Cow::Owned(scope.empty()), Cow::Borrowed);
    if update(scope, &live, new, &mut managed, manager, now).is_ok() {
        let levels = managed.levels();
        if levels <= MAX_DEPTH {
            check_levels(levels)?;
            managed.write_to(new);
        }
    }
    Ok(())
}

pub(super) fn check_levels(levels: usize) -> ApiResult<()> {
    if levels + ABOVE > MAX_DEPTH {
        let why = "invalid character '{' exceeded max depth";
        return Err(ApiError::new(500, "", why));
    }
    Ok(())
}

/// Gives a manager what a change sets, and takes that from others.
pub(super) fn update(
    scope: &Scope<'_>,
    live: &Value,
    new: &Value,
    managed: &mut Managed,
    manager: &str,
    now: Timestamp,
) -> Result<(), Failure> {
    let new = scope.typed(new, true)?;
    let live = scope.typed(live, true)?;
    let mut set = updater::update(scope, &live, &new, managed)?;
    set.subtract(&UNMANAGED);
    if !set.is_empty() {
        let identity = scope.identity(manager, Operation::Update);
        managed.add(identity, &scope.version, set, &seconds(now));
    }
    managed.cap();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_the_first_part_of_its_name() {
        for (agent, manager) in [
            ("kubectl/v1.36 (linux)", "kubectl"),
            ("plain", "plain"),
            ("/x", ""),
            ("a\u{7}b/1", "ab"),
        ] {
            assert_eq!(from_user_agent(agent), manager);
        }
        assert_eq!(from_user_agent(&"ä".repeat(100)).len(), 128);
    }
}
