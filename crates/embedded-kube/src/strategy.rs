//! The rules of a resource, built in or custom, behind one set of functions.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::builtin::{self, Builtin};
use crate::crd;
use crate::json;
use crate::meta;
use crate::names;
use crate::resource::{Custom, Resource, Rules, Sub, split_version};
use crate::schema;
use crate::status::FieldError;
use crate::text::{go_quote, go_value};
use crate::typed::{self, Findings};

/// Reads a value as an object of this resource: unknown fields go, types are checked.
pub(crate) fn decode(
    resource: &Resource,
    value: &mut Value,
    found: &mut Findings,
) -> Result<(), String> {
    match &resource.rules {
        Rules::Builtin(builtin) => {
            typed::decode(value, builtin.fields(), found)?;
            if *builtin == Builtin::Definition {
                crd::clean::definition(value, found)?;
            }
            if *builtin == Builtin::NewEvent {
                builtin::event_to_core(value);
            }
            Ok(())
        }
        Rules::Custom(custom) => coerce(resource, value, custom, found),
    }
}

fn coerce(
    resource: &Resource,
    value: &mut Value,
    custom: &Custom,
    found: &mut Findings,
) -> Result<(), String> {
    json::whole_numbers(value);
    if let Some(metadata) = value.get_mut("metadata") {
        let mut inner = Findings::default();
        if metadata.is_null() {
            *metadata = json!({});
        }
        typed::decode(metadata, &meta::OBJECT_META, &mut inner)?;
        // An empty list is lost on the way through the real server.
        if metadata["managedFields"]
            .as_array()
            .is_some_and(Vec::is_empty)
            && let Some(metadata) = metadata.as_object_mut()
        {
            metadata.remove("managedFields");
        }
        found.unknown.extend(
            inner
                .unknown
                .into_iter()
                .map(|path| format!("metadata.{path}")),
        );
    }
    // The schema says nothing about objects of another kind.
    let api_version = value["apiVersion"].as_str().unwrap_or_default();
    if value["kind"] != *resource.kind || split_version(api_version).0 != &*resource.group {
        return Ok(());
    }
    found.unknown.extend(schema::prune(value, &custom.schema));
    schema::drop_nulls(value, Some(&custom.schema));
    found
        .unknown
        .extend(schema::coerce_embedded(value, &custom.schema)?);
    Ok(())
}

/// Fills in defaults.
pub(crate) fn default(resource: &Resource, value: &mut Value) {
    match &resource.rules {
        Rules::Builtin(builtin) => builtin.default(value),
        Rules::Custom(custom) => {
            // The metadata is no business of the schema.
            let metadata = value.as_object_mut().and_then(|map| map.remove("metadata"));
            schema::default(value, &custom.schema);
            if let Some(metadata) = metadata {
                value["metadata"] = metadata;
            }
        }
    }
}

/// Turns an object of one version of a custom resource into another version.
pub(crate) fn convert(resource: &Resource, value: &mut Value) {
    if let Rules::Custom(custom) = &resource.rules {
        value["apiVersion"] = json!(resource.api_version());
        schema::prune(value, &custom.schema);
        schema::drop_nulls(value, Some(&custom.schema));
    }
}

/// What the server itself sets at a creation, before validation.
pub(crate) fn prepare_create(resource: &Resource, value: &mut Value, now: Timestamp) {
    match &resource.rules {
        Rules::Builtin(builtin) => builtin.prepare_create(value, now),
        Rules::Custom(custom) => {
            if custom.status
                && let Some(map) = value.as_object_mut()
            {
                map.remove("status");
            }
            meta::of(value).insert("generation".to_owned(), json!(1));
        }
    }
}

/// The complaints about a new object, besides those that hold for all objects.
pub(crate) fn validate_create(resource: &Resource, value: &Value) -> Vec<FieldError> {
    let custom = match &resource.rules {
        Rules::Builtin(builtin) => return builtin.validate_create(value),
        Rules::Custom(custom) => custom,
    };
    let mut errors = type_errors(resource, value);
    if !errors.is_empty() {
        return errors;
    }
    errors.extend(meta::validate(
        value,
        resource.namespaced,
        names::dns_subdomain,
    ));
    errors.extend(schema::validate(value, None, &custom.schema, ""));
    errors.extend(scale_errors(custom, value, true));
    errors.extend(schema::embedded_errors(value, &custom.schema));
    errors.extend(schema::list_errors(value, &custom.schema));
    rule_errors(custom, value, None, &mut errors, &mut Vec::new());
    errors
}

