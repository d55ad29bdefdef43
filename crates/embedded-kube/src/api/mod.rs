//! The verbs: what a request does to the state.

mod apply;
mod create;
mod delete;
mod list;
mod patch;
mod scale;
mod update;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::access::{self, Access, User};
use crate::builtin::{self, Builtin};
use crate::fields::{self, Scope};
use crate::json;
use crate::meta;
use crate::resource::{Resource, Sub, split_version};
use crate::state::State;
use crate::status::{ApiError, ApiResult};
use crate::storage::{Body, Stored};
use crate::strategy;
use crate::text::go_quote;
use crate::typed::Findings;

pub(crate) use apply::apply;
pub(crate) use create::create;
pub(crate) use delete::{DeleteOptions, Propagation, delete, delete_collection, remove_finalizer};
pub(crate) use list::{ListOptions, list, parse_version};
pub(crate) use patch::{PatchKind, patch};
pub(crate) use scale::{ScaleChange, UNKNOWN as NO_SCALE, get_scale, update_scale};
pub(crate) use update::{replace, update_with};

/// What is done with fields that are unknown or come twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

/// The circumstances of a write.
pub(crate) struct Call<'a> {
    pub(crate) resource: &'a Arc<Resource>,
    pub(crate) sub: Sub,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) dry_run: bool,
    pub(crate) validation: FieldValidation,
    /// Who writes, as the managers of fields are called.
    pub(crate) manager: &'a str,
    /// For an apply, whether it takes what others manage.
    pub(crate) forced: Option<bool>,
    pub(crate) warnings: Vec<String>,
    /// Who writes, where that is looked at.
    pub(crate) user: Option<&'a User>,
    pub(crate) access: Option<&'a Access>,
    /// Who writes, where admission policies ask.
    pub(crate) asker: Option<&'a User>,
}

/// The answer of a write.
pub(crate) struct Done {
    pub(crate) code: u16,
    pub(crate) body: Bytes,
}

impl Call<'_> {
    pub(crate) fn key(&self) -> String {
        self.resource.key(self.namespace, self.name)
    }

    pub(crate) fn not_found(&self) -> ApiError {
        ApiError::not_found(self.resource.about(), self.name)
    }

    /// What this call sees of objects, for those who manage their fields.
    fn scope<'s>(&'s self, state: &'s State) -> Scope<'s> {
        let definition = state.definitions.get(&self.resource.store);
        Scope::new(self.resource, definition.map(|d| &**d), self.sub)
    }

    /// Notes in an object that whoever calls manages what it changes.
    pub(crate) fn track(
        &self,
        state: &State,
        live: Option<&Value>,
        new: &mut Value,
    ) -> ApiResult<()> {
        fields::track(&self.scope(state), live, new, self.manager, state.now())
    }

    /// What was applied to a custom resource has not been decoded yet; the real server does so when
    /// it reads it from its store.
    /// The answer is whether that left anything out.
    fn settle(&self, value: &mut Value) -> bool {
        if self.forced.is_none() || self.resource.custom().is_none() {
            return false;
        }
        let before = value.clone();
        // Its types have been checked.
        let _ = strategy::decode(self.resource, value, &mut Findings::default());
        *value != before
    }

    /// Answers with an object that is stored (or would be, in a dry run).
    fn answer(&self, state: &State, code: u16, stored: &Stored) -> Done {
        Done {
            code,
            body: state.present(self.resource, stored),
        }
    }

    /// Answers with an object that is not stored.
    fn answer_value(&self, code: u16, mut value: Value) -> Done {
        if self.resource.builtin() == Some(Builtin::NewEvent) {
            builtin::event_from_core(&mut value);
        }
        Done {
            code,
            body: Body::write(&value, None).to_bytes(),
        }
    }
}

/// Refuses to give away what the writer does not have.
fn check_escalation(
    state: &State,
    call: &Call<'_>,
    new: &Value,
    old: Option<&Value>,
) -> ApiResult<()> {
    let Some(user) = call.user else { return Ok(()) };
    let place = (call.namespace, call.name);
    access::escalation(state, user, call.resource, place, new, old)
}

