//! What is served besides resources: the version, health, and OpenAPI documents.

use http::header::{CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, VARY};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::answer::{Answer, answer, json_answer, not_found, plain};
use super::full;
use super::negotiate::{self, Format};
use super::query::Query;
use crate::crd;
use crate::openapi;
use crate::server::Cluster;
use crate::state::State;

/// Answers at a path that leads to no resource.
pub(super) fn at(cluster: &Cluster, headers: &HeaderMap, query: &Query, path: &str) -> Answer {
    match path {
        "/" => json_answer(200, paths(cluster).to_string()),
        "/version" | "/version/" => json_answer(200, version().to_string()),
        "/openapi/v2" => old_document(cluster, headers),
        "/openapi/v3" => {
            let body = cluster.step(0, |state| openapi::index(state).to_string());
            // The real server does not say that it is JSON.
            tagged(headers, "text/plain; charset=utf-8", body.into_bytes())
        }
        _ => {
            if let Some(group) = path.strip_prefix("/openapi/v3/") {
                return document(cluster, headers, group);
            }
            let disk = !cluster.is_broken();
            health(disk, query, path).unwrap_or_else(not_found)
        }
    }
}

/// Whether what is told there does not depend on what is stored, so that it need not be on disk.
pub(super) fn is_about_the_process(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next();
    first.is_some_and(|name| name == "version" || CHECKS.iter().any(|(check, _)| *check == name))
}

fn version() -> Value {
    json!({
        "major": "1",
        "minor": "36",
        "emulationMajor": "1",
        "emulationMinor": "36",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "35",
        "gitVersion": "v1.36.3",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "",
    })
}

/// Where something is to be found.
fn paths(cluster: &Cluster) -> Value {
    let mut paths = vec!["/api".to_owned(), "/apis".to_owned()];
    let index = cluster.step(0, |state: &mut State| openapi::index(state));
    for place in index["paths"].as_object().into_iter().flatten() {
        let mut path = String::new();
        for part in place.0.split('/') {
            path = format!("{path}/{part}");
            paths.push(path.clone());
        }
    }
    for (name, checks) in CHECKS {
        paths.push(format!("/{name}"));
        paths.extend(checks.iter().map(|check| format!("/{name}/{check}")));
    }
    paths.extend(["/openapi/v2", "/openapi/v3", "/version"].map(str::to_owned));
    paths.sort();
    paths.dedup();
    json!({"paths": paths})
}

const CHECKS: [(&str, &[&str]); 3] = [
    ("healthz", &["ping", "log", "etcd"]),
    ("livez", &["ping", "log", "etcd"]),
    (
        "readyz",
        &[
            "ping",
            "log",
            "etcd",
            "etcd-readiness",
            "informer-sync",
            "shutdown",
        ],
    ),
];

/// The checks that fail when the disk does.
const OF_DISK: [&str; 2] = ["etcd", "etcd-readiness"];

/// Whoever can ask is answered; besides, nothing can be ill alone in this process but its disk.
fn health(disk: bool, query: &Query, path: &str) -> Option<Answer> {
    let (name, check) = path.trim_start_matches('/').split_once('/').map_or_else(
        || (path.trim_start_matches('/'), None),
        |(name, check)| (name, Some(check)),
    );
    let (_, checks) = CHECKS.iter().find(|(known, _)| *known == name)?;
    let passes = |check: &str| disk || !OF_DISK.contains(&check);
    let (passed, text) = match check {
        Some(check) if !checks.contains(&check) => return None,
        Some(check) if passes(check) => (true, "ok".to_owned()),
        Some(_) => (
            false,
            "internal server error: the disk takes nothing any more\n".to_owned(),
        ),
        None => all_checks(name, checks, passes, query),
    };
    let code = if passed {
        StatusCode::OK
    } else {
        StatusCode::INTERNAL_SERVER_ERROR
    };
    let mut response = plain(code, text);
    response.headers_mut().insert(
        HeaderName::from_static("x-content-type-options"),
        HeaderValue::from_static("nosniff"),
    );
    Some(response)
}

/// Whether all checks of a name pass, and what is said of them.
fn all_checks(
    name: &str,
    checks: &[&str],
    passes: impl Fn(&str) -> bool,
    query: &Query,
) -> (bool, String) {
    use std::fmt::Write as _;
    let (mut text, mut passed) = (String::new(), true);
    let mut excluded = query.all("exclude");
    for check in checks {
        let left_out = excluded.contains(check);
        excluded.retain(|name| name != check);
        // Writing to a string cannot fail.
        let _ = if left_out {
            writeln!(text, "[+]{check} excluded: ok")
        } else if passes(check) {
            writeln!(text, "[+]{check} ok")
        } else {
            passed = false;
            writeln!(text, "[-]{check} failed: reason withheld")
        };
    }
    // Who is well says more only if asked.
    if passed && query.get("verbose").is_none() {
        return (true, "ok".to_owned());
    }
    excluded.sort_unstable();
    excluded.dedup();
    if !excluded.is_empty() {
        let names: Vec<String> = excluded
            .iter()
            .map(|name| crate::text::go_quote(name))
            .collect();
        let _ = writeln!(
            text,
            "warn: some health checks cannot be excluded: no matches for {}",
            names.join(",")
        );
    }
    let end = if passed { "passed" } else { "failed" };
    let _ = writeln!(text, "{name} check {end}");
    (passed, text)
}

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/// The same under the name that clients have always used.
const OLD_PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

fn old_document(cluster: &Cluster, headers: &HeaderMap) -> Answer {
    let Some(media) = negotiate::takes(headers, &[JSON, OLD_PROTOBUF, PROTOBUF]) else {
        return bare(StatusCode::NOT_ACCEPTABLE);
    };
    let body = cluster.step(0, |state| {
        let document = openapi::whole(state);
        if media == JSON {
            document.to_string().into_bytes()
        } else {
            openapi::protobuf::write(&document)
        }
    });
    let media = if media == JSON { JSON } else { PROTOBUF };
    tagged(headers, media, body)
}

fn document(cluster: &Cluster, headers: &HeaderMap, group: &str) -> Answer {
    let body = cluster.step(0, |state| {
        openapi::of_group(state, group).map(|document| document.to_string())
    });
    match (body, negotiate::takes(headers, &[JSON])) {
        (None, _) => bare(StatusCode::NOT_FOUND),
        (Some(_), None) => bare(StatusCode::NOT_ACCEPTABLE),
        (Some(body), Some(media)) => tagged(headers, media, body.into_bytes()),
    }
}

/// A document that clients keep: they are told if it is still the same.
fn tagged(headers: &HeaderMap, media: &'static str, body: Vec<u8>) -> Answer {
    let tag = format!("\"{}\"", crd::hash(&body));
    let same = headers
        .get(IF_NONE_MATCH)
        .is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let mut response = if same {
        bare(StatusCode::NOT_MODIFIED)
    } else {
        answer(200, body.into(), Format::Json, &[])
    };
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    if !same {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

fn bare(code: StatusCode) -> Answer {
    let mut response = Answer::new(full(""));
    *response.status_mut() = code;
    response
}
