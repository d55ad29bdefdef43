//! Admission policies and their bindings, as objects.

use serde_json::{Value, json};

use super::fields::{kind, label_selector, texts};
use super::{Builtin, set_default, string_list};
use crate::admission::Policy;
use crate::names;
use crate::status::FieldError;
use crate::typed::{Field, Struct, Type, always, field, list, object, pointer};

fn pairs(name: &'static str, keys: [&'static str; 2]) -> Type {
    let fields = keys.map(|key| always(key, Type::String));
    list(object(name, fields.into()))
}

fn matching() -> Type {
    let rule = object(
        "NamedRuleWithOperations",
        vec![
            field("resourceNames", texts()),
            field("operations", texts()),
            field("apiGroups", texts()),
            field("apiVersions", texts()),
            field("resources", texts()),
            pointer("scope", Type::String),
        ],
    );
    object(
        "MatchResources",
        vec![
            pointer("namespaceSelector", label_selector()),
            pointer("objectSelector", label_selector()),
            field("resourceRules", list(rule.clone())),
            field("excludeResourceRules", list(rule)),
            pointer("matchPolicy", Type::String),
        ],
    )
}

pub(super) fn policy() -> Struct {
    let validation = object(
        "Validation",
        vec![
            always("expression", Type::String),
            field("message", Type::String),
            pointer("reason", Type::String),
            field("messageExpression", Type::String),
        ],
    );
    let parameters: Vec<Field> = vec![
        field("apiVersion", Type::String),
        field("kind", Type::String),
    ];
    let spec = object(
        "ValidatingAdmissionPolicySpec",
        vec![
            pointer("paramKind", object("ParamKind", parameters)),
            pointer("matchConstraints", matching()),
            field("validations", list(validation)),
            pointer("failurePolicy", Type::String),
            field(
                "auditAnnotations",
                pairs("AuditAnnotation", ["key", "valueExpression"]),
            ),
            field(
                "matchConditions",
                pairs("MatchCondition", ["name", "expression"]),
            )
            .merged_by("name"),
            field("variables", pairs("Variable", ["name", "expression"])).merged_by("name"),
        ],
    );
    let status = object(
        "ValidatingAdmissionPolicyStatus",
        vec![
            field("observedGeneration", Type::Int64),
            pointer("typeChecking", Type::Any),
            field("conditions", list(Type::Any)),
        ],
    );
    kind(
        "ValidatingAdmissionPolicy",
        vec![always("spec", spec), always("status", status)],
    )
}

pub(super) fn binding() -> Struct {
    let parameters = object(
        "ParamRef",
        vec![
            field("name", Type::String),
            field("namespace", Type::String),
            pointer("selector", label_selector()),
            pointer("parameterNotFoundAction", Type::String),
        ],
    );
    let spec = object(
        "ValidatingAdmissionPolicyBindingSpec",
        vec![
            field("policyName", Type::String),
            pointer("paramRef", parameters),
            pointer("matchResources", matching()),
            field("validationActions", texts()),
        ],
    );
    kind(
        "ValidatingAdmissionPolicyBinding",
        vec![always("spec", spec)],
    )
}

/// Fills in what a policy does not say.
pub(super) fn default(value: &mut Value) {
    set_default(&mut value["spec"], "failurePolicy", json!("Fail"));
    default_matching(value, "matchConstraints");
}

/// Fills in what the constraints of this name do not say, if there are any.
pub(super) fn default_matching(value: &mut Value, name: &str) {
    let constraints = value.get_mut("spec").and_then(|spec| spec.get_mut(name));
    let Some(constraints) = constraints.filter(|constraints| constraints.is_object()) else {
        return;
    };
    set_default(constraints, "matchPolicy", json!("Equivalent"));
    set_default(constraints, "namespaceSelector", json!({}));
    set_default(constraints, "objectSelector", json!({}));
    for key in ["resourceRules", "excludeResourceRules"] {
        let rules = constraints.get_mut(key).and_then(Value::as_array_mut);
        for rule in rules.into_iter().flatten() {
            set_default(rule, "scope", json!("*"));
        }
    }
}

pub(super) fn prepare_create(kind: Builtin, value: &mut Value) {
    value["metadata"]["generation"] = json!(1);
    if kind == Builtin::Policy {
        value["status"] = json!({});
    }
}

pub(super) fn prepare_update(new: &mut Value, old: &Value) {
    if new["spec"] != old["spec"] {
        let generation = old["metadata"]["generation"].as_i64().unwrap_or(0);
        new["metadata"]["generation"] = json!(generation + 1);
    }
}

const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

