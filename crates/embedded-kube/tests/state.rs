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

use embedded_kube::{Access, Limits, Listener, Options, Server, TokioClock};
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

/// The state of a folder, as soon as who had it before has let it go: the thread that writes ends
/// when the last handle is gone.
async fn reopen(options: &Options, folder: &Path) -> Server {
    let opening = async {
        loop {
            match Server::open(options.clone(), folder) {
                Ok(server) => break server,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    tokio::time::timeout(PATIENCE, opening).await.unwrap()
}

fn options() -> Options {
    let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    Options::new(Arc::new(clock))
}

/// An answer to the administrator.
async fn request(server: &Server, method: &str, path: &str, body: Value) -> Value {
    let answer = lines(server, method, path, body).await;
    let answer = answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
    serde_json::from_str(&answer).unwrap()
}

/// The text of an answer.
async fn lines(
    server: &Server,
    method: &str,
    path: &str,
    body: Value,
) -> Result<String, kube::Error> {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .body(body.into_bytes());
    let client = server.cluster("a").client();
    let answer = client.request_text(request.unwrap());
    tokio::time::timeout(PATIENCE, answer).await.unwrap()
}

async fn get(server: &Server, path: &str) -> Value {
    request(server, "GET", path, Value::Null).await
}

/// What a watch tells until it ends. Nothing may be on its way to the disk: the clock runs ahead
/// whenever nothing else does.
async fn watched(server: &Server, path: &str) -> String {
    tokio::time::pause();
    let told = lines(server, "GET", path, Value::Null).await;
    tokio::time::resume();
    told.unwrap()
}

async fn events(server: &Server, path: &str) -> Vec<Value> {
    let told = watched(server, path).await;
    told.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const DEFAULT_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A definition of things; each version has a schema for its `spec`, and the last is stored.
fn things(versions: &[(&str, Value)]) -> Value {
    let last = versions.len() - 1;
    let versions: Vec<Value> = versions
        .iter()
        .enumerate()
        .map(|(number, (name, properties))| {
            let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
                "properties": properties}}});
            json!({"name": name, "served": true, "storage": number == last,
                "schema": {"openAPIV3Schema": schema}})
        })
        .collect();
    json!({"apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"}, "versions": versions}})
}

/// Gives the definition other versions.
async fn redefine(server: &Server, versions: &[(&str, Value)]) {
    let place = format!("{DEFINITIONS}/things.example.com");
    let mut definition = get(server, &place).await;
    definition["spec"] = things(versions)["spec"].clone();
    request(server, "PUT", &place, definition).await;
}

/// A watch may name a revision that no disk ever reaches; it ends all the same.
#[tokio::test]
async fn a_watch_of_the_future_ends() {
    let folder = folder("future");
    let server = reopen(&options(), &folder).await;
    get(&server, DEFAULT_MAPS).await;
    let future =
        format!("{DEFAULT_MAPS}?watch=1&allowWatchBookmarks=true&resourceVersion=999999999");
    let state = format!("{future}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    let told = events(&server, &state).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["type"], "ERROR", "{told:?}");
    let told = events(&server, &format!("{future}&timeoutSeconds=5")).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["type"], "BOOKMARK", "{told:?}");
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
}

/// What a newer schema adds to an object and takes from it, it does after a restart too.
#[tokio::test]
async fn objects_of_an_older_schema_are_shown_by_the_present_one() {
    let folder = folder("schemas");
    let list = "/apis/example.com/v1/namespaces/default/things";
    let text = json!({"type": "string"});
    let server = reopen(&options(), &folder).await;
    let old = things(&[("v1", json!({"kept": text, "gone": text}))]);
    request(&server, "POST", DEFINITIONS, old).await;
    let start = revision(&get(&server, list).await);
    for name in ["a", "b"] {
        let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing",
            "metadata": {"name": name}, "spec": {"kept": "k", "gone": "g"}});
        request(&server, "POST", list, thing).await;
    }
    request(&server, "DELETE", &format!("{list}/b"), Value::Null).await;
    let defaulted = json!({"type": "string", "default": "d"});
    redefine(&server, &[("v1", json!({"kept": text, "x": defaulted}))]).await;
    let watch = format!("{list}?watch=1&timeoutSeconds=1&resourceVersion={start}");
    let look = async |server: &Server| {
        let object = get(server, &format!("{list}/a")).await;
        (
            object,
            get(server, list).await,
            events(server, &watch).await,
        )
    };
    let before = look(&server).await;
    assert_eq!(before.0["spec"], json!({"kept": "k", "x": "d"}));
    drop(server);
    let server = reopen(&options(), &folder).await;
    assert_eq!(look(&server).await, before);
    // The version that they were written in is gone.
    let second = ("v2", json!({"kept": text}));
    redefine(&server, &[("v1", json!({})), second.clone()]).await;
    let place = format!("{DEFINITIONS}/things.example.com");
    let mut status = get(&server, &place).await;
    status["status"]["storedVersions"] = json!(["v2"]);
    request(&server, "PUT", &format!("{place}/status"), status).await;
    redefine(&server, &[second]).await;
    drop(server);
    let server = reopen(&options(), &folder).await;
    let object = get(&server, "/apis/example.com/v2/namespaces/default/things/a").await;
    assert_eq!(object["apiVersion"], "example.com/v2");
    assert_eq!(object["spec"], json!({"kept": "k"}));
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
}

