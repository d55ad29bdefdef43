//! A server that says what a test wants AWS to say.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Answers with this status and body.
    Say(u16, String),
    /// Takes the request and never answers.
    Hang,
    /// Takes the request and closes the connection.
    Close,
}

/// A running server. Its last reply is given to all further requests too.
pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(Vec::new()));
        tokio::spawn(serve(listener, replies, seen.clone()));
        Self { url, seen }
    }

    /// The bodies of all requests so far.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("no test panicked here").clone()
    }
}

async fn serve(listener: TcpListener, replies: Vec<Reply>, seen: Arc<Mutex<Vec<String>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(converse(stream, replies.clone(), seen.clone()));
    }
}

async fn converse(stream: TcpStream, replies: Vec<Reply>, seen: Arc<Mutex<Vec<String>>>) {
    let mut stream = BufReader::new(stream);
    while let Some(body) = request(&mut stream).await {
        let nth = {
            let mut seen = seen.lock().expect("no test panicked here");
            seen.push(body);
            seen.len() - 1
        };
        let reply = replies.get(nth).or(replies.last()).cloned();
        match reply.unwrap_or(Reply::Close) {
            Reply::Say(status, body) => {
                let head = format!(
                    "HTTP/1.1 {status} Said\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\
                     Date: Sun, 15 Nov 2026 12:00:0{} GMT\r\n\r\n",
                    body.len(),
                    nth.min(9),
                );
                let said = stream.write_all(format!("{head}{body}").as_bytes()).await;
                if said.is_err() {
                    return;
                }
            }
            Reply::Hang => std::future::pending().await,
            Reply::Close => return,
        }
    }
}

/// Reads one request; `None` when there are no more.
async fn request(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    String::from_utf8(body).ok()
}
