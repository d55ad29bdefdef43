//! What AWS says when it refuses.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};

use super::call::Api;
use super::xml::escaped;

/// An answer with an error code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status of HTTP.
    pub status: u16,
    /// AWS' code.
    pub code: String,
    /// AWS' words.
    pub message: String,
}

impl Refusal {
    /// A refusal with this status, code and message.
    ///
    /// # Panics
    /// If there can be no such status.
    pub fn new(status: u16, code: &str, message: &str) -> Self {
        assert!(StatusCode::from_u16(status).is_ok(), "no status: {status}");
        Self {
            status,
            code: code.to_owned(),
            message: message.to_owned(),
        }
    }

    /// What EC2 says to who asks too much.
    pub fn throttled() -> Self {
        Self::new(503, "RequestLimitExceeded", "Request limit exceeded.")
    }

    /// What AWS says when it fails.
    pub fn internal_error() -> Self {
        let message = "An internal error has occurred";
        Self::new(500, "InternalError", message)
    }

    /// A refusal of what was asked.
    pub(crate) fn bad(code: &str, message: &str) -> Self {
        Self::new(400, code, message)
    }

    /// As this API writes it.
    pub(crate) fn answer(&self, api: Api) -> Response<Bytes> {
        let (code, message) = (escaped(&self.code), escaped(&self.message));
        let body = match api {
            Api::Ec2 => format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error>\
                 <Code>{code}</Code><Message>{message}</Message></Error></Errors>\
                 <RequestID>proxy</RequestID></Response>"
            ),
            _ => {
                let fault = if self.status < 500 {
                    "Sender"
                } else {
                    "Receiver"
                };
                format!(
                    "<ErrorResponse><Error><Type>{fault}</Type><Code>{code}</Code>\
                     <Message>{message}</Message></Error><RequestId>proxy</RequestId></ErrorResponse>"
                )
            }
        };
        let mut answer = Response::new(Bytes::from(body));
        // `new` has looked at it; it is a public field all the same.
        *answer.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let xml = HeaderValue::from_static("text/xml");
        answer.headers_mut().insert(header::CONTENT_TYPE, xml);
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::xml::Element;

    #[test]
    fn every_api_has_its_own_way_to_refuse() {
        let refusal = Refusal::bad("VpcLimitExceeded", "a < b");
        for (api, root) in [(Api::Ec2, "Errors"), (Api::ElbV2, "Type")] {
            let answer = refusal.answer(api);
            assert_eq!(answer.status(), 400);
            let xml = Element::parse(std::str::from_utf8(answer.body()).unwrap()).unwrap();
            assert!(xml.find(root).is_some(), "{api:?}");
            let error = xml.find("Error").unwrap();
            let said = (error.get("Code"), error.get("Message"));
            assert_eq!(said, ("VpcLimitExceeded", "a < b"));
        }
    }
}
