//! A server that is killed again and again while it is written to: nothing that it answered is lost.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use embedded_kube::{Limits, Listener, Options, Server, TokioClock};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_mins(1);
const FOLDER: &str = "FREEHOLD_STATE_TEST_FOLDER";
const WRITERS: usize = 4;
const MAPS: &str = "/clusters/a/api/v1/namespaces/default/configmaps";

/// The server to be killed; it runs in a process of its own, where the folder is named.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let server = open(Path::new(&folder));
        server.cluster("a");
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = Listener::bind(any, Limits::default()).await.unwrap();
        let mut out = std::io::stdout();
        writeln!(out, "\nLISTENING {}", listener.local_addr().unwrap()).unwrap();
        out.flush().unwrap();
        listener.serve(server.router()).await;
    });
}

fn open(folder: &Path) -> Server {
    let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    Server::open(Options::new(Arc::new(clock)), folder).unwrap()
}

/// A child that does not outlive the test.
struct Running {
    child: Child,
    address: SocketAddr,
}

impl Running {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture"])
            .env(FOLDER, folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (tell, told) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some(address) = line.strip_prefix("LISTENING ") {
                    let _ = tell.send(address.parse().unwrap());
                }
            }
        });
        let address = told.recv_timeout(PATIENCE).expect("the server starts");
        Self { child, address }
    }

    /// SIGKILL.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection; none if the server is gone.
fn connect(address: SocketAddr) -> Option<TcpStream> {
    let stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_nodelay(true).ok()?;
    Some(stream)
}

/// One answer; none if it did not arrive whole.
fn ask(stream: &mut TcpStream, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        bytes.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
    let code = head.split(' ').nth(1)?.parse().ok()?;
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))?;
    let mut body = vec![0; length.trim().parse().ok()?];
    stream.read_exact(&mut body).ok()?;
    Some((code, serde_json::from_slice(&body).ok()?))
}

fn revision(object: &Value) -> u64 {
    let text = object["metadata"]["resourceVersion"].as_str();
    text.unwrap().parse().unwrap()
}

/// What was answered: by name, the last value and its revision; none for what was deleted.
type Acknowledged = BTreeMap<String, Option<(u64, u64)>>;

/// Writes as fast as it can until the server is gone; every answer goes into the record.
fn write(address: SocketAddr, writer: usize, round: usize, record: &Mutex<Acknowledged>) -> u64 {
    let Some(mut stream) = connect(address) else {
        return 0;
    };
    let mut highest = 0;
    for step in 0_u64.. {
        let name = format!("w{writer}-{}", step % 5);
        let value = u64::try_from(round).unwrap() * 1_000_000 + step;
        let known = record.lock().unwrap().get(&name).copied().flatten();
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
            "data": {"value": value.to_string()}})
        .to_string();
        let path = format!("{MAPS}/{name}");
        let answer = match known {
            None => ask(&mut stream, "POST", MAPS, &body),
            Some(_) if step % 7 == 6 => ask(&mut stream, "DELETE", &path, ""),
            Some(_) => ask(&mut stream, "PUT", &path, &body),
        };
        let Some((code, answer)) = answer else {
            // Nobody knows whether it happened: it is asked after the restart.
            record.lock().unwrap().remove(&name);
            return highest;
        };
        assert!(code < 300 || code == 409 || code == 404, "{code} {answer}");
        let mut record = record.lock().unwrap();
        if code >= 300 {
            // An unanswered write of an earlier round was there after all, or a deletion.
            record.remove(&name);
            if code == 409 {
                record.insert(name, Some((0, 0)));
            }
        } else if answer["kind"] == "ConfigMap" {
            let revision = revision(&answer);
            assert!(revision > highest, "{revision} after {highest}");
            highest = revision;
            record.insert(name, Some((revision, value)));
        } else {
            record.insert(name, None);
        }
    }
    highest
}