/// Asks the rules of the schema, if what was found before does not forbid it.
fn rule_errors(
    custom: &Custom,
    value: &Value,
    old: Option<&Value>,
    errors: &mut Vec<FieldError>,
    warnings: &mut Vec<String>,
) {
    if !custom.schema.ruled {
        return;
    }
    if errors.iter().any(FieldError::blocks_rules) {
        let detail = "some validation rules were not checked because the object was invalid; \
                      correct the existing errors to complete validation";
        errors.push(FieldError::invalid("<nil>", Value::Null, detail));
        return;
    }
    let verdict = schema::rules::judge(value, old, &custom.schema);
    errors.extend(verdict.errors);
    warnings.extend(verdict.warnings);
}

fn type_errors(resource: &Resource, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let kind = value["kind"].as_str().unwrap_or_default();
    if kind != &*resource.kind {
        errors.push(FieldError::invalid(
            "kind",
            kind,
            format!("must be {}", resource.kind),
        ));
    }
    let (version, wanted) = (
        value["apiVersion"].as_str().unwrap_or_default(),
        resource.api_version(),
    );
    if version != wanted {
        errors.push(FieldError::invalid(
            "apiVersion",
            version,
            format!("must be {wanted}"),
        ));
    }
    errors
}

fn scale_errors(custom: &Custom, value: &Value, with_spec: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let Some(scale) = &custom.scale else {
        return errors;
    };
    let mut replicas = |path: &str| {
        let (number, detail) = match access(value, path, "int64", Value::is_i64) {
            Ok(None) => return,
            Ok(Some(found)) => match found.as_i64().unwrap_or(0) {
                n if n < 0 => (n, "should be a non-negative integer".to_owned()),
                n if n > i64::from(i32::MAX) => {
                    (n, format!("should be less than or equal to {}", i32::MAX))
                }
                _ => return,
            },
            Err(message) => (0, message),
        };
        errors.push(FieldError::invalid(path, number, detail));
    };
    if with_spec {
        replicas(&scale.spec_replicas);
    }
    replicas(&scale.status_replicas);
    if let Some(path) = &scale.selector
        && let Err(message) = access(value, path, "string", Value::is_string)
    {
        errors.push(FieldError::invalid(&**path, "", message));
    }
    errors
}

/// A value inside an object, if everything on the way is a map and it has this type itself.
fn access<'a>(
    object: &'a Value,
    path: &str,
    kind: &str,
    fits: fn(&Value) -> bool,
) -> Result<Option<&'a Value>, String> {
    let wrong = |value: &Value, expected: &str| {
        let (shown, found) = match value {
            Value::String(text) => (text.clone(), "string"),
            Value::Bool(flag) => (flag.to_string(), "bool"),
            Value::Number(number) if number.is_f64() => (go_value(value), "float64"),
            Value::Number(_) => (go_value(value), "int64"),
            Value::Array(_) => (value.to_string(), "[]interface {}"),
            Value::Object(_) => (value.to_string(), "map[string]interface {}"),
            Value::Null => ("<nil>".to_owned(), "<nil>"),
        };
        let path = format!(".{}", path.trim_start_matches('.'));
        Err(format!(
            "{path} accessor error: {shown} is of the type {found}, expected {expected}"
        ))
    };
    let mut place = object;
    for key in path.trim_start_matches('.').split('.') {
        if place.is_null() {
            return Ok(None);
        }
        if !place.is_object() {
            return wrong(place, "map[string]interface{}");
        }
        match place.get(key) {
            None => return Ok(None),
            Some(below) => place = below,
        }
    }
    if fits(place) {
        Ok(Some(place))
    } else {
        wrong(place, kind)
    }
}

