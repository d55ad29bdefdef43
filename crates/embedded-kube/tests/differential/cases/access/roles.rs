//! Roles and bindings as objects.

use serde_json::json;

use super::{GROUP, allow, role_of, user};
use crate::harness::run_guarded as run;

#[test]
fn roles_are_served() {
    run(async |s| {
        s.create("roles", "a", json!({"rules": allow(&["get"], &["pods"])}))
            .await;
        s.create("roles", "A:b", json!({})).await;
        s.create("roles", "a/b", json!({})).await;
        s.create(
            "roles",
            "fin",
            json!({"metadata": {"finalizers": ["plain"]}}),
        )
        .await;
        s.get("roles/a").await;
        s.get("roles").await;
        s.merge("roles/a", json!({"rules": []})).await;
        s.merge("roles/a", json!({"rules": null})).await;
        s.strategic("roles/a", json!({"rules": allow(&["list"], &["pods"])}))
            .await;
        s.replace("roles", "new", json!({"rules": []})).await;
        s.create(
            "roles?fieldValidation=Strict",
            "c",
            json!({"rules": [{"nope": 1}]}),
        )
        .await;
        s.delete("roles/a").await;
        s.delete("roles").await;
        s.get("/apis/rbac.authorization.k8s.io").await;
    });
}

#[test]
fn rules_that_are_wrong() {
    run(async |s| {
        for (index, rule) in [
            json!({}),
            json!({"verbs": ["get"]}),
            json!({"verbs": ["get"], "apiGroups": [""]}),
            json!({"verbs": [], "apiGroups": [""], "resources": ["x"]}),
            json!({"verbs": ["get"], "nonResourceURLs": ["/x"]}),
            json!({"verbs": ["get"], "nonResourceURLs": ["/x"], "resources": ["y"]}),
            json!({"verbs": "get"}),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("r{index}-{}", s.ns);
            let rules = json!({"rules": [rule]});
            s.create("roles?dryRun=All", &name, rules.clone()).await;
            s.create("clusterroles?dryRun=All", &name, rules).await;
        }
    });
}

#[test]
fn rules_that_gather() {
    run(async |s| {
        for (index, selectors) in [
            json!(null),
            json!([]),
            json!([{}]),
            json!([{"matchLabels": {"bad key!": "v"}}]),
            json!([{"matchLabels": {"k": "bad value!"}}]),
            json!([{"matchExpressions": [{"key": "k", "operator": "In"}]}]),
            json!([{"matchExpressions": [{"key": "k", "operator": "Exists", "values": ["a"]}]}]),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("g{index}-{}", s.ns);
            let role = json!({"aggregationRule": {"clusterRoleSelectors": selectors}});
            s.create("clusterroles?dryRun=All", &name, role).await;
        }
    });
}

#[test]
fn bindings_that_are_wrong() {
    run(async |s| {
        let reference = role_of("Role", "r");
        for (index, rest) in [
            json!({}),
            json!({"roleRef": {"kind": "Role", "name": "r"}}),
            json!({"roleRef": {"kind": "User", "name": "r"}}),
            json!({"roleRef": {"apiGroup": "other", "kind": "Role", "name": "a/b"}}),
            json!({"roleRef": role_of("ClusterRole", "r"), "subjects": user("u")}),
            json!({"roleRef": reference, "subjects": [{"kind": "User", "name": "u"}]}),
            json!({"roleRef": reference, "subjects": [{"kind": "User"}]}),
            json!({"roleRef": reference, "subjects": [{"kind": "User", "apiGroup": "x", "name": "u"}]}),
            json!({"roleRef": reference, "subjects": [{"kind": "ServiceAccount", "name": "sa"}]}),
            json!({"roleRef": reference, "subjects": [{"kind": "ServiceAccount", "name": "Bad_Name", "apiGroup": GROUP}]}),
            json!({"roleRef": reference, "subjects": [{"kind": "Robot", "name": "r"}]}),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("b{index}-{}", s.ns);
            s.create("rolebindings?dryRun=All", &name, rest.clone()).await;
            s.create("clusterrolebindings?dryRun=All", &name, rest).await;
        }
    });
}

#[test]
fn a_binding_keeps_its_role() {
    run(async |s| {
        let rest = json!({"subjects": user("u"), "roleRef": role_of("Role", "r")});
        s.create("rolebindings", "b", rest).await;
        s.merge("rolebindings/b", json!({"subjects": null})).await;
        s.merge("rolebindings/b", json!({"roleRef": {"name": "other"}}))
            .await;
        s.merge(
            "rolebindings/b",
            json!({"roleRef": {"kind": "ClusterRole"}}),
        )
        .await;
        s.replace(
            "rolebindings",
            "b",
            json!({"roleRef": role_of("Role", "r")}),
        )
        .await;
        s.delete("rolebindings/b").await;
    });
}
