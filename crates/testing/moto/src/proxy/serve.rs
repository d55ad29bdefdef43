//! HTTP: what comes in, what goes out, and what goes wrong in between.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::Shared;
use super::call::Call;
use super::faults::Fault;
use super::record::Entry;
use super::rules;

/// How long to wait when the system has no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(100);

/// Serves until the future is dropped. Connections end with it; requests that have come in are done.
pub(crate) async fn serve(listener: TcpListener, shared: Arc<Shared>) -> Infallible {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(NO_ROOM).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        connections.spawn(converse(stream, Arc::clone(&shared)));
    }
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    // A connection for which this fails still works.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| respond(Arc::clone(&shared), request));
    let connection = http1::Builder::new()
        .preserve_header_case(true)
        .serve_connection(TokioIo::new(stream), service);
    // It ends with an error where a fault has closed it.
    let _ = connection.await;
}

/// An error closes the connection.
async fn respond(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> io::Result<Response<Full<Bytes>>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let request = Request::from_parts(head, body);
    // Who has asked may go away meanwhile, and the cloud does not care: a call that has come in is
    // done. So it has a task of its own.
    let work = tokio::spawn(async move { handle(&shared, request).await });
    let answer = work.await.map_err(io::Error::other)??;
    let closed = || io::Error::other("a fault closes the connection");
    Ok(answer.ok_or_else(closed)?.map(Full::new))
}

/// The answer; `None`, where a fault closes the connection.
async fn handle(shared: &Shared, request: Request<Bytes>) -> io::Result<Option<Response<Bytes>>> {
    let call = Call::read(&request);
    let otherwise = format!("{} {}", request.method(), request.uri().path());
    let entry = shared.log.begin(call.as_ref(), otherwise);
    let fault = call.as_ref().and_then(|call| shared.faults.strike(call));
    if let Some(fault) = &fault {
        entry.struck(fault.name());
    }
    let answer = weathered(shared, call.as_ref(), request, fault, &entry).await;
    match &answer {
        Ok(Some(answer)) => entry.answered(answer.status().as_u16()),
        Ok(None) => {}
        Err(error) => shared.log.trouble(error),
    }
    answer
}

async fn weathered(
    shared: &Shared,
    call: Option<&Call>,
    request: Request<Bytes>,
    fault: Option<Fault>,
    entry: &Entry<'_>,
) -> io::Result<Option<Response<Bytes>>> {
    match (&fault, call) {
        (Some(Fault::Cut), _) => return Ok(None),
        (Some(Fault::Refuse(refusal)), Some(call)) => return Ok(Some(refusal.answer(call.api))),
        (Some(Fault::DelayRequest(delay)), _) => sleep(*delay).await,
        _ => {}
    }
    let answer = rules::serve(shared, call, request, entry).await?;
    match fault {
        Some(Fault::LoseAnswer) => return Ok(None),
        Some(Fault::DelayAnswer(delay)) => sleep(delay).await,
        _ => {}
    }
    Ok(Some(answer))
}