/// What an update may not change is taken from the old object; generations rise.
pub(crate) fn prepare_update(
    resource: &Resource,
    sub: Sub,
    new: &mut Value,
    old: &Value,
    now: Timestamp,
) {
    let custom = match &resource.rules {
        Rules::Builtin(builtin) => return builtin.prepare_update(sub, new, old, now),
        Rules::Custom(custom) => custom,
    };
    if sub == Sub::Status {
        let status = new.as_object_mut().and_then(|map| map.remove("status"));
        let managers = meta::of(new).remove("managedFields");
        *new = old.clone();
        match managers {
            Some(managers) => meta::of(new).insert("managedFields".to_owned(), managers),
            None => meta::of(new).remove("managedFields"),
        };
        if let Some(map) = new.as_object_mut() {
            match status {
                Some(status) => map.insert("status".to_owned(), status),
                None => map.remove("status"),
            };
        }
        return;
    }
    if custom.status
        && let Some(map) = new.as_object_mut()
    {
        match old.get("status") {
            Some(status) => map.insert("status".to_owned(), status.clone()),
            None => map.remove("status"),
        };
    }
    if differs_outside_metadata(new, old) {
        let generation = old["metadata"]["generation"].as_i64().unwrap_or(0);
        meta::of(new).insert("generation".to_owned(), json!(generation + 1));
    }
}

fn differs_outside_metadata(new: &Value, old: &Value) -> bool {
    let fields = |value: &Value| -> Vec<(String, Value)> {
        let map = value.as_object().into_iter().flatten();
        map.filter(|(key, _)| *key != "metadata")
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    };
    fields(new) != fields(old)
}

/// The complaints about a change, besides those that hold for all objects; what was wrong before is
/// a warning.
pub(crate) fn validate_update(
    resource: &Resource,
    sub: Sub,
    new: &Value,
    old: &Value,
    warnings: &mut Vec<String>,
) -> Vec<FieldError> {
    let custom = match &resource.rules {
        Rules::Builtin(builtin) => return builtin.validate_update(sub, new, old),
        Rules::Custom(custom) => custom,
    };
    let mut errors = type_errors(resource, new);
    if !errors.is_empty() {
        return errors;
    }
    errors.extend(meta::validate_update(new, old));
    if sub == Sub::Status {
        if let (Some(status), Some(schema)) =
            (new.get("status"), custom.schema.properties.get("status"))
        {
            errors.extend(schema::validate(
                status,
                old.get("status"),
                schema,
                "status",
            ));
        }
        errors.extend(scale_errors(custom, new, false));
    } else {
        errors.extend(schema::validate(new, Some(old), &custom.schema, ""));
        errors.extend(scale_errors(custom, new, true));
        errors.extend(schema::embedded_errors(new, &custom.schema));
    }
    if schema::list_errors(old, &custom.schema).is_empty() {
        errors.extend(schema::list_errors(new, &custom.schema));
    }
    rule_errors(custom, new, Some(old), &mut errors, warnings);
    errors
}

/// What the writer of an object is told besides.
pub(crate) fn warnings(resource: &Resource, new: &Value, old: Option<&Value>) -> Vec<String> {
    match &resource.rules {
        Rules::Custom(_) => meta::finalizer_warnings(new, old),
        Rules::Builtin(Builtin::Definition) => {
            let before = old.map(crd::clean::unknown_formats).unwrap_or_default();
            let formats = crd::clean::unknown_formats(new);
            let added = formats
                .into_iter()
                .filter(|format| !before.contains(format));
            added
                .map(|format| format!("unrecognized format {}", go_quote(&format)))
                .collect()
        }
        Rules::Builtin(builtin) => builtin.warnings(new),
    }
}

/// The last touch before an object is stored.
pub(crate) fn canonicalize(resource: &Resource, value: &mut Value) {
    if let Rules::Builtin(builtin) = &resource.rules {
        builtin.canonicalize(value);
    }
}

/// Whether an update may come without a `resourceVersion`.
pub(crate) fn unconditional_update(resource: &Resource) -> bool {
    resource
        .builtin()
        .is_some_and(Builtin::unconditional_update)
}

/// Whether an update may create.
pub(crate) fn create_on_update(resource: &Resource) -> bool {
    resource.builtin().is_some_and(Builtin::create_on_update)
}
