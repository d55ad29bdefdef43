//! Questions about who somebody is and what they may do, answered at once.

use serde_json::{Value, json};

use super::identity::known;
use super::rbac::{Attributes, authorize, rules_of};
use super::{Access, User};
use crate::api::{Call, Done};
use crate::builtin::{Builtin, string_list};
use crate::meta;
use crate::state::State;
use crate::status::{About, ApiError, ApiResult, FieldError};
use crate::storage::Body;
use crate::typed::seconds;

/// Answers a review.
pub(crate) fn answer(state: &State, call: &Call<'_>, mut value: Value) -> ApiResult<Done> {
    let kind = call.resource.builtin();
    call.track(state, None, &mut value)?;
    if call.resource.namespaced {
        meta::of(&mut value).insert("namespace".to_owned(), json!(call.namespace));
    }
    let everybody = User::administrator();
    let asker = call.user.unwrap_or(&everybody);
    match kind {
        Some(Builtin::SubjectReview | Builtin::LocalReview) => {
            refuse(call, access_errors(call, &value, kind))?;
            let spec = &value["spec"];
            let user = User {
                name: text(spec, "user").to_owned(),
                uid: text(spec, "uid").to_owned(),
                groups: string_list(&spec["groups"]),
                ..User::default()
            };
            value["status"] = decide(state, call.access, &user, spec);
        }
        Some(Builtin::SelfReview) => {
            refuse(call, access_errors(call, &value, kind))?;
            value["status"] = decide(state, call.access, asker, &value["spec"]);
        }
        Some(Builtin::RulesReview) => {
            let namespace = text(&value["spec"], "namespace").to_owned();
            if namespace.is_empty() {
                let message = "no namespace on request";
                return Err(ApiError::bad_request(message));
            }
            value["status"] = rules(state, call.access, asker, &namespace);
        }
        Some(Builtin::TokenReview) => {
            let token = text(&value["spec"], "token").to_owned();
            if token.is_empty() {
                let message = "token is required for TokenReview in authentication";
                return Err(ApiError::bad_request(message));
            }
            value["status"] = tokens(call.access, &token);
        }
        _ => {
            let resource = call.resource;
            value = json!({
                "kind": &*resource.kind,
                "apiVersion": resource.api_version(),
                "metadata": {"creationTimestamp": seconds(state.now())},
                "status": {"userInfo": asker.info()},
            });
        }
    }
    Ok(Done {
        code: 201,
        body: Body::write(&value, None).to_bytes(),
    })
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn refuse(call: &Call<'_>, errors: Vec<FieldError>) -> ApiResult<()> {
    if errors.is_empty() {
        return Ok(());
    }
    // Kinds that are never stored have lost their name by then.
    let about = About {
        group: &call.resource.group,
        resource: "",
    };
    Err(ApiError::invalid(about, "", &errors))
}

fn access_errors(call: &Call<'_>, value: &Value, kind: Option<Builtin>) -> Vec<FieldError> {
    let spec = &value["spec"];
    let mut errors = Vec::new();
    let (resource, other) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    if !resource.is_null() && !other.is_null() {
        let detail = "cannot be specified in combination with resourceAttributes";
        errors.push(FieldError::invalid_shown(
            "spec.nonResourceAttributes",
            path_attributes(other),
            detail,
        ));
    }
    if resource.is_null() && other.is_null() {
        let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        errors.push(FieldError::invalid(
            "spec.resourceAttributes",
            Value::Null,
            detail,
        ));
    }
    let nobody = text(spec, "user").is_empty() && string_list(&spec["groups"]).is_empty();
    if kind != Some(Builtin::SelfReview) && nobody {
        let detail = "at least one of user or group must be specified";
        errors.push(FieldError::invalid("spec.user", "", detail));
    }
    let local = kind == Some(Builtin::LocalReview);
    let metadata = value["metadata"].as_object();
    let strange = metadata.into_iter().flatten().any(|(key, _)| {
        !(local && key == "namespace") && key != "managedFields" && key != "creationTimestamp"
    });
    if strange {
        let detail = if local {
            "must be empty except for namespace"
        } else {
            "must be empty"
        };
        errors.push(FieldError::invalid(
            "metadata",
            value["metadata"].clone(),
            detail,
        ));
    }
    if local {
        let namespace = text(resource, "namespace");
        if !resource.is_null() && namespace != call.namespace {
            let (path, detail) = (
                "spec.resourceAttributes.namespace",
                "must match metadata.namespace",
            );
            errors.push(FieldError::invalid(path, namespace, detail));
        }
        if !other.is_null() {
            errors.push(FieldError::invalid_shown(
                "spec.nonResourceAttributes",
                path_attributes(other),
                "disallowed on this kind of request",
            ));
        }
    }
    errors
}

/// As the real server's own type is written.
fn path_attributes(value: &Value) -> String {
    let text = |key: &str| json!(value[key].as_str().unwrap_or_default());
    format!("{{\"Path\":{},\"Verb\":{}}}", text("path"), text("verb"))
}

fn decide(state: &State, access: Option<&Access>, user: &User, spec: &Value) -> Value {
    let (resource, other) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let attributes = Attributes {
        verb: if resource.is_null() {
            text(other, "verb")
        } else {
            text(resource, "verb")
        },
        group: text(resource, "group"),
        resource: text(resource, "resource"),
        sub: text(resource, "subresource"),
        namespace: text(resource, "namespace"),
        name: text(resource, "name"),
        path: resource.is_null().then(|| text(other, "path")),
    };
    if access.is_none() {
        return json!({"allowed": true});
    }
    let decision = authorize(state, user, &attributes);
    let mut status = json!({"allowed": decision.allowed});
    if !decision.reason.is_empty() {
        status["reason"] = json!(decision.reason);
    }
    status
}

fn rules(state: &State, access: Option<&Access>, user: &User, namespace: &str) -> Value {
    let (mut resources, mut paths) = (Vec::new(), Vec::new());
    let (rules, missing) = match access {
        Some(_) => rules_of(state, user, namespace),
        None => (Vec::new(), Vec::new()),
    };
    for rule in rules {
        if !rule.resources.is_empty() {
            let mut entry = json!({
                "verbs": rule.verbs, "apiGroups": rule.groups, "resources": rule.resources,
            });
            if !rule.names.is_empty() {
                entry["resourceNames"] = json!(rule.names);
            }
            resources.push(entry);
        }
        if !rule.urls.is_empty() {
            paths.push(json!({"verbs": rule.verbs, "nonResourceURLs": rule.urls}));
        }
    }
    if access.is_none() {
        resources.push(json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}));
        paths.push(json!({"verbs": ["*"], "nonResourceURLs": ["*"]}));
    }
    let mut status = json!({
        "resourceRules": resources, "nonResourceRules": paths, "incomplete": false,
    });
    if !missing.is_empty() {
        status["evaluationError"] = json!(match missing.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        });
    }
    status
}

fn tokens(access: Option<&Access>, token: &str) -> Value {
    match access.and_then(|access| known(access, token)) {
        Some(user) => json!({
            "authenticated": true,
            "user": user.info(),
            "audiences": ["https://kubernetes.default.svc"],
        }),
        None => json!({
            "user": {},
            "error": "[invalid bearer token, token lookup failed]",
        }),
    }
}
