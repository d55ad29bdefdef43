//! Server-side apply: the wished fields of this very version of an object, and no others.
//!
//! The API server takes an apply for all that a manager wants of the object: what he applied before and
//! leaves out now is removed. So what we applied once is in every later one. What the create wrote is
//! managed under the same name, but not as applied: the API server calls a change of it a conflict with
//! ourselves. Such a conflict is forced, for the very version that it was told of; one with anybody else
//! never is.

use cloud_port::kube::{Field, ObjectKind};
use ownership::part::Props;
use ownership::{Class, CloudError};
use serde_json::{Value, json};

use crate::body::unknown;
use crate::{MANAGER, fields};

/// What is applied to make these changes of an object.
///
/// # Errors
/// A change that no such object can have.
pub(crate) fn configuration(
    kind: &ObjectKind,
    object: &Value,
    change: &Props,
) -> Result<Value, CloudError> {
    let metadata = &object["metadata"];
    let mut applied = json!({
        "apiVersion": kind.api_version,
        "kind": kind.object,
        "metadata": {
            "name": metadata["name"],
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        },
    });
    if let Some(namespace) = metadata.get("namespace") {
        applied["metadata"]["namespace"] = namespace.clone();
    }
    for field in kind.fields.iter().filter(|field| is_applied(object, field)) {
        if let Some(value) = object.pointer(field.at) {
            fields::put(&mut applied, field.at, value.clone());
        }
    }
    for (name, value) in change.iter() {
        let field = kind.field(name).ok_or_else(|| unknown(kind, name))?;
        fields::put(&mut applied, field.at, fields::value(field, value)?);
    }
    Ok(applied)
}

/// Whether we have applied a field before.
fn is_applied(object: &Value, field: &Field) -> bool {
    let managers = object["metadata"]["managedFields"].as_array();
    let ours = |entry: &&Value| {
        entry["manager"] == MANAGER
            && entry["operation"] == "Apply"
            && entry.get("subresource").is_none()
    };
    let path = field.at.replace('/', "/f:");
    managers
        .into_iter()
        .flatten()
        .filter(ours)
        .any(|entry| entry["fieldsV1"].pointer(&path).is_some())
}

/// Who else manages what was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// Nobody but ourselves.
    Own,
    /// Somebody.
    Others,
}

/// What an apply was refused for, if that is a conflict of managers. Each cause says with whom.
pub(crate) fn conflict(causes: &[(&str, &str)]) -> Option<Conflict> {
    let mut conflicts = causes
        .iter()
        .filter(|(reason, _)| *reason == "FieldManagerConflict")
        .peekable();
    conflicts.peek()?;
    let own = format!("conflict with {MANAGER:?}");
    let is_own = |words: &str| {
        let rest = words.strip_prefix(own.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" using "))
    };
    if conflicts.all(|(_, words)| is_own(words)) {
        Some(Conflict::Own)
    } else {
        Some(Conflict::Others)
    }
}

/// What is told of a conflict with somebody else.
pub(crate) fn refused(words: &str) -> CloudError {
    let message = format!(
        "{words}. The fields are somebody else's to manage, so they are left as they are: let whoever \
         manages them give them up, or wish for what is there"
    );
    CloudError::new(Class::Fatal, "FieldManagerConflict", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_conflict_with_ourselves_is_our_own() {
        let told = |words: &[&'static str]| {
            let causes: Vec<_> = words
                .iter()
                .map(|words| ("FieldManagerConflict", *words))
                .collect();
            conflict(&causes)
        };
        let ours = r#"conflict with "freehold" using v1"#;
        assert_eq!(told(&[]), None);
        assert_eq!(conflict(&[("Other", ours)]), None);
        assert_eq!(told(&[ours]), Some(Conflict::Own));
        assert_eq!(told(&[r#"conflict with "freehold""#]), Some(Conflict::Own));
        for other in [
            r#"conflict with "kubectl" using v1"#,
            r#"conflict with "freehold-2" using v1"#,
            r#"conflict with "freehold" with subresource "status" using v1"#,
        ] {
            assert_eq!(told(&[ours, other]), Some(Conflict::Others), "{other}");
        }
    }
}
