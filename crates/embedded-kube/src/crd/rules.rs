//! Which expressions a definition may have for rules.

use serde_json::{Value, json};

use crate::schema::rules::{Rule, compile};
use crate::schema::{self, path};
use crate::status::FieldError;
use crate::typed::{self, Findings};

const KEY: &str = "x-kubernetes-validations";
const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// Reads a rule as the typed struct that it is.
pub(super) fn clean(rule: &mut Value, place: &str, found: &mut Findings) -> Result<(), String> {
    if rule.is_null() {
        *rule = json!({});
    }
    let Value::Object(map) = rule else {
        return Err(typed::mismatch(
            rule,
            "ValidationRule",
            place,
            "v1.ValidationRule",
        ));
    };
    let mut wrong = None;
    map.retain(|key, value| {
        let fits = match key.as_str() {
            "rule" | "message" | "messageExpression" | "reason" | "fieldPath" => value.is_string(),
            "optionalOldSelf" => value.is_boolean(),
            _ => {
                found.unknown.push(format!("{place}.{key}"));
                return false;
            }
        };
        if !fits && !value.is_null() {
            wrong.get_or_insert(typed::mismatch(
                value,
                "ValidationRule",
                key,
                "another type",
            ));
        }
        let kept = matches!(key.as_str(), "rule" | "reason" | "optionalOldSelf");
        !value.is_null() && (kept || *value != "")
    });
    map.entry("rule").or_insert_with(|| json!(""));
    wrong.map_or(Ok(()), Err)
}

fn rules(source: &Value) -> impl Iterator<Item = (usize, &Value)> {
    source[KEY].as_array().into_iter().flatten().enumerate()
}

/// The complaints about how the rules of a part of a schema are written.
pub(super) fn written(source: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for (index, rule) in rules(source) {
        let text = |key: &str| rule[key].as_str().unwrap_or_default();
        let child = |key: &str| format!("{path}.{KEY}[{index}].{key}");
        let (expression, message) = (text("rule").trim(), text("message"));
        let detail = "must be non-empty if specified";
        if expression.is_empty() {
            errors.push(FieldError::required(child("rule"), "rule is not specified"));
        } else if !message.is_empty() && message.trim().is_empty() {
            errors.push(FieldError::invalid(child("message"), message, detail));
        } else if message.trim().contains('\n') {
            let detail = "must not contain line breaks";
            errors.push(FieldError::invalid(child("message"), message, detail));
        } else if expression.contains('\n') && message.trim().is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.push(FieldError::required(child("message"), detail));
        }
        let computed = text("messageExpression");
        if !computed.is_empty() && computed.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(child("messageExpression"), detail));
        }
        let reason = text("reason");
        if !rule["reason"].is_null() && !REASONS.contains(&reason) {
            errors.push(FieldError::not_supported(child("reason"), reason, &REASONS));
        }
        let field = text("fieldPath");
        let mut complain = |detail: &str| {
            errors.push(FieldError::invalid(child("fieldPath"), field, detail));
        };
        if !field.is_empty() && field.trim().is_empty() {
            complain(detail);
        }
        if field.contains('\n') {
            complain("must not contain line breaks");
        }
        if !field.is_empty() && path::normal(field, &schema::compile(source)).is_none() {
            complain("must be a valid path");
        }
    }
}

/// The complaints about what the rules of a part of a schema say. `incomparable` is the part around
/// whose items cannot be compared with earlier ones.
pub(super) fn compiled(
    source: &Value,
    path: &str,
    resource: bool,
    incomparable: Option<&str>,
    errors: &mut Vec<FieldError>,
) {
    if rules(source).next().is_none() {
        return;
    }
    let written: Vec<Rule> = rules(source).map(|(_, rule)| Rule::read(rule)).collect();
    let Some(compiled) = compile(&written, &schema::compile(source), resource) else {
        let why = "internal error: failed to construct type information for \
                   x-kubernetes-validations rules: unable to convert structural schema to CEL \
                   declarations";
        errors.push(FieldError::internal(format!("{path}.{KEY}"), why));
        return;
    };
    for ((index, rule), (own, compiled)) in rules(source).zip(written.iter().zip(compiled)) {
        let child = |key: &str| format!("{path}.{KEY}[{index}].{key}");
        if let Err(error) = &compiled.program {
            errors.push(FieldError::invalid_shown(child("rule"), shown(rule), error));
        }
        if let Some(Err(error)) = &compiled.message {
            let place = child("messageExpression");
            errors.push(FieldError::invalid_shown(place, shown(rule), error));
        }
        match (compiled.uses_old, incomparable, own.optional_old) {
            (true, Some(around), _) => {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within \
                     {around}"
                );
                errors.push(FieldError::invalid(
                    child("rule"),
                    rule["rule"].clone(),
                    detail,
                ));
            }
            (false, _, Some(optional)) => {
                let detail = "may not be set if oldSelf is not used in rule";
                errors.push(FieldError::invalid(
                    child("optionalOldSelf"),
                    optional,
                    detail,
                ));
            }
            _ => {}
        }
    }
}

/// A rule as the real server's own type is written.
fn shown(rule: &Value) -> String {
    let text = |key: &str| rule[key].as_str().unwrap_or_default();
    let fields = [
        ("Rule", json!(text("rule"))),
        ("Message", json!(text("message"))),
        ("MessageExpression", json!(text("messageExpression"))),
        ("Reason", rule["reason"].clone()),
        ("FieldPath", json!(text("fieldPath"))),
        ("OptionalOldSelf", rule["optionalOldSelf"].clone()),
    ];
    let fields: Vec<String> = fields
        .iter()
        .map(|(key, value)| format!("\"{key}\":{value}"))
        .collect();
    // As Go writes JSON: fit to stand in a web page.
    let text = format!("{{{}}}", fields.join(","));
    let text = text.replace('<', "\\u003c").replace('>', "\\u003e");
    text.replace('&', "\\u0026")
}
