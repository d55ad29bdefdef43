//! The controller's connection to the API server: what it writes can be lost on the way.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use tower_service::Service;

type Answer = Result<Response<Body>, Box<dyn std::error::Error + Send + Sync>>;

/// Whether what the controller writes reaches the API server.
#[derive(Clone, Debug, Default)]
pub struct Writes(Arc<AtomicBool>);

impl Writes {
    /// From now on none does.
    pub fn lose(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// From now on all do.
    pub fn pass(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// The same client, as the controller has it.
    pub(crate) fn link(&self, client: &Client) -> Client {
        let link = Link {
            client: client.clone(),
            writes: self.clone(),
        };
        Client::new(link, client.default_namespace())
    }
}

#[derive(Clone)]
struct Link {
    client: Client,
    writes: Writes,
}

impl Service<Request<Body>> for Link {
    type Response = Response<Body>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Answer> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let link = self.clone();
        Box::pin(async move {
            if link.writes.0.load(Ordering::Relaxed) && *request.method() != Method::GET {
                let lost =
                    io::Error::new(io::ErrorKind::ConnectionReset, "a case cut the connection");
                return Err(lost.into());
            }
            Ok(link.client.send(request).await?)
        })
    }
}
