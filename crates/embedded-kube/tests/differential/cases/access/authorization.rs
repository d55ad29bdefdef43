//! What roles allow, and the words of refusals.

use serde_json::json;

use super::{allow, grant, grant_all, role_of, wait};
use crate::harness::run_guarded as run;

#[test]
fn nobody_may_anything() {
    run(async |s| {
        let item = s.object("configmaps", "a", json!({}));
        for (method, path) in [
            ("GET", "configmaps"),
            ("GET", "configmaps/a"),
            ("GET", "configmaps?watch=true"),
            ("POST", "configmaps"),
            ("PUT", "configmaps/a"),
            ("PATCH", "configmaps/a"),
            ("DELETE", "configmaps/a"),
            ("DELETE", "configmaps"),
            ("GET", "/api/v1/configmaps"),
            ("GET", "/api/v1/namespaces"),
            ("GET", "/api/v1/namespaces/{ns}"),
            ("PUT", "/api/v1/namespaces/{ns}/finalize"),
            ("GET", "widgets/a/status"),
            ("GET", "widgets/a/scale"),
            ("GET", "customresourcedefinitions"),
            (
                "GET",
                "/apis/nowhere.example.com/v1/namespaces/{ns}/things/x",
            ),
            ("GET", "/metrics"),
            ("GET", "/logs/a%3Cb%3E&c"),
            ("POST", "/api"),
            ("GET", "configmaps?fieldSelector=metadata.name%3Dx"),
            ("DELETE", "configmaps?fieldSelector=metadata.name%3Dx"),
        ] {
            let body = matches!(method, "POST" | "PUT" | "PATCH").then(|| item.clone());
            s.act("nobody", &[], method, path, body).await;
        }
    });
}

#[test]
fn everybody_may_look_around() {
    run(async |s| {
        for path in [
            "/version",
            "/api",
            "/apis",
            "/api/v1",
            "/healthz",
            "/apis/apps",
        ] {
            let known = s.ask_with(path, &[("impersonate-user", "nobody")]).await;
            s.note(path, json!(known.status == 403));
        }
        for path in [
            "/version",
            "/healthz",
            "/api",
            "/apis",
            "/api/v1/namespaces",
        ] {
            let headers = [("impersonate-user", "system:anonymous")];
            let unknown = s.ask_with(path, &headers).await;
            s.note(path, json!(unknown.status == 403));
        }
    });
}

#[test]
fn verbs_and_resources() {
    run(async |s| {
        let who = grant(s, "reader", allow(&["get", "list"], &["configmaps"])).await;
        s.create("configmaps", "a", json!({"data": {"k": "v"}}))
            .await;
        let item = s.object("configmaps", "b", json!({}));
        s.act(&who, &[], "GET", "configmaps/a", None).await;
        s.act(&who, &[], "GET", "configmaps/none", None).await;
        s.act(&who, &[], "GET", "configmaps?limit=1", None).await;
        s.act(&who, &[], "GET", "configmaps?watch=true", None).await;
        s.act(&who, &[], "POST", "configmaps", Some(item)).await;
        s.act(&who, &[], "GET", "secrets", None).await;
        s.act(&who, &[], "GET", "/api/v1/configmaps", None).await;
        s.act(
            &who,
            &[],
            "GET",
            "/api/v1/namespaces/default/configmaps",
            None,
        )
        .await;
        s.act(&who, &[], "DELETE", "configmaps", None).await;
    });
}

#[test]
fn names_of_resources() {
    run(async |s| {
        let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"],
            "verbs": ["get", "list", "watch", "update", "create", "delete", "deletecollection"]}]);
        let who = grant(s, "owner", rules).await;
        s.create("configmaps", "a", json!({})).await;
        s.create("configmaps", "b", json!({})).await;
        let item = s.object("configmaps", "a", json!({"data": {"x": "y"}}));
        s.act(&who, &[], "GET", "configmaps/a", None).await;
        s.act(&who, &[], "GET", "configmaps/b", None).await;
        s.act(&who, &[], "GET", "configmaps", None).await;
        let one = "configmaps?fieldSelector=metadata.name%3Da";
        s.act(&who, &[], "GET", one, None).await;
        s.act(&who, &[], "PUT", "configmaps/a", Some(item.clone()))
            .await;
        s.act(&who, &[], "POST", "configmaps", Some(item)).await;
        s.act(&who, &[], "DELETE", one, None).await;
    });
}

#[test]
fn parts_of_objects() {
    run(async |s| {
        let group = "fixture.freehold.dev";
        let rules = json!([
            {"apiGroups": [group], "resources": ["widgets/status"], "verbs": ["get", "patch"]},
            {"apiGroups": [group], "resources": ["*/scale"], "verbs": ["get"]},
        ]);
        let who = grant(s, "parts", rules).await;
        s.create("widgets", "a", json!({"spec": {"size": 1, "replicas": 2}}))
            .await;
        let patch = json!({"status": {"phase": "p"}});
        s.act(&who, &[], "GET", "widgets/a", None).await;
        s.act(&who, &[], "GET", "widgets/a/status", None).await;
        s.act(&who, &[], "PATCH", "widgets/a/status", Some(patch.clone()))
            .await;
        s.act(&who, &[], "PATCH", "widgets/a", Some(patch)).await;
        s.act(&who, &[], "GET", "widgets/a/scale", None).await;
        s.act(&who, &[], "PATCH", "widgets/a/scale", Some(json!({})))
            .await;
    });
}

