//! Deleting objects, one or many.

use bytes::Bytes;
use serde_json::{Value, json};

use super::list::{ListOptions, collect};
use super::{Call, Done};
use crate::admission;
use crate::builtin::{Builtin, IMMORTAL};
use crate::crd;
use crate::fields::CONTROLLERS;
use crate::meta::{self, FOREGROUND, ORPHAN};
use crate::resource::{Resource, Sub};
use crate::state::State;
use crate::status::{About, ApiError, ApiResult};

/// What happens to the dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    Background,
    Foreground,
    Orphan,
}

/// The options of a deletion.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    pub(crate) uid: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) propagation: Option<Propagation>,
    /// The old way to say it.
    pub(crate) orphan_dependents: Option<bool>,
}

/// Deletes an object, or marks it as deleting.
pub(crate) fn delete(
    state: &mut State,
    call: &mut Call<'_>,
    options: &DeleteOptions,
) -> ApiResult<Done> {
    let (code, body) = delete_one(state, call, options, false)?;
    Ok(Done { code, body })
}

fn delete_one(
    state: &mut State,
    call: &mut Call<'_>,
    options: &DeleteOptions,
    collection: bool,
) -> ApiResult<(u16, Bytes)> {
    let resource = call.resource;
    let key = call.key();
    if resource.builtin() == Some(Builtin::Namespace) && IMMORTAL.contains(&call.name) {
        let why = "this namespace may not be deleted";
        return Err(ApiError::forbidden(resource.about(), call.name, why));
    }
    let Some(existing) = state.storage.object(&resource.store, &key).cloned() else {
        return Err(call.not_found());
    };
    let now = state.now();
    let mut value = state.view(resource, &existing);
    check_preconditions(call, options, &value)?;
    let change = ("DELETE", if collection { "" } else { call.name });
    admission::check(state, call, change, None, Some(&value))?;
    let before = value.clone();
    let special = matches!(
        resource.builtin(),
        Some(Builtin::Namespace | Builtin::Definition)
    );
    if special && !existing.facts.deleting {
        begin_end(resource, &mut value, now);
    }
    let begun = special && !existing.facts.deleting;
    let finalizers = if begun && resource.builtin() == Some(Builtin::Definition) {
        meta::finalizers(&value)
    } else {
        deletion_finalizers(resource, &value, options)
    };
    meta::set_finalizers(&mut value, &finalizers);
    let held = resource.builtin() == Some(Builtin::Namespace)
        && value["spec"]["finalizers"]
            .as_array()
            .is_some_and(|list| !list.is_empty());
    let code = if options.orphan_dependents == Some(false) {
        202
    } else {
        200
    };
    if finalizers.is_empty() && !held {
        let body = if returns_object(resource) {
            if call.dry_run {
                call.answer_value(200, before).body
            } else {
                let last = state.remove(resource, &key);
                state.present(resource, last.as_deref().unwrap_or(&existing))
            }
        } else {
            let uid = existing.facts.uid.clone();
            if !call.dry_run {
                state.remove(resource, &key);
            }
            deleted_status(call, &uid)
        };
        return Ok((200, body));
    }
    if !finalizers.is_empty() && !begun && !held {
        meta::mark_deleting(&mut value, now);
    }
    if call.dry_run {
        return Ok((code, call.answer_value(200, value).body));
    }
    if value == before {
        return Ok((code, state.present(resource, &existing)));
    }
    let stored = state.put(resource, &key, value);
    Ok((code, state.present(resource, &stored)))
}

/// Whether a deletion answers with the object that it removed.
fn returns_object(resource: &Resource) -> bool {
    resource.builtin().is_some_and(Builtin::returns_deleted)
}

fn deleted_status(call: &Call<'_>, uid: &str) -> Bytes {
    let mut details = json!({"name": call.name, "kind": &*call.resource.plural, "uid": uid});
    if !call.resource.group.is_empty() {
        details["group"] = json!(&*call.resource.group);
    }
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    });
    status.to_string().into()
}

