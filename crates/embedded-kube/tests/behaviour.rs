//! The behaviours that controllers rest on, on the embedded server alone: these always run, while the
//! differential suite needs the real one.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use embedded_kube::{Access, Cluster, Options, TokioClock, User};
use futures_util::stream;
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::PostParams;
use serde_json::{Value, json};
use tower_service::Service as _;

const CORE: &str = "/api/v1/namespaces/default";
const THINGS: &str = "/apis/example.com/v1/namespaces/default/things";
const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com";

struct Api(Cluster);

impl Api {
    fn new() -> Self {
        Self::with_history(1024)
    }

    fn with_history(history: usize) -> Self {
        let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        let options = Options {
            history,
            ..Options::new(Arc::new(clock))
        };
        Self(Cluster::with_options("test", &options))
    }

    async fn send(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let kind = if method == "PATCH" {
            "merge-patch+json"
        } else {
            "json"
        };
        let text = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", format!("application/{kind}"))
            .body(Full::new(text.into()))
            .unwrap();
        let response = self.0.service().call(request).await.unwrap();
        let code = response.status().as_u16();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (code, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    async fn ok(&self, method: &str, path: &str, body: Value) -> Value {
        let (code, answer) = self.send(method, path, body).await;
        assert!((200..300).contains(&code), "{method} {path}: {answer}");
        answer
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.send("GET", path, Value::Null).await
    }

    async fn map(&self, name: &str, metadata: Value) -> Value {
        let mut body = json!({"metadata": metadata});
        body["metadata"]["name"] = json!(name);
        self.ok("POST", &format!("{CORE}/configmaps"), body).await
    }

    async fn define(&self) {
        let schema = |extra: Value| {
            let mut properties = json!({"size": {"type": "integer", "default": 3}});
            properties
                .as_object_mut()
                .unwrap()
                .extend(extra.as_object().unwrap().clone());
            json!({"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "default": {}, "properties": properties},
                "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
            }}})
        };
        let version = |name: &str, storage: bool, schema: Value| {
            json!({"name": name, "served": true, "storage": storage, "schema": schema,
                   "subresources": {"status": {}},
                   "selectableFields": [{"jsonPath": ".spec.size"}]})
        };
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [
                    version("v1", true, schema(json!({"new": {"type": "string"}}))),
                    version("v1beta1", false, schema(json!({"old": {"type": "string"}})))
                ]
            }
        });
        self.ok(
            "POST",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            definition,
        )
        .await;
    }

    async fn thing(&self, name: &str, rest: Value) -> Value {
        let mut body = json!({"apiVersion": "example.com/v1", "kind": "Thing",
                              "metadata": {"name": name}});
        body.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        self.ok("POST", THINGS, body).await
    }

    /// The events of a watch that ends by itself.
    async fn watch(&self, path: &str) -> Vec<Value> {
        let request = http::Request::get(path)
            .body(Full::<Bytes>::default())
            .unwrap();
        let response = self.0.service().call(request).await.unwrap();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }
}

fn owned_by(owner: &Value, blocks: bool) -> Value {
    json!({"ownerReferences": [{
        "apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "blockOwnerDeletion": blocks
    }]})
}

