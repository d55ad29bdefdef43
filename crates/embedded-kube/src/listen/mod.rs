//! Listening on a port: HTTP, and HTTPS where the feature `https` is on, with clients that may be
//! slow, silent or hostile.
//!
//! Everything that a client can make the server hold is bounded: how long a request head and a
//! request may take, how big a head may be, how long an answer waits to be read, and how many
//! connections there are.

mod inbound;
mod patience;
mod places;
#[cfg(feature = "https")]
mod tls;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tower_service::Service as _;

use crate::status::ApiError;
pub(crate) use inbound::LongQuery;
use inbound::{Inbound, Queries};

#[cfg(feature = "https")]
pub use tls::Certificate;

/// What clients may ask of a listening server. The times are the real server's.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long the head of a request may take, and a connection between two requests.
    pub head: Duration,
    /// How long a request may take until its answer begins; what is longer answers 504.
    pub request: Duration,
    /// How long an answer may wait for a client that does not read it. One that reads gets more
    /// time, but not for less than 64 KiB a second.
    pub stalled: Duration,
    /// How many connections there may be at once; the next one waits until one ends. There are
    /// fewer if the process may not open so many files.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(32),
            request: Duration::from_mins(1),
            stalled: Duration::from_mins(1),
            connections: 16_384,
        }
    }
}

/// How big the head of a request may be, its address included. The real server takes a mebibyte and
/// what its reader has at hand besides.
const MAX_HEAD: usize = (1 << 20) + 4096;
/// How many header fields there may be.
const MAX_FIELDS: usize = 1000;
/// After this time without a word the system asks whether the other side is still there.
const KEEPALIVE: Duration = Duration::from_secs(15);
/// How long to wait when the system has no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(100);

/// A port, and what is served on it.
pub struct Listener {
    port: TcpListener,
    limits: Limits,
    #[cfg(feature = "https")]
    certificate: Option<Certificate>,
}

impl Listener {
    /// Takes a port.
    pub async fn bind(address: SocketAddr, limits: Limits) -> io::Result<Self> {
        Ok(Self {
            port: TcpListener::bind(address).await?,
            limits,
            #[cfg(feature = "https")]
            certificate: None,
        })
    }

    /// Speaks HTTPS as well, on the same port: the first byte of a connection tells which it is.
    #[cfg(feature = "https")]
    #[must_use]
    pub fn with_certificate(mut self, certificate: Certificate) -> Self {
        self.certificate = Some(certificate);
        self
    }

    /// Where it listens.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.port.local_addr()
    }

    /// Serves until the future is dropped; connections that are open then end with it.
    pub async fn serve(self, router: Router) -> Infallible {
        let places = places::at_most(self.limits.connections);
        let room = Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)));
        let mut connections = tokio::task::JoinSet::new();
        let door = Arc::new(Door {
            router,
            limits: self.limits,
            #[cfg(feature = "https")]
            certificate: self.certificate,
        });
        loop {
            let Ok(place) = Arc::clone(&room).acquire_owned().await else {
                // Nobody closes it; if it were closed, nobody could come in.
                return std::future::pending().await;
            };
            let Ok((stream, _)) = self.port.accept().await else {
                sleep(NO_ROOM).await;
                continue;
            };
            while connections.try_join_next().is_some() {}
            let door = Arc::clone(&door);
            connections.spawn(async move {
                door.open(stream).await;
                drop(place);
            });
        }
    }
}

/// What every connection needs.
struct Door {
    router: Router,
    limits: Limits,
    #[cfg(feature = "https")]
    certificate: Option<Certificate>,
}

/// The first byte of a TLS connection.
#[cfg(feature = "https")]
const HANDSHAKE: u8 = 0x16;

impl Door {
    /// Serves one connection; whatever goes wrong in it ends it, and nothing else.
    async fn open(&self, stream: TcpStream) {
        // A connection for which this fails still works.
        let _ = stream.set_nodelay(true);
        let keepalive = socket2::TcpKeepalive::new()
            .with_time(KEEPALIVE)
            .with_interval(KEEPALIVE);
        let _ = socket2::SockRef::from(&stream).set_tcp_keepalive(&keepalive);
        #[cfg(feature = "https")]
        if let Some(certificate) = &self.certificate {
            let mut first = [0];
            let looked = timeout(self.limits.head, stream.peek(&mut first)).await;
            let Ok(Ok(1)) = looked else { return };
            if first[0] == HANDSHAKE {
                let shaken = timeout(self.limits.head, certificate.accept(stream)).await;
                if let Ok(Ok(stream)) = shaken {
                    self.speak(stream).await;
                }
                return;
            }
        }
        self.speak(stream).await;
    }

    async fn speak(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let queries = Queries::default();
        let stream = Inbound::new(stream, self.limits.stalled, queries.clone());
        let service = hyper::service::service_fn(|request: Request<Incoming>| {
            let (router, queries) = (self.router.clone(), queries.clone());
            let limit = self.limits.request;
            async move { Ok::<_, Infallible>(answer(router, request, &queries, limit).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head)
            .max_headers(MAX_FIELDS)
            .max_buf_size(MAX_HEAD)
            .serve_connection(TokioIo::new(stream), service);
        // A connection that breaks off is the client's affair.
        let _ = connection.await;
    }
}

async fn answer(
    mut router: Router,
    mut request: Request<Incoming>,
    queries: &Queries,
    limit: Duration,
) -> Response<Body> {
    queries.restore(&mut request);
    match timeout(limit, router.call(request.map(Body::new))).await {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        Err(_) => too_late(),
    }
}

/// What the real server says of a request that takes too long.
fn too_late() -> Response<Body> {
    let error = ApiError::timeout("request did not complete within the allotted timeout");
    let mut response = Response::new(Body::from(format!("{}\n", error.body())));
    *response.status_mut() = StatusCode::GATEWAY_TIMEOUT;
    let json = http::HeaderValue::from_static("application/json");
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, json);
    response
}
