//! What an apply makes of an object.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::compare::compare;
use super::element::Element;
use super::entries::{Identity, Managed, Operation};
use super::manager::{UNMANAGED, check_levels, update};
use super::scope::Scope;
use super::set::Set;
use super::typed::{check, fields_of};
use super::updater::{self, Failure, Typed};
use crate::meta;
use crate::resource::split_version;
use crate::status::{ApiError, ApiResult};
use crate::typed::seconds;

/// The manager of fields that were there before anybody applied.
const BEFORE: &str = "before-first-apply";
/// The manager that may take over what it has applied from the outside.
const KUBECTL: &str = "kubectl";
/// Where that is noted.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// How much all annotations may hold.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Who applies what.
pub(crate) struct Applied<'r> {
    pub(crate) config: &'r Value,
    pub(crate) manager: &'r str,
    pub(crate) force: bool,
}

/// What an object becomes if somebody applies a configuration. `complete` makes an object of its
/// kind of what was merged, and fills in defaults; an error says why it cannot.
pub(crate) fn apply(
    scope: &Scope<'_>,
    live: Option<&Value>,
    applied: &Applied<'_>,
    now: Timestamp,
    complete: impl FnOnce(&mut Value) -> Result<(), String>,
) -> ApiResult<Value> {
    let failed = |why: String| ApiError::new(500, "", why);
    let live = live.map_or_else(|| Cow::Owned(scope.empty()), Cow::Borrowed);
    let managed = Managed::of(&live)
        .map_err(|why| failed(format!("failed to decode managed fields: {why}")))?;
    let applying = Applying {
        scope,
        live: &live,
        applied,
        now,
    };
    applying.check_kind()?;
    let (merged, managed) = match applying.with_takeover(managed) {
        Ok(done) => done,
        Err(Refusal::Answer(error)) => return Err(error),
        Err(Refusal::Failure(Failure::Broken(why))) => return Err(failed(why)),
        Err(Refusal::Failure(Failure::Conflicts(conflicts))) => {
            return Err(conflict(&conflicts));
        }
    };
    let mut object = match merged {
        Some(mut merged) => {
            complete(&mut merged).map_err(|why| {
                let about = scope.about(applied.config);
                let why =
                    format!("failed to convert new object ({about}) to proper version: {why}");
                failed(why)
            })?;
            merged
        }
        None => live.into_owned(),
    };
    if applied.manager == KUBECTL {
        note_last_applied(&mut object, applied.config);
    }
    check_levels(managed.levels())?;
    managed.write_to(&mut object);
    Ok(object)
}

/// Why an apply is refused.
enum Refusal {
    Answer(ApiError),
    Failure(Failure),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::Failure(Failure::Broken(why))
    }
}

type Merged = (Option<Value>, Managed);

struct Applying<'r, 'a> {
    scope: &'r Scope<'a>,
    live: &'r Value,
    applied: &'r Applied<'r>,
    now: Timestamp,
}

impl Applying<'_, '_> {
    fn check_kind(&self) -> ApiResult<()> {
        let config = self.applied.config;
        let version = config["apiVersion"].as_str().unwrap_or_default();
        let kind = config["kind"].as_str().unwrap_or_default();
        if version == self.scope.version && kind == self.scope.kind() {
            return Ok(());
        }
        let ((group, version), kind) = match version.matches('/').count() {
            0 | 1 => (split_version(version), kind),
            _ => (("", ""), ""),
        };
        Err(ApiError::bad_request(format!(
            "invalid object type: {group}/{version}, Kind={kind}"
        )))
    }

    /// Applies; kubectl may take what it has applied itself before it did so here.
    fn with_takeover(&self, managed: Managed) -> Result<Merged, Refusal> {
        let retry = (self.applied.manager == KUBECTL).then(|| managed.clone());
        let refused = match self.once(managed, self.applied.force) {
            Err(Refusal::Failure(Failure::Conflicts(conflicts))) => conflicts,
            other => return other,
        };
        let allowed = retry.and_then(|managed| Some((managed, self.allowed_conflicts()?)));
        let Some((managed, allowed)) = allowed else {
            return Err(Failure::Conflicts(refused).into());
        };
        let left: Vec<_> = refused
            .into_iter()
            .filter(|(_, path)| !allowed.has(path))
            .collect();
        if left.is_empty() {
            self.once(managed, true)
        } else {
            Err(Failure::Conflicts(left).into())
        }
    }