/// The complaints about a policy.
pub(super) fn validate(value: &Value) -> Vec<FieldError> {
    let spec = &value["spec"];
    let mut errors = Vec::new();
    let policy = spec["failurePolicy"].as_str().unwrap_or_default();
    if !["Fail", "Ignore"].contains(&policy) {
        let allowed = ["Fail", "Ignore"];
        errors.push(FieldError::not_supported(
            "spec.failurePolicy",
            policy,
            &allowed,
        ));
    }
    if !spec["paramKind"].is_null() {
        let detail = "parameters of policies are not served here";
        errors.push(FieldError::forbidden("spec.paramKind", detail));
    }
    let constraints = &spec["matchConstraints"];
    if constraints.is_null() {
        errors.push(FieldError::required("spec.matchConstraints", ""));
    } else {
        matching_errors(constraints, "spec.matchConstraints", &mut errors);
        if constraints["resourceRules"]
            .as_array()
            .is_none_or(Vec::is_empty)
        {
            let path = "spec.matchConstraints.resourceRules";
            errors.push(FieldError::required(path, ""));
        }
    }
    let validations = spec["validations"].as_array();
    let annotations = spec["auditAnnotations"].as_array();
    if validations.is_none_or(Vec::is_empty) && annotations.is_none_or(Vec::is_empty) {
        let detail = "validations or auditAnnotations must contain at least one item";
        errors.push(FieldError::required("spec.validations", detail));
        errors.push(FieldError::required("spec.auditAnnotations", detail));
    }
    for (index, validation) in validations.into_iter().flatten().enumerate() {
        let path = format!("spec.validations[{index}]");
        if let Some(reason) = validation["reason"].as_str()
            && !REASONS.contains(&reason)
        {
            let place = format!("{path}.reason");
            errors.push(FieldError::not_supported(place, reason, &REASONS));
        }
        let message = validation["message"].as_str().unwrap_or_default();
        if message.trim().contains('\n') {
            let detail = "must not contain line breaks";
            let place = format!("{path}.message");
            errors.push(FieldError::invalid(place, message, detail));
        }
    }
    errors.extend(Policy::errors(spec));
    errors
}

fn matching_errors(constraints: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let policy = constraints["matchPolicy"].as_str().unwrap_or_default();
    if !["Equivalent", "Exact"].contains(&policy) {
        let place = format!("{path}.matchPolicy");
        errors.push(FieldError::not_supported(
            place,
            policy,
            &["Equivalent", "Exact"],
        ));
    }
    for key in ["resourceRules", "excludeResourceRules"] {
        let rules = constraints[key].as_array().into_iter().flatten();
        for (index, rule) in rules.enumerate() {
            for part in ["operations", "apiGroups", "apiVersions", "resources"] {
                if string_list(&rule[part]).is_empty() {
                    let place = format!("{path}.{key}[{index}].{part}");
                    errors.push(FieldError::required(place, ""));
                }
            }
            let known = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
            for (number, operation) in string_list(&rule["operations"]).iter().enumerate() {
                if !known.contains(&operation.as_str()) {
                    let place = format!("{path}.{key}[{index}].operations[{number}]");
                    errors.push(FieldError::not_supported(place, operation.as_str(), &known));
                }
            }
        }
    }
}

/// The complaints about a binding.
pub(super) fn validate_binding(value: &Value) -> Vec<FieldError> {
    let spec = &value["spec"];
    let mut errors = Vec::new();
    let name = spec["policyName"].as_str().unwrap_or_default();
    if name.is_empty() {
        errors.push(FieldError::required("spec.policyName", ""));
    } else {
        let complaints = names::dns_subdomain(name, false).into_iter();
        errors.extend(complaints.map(|why| FieldError::invalid("spec.policyName", name, why)));
    }
    if !spec["paramRef"].is_null() {
        let detail = "parameters of policies are not served here";
        errors.push(FieldError::forbidden("spec.paramRef", detail));
    }
    if !spec["matchResources"].is_null() {
        matching_errors(&spec["matchResources"], "spec.matchResources", &mut errors);
    }
    let actions = string_list(&spec["validationActions"]);
    if actions.is_empty() {
        let detail = "at least one validation action is required";
        errors.push(FieldError::required("spec.validationActions", detail));
    }
    let known = ["Audit", "Deny", "Warn"];
    for (index, action) in actions.iter().enumerate() {
        let place = format!("spec.validationActions[{index}]");
        if !known.contains(&action.as_str()) {
            errors.push(FieldError::not_supported(place, action.as_str(), &known));
        } else if actions[..index].contains(action) {
            errors.push(FieldError::duplicate(place, action.as_str()));
        }
    }
    let has = |wanted: &str| actions.iter().any(|action| action == wanted);
    if has("Deny") && has("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure \
                      information in the API response and headers serves no purpose)";
        let place = "spec.validationActions";
        errors.push(FieldError::invalid(place, json!(actions), detail));
    }
    errors
}
