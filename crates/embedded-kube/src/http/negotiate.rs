//! Content types and forms: JSON and YAML in, JSON out, whole or as a table or metadata alone.

use std::collections::BTreeSet;

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};

use crate::api::PatchKind;
use crate::resource::Resource;
use crate::status::{ApiError, ApiResult};
use crate::table::Form;

/// A format of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Yaml,
    /// Only of bodies that come in.
    Protobuf,
}

const BUILT_IN: [&str; 3] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];

const STREAMS: [&str; 2] = [
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
];

fn header<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> &'a str {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

/// What is to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Object,
    /// Several objects, which could be watched as well.
    List,
    Stream,
}

/// One of the things that a client would take.
struct Clause<'a> {
    kind: &'a str,
    subkind: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f64,
}

/// What a client would take, the best first.
fn clauses(accept: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = accept.split(',').filter_map(clause).collect();
    clauses.sort_by(|a, b| {
        let vague = |clause: &Clause<'_>| (clause.kind == "*", clause.subkind == "*");
        b.quality
            .total_cmp(&a.quality)
            .then(vague(a).cmp(&vague(b)))
    });
    clauses
}

fn clause(text: &str) -> Option<Clause<'_>> {
    let (media, rest) = text.split_once(';').unwrap_or((text, ""));
    let (kind, subkind) = match media.trim().split_once('/') {
        Some((kind, subkind)) if !subkind.contains('/') => (kind.trim(), subkind.trim()),
        None if media.trim() == "*" => ("*", "*"),
        _ => return None,
    };
    let mut clause = Clause {
        kind,
        subkind,
        parameters: Vec::new(),
        quality: 1.0,
    };
    for (key, value) in rest.split(';').filter_map(|part| part.split_once('=')) {
        match key.trim() {
            "q" => clause.quality = value.trim().parse().unwrap_or(0.0),
            key => clause.parameters.push((key, value.trim())),
        }
    }
    Some(clause)
}

impl Clause<'_> {
    /// The parameter of this name; the last one counts.
    fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().rev().find(|(key, _)| *key == name);
        found.map(|(_, value)| *value)
    }

    /// The kind that an object is to be converted to: its group, version and name.
    fn conversion(&self) -> Option<(&str, &str, &str)> {
        let names = ["g", "v", "as"].map(|name| self.parameter(name));
        let [group, version, kind] = names.map(Option::unwrap_or_default);
        names
            .iter()
            .any(Option::is_some)
            .then_some((group, version, kind))
    }

    /// What it asks for, if there is such a thing.
    fn output(&self) -> Option<Output> {
        let form = match self.conversion() {
            None => Form::Whole,
            Some((group, version, kind)) => Form::named(group, version, kind)?,
        };
        let fits = |format: &Format| {
            self.parameters.iter().all(|(key, value)| match *key {
                "stream" => value.is_empty() || (*value == "watch" && *format == Format::Json),
                "sv" => matches!(*value, "" | "v1"),
                _ => true,
            })
        };
        let named: &[Format] = match (self.kind, self.subkind) {
            ("application", "json") => &[Format::Json],
            ("application", "yaml") => &[Format::Yaml],
            ("application" | "*", "*") => &[Format::Json, Format::Yaml],
            _ => &[],
        };
        let format = named.iter().copied().find(fits)?;
        Some(Output { format, form })
    }
}

/// What an answer looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) format: Format,
    pub(super) form: Form,
}

/// The format and form of the answer.
pub(super) fn output(headers: &HeaderMap, resource: &Resource, shown: Shown) -> ApiResult<Output> {
    let accept = header(headers, &ACCEPT);
    if accept.is_empty() {
        return Ok(Output {
            format: Format::Json,
            form: Form::Whole,
        });
    }
    // Below built-in resources is a layer that knows what they can be shown as, to the letter.
    if resource.custom().is_none() && !accept.split(',').any(is_built_in) {
        let streams = if shown == Shown::Object {
            &[][..]
        } else {
            &STREAMS
        };
        return Err(ApiError::none_acceptable(&[&BUILT_IN, streams].concat()));
    }
    // Not everything that can be shown can be shown bit by bit.
    let watch = shown == Shown::Stream;
    let best = clauses(accept).iter().find_map(Clause::output);
    best.filter(|output| !watch || output.format == Format::Json)
        .ok_or_else(|| ApiError::not_acceptable(if watch { &STREAMS[..] } else { &BUILT_IN[..] }))
}

