//! Changing objects: the part that `update` and `patch` share.

use serde_json::{Value, json};

use super::list::parse_uint;
use super::{
    Call, Done, build, check_escalation, create, dedup_owners, match_name, match_namespace,
};
use crate::access::{Attributes, authorize};
use crate::admission;
use crate::builtin::Builtin;
use crate::fields;
use crate::meta;
use crate::names;
use crate::resource::Sub;
use crate::state::State;
use crate::status::{About, ApiError, ApiResult, FieldError};
use crate::storage::Stored;
use crate::strategy;

/// Replaces an object by a decoded body.
pub(crate) fn replace(state: &mut State, call: &mut Call<'_>, mut value: Value) -> ApiResult<Done> {
    match_namespace(call, &mut value)?;
    match_name(call, &value)?;
    dedup_owners(call, &mut value, "");
    let exists = state
        .storage
        .object(&call.resource.store, &call.key())
        .is_some();
    if !exists && call.sub == Sub::None && strategy::create_on_update(call.resource) {
        let uid = meta::text(&value, "uid");
        if !uid.is_empty() {
            return Err(uid_conflict(call, &call.key(), uid, ""));
        }
        may_create(state, call)?;
        meta::wipe_system_fields(&mut value);
        create::admit(state, call, &value)?;
        let version = meta::of(&mut value).remove("resourceVersion");
        let mut done = create::create(state, call, value)?;
        if let (true, Some(version)) = (call.dry_run, version) {
            // What is not stored keeps the version that it came with.
            let mut shown = crate::json::parse(&done.body)
                .map(|document| document.value)
                .unwrap_or_default();
            shown["metadata"]["resourceVersion"] = version;
            done.body = crate::storage::Body::write(&shown, None).to_bytes();
        }
        return Ok(done);
    }
    let uid = meta::text(&value, "uid").to_owned();
    update_with(state, call, &uid, |state, call, old| {
        call.track(state, Some(old), &mut value)?;
        Ok(value)
    })
}

