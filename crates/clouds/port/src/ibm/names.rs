//! Names, and the properties that all Kinds of IBM Cloud have.

use ownership::input::InputError;
use ownership::name::NameRule;

/// The property with the resource's name in the whole of IBM Cloud (CRN), by which it is tagged.
pub const CRN: &str = "crn";

/// The property with the resource's name, by which it is found where somebody gives it.
pub const NAME: &str = "name";

/// The property with the id of its resource group.
pub const RESOURCE_GROUP: &str = "resource-group";

/// Checks a name that somebody chose.
///
/// # Errors
/// The broken rule.
pub(super) fn check(field: &'static str, name: &str, rule: NameRule) -> Result<(), InputError> {
    if name.is_empty() {
        return Err(InputError::new(field, name, "must not be empty"));
    }
    if rule.accepts(name) {
        return Ok(());
    }
    let rule = format!(
        "must have at most {} lower-case letters, digits and -, a letter first and no - last",
        rule.longest
    );
    Err(InputError::new(field, name, rule))
}

#[cfg(test)]
mod tests {
    use super::super::MARKED_LATER;

    #[test]
    fn a_name_is_what_vpc_accepts() {
        let rule = |name: &str| super::check("vpc name", name, MARKED_LATER.names);
        assert_eq!(rule("prod-vpc"), Ok(()));
        for bad in ["Prod", "1st", "prod-", "a_b", &"a".repeat(64)] {
            let error = rule(bad).unwrap_err().to_string();
            assert!(error.contains("at most 63 lower-case"), "{error}");
        }
        assert!(rule("").unwrap_err().to_string().contains("not be empty"));
    }
}
