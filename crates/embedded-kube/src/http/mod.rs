//! The HTTP side: a `tower` service per cluster and a router over all clusters.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;

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
}

impl ClusterService {
    pub(crate) fn new(cluster: Cluster) -> Self {
        Self { cluster }
    }
}

impl<B> tower_service::Service<Request<B>> for ClusterService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    type Response = Response<ResponseBody>;
    type Error = LostAnswer;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, LostAnswer>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LostAnswer>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _request: Request<B>) -> Self::Future {
        let _cluster = self.cluster.clone();
        Box::pin(async move {
            let body = http_body_util::Empty::new().map_err(|e: Infallible| match e {});
            Ok(Response::new(body.boxed_unsync()))
        })
    }
}

pub(crate) fn router(_server: Server) -> axum::Router {
    axum::Router::new()
}
