//! Listing objects: selection, paging, and which state is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use serde_json::json;

use crate::names;
use crate::resource::{Resource, Rules};
use crate::selectors::Selector;
use crate::state::State;
use crate::status::{ApiError, ApiResult};
use crate::storage::Stored;
use crate::text::go_quote;

/// What is to be listed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) selector: Selector,
    pub(crate) limit: usize,
    pub(crate) token: String,
    pub(crate) version: String,
    /// Whether exactly `version` is wanted, not at least that.
    pub(crate) exact: bool,
    /// Whether at least `version` was asked for in so many words.
    pub(crate) not_older: bool,
    /// Shows the state before this many changes (a fault).
    pub(crate) stale_by: usize,
}

/// One page of a list.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) items: Vec<Arc<Stored>>,
    pub(crate) revision: u64,
    token: Option<String>,
    remaining: Option<usize>,
}

/// Lists objects, as the bytes of the answer.
pub(crate) fn list(
    state: &State,
    resource: &Arc<Resource>,
    namespace: &str,
    options: &ListOptions,
) -> ApiResult<Bytes> {
    Ok(collect(state, resource, namespace, options)?.write(state, resource))
}

/// A `resourceVersion` of a request; zero if it is empty.
pub(crate) fn parse_version(text: &str) -> ApiResult<u64> {
    if text.is_empty() {
        return Ok(0);
    }
    parse_uint(text).map_err(|why| {
        let text = go_quote(text);
        ApiError::new(
            500,
            "",
            format!("resourceVersion: Invalid value: {text}: {why}"),
        )
    })
}

/// A number as Go reads one without a sign; else what it says of it.
pub(crate) fn parse_uint(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let why = if digits {
        "value out of range"
    } else {
        "invalid syntax"
    };
    let number = text.parse().ok().filter(|_| digits);
    number.ok_or_else(|| format!("strconv.ParseUint: parsing {}: {why}", go_quote(text)))
}

/// The objects of one page.
pub(crate) fn collect(
    state: &State,
    resource: &Arc<Resource>,
    namespace: &str,
    options: &ListOptions,
) -> ApiResult<Page> {
    let current = state.storage.revision();
    let fresh = options.token.is_empty();
    let selected = options.selector.equal("metadata.namespace");
    let namespace = match selected.filter(|name| names::dns_label(name, false).is_empty()) {
        Some(selected) if fresh && namespace.is_empty() => selected,
        _ => namespace,
    };
    let prefix = match (resource.namespaced, namespace) {
        (true, namespace) if !namespace.is_empty() => format!("{namespace}/"),
        _ => String::new(),
    };
    // One name in one place is looked up, and that has no pages.
    let name = options.selector.equal("metadata.name").unwrap_or_default();
    let single = fresh
        && !name.is_empty()
        && names::path_segment(name, false).is_empty()
        && (!resource.namespaced || !namespace.is_empty());
    let (mut revision, mut start) = (current, String::new());
    if fresh {
        let wanted = parse_version(&options.version).map_err(|error| {
            ApiError::bad_request(format!("invalid resource version: {}", error.message()))
        })?;
        if wanted > current {
            return Err(ApiError::version_too_large(wanted, current));
        }
        let pinned = options.limit > 0 && wanted > 0 && !options.not_older;
        if options.exact || pinned {
            revision = wanted;
        }
    } else {
        (revision, start) = read_token(&options.token, &options.version, &prefix)?;
        if revision > current {
            return Err(ApiError::version_too_large(revision, current));
        }
        if revision == 0 {
            revision = current;
        }
    }
    if let Some(collection) = state.storage.get(&resource.store)
        && options.stale_by > 0
    {
        revision = collection.revision_before(options.stale_by, current);
    }
    let limit = if single || (options.version == "0" && fresh) {
        0
    } else {
        options.limit
    };
    let empty = BTreeMap::new();
    let past;
    let objects = match state.storage.get(&resource.store) {
        None => &empty,
        Some(collection) if revision >= current => &collection.objects,
        Some(collection) => match collection.at(revision, &prefix) {
            Ok(objects) => {
                past = objects;
                &past
            }
            Err(_) if fresh => {
                let message = "The resourceVersion for the provided list is too old.";
                return Err(ApiError::expired(message));
            }
            Err(_) => {
                let message = "The provided continue parameter is too old to display a consistent \
                               list result. You can start a new list without the continue \
                               parameter, or use the continue token in this response to retrieve \
                               the remainder of the results. Continuing with the provided token \
                               results in an inconsistent list - objects that were created, \
                               modified, or deleted between the time the first chunk was returned \
                               and now may show up in the list.";
                let token = write_token(0, &start, &prefix);
                return Err(ApiError::expired(message).with_continue(&token));
            }
        },
    };
    Ok(page(
        state,
        resource,
        objects,
        &prefix,
        &start,
        limit,
        &options.selector,
        revision,
    ))
}

