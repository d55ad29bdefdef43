//! The roles that a cluster begins with: those by which users find their way.

use serde_json::{Value, json};

use super::{AUTHENTICATED, MASTERS, UNAUTHENTICATED};
use crate::builtin::{self, Builtin};
use crate::state::State;
use crate::typed::seconds;

/// Stores the first roles and their bindings, where they are not there yet.
pub(crate) fn install(state: &mut State) {
    let health = ["/livez", "/readyz", "/healthz", "/version", "/version/"];
    let discovery = [
        "/livez",
        "/readyz",
        "/healthz",
        "/version",
        "/version/",
        "/openapi",
        "/openapi/*",
        "/api",
        "/api/*",
        "/apis",
        "/apis/*",
    ];
    let get = |urls: &[&str]| json!({"nonResourceURLs": sorted(urls), "verbs": ["get"]});
    let create = |group: &str, resources: &[&str]| json!({"apiGroups": [group], "resources": sorted(resources), "verbs": ["create"]});
    let everything = json!([
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
        {"nonResourceURLs": ["*"], "verbs": ["*"]},
    ]);
    let basic = json!([
        create(
            "authorization.k8s.io",
            &["selfsubjectaccessreviews", "selfsubjectrulesreviews"]
        ),
        create("authentication.k8s.io", &["selfsubjectreviews"]),
    ]);
    let roles: [(&str, Value, &[&str]); 4] = [
        ("cluster-admin", everything, &[MASTERS]),
        (
            "system:discovery",
            json!([get(&discovery)]),
            &[AUTHENTICATED],
        ),
        ("system:basic-user", basic, &[AUTHENTICATED]),
        (
            "system:public-info-viewer",
            json!([get(&health)]),
            &[AUTHENTICATED, UNAUTHENTICATED],
        ),
    ];
    for (name, rules, groups) in roles {
        store(state, Builtin::ClusterRole, name, json!({"rules": rules}));
        let group = "rbac.authorization.k8s.io";
        let subjects: Vec<Value> = groups
            .iter()
            .map(|name| json!({"apiGroup": group, "kind": "Group", "name": name}))
            .collect();
        let reference = json!({"apiGroup": group, "kind": "ClusterRole", "name": name});
        let rest = json!({"subjects": subjects, "roleRef": reference});
        store(state, Builtin::ClusterRoleBinding, name, rest);
    }
}

fn sorted(texts: &[&str]) -> Vec<String> {
    let mut texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    texts.sort();
    texts
}

fn store(state: &mut State, kind: Builtin, name: &str, rest: Value) {
    let resource = builtin::resource(kind);
    if state.storage.object(&resource.store, name).is_some() {
        return;
    }
    let mut value = rest;
    value["apiVersion"] = json!(resource.api_version());
    value["kind"] = json!(&*resource.kind);
    value["metadata"] = json!({
        "name": name,
        "uid": state.ids.uid(),
        "creationTimestamp": seconds(state.now()),
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    });
    state.put(resource, name, value);
}