fn folder(name: &str) -> PathBuf {
    let name = format!("freehold-state-{name}-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[test]
fn nothing_acknowledged_is_lost_in_a_hundred_kills() {
    let folder = folder("kills");
    let record: Arc<Mutex<Acknowledged>> = Arc::default();
    let (mut highest, mut written) = (0, 0);
    for round in 0..100 {
        let mut server = Running::start(&folder);
        highest = check(server.address, &record.lock().unwrap(), highest);
        if round % 10 == 9 {
            check_watch(server.address, highest);
        }
        let address = server.address;
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let record = Arc::clone(&record);
                std::thread::spawn(move || write(address, writer, round, &record))
            })
            .collect();
        // Killed in the middle: after so many revisions, another number each time.
        let until = highest + 20 + u64::try_from(round).unwrap() * 7 % 60;
        let mut stream = connect(address).unwrap();
        while ask(&mut stream, "GET", &format!("{MAPS}?limit=1"), "")
            .is_some_and(|(_, list)| revision(&list) < until)
        {}
        server.kill();
        for writer in writers {
            let last = writer.join().unwrap();
            written += usize::from(last > 0);
            highest = highest.max(last);
        }
    }
    assert!(written > 100, "the writers wrote in {written} rounds only");
    let server = Running::start(&folder);
    let now = check(server.address, &record.lock().unwrap(), highest);
    check_watch(server.address, now);
    drop(server);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Everything that was answered is there; the answer is the revision now.
fn check(address: SocketAddr, record: &Acknowledged, highest: u64) -> u64 {
    let mut stream = connect(address).unwrap();
    let (_, list) = ask(&mut stream, "GET", MAPS, "").unwrap();
    let now = revision(&list);
    assert!(now >= highest, "{now} after {highest}");
    let mut found: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for item in list["items"].as_array().unwrap() {
        let value = item["data"]["value"].as_str().unwrap().parse().unwrap();
        let name = item["metadata"]["name"].as_str().unwrap();
        assert!(revision(item) <= now);
        found.insert(name, (revision(item), value));
    }
    for (name, expected) in record {
        match expected {
            Some((0, 0)) => assert!(found.contains_key(name.as_str()), "{name} is gone"),
            Some(expected) => assert_eq!(found.get(name.as_str()), Some(expected), "{name}"),
            None => assert!(!found.contains_key(name.as_str()), "{name} is back"),
        }
    }
    now
}

/// A watch goes on where it was.
fn check_watch(address: SocketAddr, highest: u64) {
    let mut stream = connect(address).unwrap();
    let from = highest.saturating_sub(10).max(1);
    let path = format!("{MAPS}?watch=true&resourceVersion={from}&timeoutSeconds=1");
    let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut events = String::new();
    stream.read_to_string(&mut events).unwrap();
    let mut last = from;
    for line in events.lines().filter(|line| line.starts_with("{\"type\"")) {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_ne!(event["type"], "ERROR", "{event}");
        let revision = revision(&event["object"]);
        assert!(revision > last, "{revision} after {last}");
        last = revision;
    }
    assert!(last > from, "the watch told nothing: {events}");
}

/// Definitions, their objects, owners and namespaces are what they were.
#[tokio::test]
async fn a_cluster_goes_on() {
    let folder = folder("goes-on");
    let ask = async |server: &Server, method: &str, path: &str, body: Value| -> Value {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .body(body.into_bytes());
        let client = server.cluster("a").client();
        let answer = client.request::<Value>(request.unwrap()).await;
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    };
    let things = "/apis/example.com/v1/namespaces/default/things";
    let maps = "/api/v1/namespaces/default/configmaps";
    let before = {
        let server = open(&folder);
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
            "properties": {"a": {"type": "string", "default": "d"}}}}});
        let definition = json!({"apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": schema}}]}});
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        ask(&server, "POST", definitions, definition).await;
        let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing",
            "metadata": {"name": "t"}, "spec": {}});
        let thing = ask(&server, "POST", things, thing).await;
        let owned = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owned",
            "ownerReferences": [{"apiVersion": "example.com/v1", "kind": "Thing", "name": "t",
                "uid": thing["metadata"]["uid"]}]}});
        ask(&server, "POST", maps, owned).await;
        let list = ask(&server, "GET", things, Value::Null).await;
        let crds = ask(&server, "GET", definitions, Value::Null).await;
        let spaces = ask(&server, "GET", "/api/v1/namespaces", Value::Null).await;
        [list, crds, spaces]
    };
    // The thread that writes ends when the last handle is gone, and lets the file go.
    let server = loop {
        let clock = TokioClock::starting_at("2026-01-02T00:00:00Z".parse().unwrap());
        match Server::open(Options::new(Arc::new(clock)), &folder) {
            Ok(server) => break server,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let after = [
        ask(&server, "GET", things, Value::Null).await,
        ask(&server, "GET", definitions, Value::Null).await,
        ask(&server, "GET", "/api/v1/namespaces", Value::Null).await,
    ];
    assert_eq!(before, after);
    assert_eq!(after[0]["items"][0]["spec"]["a"], "d");
    // New uids are new, and the garbage collector knows the owners.
    let new = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "u"}});
    let new = ask(&server, "POST", things, new).await;
    assert_ne!(
        new["metadata"]["uid"],
        after[0]["items"][0]["metadata"]["uid"]
    );
    assert!(revision(&new) > revision(&after[0]));
    ask(&server, "DELETE", &format!("{things}/t"), Value::Null).await;
    let left = ask(&server, "GET", maps, Value::Null).await;
    assert_eq!(left["items"], json!([]));
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
}
