//! Clients that are slow, silent or hostile, over real connections: each is bounded, and the others
//! are served meanwhile. The status codes are the real server's.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use embedded_kube::{Certificate, Limits, Listener, Options, Server, TokioClock};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long anything may take that must happen.
const PATIENCE: Duration = Duration::from_mins(1);
/// A limit that a test waits for.
const SHORT: Duration = Duration::from_millis(300);

const MAPS: &str = "/clusters/a/api/v1/namespaces/default/configmaps";

/// A server with one cluster, `a`.
async fn serve(limits: Limits, secure: bool) -> (SocketAddr, Server) {
    let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let server = Server::new(Options::new(Arc::new(clock)));
    server.cluster("a");
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut listener = Listener::bind(any, limits).await.unwrap();
    if secure {
        listener = listener.with_certificate(Certificate::generate(&["127.0.0.1"]).unwrap());
    }
    let address = listener.local_addr().unwrap();
    tokio::spawn(listener.serve(server.router()));
    (address, server)
}

/// What the server says to these bytes until it closes the connection.
async fn say(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server that has heard enough may close before everything is said.
    let _ = stream.write_all(bytes).await;
    rest(&mut stream).await
}

async fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    // A connection that is reset says no more.
    let _ = read.expect("the server ends the connection");
    String::from_utf8_lossy(&answer).into_owned()
}

fn code(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

fn get(query: &str) -> Vec<u8> {
    format!("GET {MAPS}{query} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").into_bytes()
}

#[tokio::test]
async fn slow_heads_and_silence_end() {
    let limits = Limits {
        head: SHORT,
        ..Limits::default()
    };
    for secure in [false, true] {
        let (address, _server) = serve(limits, secure).await;
        for start in ["", "G", "GET / HTTP/1.1\r\nhost: a\r\nx-slow: "] {
            let answer = say(address, start.as_bytes()).await;
            assert!(["", "408"].contains(&code(&answer)), "{answer}");
        }
        // A client that goes on, a byte at a time, does not get more time.
        let mut stream = TcpStream::connect(address).await.unwrap();
        let dripping = async {
            loop {
                if stream.write_all(b"x").await.is_err() {
                    return;
                }
                tokio::time::sleep(SHORT / 10).await;
            }
        };
        timeout(PATIENCE, dripping).await.expect("it is cut off");
        assert_eq!(code(&say(address, &get("")).await), "200");
    }
}

#[tokio::test]
async fn slow_bodies_are_answered() {
    let limits = Limits {
        request: SHORT,
        ..Limits::default()
    };
    let (address, _server) = serve(limits, false).await;
    let head = format!(
        "POST {MAPS} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
         content-length: 100\r\nconnection: close\r\n\r\n{{"
    );
    let answer = say(address, head.as_bytes()).await;
    assert_eq!(code(&answer), "504", "{answer}");
    assert!(answer.contains("\"reason\":\"Timeout\""), "{answer}");
}

#[tokio::test]
async fn half_open_connections_end() {
    let (address, _server) = serve(Limits::default(), false).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET / HT").await.unwrap();
    stream.shutdown().await.unwrap();
    rest(&mut stream).await;
    // One that closes its side after a whole request still gets the answer.
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&get("")).await.unwrap();
    assert_eq!(code(&rest(&mut stream).await), "200");
}

#[tokio::test]
async fn heads_of_a_mebibyte_and_no_more() {
    let (address, server) = serve(Limits::default(), false).await;
    let body = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "x", "labels": {"a": "b"}}});
    let request = http::Request::post("/api/v1/namespaces/default/configmaps")
        .body(body.to_string().into_bytes())
        .unwrap();
    let created: Result<serde_json::Value, _> = server.cluster("a").client().request(request).await;
    created.unwrap();
    // What the real server answers to label selectors of this many bytes.
    for (bytes, expected) in [
        (100, "200"),
        (61_000, "200"),
        (512_000, "200"),
        (1_044_000, "200"),
        (1_055_000, "431"),
        (2_000_000, "431"),
    ] {
        let values = "v,".repeat(bytes / 2);
        let answer = say(address, &get(&format!("?labelSelector=a+in+({values}b)"))).await;
        assert_eq!(code(&answer), expected, "{bytes}");
        assert_eq!(
            answer.contains("\"name\":\"x\""),
            expected == "200",
            "{bytes}"
        );
    }
    // Twice on one connection, a body between them.
    let mut stream = TcpStream::connect(address).await.unwrap();
    let long = "v,".repeat(50_000);
    let line = format!("GET {MAPS}?labelSelector=a+in+({long}b) HTTP/1.1\r\nhost: a\r\n\r\n");
    let post = format!(
        "POST {MAPS}?dryRun=All HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}",
        body.to_string().len()
    );
    stream.write_all((line + &post).as_bytes()).await.unwrap();
    stream
        .write_all(&get(&format!("?labelSelector=a+in+({long}b)")))
        .await
        .unwrap();
    let answers = rest(&mut stream).await;
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 2, "{answers}");
    assert_eq!(answers.matches("HTTP/1.1 409").count(), 1, "{answers}");
    let field = format!("x: {}\r\n", "y".repeat(1 << 21));
    let head = format!("GET {MAPS} HTTP/1.1\r\nhost: a\r\n{field}\r\n");
    assert_eq!(code(&say(address, head.as_bytes()).await), "431");
    let fields = "x: y\r\n".repeat(5000);
    let head = format!("GET {MAPS} HTTP/1.1\r\nhost: a\r\n{fields}\r\n");
    assert_eq!(code(&say(address, head.as_bytes()).await), "431");
}

