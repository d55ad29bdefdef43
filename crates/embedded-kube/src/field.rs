//! Errors about single fields.

use serde_json::{Value, json};

use crate::text::{go_quote, go_value};

/// Why a field is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldReason {
    Required,
    Invalid,
    TypeInvalid,
    NotSupported,
    Forbidden,
    Duplicate,
    TooLong,
    TooMany,
    Internal,
}

/// One refused field.
#[derive(Clone, Debug)]
pub(crate) struct FieldError {
    pub(crate) reason: FieldReason,
    pub(crate) field: String,
    value: Option<Value>,
    /// What is shown in place of the value.
    shown: Option<String>,
    detail: String,
}

impl FieldError {
    fn build(
        reason: FieldReason,
        field: impl Into<String>,
        value: Option<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            reason,
            field: field.into(),
            value,
            shown: None,
            detail: detail.into(),
        }
    }

    pub(crate) fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::build(FieldReason::Required, field, None, detail)
    }

    pub(crate) fn invalid(
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::build(FieldReason::Invalid, field, Some(value.into()), detail)
    }

    /// The same with a value that is shown only if it is given.
    pub(crate) fn invalid_of(field: String, value: Option<Value>, detail: String) -> Self {
        Self::build(FieldReason::Invalid, field, value, detail)
    }

    pub(crate) fn duplicate_of(field: String, value: Option<Value>) -> Self {
        Self::build(FieldReason::Duplicate, field, value, "")
    }

    /// Whether it says so much of an object that its rules are not asked.
    pub(crate) fn blocks_rules(&self) -> bool {
        matches!(
            self.reason,
            FieldReason::NotSupported
                | FieldReason::Required
                | FieldReason::TooLong
                | FieldReason::TooMany
                | FieldReason::TypeInvalid
        )
    }

    /// The same with a value that is shown as this text.
    pub(crate) fn invalid_shown(
        field: impl Into<String>,
        shown: String,
        detail: impl Into<String>,
    ) -> Self {
        let mut error = Self::build(FieldReason::Invalid, field, None, detail);
        error.shown = Some(shown);
        error
    }

    pub(crate) fn type_invalid(
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::build(FieldReason::TypeInvalid, field, Some(value.into()), detail)
    }

    pub(crate) fn not_supported<S: AsRef<str>>(
        field: impl Into<String>,
        value: impl Into<Value>,
        supported: &[S],
    ) -> Self {
        let quoted: Vec<String> = supported.iter().map(|s| go_quote(s.as_ref())).collect();
        let detail = if quoted.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", quoted.join(", "))
        };
        Self::build(FieldReason::NotSupported, field, Some(value.into()), detail)
    }

    pub(crate) fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::build(FieldReason::Forbidden, field, None, detail)
    }

    pub(crate) fn internal(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::build(FieldReason::Internal, field, None, detail)
    }

    pub(crate) fn duplicate(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::build(FieldReason::Duplicate, field, Some(value.into()), "")
    }

    pub(crate) fn too_long(field: impl Into<String>, max: i64) -> Self {
        let unit = if max == 1 { "byte" } else { "bytes" };
        Self::build(
            FieldReason::TooLong,
            field,
            None,
            format!("may not be more than {max} {unit}"),
        )
    }

    pub(crate) fn too_many(field: impl Into<String>, actual: usize, max: i64) -> Self {
        let unit = if max == 1 { "item" } else { "items" };
        let detail = format!("must have at most {max} {unit}");
        Self::build(FieldReason::TooMany, field, Some(json!(actual)), detail)
    }

    fn title(&self) -> &'static str {
        match self.reason {
            FieldReason::Required => "Required value",
            FieldReason::Invalid | FieldReason::TypeInvalid => "Invalid value",
            FieldReason::NotSupported => "Unsupported value",
            FieldReason::Forbidden => "Forbidden",
            FieldReason::Duplicate => "Duplicate value",
            FieldReason::TooLong => "Too long",
            FieldReason::TooMany => "Too many",
            FieldReason::Internal => "Internal error",
        }
    }

    fn code(&self) -> &'static str {
        match self.reason {
            FieldReason::Required => "FieldValueRequired",
            FieldReason::Invalid => "FieldValueInvalid",
            FieldReason::TypeInvalid => "FieldValueTypeInvalid",
            FieldReason::NotSupported => "FieldValueNotSupported",
            FieldReason::Forbidden => "FieldValueForbidden",
            FieldReason::Duplicate => "FieldValueDuplicate",
            FieldReason::TooLong => "FieldValueTooLong",
            FieldReason::TooMany => "FieldValueTooMany",
            FieldReason::Internal => "InternalError",
        }
    }

    fn text(&self) -> String {
        let mut text = self.title().to_owned();
        let shown = self
            .shown
            .clone()
            .or_else(|| self.value.as_ref().map(go_value));
        if let Some(shown) = shown {
            text.push_str(": ");
            text.push_str(&shown);
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }

    /// Its entry in the details of a `Status`.
    pub(crate) fn cause(&self) -> Value {
        json!({"reason": self.code(), "message": self.text(), "field": self.field})
    }
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.text())
    }
}