#[test]
fn stars() {
    run(async |s| {
        let rules = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
        let who = grant(s, "all", rules).await;
        let item = s.object("configmaps", "a", json!({}));
        s.act(&who, &[], "POST", "configmaps", Some(item)).await;
        s.act(&who, &[], "GET", "widgets/none/status", None).await;
        s.act(&who, &[], "DELETE", "configmaps", None).await;
        s.act(&who, &[], "GET", "/api/v1/namespaces/{ns}", None)
            .await;
        s.act(&who, &[], "GET", "/api/v1/namespaces", None).await;
        s.act(
            &who,
            &[],
            "GET",
            "/api/v1/namespaces/default/configmaps",
            None,
        )
        .await;
        s.act(&who, &[], "GET", "/metrics", None).await;
    });
}

#[test]
fn rights_at_large() {
    run(async |s| {
        let rules = json!([
            {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list"]},
            {"nonResourceURLs": ["/metrics", "/debug/*"], "verbs": ["get"]},
        ]);
        let who = grant_all(s, "operator", rules).await;
        s.act(&who, &[], "GET", "/api/v1/namespaces/default", None)
            .await;
        s.act(&who, &[], "GET", "configmaps", None).await;
        let paths = ["/metrics", "/debug/x", "/debug", "/debugx", "/metrics/y"];
        for path in paths {
            let answer = s.ask_with(path, &[("impersonate-user", &who)]).await;
            s.note(path, json!(answer.status == 403));
        }
    });
}

#[test]
fn a_cluster_role_in_one_namespace() {
    run(async |s| {
        let name = format!("shared-{}", s.ns);
        let rules = json!({"rules": allow(&["get", "list"], &["configmaps"])});
        s.create("clusterroles", &name, rules).await;
        let subjects = json!([
            {"kind": "Group", "apiGroup": super::GROUP, "name": format!("team-{}", s.ns)},
            {"kind": "ServiceAccount", "name": "robot"},
            {"kind": "ServiceAccount", "name": "robot", "namespace": "elsewhere"},
        ]);
        let binding = json!({"subjects": subjects, "roleRef": role_of("ClusterRole", &name)});
        s.create("rolebindings", "b", binding).await;
        wait(s, &format!("probe-{}", s.ns)).await;
        let team = format!("team-{}", s.ns);
        let own = format!("system:serviceaccount:{}:robot", s.ns);
        for (who, groups) in [
            ("carol", vec![team.as_str()]),
            ("carol", vec![]),
            (own.as_str(), vec![]),
            ("system:serviceaccount:elsewhere:robot", vec![]),
            ("system:serviceaccount:default:robot", vec![]),
        ] {
            s.act(who, &groups, "GET", "configmaps?limit=1", None).await;
            s.act(who, &groups, "GET", "/api/v1/configmaps?limit=1", None)
                .await;
        }
    });
}

#[test]
fn a_missing_role_is_told() {
    run(async |s| {
        let who = format!("lost-{}", s.ns);
        let binding = json!({"subjects": super::user(&who), "roleRef": role_of("Role", "gone")});
        s.create("rolebindings", "b", binding).await;
        wait(s, &who).await;
        s.act(&who, &[], "GET", "configmaps/a", None).await;
        s.act(&who, &[], "GET", "/api/v1/configmaps", None).await;
    });
}

#[test]
fn masters_may_everything() {
    run(async |s| {
        let groups = ["system:masters"];
        let item = s.object("configmaps", "a", json!({}));
        s.act("root", &groups, "POST", "configmaps", Some(item))
            .await;
        s.act("root", &groups, "DELETE", "configmaps/a", None).await;
    });
}

#[test]
fn an_update_that_creates_needs_both_rights() {
    run(async |s| {
        let rules = json!([{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
            "verbs": ["get", "update"]}]);
        let who = grant(s, "updater", rules).await;
        let item = s.object("leases", "a", json!({"spec": {}}));
        s.act(&who, &[], "PUT", "leases/a", Some(item)).await;
    });
}

/// A configuration that creates: the right to patch is not enough, and nobody gives away what they do
/// not have.
#[test]
fn an_apply_that_creates_needs_both_rights() {
    run(async |s| {
        let rules = json!([
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "patch"]},
            {"apiGroups": [super::GROUP], "resources": ["roles"], "verbs": ["get", "patch", "create"]},
        ]);
        let who = grant(s, "applier", rules).await;
        let headers = [
            ("impersonate-user", who.as_str()),
            ("content-type", "application/apply-patch+yaml"),
        ];
        let query = "fieldManager=m";
        let item = s.object("configmaps", "a", json!({"data": {"k": "v"}}));
        s.raw(
            "PATCH",
            &format!("configmaps/a?{query}"),
            &headers,
            item.to_string(),
        )
        .await;
        s.create("configmaps", "b", json!({})).await;
        let item = s.object("configmaps", "b", json!({"data": {"k": "v"}}));
        s.raw(
            "PATCH",
            &format!("configmaps/b?{query}"),
            &headers,
            item.to_string(),
        )
        .await;
        for (name, verb) in [("less", "get"), ("more", "delete")] {
            let rules = json!({"rules": allow(&[verb], &["configmaps"])});
            let role = s.object("roles", name, rules);
            s.raw(
                "PATCH",
                &format!("roles/{name}?{query}"),
                &headers,
                role.to_string(),
            )
            .await;
        }
    });
}

#[test]
fn names_of_users_in_any_letters() {
    run(async |s| {
        for who in [
            "josé",
            "system:serviceaccount:{ns}:a:b",
            "system:serviceaccount::x",
        ] {
            let who = who.replace("{ns}", &s.ns);
            let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
            let review =
                json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
            s.act(&who, &[], "POST", path, Some(review)).await;
        }
        let headers = [
            ("impersonate-user", "x"),
            ("impersonate-extra-example.com%2Fa", "1"),
            ("content-type", "application/json"),
        ];
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        s.raw("POST", path, &headers, review.to_string()).await;
    });
}
