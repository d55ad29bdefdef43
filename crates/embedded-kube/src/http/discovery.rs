//! What is served, told to clients that ask.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::builtin::{self, Builtin};
use crate::resource::{Resource, Sub, group_version};
use crate::state::State;

const ADDRESSES: &str = "0.0.0.0/0";

/// The document at a discovery path; none if nothing is there.
pub(super) fn document(state: &State, parts: &[String]) -> Option<Value> {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["api"] => Some(json!({
            "kind": "APIVersions",
            "versions": ["v1"],
            "serverAddressByClientCIDRs":
                [{"clientCIDR": ADDRESSES, "serverAddress": "127.0.0.1:443"}],
        })),
        ["api", version] => resources(state, "", version),
        ["apis"] => Some(json!({
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": groups(state).iter().map(|(name, versions)| group(name, versions))
                .collect::<Vec<Value>>(),
        })),
        ["apis", name] => {
            let groups = groups(state);
            let versions = groups.iter().find(|(group, _)| group == name)?.1.clone();
            let mut group = group(name, &versions);
            group["kind"] = json!("APIGroup");
            group["apiVersion"] = json!("v1");
            Some(group)
        }
        ["apis", name, version] => resources(state, name, version),
        _ => None,
    }
}

/// Everything that is served.
fn served(state: &State) -> Vec<Arc<Resource>> {
    let mut all: Vec<Arc<Resource>> = builtin::RESOURCES.clone();
    for definition in state.definitions.values() {
        let served = definition.versions.iter().filter(|r| r.custom().is_some_and(|c| c.served));
        all.extend(served.cloned());
    }
    all
}

fn groups(state: &State) -> Vec<(String, Vec<String>)> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for resource in served(state) {
        if resource.group.is_empty() {
            continue;
        }
        let versions = groups.entry(resource.group.to_string()).or_default();
        if !versions.contains(&resource.version.to_string()) {
            versions.push(resource.version.to_string());
        }
    }
    for versions in groups.values_mut() {
        versions.sort_by(|a, b| compare_versions(b, a));
    }
    // The built-in groups come first, as in the real server.
    let built_in = |name: &str| builtin::RESOURCES.iter().any(|r| *r.group == *name);
    let mut groups: Vec<(String, Vec<String>)> = groups.into_iter().collect();
    groups.sort_by_key(|(name, _)| !built_in(name));
    groups
}

fn group(name: &str, versions: &[String]) -> Value {
    let entry =
        |version: &String| json!({"groupVersion": group_version(name, version), "version": version});
    json!({
        "name": name,
        "versions": versions.iter().map(entry).collect::<Vec<Value>>(),
        "preferredVersion": versions.first().map(entry),
    })
}

/// The rank of a version: `v2` before `v1` before `v1beta1` before anything else.
fn rank(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let major: u64 = rest[..digits].parse().ok()?;
    let stage = &rest[digits..];
    for (name, rank) in [("alpha", 0), ("beta", 1)] {
        if let Some(minor) = stage.strip_prefix(name) {
            return Some((rank, major, minor.parse().ok()?));
        }
    }
    stage.is_empty().then_some((2, major, 0))
}

fn compare_versions(a: &str, b: &str) -> Ordering {
    match (rank(a), rank(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => b.cmp(a),
    }
}

const VERBS: [&str; 8] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/// Custom resources list their verbs in another order.
const CUSTOM_VERBS: [&str; 8] =
    ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

fn resources(state: &State, group: &str, version: &str) -> Option<Value> {
    let mut list: Vec<Arc<Resource>> = served(state)
        .into_iter()
        .filter(|resource| *resource.group == *group && *resource.version == *version)
        .collect();
    if list.is_empty() {
        return None;
    }
    list.sort_by(|a, b| a.plural.cmp(&b.plural));
    let entries: Vec<Value> = list.iter().flat_map(|resource| entries(resource)).collect();
    Some(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version(group, version),
        "resources": entries,
    }))
}

fn entries(resource: &Resource) -> Vec<Value> {
    let verbs: &[&str] = match resource.builtin() {
        None => &CUSTOM_VERBS,
        // Namespaces are deleted one by one.
        Some(Builtin::Namespace) => &["create", "delete", "get", "list", "patch", "update", "watch"],
        Some(_) => &VERBS,
    };
    let mut main = json!({
        "name": &*resource.plural,
        "singularName": &*resource.singular,
        "namespaced": resource.namespaced,
        "kind": &*resource.kind,
        "verbs": verbs,
    });
    if !resource.short_names.is_empty() {
        main["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        main["categories"] = json!(resource.categories);
    }
    let mut all = vec![main];
    for sub in [Sub::Finalize, Sub::Scale, Sub::Status] {
        if !resource.has(sub) {
            continue;
        }
        let mut entry = json!({
            "name": format!("{}/{}", resource.plural, sub.name()),
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": &*resource.kind,
            "verbs": ["get", "patch", "update"],
        });
        match sub {
            Sub::Finalize => entry["verbs"] = json!(["update"]),
            Sub::Scale => {
                entry["group"] = json!("autoscaling");
                entry["version"] = json!("v1");
                entry["kind"] = json!("Scale");
            }
            _ => {}
        }
        all.push(entry);
    }
    // Custom resources name status before scale.
    if resource.custom().is_some() {
        all[1..].reverse();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ranked() {
        let mut versions = vec!["v1alpha1", "v2", "foo", "v1", "v1beta2", "v10", "v1beta1"];
        versions.sort_by(|a, b| compare_versions(b, a));
        assert_eq!(versions, ["v10", "v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "foo"]);
    }
}