/// Reads a body as an object of the resource of this call, with defaults.
pub(crate) fn decode_body(
    state: &State,
    call: &mut Call<'_>,
    document: json::Document,
    source: &[u8],
) -> ApiResult<Value> {
    let resource = call.resource;
    let mut value = object_of(&resource.kind, document.value, source)?;
    let wanted = resource.api_version();
    if resource.custom().is_some() && value["kind"].as_str().unwrap_or_default().is_empty() {
        let text = String::from_utf8_lossy(source);
        let message = format!("Object 'Kind' is missing in '{text}'");
        return Err(unrecognized(&resource.kind, &message, source));
    }
    if let Some(message) = &document.overflow {
        let kind = value["kind"].as_str().unwrap_or(&resource.kind);
        let version = value["apiVersion"].as_str().unwrap_or(&wanted);
        return Err(ApiError::bad_request(format!(
            "{kind} in version {} cannot be handled as a {}: {message}",
            go_quote(split_version(version).1),
            resource.kind
        )));
    }
    if resource.custom().is_none() {
        for (key, wanted) in [("apiVersion", wanted.as_str()), ("kind", &*resource.kind)] {
            if value[key].as_str().unwrap_or_default().is_empty() {
                value[key] = json!(wanted);
            }
        }
    }
    warn_of_lost_fields(state, call, &value, &document.duplicates)?;
    check_type(resource, &value)?;
    let mut found = Findings::default();
    strategy::decode(resource, &mut value, &mut found).map_err(|message| {
        let (version, kind) = (go_quote(&resource.version), &resource.kind);
        let context = format!("{kind} in version {version} cannot be handled as a {kind}");
        ApiError::bad_request(format!("{context}: {message}"))
    })?;
    if resource.custom().is_none() {
        found.unknown.sort();
    }
    let own = (&*resource.kind, &*resource.version);
    strictness(call, own, &document.duplicates, &found.unknown)?;
    strategy::default(resource, &mut value);
    Ok(value)
}

/// A body as an object that can say what it is; nothing is an empty one.
fn object_of(kind: &str, value: Value, source: &[u8]) -> ApiResult<Value> {
    header_of(value).map_err(|message| unrecognized(kind, &message, source))
}

/// The same; an error says why it can not.
pub(crate) fn header_of(value: Value) -> Result<Value, String> {
    let wrong = |found: &Value, place: &str| {
        let found = type_name(found);
        Err(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go \
             {place}"
        ))
    };
    if value.is_null() {
        return Ok(json!({}));
    }
    if !value.is_object() {
        return wrong(
            &value,
            "value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind \
             string \"json:\\\"kind,omitempty\\\"\" }",
        );
    }
    for key in ["apiVersion", "kind"] {
        if !value[key].is_null() && !value[key].is_string() {
            return wrong(&value[key], &format!("struct field .{key} of type string"));
        }
    }
    Ok(value)
}

/// The refusal of a body that does not even say what it is.
pub(crate) fn unrecognized(kind: &str, message: &str, source: &[u8]) -> ApiError {
    ApiError::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): {message} ({})",
        summary(source)
    ))
}

/// The beginning of a body, for errors about it.
fn summary(body: &[u8]) -> String {
    use std::fmt::Write as _;
    let (start, dots) = if body.len() > 30 {
        (&body[..30], " ...")
    } else {
        (body, "")
    };
    match start.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{dots}", String::from_utf8_lossy(start)),
        Some(_) => {
            let mut hex = String::new();
            for byte in start {
                // Writing to a string cannot fail.
                let _ = write!(hex, "{byte:02x}");
            }
            format!("{hex}{dots}")
        }
    }
}

/// The name of a JSON type in decoding errors.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A version that the definition does not have knows no fields.
pub(super) fn warn_of_lost_fields(
    state: &State,
    call: &mut Call<'_>,
    value: &Value,
    duplicates: &[String],
) -> ApiResult<()> {
    let resource = call.resource;
    let api_version = value["apiVersion"].as_str().unwrap_or_default();
    let same_kind = resource.custom().is_some()
        && value["kind"] == *resource.kind
        && split_version(api_version).0 == &*resource.group;
    if !same_kind || api_version == resource.api_version() {
        return Ok(());
    }
    let version = split_version(api_version).1;
    let definition = state.definitions.get(&resource.store);
    if definition.is_some_and(|definition| definition.version(version).is_some()) {
        return Ok(());
    }
    let known = |key: &str| matches!(key, "apiVersion" | "kind" | "metadata");
    let keys = value
        .as_object()
        .into_iter()
        .flat_map(serde_json::Map::keys);
    let unknown: Vec<String> = keys.filter(|key| !known(key)).cloned().collect();
    let own = (&*resource.kind, &*resource.version);
    strictness(call, own, duplicates, &unknown)
}

