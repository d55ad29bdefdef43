//! Listing objects: selection, paging, and which state is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use serde_json::json;

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
    text.parse().map_err(|_| {
        let text = go_quote(text);
        let message = format!(
            "resourceVersion: Invalid value: {text}: strconv.ParseUint: parsing {text}: invalid \
             syntax"
        );
        ApiError::new(500, "", message)
    })
}

/// The objects of one page.
pub(crate) fn collect(
    state: &State,
    resource: &Arc<Resource>,
    namespace: &str,
    options: &ListOptions,
) -> ApiResult<Page> {
    let current = state.storage.revision();
    let prefix = match (resource.namespaced, namespace) {
        (true, namespace) if !namespace.is_empty() => format!("{namespace}/"),
        _ => String::new(),
    };
    let (mut revision, mut start) = (current, String::new());
    if options.token.is_empty() {
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
        (revision, start) = read_token(&options.token, &options.version)?;
        if revision == 0 {
            revision = current;
        }
    }
    if let Some(collection) = state.storage.get(&resource.store)
        && options.stale_by > 0
    {
        revision = collection.revision_before(options.stale_by, current);
    }
    let limit = if options.version == "0" && options.token.is_empty() {
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
            Err(_) if options.token.is_empty() => {
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
                let token = write_token(0, &start);
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
            token = Some(write_token(revision, &format!("{last}\0")));
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

fn write_token(revision: u64, start: &str) -> String {
    let token = if revision == 0 {
        json!({"v": "meta.k8s.io/v1", "rv": -1, "start": start})
    } else {
        json!({"v": "meta.k8s.io/v1", "rv": revision, "start": start})
    };
    URL_SAFE_NO_PAD.encode(token.to_string())
}

fn read_token(token: &str, version: &str) -> ApiResult<(u64, String)> {
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
    let value = crate::json::parse(&bytes).map_err(|why| wrong(&why))?.value;
    if value["v"] != "meta.k8s.io/v1" {
        return Err(wrong("server does not recognize this encoded version"));
    }
    let start = value["start"].as_str().unwrap_or_default();
    if start.is_empty() {
        return Err(wrong("encoded start key empty (version meta.k8s.io/v1)"));
    }
    let revision = value["rv"].as_i64().unwrap_or(0);
    if revision == 0 {
        return Err(wrong(
            "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        ));
    }
    Ok((u64::try_from(revision).unwrap_or(0), start.to_owned()))
}
