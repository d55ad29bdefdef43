//! What people type, checked once at the border: every refusal names the field and the rule.

use std::borrow::Cow;
use std::fmt;

/// A field as its author knows it: `metadata.name`, `spec.network.subnets[2].id`.
pub type Field = Cow<'static, str>;

/// A value that somebody wrote and that breaks a rule.
///
/// It reads as a sentence for the person who wrote the value: field, value, rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {value:?} {rule}")]
pub struct InputError {
    /// The field.
    pub field: Field,
    /// The refused value, cut to a printable length.
    pub value: String,
    /// The broken rule, as the end of a sentence that begins with the value.
    pub rule: String,
}

impl InputError {
    /// The longest part of a refused value that is repeated to its author.
    const SHOWN: usize = 80;

    /// Refuses `value` of `field` because of `rule`.
    pub fn new(field: impl Into<Field>, value: &str, rule: impl fmt::Display) -> Self {
        let mut shown: String = value.chars().take(Self::SHOWN).collect();
        if shown.len() < value.len() {
            shown.push('…');
        }
        Self {
            field: field.into(),
            value: shown,
            rule: rule.to_string(),
        }
    }
}

/// Checks length and characters of `value`; an empty value is refused.
pub(crate) fn check(
    field: &'static str,
    value: &str,
    longest: usize,
    allowed: fn(char) -> bool,
    alphabet: &str,
) -> Result<(), InputError> {
    if value.is_empty() {
        return Err(InputError::new(field, value, "must not be empty"));
    }
    if value.len() > longest && value.chars().count() > longest {
        return Err(InputError::new(
            field,
            value,
            format_args!("must have at most {longest} characters"),
        ));
    }
    if value.is_ascii() && value.bytes().all(|c| allowed(char::from(c))) {
        return Ok(());
    }
    if let Some(bad) = value.chars().find(|c| !allowed(*c)) {
        return Err(InputError::new(
            field,
            value,
            format_args!("must consist of {alphabet}, but has {bad:?}"),
        ));
    }
    Ok(())
}

/// Checks the name of a Kubernetes object: lower-case letters, digits, `-` and `.`, with a letter or
/// digit at both ends and at both sides of every dot.
///
/// # Errors
/// The broken rule.
pub fn object_name(field: &'static str, name: &str) -> Result<(), InputError> {
    let allowed = |c: char| is_label_char(c) || c == '.';
    check(
        field,
        name,
        253,
        allowed,
        "lower-case letters, digits, '-' and '.'",
    )?;
    if name.split('.').all(is_framed) {
        return Ok(());
    }
    let rule = "must begin and end with a letter or digit, also before and after each '.'";
    Err(InputError::new(field, name, rule))
}

/// Checks the name of a namespace: as [`object_name`], but shorter and without dots.
pub(crate) fn namespace(field: &'static str, name: &str) -> Result<(), InputError> {
    let alphabet = "lower-case letters, digits and '-'";
    check(field, name, 63, is_label_char, alphabet)?;
    if is_framed(name) {
        return Ok(());
    }
    let rule = "must begin and end with a letter or digit";
    Err(InputError::new(field, name, rule))
}

fn is_framed(label: &str) -> bool {
    !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
}

/// Lower-case letters, digits and `-`: the alphabet that every carrier of every cloud accepts.
pub(crate) fn is_label_char(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'
}