/// Changes an object by a function of its present state, as the request sees it.
pub(crate) fn update_with(
    state: &mut State,
    call: &mut Call<'_>,
    uid: &str,
    change: impl FnOnce(&State, &mut Call<'_>, &Value) -> ApiResult<Value>,
) -> ApiResult<Done> {
    let resource = call.resource;
    let key = call.key();
    let Some(existing) = state.storage.object(&resource.store, &key).cloned() else {
        return Err(call.not_found());
    };
    if !uid.is_empty() && *uid != *existing.facts.uid {
        return Err(uid_conflict(call, &key, uid, &existing.facts.uid));
    }
    let old = state.view(resource, &existing);
    let new = change(state, call, &old)?;
    finish(state, call, &existing, &old, new)
}

/// Checks and stores what an object is to become.
pub(super) fn finish(
    state: &mut State,
    call: &mut Call<'_>,
    existing: &Stored,
    old: &Value,
    mut new: Value,
) -> ApiResult<Done> {
    let (resource, key) = (call.resource, call.key());
    check_escalation(state, call, &new, Some(old))?;
    check_version(call, &mut new, existing.revision)?;
    match_namespace(call, &mut new)?;
    let now = state.now();
    keep_system_fields(&mut new, old, true);
    strategy::prepare_update(resource, call.sub, &mut new, old, now);
    keep_system_fields(&mut new, old, false);
    let mut errors = meta::validate(&new, resource.namespaced, names::path_segment);
    errors.extend(meta::validate_update(&new, old));
    let warnings = &mut call.warnings;
    errors.extend(strategy::validate_update(
        resource, call.sub, &new, old, warnings,
    ));
    if !errors.is_empty() {
        return Err(ApiError::invalid(
            resource.about_kind(&new),
            call.name,
            &errors,
        ));
    }
    if call.sub == Sub::None {
        call.warnings
            .extend(strategy::warnings(resource, &new, Some(old)));
    }
    let change = ("UPDATE", call.name);
    admission::check(state, call, change, Some(&new), Some(old))?;
    strategy::canonicalize(resource, &mut new);
    let untidy = call.settle(&mut new);
    if existing.facts.deleting && may_go(call, &new) {
        let done = call.answer_value(200, new.clone());
        if !call.dry_run {
            state.remove(resource, &key);
        }
        return Ok(done);
    }
    if call.dry_run {
        return Ok(call.answer_value(200, state.round_trip(resource, new)));
    }
    let mut stored = build(call, state, new)?;
    // What is compared is what is stored: another version can lose fields or gain defaults.
    if untidy == existing.untidy && same_but_for_revision(&stored.value(), &existing.value()) {
        return Ok(call.answer(state, 200, existing));
    }
    stored.untidy = untidy;
    let stored = state.put_built(resource, &key, stored);
    Ok(call.answer(state, 200, &stored))
}

/// Who may update may not always create.
pub(super) fn may_create(state: &State, call: &Call<'_>) -> ApiResult<()> {
    let Some(user) = call.user else { return Ok(()) };
    let attributes = Attributes {
        verb: "create",
        group: &call.resource.group,
        resource: &call.resource.plural,
        sub: call.sub.name(),
        namespace: call.namespace,
        name: call.name,
        path: None,
    };
    authorize(state, user, &attributes).or_refuse(user, &attributes)
}

fn same_but_for_revision(new: &Value, old: &Value) -> bool {
    let mut new = new.clone();
    fields::without_times(&mut new, old);
    new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"].clone();
    new == *old
}

/// Whether an object that is being deleted has lost what held it.
fn may_go(call: &Call<'_>, new: &Value) -> bool {
    let held = call.resource.builtin() == Some(Builtin::Namespace)
        && new["spec"]["finalizers"]
            .as_array()
            .is_some_and(|list| !list.is_empty());
    meta::finalizers(new).is_empty() && !held
}

fn uid_conflict(call: &Call<'_>, key: &str, wanted: &str, found: &str) -> ApiError {
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}",
        call.resource.registry_key(key)
    );
    ApiError::conflict(call.resource.about(), call.name, &why)
}

fn check_version(call: &Call<'_>, new: &mut Value, current: u64) -> ApiResult<()> {
    let text = meta::text(new, "resourceVersion");
    let version = if text.is_empty() {
        0
    } else {
        parse_uint(text).map_err(|why| ApiError::new(500, "", why))?
    };
    if version == 0 {
        if !strategy::unconditional_update(call.resource) {
            let about = About {
                group: &call.resource.group,
                resource: &call.resource.plural,
            };
            let error = FieldError::invalid(
                "metadata.resourceVersion",
                0,
                "must be specified for an update",
            );
            return Err(ApiError::invalid(about, call.name, &[error]));
        }
        meta::of(new).insert("resourceVersion".to_owned(), json!(current.to_string()));
    } else if version != current {
        return Err(ApiError::modified(call.resource.about(), call.name));
    }
    Ok(())
}

/// What an update cannot change, whatever it says.
fn keep_system_fields(new: &mut Value, old: &Value, with_generation: bool) {
    let before = &old["metadata"];
    let meta = meta::of(new);
    meta.remove("selfLink");
    let mut keep = |key: &str| match before.get(key) {
        Some(value) => {
            meta.insert(key.to_owned(), value.clone());
        }
        None => {
            meta.remove(key);
        }
    };
    if with_generation {
        keep("generation");
        return;
    }
    if !before["creationTimestamp"].is_null() {
        keep("creationTimestamp");
    }
    if !before["deletionTimestamp"].is_null() {
        keep("deletionTimestamp");
    }
    if !meta.contains_key("uid") {
        meta.insert("uid".to_owned(), before["uid"].clone());
    }
    let key = "deletionGracePeriodSeconds";
    if !meta.contains_key(key) && !before[key].is_null() {
        meta.insert(key.to_owned(), before[key].clone());
    }
}