    fn once(&self, mut managed: Managed, force: bool) -> Result<Merged, Refusal> {
        let scope = self.scope;
        if managed.is_empty() {
            // The real server cannot make an empty object of a kind that is none of the resource's.
            if let Some(why) = scope.unmade() {
                let (group, version) = split_version(&scope.version);
                let why = format!(
                    "failed to create manager for existing fields: failed to convert live object \
                     (/; {group}/{version}, Kind={}) to proper version: {why}",
                    scope.kind()
                );
                return Err(why.into());
            }
            let empty = scope.empty();
            let mut live = self.live.clone();
            meta::of(&mut live).remove("managedFields");
            update(scope, &empty, &live, &mut managed, BEFORE, self.now).map_err(|failure| {
                match failure {
                    Failure::Broken(why) => Failure::Broken(format!(
                        "failed to create manager for existing fields: {why}"
                    )),
                    conflicts @ Failure::Conflicts(_) => conflicts,
                }
            })?;
        }
        let config = self.applied.config;
        if config["metadata"]["managedFields"].is_array() {
            let error = ApiError::bad_request("metadata.managedFields must be nil");
            return Err(Refusal::Answer(error));
        }
        let typed = check(scope.shape(), config, false).map_err(|why| {
            let about = scope.about(config);
            format!("failed to create typed patch object ({about}): {why}")
        });
        typed?;
        let config = Typed {
            value: Cow::Borrowed(config),
            at: scope.shape(),
        };
        let live = scope.typed(self.live, true).map_err(|why| {
            let about = scope.about(self.live);
            format!("failed to create typed live object ({about}): {why}")
        })?;
        let identity = scope.identity(self.applied.manager, Operation::Apply);
        let new = updater::apply(scope, &live, &config, &mut managed, &identity, force)?;
        if let Some(entry) = managed.entries.get_mut(&identity) {
            entry.set.subtract(&UNMANAGED);
            if new.is_some() {
                entry.time = Some(seconds(self.now));
            }
            if entry.set.is_empty() {
                managed.entries.remove(&identity);
            }
        }
        Ok((new, managed))
    }

    /// The fields that the object still has as kubectl last applied them from the outside.
    fn allowed_conflicts(&self) -> Option<Set> {
        let scope = self.scope;
        let last = self.live["metadata"]["annotations"][LAST_APPLIED]
            .as_str()
            .filter(|last| !last.is_empty())?;
        let last = crate::json::parse_inner(last.as_bytes()).ok()?.value;
        if last["apiVersion"] != *scope.version {
            return None;
        }
        let live = scope.typed(self.live, false).ok()?;
        check(scope.shape(), &last, false).ok()?;
        let found = compare(scope.shape(), &last, &live.value).ok()?;
        let fields = fields_of(scope.shape(), &last).ok()?;
        Some(
            fields
                .difference(&found.modified)
                .difference(&found.added)
                .difference(&found.removed),
        )
    }
}

/// Notes what kubectl applies where it noted it before it did so here.
fn note_last_applied(object: &mut Value, config: &Value) {
    let noted = |value: &Value| {
        let last = value["metadata"]["annotations"][LAST_APPLIED].as_str();
        last.is_some_and(|last| !last.is_empty())
    };
    if !noted(object) {
        return;
    }
    let mut config = config.clone();
    if let Some(Value::Object(annotations)) = config.pointer_mut("/metadata/annotations") {
        annotations.remove(LAST_APPLIED);
    }
    let text = format!("{}\n", html_safe(&config.to_string()));
    if let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") {
        annotations.insert(LAST_APPLIED.to_owned(), json!(text));
        let sizes = annotations
            .iter()
            .map(|(key, value)| key.len() + value.as_str().map_or(0, str::len));
        if sizes.sum::<usize>() > MAX_ANNOTATIONS {
            annotations.remove(LAST_APPLIED);
        }
    }
}

/// JSON in which nothing reads as HTML; these characters are only inside of texts.
fn html_safe(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// 409, with what everybody else manages.
fn conflict(conflicts: &[(Identity, Vec<Element>)]) -> ApiError {
    let shown = |path: &[Element]| -> String { path.iter().map(ToString::to_string).collect() };
    let causes = conflicts.iter().map(|(identity, path)| {
        json!({
            "reason": "FieldManagerConflict",
            "message": format!("conflict with {}", identity.shown()),
            "field": shown(path),
        })
    });
    let message = if let [(identity, path)] = conflicts {
        format!(
            "Apply failed with 1 conflict: conflict with {}: {}",
            identity.shown(),
            shown(path)
        )
    } else {
        let mut by_manager: BTreeMap<&Identity, Vec<String>> = BTreeMap::new();
        for (identity, path) in conflicts {
            by_manager.entry(identity).or_default().push(shown(path));
        }
        let mut lines = Vec::new();
        for (identity, paths) in by_manager {
            lines.push(format!("conflicts with {}:", identity.shown()));
            lines.extend(paths.into_iter().map(|path| format!("- {path}")));
        }
        let count = conflicts.len();
        format!("Apply failed with {count} conflicts: {}", lines.join("\n"))
    };
    ApiError::apply_conflict(&message, causes.collect())
}
