//! The manifests are what the types say, and never replace what is installed.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use api::manifests::{self, Installed, Served};
use embedded_kube::{Cluster, Fault, FaultKind, TokioClock};
use k8s_openapi::api::admissionregistration::v1::ValidatingAdmissionPolicy;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt as _;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};

const NAMES: [&str; 2] = ["clusters.kubermatic.k8c.io", "seeds.kubermatic.k8c.io"];

fn server() -> Cluster {
    let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    Cluster::new(Arc::new(clock))
}

fn created(name: &str) -> Installed {
    Installed::Created(name.to_owned())
}

fn found(name: &str) -> Installed {
    Installed::Found(name.to_owned())
}

#[tokio::test(start_paused = true)]
async fn definitions_are_created_once() {
    let server = server();
    let first = manifests::install(server.client()).await.unwrap();
    assert_eq!(first, NAMES.map(created));
    let second = manifests::install(server.client()).await.unwrap();
    assert_eq!(second, NAMES.map(found));
}

#[tokio::test(start_paused = true)]
async fn an_installed_definition_is_left_as_it_is() {
    let server = server();
    let api: Api<CustomResourceDefinition> = Api::all(server.client());
    let mut theirs: CustomResourceDefinition =
        serde_saphyr::from_str(manifests::DEFINITIONS[0]).unwrap();
    theirs
        .labels_mut()
        .insert("theirs".to_owned(), "yes".to_owned());
    theirs.spec.versions[0].additional_printer_columns = None;
    api.create(&PostParams::default(), &theirs).await.unwrap();
    let before = api.get(NAMES[0]).await.unwrap();

    let installed = manifests::install(server.client()).await.unwrap();
    assert_eq!(installed, [found(NAMES[0]), created(NAMES[1])]);
    assert_eq!(api.get(NAMES[0]).await.unwrap(), before);
}

#[tokio::test(start_paused = true)]
async fn a_race_ends_well() {
    let server = server();
    manifests::install(server.client()).await.unwrap();
    // A stale read shows none, the create then says that there is one.
    let stale = Fault::new(FaultKind::StaleRead { by: 2 }).verb("get");
    server.faults().add(stale.name(NAMES[0]));
    let again = manifests::install(server.client()).await.unwrap();
    assert_eq!(again, NAMES.map(found));
    assert_eq!(server.faults().pending(), 0, "the fault fired");
}

/// A kind that nobody serves.
const THINGS: Served = Served {
    plural: "things",
    singular: "thing",
    group: "example.com",
    version: "v2",
};

#[test]
fn everything_is_one_stream_of_documents() {
    let mut all = manifests::DEFINITIONS.map(str::to_owned).to_vec();
    all.extend(manifests::protection(&[THINGS]));
    all.extend(manifests::KKP_POLICIES.map(str::to_owned));
    let documents: Vec<Value> = serde_saphyr::from_multiple(&manifests::stream(&all)).unwrap();
    let kinds: Vec<_> = documents.iter().map(|document| &document["kind"]).collect();
    let (definition, policy, binding) = (
        "CustomResourceDefinition",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    );
    assert_eq!(
        kinds,
        [definition, definition, policy, binding, policy, binding]
    );
    for pair in documents[2..].chunks(2) {
        assert_eq!(pair[0]["metadata"]["name"], pair[1]["spec"]["policyName"]);
    }
}

#[test]
fn one_policy_is_about_every_kind() {
    let clusters = Served {
        plural: "clusters",
        singular: "cluster",
        group: "kubermatic.k8c.io",
        version: "v1",
    };
    let policy: Value =
        serde_saphyr::from_str(&manifests::protection(&[clusters, THINGS])[0]).unwrap();
    let rule = |kind: Served| {
        json!({
            "apiGroups": [kind.group], "apiVersions": [kind.version], "operations": ["UPDATE"],
            "resources": [kind.plural],
        })
    };
    assert_eq!(policy["metadata"]["name"], manifests::PROTECTION);
    assert_eq!(
        policy["spec"]["matchConstraints"]["resourceRules"],
        json!([rule(clusters), rule(THINGS)])
    );
}

/// Every policy that knows the operator knows it by the same account.
#[test]
fn policies_trust_the_account_that_they_are_made_for() {
    let [policy, _] = &manifests::protection(&[THINGS])[..] else {
        panic!("two")
    };
    for policy in [policy, manifests::KKP_POLICIES[0]] {
        let usual = "'system:serviceaccount:freehold-system:freehold'";
        assert_eq!(policy.matches(usual).count(), 1, "{policy}");
        let other = manifests::for_account(policy, "infra", "landlord");
        assert_eq!(other.matches("system:serviceaccount:").count(), 1);
        let other: ValidatingAdmissionPolicy = serde_saphyr::from_str(&other).unwrap();
        let trusted = manifests::trusted(&other);
        assert_eq!(trusted, Some("system:serviceaccount:infra:landlord"));
    }
}

/// Type by path of every typed leaf in a definition; `*` is any key of a map.
fn leaves(definition: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    collect(schema, String::new(), &mut found);
    found
}

