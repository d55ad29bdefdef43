//! Answers: a status code, a body, and what the client is warned of.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WARNING};
use http::{Response, StatusCode};

use super::negotiate::Format;
use super::{ResponseBody, full};
use crate::status::ApiError;

pub(super) type Answer = Response<ResponseBody>;

/// A refusal.
pub(super) fn refuse(error: &ApiError) -> Answer {
    let mut response = json_answer(error.code, error.body().to_string());
    if let Some(seconds) = error.retry_after {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// A document of our own.
pub(super) fn json_answer(code: u16, mut body: String) -> Answer {
    body.push('\n');
    answer(code, body.into(), Format::Json, &[])
}

/// An object or a list.
pub(super) fn answer(code: u16, body: Bytes, output: Format, warnings: &[String]) -> Answer {
    let mut response = Response::new(full(body));
    *response.status_mut() =
        StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // JSON is YAML as well.
    let kind = match output {
        Format::Json | Format::Protobuf => "application/json",
        Format::Yaml => "application/yaml",
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    warn(&mut response, warnings);
    response
}

/// Warnings of more characters than this, all together, are cut to the length below.
const WARNINGS_LIMIT: usize = 4096;
const WARNING_LIMIT: usize = 256;

/// Adds what the client is warned of, each text once. Where it is too much, texts are cut, and those
/// that come after the limit is reached are not told.
pub(super) fn warn(response: &mut Answer, warnings: &[String]) {
    let mut told = BTreeSet::new();
    let texts: Vec<&String> = warnings
        .iter()
        .filter(|text| told.insert(text.as_str()))
        .collect();
    let length: usize = texts.iter().map(|text| text.chars().count()).sum();
    let cut = length > WARNINGS_LIMIT;
    let mut written = 0;
    for text in texts {
        if cut && written >= WARNINGS_LIMIT {
            return;
        }
        let limit = if cut { WARNING_LIMIT } else { usize::MAX };
        let text: String = text.chars().take(limit).collect();
        // The control characters of a text cannot be in a header: it is not told.
        if text.chars().any(char::is_control) {
            continue;
        }
        written += text.chars().count();
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_bytes(format!("299 - \"{quoted}\"").as_bytes()) {
            response.headers_mut().append(WARNING, value);
        }
    }
}

pub(super) fn plain(code: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(full(text));
    *response.status_mut() = code;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// Where nothing is.
pub(super) fn not_found() -> Answer {
    plain(StatusCode::NOT_FOUND, "404 page not found\n")
}
