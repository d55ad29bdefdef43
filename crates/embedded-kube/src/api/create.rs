//! Creating objects.

use serde_json::{Value, json};

use super::list::parse_uint;
use super::{Call, Done, build, check_escalation, dedup_owners, match_namespace};
use crate::admission;
use crate::builtin::{self, Builtin};
use crate::meta;
use crate::names;
use crate::state::State;
use crate::status::{ApiError, ApiResult};
use crate::strategy;
use crate::typed::seconds;

/// How often a generated name is tried.
const ATTEMPTS: usize = 8;
/// The longest prefix of a generated name.
const MAX_PREFIX: usize = 58;

/// Creates an object from a decoded body.
pub(crate) fn create(state: &mut State, call: &mut Call<'_>, mut value: Value) -> ApiResult<Done> {
    meta::wipe_system_fields(&mut value);
    match_namespace(call, &mut value)?;
    dedup_owners(call, &mut value, "");
    call.track(state, None, &mut value)?;
    admit(state, call, &value)?;
    check_escalation(state, call, &value, None)?;
    let generated =
        meta::text(&value, "name").is_empty() && !meta::text(&value, "generateName").is_empty();
    if !generated {
        return attempt(state, call, value);
    }
    let prefix = meta::text(&value, "generateName").to_owned();
    let mut end = prefix.len().min(MAX_PREFIX);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    let mut result = Err(ApiError::internal("no name was generated"));
    for _ in 0..ATTEMPTS {
        let mut copy = value.clone();
        let name = format!("{}{}", &prefix[..end], state.ids.suffix());
        meta::of(&mut copy).insert("name".to_owned(), json!(name));
        result = attempt(state, call, copy);
        if !matches!(&result, Err(error) if error.code == 409) {
            return result;
        }
    }
    result.map_err(|error| {
        let name = error.body()["details"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        ApiError::generated_name_taken(call.resource.about(), &name)
    })
}

/// What holds before an object is looked at: its namespace lives, its definition as well.
pub(crate) fn admit(state: &State, call: &Call<'_>, value: &Value) -> ApiResult<()> {
    let resource = call.resource;
    let name = meta::text(value, "name");
    if resource.custom().is_some()
        && let Some(definition) = state.storage.object(
            "customresourcedefinitions.apiextensions.k8s.io",
            &resource.store,
        )
        && definition.facts.deleting
    {
        let why = "create not allowed while custom resource definition is terminating";
        return Err(ApiError::forbidden(resource.about(), name, why));
    }
    if !resource.namespaced {
        return Ok(());
    }
    let about = builtin::resource(Builtin::Namespace).about();
    let Some(namespace) = state.storage.object("namespaces", call.namespace) else {
        return Err(ApiError::not_found(about, call.namespace));
    };
    if namespace.facts.deleting {
        return Err(ApiError::namespace_terminating(
            resource.about(),
            name,
            call.namespace,
        ));
    }
    Ok(())
}

/// Creates an object under the name that it has.
pub(super) fn attempt(state: &mut State, call: &mut Call<'_>, mut value: Value) -> ApiResult<Done> {
    let resource = call.resource;
    let now = state.now();
    let uid = state.ids.uid();
    let meta = meta::of(&mut value);
    meta.insert("uid".to_owned(), json!(uid));
    meta.insert("creationTimestamp".to_owned(), json!(seconds(now)));
    strategy::prepare_create(resource, &mut value, now);
    let name = meta::text(&value, "name").to_owned();
    let mut errors = strategy::validate_create(resource, &value);
    if errors.is_empty() {
        errors = meta::validate(&value, resource.namespaced, names::path_segment);
    }
    if !errors.is_empty() {
        return Err(ApiError::invalid(
            resource.about_kind(&value),
            &name,
            &errors,
        ));
    }
    call.warnings
        .extend(strategy::warnings(resource, &value, None));
    admission::check(state, call, ("CREATE", &name), Some(&value), None)?;
    strategy::canonicalize(resource, &mut value);
    let untidy = call.settle(&mut value);
    let version = parse_uint(meta::text(&value, "resourceVersion"));
    if version.is_ok_and(|version| version != 0) {
        let message = "resourceVersion should not be set on objects to be created";
        return Err(ApiError::new(500, "", message));
    }
    let key = resource.key(call.namespace, &name);
    if let Some(existing) = state.storage.object(&resource.store, &key) {
        let error = ApiError::already_exists(resource.about(), &name);
        if existing.facts.deleting {
            let message = format!("object is being deleted: {}", error.message());
            return Err(error.with_message(message));
        }
        return Err(error);
    }
    if call.dry_run {
        return Ok(call.answer_value(201, state.round_trip(resource, value)));
    }
    let mut stored = build(call, state, value)?;
    // The store has no phase of a claim until its first change.
    stored.untidy = untidy || resource.builtin() == Some(Builtin::Claim);
    let stored = state.put_built(resource, &key, stored);
    Ok(call.answer(state, 201, &stored))
}
