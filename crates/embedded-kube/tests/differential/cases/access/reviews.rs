//! Questions about rights and names.

use serde_json::{Value, json};

use super::{allow, grant};
use crate::harness::{Script, run_guarded as run};

fn review(kind: &str, spec: Value) -> Value {
    json!({"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec})
}

const SUBJECT: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const OWN: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const RULES: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
const LOCAL: &str = "/apis/authorization.k8s.io/v1/namespaces/{ns}/localsubjectaccessreviews";

fn attributes(s: &Script, verb: &str, resource: &str) -> Value {
    json!({"namespace": s.ns, "verb": verb, "resource": resource})
}

#[test]
fn of_others() {
    run(async |s| {
        let who = grant(s, "reader", allow(&["get"], &["configmaps"])).await;
        for (verb, resource) in [
            ("get", "configmaps"),
            ("list", "configmaps"),
            ("get", "secrets"),
        ] {
            let spec = json!({"user": who, "resourceAttributes": attributes(s, verb, resource)});
            s.post(SUBJECT, review("SubjectAccessReview", spec)).await;
        }
        for spec in [
            json!({"user": who, "nonResourceAttributes": {"path": "/healthz", "verb": "get"}}),
            json!({"user": who, "groups": ["system:authenticated"],
                "nonResourceAttributes": {"path": "/apis/x", "verb": "get"}}),
            json!({"groups": ["system:masters"], "resourceAttributes": {"verb": "delete", "resource": "nodes"}}),
            json!({"user": who}),
            json!({"resourceAttributes": {"verb": "get"}}),
            json!({"user": who, "resourceAttributes": {}, "nonResourceAttributes": {"path": "/x"}}),
            json!({}),
        ] {
            s.post(SUBJECT, review("SubjectAccessReview", spec)).await;
        }
    });
}

#[test]
fn of_oneself() {
    run(async |s| {
        let who = grant(s, "self", allow(&["get"], &["configmaps"])).await;
        for verb in ["get", "delete"] {
            let spec = json!({"resourceAttributes": attributes(s, verb, "configmaps")});
            let body = review("SelfSubjectAccessReview", spec);
            s.act(&who, &[], "POST", OWN, Some(body)).await;
        }
        let spec = json!({"resourceAttributes": attributes(s, "delete", "nodes")});
        s.post(OWN, review("SelfSubjectAccessReview", spec)).await;
        s.post(OWN, review("SelfSubjectAccessReview", json!({})))
            .await;
        // Others are none of their business.
        let spec = json!({"user": "x", "resourceAttributes": attributes(s, "get", "pods")});
        let body = review("SubjectAccessReview", spec);
        s.act(&who, &[], "POST", SUBJECT, Some(body)).await;
        s.get(OWN).await;
        s.get(&format!("{OWN}/a")).await;
        s.delete(OWN).await;
    });
}

#[test]
fn in_a_namespace() {
    run(async |s| {
        let who = grant(s, "local", allow(&["get"], &["configmaps"])).await;
        for spec in [
            json!({"user": who, "resourceAttributes": attributes(s, "get", "configmaps")}),
            json!({"user": who, "resourceAttributes": {"namespace": "default", "verb": "get", "resource": "configmaps"}}),
            json!({"user": who, "nonResourceAttributes": {"path": "/x", "verb": "get"}}),
        ] {
            s.post(LOCAL, review("LocalSubjectAccessReview", spec))
                .await;
        }
    });
}

#[test]
fn all_rules() {
    run(async |s| {
        let rules = json!([
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": ["a"]},
            {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["*"]},
        ]);
        let who = grant(s, "lister", rules).await;
        let body = review("SelfSubjectRulesReview", json!({"namespace": s.ns}));
        let headers = [
            ("impersonate-user", who.as_str()),
            ("content-type", "application/json"),
        ];
        let answer = s.try_send("POST", RULES, &headers, &body).await;
        // The bindings are looked at in random order.
        for part in ["resourceRules", "nonResourceRules"] {
            let mut rules = answer.body["status"][part]
                .as_array()
                .cloned()
                .unwrap_or_default();
            rules.retain(|rule| !rule.to_string().contains("-probe"));
            rules.sort_by_key(ToString::to_string);
            s.note(part, json!(rules));
        }
        s.note(
            "status",
            json!([
                answer.status,
                answer.body["status"]["incomplete"],
                answer.body["kind"]
            ]),
        );
        s.post(RULES, review("SelfSubjectRulesReview", json!({})))
            .await;
    });
}

#[test]
fn of_tokens_and_names() {
    run(async |s| {
        let path = "/apis/authentication.k8s.io/v1/tokenreviews";
        let token = |token: &str| {
            json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
                "spec": {"token": token}})
        };
        s.post(path, token(control_plane::USER_TOKEN)).await;
        s.post(path, token("")).await;
        let bad = s.try_post(path, token("nonsense")).await;
        s.note(
            "bad token",
            json!([
                bad.status,
                bad.body["status"]["authenticated"],
                bad.body["status"]["user"]
            ]),
        );
        let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        let who = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        s.act("carol", &["a", "b"], "POST", path, Some(who.clone()))
            .await;
        s.act(
            "system:serviceaccount:x:y",
            &[],
            "POST",
            path,
            Some(who.clone()),
        )
        .await;
        let bearer = format!("Bearer {}", control_plane::USER_TOKEN);
        s.stranger("POST", path, &[("authorization", &bearer)], Some(who))
            .await;
        for group in ["authorization.k8s.io", "authentication.k8s.io"] {
            s.get(&format!("/apis/{group}/v1")).await;
        }
    });
}