fn check_preconditions(call: &Call<'_>, options: &DeleteOptions, value: &Value) -> ApiResult<()> {
    let about = About {
        group: &call.resource.group,
        resource: &call.resource.kind,
    };
    let namespace = call.resource.builtin() == Some(Builtin::Namespace);
    let uid = meta::text(value, "uid");
    if let Some(wanted) = &options.uid
        && wanted != uid
    {
        return Err(if namespace {
            let why = format!(
                "Precondition failed: UID in precondition: {wanted}, UID in object meta: {uid}"
            );
            ApiError::conflict(call.resource.about(), call.name, &why)
        } else {
            let why = format!(
                "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). \
                 The object might have been deleted and then recreated"
            );
            ApiError::conflict(about, call.name, &why)
        });
    }
    let version = meta::text(value, "resourceVersion");
    if let Some(wanted) = &options.version
        && wanted != version
    {
        return Err(if namespace {
            let why = format!(
                "Precondition failed: ResourceVersion in precondition: {wanted}, ResourceVersion \
                 in object meta: {version}"
            );
            ApiError::conflict(call.resource.about(), call.name, &why)
        } else {
            let why = format!(
                "the ResourceVersion in the precondition ({wanted}) does not match the \
                 ResourceVersion in record ({version}). The object might have been modified"
            );
            ApiError::conflict(about, call.name, &why)
        });
    }
    Ok(())
}

/// The first step of the end of a namespace or of a definition.
fn begin_end(resource: &Resource, value: &mut Value, now: jiff::Timestamp) {
    let stamp = json!(crate::typed::seconds(now));
    meta::of(value).insert("deletionTimestamp".to_owned(), stamp);
    if resource.builtin() == Some(Builtin::Namespace) {
        value["status"]["phase"] = json!("Terminating");
        return;
    }
    let mut finalizers = meta::finalizers(value);
    if !finalizers.iter().any(|f| f == crd::CLEANUP) {
        finalizers.push(crd::CLEANUP.to_owned());
        meta::set_finalizers(value, &finalizers);
    }
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin \
                   soon";
    crd::set_condition(
        value,
        "Terminating",
        "True",
        "InstanceDeletionPending",
        message,
        now,
    );
}

/// The finalizers after a deletion was asked for: those of the garbage collector come and go.
fn deletion_finalizers(resource: &Resource, value: &Value, options: &DeleteOptions) -> Vec<String> {
    let present = meta::finalizers(value);
    let has = |name: &str| present.iter().any(|f| f == name);
    let collected = resource.builtin().is_none_or(Builtin::collected);
    let (orphan, foreground) = match (options.orphan_dependents, options.propagation) {
        _ if !collected => (false, false),
        (Some(orphan), _) => (orphan, false),
        (None, Some(policy)) => (
            policy == Propagation::Orphan,
            policy == Propagation::Foreground,
        ),
        (None, None) => (has(ORPHAN), has(FOREGROUND) && !has(ORPHAN)),
    };
    let mut finalizers: Vec<String> = present
        .iter()
        .filter(|f| *f != ORPHAN && *f != FOREGROUND)
        .cloned()
        .collect();
    if orphan {
        finalizers.push(ORPHAN.to_owned());
    }
    if foreground {
        finalizers.push(FOREGROUND.to_owned());
    }
    let mut sorted = (present.clone(), finalizers.clone());
    sorted.0.sort();
    sorted.1.sort();
    if sorted.0 == sorted.1 {
        present
    } else {
        finalizers
    }
}

/// Deletes everything that a list would show; the answer is that list.
pub(crate) fn delete_collection(
    state: &mut State,
    call: &mut Call<'_>,
    options: &DeleteOptions,
    list: &ListOptions,
) -> ApiResult<Done> {
    let page = collect(state, call.resource, call.namespace, list)?;
    let body = page.write(state, call.resource);
    for stored in &page.items {
        let (namespace, name) = (stored.facts.namespace.clone(), stored.facts.name.clone());
        let mut one = Call {
            resource: call.resource,
            sub: call.sub,
            namespace: &namespace,
            name: &name,
            dry_run: call.dry_run,
            validation: call.validation,
            manager: call.manager,
            forced: None,
            warnings: Vec::new(),
            user: call.user,
            access: call.access,
            asker: call.asker,
        };
        let done = delete_one(state, &mut one, options, true);
        let warnings = std::mem::take(&mut one.warnings);
        call.warnings.extend(warnings);
        match done {
            Ok(_) => {}
            Err(error) if error.code == 404 => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Done { code: 200, body })
}

/// Takes a finalizer off an object, which may end it.
pub(crate) fn remove_finalizer(
    state: &mut State,
    resource: &std::sync::Arc<Resource>,
    key: &str,
    name: &str,
) {
    let Some(existing) = state.storage.object(&resource.store, key).cloned() else {
        return;
    };
    let old = state.view(resource, &existing);
    let mut value = old.clone();
    let finalizers: Vec<String> = meta::finalizers(&value)
        .into_iter()
        .filter(|f| f != name)
        .collect();
    meta::set_finalizers(&mut value, &finalizers);
    if finalizers.is_empty() && existing.facts.deleting {
        state.remove(resource, key);
    } else {
        let by = (CONTROLLERS, Sub::None);
        state.put_by(by, resource, key, &old, value);
    }
}
