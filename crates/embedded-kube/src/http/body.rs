//! Reading request bodies: bounded, JSON or YAML.

use bytes::Bytes;
use http_body_util::BodyExt;

use super::negotiate::Format;
use crate::json::{self, Document};
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
        Format::Yaml => {
            let text = String::from_utf8_lossy(bytes);
            let value: serde_json::Value = serde_saphyr::from_str(&text)
                .map_err(|error| format!("error converting YAML to JSON: {error}"))?;
            // Once through our own reader, so that numbers and depth obey one rule.
            json::parse(value.to_string().as_bytes())
        }
    }
}
