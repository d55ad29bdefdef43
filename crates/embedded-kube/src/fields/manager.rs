//! What is tracked of a write, and what an apply makes of an object.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::compare::compare;
use super::entries::{Identity, Managed, Operation, is_reset};
use super::set::Set;
use super::shape::Ref;
use super::typed::{check, fields_of};
use super::updater::{self, Failure, Typed, Unconvertible, Versions};
use crate::builtin::{self, Builtin};
use crate::deep::MAX_DEPTH;
use crate::meta;
use crate::resource::{Definition, Resource, Rules, Sub, split_version};
use crate::status::{ApiError, ApiResult};
use crate::text::{go_quote, is_print};
use crate::typed::{self as decoding, Findings, Struct, seconds};

/// How long the name of a manager may be.
const MAX_NAME: usize = 128;
/// The manager of fields that were there before anybody applied.
const BEFORE: &str = "before-first-apply";
/// The manager that may take over what it has applied from the outside.
const KUBECTL: &str = "kubectl";
/// Where that is noted.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// How much all annotations may hold.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// What nobody manages.
static UNMANAGED: LazyLock<Set> = LazyLock::new(|| {
    let paths: [&[&str]; 12] = [
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ];
    Set::of_names(&paths)
});
static STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_names(&[&["status"]]));
static SPEC: LazyLock<Set> = LazyLock::new(|| Set::of_names(&[&["spec"]]));
static ALL_BUT_STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_names(&[&["metadata"], &["spec"]]));

/// The manager that a client is by its name, which ends at the first slash.
pub(crate) fn from_user_agent(agent: &str) -> String {
    let mut name = String::new();
    let shown = agent.split('/').next().unwrap_or_default().chars();
    for c in shown.filter(|c| is_print(*c)) {
        if name.len() + c.len_utf8() > MAX_NAME {
            break;
        }
        name.push(c);
    }
    name
}

/// What a request sees of objects: a resource in one of its versions, or a part of it.
pub(crate) struct Scope<'a> {
    kind: ScopeKind<'a>,
    version: String,
    sub: &'static str,
}

enum ScopeKind<'a> {
    Resource {
        resource: &'a Resource,
        /// All versions of a custom resource.
        definition: Option<&'a Definition>,
        sub: Sub,
    },
    /// A part that has a kind of its own.
    Part(&'a Struct),
}

impl<'a> Scope<'a> {
    pub(crate) fn new(
        resource: &'a Resource,
        definition: Option<&'a Definition>,
        sub: Sub,
    ) -> Self {
        Self {
            version: resource.api_version(),
            sub: sub.name(),
            kind: ScopeKind::Resource {
                resource,
                definition,
                sub,
            },
        }
    }

    /// A part of objects with a kind of its own.
    pub(super) fn of_part(part: &'a Struct, version: &str, sub: Sub) -> Self {
        Self {
            kind: ScopeKind::Part(part),
            version: version.to_owned(),
            sub: sub.name(),
        }
    }

