//! The words that cases are written in.

use std::fmt;
use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::{
    Server,
    kinds::{self, Kind},
    normal::Normaliser,
    watch::Watch,
};

/// How long something that the real controllers do may take.
const PATIENCE: Duration = Duration::from_secs(90);
pub(crate) const ASK_EVERY: Duration = Duration::from_millis(50);

/// One case on one server. Every answer goes into the transcript, normalised.
///
/// A path is absolute, or begins with a plural (`configmaps/a`, `widgets@v1beta1/a/status`) and is
/// meant in the case's own namespace. `{ns}` and `{group}` stand for the case's namespace and for a
/// group that no other case uses.
pub(crate) struct Script {
    pub(crate) server: Server,
    pub(crate) ns: String,
    pub(crate) group: String,
    kinds: Vec<Kind>,
    entries: Vec<Entry>,
    normaliser: Normaliser,
}

/// A request, as text, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) request: String,
    pub(crate) outcome: Value,
}

/// What all requests of a case came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript(pub(crate) Vec<Entry>);

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Entry { request, outcome } in &self.0 {
            writeln!(f, "{request}\n    {outcome}")?;
        }
        Ok(())
    }
}

/// An answer as the server gave it.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) warnings: Vec<String>,
    /// A string where the body is no JSON.
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn rv(&self) -> String {
        self.text("/metadata/resourceVersion")
    }

    pub(crate) fn uid(&self) -> String {
        self.text("/metadata/uid")
    }

    pub(crate) fn name(&self) -> String {
        self.text("/metadata/name")
    }

    pub(crate) fn cursor(&self) -> String {
        self.text("/metadata/continue")
    }

    /// The string at this JSON pointer, empty where there is none.
    pub(crate) fn text(&self, pointer: &str) -> String {
        self.body
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    }
}

impl Script {
    /// A script with a fresh namespace of this name.
    pub(crate) async fn new(server: Server, name: &str) -> Self {
        let ns = short(name);
        let script = Self {
            server,
            group: format!("{ns}.example.com"),
            ns,
            kinds: kinds::known(),
            entries: Vec::new(),
            normaliser: Normaliser::default(),
        };
        let body =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": script.ns}});
        let answer = script.ask("POST", "/api/v1/namespaces", Some(body)).await;
        assert_eq!(
            answer.status, 201,
            "{}: {}",
            script.server.name, answer.body
        );
        script
    }

    pub(crate) fn transcript(&self) -> Transcript {
        Transcript(self.entries.clone())
    }

