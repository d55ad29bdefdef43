//! Reading request bodies: bounded, JSON or YAML.

use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::Value;

use super::negotiate::Format;
use crate::api::type_name;
use crate::json::{self, Document};
use crate::protobuf;
use crate::status::{ApiError, ApiResult};

/// How many bytes a request may have.
pub(super) const LIMIT: usize = 3 * 1024 * 1024;

/// Reads a body up to the limit; what is longer is refused without being kept.
pub(super) async fn read<B>(body: B) -> ApiResult<Bytes>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: std::fmt::Display,
{
    let too_large = || ApiError::too_large(&format!("limit is {LIMIT}"));
    if body.size_hint().lower() > LIMIT as u64 {
        return Err(too_large());
    }
    let mut body = std::pin::pin!(body);
    let mut first: Option<Bytes> = None;
    let mut rest: Vec<u8> = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| ApiError::new(500, "", error.to_string()))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        match &first {
            None => first = Some(data),
            Some(start) => {
                if rest.is_empty() {
                    rest.extend_from_slice(start);
                }
                rest.extend_from_slice(&data);
            }
        }
        if rest.len().max(first.as_ref().map_or(0, Bytes::len)) > LIMIT {
            return Err(too_large());
        }
    }
    Ok(if rest.is_empty() {
        first.unwrap_or_default()
    } else {
        rest.into()
    })
}

/// Reads a document in the format of its content type.
pub(super) fn parse(bytes: &[u8], format: Format) -> Result<Document, String> {
    match format {
        Format::Json => json::parse(bytes)
            .map_err(|message| format!("couldn't get version/kind; json parse error: {message}")),
        Format::Protobuf => protobuf::parse(bytes).map(Document::from),
        Format::Yaml => {
            let text = String::from_utf8_lossy(bytes);
            let value = yaml(first_document(&text).to_owned())?;
            // Once through our own reader, so that numbers and depth obey one rule.
            json::parse(value.to_string().as_bytes())
        }
    }
}

/// Reads what is applied: YAML, and most often the part of it that is JSON.
pub(super) fn parse_config(bytes: &[u8]) -> Result<Document, String> {
    let mut document = match json::parse(bytes) {
        Ok(document) => document,
        Err(_) => parse(bytes, Format::Yaml)
            .map_err(|message| format!("error converting YAML to JSON: {message}"))?,
    };
    json::whole_numbers(&mut document.value);
    if let Some(message) = document.overflow {
        return Err(message);
    }
    match &document.value {
        Value::Null | Value::Object(_) => Ok(document),
        other => Err(format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value \
             of type map[string]interface {{}}",
            type_name(other)
        )),
    }
}

/// A text can hold several documents: the first one counts.
fn first_document(text: &str) -> &str {
    let (mut at, mut begun) = (0, false);
    for line in text.split_inclusive('\n') {
        let mark = line.trim_end();
        let starts = mark == "---" || mark.starts_with("--- ");
        if begun && (starts || mark == "...") {
            return &text[..at];
        }
        begun |= starts || !(mark.is_empty() || mark.starts_with(['#', '%']));
        at += line.len();
    }
    text
}

/// How many lines are put right before a text is refused: each costs another reading.
const MAX_REPAIRS: usize = 20;

/// How deep YAML may nest: its reader takes more of the stack for a level than others do.
const MAX_YAML_DEPTH: usize = 1_000;

/// What a YAML document may cost. Its size is bounded before, so besides the depth only what is said
/// once and meant often needs a bound here.
fn limits() -> serde_saphyr::Options {
    let budget = serde_saphyr::budget! {
        max_depth: MAX_YAML_DEPTH,
        flow_nesting_limit: MAX_YAML_DEPTH,
        max_events: usize::MAX,
        max_nodes: usize::MAX,
        enforce_alias_anchor_ratio: false,
    };
    serde_saphyr::options! { budget: budget }
}

/// Reads YAML. The real server's reader takes quoted texts whose further lines are indented no more
/// than their key; ours does not, so these lines are indented, which means nothing inside quotes.
fn yaml(mut text: String) -> Result<Value, String> {
    let mut repairs = 0;
    loop {
        let error = match serde_saphyr::from_str_with_options(&text, limits()) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let message = error.without_snippet().to_string();
        let line = error
            .location()
            .and_then(|location| usize::try_from(location.line()).ok());
        let Some(line) = line.filter(|_| message.contains("multiline quoted scalar")) else {
            return Err(format!("yaml: {message}"));
        };
        repairs += 1;
        if repairs > MAX_REPAIRS {
            return Err(format!("yaml: {message}"));
        }
        let mut lines = text.split_inclusive('\n');
        let start: usize = lines
            .by_ref()
            .take(line.saturating_sub(1))
            .map(str::len)
            .sum();
        text.insert_str(start, &" ".repeat(80));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn quoted_texts_need_no_indentation() {
        let text = "a:\n  b: 'one\n  two\n  three'\n  c: 1\n";
        let read = yaml(text.to_owned()).unwrap();
        assert_eq!(read, json!({"a": {"b": "one two three", "c": 1}}));
        assert!(yaml("a: 'one\nb: 1".to_owned()).is_err());
        assert_eq!(
            first_document("# x\n---\na: 1\n---\nb: 2\n"),
            "# x\n---\na: 1\n"
        );
        assert_eq!(first_document("a: 1\n...\n"), "a: 1\n");
    }
}