    fn shape(&self) -> Ref<'a> {
        match &self.kind {
            ScopeKind::Part(part) => Ref::Struct(part),
            ScopeKind::Resource { resource, .. } => shape_of(resource),
        }
    }

    fn kind(&self) -> &str {
        match &self.kind {
            ScopeKind::Part(part) => part.name,
            ScopeKind::Resource { resource, .. } => &resource.kind,
        }
    }

    /// Why nothing new of this kind can be made, if it cannot.
    pub(super) fn unmade(&self) -> Option<String> {
        matches!(self.kind, ScopeKind::Part(_)).then(|| {
            let version = &self.version;
            format!("request to convert CR to an invalid group/version: {version}")
        })
    }

    fn is_new_event(&self) -> bool {
        self.builtin() == Some(Builtin::NewEvent)
    }

    fn builtin(&self) -> Option<Builtin> {
        match &self.kind {
            ScopeKind::Part(_) => None,
            ScopeKind::Resource { resource, .. } => resource.builtin(),
        }
    }

    /// An object without anything in it.
    fn empty(&self) -> Value {
        let mut empty = json!({"apiVersion": self.version, "kind": self.kind()});
        let fields = match &self.kind {
            ScopeKind::Part(part) => Some(*part),
            ScopeKind::Resource { resource, .. } => resource.builtin().map(Builtin::fields),
        };
        if let Some(fields) = fields {
            // Nothing in it has a wrong type.
            let _ = decoding::decode(&mut empty, fields, &mut Findings::default());
        }
        empty
    }

    /// An object as the request would see it: events have two shapes.
    fn seen<'v>(&self, object: &'v Value) -> Cow<'v, Value> {
        if !self.is_new_event() || object["apiVersion"] == *self.version {
            return Cow::Borrowed(object);
        }
        let mut seen = object.clone();
        builtin::event_from_core(&mut seen);
        Cow::Owned(seen)
    }

    fn typed<'v>(&self, value: &'v Value, duplicates: bool) -> Result<Typed<'v, 'a>, String> {
        let at = self.shape();
        let value = self.seen(value);
        check(at, &value, duplicates)?;
        Ok(Typed { value, at })
    }

    /// What errors say an object is.
    fn about(&self, object: &Value) -> String {
        let (group, version) = split_version(&self.version);
        format!(
            "{}/{}; {group}/{version}, Kind={}",
            meta::text(object, "namespace"),
            meta::text(object, "name"),
            self.kind()
        )
    }

    fn identity(&self, manager: &str, operation: Operation) -> Identity {
        Identity::new(manager, operation, &self.version, self.sub)
    }
}

fn shape_of(resource: &Resource) -> Ref<'_> {
    match &resource.rules {
        Rules::Builtin(builtin) => Ref::Struct(builtin.fields()),
        Rules::Custom(custom) => Ref::of_schema(&custom.schema),
    }
}

impl<'a> Versions<'a> for Scope<'a> {
    fn own(&self) -> &str {
        &self.version
    }

    fn reset(&self, version: &str) -> Option<&'static Set> {
        let ScopeKind::Resource {
            resource,
            definition,
            sub,
        } = &self.kind
        else {
            return None;
        };
        match (&resource.rules, sub) {
            (Rules::Custom(_), Sub::Status) => {
                let version = split_version(version).1;
                let found = definition.and_then(|definition| definition.version(version));
                found
                    .is_some_and(|found| found.has(Sub::Status))
                    .then_some(&ALL_BUT_STATUS)
            }
            _ if version != self.version => None,
            (Rules::Custom(custom), _) => custom.status.then_some(&STATUS),
            (Rules::Builtin(builtin), _) if !builtin.has_status() => None,
            (Rules::Builtin(_), Sub::Status) => Some(&SPEC),
            (Rules::Builtin(_), _) => Some(&STATUS),
        }
    }

    fn convert<'v>(
        &self,
        object: &'v Typed<'_, 'a>,
        version: &str,
    ) -> Result<Typed<'v, 'a>, Unconvertible> {
        let from = object.value["apiVersion"].as_str().unwrap_or_default();
        if version.matches('/').count() > 1 {
            let why = format!("unexpected GroupVersion string: {version}");
            return Err(Unconvertible::Broken(why));
        }
        if from == version {
            return Ok(Typed {
                value: Cow::Borrowed(&object.value),
                at: object.at,
            });
        }
        let ScopeKind::Resource {
            resource,
            definition,
            ..
        } = &self.kind
        else {
            return Err(Unconvertible::Missing);
        };
        // Of the two groups that events have each knows only its own shape.
        if resource.builtin().is_some() {
            return Err(Unconvertible::Missing);
        }
        let (group, name) = split_version(version);
        if *group != *resource.group {
            let (group, of) = split_version(from);
            let (kind, version) = (&resource.kind, go_quote(version));
            return Err(Unconvertible::Broken(format!(
                "{group}/{of}, Kind={kind} is unstructured and is not suitable for converting to \
                 {version}"
            )));
        }
        let Some(found) = definition.and_then(|definition| definition.version(name)) else {
            let why = format!("request to convert CR to an invalid group/version: {version}");
            return Err(Unconvertible::Broken(why));
        };
        let mut value = object.value.clone().into_owned();
        value["apiVersion"] = json!(version);
        let at = shape_of(found);
        check(at, &value, false).map_err(Unconvertible::Broken)?;
        Ok(Typed {
            value: Cow::Owned(value),
            at,
        })
    }
}

