//! Policy documents of IAM, in the one spelling that two equal documents share.

use ownership::Text;
use ownership::input::InputError;
use serde_json::{Map, Value};

/// The canonical spelling of a policy document.
///
/// Keys are sorted and white space is gone. What IAM reads as a set is written as a sorted set, and
/// a set of one as its only member: actions, resources, principals, the values of a condition. The
/// statements keep their order and are always a list. A principal `"*"` is `{"AWS":"*"}`. Conditions
/// compare text, so `true` is `"true"` there. Sids, actions and ARNs keep their case.
///
/// # Errors
/// What is not a policy document, with the rule. `field` says whose document it is.
pub fn canonical(field: &'static str, document: &str) -> Result<Text, InputError> {
    let refuse = |rule: String| InputError::new(field, document, rule);
    let parsed: Value = serde_json::from_str(document)
        .map_err(|error| refuse(format!("must be JSON, but {error}")))?;
    let Value::Object(mut policy) = parsed else {
        return Err(refuse("must be a JSON object".to_owned()));
    };
    let statements = match policy.remove("Statement") {
        Some(Value::Array(statements)) if !statements.is_empty() => statements,
        Some(statement @ Value::Object(_)) => vec![statement],
        _ => return Err(refuse("must have a Statement".to_owned())),
    };
    let statements: Result<Vec<_>, _> = statements
        .into_iter()
        .map(|statement| canonical_statement(statement).map_err(|rule| refuse(rule.to_owned())))
        .collect();
    policy.insert("Statement".to_owned(), Value::Array(statements?));
    Ok(print(&Value::Object(policy)).into())
}

fn canonical_statement(statement: Value) -> Result<Value, &'static str> {
    let Value::Object(mut statement) = statement else {
        return Err("must have JSON objects as statements");
    };
    match statement.get("Effect").and_then(Value::as_str) {
        Some("Allow" | "Deny") => {}
        _ => return Err("must have Effect Allow or Deny in each statement"),
    }
    for (key, value) in &mut statement {
        match key.as_str() {
            "Action" | "NotAction" | "Resource" | "NotResource" => unify(value),
            "Principal" | "NotPrincipal" => unify_principal(value),
            "Condition" => unify_condition(value),
            _ => {}
        }
    }
    Ok(Value::Object(statement))
}

fn unify_principal(value: &mut Value) {
    if value.as_str() == Some("*") {
        let anyone = ("AWS".to_owned(), value.take());
        *value = Value::Object(Map::from_iter([anyone]));
    }
    if let Value::Object(kinds) = value {
        kinds.values_mut().for_each(unify);
    }
}

fn unify_condition(value: &mut Value) {
    let Value::Object(operators) = value else {
        return;
    };
    for keys in operators.values_mut() {
        let Value::Object(keys) = keys else { continue };
        for values in keys.values_mut() {
            if let Value::Array(list) = values {
                list.iter_mut().for_each(as_text);
            }
            as_text(values);
            unify(values);
        }
    }
}

fn as_text(value: &mut Value) {
    if let Value::Bool(_) | Value::Number(_) = value {
        *value = Value::String(value.to_string());
    }
}

/// A list of strings is a set: sorted, without repetitions, and its only member if it has one.
fn unify(value: &mut Value) {
    let Value::Array(list) = value else {
        return;
    };
    if !list.iter().all(Value::is_string) {
        return;
    }
    list.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    list.dedup();
    if list.len() == 1 {
        *value = list.remove(0);
    }
}

/// Prints with sorted keys, whatever order the parser keeps.
fn print(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries: Vec<_> = entries
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), print(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        Value::Array(list) => {
            let list: Vec<_> = list.iter().map(print).collect();
            format!("[{}]", list.join(","))
        }
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(document: &str) -> String {
        canonical("policy", document).unwrap().to_string()
    }

    fn refusal(document: &str) -> String {
        canonical("policy", document).unwrap_err().to_string()
    }

    #[test]
    fn equal_documents_have_one_spelling() {
        let expected = r#"{"Statement":[{"Action":"s3:Get*","Effect":"Allow","Resource":"*"}]}"#;
        let spellings = [
            expected,
            r#"{"Statement":{"Effect":"Allow","Resource":["*"],"Action":["s3:Get*"]}}"#,
            r#"{ "Statement": [ {"Resource": "*", "Action": ["s3:Get*", "s3:Get*"], "Effect": "Allow"} ] }"#,
        ];
        for spelling in spellings {
            assert_eq!(of(spelling), expected);
        }
    }

    #[test]
    fn principals_and_conditions_are_sets_too() {
        let document = |principal: &str, condition: &str| {
            of(&format!(
                r#"{{"Statement":{{"Effect":"Deny","Principal":{principal},"Condition":{condition}}}}}"#
            ))
        };
        assert_eq!(
            document(r#""*""#, r#"{"Bool":{"aws:SecureTransport":false}}"#),
            document(
                r#"{"AWS":["*"]}"#,
                r#"{"Bool":{"aws:SecureTransport":["false"]}}"#
            ),
        );
        assert_eq!(
            document(r#"{"Service":["b","a"]}"#, "{}"),
            document(r#"{"Service":["a","b","a"]}"#, "{}"),
        );
    }

    #[test]
    fn different_documents_stay_different() {
        let allow = r#"{"Statement":{"Effect":"Allow","Action":"a","Resource":"*"}}"#;
        assert_ne!(of(allow), of(&allow.replace("Allow", "Deny")));
        assert_ne!(of(allow), of(&allow.replace("Action", "NotAction")));
        assert_ne!(of(allow), of(&allow.replace("\"a\"", "\"A\"")));
        let two = |x: &str, y: &str| {
            of(&format!(
                r#"{{"Statement":[{{"Effect":"{x}","Action":"a"}},{{"Effect":"{y}","Action":"a"}}]}}"#
            ))
        };
        assert_ne!(two("Allow", "Deny"), two("Deny", "Allow"));
    }

    #[test]
    fn what_is_no_policy_is_refused_with_the_rule() {
        assert!(refusal("").contains("must be JSON"));
        assert!(refusal("[]").contains("must be a JSON object"));
        assert!(refusal("{}").contains("must have a Statement"));
        assert!(refusal(r#"{"Statement":[]}"#).contains("must have a Statement"));
        assert!(refusal(r#"{"Statement":[1]}"#).contains("JSON objects as statements"));
        assert!(refusal(r#"{"Statement":{"Effect":"allow"}}"#).contains("Allow or Deny"));
        assert!(refusal(&"[".repeat(100_000)).contains("must be JSON"));
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c*:\"\\\\]{0,3}".prop_map(Value::from),
        ];
        let key = prop_oneof![
            Just("Action".to_owned()),
            Just("Principal".to_owned()),
            Just("Condition".to_owned()),
            Just("Statement".to_owned()),
            "[A-C]{1,2}",
        ];
        leaf.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(key.clone(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn canonical_form_is_stable(statement in json(), version in json()) {
            let mut statement = statement;
            if let Value::Object(statement) = &mut statement {
                statement.insert("Effect".to_owned(), "Allow".into());
            }
            let document = Value::Object(Map::from_iter([
                ("Statement".to_owned(), statement),
                ("Version".to_owned(), version),
            ]));
            if let Ok(once) = canonical("policy", &document.to_string()) {
                prop_assert_eq!(&*once, &*canonical("policy", &once).unwrap());
            }
        }

        #[test]
        fn hostile_text_is_refused_without_a_panic(text in any::<String>()) {
            prop_assert!(canonical("policy", &text).is_err());
        }
    }
}
