//! Content types: JSON and YAML in, JSON out.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};

use crate::api::PatchKind;
use crate::resource::Resource;
use crate::status::{ApiError, ApiResult};

/// A format of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Yaml,
}

const BUILT_IN: [&str; 3] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];

fn header<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> &'a str {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

/// The format of the answer.
pub(super) fn output(headers: &HeaderMap, resource: Option<&Resource>) -> ApiResult<Format> {
    let accept = header(headers, &ACCEPT);
    if accept.trim().is_empty() {
        return Ok(Format::Json);
    }
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default().to_ascii_lowercase();
        // Tables and metadata alone are not served yet: the next range is tried.
        if parts.any(|part| part.starts_with("as=")) {
            continue;
        }
        match media.as_str() {
            "application/*" if resource.is_some_and(|r| r.custom().is_none()) => {}
            "application/json" | "application/*" | "*/*" => return Ok(Format::Json),
            "application/yaml" => return Ok(Format::Yaml),
            _ => {}
        }
    }
    let framework = !accept.contains("application/vnd.kubernetes.protobuf")
        && !accept.contains("as=")
        && resource.is_some_and(|resource| resource.custom().is_none());
    Err(if framework {
        ApiError::none_acceptable(&BUILT_IN)
    } else {
        ApiError::not_acceptable(&BUILT_IN)
    })
}

/// The format of a request body.
pub(super) fn input(headers: &HeaderMap) -> ApiResult<Format> {
    let media = media_type(headers);
    match media.as_str() {
        "" | "application/json" => Ok(Format::Json),
        "application/yaml" => Ok(Format::Yaml),
        _ => Err(ApiError::unsupported_media_type(&BUILT_IN)),
    }
}

fn media_type(headers: &HeaderMap) -> String {
    let value = header(headers, &CONTENT_TYPE);
    value
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// The kind of a patch.
pub(super) fn patch(headers: &HeaderMap, resource: &Resource) -> ApiResult<PatchKind> {
    const JSON: &str = "application/json-patch+json";
    const MERGE: &str = "application/merge-patch+json";
    const STRATEGIC: &str = "application/strategic-merge-patch+json";
    const APPLY: &str = "application/apply-patch+yaml";
    let built_in = resource.custom().is_none();
    match media_type(headers).as_str() {
        JSON => Ok(PatchKind::Json),
        MERGE => Ok(PatchKind::Merge),
        STRATEGIC if built_in => Ok(PatchKind::Strategic),
        APPLY if built_in => Err(ApiError::unsupported_media_type(&[JSON, MERGE, STRATEGIC])),
        _ if built_in => Err(ApiError::unsupported_patch()),
        _ => Err(ApiError::unsupported_media_type(&[JSON, MERGE, APPLY])),
    }
}