fn collect(schema: &Value, path: String, found: &mut BTreeMap<String, Value>) {
    let properties = schema["properties"].as_object();
    for (name, inner) in properties.into_iter().flatten() {
        collect(inner, format!("{path}.{name}"), found);
    }
    if schema["additionalProperties"].is_object() {
        collect(&schema["additionalProperties"], format!("{path}.*"), found);
    } else if properties.is_none() {
        let items = &schema["items"]["type"];
        let kind = json!([schema["type"], schema["format"], items,]);
        found.insert(path, kind);
    }
}

fn definition(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

/// Type by path of every leaf of an object.
fn leaves_of_object(value: &Value, path: String, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                let any = ["conditions", "datacenters"]
                    .iter()
                    .any(|map| path.ends_with(map));
                let name = if any { "*" } else { name };
                leaves_of_object(inner, format!("{path}.{name}"), found);
            }
        }
        Value::Array(_) => drop(found.insert(path, json!(["array", null, "string"]))),
        Value::Bool(_) => drop(found.insert(path, json!(["boolean", null, null]))),
        Value::String(text) if text.ends_with("00Z") => {
            found.insert(path, json!(["string", "date-time", null]));
        }
        Value::String(_) => drop(found.insert(path, json!(["string", null, null]))),
        other => panic!("{path}: {other}"),
    }
}

/// The typed fields of a view that is full: what remains in `rest` is none.
fn typed(view: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for part in ["spec", "status"] {
        if !view[part].is_null() {
            leaves_of_object(&view[part], format!(".{part}"), &mut found);
        }
    }
    found
}

#[test]
fn the_definitions_type_exactly_the_fields_of_the_views() {
    let time = "2026-01-01T00:00:00Z";
    let ranges = json!({"cidrBlocks": ["10.0.0.0/16"]});
    let full = json!({
        "metadata": {"name": "a"},
        "spec": {
            "pause": true,
            "cloud": {"dc": "d", "aws": {
                "accessKeyID": "a", "secretAccessKey": "b",
                "credentialsReference": {"namespace": "n", "name": "m"},
                "assumeRoleARN": "c", "assumeRoleExternalID": "d",
                "vpcID": "e", "roleARN": "f", "routeTableID": "g", "instanceProfileName": "h",
                "securityGroupID": "i", "nodePortsAllowedIPRange": "j",
                "nodePortsAllowedIPRanges": ranges, "disableIAMReconciling": true,
            }},
            "clusterNetwork": {"ipFamily": "IPv4", "pods": ranges, "services": ranges},
            "componentsOverride": {"apiserver": {"nodePortRange": "30000-32767"}},
        },
        "status": {"lastProviderReconciliation": time, "conditions": {"Ready": {
            "kubermaticVersion": "v", "lastHeartbeatTime": time, "lastTransitionTime": time,
            "status": "True", "reason": "r", "message": "m",
        }}},
    });
    let cluster: api::kkp::Cluster = serde_json::from_value(full.clone()).unwrap();
    let rests = [
        &cluster.rest,
        &cluster.spec.rest,
        &cluster.spec.cloud.rest,
        &cluster.spec.cloud.aws.as_ref().unwrap().rest,
        &cluster.spec.cluster_network.as_ref().unwrap().rest,
        &cluster.status.as_ref().unwrap().rest,
        &cluster.status.as_ref().unwrap().conditions["Ready"].rest,
    ];
    assert!(rests.iter().all(|rest| rest.is_empty()), "typed: {rests:?}");
    assert_eq!(typed(&full), leaves(&definition(manifests::DEFINITIONS[0])));

    let seed = json!({"metadata": {"name": "a"}, "spec": {"datacenters": {
        "d": {"spec": {"aws": {"region": "eu-central-1"}}},
    }}});
    let view: api::kkp::Seed = serde_json::from_value(seed.clone()).unwrap();
    let datacenter = &view.spec.datacenters["d"];
    assert!(datacenter.spec.aws.as_ref().unwrap().rest.is_empty());
    let mut expected = typed(&seed);
    expected.insert(".status".to_owned(), json!(["object", null, null]));
    assert_eq!(leaves(&definition(manifests::DEFINITIONS[1])), expected);
}

#[test]
fn the_definitions_agree_with_the_originals() {
    let Some(folder) = std::env::var_os("FREEHOLD_UPSTREAM_CRDS") else {
        return;
    };
    for text in manifests::DEFINITIONS {
        let ours = definition(text);
        let name = ours["metadata"]["name"].as_str().unwrap();
        let (plural, group) = name.split_once('.').unwrap();
        let path = std::path::Path::new(&folder).join(format!("{group}_{plural}.yaml"));
        let original = definition(&std::fs::read_to_string(path).unwrap());
        for part in ["group", "names", "scope"] {
            assert_eq!(ours["spec"][part], original["spec"][part], "{name} {part}");
        }
        let versions = |definition: &Value| definition["spec"]["versions"][0].clone();
        for part in ["name", "served", "storage", "subresources"] {
            assert_eq!(
                versions(&ours)[part],
                versions(&original)[part],
                "{name} {part}"
            );
        }
        let theirs = leaves(&original);
        for (path, kind) in leaves(&ours) {
            if path != ".status" {
                assert_eq!(theirs.get(&path), Some(&kind), "{name} {path}");
            }
        }
    }
}
