//! Generated roles and bindings, and what users may do by them.
//!
//! A sequence has two phases: in each some roles and bindings are written, and when the real server
//! has heard of them, users try what they like.

use serde_json::{Value, json};

use super::generate::Random;
use crate::harness::{ASK_EVERY, Script};

const GROUP: &str = "rbac.authorization.k8s.io";
const PHASES: usize = 2;
const USERS: [&str; 3] = ["ann", "ben", "system:serviceaccount:{ns}:bot"];
const TEAMS: [&str; 2] = ["red", "blue"];
const KINDS: [&str; 4] = [
    "roles",
    "clusterroles",
    "rolebindings",
    "clusterrolebindings",
];

/// The sequence of this number of this seed, on one server.
pub(super) async fn perform(script: &mut Script, seed: u64, index: u64) {
    let mut random = Random::new(seed ^ 0x419b, index);
    for phase in 0..PHASES {
        for _ in 0..2 + random.below(4) {
            change(script, &mut random).await;
        }
        heard(script, phase).await;
        for _ in 0..6 + random.below(8) {
            attempt(script, &mut random).await;
        }
    }
}

/// The names of what is outside any namespace must differ from those of other sequences.
fn named(script: &Script, plain: &str) -> String {
    if plain.contains("{ns}") {
        return plain.replace("{ns}", &script.ns);
    }
    format!("{plain}-{}", script.ns)
}

/// Writes a role or a binding, or takes one away.
async fn change(script: &mut Script, random: &mut Random) {
    let plural = *random.pick(&KINDS);
    let name = named(script, random.pick::<&str>(&["a", "b"]));
    let item = format!("{plural}/{name}");
    if random.one_in(5) {
        script.delete(&item).await;
        return;
    }
    let body = match plural {
        "roles" => json!({"rules": rules(random, false)}),
        "clusterroles" => json!({"rules": rules(random, true)}),
        "rolebindings" => binding(script, random, &["Role", "ClusterRole"]),
        _ => binding(script, random, &["ClusterRole"]),
    };
    if random.one_in(3) {
        script.replace(&item, &name, body).await;
    } else {
        script.create(plural, &name, body).await;
    }
}

fn some(random: &mut Random, pool: &[&str]) -> Vec<String> {
    let count = 1 + random.below(2);
    (0..count)
        .map(|_| (*random.pick(pool)).to_owned())
        .collect()
}

fn rules(random: &mut Random, at_large: bool) -> Value {
    let count = random.below(3);
    (0..count)
        .map(|_| {
            let verbs = some(
                random,
                &["get", "list", "create", "update", "patch", "delete", "*"],
            );
            if at_large && random.one_in(4) {
                let urls = some(random, &["/nowhere", "/nowhere/*", "/no*", "*"]);
                return json!({"nonResourceURLs": urls, "verbs": verbs});
            }
            let resources = [
                "configmaps",
                "secrets",
                "widgets",
                "widgets/status",
                "*/status",
                "*",
            ];
            let mut rule = json!({
                "apiGroups": some(random, &["", "", "fixture.freehold.dev", "*"]),
                "resources": some(random, &resources),
                "verbs": verbs,
            });
            if random.one_in(4) {
                rule["resourceNames"] = json!(some(random, &["x", "y"]));
            }
            rule
        })
        .collect()
}

fn binding(script: &Script, random: &mut Random, kinds: &[&str]) -> Value {
    let role = named(script, random.pick::<&str>(&["a", "b"]));
    let subjects: Vec<Value> = (0..=random.below(2))
        .map(|_| match random.below(5) {
            0 => json!({"kind": "ServiceAccount", "name": "bot", "namespace": script.ns}),
            1 => {
                let team = named(script, random.pick::<&str>(&TEAMS));
                json!({"kind": "Group", "apiGroup": GROUP, "name": team})
            }
            _ => {
                let user = named(script, random.pick::<&str>(&USERS));
                json!({"kind": "User", "apiGroup": GROUP, "name": user})
            }
        })
        .collect();
    let reference = json!({"apiGroup": GROUP, "kind": random.pick(kinds), "name": role});
    json!({"subjects": subjects, "roleRef": reference})
}

