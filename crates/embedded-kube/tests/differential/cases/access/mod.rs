//! Who asks, and what they may do.

mod authentication;
mod authorization;
mod escalation;
mod reviews;
mod roles;

use serde_json::{Value, json};

use crate::harness::Script;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Rules that allow these verbs on these resources of the core group.
fn allow(verbs: &[&str], resources: &[&str]) -> Value {
    json!([{"apiGroups": [""], "resources": resources, "verbs": verbs}])
}

fn user(name: &str) -> Value {
    json!([{"kind": "User", "apiGroup": GROUP, "name": name}])
}

fn role_of(kind: &str, name: &str) -> Value {
    json!({"apiGroup": GROUP, "kind": kind, "name": name})
}

/// Gives a user of the case's own a role in the case's namespace; answers the user's name.
async fn grant(s: &mut Script, who: &str, rules: Value) -> String {
    let name = format!("{who}-{}", s.ns);
    s.create("roles", &name, json!({"rules": rules})).await;
    let binding = json!({"subjects": user(&name), "roleRef": role_of("Role", &name)});
    s.create("rolebindings", &name, binding).await;
    wait(s, &name).await;
    name
}

/// The same at large.
async fn grant_all(s: &mut Script, who: &str, rules: Value) -> String {
    let name = format!("{who}-{}", s.ns);
    s.create("clusterroles", &name, json!({"rules": rules}))
        .await;
    let binding = json!({"subjects": user(&name), "roleRef": role_of("ClusterRole", &name)});
    s.create("clusterrolebindings", &name, binding).await;
    wait(s, &name).await;
    name
}

/// The real server hears of roles a moment later: what comes last is a role and a binding that show
/// it.
async fn wait(s: &mut Script, name: &str) {
    let probe = format!("{name}-probe");
    let rules = json!([{"nonResourceURLs": [format!("/{probe}")], "verbs": ["get"]}]);
    let role = s.object("clusterroles", &probe, json!({"rules": rules}));
    s.try_post("clusterroles", role).await;
    let binding = json!({"subjects": user(name), "roleRef": role_of("ClusterRole", &probe)});
    let binding = s.object("clusterrolebindings", &probe, binding);
    s.try_post("clusterrolebindings", binding).await;
    let headers = [("impersonate-user", name)];
    let allowed = async || s.ask_with(&format!("/{probe}"), &headers).await.status == 404;
    let deadline = tokio::time::timeout(std::time::Duration::from_secs(30), async {
        while !allowed().await {
            tokio::time::sleep(crate::harness::ASK_EVERY).await;
        }
    });
    deadline.await.expect("the real server hears of roles");
}
