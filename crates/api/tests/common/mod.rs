//! Clusters with anything around our fields, and what must be left of it.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// The paths of our fields: everything that a test writes.
pub(crate) const OURS: [&[&str]; 9] = [
    &["metadata", "annotations", "freehold.dev/claim-uuid"],
    &["metadata", "annotations", "kubermatic.io/aws-region"],
    &["metadata", "finalizers"],
    &["spec", "cloud", "aws", "vpcID"],
    &["spec", "cloud", "aws", "roleARN"],
    &["spec", "cloud", "aws", "securityGroupID"],
    &["status", "lastProviderReconciliation"],
    &["status", "conditions", "Ready"],
    // The API server's own.
    &["metadata", "resourceVersion"],
];

/// A cluster as somebody else wrote it.
pub(crate) fn cluster() -> impl Strategy<Value = Value> {
    let objects = (unknown(), unknown(), unknown(), unknown(), unknown());
    let texts = btree_map("[a-z]{1,8}", "[ -~]{0,12}", 0..3);
    let finalizers = vec("[a-z]{1,8}/[a-z]{1,8}", 0..3);
    let ids = proptest::array::uniform5(prop_oneof![Just(String::new()), "[a-z]{2,4}-[0-9a-f]{8}"]);
    (objects, texts, finalizers, ids).prop_map(|(objects, texts, mut finalizers, ids)| {
        let (spec, cloud, aws, network, status) = objects;
        finalizers.sort();
        finalizers.dedup();
        let [vpc, role, table, profile, group] = ids;
        let mut object = json!({
            "apiVersion": "kubermatic.k8c.io/v1",
            "kind": "Cluster",
            "metadata": {"name": "a", "annotations": texts, "labels": {"theirs": "x"}},
            "spec": spec,
            "status": status,
        });
        if !finalizers.is_empty() {
            object["metadata"]["finalizers"] = json!(finalizers);
        }
        object["spec"]["pause"] = json!(false);
        object["spec"]["clusterNetwork"] = network;
        object["spec"]["clusterNetwork"]["pods"] = json!({"cidrBlocks": ["10.0.0.0/16"]});
        object["spec"]["cloud"] = cloud;
        object["spec"]["cloud"]["dc"] = json!("frankfurt");
        object["spec"]["cloud"]["aws"] = aws;
        for (field, id) in [
            ("vpcID", vpc),
            ("roleARN", role),
            ("routeTableID", table),
            ("instanceProfileName", profile),
            ("securityGroupID", group),
        ] {
            object["spec"]["cloud"]["aws"][field] = json!(id);
        }
        object["status"]["conditions"] = json!({
            "Theirs": {"status": "True", "kubermaticVersion": "v2.28.0", "more": {"deep": [1, null]},
                       "lastHeartbeatTime": "2025-12-31T23:59:59Z"},
        });
        object
    })
}

/// A map of fields that we know nothing of: all names begin with `x`, as none of ours does.
fn unknown() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e12..1e12_f64).prop_map(Value::from),
        "\\PC{0,10}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("\\PC{0,6}", inner, 0..4).prop_map(map),
        ]
    });
    btree_map("x[A-Za-z./-]{0,8}", value, 0..4).prop_map(map)
}

fn map(entries: std::collections::BTreeMap<String, Value>) -> Value {
    Value::Object(Map::from_iter(entries))
}

/// The object without the fields at these paths, and without maps that are then empty.
pub(crate) fn without(mut object: Value, paths: &[&[&str]]) -> Value {
    for path in paths {
        remove(&mut object, path);
    }
    object
}

fn remove(value: &mut Value, path: &[&str]) {
    let Some(map) = value.as_object_mut() else {
        return;
    };
    let [name, rest @ ..] = path else { return };
    if rest.is_empty() {
        map.remove(*name);
    } else if let Some(inner) = map.get_mut(*name) {
        remove(inner, rest);
        if inner.as_object().is_some_and(Map::is_empty) {
            map.remove(*name);
        }
    }
}