/// What was deep and is deleted is still told of, so it is read again.
#[tokio::test]
async fn deep_objects_that_are_gone_do_no_harm() {
    let folder = folder("deep");
    let list = "/apis/example.com/v1/namespaces/default/things";
    let server = reopen(&options(), &folder).await;
    let any = json!({"any": {"x-kubernetes-preserve-unknown-fields": true}});
    request(&server, "POST", DEFINITIONS, things(&[("v1", any)])).await;
    let start = revision(&get(&server, list).await);
    let (open, close) = ("[".repeat(9000), "]".repeat(9000));
    let thing = format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Thing","metadata":{{"name":"a"}},"spec":{{"any":{open}{close}}}}}"#
    );
    let post = http::Request::post(list)
        .header("content-type", "application/json")
        .body(thing.into_bytes());
    let client = server.cluster("a").client();
    client.request_text(post.unwrap()).await.unwrap();
    request(&server, "DELETE", &format!("{list}/a"), Value::Null).await;
    drop((server, client));
    let server = reopen(&options(), &folder).await;
    let watch = format!("{list}?watch=1&timeoutSeconds=1&resourceVersion={start}");
    let told = watched(&server, &watch).await;
    assert_eq!(told.lines().count(), 2);
    assert_eq!(told.matches(&open).count(), 2);
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
}

/// Roles matter only where there is access: a state may be older than that.
#[tokio::test]
async fn access_finds_its_roles_in_an_older_state() {
    let folder = folder("access");
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let server = reopen(&options(), &folder).await;
    assert_eq!(get(&server, roles).await["items"], json!([]));
    drop(server);
    let with_access = Options {
        access: Some(Arc::new(Access::read("t,alice,1\n").unwrap())),
        ..options()
    };
    let server = reopen(&with_access, &folder).await;
    let first = get(&server, roles).await;
    assert_eq!(first["items"].as_array().unwrap().len(), 4);
    drop(server);
    // The next time they are there already.
    let server = reopen(&with_access, &folder).await;
    assert_eq!(get(&server, roles).await, first);
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
}

/// Who asks for changes that are forgotten hears so after a restart too.
#[tokio::test]
async fn what_was_forgotten_stays_forgotten() {
    for history in [0, 1] {
        let folder = folder("forgotten");
        let short = Options {
            history,
            ..options()
        };
        let server = reopen(&short, &folder).await;
        let mut first = 0;
        for name in ["a", "b", "c"] {
            let map = json!({"metadata": {"name": name}});
            let made = request(&server, "POST", DEFAULT_MAPS, map).await;
            first = if name == "a" { revision(&made) } else { first };
        }
        let watch = format!("{DEFAULT_MAPS}?watch=1&timeoutSeconds=1&resourceVersion={first}");
        let before = events(&server, &watch).await;
        assert_eq!(before[0]["object"]["code"], 410, "{history}: {before:?}");
        drop(server);
        let server = reopen(&short, &folder).await;
        assert_eq!(events(&server, &watch).await, before, "{history}");
        drop(server);
        let _ = std::fs::remove_dir_all(&folder);
    }
}

/// Definitions, their objects, owners and namespaces are what they were.
#[tokio::test]
async fn a_cluster_goes_on() {
    let folder = folder("goes-on");
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
        request(&server, "POST", definitions, definition).await;
        let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing",
            "metadata": {"name": "t"}, "spec": {}});
        let thing = request(&server, "POST", things, thing).await;
        let owned = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owned",
            "ownerReferences": [{"apiVersion": "example.com/v1", "kind": "Thing", "name": "t",
                "uid": thing["metadata"]["uid"]}]}});
        request(&server, "POST", maps, owned).await;
        let list = request(&server, "GET", things, Value::Null).await;
        let crds = request(&server, "GET", definitions, Value::Null).await;
        let spaces = request(&server, "GET", "/api/v1/namespaces", Value::Null).await;
        [list, crds, spaces]
    };
    let clock = TokioClock::starting_at("2026-01-02T00:00:00Z".parse().unwrap());
    let server = reopen(&Options::new(Arc::new(clock)), &folder).await;
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let after = [
        request(&server, "GET", things, Value::Null).await,
        request(&server, "GET", definitions, Value::Null).await,
        request(&server, "GET", "/api/v1/namespaces", Value::Null).await,
    ];
    assert_eq!(before, after);
    assert_eq!(after[0]["items"][0]["spec"]["a"], "d");
    // New uids are new, and the garbage collector knows the owners.
    let new = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "u"}});
    let new = request(&server, "POST", things, new).await;
    assert_ne!(
        new["metadata"]["uid"],
        after[0]["items"][0]["metadata"]["uid"]
    );
    assert!(revision(&new) > revision(&after[0]));
    request(&server, "DELETE", &format!("{things}/t"), Value::Null).await;
    let left = request(&server, "GET", maps, Value::Null).await;
    assert_eq!(left["items"], json!([]));
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
}
