//! The `scale` subresource of custom resources.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Call, Done, PatchKind, patch::patch_value, update_with};
use crate::json::Document;
use crate::meta;
use crate::resource::{Resource, Scale, Sub, at_path};
use crate::state::State;
use crate::status::{About, ApiError, ApiResult, FieldError};
use crate::storage::Stored;
use crate::text::go_quote;

fn scale_of(resource: &Resource) -> ApiResult<&Scale> {
    let scale = resource.custom().and_then(|custom| custom.scale.as_ref());
    scale.ok_or_else(|| ApiError::internal("the resource has no scale"))
}

/// An object as a `Scale`.
fn show(object: &Value, scale: &Scale) -> Value {
    let number = |path: &str| at_path(object, path).and_then(Value::as_i64);
    let mut metadata = json!({});
    for key in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        if !object["metadata"][key].is_null() {
            metadata[key] = object["metadata"][key].clone();
        }
    }
    let mut shown = json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": {},
        "status": {"replicas": number(&scale.status_replicas).unwrap_or(0)},
    });
    if let Some(replicas) = number(&scale.spec_replicas)
        && replicas != 0
    {
        shown["spec"]["replicas"] = json!(replicas);
    }
    let selector = scale
        .selector
        .as_deref()
        .and_then(|path| at_path(object, path));
    if let Some(selector) = selector.and_then(Value::as_str)
        && !selector.is_empty()
    {
        shown["status"]["selector"] = json!(selector);
    }
    shown
}

/// Reads the `Scale` of an object.
pub(crate) fn get_scale(
    state: &State,
    resource: &Arc<Resource>,
    stored: &Stored,
) -> ApiResult<Bytes> {
    let scale = scale_of(resource)?;
    let object = state.view(resource, stored);
    check_replicas(&object, scale)?;
    Ok(show(&object, scale).to_string().into())
}

/// A scale needs a number of replicas to show.
fn check_replicas(object: &Value, scale: &Scale) -> ApiResult<()> {
    if at_path(object, &scale.spec_replicas).is_some() {
        return Ok(());
    }
    let path = go_quote(&scale.spec_replicas);
    Err(ApiError::internal(&format!(
        "the spec replicas field {path} does not exist"
    )))
}

/// What a request says about a scale.
pub(crate) enum ScaleChange<'a> {
    Replace(Document),
    Patch(PatchKind, &'a [u8]),
}

/// Changes the number of replicas of an object.
pub(crate) fn update_scale(
    state: &mut State,
    call: &mut Call<'_>,
    change: ScaleChange<'_>,
) -> ApiResult<Done> {
    let resource = call.resource;
    let scale = scale_of(resource)?;
    let mut inner = Call {
        resource,
        sub: Sub::None,
        namespace: call.namespace,
        name: call.name,
        dry_run: call.dry_run,
        validation: call.validation,
        warnings: Vec::new(),
    };
    let patched = matches!(change, ScaleChange::Patch(..));
    let done = update_with(state, &mut inner, "", |_, call, old| {
        let wanted = match change {
            ScaleChange::Replace(document) => document.value,
            ScaleChange::Patch(kind, body) => patch_value(call, &show(old, scale), kind, body)?.0,
        };
        let replicas = wanted_replicas(call, &wanted, patched)?;
        let mut new = old.clone();
        set_path(&mut new, &scale.spec_replicas, json!(replicas));
        let version = meta::text(&wanted, "resourceVersion");
        if !version.is_empty() {
            meta::of(&mut new).insert("resourceVersion".to_owned(), json!(version));
        }
        Ok(new)
    })?;
    let object: Value = serde_json::from_slice(&done.body).unwrap_or_default();
    Ok(Done {
        code: done.code,
        body: show(&object, scale).to_string().into(),
    })
}

/// The number that a `Scale` asks for.
fn wanted_replicas(call: &Call<'_>, wanted: &Value, patched: bool) -> ApiResult<i64> {
    let (kind, version) = (&wanted["kind"], &wanted["apiVersion"]);
    let is_scale =
        (kind.is_null() || kind == "Scale") && (version.is_null() || version == "autoscaling/v1");
    if !is_scale {
        let message = "no kind is registered for the type v1.Scale in scheme \
                       \"pkg/runtime/scheme.go:111\"";
        return Err(ApiError::bad_request(message));
    }
    let name = meta::text(wanted, "name");
    if !name.is_empty() && name != call.name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            call.name
        )));
    }
    match &wanted["spec"]["replicas"] {
        Value::Null => Ok(0),
        value => value.as_i64().ok_or_else(|| {
            let message = format!(
                "json: cannot unmarshal {} into Go struct field ScaleSpec.spec.replicas of type \
                 int32",
                super::type_name(value)
            );
            if patched {
                let error = FieldError::invalid("patch", wanted.to_string(), message);
                return ApiError::invalid(
                    About {
                        group: "",
                        resource: "",
                    },
                    "",
                    &[error],
                );
            }
            ApiError::bad_request(format!(
                "Scale in version \"v1\" cannot be handled as a Scale: {message}"
            ))
        }),
    }
}

fn set_path(object: &mut Value, path: &str, value: Value) {
    let mut place = object;
    for key in path.trim_start_matches('.').split('.') {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[key];
    }
    *place = value;
}