    // Requests.

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.request("GET", path, None).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: Value) -> Answer {
        if let Some(prefix) = body["metadata"]["generateName"].as_str()
            && body["metadata"]["name"].is_null()
        {
            self.normaliser.generates(prefix);
        }
        self.request("POST", path, Some(body)).await
    }

    pub(crate) async fn put(&mut self, path: &str, body: Value) -> Answer {
        self.request("PUT", path, Some(body)).await
    }

    pub(crate) async fn delete(&mut self, path: &str) -> Answer {
        self.request("DELETE", path, None).await
    }

    /// Deletes with these options; `apiVersion` and `kind` are added.
    pub(crate) async fn delete_with(&mut self, path: &str, options: Value) -> Answer {
        let base = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        self.request("DELETE", path, Some(kinds::merge(base, options)))
            .await
    }

    /// A JSON merge patch.
    pub(crate) async fn merge(&mut self, path: &str, patch: Value) -> Answer {
        self.typed(
            "PATCH",
            path,
            "application/merge-patch+json",
            patch.to_string(),
        )
        .await
    }

    /// A strategic merge patch.
    pub(crate) async fn strategic(&mut self, path: &str, patch: Value) -> Answer {
        self.typed(
            "PATCH",
            path,
            "application/strategic-merge-patch+json",
            patch.to_string(),
        )
        .await
    }

    /// A JSON patch.
    pub(crate) async fn patch(&mut self, path: &str, patch: Value) -> Answer {
        self.typed(
            "PATCH",
            path,
            "application/json-patch+json",
            patch.to_string(),
        )
        .await
    }

    /// A configuration to be applied.
    pub(crate) async fn apply(&mut self, path: &str, config: Value) -> Answer {
        self.typed(
            "PATCH",
            path,
            "application/apply-patch+yaml",
            config.to_string(),
        )
        .await
    }

    /// Applies what a manager says of an object; `apiVersion`, `kind` and the name are added.
    pub(crate) async fn apply_as(&mut self, manager: &str, item: &str, rest: Value) -> Answer {
        let (plural, name) = item.split_once('/').unwrap_or((item, ""));
        let (name, part) = name.split_once('/').unwrap_or((name, ""));
        let config = self.object(plural, name, rest);
        let part = if part.is_empty() {
            String::new()
        } else {
            format!("/{part}")
        };
        let path = format!("{plural}/{name}{part}?fieldManager={manager}");
        self.apply(&path, config).await
    }

    /// Posts an object of the kind that `path` names; `apiVersion`, `kind` and the name are added.
    pub(crate) async fn create(&mut self, path: &str, name: &str, rest: Value) -> Answer {
        let body = self.object(path, name, rest);
        self.post(path, body).await
    }

    /// Puts an object; what is not in `rest` is not in the object.
    pub(crate) async fn replace(&mut self, path: &str, name: &str, rest: Value) -> Answer {
        let body = self.object(path, name, rest);
        self.put(&on_item(path, name), body).await
    }

    async fn request(&mut self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let answer = self.ask(method, path, body).await;
        self.record(format!("{method} {path}"), &answer);
        answer
    }

    /// A body of any content type.
    pub(crate) async fn typed(
        &mut self,
        method: &str,
        path: &str,
        content_type: &str,
        body: impl Into<Vec<u8>>,
    ) -> Answer {
        let answer = self
            .send(method, path, &[("content-type", content_type)], body.into())
            .await;
        self.record(format!("{method} {path} ({content_type})"), &answer);
        answer
    }

    /// Any headers, any body.
    pub(crate) async fn raw(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Answer {
        let answer = self.send(method, path, headers, body.into()).await;
        self.record(format!("{method} {path} {headers:?}"), &answer);
        answer
    }

    /// Like [`Self::raw`], by somebody who shows no credentials but these headers.
    pub(crate) async fn stranger(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> Answer {
        let mut all = headers.to_vec();
        all.push(("content-type", "application/json"));
        let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
        let request = self.build(method, path, &all, body);
        let response = self.server.stranger.send(request).await;
        let answer = read(response.expect("an answer")).await;
        self.record(format!("{method} {path} {headers:?}"), &answer);
        answer
    }

    /// A request on behalf of somebody else, in these groups.
    pub(crate) async fn act(
        &mut self,
        user: &str,
        groups: &[&str],
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Answer {
        let mut headers = vec![("impersonate-user", user)];
        headers.extend(groups.iter().map(|&group| ("impersonate-group", group)));
        let kind = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        headers.push(("content-type", kind));
        let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
        let answer = self.send(method, path, &headers, body).await;
        self.record(format!("{user}: {method} {path}"), &answer);
        answer
    }

    /// Like [`Self::raw`], for input that is too long to be shown: long texts are cut.
    pub(crate) async fn hostile(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Answer {
        let answer = self.send(method, path, headers, body.into()).await;
        let shown: String = path.chars().take(200).collect();
        let mut outcome = self.normaliser.answer(&answer);
        cut(&mut outcome);
        self.entries.push(Entry {
            request: format!("{method} {shown} {headers:?}"),
            outcome,
        });
        answer
    }

    /// Only status code and reason go into the transcript: for answers that never end, and for
    /// those that nest deeper than this client reads.
    pub(crate) async fn code(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> u16 {
        let request = self.build(method, path, headers, body.into());
        let response = self.server.client.send(request).await.expect("an answer");
        let status = response.status().as_u16();
        // A success may be a watch that never ends: its body stays unread.
        let reason = match status {
            ..400 => Value::Null,
            _ => read(response)
                .await
                .body
                .get("reason")
                .cloned()
                .unwrap_or_default(),
        };
        let shown: String = path.chars().take(200).collect();
        let outcome = json!({"status": status, "reason": reason});
        self.entries.push(Entry {
            request: format!("{method} {shown} {headers:?}"),
            outcome,
        });
        status
    }

    /// Gets with headers, without a trace.
    pub(crate) async fn ask_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send("GET", path, headers, Vec::new()).await
    }

    /// Opens a watch; its status goes into the transcript, its events when they are taken.
    pub(crate) async fn watch(&mut self, path: &str) -> Watch {
        self.watch_with(path, &[]).await
    }

    /// The same with headers.
    pub(crate) async fn watch_with(&mut self, path: &str, headers: &[(&str, &str)]) -> Watch {
        let request = self.build("GET", path, headers, Vec::new());
        let response = self.server.client.send(request).await.expect("an answer");
        if response.status() == 200 {
            self.note(&format!("WATCH {path}"), json!({"status": 200}));
            return Watch::new(path, response.into_body());
        }
        let answer = read(response).await;
        self.record(format!("WATCH {path}"), &answer);
        Watch::ended(path)
    }

    // Waiting.

    /// Asks until the answer is what `is_it` wants; only that answer goes into the transcript.
    pub(crate) async fn until(&mut self, path: &str, is_it: impl Fn(&Answer) -> bool) -> Answer {
        let answer = self.until_peek(path, is_it).await;
        self.record(format!("UNTIL {path}"), &answer);
        answer
    }

    /// Waits until there is no such object.
    pub(crate) async fn until_gone(&mut self, path: &str) -> Answer {
        self.until(path, |answer| answer.status == 404).await
    }

    /// Like [`Self::until`], without a trace.
    pub(crate) async fn until_peek(&self, path: &str, is_it: impl Fn(&Answer) -> bool) -> Answer {
        let asking = async {
            loop {
                let answer = self.peek(path).await;
                if is_it(&answer) {
                    return answer;
                }
                tokio::time::sleep(ASK_EVERY).await;
            }
        };
        match tokio::time::timeout(PATIENCE, asking).await {
            Ok(answer) => answer,
            Err(_) => self.peek(path).await,
        }
    }

    /// Sends a request that changes nothing until it is answered with this status, without a trace.
    pub(crate) async fn until_code(&self, method: &str, path: &str, body: Value, status: u16) {
        let asking = async {
            while self.ask(method, path, Some(body.clone())).await.status != status {
                tokio::time::sleep(ASK_EVERY).await;
            }
        };
        tokio::time::timeout(PATIENCE, asking)
            .await
            .expect("the real server gets to it");
    }

    /// Sends with these headers, without a trace.
    pub(crate) async fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Answer {
        self.send(method, path, headers, body.to_string().into_bytes())
            .await
    }

    /// Posts without a trace.
    pub(crate) async fn try_post(&self, path: &str, body: Value) -> Answer {
        self.ask("POST", path, Some(body)).await
    }

    /// Asks without a trace.
    pub(crate) async fn peek(&self, path: &str) -> Answer {
        self.ask("GET", path, None).await
    }

    /// Makes the store forget the past.
    pub(crate) async fn compact(&mut self) {
        self.server.compact().await;
    }

    /// Waits until the garbage collector of the real server has heard of this kind: it looks for new
    /// ones every 30 s, and until then it takes their objects for no one's dependents.
    pub(crate) async fn collects(&mut self, plural: &str) {
        if !self.server.is_real() {
            return;
        }
        // A kind of the whole cluster cannot be owned by a namespaced one: it owns itself.
        if !self.kind(plural).namespaced {
            return self.wait_for_cluster_kind(plural).await;
        }
        let owner = self.object("configmaps", "probe-owner", json!({}));
        let owner = self.ask("POST", "configmaps", Some(owner)).await;
        let reference = json!({"metadata": {"ownerReferences": [{
            "apiVersion": "v1", "kind": "ConfigMap", "name": "probe-owner", "uid": owner.uid()}]},
            "spec": {"size": 1}});
        let dependent = self.object(plural, &format!("probe-{}", self.ns), reference);
        let path = on_item(plural, &format!("probe-{}", self.ns));
        let made = self.ask("POST", plural, Some(dependent)).await;
        assert_eq!(made.status, 201, "{}", made.body);
        self.ask("DELETE", "configmaps/probe-owner", None).await;
        self.wait_for(&path, 404).await;
    }

    async fn wait_for_cluster_kind(&mut self, plural: &str) {
        let (owner, dependent) = (
            format!("probe-owner-{}", self.ns),
            format!("probe-{}", self.ns),
        );
        let made = self
            .ask("POST", plural, Some(self.object(plural, &owner, json!({}))))
            .await;
        let kind = self.kind(plural).clone();
        let reference = json!({"metadata": {"ownerReferences": [{"apiVersion": kind.api_version(),
            "kind": kind.kind, "name": owner, "uid": made.uid()}]}});
        self.ask(
            "POST",
            plural,
            Some(self.object(plural, &dependent, reference)),
        )
        .await;
        self.ask("DELETE", &on_item(plural, &owner), None).await;
        self.wait_for(&on_item(plural, &dependent), 404).await;
    }

    async fn wait_for(&mut self, path: &str, status: u16) {
        let answer = self
            .until_peek(path, |answer| answer.status == status)
            .await;
        assert_eq!(answer.status, status, "the real controllers get to {path}");
    }

    // Kinds.

    /// Posts a definition and, if it was accepted, waits until its versions are served.
    /// The plural of the first version can then begin a path.
    pub(crate) async fn crd(&mut self, crd: Value) -> Answer {
        let answer = self.post("customresourcedefinitions", crd.clone()).await;
        if answer.status == 201 {
            self.learn(&crd);
            wait_until_served(&self.server.client, &crd).await;
            let path = format!("customresourcedefinitions/{}", text(&crd, "/metadata/name"));
            self.until(&path, is_established).await
        } else {
            answer
        }
    }

    /// Posts many definitions, then waits for all of them: the real server learns them together.
    pub(crate) async fn crds(&mut self, definitions: &[Value]) {
        for crd in definitions {
            self.ask("POST", "customresourcedefinitions", Some(crd.clone()))
                .await;
        }
        for crd in definitions {
            let path = format!("customresourcedefinitions/{}", text(crd, "/metadata/name"));
            if self.peek(&path).await.status == 200 {
                wait_until_served(&self.server.client, crd).await;
                self.until(&path, is_established).await;
            } else {
                self.get(&path).await;
            }
        }
    }

    /// Waits until the real server's cache is as new as this answer: a request for version 0 may be
    /// answered from any past.
    pub(crate) async fn freshen(&self, plural: &str, answer: &Answer) {
        let path = format!("{plural}?limit=1&resourceVersion={}", answer.rv());
        assert_eq!(self.peek(&path).await.status, 200);
    }

    /// Lets paths begin with the plural of this definition.
    pub(crate) fn learn(&mut self, crd: &Value) {
        self.kinds.push(Kind {
            plural: text(crd, "/spec/names/plural"),
            kind: text(crd, "/spec/names/kind"),
            group: text(crd, "/spec/group"),
            version: text(crd, "/spec/versions/0/name"),
            namespaced: text(crd, "/spec/scope") == "Namespaced",
        });
    }

    /// A definition in the case's own group, with one version `v1` of this schema.
    pub(crate) fn definition(&self, plural: &str, kind: &str, schema: Value) -> Value {
        self.definition_of(
            plural,
            kind,
            json!([{
            "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]),
        )
    }

    /// A definition in the case's own group with these versions.
    pub(crate) fn definition_of(&self, plural: &str, kind: &str, versions: Value) -> Value {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{}", self.group)},
            "spec": {"group": self.group, "scope": "Namespaced",
                "names": {"plural": plural, "kind": kind}, "versions": versions},
        })
    }

    /// An object of the kind that the path names.
    pub(crate) fn object(&self, path: &str, name: &str, rest: Value) -> Value {
        kinds::object(&self.kind(path), name, rest)
    }

    fn kind(&self, path: &str) -> Kind {
        let first = path
            .trim_start_matches('/')
            .split(['/', '?'])
            .next()
            .unwrap_or_default();
        let (plural, version) = match first.split_once('@') {
            Some((plural, version)) => (plural, Some(version)),
            None => (first, None),
        };
        let found = self.kinds.iter().rev().find(|kind| kind.plural == plural);
        let mut kind = found
            .unwrap_or_else(|| panic!("no case knows {plural}"))
            .clone();
        if let Some(version) = version {
            version.clone_into(&mut kind.version);
        }
        kind
    }

    /// The absolute path of what a script wrote.
    pub(crate) fn path(&self, path: &str) -> String {
        let path = path
            .replace("{ns}", &self.ns)
            .replace("{group}", &self.group);
        if path.starts_with('/') {
            return path;
        }
        let end = path.find(['/', '?']).unwrap_or(path.len());
        let base = self.kind(&path).base(&self.ns);
        format!("{base}{}", &path[end..])
    }

    // Plumbing.

    async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        match body {
            Some(body) => {
                let headers = [("content-type", "application/json")];
                self.send(method, path, &headers, body.to_string().into_bytes())
                    .await
            }
            None => self.send(method, path, &[], Vec::new()).await,
        }
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Answer {
        let asking = async {
            loop {
                let request = self.build(method, path, headers, body.clone());
                let answer = match self.server.client.send(request).await {
                    Ok(response) => read(response).await,
                    // A definition that changes cuts what reads its objects at that moment; to read
                    // again is what every client does.
                    Err(_) if method == "GET" && self.server.is_real() => {
                        tokio::time::sleep(ASK_EVERY).await;
                        continue;
                    }
                    Err(error) => panic!("{} {method} {path}: {error}", self.server.name),
                };
                // After a definition has changed, the real server asks for patience.
                let wait = answer.status == 429 && answer.text("/message").contains("initializing");
                if !wait {
                    return answer;
                }
                tokio::time::sleep(ASK_EVERY).await;
            }
        };
        tokio::time::timeout(PATIENCE, asking)
            .await
            .expect("the real server gets ready")
    }

    fn build(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> http::Request<kube::client::Body> {
        let mut request = http::Request::builder().method(method).uri(self.path(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        // Whoever does not say which manager it is is called after its client.
        if !headers.iter().any(|(name, _)| *name == "user-agent") {
            request = request.header("user-agent", "differential/1.0");
        }
        request
            .body(kube::client::Body::from(body))
            .expect("a well-formed request")
    }

    fn record(&mut self, request: String, answer: &Answer) {
        let outcome = self.normaliser.answer(answer);
        self.entries.push(Entry { request, outcome });
    }

    /// Puts anything else into the transcript.
    pub(crate) fn note(&mut self, request: &str, outcome: Value) {
        let outcome = self.normaliser.value(outcome);
        self.entries.push(Entry {
            request: request.to_owned(),
            outcome,
        });
    }
}

async fn read(response: http::Response<kube::client::Body>) -> Answer {
    let header = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = response.headers();
    let content_type = headers.get("content-type").map(header).unwrap_or_default();
    let warnings = headers.get_all("warning").iter().map(header).collect();
    let status = response.status().as_u16();
    let bytes = response
        .into_body()
        .collect()
        .await
        .expect("a body")
        .to_bytes();
    let body = serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
    Answer {
        status,
        content_type,
        warnings,
        body,
    }
}

/// Cuts texts that nobody reads to the end.
fn cut(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().count() > 4_000 => {
            *text = text.chars().take(4_000).collect();
        }
        Value::Array(items) => items.iter_mut().for_each(cut),
        Value::Object(map) => map.values_mut().for_each(cut),
        _ => {}
    }
}

/// Posts a definition and waits until it is served.
pub(crate) async fn install_crd(client: &kube::Client, crd: &Value) {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let request = http::Request::post(path)
        .header("content-type", "application/json")
        .body(kube::client::Body::from(crd.to_string().into_bytes()))
        .expect("a request");
    let answer = read(client.send(request).await.expect("an answer")).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    wait_until_served(client, crd).await;
}

/// The real server accepts a definition long before it serves the resource.
pub(crate) async fn wait_until_served(client: &kube::Client, crd: &Value) {
    let (group, plural) = (text(crd, "/spec/group"), text(crd, "/spec/names/plural"));
    let versions = crd["spec"]["versions"].as_array().expect("versions").iter();
    for version in versions.filter(|version| version["served"] == true) {
        let path = format!("/apis/{group}/{}/{plural}?limit=1", text(version, "/name"));
        let asking = async {
            loop {
                let request = http::Request::get(&path).body(kube::client::Body::empty());
                let request = request.expect("a request");
                let answer = read(client.send(request).await.expect("an answer")).await;
                if answer.status == 200 {
                    return;
                }
                tokio::time::sleep(ASK_EVERY).await;
            }
        };
        let served = tokio::time::timeout(PATIENCE, asking).await;
        assert!(served.is_ok(), "{path} is never served");
    }
}

/// The real server serves a definition a moment before it says so.
fn is_established(crd: &Answer) -> bool {
    let conditions = crd.body["status"]["conditions"].as_array();
    let is_true = |kind: &str| {
        conditions.is_some_and(|all| {
            all.iter()
                .any(|one| one["type"] == kind && one["status"] == "True")
        })
    };
    is_true("Established") && is_true("NamesAccepted")
}

fn text(value: &Value, pointer: &str) -> String {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// `widgets/a?x` of `widgets?x` and `a`.
fn on_item(path: &str, name: &str) -> String {
    match path.split_once('?') {
        Some((path, query)) => format!("{path}/{name}?{query}"),
        None => format!("{path}/{name}"),
    }
}

/// A namespace's name from a case's: at most 50 characters, so that names derived from it fit too.
fn short(name: &str) -> String {
    if name.len() <= 50 {
        return name.to_owned();
    }
    let sum = name.bytes().fold(5381_u32, |sum, byte| {
        sum.wrapping_mul(33).wrapping_add(u32::from(byte))
    });
    format!("{}-{sum:08x}", &name[..41])
}