/// A user tries something; another is asked about.
async fn attempt(script: &mut Script, random: &mut Random) {
    let user = named(script, random.pick::<&str>(&USERS));
    let team = random
        .one_in(3)
        .then(|| named(script, random.pick::<&str>(&TEAMS)));
    let groups: Vec<&str> = team.iter().map(String::as_str).collect();
    let plural = *random.pick(&["configmaps", "secrets", "widgets"]);
    let name = *random.pick(&["x", "y"]);
    let item = format!("{plural}/{name}");
    let body = script.object(plural, name, json!({"spec": {"size": 1}}));
    let (method, path, body) = match random.below(12) {
        0..3 => ("GET", item, None),
        3 => ("GET", plural.to_owned(), None),
        4 => {
            let query = format!("{plural}?fieldSelector=metadata.name%3D{name}");
            ("GET", query, None)
        }
        5..7 => ("POST", plural.to_owned(), Some(body)),
        7 => ("PUT", item, Some(body)),
        8 => (
            "PATCH",
            item,
            Some(json!({"metadata": {"labels": {"l": "1"}}})),
        ),
        9 => ("DELETE", item, None),
        10 => ("GET", format!("widgets/{name}/status"), None),
        _ => {
            let path = *random.pick(&["/nowhere", "/nowhere/at/all", "/nothing"]);
            ("GET", path.to_owned(), None)
        }
    };
    let review = review(&user, &groups, &script.ns, random);
    script.act(&user, &groups, method, &path, body).await;
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let said = script.try_post(path, review.clone()).await;
    script.note(&review.to_string(), said.body["status"]["allowed"].clone());
}

fn review(user: &str, groups: &[&str], namespace: &str, random: &mut Random) -> Value {
    let mut attributes = json!({
        "verb": random.pick(&["get", "list", "delete", "watch", "*"]),
        "resource": random.pick(&["configmaps", "widgets", "secrets"]),
        "group": random.pick(&["", "fixture.freehold.dev"]),
    });
    if random.one_in(2) {
        attributes["namespace"] = json!(namespace);
    }
    if random.one_in(3) {
        attributes["name"] = json!(random.pick(&["x", "y"]));
    }
    if random.one_in(4) {
        attributes["subresource"] = json!("status");
    }
    json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "groups": groups, "resourceAttributes": attributes},
    })
}

/// Waits until the server goes by the last change of each kind: it watches them one by one.
async fn heard(script: &Script, phase: usize) {
    let probe = format!("probe-{phase}-{}", script.ns);
    let subjects = json!([{"kind": "User", "apiGroup": GROUP, "name": probe}]);
    for (plural, kind) in [("roles", "Role"), ("clusterroles", "ClusterRole")] {
        let rules = json!([{"apiGroups": [""], "resources": [plural], "verbs": ["probe"]}]);
        let role = script.object(plural, &probe, json!({"rules": rules}));
        script.try_post(plural, role).await;
        let bindings = plural.replace("roles", "rolebindings");
        let reference = json!({"apiGroup": GROUP, "kind": kind, "name": probe});
        let rest = json!({"subjects": subjects, "roleRef": reference});
        let binding = script.object(&bindings, &probe, rest);
        script.try_post(&bindings, binding).await;
    }
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let asking = async {
        for plural in ["roles", "clusterroles"] {
            let review = json!({
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": {"user": probe, "resourceAttributes":
                    {"verb": "probe", "resource": plural, "namespace": script.ns}},
            });
            let allowed = async || script.try_post(path, review.clone()).await.body;
            while allowed().await["status"]["allowed"] != true {
                tokio::time::sleep(ASK_EVERY).await;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_mins(1), asking)
        .await
        .expect("the real server hears of roles");
}