#[expect(
    clippy::too_many_arguments,
    reason = "one step of `collect`, split off for its length"
)]
fn page(
    state: &State,
    resource: &Arc<Resource>,
    objects: &BTreeMap<Box<str>, Arc<Stored>>,
    prefix: &str,
    start: &str,
    limit: usize,
    selector: &Selector,
    revision: u64,
) -> Page {
    let from = if start > prefix { start } else { prefix };
    let view = |stored: &Stored| state.view(resource, stored);
    let mut items = Vec::new();
    let (mut token, mut remaining) = (None, None);
    let range = objects
        .range::<str, _>((std::ops::Bound::Included(from), std::ops::Bound::Unbounded))
        .take_while(|(key, _)| key.starts_with(prefix));
    let mut last: &str = "";
    for (key, object) in range.clone() {
        if limit > 0 && items.len() == limit {
            // There is more, whether or not it is selected.
            token = Some(write_token(revision, &format!("{last}\0"), prefix));
            if selector.is_everything() {
                let after = (std::ops::Bound::Excluded(last), std::ops::Bound::Unbounded);
                let rest = objects.range::<str, _>(after);
                remaining = Some(rest.take_while(|(key, _)| key.starts_with(prefix)).count());
            }
            break;
        }
        if selector.matches(resource, object, view) {
            items.push(Arc::clone(object));
        }
        last = key;
    }
    Page {
        items,
        revision,
        token,
        remaining,
    }
}

impl Page {
    /// The list as it is answered.
    pub(crate) fn write(&self, state: &State, resource: &Arc<Resource>) -> Bytes {
        let mut meta = json!({"resourceVersion": self.revision.to_string()});
        match &self.token {
            Some(token) => meta["continue"] = json!(token),
            // Lists of custom resources always say it.
            None if resource.custom().is_some() => meta["continue"] = json!(""),
            None => {}
        }
        if let Some(remaining) = self.remaining {
            meta["remainingItemCount"] = json!(remaining);
        }
        let head = json!({
            "kind": &*resource.list_kind,
            "apiVersion": resource.api_version(),
            "metadata": meta,
        });
        let mut out = head.to_string().into_bytes();
        out.pop();
        out.reserve(
            self.items
                .iter()
                .map(|item| item.body.len() + 1)
                .sum::<usize>()
                + 16,
        );
        out.extend_from_slice(b",\"items\":[");
        let typed = matches!(resource.rules, Rules::Builtin(_));
        for (index, item) in self.items.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            let converted = state.presented(resource, item);
            let body = converted.as_ref().unwrap_or(&item.body);
            if typed {
                body.append_untyped(&mut out);
            } else {
                body.append_to(&mut out);
            }
        }
        out.extend_from_slice(b"]}\n");
        out.into()
    }
}

/// A token says where to go on below the prefix of its list, and so means something in others too.
fn write_token(revision: u64, start: &str, prefix: &str) -> String {
    let start = start.strip_prefix(prefix).unwrap_or(start);
    let token = if revision == 0 {
        json!({"v": "meta.k8s.io/v1", "rv": -1, "start": start})
    } else {
        json!({"v": "meta.k8s.io/v1", "rv": revision, "start": start})
    };
    URL_SAFE_NO_PAD.encode(token.to_string())
}

fn read_token(token: &str, version: &str, prefix: &str) -> ApiResult<(u64, String)> {
    let wrong = |why: &str| {
        ApiError::bad_request(format!(
            "invalid continue token: continue key is not valid: {why}"
        ))
    };
    if !version.is_empty() && version != "0" {
        return Err(ApiError::bad_request(
            "specifying resource version is not allowed when using continue",
        ));
    }
    let bytes = URL_SAFE_NO_PAD
        .decode(token)
        .map_err(|_| wrong("illegal base64 data at input byte 0"))?;
    let value = crate::json::parse_inner(&bytes);
    let value = value.map_err(|why| wrong(&why))?.value;
    let fits = |key: &str, fits: fn(&serde_json::Value) -> bool| {
        let found = &value[key];
        if found.is_null() || fits(found) {
            return Ok(());
        }
        let found = super::type_name(found);
        Err(wrong(&format!(
            "json: cannot unmarshal {found} into Go struct field continueToken.{key} of type ..."
        )))
    };
    if !value.is_object() && !value.is_null() {
        let found = super::type_name(&value);
        return Err(wrong(&format!(
            "json: cannot unmarshal {found} into Go value of type storage.continueToken"
        )));
    }
    fits("v", serde_json::Value::is_string)?;
    fits("rv", serde_json::Value::is_i64)?;
    fits("start", serde_json::Value::is_string)?;
    let version = value["v"].as_str().unwrap_or_default();
    if version != "meta.k8s.io/v1" {
        let why = format!("server does not recognize this encoded version {version}");
        return Err(wrong(&why));
    }
    let revision = value["rv"].as_i64().unwrap_or(0);
    if revision == 0 {
        return Err(wrong(
            "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        ));
    }
    let start = value["start"].as_str().unwrap_or_default();
    if start.is_empty() {
        return Err(wrong("encoded start key empty (version meta.k8s.io/v1)"));
    }
    // A way that leads elsewhere is none.
    let below = start.strip_prefix('/').unwrap_or(start);
    if below.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(wrong(start));
    }
    Ok((
        u64::try_from(revision).unwrap_or(0),
        format!("{prefix}{below}"),
    ))
}
