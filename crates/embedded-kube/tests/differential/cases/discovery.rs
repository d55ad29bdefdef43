//! Discovery: what a client learns before it asks for anything.

use serde_json::{Value, json};

use crate::harness::{Script, run};

/// Keeps of the real server's lists what an embedded server serves too.
fn only(list: &Value, field: &str, names: &[&str]) -> Value {
    let all = list[field].as_array().cloned().unwrap_or_default();
    let name = |item: &Value| item["name"].as_str().unwrap_or_default().to_owned();
    let mut kept: Vec<Value> = all
        .into_iter()
        .filter(|item| names.contains(&name(item).as_str()))
        .collect();
    kept.sort_by_key(name);
    json!(kept)
}

#[test]
fn of_a_custom_group() {
    run(async |s| {
        let crd = s.definition("things", "Thing", json!({"type": "object"}));
        s.crd(crd).await;
        let answer = s
            .until_peek("/apis/{group}/v1", |answer| answer.status == 200)
            .await;
        s.note(
            "kind",
            json!([answer.body["kind"], answer.body["groupVersion"]]),
        );
        s.note("resources", strip_hashes(answer.body["resources"].clone()));
        s.until("/apis/{group}", |answer| answer.status == 200)
            .await;
        s.get("/apis/fixture.freehold.dev").await;
    });
}

#[test]
fn of_the_fixtures() {
    run(async |s| {
        for version in ["v1", "v1beta1"] {
            let answer = s
                .peek(&format!("/apis/fixture.freehold.dev/{version}"))
                .await;
            let names = [
                "widgets",
                "widgets/status",
                "widgets/scale",
                "notes",
                "gadgets",
                "gadgets/status",
            ];
            s.note(
                "resources",
                strip_hashes(only(&answer.body, "resources", &names)),
            );
        }
    });
}

/// Clients only compare it with itself.
fn strip_hashes(mut resources: Value) -> Value {
    for resource in resources.as_array_mut().into_iter().flatten() {
        if let Some(hash) = resource.get_mut("storageVersionHash") {
            *hash = json!("<hash>");
        }
    }
    resources
}

#[test]
fn of_the_core_group() {
    run(async |s| {
        let answer = s.peek("/api/v1").await;
        let names = [
            "namespaces",
            "namespaces/status",
            "namespaces/finalize",
            "configmaps",
            "secrets",
            "events",
            "serviceaccounts",
            "persistentvolumes",
            "persistentvolumes/status",
            "persistentvolumeclaims",
            "persistentvolumeclaims/status",
        ];
        s.note(
            "kind",
            json!([answer.body["kind"], answer.body["groupVersion"]]),
        );
        s.note(
            "resources",
            strip_hashes(only(&answer.body, "resources", &names)),
        );
        let api = s.peek("/api").await;
        s.note("versions", api.body["versions"].clone());
    });
}

#[test]
fn of_the_other_built_in_groups() {
    run(async |s| {
        for (path, names) in [
            ("/apis/coordination.k8s.io/v1", &["leases"][..]),
            ("/apis/events.k8s.io/v1", &["events"][..]),
            (
                "/apis/apiextensions.k8s.io/v1",
                &[
                    "customresourcedefinitions",
                    "customresourcedefinitions/status",
                ][..],
            ),
        ] {
            let answer = s.peek(path).await;
            s.note(
                path,
                json!([answer.body["kind"], answer.body["groupVersion"]]),
            );
            s.note(path, strip_hashes(only(&answer.body, "resources", names)));
        }
    });
}

