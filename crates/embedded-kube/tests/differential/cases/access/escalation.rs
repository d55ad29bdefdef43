//! Nobody gives away what they do not have.

use serde_json::{Value, json};

use super::{GROUP, allow, grant, grant_all, role_of, user, wait};
use crate::harness::run_guarded as run;

/// The right to write roles and bindings, and no other.
fn roles_only() -> Value {
    json!([{"apiGroups": [GROUP], "verbs": ["create", "update", "patch", "get"],
        "resources": ["roles", "rolebindings", "clusterroles", "clusterrolebindings"]}])
}

#[test]
fn roles_with_more_than_one_has() {
    run(async |s| {
        let mut rules = roles_only();
        let own = json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]});
        rules.as_array_mut().expect("a list").push(own);
        let who = grant(s, "writer", rules).await;
        for (index, rules) in [
            allow(&["get"], &["configmaps"]),
            allow(&["get", "list"], &["configmaps"]),
            allow(&["get", "delete"], &["configmaps"]),
            allow(&["get"], &["configmaps", "secrets", "pods/log"]),
            allow(&["*"], &["*"]),
            json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": ["a"]}]),
            json!([{"apiGroups": ["", "apps"], "resources": ["secrets"], "verbs": ["get", "list"],
                "resourceNames": ["a", "b"]}]),
            json!([]),
        ]
        .into_iter()
        .enumerate()
        {
            let role = s.object("roles", &format!("r{index}"), json!({"rules": rules}));
            s.act(&who, &["ops"], "POST", "roles", Some(role)).await;
        }
        // What is there can be changed to less, not to more.
        let more = json!({"rules": allow(&["get", "watch"], &["configmaps"])});
        s.act(&who, &[], "PATCH", "roles/r1", Some(more)).await;
        let labels = json!({"metadata": {"labels": {"a": "b"}}});
        s.act(&who, &[], "PATCH", "roles/r1", Some(labels)).await;
        let fresh = s.object(
            "roles",
            "by-update",
            json!({"rules": allow(&["get"], &["secrets"])}),
        );
        s.act(&who, &[], "PUT", "roles/by-update", Some(fresh))
            .await;
    });
}

#[test]
fn bindings_to_more_than_one_has() {
    run(async |s| {
        let who = grant(s, "binder", roles_only()).await;
        s.create(
            "roles",
            "small",
            json!({"rules": allow(&["get"], &["configmaps"])}),
        )
        .await;
        wait(s, &format!("again-{}", s.ns)).await;
        for (name, reference) in [
            ("a", role_of("Role", "small")),
            ("b", role_of("Role", "missing")),
            ("c", role_of("ClusterRole", "cluster-admin")),
            ("d", role_of("ClusterRole", "system:public-info-viewer")),
        ] {
            let rest = json!({"subjects": user("x"), "roleRef": reference});
            let binding = s.object("rolebindings", name, rest);
            s.act(&who, &[], "POST", "rolebindings", Some(binding))
                .await;
        }
        let rest =
            json!({"subjects": user("x"), "roleRef": role_of("ClusterRole", "cluster-admin")});
        let binding = s.object("clusterrolebindings", &format!("x-{}", s.ns), rest);
        s.act(&who, &[], "POST", "clusterrolebindings", Some(binding))
            .await;
    });
}

#[test]
fn rights_to_escalate_and_bind() {
    run(async |s| {
        let mut rules = roles_only();
        rules.as_array_mut().expect("a list").extend([
            json!({"apiGroups": [GROUP], "resources": ["roles"], "verbs": ["escalate"]}),
            json!({"apiGroups": [GROUP], "resources": ["clusterroles"], "verbs": ["bind"],
                "resourceNames": ["cluster-admin"]}),
        ]);
        let who = grant(s, "chief", rules).await;
        let role = s.object("roles", "r", json!({"rules": allow(&["*"], &["*"])}));
        s.act(&who, &[], "POST", "roles", Some(role)).await;
        for name in ["cluster-admin", "system:discovery"] {
            let rest = json!({"subjects": user("x"), "roleRef": role_of("ClusterRole", name)});
            let binding = s.object("rolebindings", &name.replace(':', "-"), rest);
            s.act(&who, &[], "POST", "rolebindings", Some(binding))
                .await;
        }
    });
}

#[test]
fn gathering_roles_is_for_administrators() {
    run(async |s| {
        let who = grant_all(s, "gatherer", roles_only()).await;
        let selectors = json!([{"matchLabels": {"a": "b"}}]);
        let role = json!({"rules": [], "aggregationRule": {"clusterRoleSelectors": selectors}});
        let name = format!("gathered-{}", s.ns);
        let role = s.object("clusterroles", &name, role);
        s.act(&who, &[], "POST", "clusterroles", Some(role)).await;
    });
}

#[test]
fn being_somebody_else() {
    run(async |s| {
        // The administrator may be anybody, and as that user only what that user may.
        s.act(
            "system:serviceaccount:a:b",
            &["g"],
            "GET",
            "configmaps",
            None,
        )
        .await;
        for headers in [
            vec![("impersonate-group", "g")],
            vec![("impersonate-uid", "1")],
        ] {
            let answer = s.ask_with("configmaps", &headers).await;
            s.note("without a user", json!(answer.status));
        }
    });
}