fn types(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn finalizers_hold_an_object_and_the_generation_rises() {
    let api = Api::new();
    api.define().await;
    let made = api
        .thing(
            "a",
            json!({"metadata": {"name": "a", "finalizers": ["x.y/z"]}}),
        )
        .await;
    assert_eq!(made["metadata"]["generation"], 1);
    assert_eq!(made["spec"], json!({"size": 3}));
    let path = format!("{THINGS}/a");
    let status = api
        .ok(
            "PATCH",
            &format!("{path}/status"),
            json!({"status": {"a": 1}}),
        )
        .await;
    assert_eq!(status["metadata"]["generation"], 1);
    let spec = api
        .ok(
            "PATCH",
            &path,
            json!({"spec": {"size": 4}, "status": {"a": 2}}),
        )
        .await;
    assert_eq!(
        (&spec["metadata"]["generation"], &spec["status"]["a"]),
        (&json!(2), &json!(1))
    );
    let deleting = api.ok("DELETE", &path, Value::Null).await;
    assert_eq!(
        deleting["metadata"]["deletionTimestamp"],
        "2026-01-01T00:00:00Z"
    );
    assert_eq!(deleting["metadata"]["generation"], 3);
    let refused = json!({"metadata": {"finalizers": ["x.y/z", "x.y/new"]}});
    assert_eq!(api.send("PATCH", &path, refused).await.0, 422);
    api.ok("PATCH", &path, json!({"metadata": {"finalizers": null}}))
        .await;
    assert_eq!(api.get(&path).await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_stale_write_is_a_conflict_and_a_void_one_is_silent() {
    let api = Api::new();
    let made = api.map("a", json!({})).await;
    let path = format!("{CORE}/configmaps/a");
    let changed = api.ok("PATCH", &path, json!({"data": {"k": "1"}})).await;
    let (code, status) = api.send("PUT", &path, made).await;
    assert_eq!((code, &status["reason"]), (409, &json!("Conflict")));
    let same = api.ok("PATCH", &path, json!({"data": {"k": "1"}})).await;
    assert_eq!(
        same["metadata"]["resourceVersion"],
        changed["metadata"]["resourceVersion"]
    );
}

#[tokio::test(start_paused = true)]
async fn dependents_go_with_their_owner() {
    let api = Api::new();
    let owner = api.map("owner", json!({})).await;
    let child = api.map("child", owned_by(&owner, false)).await;
    api.map("grandchild", owned_by(&child, false)).await;
    api.ok("DELETE", &format!("{CORE}/configmaps/owner"), Value::Null)
        .await;
    for name in ["child", "grandchild"] {
        assert_eq!(
            api.get(&format!("{CORE}/configmaps/{name}")).await.0,
            404,
            "{name}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn orphans_stay_and_lose_the_reference() {
    let api = Api::new();
    let owner = api.map("owner", json!({})).await;
    api.map("child", owned_by(&owner, true)).await;
    let options = json!({"propagationPolicy": "Orphan"});
    api.ok("DELETE", &format!("{CORE}/configmaps/owner"), options)
        .await;
    assert_eq!(api.get(&format!("{CORE}/configmaps/owner")).await.0, 404);
    let child = api.get(&format!("{CORE}/configmaps/child")).await.1;
    assert_eq!(child["metadata"]["ownerReferences"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn foreground_deletion_waits_for_what_blocks() {
    let api = Api::new();
    let owner = api.map("owner", json!({})).await;
    let mut metadata = owned_by(&owner, true);
    metadata["finalizers"] = json!(["x.y/z"]);
    api.map("child", metadata).await;
    let path = format!("{CORE}/configmaps/owner");
    let answer = api
        .ok("DELETE", &path, json!({"propagationPolicy": "Foreground"}))
        .await;
    assert_eq!(
        answer["metadata"]["finalizers"],
        json!(["foregroundDeletion"])
    );
    let child = format!("{CORE}/configmaps/child");
    assert!(api.get(&child).await.1["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(api.get(&path).await.0, 200);
    api.ok("PATCH", &child, json!({"metadata": {"finalizers": null}}))
        .await;
    assert_eq!(api.get(&path).await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_ends_when_its_content_is_gone() {
    let api = Api::new();
    api.ok(
        "POST",
        "/api/v1/namespaces",
        json!({"metadata": {"name": "n"}}),
    )
    .await;
    let maps = "/api/v1/namespaces/n/configmaps";
    api.ok("POST", maps, json!({"metadata": {"name": "a"}}))
        .await;
    let held = json!({"metadata": {"name": "b", "finalizers": ["x.y/z"]}});
    api.ok("POST", maps, held).await;
    let ending = api.ok("DELETE", "/api/v1/namespaces/n", Value::Null).await;
    assert_eq!(ending["status"]["phase"], "Terminating");
    assert_eq!(api.get(&format!("{maps}/a")).await.0, 404);
    let (code, status) = api
        .send("POST", maps, json!({"metadata": {"name": "c"}}))
        .await;
    assert_eq!(
        (code, &status["details"]["causes"][0]["reason"]),
        (403, &json!("NamespaceTerminating"))
    );
    assert_eq!(api.get("/api/v1/namespaces/n").await.0, 200);
    api.ok(
        "PATCH",
        &format!("{maps}/b"),
        json!({"metadata": {"finalizers": null}}),
    )
    .await;
    assert_eq!(api.get("/api/v1/namespaces/n").await.0, 404);
    assert_eq!(
        api.send("DELETE", "/api/v1/namespaces/default", Value::Null)
            .await
            .0,
        403
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_resumes_and_follows_its_selector() {
    let api = Api::new();
    let made = api.map("a", json!({"labels": {"team": "x"}})).await;
    let path = format!("{CORE}/configmaps/a");
    api.ok("PATCH", &path, json!({"data": {"k": "1"}})).await;
    api.ok(
        "PATCH",
        &path,
        json!({"metadata": {"labels": {"team": "y"}}}),
    )
    .await;
    api.ok("DELETE", &path, Value::Null).await;
    let version = made["metadata"]["resourceVersion"].as_str().unwrap();
    let watch = format!("{CORE}/configmaps?watch=1&timeoutSeconds=1&resourceVersion={version}");
    let all = api.watch(&watch).await;
    assert_eq!(types(&all), ["MODIFIED", "MODIFIED", "DELETED"]);
    assert_eq!(all[2]["object"]["metadata"]["labels"]["team"], "y");
    let selected = api.watch(&format!("{watch}&labelSelector=team%3Dx")).await;
    assert_eq!(types(&selected), ["MODIFIED", "DELETED"]);
    assert_eq!(selected[1]["object"]["metadata"]["labels"]["team"], "x");
    api.0.compact();
    let expired = api.watch(&watch).await;
    assert_eq!(
        (types(&expired), &expired[0]["object"]["code"]),
        (vec!["ERROR"], &json!(410))
    );
}

#[tokio::test(start_paused = true)]
async fn history_is_bounded() {
    let api = Api::with_history(3);
    for index in 0..5 {
        api.map(&format!("m{index}"), json!({})).await;
    }
    let watch = format!("{CORE}/configmaps?watch=1&timeoutSeconds=1&resourceVersion=");
    assert_eq!(types(&api.watch(&format!("{watch}5")).await), ["ERROR"]);
    assert_eq!(
        types(&api.watch(&format!("{watch}7")).await),
        ["ADDED", "ADDED", "ADDED"]
    );
}

#[tokio::test(start_paused = true)]
async fn initial_events_end_with_a_bookmark() {
    let api = Api::new();
    api.map("a", json!({})).await;
    let options = "watch=1&timeoutSeconds=150&sendInitialEvents=true&allowWatchBookmarks=true\
                   &resourceVersionMatch=NotOlderThan";
    let events = api.watch(&format!("{CORE}/configmaps?{options}")).await;
    // At the end of the state, after a minute, after another, and two seconds before the end.
    assert_eq!(
        types(&events),
        ["ADDED", "BOOKMARK", "BOOKMARK", "BOOKMARK", "BOOKMARK"]
    );
    let end = &events[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"];
    assert_eq!(end, "true");
}

#[tokio::test(start_paused = true)]
async fn pages_show_one_moment() {
    let api = Api::new();
    for name in ["a", "b", "c"] {
        api.map(name, json!({})).await;
    }
    let maps = format!("{CORE}/configmaps");
    let (_, first) = api.get(&format!("{maps}?limit=2")).await;
    assert_eq!(first["metadata"]["remainingItemCount"], 1);
    api.ok("DELETE", &format!("{maps}/c"), Value::Null).await;
    api.map("d", json!({})).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let next = format!("{maps}?limit=2&continue={token}");
    let (_, second) = api.get(&next).await;
    assert_eq!(second["items"].as_array().unwrap().len(), 1);
    assert_eq!(second["items"][0]["metadata"]["name"], "c");
    api.0.compact();
    assert_eq!(api.get(&next).await.0, 410);
}

#[tokio::test(start_paused = true)]
async fn versions_share_objects_and_prune_by_the_stored_one() {
    let api = Api::new();
    api.define().await;
    let beta = "/apis/example.com/v1beta1/namespaces/default/things";
    let body = json!({"apiVersion": "example.com/v1beta1", "kind": "Thing",
                      "metadata": {"name": "a"}, "spec": {"size": 7, "old": "x"}});
    api.ok("POST", beta, body).await;
    for path in [beta, THINGS] {
        let (_, seen) = api.get(&format!("{path}/a")).await;
        assert_eq!(seen["spec"], json!({"size": 7}), "{path}");
    }
    let (_, list) = api
        .get(&format!("{THINGS}?fieldSelector=spec.size%3D7"))
        .await;
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    let (code, _) = api
        .get(&format!("{THINGS}?fieldSelector=spec.new%3D7"))
        .await;
    assert_eq!(code, 400);
}

#[tokio::test(start_paused = true)]
async fn a_definition_takes_its_objects_along() {
    let api = Api::new();
    api.define().await;
    api.thing(
        "a",
        json!({"metadata": {"name": "a", "finalizers": ["x.y/z"]}}),
    )
    .await;
    api.ok("DELETE", DEFINITION, Value::Null).await;
    let body = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "b"}});
    assert_eq!(api.send("POST", THINGS, body).await.0, 403);
    api.ok(
        "PATCH",
        &format!("{THINGS}/a"),
        json!({"metadata": {"finalizers": null}}),
    )
    .await;
    assert_eq!(api.get(DEFINITION).await.0, 404);
    assert_eq!(api.get(THINGS).await.0, 404);
}

/// A body that is still on its way while the definition of its kind goes: an object of a kind that
/// nobody serves would be out of reach, and back with the next definition.
#[tokio::test(start_paused = true)]
async fn a_slow_body_finds_its_kind_gone() {
    let api = Api::new();
    api.define().await;
    let other = Api(api.0.clone());
    // The request has been routed when its body is asked for.
    let body = stream::once(async move {
        other.ok("DELETE", DEFINITION, Value::Null).await;
        let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing",
                           "metadata": {"name": "a"}});
        Ok::<_, Infallible>(Frame::data(Bytes::from(thing.to_string())))
    });
    let request = http::Request::post(THINGS)
        .header("content-type", "application/json")
        .body(StreamBody::new(body))
        .unwrap();
    let response = api.0.service().call(request).await.unwrap();
    assert_eq!(response.status(), 404);
    api.define().await;
    assert_eq!(api.ok("GET", THINGS, Value::Null).await["items"], json!([]));
}

/// Who does not say properly as whom they write is refused, not let past the policies.
#[tokio::test(start_paused = true)]
async fn nobody_slips_past_a_policy() {
    let api = Api::new();
    let group = "/apis/admissionregistration.k8s.io/v1";
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
        "resources": ["configmaps"]});
    let policy = json!({"metadata": {"name": "never"}, "spec": {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "false"}]}});
    let path = format!("{group}/validatingadmissionpolicies");
    api.ok("POST", &path, policy).await;
    let binding = json!({"metadata": {"name": "never"},
        "spec": {"policyName": "never", "validationActions": ["Deny"]}});
    let path = format!("{group}/validatingadmissionpolicybindings");
    api.ok("POST", &path, binding).await;

    let map = json!({"metadata": {"name": "a"}}).to_string();
    let maps = "/api/v1/namespaces/default/configmaps";
    for (header, value, expected) in [
        ("x-nothing", "", 422),
        ("impersonate-user", "somebody", 422),
        ("impersonate-user", "jos\u{e9}", 422),
        ("impersonate-group", "team", 400),
        ("impersonate-uid", "1", 400),
    ] {
        let request = http::Request::post(maps)
            .header("content-type", "application/json")
            .header(header, http::HeaderValue::from_str(value).unwrap())
            .body(Full::new(Bytes::from(map.clone())))
            .unwrap();
        let response = api.0.service().call(request).await.unwrap();
        assert_eq!(response.status(), expected, "{header}: {value}");
    }
    assert_eq!(api.get(&format!("{maps}/a")).await.0, 404);
}

/// Long lists in one rule come to billions of permissions, which nobody counts.
#[tokio::test(start_paused = true)]
async fn a_rule_of_a_billion_permissions_is_refused() {
    let clock = Arc::new(TokioClock::starting_at(
        "2026-01-01T00:00:00Z".parse().unwrap(),
    ));
    let options = Options {
        access: Some(Arc::new(Access::new())),
        ..Options::new(clock)
    };
    let cluster = Cluster::with_options("", &options);
    let roles: kube::Api<Role> = kube::Api::namespaced(cluster.client(), "default");
    let role = |name: &str, rules: Value| -> Role {
        serde_json::from_value(json!({"metadata": {"name": name}, "rules": rules})).unwrap()
    };
    let rules = json!([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"],
        "verbs": ["create"]}]);
    let post = PostParams::default();
    roles.create(&post, &role("maker", rules)).await.unwrap();
    let binding = serde_json::from_value(json!({"metadata": {"name": "maker"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "maker"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ann"}]}));
    let bindings: kube::Api<RoleBinding> = kube::Api::namespaced(cluster.client(), "default");
    bindings.create(&post, &binding.unwrap()).await.unwrap();

    let many = |what: &str| -> Vec<String> { (0..1_000).map(|i| format!("{what}{i}")).collect() };
    let rules = json!([{"apiGroups": many("g"), "resources": many("r"), "verbs": many("v")}]);
    let ann: kube::Api<Role> =
        kube::Api::namespaced(cluster.client_as(User::new("ann", &[])), "default");
    let refused = ann.create(&post, &role("all", rules)).await.unwrap_err();
    assert!(
        matches!(&refused, kube::Error::Api(status) if status.code == 403
            && status.message.contains("more than 100000 permissions")),
        "{refused}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_names() {
    let name = async |api: Api| {
        let body = json!({"metadata": {"generateName": "x-"}});
        let made = api.ok("POST", &format!("{CORE}/secrets"), body).await;
        (
            made["metadata"]["name"].clone(),
            made["metadata"]["uid"].clone(),
        )
    };
    assert_eq!(name(Api::new()).await, name(Api::new()).await);
}

/// Nobody keeps a watch for ever without saying so.
#[tokio::test(start_paused = true)]
async fn watches_end() {
    let api = Api::new();
    let path = format!("{CORE}/configmaps?watch=true&resourceVersion=1");
    let lasted = async |path: &str| {
        let start = tokio::time::Instant::now();
        assert_eq!(api.get(path).await.0, 200);
        start.elapsed().as_secs()
    };
    let silent = lasted(&path).await;
    assert!((1800..=3600).contains(&silent), "{silent}");
    let told = lasted(&format!("{path}&timeoutSeconds=7200")).await;
    assert!((7200..7210).contains(&told), "{told}");
}
