//! Length and characters of names, as the services of AWS want them.

use ownership::input::InputError;

/// Checks that `value` is not empty, not too long, and of legal characters.
pub(super) fn text(
    field: &'static str,
    value: &str,
    longest: usize,
    legal: fn(char) -> bool,
    alphabet: &str,
) -> Result<(), InputError> {
    if value.is_empty() {
        return Err(InputError::new(field, value, "must not be empty"));
    }
    length(field, value, longest)?;
    if let Some(bad) = value.chars().find(|c| !legal(*c)) {
        let rule = format!("must consist of {alphabet}, but has {bad:?}");
        return Err(InputError::new(field, value, rule));
    }
    Ok(())
}

/// Checks that `value` is not too long.
pub(super) fn length(field: &'static str, value: &str, longest: usize) -> Result<(), InputError> {
    if value.chars().count() <= longest {
        return Ok(());
    }
    let rule = format!("must have at most {longest} characters");
    Err(InputError::new(field, value, rule))
}

/// Checks a name of IAM.
pub(super) fn iam_name(field: &'static str, name: &str, longest: usize) -> Result<(), InputError> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "+=,.@_-".contains(c);
    text(
        field,
        name,
        longest,
        legal,
        "letters, digits and + = , . @ _ -",
    )
}
