//! Failures: what went wrong with a call, as the port tells it.
//!
//! | what happened | a read | a create | another write |
//! | --- | --- | --- | --- |
//! | the name is taken (409 `AlreadyExists`) | – | exists | – |
//! | another version than was read (409) | – | retryable | retryable |
//! | a field is somebody else's (409, by causes) | – | – | fatal |
//! | the object is not there (404) | no error | – | not found |
//! | its namespace is not there, or is going (404, 403) | no error | retryable | – |
//! | the API server knows no such kind (404) | fatal | fatal | fatal |
//! | the role, a quota or a rule says no (400, 401, 403, 405, 413, 415, 422) | fatal | fatal | fatal |
//! | a field that the definition does not have is applied (500, by its words) | – | – | fatal |
//! | a list was too slow for its pages (410) | retryable | – | – |
//! | too many requests (429) | throttled | throttled | throttled |
//! | any other answer (5xx) | retryable | unknown | unknown |
//! | no connection was made, so nothing was sent | retryable | retryable | retryable |
//! | no answer | retryable | unknown | unknown |

use std::error::Error;

use hyper_util::client::legacy;
use kube::core::Status;
use ownership::{Class, CloudError};

use crate::apply;

/// What was being done when a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Something was asked.
    Read,
    /// An object was to be made.
    Create,
    /// An object was to be changed or deleted.
    Write,
}

/// How the API server refuses to apply what its definition does not have.
const NOT_DECLARED: &str = "failed to create typed patch object";

/// A failed call.
pub(crate) fn of(error: kube::Error, doing: Doing) -> CloudError {
    match error {
        kube::Error::Api(status) => refused(&status, doing),
        kube::Error::BuildRequest(error) => {
            CloudError::new(Class::Fatal, "InvalidRequest", words_of(&error))
        }
        error if is_unsent(&error) => {
            let words = format!("the API server cannot be reached: {}", words_of(&error));
            CloudError::new(Class::Retryable, "NoConnection", words)
        }
        error => no_answer(&words_of(&error), doing),
    }
}

/// Nobody knows what came of a call.
pub(crate) fn no_answer(words: &str, doing: Doing) -> CloudError {
    let words = format!("no answer from the API server: {words}");
    let (class, words) = match doing {
        Doing::Read => (Class::Retryable, words),
        _ => (
            Class::Unknown,
            format!("{words} (the call may have taken effect)"),
        ),
    };
    CloudError::new(class, "NoAnswer", words)
}

/// Whether an object that was asked for is not there: then the answer names it.
pub(crate) fn is_absent(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404 && names_object(status))
}

/// Whether an apply conflicts with nobody but ourselves.
pub(crate) fn is_own_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status)
        if apply::conflict(&causes(status)) == Some(apply::Conflict::Own))
}

fn refused(status: &Status, doing: Doing) -> CloudError {
    let http = format!("HTTP {}", status.code);
    let code = if status.reason.is_empty() {
        &http
    } else {
        &status.reason
    };
    let silent = "the API server answered without a message";
    let words = if status.message.is_empty() {
        silent
    } else {
        &status.message
    };
    if doing == Doing::Write && apply::conflict(&causes(status)).is_some() {
        return apply::refused(words);
    }
    if status.code == 404 && !names_object(status) {
        let words =
            format!("{words}: the API server does not serve this kind; install its definition");
        return CloudError::new(Class::Fatal, "NotServed", words);
    }
    // The server says of a field that no definition has that it failed itself.
    if status.code == 500 && words.starts_with(NOT_DECLARED) {
        return CloudError::new(Class::Fatal, "NotDeclared", words);
    }
    let class = match (status.code, doing) {
        (409, Doing::Create) if status.reason == "AlreadyExists" => Class::Exists,
        (404, Doing::Write) => Class::NotFound,
        // A namespace may come yet, or come again.
        (404 | 409 | 410, _) => Class::Retryable,
        (403, _) if ends_namespace(status) => Class::Retryable,
        (429, _) => Class::Throttled,
        (400..=499, _) => Class::Fatal,
        (_, Doing::Read) => Class::Retryable,
        _ => Class::Unknown,
    };
    let retry_after = status
        .details
        .as_ref()
        .map_or(0, |it| it.retry_after_seconds);
    if class == Class::Throttled && retry_after > 0 {
        let words = format!("{words} (it asks for {retry_after} s of silence)");
        return CloudError::new(class, code, words);
    }
    CloudError::new(class, code, words)
}

