//! A server in moto's place. It says yes, unless it is told otherwise, and counts.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// A running server.
pub(crate) struct Upstream {
    pub(crate) url: String,
    shared: Arc<Shared>,
    serving: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    release: Notify,
}

#[derive(Default)]
struct State {
    requests: Vec<String>,
    refused: BTreeSet<String>,
    held: Option<String>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panicked here")
    }
}

impl Upstream {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let shared = Arc::new(Shared::default());
        let serving = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Self {
            url,
            shared,
            serving,
        }
    }

    /// All requests so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.shared.state().requests.clone()
    }

    /// How often an operation was called.
    pub(crate) fn calls(&self, operation: &str) -> usize {
        let requests = self.requests();
        requests.iter().filter(|r| is_of(r, operation)).count()
    }

    /// From now on an operation is refused, or not any more.
    pub(crate) fn refuse(&self, operation: &str, refused: bool) {
        let mut state = self.shared.state();
        if refused {
            state.refused.insert(operation.to_owned());
        } else {
            state.refused.remove(operation);
        }
    }

    /// An operation is not answered before it is released.
    pub(crate) fn hold(&self, operation: &str) {
        self.shared.state().held = Some(operation.to_owned());
    }

    pub(crate) fn release(&self) {
        self.shared.state().held = None;
        self.shared.release.notify_waiters();
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn is_of(request: &str, operation: &str) -> bool {
    request.contains(&format!("\r\n\r\nAction={operation}&"))
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream, Arc::clone(&shared)));
    }
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = request(&mut stream).await {
        let nth = {
            let mut state = shared.state();
            state.requests.push(request.clone());
            state.requests.len()
        };
        loop {
            let released = shared.release.notified();
            let held = shared.state().held.clone();
            if held.is_none_or(|held| !is_of(&request, &held)) {
                break;
            }
            released.await;
        }
        let refused = shared.state().refused.iter().any(|o| is_of(&request, o));
        let (status, body) = match &request {
            _ if refused => (400, "<Error><Code>No</Code></Error>".to_owned()),
            whose if is_of(whose, "GetCallerIdentity") => {
                let (_, key) = whose.split_once("Credential=").expect("signed");
                let key = key.split('/').next().expect("a key");
                let account = &key[key.len() - 1..];
                (200, format!("<R><Account>{account}</Account></R>"))
            }
            // No two answers are the same.
            _ => (200, format!("<Done>{nth}</Done>")),
        };
        let head = format!(
            "HTTP/1.1 {status} Said\r\nX-Moto: yes\r\nContent-Length: {}\r\n\r\n",
            body.len(),
        );
        if stream
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .is_err()
        {
            return;
        }
    }
}

/// Reads one request; `None` when there are no more.
async fn request(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut request = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        request.push_str(&line);
        if line.trim().is_empty() {
            break;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    request.push_str(&String::from_utf8(body).ok()?);
    Some(request)
}