/// How deep the lists of managers are in an object.
const ABOVE: usize = 4;

/// Tracks a change by anything but an apply. What the new object says of its managers counts where
/// it is sound; an object that does not fit its schema loses them, and so does one whose fields
/// nest deeper than any document may.
///
/// # Errors
/// Where the object with its managers is too deep. The real server stores it, and cannot read it.
pub(crate) fn track(
    scope: &Scope<'_>,
    live: Option<&Value>,
    new: &mut Value,
    manager: &str,
    now: Timestamp,
) -> ApiResult<()> {
    let said = new
        .get_mut("metadata")
        .and_then(Value::as_object_mut)
        .and_then(|meta| meta.remove("managedFields"))
        .unwrap_or_default();
    let lists = || {
        live.map(Managed::of)
            .and_then(Result::ok)
            .unwrap_or_default()
    };
    let mut managed = if !scope.sub.is_empty() {
        lists()
    } else if is_reset(&said) {
        Managed::default()
    } else {
        match Managed::decode(&said) {
            Ok(managed) if !managed.is_empty() => managed,
            _ => lists(),
        }
    };
    // Whoever has no managers gets none before the first apply, except at birth.
    if managed.is_empty() && live.is_some_and(|live| !meta::text(live, "uid").is_empty()) {
        return Ok(());
    }
    let live = live.map_or_else(|| Cow::Owned(scope.empty()), Cow::Borrowed);
    if update(scope, &live, new, &mut managed, manager, now).is_ok() {
        let levels = managed.levels();
        if levels <= MAX_DEPTH {
            check_levels(levels)?;
            managed.write_to(new);
        }
    }
    Ok(())
}

fn check_levels(levels: usize) -> ApiResult<()> {
    if levels + ABOVE > MAX_DEPTH {
        let why = "invalid character '{' exceeded max depth";
        return Err(ApiError::new(500, "", why));
    }
    Ok(())
}

fn update(
    scope: &Scope<'_>,
    live: &Value,
    new: &Value,
    managed: &mut Managed,
    manager: &str,
    now: Timestamp,
) -> Result<(), Failure> {
    let new = scope.typed(new, true)?;
    let live = scope.typed(live, true)?;
    let mut set = updater::update(scope, &live, &new, managed)?;
    set.subtract(&UNMANAGED);
    if !set.is_empty() {
        let identity = scope.identity(manager, Operation::Update);
        managed.add(identity, &scope.version, set, &seconds(now));
    }
    managed.cap();
    Ok(())
}

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
        let last = crate::json::parse(last.as_bytes()).ok()?.value;
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
fn conflict(conflicts: &[(Identity, Vec<super::element::Element>)]) -> ApiError {
    let shown = |path: &[super::element::Element]| -> String {
        path.iter().map(ToString::to_string).collect()
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_the_first_part_of_its_name() {
        for (agent, manager) in [
            ("kubectl/v1.36 (linux)", "kubectl"),
            ("plain", "plain"),
            ("/x", ""),
            ("a\u{7}b/1", "ab"),
        ] {
            assert_eq!(from_user_agent(agent), manager);
        }
        assert_eq!(from_user_agent(&"ä".repeat(100)).len(), 128);
    }
}