/// Whether an answer is about an object, and not about a path that leads nowhere.
fn names_object(status: &Status) -> bool {
    let details = status.details.as_ref();
    details.is_some_and(|details| !details.name.is_empty())
}

fn ends_namespace(status: &Status) -> bool {
    causes(status)
        .iter()
        .any(|(reason, _)| *reason == "NamespaceTerminating")
}

/// Reason and words of each cause.
fn causes(status: &Status) -> Vec<(&str, &str)> {
    let details = status.details.iter();
    let causes = details.flat_map(|details| &details.causes);
    causes
        .map(|cause| (cause.reason.as_str(), cause.message.as_str()))
        .collect()
}

/// Whether a call failed before anything was sent.
fn is_unsent(error: &kube::Error) -> bool {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<legacy::Error>() {
            return error.is_connect();
        }
        next = error.source();
    }
    matches!(error, kube::Error::Auth(_))
}

/// An error and its causes in words.
fn words_of(error: &(dyn Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let more = error.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        next = error.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::response::{StatusCause, StatusDetails};

    fn status(code: u16, reason: &str, name: &str, cause: &str) -> Status {
        let causes = if cause.is_empty() {
            Vec::new()
        } else {
            vec![StatusCause {
                reason: cause.to_owned(),
                message: r#"conflict with "kubectl" using v1"#.to_owned(),
                field: ".spec.size".to_owned(),
            }]
        };
        let details = StatusDetails {
            name: name.to_owned(),
            group: String::new(),
            kind: String::new(),
            uid: String::new(),
            causes,
            retry_after_seconds: 3,
        };
        Status::failure("so it is", reason)
            .with_code(code)
            .with_details(details)
    }

    #[test]
    fn law_9_every_answer_has_its_class() {
        use Doing::{Create, Read, Write};
        let cases = [
            (409, "AlreadyExists", "a", "", Create, Class::Exists),
            (409, "Conflict", "a", "", Write, Class::Retryable),
            (
                409,
                "Conflict",
                "",
                "FieldManagerConflict",
                Write,
                Class::Fatal,
            ),
            (404, "NotFound", "a", "", Write, Class::NotFound),
            (404, "NotFound", "team-a", "", Create, Class::Retryable),
            (404, "NotFound", "", "", Read, Class::Fatal),
            (404, "", "", "", Write, Class::Fatal),
            (403, "Forbidden", "a", "", Create, Class::Fatal),
            (
                403,
                "Forbidden",
                "a",
                "NamespaceTerminating",
                Create,
                Class::Retryable,
            ),
            (401, "Unauthorized", "", "", Read, Class::Fatal),
            (422, "Invalid", "a", "", Create, Class::Fatal),
            (410, "Expired", "", "", Read, Class::Retryable),
            (429, "TooManyRequests", "", "", Write, Class::Throttled),
            (500, "InternalError", "", "", Read, Class::Retryable),
            (500, "InternalError", "", "", Create, Class::Unknown),
            (503, "ServiceUnavailable", "", "", Write, Class::Unknown),
            (504, "Timeout", "", "", Create, Class::Unknown),
        ];
        for (code, reason, name, cause, doing, class) in cases {
            let status = status(code, reason, name, cause);
            let error = of(kube::Error::Api(status.boxed()), doing);
            assert_eq!(error.class, class, "{code} {reason} {doing:?}");
            assert!(error.message.contains("so it is"), "{error}");
        }
    }

    #[test]
    fn what_no_definition_has_is_told_though_the_server_says_that_it_failed() {
        let words =
            "failed to create typed patch object (a/b; x/v1, Kind=Y): .spec.z: field not declared";
        let status = Status::failure(words, "").with_code(500);
        let error = of(kube::Error::Api(status.boxed()), Doing::Write);
        assert_eq!(error.class, Class::Fatal);
    }

    #[test]
    fn what_was_not_answered_may_have_taken_effect() {
        let broken = || kube::Error::Service("the connection broke".into());
        assert_eq!(of(broken(), Doing::Read).class, Class::Retryable);
        assert_eq!(of(broken(), Doing::Write).class, Class::Unknown);
        assert_eq!(of(broken(), Doing::Create).class, Class::Unknown);
    }

    #[test]
    fn a_conflict_names_who_manages_the_field_and_the_way_out() {
        let status = status(409, "Conflict", "", "FieldManagerConflict");
        let error = of(kube::Error::Api(status.boxed()), Doing::Write);
        assert_eq!(&*error.code, "FieldManagerConflict");
        assert!(error.message.contains("give them up"), "{error}");
    }
}
