//! Server-side apply.

use serde_json::Value;

use super::list::parse_uint;
use super::{
    Call, Done, FieldValidation, check_escalation, create, dedup_owners, match_name,
    match_namespace, update,
};
use crate::fields::{self, Applied};
use crate::json::Document;
use crate::meta;
use crate::resource::Sub;
use crate::state::State;
use crate::status::{ApiError, ApiResult};
use crate::strategy;
use crate::text::go_quote;
use crate::typed::Findings;

/// Applies a configuration: the object becomes what it says, as far as its manager decides it, and
/// is created if it is not there.
pub(crate) fn apply(
    state: &mut State,
    call: &mut Call<'_>,
    document: &Document,
) -> ApiResult<Done> {
    let resource = call.resource;
    let existing = state.storage.object(&resource.store, &call.key()).cloned();
    if existing.is_none() && call.sub != Sub::None {
        return Err(call.not_found());
    }
    let old = existing
        .as_ref()
        .map(|existing| state.view(resource, existing));
    let config = header(&document.value);
    let applied = Applied {
        config: &config,
        manager: call.manager,
        force: call.forced.unwrap_or(false),
    };
    let mut new = fields::apply(
        &call.scope(state),
        old.as_ref(),
        &applied,
        state.now(),
        |value| {
            if resource.custom().is_none() {
                strategy::decode(resource, value, &mut Findings::default()).map_err(|why| {
                    let (group, version) = (&resource.group, &resource.version);
                    let kind = &resource.kind;
                    // Bytes are read by another decoder than the rest.
                    let reader = if why.starts_with("illegal base64") {
                        "error decoding from json: "
                    } else {
                        ""
                    };
                    format!(
                        "unable to convert unstructured object to {group}/{version}, Kind={kind}: \
                         {reader}{why}"
                    )
                })?;
            }
            strategy::default(resource, value);
            Ok(())
        },
    )?;
    complain(call, document)?;
    let uid = meta::text(&new, "uid");
    if old.is_none() && !uid.is_empty() {
        let why = format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was \
             found"
        );
        return Err(ApiError::conflict(resource.about(), call.name, &why));
    }
    match_namespace(call, &mut new)?;
    match_name(call, &new)?;
    dedup_owners(call, &mut new, " after mutating admission happens");
    if let (Some(existing), Some(old)) = (existing, old) {
        return update::finish(state, call, &existing, &old, new);
    }
    update::may_create(state, call)?;
    create::admit(state, call, &new)?;
    check_escalation(state, call, &new, None)?;
    // A version that nothing has yet is no precondition.
    let version = meta::of(&mut new).remove("resourceVersion");
    meta::of(&mut new).remove("selfLink");
    if let Some(version) = version.as_ref().and_then(Value::as_str) {
        parse_uint(version).map_err(|why| ApiError::new(500, "", why))?;
    }
    create::attempt(state, call, new)
}

/// What is applied; nothing is an object that says nothing.
pub(super) fn header(value: &Value) -> Value {
    match value {
        Value::Null => Value::Object(serde_json::Map::new()),
        value => value.clone(),
    }
}

/// Complains about keys that come twice, as the request asks.
pub(super) fn complain(call: &mut Call<'_>, document: &Document) -> ApiResult<()> {
    if document.duplicates.is_empty() {
        return Ok(());
    }
    let lines = document.duplicates.iter().map(|path| {
        let key = path.rsplit('.').next().unwrap_or(path);
        format!("line 1: key {} already set in map", go_quote(key))
    });
    match call.validation {
        FieldValidation::Ignore => Ok(()),
        FieldValidation::Warn => {
            call.warnings.extend(lines);
            Ok(())
        }
        FieldValidation::Strict => {
            let lines: Vec<String> = lines.map(|line| format!("\n  {line}")).collect();
            Err(ApiError::bad_request(format!(
                "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal \
                 errors:{}",
                lines.concat()
            )))
        }
    }
}