fn check_type(resource: &Resource, value: &Value) -> ApiResult<()> {
    let api_version = value["apiVersion"].as_str().unwrap_or_default();
    let kind = value["kind"].as_str().unwrap_or_default();
    let (group, version) = split_version(api_version);
    if resource.custom().is_none() && (kind != &*resource.kind || group != &*resource.group) {
        let known = builtin::RESOURCES
            .iter()
            .any(|r| *r.kind == *kind && *r.group == *group && *r.version == *version);
        if known {
            return Err(ApiError::bad_request(format!(
                "{kind} in version {} cannot be handled as a {}: converting ({group}.{kind}) to \
                 (.{}): unknown conversion",
                go_quote(version),
                resource.kind,
                resource.kind
            )));
        }
        return Err(ApiError::bad_request(format!(
            "{kind} in version {} cannot be handled as a {}: no kind {} is registered for version \
             {} in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
            go_quote(version),
            resource.kind,
            go_quote(kind),
            go_quote(api_version),
        )));
    }
    if api_version != resource.api_version() {
        return Err(ApiError::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version \
             ({})",
            resource.api_version()
        )));
    }
    Ok(())
}

/// Complains about unknown and duplicate fields as the request asks.
pub(crate) fn strictness(
    call: &mut Call<'_>,
    (kind, version): (&str, &str),
    duplicates: &[String],
    unknown: &[String],
) -> ApiResult<()> {
    let quoted = |what: &str, path: &String| format!("{what} field {}", go_quote(path));
    let complaints: Vec<String> = duplicates
        .iter()
        .map(|path| quoted("duplicate", path))
        .chain(unknown.iter().map(|path| quoted("unknown", path)))
        .collect();
    match call.validation {
        _ if complaints.is_empty() => Ok(()),
        FieldValidation::Ignore => Ok(()),
        FieldValidation::Warn => {
            call.warnings.extend(complaints);
            Ok(())
        }
        FieldValidation::Strict => {
            let list = format!("strict decoding error: {}", complaints.join(", "));
            Err(ApiError::bad_request(format!(
                "{kind} in version {} cannot be handled as a {kind}: {list}",
                go_quote(version)
            )))
        }
    }
}

/// The namespace in an object must be that of the request, or is set to it.
pub(crate) fn match_namespace(call: &Call<'_>, value: &mut Value) -> ApiResult<()> {
    let wanted = if call.resource.namespaced {
        call.namespace
    } else {
        ""
    };
    let found = meta::text(value, "namespace").to_owned();
    if found == wanted {
        return Ok(());
    }
    if !found.is_empty() && !wanted.is_empty() {
        return Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    if wanted.is_empty() {
        meta::of(value).remove("namespace");
    } else {
        meta::of(value).insert("namespace".to_owned(), json!(wanted));
    }
    Ok(())
}

/// The name in an object must be that of the request.
pub(crate) fn match_name(call: &Call<'_>, value: &Value) -> ApiResult<()> {
    let found = meta::text(value, "name");
    if found.is_empty() {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            call.name
        )));
    }
    if found != call.name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({found}) does not match the name on the URL ({})",
            call.name
        )));
    }
    Ok(())
}

/// Warns of owner references that are there twice, and keeps one of each. `when` says since when.
pub(crate) fn dedup_owners(call: &mut Call<'_>, value: &mut Value, when: &str) {
    let duplicates = meta::dedup_owners(value);
    if !duplicates.is_empty() {
        call.warnings.push(format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner \
             references in 1.20+, and may reject such requests as early as 1.24; please fix your \
             requests; duplicate UID(s) observed: {}",
            duplicates.join(", ")
        ));
    }
}

/// How big a stored object may be, as the real server's storage bounds it.
pub(crate) const MAX_OBJECT: usize = 1_572_864;

/// Builds what is stored for an object, or refuses what the real storage would refuse. An object
/// that is too large only by the list of its managers goes without, unless it was applied.
pub(crate) fn build(call: &Call<'_>, state: &State, value: Value) -> ApiResult<Stored> {
    let fits = |stored: &Stored| stored.body.len() <= MAX_OBJECT;
    let stored = state.build(call.resource, value);
    if fits(&stored) {
        return Ok(stored);
    }
    let mut value = stored.value();
    if call.forced.is_none() && meta::of(&mut value).remove("managedFields").is_some() {
        let stored = state.build(call.resource, value);
        if fits(&stored) {
            return Ok(stored);
        }
    }
    Err(ApiError::new(500, "", "etcdserver: request is too large"))
}
