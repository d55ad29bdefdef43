//! What a request asks of AWS, as far as it is said in AWS' query protocol.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, header};
use percent_encoding::percent_decode_str;

/// What the rules know the operations of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Api {
    Ec2,
    /// Classic load balancers.
    Elb,
    /// Network and application load balancers.
    ElbV2,
    Sts,
    Other,
}

const ELB: &str = "elasticloadbalancing";

impl Api {
    fn of(service: &str, version: &str) -> Self {
        match (service, version) {
            ("ec2", _) => Self::Ec2,
            (ELB, "2012-06-01") => Self::Elb,
            (ELB, _) => Self::ElbV2,
            ("sts", _) => Self::Sts,
            _ => Self::Other,
        }
    }

    /// The name of its service in a signature, and its version.
    pub(crate) fn service(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Ec2 => Some(("ec2", "2016-11-15")),
            Self::Elb => Some((ELB, "2012-06-01")),
            Self::ElbV2 => Some((ELB, "2015-12-01")),
            Self::Sts => Some(("sts", "2011-06-15")),
            Self::Other => None,
        }
    }
}

/// Who asks, and where: what a signature says in the clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signer {
    pub(crate) access_key: String,
    pub(crate) region: String,
    pub(crate) service: String,
}

impl Signer {
    fn of(headers: &HeaderMap) -> Option<Self> {
        let said = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (_, rest) = said.split_once("Credential=")?;
        let scope = rest.split([',', ' ']).next()?;
        let mut parts = scope.split('/');
        let access_key = parts.next()?.to_owned();
        let _day = parts.next()?;
        let (region, service) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        Some(Self {
            access_key,
            region,
            service,
        })
    }
}

/// A call of AWS: an operation and what is said with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) operation: String,
    pub(crate) api: Api,
    /// None, where nobody signed it.
    pub(crate) signer: Option<Signer>,
    /// All that is said, its operation and version too.
    pub(crate) params: BTreeMap<String, String>,
}

/// How operations begin that change nothing. Those of STS hand out credentials.
const READS: [&str; 5] = ["Assume", "Decode", "Describe", "Get", "List"];

impl Call {
    /// The call in a request; `None` where it is no call in the query protocol.
    pub(crate) fn read(request: &Request<Bytes>) -> Option<Self> {
        let headers = request.headers();
        let sort = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        if request.method() != Method::POST
            || !sort.starts_with("application/x-www-form-urlencoded")
        {
            return None;
        }
        let params = form(request.body())?;
        let operation = params.get("Action")?.clone();
        let version = params.get("Version")?;
        let signer = Signer::of(headers);
        let service = signer.as_ref().map_or("", |signer| &signer.service);
        Some(Self {
            api: Api::of(service, version),
            operation,
            signer,
            params,
        })
    }

    /// Whether it may change something.
    pub(crate) fn writes(&self) -> bool {
        !READS.iter().any(|read| self.operation.starts_with(read))
    }

    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name).map(String::as_str)
    }

    /// A list in its order: `Name.1` and `Name.member.1`, or with a field `Name.1.Field`.
    pub(crate) fn list(&self, name: &str, field: Option<&str>) -> Vec<&str> {
        let mut found = Vec::new();
        for (key, value) in &self.params {
            let Some(rest) = key.strip_prefix(name).and_then(|k| k.strip_prefix('.')) else {
                continue;
            };
            let rest = rest.strip_prefix("member.").unwrap_or(rest);
            let (number, tail) = match rest.split_once('.') {
                Some((number, tail)) => (number, Some(tail)),
                None => (rest, None),
            };
            if let Ok(number) = number.parse::<usize>()
                && tail == field
            {
                found.push((number, value.as_str()));
            }
        }
        found.sort_unstable();
        found.into_iter().map(|(_, value)| value).collect()
    }
}

fn form(body: &[u8]) -> Option<BTreeMap<String, String>> {
    let body = std::str::from_utf8(body).ok()?;
    let pairs = body.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(key)?, decoded(value)?))
        })
        .collect()
}

fn decoded(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    let text = percent_decode_str(&text).decode_utf8().ok()?;
    Some(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";

    fn request(sort: &str, body: &str) -> Request<Bytes> {
        let signature = "AWS4-HMAC-SHA256 Credential=AKIA/20261115/eu-central-1/ec2/aws4_request, \
                         SignedHeaders=host, Signature=0";
        Request::post("/")
            .header(header::CONTENT_TYPE, sort)
            .header(header::AUTHORIZATION, signature)
            .body(Bytes::copy_from_slice(body.as_bytes()))
            .unwrap()
    }

    #[test]
    fn a_call_is_read_with_who_asks_and_where() {
        let body = "Action=CreateTags&Version=2016-11-15&Tag.1.Value=a+b%2Fc";
        let call = Call::read(&request(FORM, body)).unwrap();
        assert_eq!(
            (call.operation.as_str(), call.api),
            ("CreateTags", Api::Ec2)
        );
        assert_eq!(call.param("Tag.1.Value"), Some("a b/c"));
        assert!(call.writes());
        let signer = call.signer.unwrap();
        assert_eq!(
            (&*signer.access_key, &*signer.region),
            ("AKIA", "eu-central-1")
        );
    }

    #[test]
    fn what_is_no_query_is_not_understood() {
        assert_eq!(Call::read(&request("application/json", "{}")), None);
        assert_eq!(Call::read(&request(FORM, "Version=2016-11-15")), None);
        assert_eq!(Call::read(&request(FORM, "Action=%ff&Version=1")), None);
        let mut get = request(FORM, "Action=CreateVpc&Version=2016-11-15");
        *get.method_mut() = Method::GET;
        assert_eq!(Call::read(&get), None);
    }

    #[test]
    fn lists_are_in_the_order_of_their_numbers() {
        let body = "Action=A&Version=1&S.2=b&S.10=c&S.1=a&S.1.Id=x&T.member.1=d&SS.1=e";
        let call = Call::read(&request(FORM, body)).unwrap();
        assert_eq!(call.list("S", None), ["a", "b", "c"]);
        assert_eq!(call.list("S", Some("Id")), ["x"]);
        assert_eq!(call.list("T", None), ["d"]);
    }

    #[test]
    fn two_apis_share_a_service() {
        assert_eq!(Api::of(ELB, "2012-06-01"), Api::Elb);
        assert_eq!(Api::of(ELB, "2015-12-01"), Api::ElbV2);
        for api in [Api::Ec2, Api::Elb, Api::ElbV2, Api::Sts] {
            let (service, version) = api.service().unwrap();
            assert_eq!(Api::of(service, version), api);
        }
    }
}
