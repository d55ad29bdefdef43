//! Fields that the served API has and we do not serve: where one asks for something, nothing is made
//! that would lack it.

use ownership::input::InputError;
use serde::Serialize;
use serde_json::Value;

/// A field that is not served.
#[derive(Clone, Copy, Debug)]
pub struct Unserved {
    /// The field, name by name; `[]` after a list's name means each of its elements.
    pub field: &'static [&'static str],
    /// The value that the definition itself writes where nothing was said.
    pub default: Option<&'static str>,
}

impl Unserved {
    /// A field without a default of its own.
    pub const fn new(field: &'static [&'static str]) -> Self {
        Self {
            field,
            default: None,
        }
    }
}

/// Whether an object asks for nothing that is not served.
///
/// # Errors
/// The first field that does.
pub(crate) fn check(object: &impl Serialize, fields: &[Unserved]) -> Result<(), InputError> {
    if fields.is_empty() {
        return Ok(());
    }
    let object = serde_json::to_value(object).unwrap_or_default();
    let mut asked = Vec::new();
    for unserved in fields {
        look(&object, unserved.field, "", unserved.default, &mut asked);
    }
    let Some((first, value)) = asked.first() else {
        return Ok(());
    };
    let others: Vec<&str> = asked[1..].iter().map(|(field, _)| field.as_str()).collect();
    let also = if others.is_empty() {
        String::new()
    } else {
        format!("; so are {}", others.join(", "))
    };
    let rule = format!("is set, and is not served: nothing is made until it is cleared{also}");
    Err(InputError::new(first.clone(), value, rule))
}

/// Finds where a field asks for something, element by element.
fn look(
    value: &Value,
    path: &[&str],
    named: &str,
    default: Option<&str>,
    asked: &mut Vec<(String, String)>,
) {
    match path {
        [] => {
            let shown = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            if asks(value) && Some(shown.as_str()) != default {
                asked.push((named.to_owned(), shown));
            }
        }
        ["[]", rest @ ..] => {
            for (at, element) in value.as_array().into_iter().flatten().enumerate() {
                look(element, rest, &format!("{named}[{at}]"), default, asked);
            }
        }
        [name, rest @ ..] => {
            let dot = if named.is_empty() { "" } else { "." };
            look(
                &value[name],
                rest,
                &format!("{named}{dot}{name}"),
                default,
                asked,
            );
        }
    }
}

/// Whether a value asks for something: `false`, nothing, and what holds only such things do not.
fn asks(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => fields.values().any(asks),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FIELDS: [Unserved; 3] = [
        Unserved::new(&["spec", "bastion"]),
        Unserved {
            default: Some("default"),
            ..Unserved::new(&["spec", "hostAffinity"])
        },
        Unserved::new(&["spec", "subnets", "[]", "ipv6"]),
    ];

    #[test]
    fn what_asks_for_nothing_is_not_set() {
        for spec in [
            json!({}),
            json!({"bastion": {"enabled": false, "cidrs": []}}),
            json!({"hostAffinity": "default", "subnets": [{"id": "a"}, {"ipv6": null}]}),
        ] {
            assert_eq!(check(&json!({"spec": spec}), &FIELDS), Ok(()), "{spec}");
        }
    }

    #[test]
    fn what_asks_for_something_is_named_with_its_place() {
        let spec = json!({
            "bastion": {"enabled": true},
            "hostAffinity": "host",
            "subnets": [{}, {"ipv6": "2001:db8::/64"}],
        });
        let error = check(&json!({"spec": spec}), &FIELDS).unwrap_err();
        assert_eq!(error.field, "spec.bastion");
        assert!(
            error
                .rule
                .ends_with("so are spec.hostAffinity, spec.subnets[1].ipv6"),
            "{error}"
        );
    }
}