#[test]
fn of_all_groups() {
    run(async |s| {
        let answer = s.peek("/apis").await;
        let names = [
            "admissionregistration.k8s.io",
            "apiextensions.k8s.io",
            "authentication.k8s.io",
            "authorization.k8s.io",
            "coordination.k8s.io",
            "events.k8s.io",
            "rbac.authorization.k8s.io",
            "fixture.freehold.dev",
        ];
        s.note("kind", answer.body["kind"].clone());
        s.note("groups", only(&answer.body, "groups", &names));
        let all = answer.body["groups"].as_array().into_iter().flatten();
        let order: Vec<&Value> = all
            .map(|group| &group["name"])
            .filter(|name| names.contains(&name.as_str().unwrap_or_default()))
            .collect();
        s.note("order", json!(order));
        // Nothing is served that is not compared here, except the groups of other cases.
        if !s.server.is_real() {
            let groups = answer.body["groups"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let served: Vec<&str> = groups
                .iter()
                .filter_map(|group| group["name"].as_str())
                .collect();
            assert_eq!(served.len(), names.len(), "{served:?}");
        }
        for name in names {
            s.get(&format!("/apis/{name}")).await;
        }
    });
}

async fn code_of(s: &mut Script, path: &str) {
    let answer = s.peek(path).await;
    s.note(
        path,
        json!([answer.status, answer.content_type, answer.body]),
    );
}

#[test]
fn of_what_is_not_there() {
    run(async |s| {
        for path in [
            "/apis/none.example.com",
            "/apis/none.example.com/v1",
            "/apis/none.example.com/v1/things",
            "/apis/fixture.freehold.dev/v9",
            "/apis/fixture.freehold.dev/v1/nonsense",
            "/apis/fixture.freehold.dev/v1/namespaces/{ns}/nonsense",
            "/api/v2",
            "/api/v1/nonsense",
            "/api/v1/namespaces/{ns}/nonsense",
            "/nonsense",
        ] {
            code_of(s, path).await;
        }
    });
}

#[test]
fn health_and_version() {
    run(async |s| {
        for path in ["/healthz", "/livez", "/readyz"] {
            code_of(s, path).await;
        }
        let version = s.peek("/version").await;
        s.note(
            "version",
            json!([version.body["major"], version.body["minor"]]),
        );
    });
}

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Of the groups of an aggregated document those with these names, with their resources of these.
fn only_groups(list: &Value, names: &[(&str, &[&str])]) -> Value {
    let groups = list["items"].as_array().into_iter().flatten();
    let kept = groups.filter_map(|group| {
        let name = group["metadata"]["name"].as_str().unwrap_or_default();
        let (_, plurals) = names.iter().find(|(known, _)| *known == name)?;
        let mut group = group.clone();
        // Other versions of built-in groups are not served.
        let served = |version: &Value| name.contains("freehold") || version["version"] == "v1";
        let versions = group["versions"].as_array_mut()?;
        versions.retain(served);
        for version in versions {
            let resources = version["resources"].as_array_mut()?;
            resources.retain(|resource| {
                plurals.contains(&resource["resource"].as_str().unwrap_or_default())
            });
            // Sub-resources that are not served.
            for resource in resources {
                let parts = resource.get_mut("subresources");
                if let Some(parts) = parts.and_then(Value::as_array_mut) {
                    parts.retain(|part| part["subresource"] != "token");
                    if parts.is_empty() {
                        resource
                            .as_object_mut()
                            .expect("a resource")
                            .remove("subresources");
                    }
                }
            }
        }
        Some(group)
    });
    json!(kept.collect::<Vec<Value>>())
}

#[test]
fn aggregated() {
    run(async |s| {
        let core = [
            "namespaces",
            "configmaps",
            "secrets",
            "events",
            "serviceaccounts",
            "persistentvolumes",
            "persistentvolumeclaims",
        ];
        let groups: [(&str, &[&str]); 5] = [
            ("", &core),
            ("apiextensions.k8s.io", &["customresourcedefinitions"]),
            ("coordination.k8s.io", &["leases"]),
            ("events.k8s.io", &["events"]),
            ("fixture.freehold.dev", &["widgets", "notes", "gadgets"]),
        ];
        for path in ["/api", "/apis"] {
            let answer = s.ask_with(path, &[("accept", AGGREGATED)]).await;
            let body = &answer.body;
            s.note(
                path,
                json!([
                    answer.status,
                    answer.content_type,
                    body["kind"],
                    body["apiVersion"],
                    body["metadata"]
                ]),
            );
            s.note(path, only_groups(body, &groups));
        }
    });
}

#[test]
fn aggregated_or_plain() {
    run(async |s| {
        for accept in [
            format!("{AGGREGATED},application/json"),
            format!("application/json,{AGGREGATED}"),
            format!("application/json;q=0.5,{AGGREGATED}"),
            format!("{AGGREGATED};profile=nopeer"),
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,\
             application/json"
                .to_owned(),
            "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,application/json"
                .to_owned(),
            "application/json;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList,application/json"
                .to_owned(),
            "*/*;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList".to_owned(),
            "application/json".to_owned(),
            "*/*".to_owned(),
            "text/html".to_owned(),
            "text/html,application/json;q=0.1".to_owned(),
            "nonsense".to_owned(),
        ] {
            for path in [
                "/api",
                "/apis",
                "/api/v1",
                "/apis/fixture.freehold.dev",
                "/apis/fixture.freehold.dev/v1",
                "/apis/coordination.k8s.io",
                "/apis/coordination.k8s.io/v1",
            ] {
                let answer = s.ask_with(path, &[("accept", &accept)]).await;
                let (kind, message) = (&answer.body["kind"], &answer.body["message"]);
                s.note(
                    &format!("{path} {accept}"),
                    json!([answer.status, answer.content_type, kind, message]),
                );
            }
        }
    });
}

#[test]
fn health_in_words() {
    run(async |s| {
        for path in ["/healthz", "/livez", "/readyz"] {
            for query in [
                "",
                "?verbose",
                "?verbose=false",
                "?exclude=ping",
                "?verbose&exclude=etcd",
            ] {
                let answer = s.peek(&format!("{path}{query}")).await;
                let text = answer.body.as_str().unwrap_or_default();
                // The real server has more to check.
                let checks = ["ping ", "log ", "etcd ", " check passed"];
                let lines = text.lines().filter(|line| {
                    *line == "ok" || checks.iter().any(|check| line.contains(check))
                });
                s.note(
                    &format!("{path}{query}"),
                    json!([
                        answer.status,
                        answer.content_type,
                        lines.collect::<Vec<_>>()
                    ]),
                );
            }
        }
        for path in [
            "/healthz/ping",
            "/livez/etcd",
            "/readyz/log",
            "/readyz/informer-sync",
            "/readyz/none",
            "/livez/",
        ] {
            s.get(path).await;
        }
        let answer = s.peek("/readyz?verbose&exclude=none").await;
        let text = answer.body.as_str().unwrap_or_default();
        let warning = text.lines().find(|line| line.starts_with("warn"));
        s.note("unknown", json!(warning));
    });
}
