//! Query parameters and what they mean.

use std::num::IntErrorKind;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};

use super::body::parse;
use super::negotiate::Format;
use crate::api::{
    DeleteOptions, FieldValidation, ListOptions, Propagation, header_of, parse_version,
};
use crate::fields::from_user_agent;
use crate::resource::Resource;
use crate::selectors::Selector;
use crate::status::{About, ApiError, ApiResult, FieldError};
use crate::text::{go_quote, go_unicode, is_print, percent_decode};
use crate::typed::{self, Findings, Struct, Type, field, list, object, pointer};
use crate::watch::WatchOptions;

/// The parameters of a request, in their order.
#[derive(Debug, Default)]
pub(super) struct Query {
    pairs: Vec<(String, String)>,
}

/// Whether a pair is one at all; the real server's parser drops the others.
fn is_well_formed(pair: &str) -> bool {
    let hex = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_hexdigit());
    let escapes = pair.split('%').skip(1);
    !pair.contains(';')
        && escapes.into_iter().all(|rest| {
            let mut bytes = rest.bytes();
            hex(bytes.next()) && hex(bytes.next())
        })
}

/// Refuses options with something wrong in them.
fn check_options(kind: &str, errors: &[FieldError]) -> ApiResult<()> {
    if errors.is_empty() {
        return Ok(());
    }
    let about = About {
        group: "meta.k8s.io",
        resource: kind,
    };
    Err(ApiError::invalid(about, "", errors))
}

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let pairs = text
            .split('&')
            .filter(|pair| !pair.is_empty() && is_well_formed(pair))
            .map(|pair| {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                (percent_decode(key, true), percent_decode(value, true))
            })
            .collect();
        Self { pairs }
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.pairs
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }

    fn text(&self, key: &str) -> &str {
        self.get(key).unwrap_or_default()
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)
            .map(|value| !(value.eq_ignore_ascii_case("false") || value == "0"))
    }

    fn number(&self, key: &str) -> ApiResult<Option<i64>> {
        match self.get(key) {
            None => Ok(None),
            Some("") if key == "limit" => Ok(None),
            Some(text) => text.parse::<i64>().map(Some).map_err(|error| {
                let why = match error.kind() {
                    IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
                    _ => "invalid syntax",
                };
                let quoted = go_quote(text);
                ApiError::bad_request(format!("strconv.ParseInt: parsing {quoted}: {why}"))
            }),
        }
    }

    /// Whether a watch is asked for.
    pub(super) fn watch(&self) -> bool {
        self.flag("watch").unwrap_or(false)
    }

    pub(super) fn all(&self, key: &str) -> Vec<&str> {
        let pairs = self.pairs.iter().filter(|(name, _)| name == key);
        pairs.map(|(_, value)| value.as_str()).collect()
    }

    /// Whether nothing is to be stored, and what is done with unknown fields. `kind` names the
    /// options in errors.
    pub(super) fn write_options(
        &self,
        kind: &str,
        applies: bool,
    ) -> ApiResult<(bool, FieldValidation)> {
        let mut errors = Vec::new();
        let manager = self.text("fieldManager");
        if applies && manager.is_empty() {
            let detail = "is required for apply patch";
            errors.push(FieldError::required("fieldManager", detail));
        }
        if !applies && kind == "PatchOptions" && self.get("force").is_some() {
            let detail = "may not be specified for non-apply patch";
            errors.push(FieldError::forbidden("force", detail));
        }
        if manager.len() > 128 {
            errors.push(FieldError::too_long("fieldManager", 128));
        }
        for (at, c) in manager.char_indices() {
            if !is_print(c) {
                let detail = format!("invalid character {} (at position {at})", go_unicode(c));
                errors.push(FieldError::invalid("fieldManager", manager, detail));
            }
        }
        let dry_run = self.all("dryRun");
        errors.extend(dry_run_error(&dry_run));
        let validation = match self.text("fieldValidation") {
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            "" | "Warn" => FieldValidation::Warn,
            other => {
                let known = ["", "Ignore", "Strict", "Warn"];
                errors.push(FieldError::not_supported("fieldValidation", other, &known));
                FieldValidation::Warn
            }
        };
        check_options(kind, &errors)?;
        Ok((!dry_run.is_empty(), validation))
    }

    /// Who writes, by what it says of itself or else by the name of the client.
    pub(super) fn manager(&self, agent: &str) -> String {
        match self.text("fieldManager") {
            "" => from_user_agent(agent),
            manager => manager.to_owned(),
        }
    }

    /// Whether an apply takes what others manage.
    pub(super) fn force(&self) -> bool {
        self.flag("force").unwrap_or(false)
    }

    fn selector(&self) -> ApiResult<Selector> {
        Selector::parse(self.text("labelSelector"), self.text("fieldSelector"))
    }

    /// What a list is to show.
    pub(super) fn list(&self, resource: &Resource) -> ApiResult<ListOptions> {
        self.number("timeoutSeconds")?;
        let limit = self.number("limit")?.unwrap_or(0);
        let selector = self.selector()?;
        let (version, matching) = (
            self.text("resourceVersion"),
            self.text("resourceVersionMatch"),
        );
        let path = "resourceVersionMatch";
        let mut errors = Vec::new();
        if !matching.is_empty() {
            if version.is_empty() {
                let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                errors.push(FieldError::forbidden(path, detail));
            }
            if !self.text("continue").is_empty() {
                let detail = "resourceVersionMatch is forbidden when continue is provided";
                errors.push(FieldError::forbidden(path, detail));
            }
            if !matches!(matching, "Exact" | "NotOlderThan") {
                let known = ["Exact", "NotOlderThan", ""];
                errors.push(FieldError::not_supported(path, matching, &known));
            }
            if matching == "Exact" && version == "0" {
                let detail =
                    "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                errors.push(FieldError::forbidden(path, detail));
            }
        }
        if self.get("sendInitialEvents").is_some() {
            let detail = "sendInitialEvents is forbidden for list";
            errors.push(FieldError::forbidden("sendInitialEvents", detail));
        }
        check_options("ListOptions", &errors)?;
        selector.check(resource)?;
        Ok(ListOptions {
            selector,
            limit: usize::try_from(limit).unwrap_or(0),
            token: self.text("continue").to_owned(),
            version: version.to_owned(),
            exact: matching == "Exact",
            not_older: matching == "NotOlderThan",
            stale_by: 0,
        })
    }

    /// What a watch is to tell. `random` spreads the ends of watches that name no timeout.
    pub(super) fn watch_options(
        &self,
        resource: &Resource,
        name: Option<&str>,
        random: u64,
    ) -> ApiResult<WatchOptions> {
        let timeout = self.number("timeoutSeconds")?.unwrap_or(0);
        self.number("limit")?;
        let mut selector = self.selector()?;
        let initial_events = self.flag("sendInitialEvents");
        let matching = self.text("resourceVersionMatch");
        let path = "resourceVersionMatch";
        let mut errors = Vec::new();
        if initial_events.is_some() && matching != "NotOlderThan" {
            let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            errors.push(FieldError::forbidden(path, detail));
        }
        if !matching.is_empty() {
            if initial_events.is_none() {
                let detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents \
                              is provided";
                errors.push(FieldError::forbidden(path, detail));
            }
            if matching != "NotOlderThan" {
                errors.push(FieldError::not_supported(path, matching, &["NotOlderThan"]));
            }
            if !self.text("continue").is_empty() {
                let detail = "resourceVersionMatch is forbidden when continue is provided";
                errors.push(FieldError::forbidden(path, detail));
            }
        }
        check_options("ListOptions", &errors)?;
        selector.check(resource)?;
        if let Some(name) = name {
            if selector.has_fields() && selector.equal("metadata.name") != Some(name) {
                return Err(ApiError::bad_request(
                    "fieldSelector metadata.name doesn't match requested name",
                ));
            }
            selector = selector.and_name(name);
        }
        // Counted in nanoseconds, as the real server does, a time can be over before it begins.
        let timeout = match timeout.wrapping_mul(1_000_000_000) {
            0 => Duration::from_secs(1800 + random % 1800),
            nanos => Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)),
        };
        Ok(WatchOptions {
            selector,
            version: parse_version(self.text("resourceVersion"))?,
            bookmarks: self.flag("allowWatchBookmarks").unwrap_or(false),
            initial_events,
            // A hundred years: no clock need go further.
            timeout: timeout.min(Duration::from_hours(876_600)),
        })
    }

    /// The options of a deletion: from the body if there is one, else from here.
    pub(super) fn delete(&self, body: &[u8], format: Format) -> ApiResult<(DeleteOptions, bool)> {
        let options = if body.is_empty() {
            let mut options = json!({});
            let dry_run = self.all("dryRun");
            if !dry_run.is_empty() {
                options["dryRun"] = json!(dry_run);
            }
            if let Some(policy) = self.get("propagationPolicy") {
                options["propagationPolicy"] = json!(policy);
            }
            if let Some(orphan) = self.flag("orphanDependents") {
                options["orphanDependents"] = json!(orphan);
            }
            for key in ["uid", "resourceVersion"] {
                if let Some(wanted) = self.get(key) {
                    options["preconditions"][key] = json!(wanted);
                }
            }
            self.number("gracePeriodSeconds")?;
            options
        } else {
            let value = parse(body, format).map_err(ApiError::bad_request)?.value;
            header_of(value).map_err(ApiError::bad_request)?
        };
        delete_options(&options)
    }
}

