//! The HTTP side: a `tower` service per cluster and a router over all clusters.

mod answer;
mod body;
mod discovery;
mod guard;
mod handle;
mod negotiate;
mod other;
mod query;
mod route;

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body as AxumBody;
use bytes::Bytes;
use http::{Request, Response, StatusCode, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use tower_service::Service;

use crate::access::User;
use crate::server::{Cluster, Server};

/// The body of an answer: complete, or a stream of watch events.
pub type ResponseBody = UnsyncBoxBody<Bytes, LostAnswer>;

/// The connection broke before the answer arrived ([`crate::FaultKind::LostAnswer`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostAnswer;

impl std::fmt::Display for LostAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the connection was closed before the answer arrived")
    }
}

impl std::error::Error for LostAnswer {}

/// The API of one cluster as a `tower` service over any body type.
#[derive(Clone)]
pub struct ClusterService {
    cluster: Cluster,
    /// Who asks without a token; nobody, where one is needed.
    trusted: Option<Arc<User>>,
}

impl ClusterService {
    pub(crate) fn new(cluster: Cluster) -> Self {
        Self {
            cluster,
            trusted: None,
        }
    }

    pub(crate) fn trusted(cluster: Cluster, user: User) -> Self {
        Self {
            cluster,
            trusted: Some(Arc::new(user)),
        }
    }
}

impl<B> Service<Request<B>> for ClusterService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Display + Send,
{
    type Response = Response<ResponseBody>;
    type Error = LostAnswer;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, LostAnswer>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LostAnswer>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (cluster, trusted) = (self.cluster.clone(), self.trusted.clone());
        Box::pin(handle::handle(cluster, trusted, request))
    }
}

/// A complete body.
fn full(bytes: impl Into<Bytes>) -> ResponseBody {
    Full::new(bytes.into())
        .map_err(|never: Infallible| match never {})
        .boxed_unsync()
}

/// All clusters of a server by URL prefix.
pub(crate) fn router(server: Server) -> axum::Router {
    axum::Router::new().fallback(move |request: Request<AxumBody>| {
        let server = server.clone();
        async move { dispatch(&server, request).await }
    })
}

async fn dispatch(server: &Server, mut request: Request<AxumBody>) -> Response<AxumBody> {
    let path = request.uri().path().to_owned();
    let found = path
        .strip_prefix("/clusters/")
        .map(|rest| rest.split_once('/').unwrap_or((rest, "")))
        .and_then(|(name, rest)| Some((server.existing(name)?, rest)));
    let Some((cluster, rest)) = found else {
        let mut response = Response::new(AxumBody::from("404 page not found\n"));
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    };
    let mut target = format!("/{rest}");
    if let Some(query) = request.uri().query() {
        target.push('?');
        target.push_str(query);
    }
    // A part of a valid address is valid.
    *request.uri_mut() = target.parse().unwrap_or_else(|_| Uri::from_static("/"));
    let Ok(response) = cluster.service().call(request).await else {
        // An answer that breaks off at once is as near to none as this side can come.
        let broken = futures_util::stream::once(async { Err::<Bytes, _>(LostAnswer) });
        return Response::new(AxumBody::from_stream(broken));
    };
    response.map(AxumBody::new)
}
