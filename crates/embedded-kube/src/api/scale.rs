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

fn scale_of(resource: &Resource) -> ApiResult<&Scale> {
    let scale = resource.custom().and_then(|custom| custom.scale.as_ref());
    scale.ok_or_else(|| ApiError::internal("the resource has no scale"))
}

/// An object as a `Scale`.
fn show(object: &Value, scale: &Scale) -> Value {
    let number = |path: &str| at_path(object, path).and_then(Value::as_i64);
    let mut metadata = json!({});
    for key in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
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
    let selector = scale.selector.as_deref().and_then(|path| at_path(object, path));
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
    Ok(show(&state.view(resource, stored), scale).to_string().into())
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
    let done = update_with(state, &mut inner, "", |call, old| {
        let wanted = match change {
            ScaleChange::Replace(document) => document.value,
            ScaleChange::Patch(kind, body) => patch_value(call, &show(old, scale), kind, body)?.0,
        };
        if wanted["kind"].as_str().is_some_and(|kind| kind != "Scale") {
            let kind = wanted["kind"].as_str().unwrap_or_default();
            return Err(ApiError::bad_request(format!(
                "the object provided is unrecognized (must be of type Scale): {kind}"
            )));
        }
        let replicas = wanted["spec"]["replicas"].as_i64().unwrap_or(0);
        if replicas < 0 {
            let detail = "must be greater than or equal to 0";
            let error = FieldError::invalid("spec.replicas", replicas, detail);
            let about = About { group: "autoscaling", resource: "Scale" };
            return Err(ApiError::invalid(about, call.name, &[error]));
        }
        let mut new = old.clone();
        set_path(&mut new, &scale.spec_replicas, json!(replicas));
        let version = meta::text(&wanted, "resourceVersion");
        if !version.is_empty() {
            meta::of(&mut new).insert("resourceVersion".to_owned(), json!(version));
        }
        Ok(new)
    })?;
    let object: Value = serde_json::from_slice(&done.body).unwrap_or_default();
    Ok(Done { code: done.code, body: show(&object, scale).to_string().into() })
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
