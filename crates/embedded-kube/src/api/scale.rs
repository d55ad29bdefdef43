//! The `scale` subresource of custom resources.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    Call, Done, PatchKind, apply, match_name, match_namespace, patch::patch_value, update_with,
};
use crate::fields::{self, Applied, ScaleFields};
use crate::json::Document;
use crate::meta;
use crate::resource::{Resource, Scale, Sub, at_path};
use crate::state::State;
use crate::status::{About, ApiError, ApiResult, FieldError};
use crate::storage::Stored;
use crate::text::go_quote;
use crate::typed::{self, Findings, Struct, Type, always, field, object};

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
    Apply(Document),
}

static SCALE: LazyLock<Struct> = LazyLock::new(|| Struct {
    name: "Scale",
    fields: vec![
        field("apiVersion", Type::String),
        field("kind", Type::String),
        meta::metadata_field(),
        always(
            "spec",
            object("ScaleSpec", vec![field("replicas", Type::Int32)]),
        ),
        always(
            "status",
            object(
                "ScaleStatus",
                vec![
                    always("replicas", Type::Int32),
                    field("selector", Type::String),
                ],
            ),
        ),
    ],
});

/// What the real server says of any body that is no `Scale`.
pub(crate) const UNKNOWN: &str =
    "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"";

/// What stands for a number of replicas that nobody has set.
const UNSET: i64 = i32::MIN as i64;

/// Changes the number of replicas of an object.
pub(crate) fn update_scale(
    state: &mut State,
    call: &mut Call<'_>,
    change: ScaleChange<'_>,
) -> ApiResult<Done> {
    let resource = call.resource;
    let scale = scale_of(resource)?;
    let mut uid = String::new();
    let change = match change {
        ScaleChange::Replace(document) => {
            let wanted = decode_body(call, document)?;
            meta::text(&wanted, "uid").clone_into(&mut uid);
            Change::Replace(wanted)
        }
        ScaleChange::Patch(kind, body) => Change::Patch(kind, body),
        ScaleChange::Apply(document) => Change::Apply(document),
    };
    let mut inner = Call {
        resource,
        sub: Sub::None,
        namespace: call.namespace,
        name: call.name,
        dry_run: call.dry_run,
        validation: call.validation,
        manager: call.manager,
        forced: call.forced,
        warnings: Vec::new(),
        user: call.user,
        access: call.access,
        asker: call.asker,
    };
    let done = update_with(state, &mut inner, &uid, |state, call, old| {
        let definition = state.definitions.get(&resource.store);
        let definition = definition.map(|definition| &**definition);
        let fields = ScaleFields::new(definition, resource.api_version(), &SCALE, old);
        let mut current = show(old, scale);
        if at_path(old, &scale.spec_replicas).is_none() {
            current["spec"]["replicas"] = json!(UNSET);
        }
        fields.show(&mut current);
        let now = state.now();
        let wanted = match change {
            Change::Replace(mut wanted) => {
                fields::track_scale(&fields, &current, &mut wanted, call.manager, now)?;
                wanted
            }
            Change::Patch(kind, body) => {
                let mut wanted = patched(call, &current, kind, body)?;
                fields::track_scale(&fields, &current, &mut wanted, call.manager, now)?;
                super::patch::match_patched_name(call, &wanted)?;
                wanted
            }
            Change::Apply(document) => {
                let config = apply::header(&document.value);
                let applied = Applied {
                    config: &config,
                    manager: call.manager,
                    force: call.forced.unwrap_or(false),
                };
                let wanted = fields::apply_scale(&fields, &current, &applied, now)?;
                apply::complain(call, &document)?;
                super::patch::match_patched_name(call, &wanted)?;
                wanted
            }
        };
        if wanted["spec"]["replicas"] == UNSET {
            let path = go_quote(&scale.spec_replicas);
            return Err(ApiError::bad_request(format!(
                "the spec replicas field {path} cannot be empty"
            )));
        }
        let replicas = wanted["spec"]["replicas"].as_i64().unwrap_or(0);
        let mut new = old.clone();
        set_path(&mut new, &scale.spec_replicas, json!(replicas));
        let version = meta::text(&wanted, "resourceVersion");
        if !version.is_empty() {
            meta::of(&mut new).insert("resourceVersion".to_owned(), json!(version));
        }
        fields.write_to(&wanted, &mut new);
        Ok(new)
    });
    call.warnings.append(&mut inner.warnings);
    let done = done?;
    let object: Value = serde_json::from_slice(&done.body).unwrap_or_default();
    Ok(Done {
        code: done.code,
        body: show(&object, scale).to_string().into(),
    })
}

/// A change whose body has been read.
enum Change<'a> {
    Replace(Value),
    Patch(PatchKind, &'a [u8]),
    Apply(Document),
}

/// Reads a body as a `Scale`.
fn decode_body(call: &mut Call<'_>, document: Document) -> ApiResult<Value> {
    let mut wanted =
        super::header_of(document.value).map_err(|_| ApiError::bad_request(UNKNOWN))?;
    if let Some(strange) = foreign(&mut wanted) {
        return Err(ApiError::bad_request(strange));
    }
    let mut found = Findings::default();
    // Whatever is wrong is told in words that the real server has for something else.
    typed::decode(&mut wanted, &SCALE, &mut found).map_err(|_| ApiError::bad_request(UNKNOWN))?;
    found.unknown.sort();
    super::strictness(call, ("Scale", "v1"), &document.duplicates, &found.unknown)
        .map_err(|_| ApiError::bad_request(UNKNOWN))?;
    match_namespace(call, &mut wanted)?;
    match_name(call, &wanted)?;
    Ok(wanted)
}

/// Why a body is no `Scale`, if it is not; a missing kind and version are filled in.
fn foreign(wanted: &mut Value) -> Option<String> {
    for (key, own) in [("apiVersion", "autoscaling/v1"), ("kind", "Scale")] {
        if wanted[key].as_str().unwrap_or_default().is_empty() {
            wanted[key] = json!(own);
        }
    }
    let is_scale = wanted["kind"] == "Scale" && wanted["apiVersion"] == "autoscaling/v1";
    (!is_scale).then(|| UNKNOWN.to_owned())
}

/// The `Scale` of an object after a patch.
fn patched(call: &mut Call<'_>, current: &Value, kind: PatchKind, body: &[u8]) -> ApiResult<Value> {
    let (mut wanted, complaints) = patch_value(call, current, kind, body)?;
    let shown = wanted.to_string();
    let invalid = |message: String| {
        let error = FieldError::invalid("patch", shown.as_str(), message);
        let about = About {
            group: "",
            resource: "",
        };
        ApiError::invalid(about, "", &[error])
    };
    let mut found = Findings::default();
    wanted = super::header_of(wanted).map_err(&invalid)?;
    if foreign(&mut wanted).is_some() {
        let kind = wanted["kind"].as_str().unwrap_or_default();
        let version = wanted["apiVersion"].as_str().unwrap_or_default();
        let old = kind == "Scale" && matches!(version, "extensions/v1beta1" | "apps/v1beta1");
        return Err(invalid(if old {
            "converting (v1beta1.Scale) to (v1.Scale): unknown conversion".to_owned()
        } else {
            format!(
                "no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:111\"",
                go_quote(kind),
                go_quote(version)
            )
        }));
    }
    typed::decode(&mut wanted, &SCALE, &mut found).map_err(&invalid)?;
    found.unknown.sort();
    super::patch::tell(call, complaints, &found.unknown).map_err(invalid)?;
    Ok(wanted)
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