static DELETE_OPTIONS: LazyLock<Struct> = LazyLock::new(|| Struct {
    name: "DeleteOptions",
    fields: vec![
        field("apiVersion", Type::String),
        field("kind", Type::String),
        pointer("gracePeriodSeconds", Type::Int64),
        pointer(
            "preconditions",
            object(
                "v1.Preconditions",
                vec![
                    pointer("uid", Type::String),
                    pointer("resourceVersion", Type::String),
                ],
            ),
        ),
        pointer("orphanDependents", Type::Bool),
        pointer("propagationPolicy", Type::String),
        field("dryRun", list(Type::String)),
        pointer(
            "ignoreStoreReadErrorWithClusterBreakingPotential",
            Type::Bool,
        ),
    ],
});

fn dry_run_error(values: &[&str]) -> Option<FieldError> {
    let strange = values.iter().any(|value| *value != "All");
    strange.then(|| FieldError::not_supported("dryRun", json!(values), &["All"]))
}

fn delete_options(value: &Value) -> ApiResult<(DeleteOptions, bool)> {
    let kind = match value["kind"].as_str() {
        None | Some("") => "DeleteOptions",
        Some(kind) => kind,
    };
    if kind == "Status" {
        let message = "converting (v1.Status) to (v1.DeleteOptions): unknown conversion";
        return Err(ApiError::bad_request(message));
    }
    if kind != "DeleteOptions" {
        return Err(ApiError::bad_request(format!(
            "no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:111\"",
            go_quote(kind),
            go_quote(value["apiVersion"].as_str().unwrap_or("v1"))
        )));
    }
    let mut value = value.clone();
    typed::decode(&mut value, &DELETE_OPTIONS, &mut Findings::default())
        .map_err(ApiError::bad_request)?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let policy = &value["propagationPolicy"];
    let orphan_dependents = value["orphanDependents"].as_bool();
    let mut errors = Vec::new();
    if orphan_dependents.is_some() && !policy.is_null() {
        let detail = "orphanDependents and deletionPropagation cannot be both set";
        errors.push(FieldError::invalid(
            "propagationPolicy",
            policy.clone(),
            detail,
        ));
    }
    let propagation = match policy.as_str() {
        None => None,
        Some("Background") => Some(Propagation::Background),
        Some("Foreground") => Some(Propagation::Foreground),
        Some("Orphan") => Some(Propagation::Orphan),
        Some(other) => {
            let known = ["Foreground", "Background", "Orphan", "nil"];
            errors.push(FieldError::not_supported(
                "propagationPolicy",
                other,
                &known,
            ));
            None
        }
    };
    let dry_run: Vec<&str> = value["dryRun"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    errors.extend(dry_run_error(&dry_run));
    check_options("DeleteOptions", &errors)?;
    let dry_run = !dry_run.is_empty();
    let preconditions = &value["preconditions"];
    let options = DeleteOptions {
        uid: text(&preconditions["uid"]),
        version: text(&preconditions["resourceVersion"]),
        propagation,
        orphan_dependents,
    };
    Ok((options, dry_run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs_are_decoded() {
        assert_eq!(percent_decode("a%20b+c%zz", true), "a b c%zz");
        assert_eq!(percent_decode("a+b", false), "a+b");
        let query = Query::parse("a=1&b&a=2&watch=0&limit=%zz&c=1;d=2");
        assert_eq!((query.get("limit"), query.get("c")), (None, None));
        assert_eq!(query.get("a"), Some("1"));
        assert_eq!(query.get("b"), Some(""));
        assert!(!query.watch());
    }
}
