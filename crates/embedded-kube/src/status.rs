//! Errors as the API answers them: `Status` objects.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::text::go_quote;

pub(crate) use crate::field::FieldError;

/// A refusal: a `Status` with its HTTP code.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    pub(crate) code: u16,
    pub(crate) retry_after: Option<u32>,
    body: Box<Value>,
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

/// What an error is about, as the answers name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    pub(crate) group: &'a str,
    /// The plural of a resource or the name of a kind.
    pub(crate) resource: &'a str,
}

impl About<'_> {
    fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.resource.to_owned()
        } else {
            format!("{}.{}", self.resource, self.group)
        }
    }
}

impl ApiError {
    /// An error with a reason, a message and, if there are any, details.
    pub(crate) fn new(code: u16, reason: &str, message: impl Into<String>) -> Self {
        let mut body = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message.into(),
        });
        if !reason.is_empty() {
            body["reason"] = json!(reason);
        }
        body["code"] = json!(code);
        Self {
            code,
            retry_after: None,
            body: Box::new(body),
        }
    }

    pub(crate) fn body(&self) -> &Value {
        &self.body
    }

    pub(crate) fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }

    /// The same error with another message.
    #[must_use]
    pub(crate) fn with_message(mut self, message: impl Into<String>) -> Self {
        self.body["message"] = json!(message.into());
        self
    }

    fn with_details(mut self, about: About<'_>, name: &str) -> Self {
        let mut details = json!({});
        if !name.is_empty() {
            details["name"] = json!(name);
        }
        if !about.group.is_empty() {
            details["group"] = json!(about.group);
        }
        if !about.resource.is_empty() {
            details["kind"] = json!(about.resource);
        }
        self.body["details"] = details;
        self
    }

    fn with_causes(mut self, causes: Vec<Value>) -> Self {
        if !causes.is_empty() {
            self.body["details"]["causes"] = Value::Array(causes);
        }
        self
    }

    fn with_retry(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self.body["details"]["retryAfterSeconds"] = json!(seconds);
        self
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(crate) fn not_found(about: About<'_>, name: &str) -> Self {
        let message = format!("{} {} not found", about.qualified(), go_quote(name));
        Self::new(404, "NotFound", message).with_details(about, name)
    }

    pub(crate) fn already_exists(about: About<'_>, name: &str) -> Self {
        let message = format!("{} {} already exists", about.qualified(), go_quote(name));
        Self::new(409, "AlreadyExists", message).with_details(about, name)
    }

    pub(crate) fn generated_name_taken(about: About<'_>, name: &str) -> Self {
        let message = format!(
            "{} {} already exists, the server was not able to generate a unique name for the object",
            about.qualified(),
            go_quote(name)
        );
        Self::new(409, "AlreadyExists", message)
            .with_details(about, name)
            .with_retry(1)
    }

    pub(crate) fn conflict(about: About<'_>, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} {}: {why}",
            about.qualified(),
            go_quote(name)
        );
        Self::new(409, "Conflict", message).with_details(about, name)
    }

    /// The conflict of a stale `resourceVersion`.
    pub(crate) fn modified(about: About<'_>, name: &str) -> Self {
        Self::conflict(
            about,
            name,
            "the object has been modified; please apply your changes to the latest version and try \
             again",
        )
    }

    /// The conflict of an apply with the managers of other fields.
    pub(crate) fn apply_conflict(message: &str, causes: Vec<Value>) -> Self {
        Self::new(409, "Conflict", message)
            .with_details(
                About {
                    group: "",
                    resource: "",
                },
                "",
            )
            .with_causes(causes)
    }

    pub(crate) fn forbidden(about: About<'_>, name: &str, why: &str) -> Self {
        let message = if name.is_empty() {
            format!("{} is forbidden: {why}", about.qualified())
        } else {
            format!(
                "{} {} is forbidden: {why}",
                about.qualified(),
                go_quote(name)
            )
        };
        Self::new(403, "Forbidden", message).with_details(about, name)
    }

    /// What an admission policy says no to, for this reason, or because it is invalid.
    pub(crate) fn denied(about: About<'_>, name: &str, reason: &str, why: &str) -> Self {
        let mut error = Self::forbidden(about, name, why);
        let (reason, code) = match reason {
            "Forbidden" => (reason, 403),
            "RequestEntityTooLarge" => (reason, 413),
            "" => ("Invalid", 422),
            other => (other, 422),
        };
        error.code = code;
        error.body["reason"] = json!(reason);
        error.body["code"] = json!(code);
        error.with_causes(vec![json!({"message": why})])
    }

    /// 403 for a path that is no resource's.
    pub(crate) fn forbidden_path(why: &str) -> Self {
        let nothing = About {
            group: "",
            resource: "",
        };
        Self::new(403, "Forbidden", format!("forbidden: {why}")).with_details(nothing, "")
    }

    /// 401: who asks is nobody that is known.
    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    pub(crate) fn namespace_terminating(about: About<'_>, name: &str, namespace: &str) -> Self {
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        Self::forbidden(about, name, &why).with_causes(vec![json!({
            "reason": "NamespaceTerminating",
            "message": format!("namespace {namespace} is being terminated"),
            "field": "metadata.namespace",
        })])
    }

    pub(crate) fn method_not_supported(about: About<'_>, verb: &str) -> Self {
        let message = format!(
            "{verb} is not supported on resources of kind {}",
            go_quote(&about.qualified())
        );
        Self::new(405, "MethodNotAllowed", message).with_details(about, "")
    }

    /// 422 with a cause per field. `about` names the kind, not the resource.
    pub(crate) fn invalid(about: About<'_>, name: &str, errors: &[FieldError]) -> Self {
        let mut told = BTreeSet::new();
        let texts: Vec<String> = errors
            .iter()
            .map(ToString::to_string)
            .filter(|text| told.insert(text.clone()))
            .collect();
        let list = match texts.as_slice() {
            [one] => one.clone(),
            _ => format!("[{}]", texts.join(", ")),
        };
        let message = format!(
            "{} {} is invalid: {list}",
            about.qualified(),
            go_quote(name)
        );
        let causes = errors.iter().map(FieldError::cause).collect();
        Self::new(422, "Invalid", message)
            .with_details(about, name)
            .with_causes(causes)
    }

    pub(crate) fn too_large(message: &str) -> Self {
        Self::new(
            413,
            "RequestEntityTooLarge",
            format!("Request entity too large: {message}"),
        )
    }

    pub(crate) fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    pub(crate) fn not_acceptable(accepted: &[&str]) -> Self {
        let message = format!(
            "only the following media types are accepted: {}",
            accepted.join(", ")
        );
        Self::new(406, "NotAcceptable", message)
    }

    /// The same, from the layer below built-in resources.
    pub(crate) fn none_acceptable(available: &[&str]) -> Self {
        let message = format!(
            "406: Not Acceptable\n\nAvailable representations: {}",
            available.join(", ")
        );
        Self::new(406, "NotAcceptable", message).with_details(
            About {
                group: "",
                resource: "",
            },
            "",
        )
    }

    /// 415 for a patch, from the layer below built-in resources.
    pub(crate) fn unsupported_patch() -> Self {
        Self::new(415, "UnsupportedMediaType", "415: Unsupported Media Type").with_details(
            About {
                group: "",
                resource: "",
            },
            "",
        )
    }

    /// 410: that part of the history is gone.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    pub(crate) fn version_too_large(wanted: u64, current: u64) -> Self {
        let message = format!("Too large resource version: {wanted}, current: {current}");
        Self::new(504, "Timeout", format!("Timeout: {message}"))
            .with_details(
                About {
                    group: "",
                    resource: "",
                },
                "",
            )
            .with_causes(vec![json!({
                "reason": "ResourceVersionTooLarge",
                "message": "Too large resource version",
            })])
            .with_retry(1)
    }

    pub(crate) fn timeout(message: &str) -> Self {
        Self::new(504, "Timeout", format!("Timeout: {message}")).with_details(
            About {
                group: "",
                resource: "",
            },
            "",
        )
    }

    pub(crate) fn too_many_requests(retry_after: u32) -> Self {
        Self::new(
            429,
            "TooManyRequests",
            "the server is currently overloaded: try again later",
        )
        .with_details(
            About {
                group: "",
                resource: "",
            },
            "",
        )
        .with_retry(retry_after)
    }

    pub(crate) fn internal(message: &str) -> Self {
        Self::new(
            500,
            "InternalError",
            format!("Internal error occurred: {message}"),
        )
        .with_details(
            About {
                group: "",
                resource: "",
            },
            "",
        )
        .with_causes(vec![json!({"message": message})])
    }

    /// What the server says where a path does not take a method.
    pub(crate) fn wrong_method() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::new(405, "MethodNotAllowed", message).with_details(
            About {
                group: "",
                resource: "",
            },
            "",
        )
    }

    /// What the server says where a path leads nowhere.
    pub(crate) fn nowhere() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(404, "NotFound", message).with_details(
            About {
                group: "",
                resource: "",
            },
            "",
        )
    }

    /// What the server says of a patch that does not apply.
    pub(crate) fn rejected() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::new(422, "Invalid", message).with_details(
            About {
                group: "",
                resource: "",
            },
            "",
        )
    }

    /// The continue token of a list that can be resumed only inconsistently.
    #[must_use]
    pub(crate) fn with_continue(mut self, token: &str) -> Self {
        self.body["metadata"] = json!({"continue": token});
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_like_the_real_ones() {
        let about = About {
            group: "example.com",
            resource: "Widget",
        };
        let errors = [
            FieldError::required("spec.a", ""),
            FieldError::type_invalid(
                "spec.b",
                "integer",
                "spec.b in body must be of type string: \"integer\"",
            ),
        ];
        let error = ApiError::invalid(about, "w", &errors);
        assert_eq!(
            error.message(),
            "Widget.example.com \"w\" is invalid: [spec.a: Required value, spec.b: Invalid value: \
             \"integer\": spec.b in body must be of type string: \"integer\"]"
        );
        assert_eq!(
            error.body()["details"]["causes"][1]["reason"],
            "FieldValueTypeInvalid"
        );
        assert_eq!(
            ApiError::not_found(
                About {
                    group: "",
                    resource: "secrets"
                },
                "x"
            )
            .message(),
            "secrets \"x\" not found"
        );
    }
}
