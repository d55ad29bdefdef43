//! What is served, told to clients that ask.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::builtin::{self, Builtin};
use crate::resource::{Definition, Resource, Sub, compare_versions, group_version};
use crate::state::State;

/// The built-in groups that a client is to prefer, the first one most.
const BUILT_IN: [&str; 7] = [
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "rbac.authorization.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "coordination.k8s.io",
];

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

/// All groups with all their resources in one document; `core` says which half.
pub(super) fn aggregated(state: &State, core: bool) -> Value {
    let groups = if core {
        vec![(String::new(), vec!["v1".to_owned()])]
    } else {
        groups(state)
    };
    let items: Vec<Value> = groups
        .iter()
        .map(|(name, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| aggregated_version(state, name, version))
                .collect();
            let metadata = match name.as_str() {
                "" => json!({}),
                name => json!({"name": name}),
            };
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn aggregated_version(state: &State, group: &str, version: &str) -> Value {
    let list = resources(state, group, version).unwrap_or_default();
    let entries = list["resources"].as_array().into_iter().flatten();
    let mut all: Vec<Value> = Vec::new();
    for entry in entries {
        let name = entry["name"].as_str().unwrap_or_default();
        let (plural, sub) = name.split_once('/').unwrap_or((name, ""));
        // A custom resource says where its kind is from, a built-in one only where it is elsewhere.
        let custom = state
            .definitions
            .contains_key(format!("{plural}.{group}").as_str());
        let (group, version) = if custom { (group, version) } else { ("", "") };
        let kind = json!({
            "group": entry["group"].as_str().unwrap_or(group),
            "version": entry["version"].as_str().unwrap_or(version),
            "kind": entry["kind"],
        });
        if let (false, Some(main)) = (sub.is_empty(), all.last_mut()) {
            let part = json!({"subresource": sub, "responseKind": kind, "verbs": entry["verbs"]});
            match main.get_mut("subresources").and_then(Value::as_array_mut) {
                Some(parts) => parts.push(part),
                None => main["subresources"] = json!([part]),
            }
            continue;
        }
        let mut main = json!({
            "resource": plural,
            "responseKind": kind,
            "scope": if entry["namespaced"] == true { "Namespaced" } else { "Cluster" },
            "singularResource": entry["singularName"],
            "verbs": entry["verbs"],
        });
        for key in ["shortNames", "categories"] {
            if !entry[key].is_null() {
                main[key] = entry[key].clone();
            }
        }
        all.push(main);
    }
    json!({"version": version, "resources": all, "freshness": "Current"})
}

/// Everything that is served.
fn served(state: &State) -> Vec<Arc<Resource>> {
    let mut all: Vec<Arc<Resource>> = builtin::RESOURCES.clone();
    for definition in state.definitions.values() {
        let served = definition
            .versions
            .iter()
            .filter(|r| r.custom().is_some_and(|c| c.served));
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
    // The built-in groups come first, in the order of the real server.
    let rank = |name: &str| {
        let known = BUILT_IN.iter().position(|group| *group == name);
        let built_in = builtin::RESOURCES.iter().any(|r| *r.group == *name);
        known.unwrap_or(BUILT_IN.len() + usize::from(!built_in))
    };
    let mut groups: Vec<(String, Vec<String>)> = groups.into_iter().collect();
    groups.sort_by_key(|(name, _)| rank(name));
    groups
}

fn group(name: &str, versions: &[String]) -> Value {
    let entry = |version: &String| json!({"groupVersion": group_version(name, version), "version": version});
    json!({
        "name": name,
        "versions": versions.iter().map(entry).collect::<Vec<Value>>(),
        "preferredVersion": versions.first().map(entry),
    })
}

const VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];
/// Custom resources list their verbs in another order.
const CUSTOM_VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

fn resources(state: &State, group: &str, version: &str) -> Option<Value> {
    let mut list: Vec<Arc<Resource>> = served(state)
        .into_iter()
        .filter(|resource| *resource.group == *group && *resource.version == *version)
        .collect();
    if list.is_empty() {
        return None;
    }
    list.sort_by(|a, b| a.plural.cmp(&b.plural));
    let entries: Vec<Value> = list
        .iter()
        .flat_map(|resource| {
            let definition = state.definitions.get(&resource.store);
            entries(resource, definition.map(|definition| &**definition))
        })
        .collect();
    Some(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version(group, version),
        "resources": entries,
    }))
}

/// A text that changes when the stored version does; clients only compare it.
fn storage_hash(resource: &Resource, definition: Option<&Definition>) -> String {
    let version = definition.map_or(&resource.version, |d| &d.stored().version);
    let text = format!("{}/{version}/{}", resource.group, resource.kind);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    });
    STANDARD.encode(hash.to_be_bytes())
}

fn entries(resource: &Resource, definition: Option<&Definition>) -> Vec<Value> {
    let verbs: &[&str] = match resource.builtin() {
        None => &CUSTOM_VERBS,
        // Namespaces are deleted one by one.
        Some(Builtin::Namespace) => &[
            "create", "delete", "get", "list", "patch", "update", "watch",
        ],
        Some(review) if review.is_review() => &["create"],
        Some(_) => &VERBS,
    };
    let mut main = json!({
        "name": &*resource.plural,
        "singularName": &*resource.singular,
        "namespaced": resource.namespaced,
        "kind": &*resource.kind,
        "verbs": verbs,
    });
    if !resource.builtin().is_some_and(Builtin::is_review) {
        main["storageVersionHash"] = json!(storage_hash(resource, definition));
    }
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
