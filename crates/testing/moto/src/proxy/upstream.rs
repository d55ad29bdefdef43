//! moto, as the proxy sees it: it is sent what came in, and asked in the name of who sent it.

use std::io;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::net::TcpStream;

use super::call::{Api, Signer};
use super::xml::Element;

/// What says how one connection is used, and nothing about what is asked.
const OF_A_CONNECTION: [HeaderName; 4] = [
    header::CONNECTION,
    header::EXPECT,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Where moto is.
#[derive(Debug)]
pub(crate) struct Upstream {
    address: String,
}

impl Upstream {
    /// # Errors
    /// If it is not of the form `http://HOST:PORT`.
    pub(crate) fn new(url: &str) -> io::Result<Self> {
        let address = url.strip_prefix("http://").map(|a| a.trim_end_matches('/'));
        let address = address.filter(|address| !address.contains('/') && address.contains(':'));
        let Some(address) = address else {
            let message =
                format!("the proxy needs moto's address as http://HOST:PORT, not {url:?}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        };
        Ok(Self {
            address: address.to_owned(),
        })
    }

    fn host(&self) -> io::Result<HeaderValue> {
        HeaderValue::try_from(&self.address).map_err(io::Error::other)
    }

    /// Sends a request on, as it is. Each has a connection of its own: one that is used again may
    /// have been closed meanwhile, and then nobody knows whether the request was done.
    pub(crate) async fn send(&self, mut request: Request<Bytes>) -> io::Result<Response<Bytes>> {
        for name in OF_A_CONNECTION {
            request.headers_mut().remove(name);
        }
        let stream = TcpStream::connect(&self.address).await?;
        // A connection for which this fails still works.
        let _ = stream.set_nodelay(true);
        let builder = http1::Builder::new()
            .preserve_header_case(true)
            .handshake(TokioIo::new(stream));
        let (mut sender, connection) = builder.await.map_err(io::Error::other)?;
        // It ends with `sender`; what goes wrong in it, the answer tells.
        tokio::spawn(connection);
        let answer = sender.send_request(request.map(Full::new)).await;
        let (mut head, body) = answer.map_err(io::Error::other)?.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        for name in OF_A_CONNECTION {
            head.headers.remove(name);
        }
        Ok(Response::from_parts(head, body))
    }
}

/// Asks moto what somebody could ask.
#[derive(Debug)]
pub(crate) struct Asker<'a> {
    pub(crate) upstream: &'a Upstream,
    /// Of the request in whose name it asks.
    pub(crate) headers: &'a HeaderMap,
    pub(crate) signer: &'a Signer,
}

/// What moto said.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) answer: Response<Bytes>,
    pub(crate) xml: Element,
}

impl Reply {
    pub(crate) fn new(answer: Response<Bytes>) -> io::Result<Self> {
        let text = std::str::from_utf8(answer.body()).ok();
        let Some(xml) = text.and_then(Element::parse) else {
            let message = format!("moto answered with {} and no XML", answer.status());
            return Err(io::Error::other(message));
        };
        Ok(Self { answer, xml })
    }
}

impl Asker<'_> {
    /// Calls an operation, in the account and region of the request.
    pub(crate) async fn ask(
        &self,
        api: Api,
        operation: &str,
        params: &[(&str, &str)],
    ) -> io::Result<Reply> {
        let Some((service, version)) = api.service() else {
            return Err(io::Error::other(format!("whose operation is {operation}?")));
        };
        let all = [("Action", operation), ("Version", version)];
        let all = all.iter().chain(params);
        let body: Vec<_> = all
            .map(|(key, value)| format!("{key}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)))
            .collect();
        let mut asked = Request::new(Bytes::from(body.join("&")));
        *asked.method_mut() = Method::POST;
        let headers = asked.headers_mut();
        headers.insert(header::HOST, self.upstream.host()?);
        for (name, value) in self.headers {
            if name.as_str().starts_with("x-amz-") {
                headers.insert(name.clone(), value.clone());
            }
        }
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(header::CONTENT_TYPE, form);
        headers.insert(header::AUTHORIZATION, self.authorization(service)?);
        Reply::new(self.upstream.send(asked).await?)
    }

    /// moto looks at who signed, for what service and region, and at nothing else.
    fn authorization(&self, service: &str) -> io::Result<HeaderValue> {
        let Signer {
            access_key, region, ..
        } = self.signer;
        let scope = format!("{access_key}/20260101/{region}/{service}/aws4_request");
        let all = format!("AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0");
        HeaderValue::try_from(all).map_err(io::Error::other)
    }

    /// What a read finds: the entries of a list. Nothing, where moto refuses: what is asked for is
    /// not there, and moto will say so of the call itself.
    pub(crate) async fn found(
        &self,
        api: Api,
        operation: &str,
        params: &[(&str, &str)],
        list: &str,
    ) -> io::Result<Vec<Element>> {
        let reply = self.ask(api, operation, params).await?;
        if reply.answer.status().is_server_error() {
            let message = format!("moto failed at {operation}: {}", reply.answer.status());
            return Err(io::Error::other(message));
        }
        Ok(reply.xml.items(list).to_vec())
    }

    /// What a read of EC2 finds by a filter.
    pub(crate) async fn filtered(
        &self,
        operation: &str,
        filter: &str,
        value: &str,
        list: &str,
    ) -> io::Result<Vec<Element>> {
        let params = [("Filter.1.Name", filter), ("Filter.1.Value.1", value)];
        self.found(Api::Ec2, operation, &params, list).await
    }

    /// Network interfaces, by a filter.
    pub(crate) async fn interfaces(&self, filter: &str, value: &str) -> io::Result<Vec<Element>> {
        let (operation, list) = ("DescribeNetworkInterfaces", "networkInterfaceSet");
        self.filtered(operation, filter, value, list).await
    }

    /// Does something in EC2 that AWS does by itself. With what is not there, it is done.
    pub(crate) async fn act(&self, operation: &str, params: &[(&str, &str)]) -> io::Result<()> {
        let reply = self.ask(Api::Ec2, operation, params).await?;
        let code = reply.xml.find("Code").map_or("", Element::text);
        if reply.answer.status().is_success() || code.ends_with(".NotFound") {
            return Ok(());
        }
        let body = String::from_utf8_lossy(reply.answer.body());
        let message = format!("the proxy cannot {operation} {params:?}: {body}");
        Err(io::Error::other(message))
    }

    /// The account.
    pub(crate) async fn account(&self) -> io::Result<String> {
        let reply = self.ask(Api::Sts, "GetCallerIdentity", &[]).await?;
        let account = reply.xml.find("Account").map(Element::text);
        let account = account.ok_or_else(|| io::Error::other("moto does not know who asks"));
        account.map(str::to_owned)
    }
}