/// Whether all groups are asked for in one document, and in which format.
pub(super) fn aggregated(headers: &HeaderMap) -> Option<Format> {
    let wanted = ("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList");
    clauses(header(headers, &ACCEPT)).iter().find_map(|clause| {
        let fits = clause.conversion() == Some(wanted)
            && clause
                .parameters
                .iter()
                .all(|(key, value)| !matches!(*key, "stream" | "sv") || value.is_empty());
        match (clause.kind, clause.subkind) {
            ("application", "json" | "*") | ("*", "*") if fits => Some(Format::Json),
            ("application", "yaml") if fits => Some(Format::Yaml),
            _ => None,
        }
    })
}

/// The format of a document that says what is served. `layered` says that it is answered by the
/// layer that knows media types to the letter.
pub(super) fn document(headers: &HeaderMap, layered: bool) -> ApiResult<Format> {
    let accept = header(headers, &ACCEPT);
    if accept.is_empty() {
        return Ok(Format::Json);
    }
    if layered && !accept.split(',').any(is_built_in) {
        return Err(ApiError::none_acceptable(&BUILT_IN));
    }
    let clauses = clauses(accept);
    let mut plain = clauses.iter().filter(|c| c.conversion().is_none());
    let best = plain.find_map(Clause::output);
    best.map(|output| output.format)
        .ok_or_else(|| ApiError::not_acceptable(&BUILT_IN))
}

/// Whether a part of a header names one of the media types of built-in resources, to the letter.
fn is_built_in(part: &str) -> bool {
    let media = part.split(';').next().unwrap_or_default().trim();
    media == "*/*" || BUILT_IN.contains(&media)
}

/// The first of these media types that a client takes.
pub(super) fn takes(headers: &HeaderMap, kinds: &[&'static str]) -> Option<&'static str> {
    let accept = match header(headers, &ACCEPT) {
        "" => "*/*",
        accept => accept,
    };
    clauses(accept).iter().find_map(|clause| {
        kinds.iter().copied().find(|media| {
            let (kind, subkind) = media.split_once('/').unwrap_or((media, ""));
            (clause.kind == kind || clause.kind == "*")
                && (clause.subkind == subkind || clause.subkind == "*")
        })
    })
}

/// The format of a request body.
pub(super) fn input(headers: &HeaderMap, resource: &Resource) -> ApiResult<Format> {
    match media_type(header(headers, &CONTENT_TYPE)).as_deref() {
        Some("" | "application/json") => Ok(Format::Json),
        Some("application/yaml") => Ok(Format::Yaml),
        Some("application/vnd.kubernetes.protobuf") if resource.custom().is_none() => {
            Ok(Format::Protobuf)
        }
        _ => Err(ApiError::unsupported_media_type(&BUILT_IN)),
    }
}

/// The type that a header names, if what follows it is sound.
fn media_type(value: &str) -> Option<String> {
    let (media, parameters) = value.split_once(';').unwrap_or((value, ""));
    let mut names = BTreeSet::new();
    for parameter in parameters
        .split(';')
        .filter(|_| !parameters.trim().is_empty())
    {
        let (name, value) = parameter.split_once('=')?;
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        let quoted = value.len() > 1 && value.starts_with('"') && value.ends_with('"');
        let plain = !value.is_empty() && !value.contains(['"', ' ', ',']);
        if name.is_empty() || !(quoted || plain) || !names.insert(name) {
            return None;
        }
    }
    Some(media.trim().to_ascii_lowercase())
}

/// The kind of a patch.
pub(super) fn patch(headers: &HeaderMap, resource: &Resource) -> ApiResult<PatchKind> {
    const JSON: &str = "application/json-patch+json";
    const MERGE: &str = "application/merge-patch+json";
    const STRATEGIC: &str = "application/strategic-merge-patch+json";
    const APPLY: &str = "application/apply-patch+yaml";
    let built_in = resource.custom().is_none();
    // What precedes the first semicolon counts, to the letter.
    let media = header(headers, &CONTENT_TYPE).trim();
    // Below built-in resources is a layer that looks at each of several types.
    let known = |part: &str| {
        let part = part.split(';').next().unwrap_or_default().trim();
        [JSON, MERGE, STRATEGIC, APPLY].contains(&part)
    };
    let passed = media.split(',').any(known);
    match media.split(';').next().unwrap_or_default() {
        JSON => Ok(PatchKind::Json),
        MERGE => Ok(PatchKind::Merge),
        STRATEGIC if built_in => Ok(PatchKind::Strategic),
        APPLY => Ok(PatchKind::Apply),
        _ if built_in && passed => {
            let all = [JSON, MERGE, STRATEGIC, APPLY];
            Err(ApiError::unsupported_media_type(&all))
        }
        _ if built_in => Err(ApiError::unsupported_patch()),
        _ => Err(ApiError::unsupported_media_type(&[JSON, MERGE, APPLY])),
    }
}