#[tokio::test]
async fn nonsense_harms_nobody() {
    for secure in [false, true] {
        let limits = Limits {
            head: SHORT,
            ..Limits::default()
        };
        let (address, _server) = serve(limits, secure).await;
        for bytes in [
            &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
            b"\x16garbage that is no handshake at all",
            b"\0\0\0\0\0\0\0\0",
            b"GET\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcde",
            b"\r\n\r\n\r\n",
        ] {
            say(address, bytes).await;
        }
        assert_eq!(code(&say(address, &get("")).await), "200");
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_gives_its_place_up() {
    let limits = Limits {
        stalled: SHORT,
        connections: 1,
        ..Limits::default()
    };
    let (address, server) = serve(limits, false).await;
    let client = server.cluster("a").client();
    for number in 0..20 {
        let body = serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("x{number}")}, "data": {"a": "y".repeat(1 << 20)}});
        let request = http::Request::post("/api/v1/namespaces/default/configmaps")
            .body(body.to_string().into_bytes())
            .unwrap();
        let created: Result<serde_json::Value, _> = client.request(request).await;
        created.unwrap();
    }
    let mut greedy = TcpStream::connect(address).await.unwrap();
    greedy.write_all(&get("")).await.unwrap();
    // The only place is taken until the server gives up waiting.
    let answer = say(address, &get("?limit=1")).await;
    assert_eq!(code(&answer), "200");
    drop(greedy);
}

/// Ten thousand connections need more open files than a test may have by itself: both ends are here.
#[tokio::test]
async fn ten_thousand_watches() {
    let limit = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limit
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let files: usize = line
        .and_then(|line| line.split_whitespace().nth(3)?.parse().ok())
        .unwrap_or(1024);
    let count = 10_000.min(files.saturating_sub(100) / 2);
    let (address, server) = serve(Limits::default(), false).await;
    let mut watches = Vec::with_capacity(count);
    for _ in 0..count {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {MAPS}?watch=true HTTP/1.1\r\nhost: a\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        watches.push(stream);
    }
    let request = http::Request::post("/api/v1/namespaces/default/configmaps")
        .body(br#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"seen"}}"#.to_vec())
        .unwrap();
    let client = server.cluster("a").client();
    let created: Result<serde_json::Value, _> = client.request(request).await;
    created.unwrap();
    for mut watch in watches {
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("\"name\":\"seen\"") {
            let mut buffer = [0; 4096];
            let read = timeout(PATIENCE, watch.read(&mut buffer)).await.unwrap();
            let read = read.unwrap();
            assert!(read > 0, "the watch ended");
            seen.extend_from_slice(&buffer[..read]);
        }
    }
    assert_eq!(code(&say(address, &get("")).await), "200");
}
