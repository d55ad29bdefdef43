//! The kinds of Cluster API on AWS: the views keep what they do not know, and the definitions are what
//! the views and the originals say.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use api::capa::{AwsCluster, AwsMachine, OwnerCluster, OwnerMachine, RoleIdentity, StaticIdentity};
use api::manifests::{self, CAPA_DEFINITIONS, CAPA_MACHINE_DEFINITIONS};
use embedded_kube::{Cluster, TokioClock};
use kube::api::{Api, PostParams};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Every typed field, and beside each of them one that nobody knows.
fn full() -> Value {
    let rule = json!({
        "description": "d", "protocol": "tcp", "fromPort": 1, "toPort": 2, "cidrBlocks": ["a"],
        "ipv6CidrBlocks": ["b"], "sourceSecurityGroupIds": ["c"],
        "sourceSecurityGroupRoles": ["node"], "natGatewaysIPsSource": true, "else": 1,
    });
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "kind": "AWSCluster",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {
            "region": "r", "additionalTags": {"a": "b"}, "sshKeyName": "k",
            "imageLookupFormat": "f", "imageLookupOrg": "o", "imageLookupBaseOS": "b",
            "identityRef": {"kind": "AWSClusterRoleIdentity", "name": "n", "else": 1},
            "controlPlaneEndpoint": {"host": "h", "port": 6443, "else": 1},
            "controlPlaneLoadBalancer": {
                "name": "n", "scheme": "internal", "loadBalancerType": "nlb",
                "crossZoneLoadBalancing": true, "subnets": ["s"],
                "additionalSecurityGroups": ["g"], "healthCheckProtocol": "TCP",
                "healthCheck": {
                    "intervalSeconds": 5, "timeoutSeconds": 2, "thresholdCount": 2,
                    "unhealthyThresholdCount": 2, "else": 1,
                },
                "ingressRules": [rule], "preserveClientIP": true, "else": 1,
            },
            "network": {
                "vpc": {
                    "id": "vpc", "cidrBlock": "c", "internetGatewayId": "i",
                    "availabilityZoneUsageLimit": 3, "availabilityZoneSelection": "Ordered",
                    "subnetSchema": "PreferPrivate", "tags": {"a": "b"}, "else": 1,
                },
                "subnets": [{
                    "id": "s", "resourceID": "r", "cidrBlock": "c", "availabilityZone": "z",
                    "isPublic": true, "routeTableId": "t", "natGatewayId": "n",
                    "tags": {"a": "b"}, "else": 1,
                }],
                "cni": {
                    "cniIngressRules": [{
                        "description": "d", "protocol": "tcp", "fromPort": 1, "toPort": 2,
                        "else": 1,
                    }],
                    "else": 1,
                },
                "securityGroupOverrides": {"node": "g"},
                "additionalControlPlaneIngressRules": [rule],
                "additionalNodeIngressRules": [rule],
                "nodePortIngressRuleCidrBlocks": ["c"],
                "else": 1,
            },
            "bastion": {"enabled": false},
        },
        "status": {"ready": false, "networkStatus": {"else": 1}},
    })
}

/// The same of a machine.
fn full_machine() -> Value {
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "kind": "AWSMachine",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {
            "providerID": "p", "instanceID": "i", "ami": {"id": "a", "else": 1},
            "imageLookupFormat": "f", "imageLookupOrg": "o", "imageLookupBaseOS": "b",
            "instanceType": "t3.large", "additionalTags": {"a": "b"}, "iamInstanceProfile": "p",
            "additionalSecurityGroups": [{"id": "g", "else": 1}],
            "subnet": {"id": "s", "else": 1}, "sshKeyName": "k",
            "rootVolume": {
                "size": 30, "type": "gp3", "iops": 3000, "throughput": 125, "encrypted": true,
                "encryptionKey": "k", "else": 1,
            },
            "uncompressedUserData": true,
        },
        "status": {"ready": false, "instanceState": "running", "else": 1},
    })
}

fn keeps<K: DeserializeOwned + Serialize>(object: &Value) {
    let view: K = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(serde_json::to_value(view).unwrap(), *object);
}

#[test]
fn views_give_back_what_they_were_given() {
    keeps::<AwsCluster>(&full());
    keeps::<AwsMachine>(&full_machine());
    keeps::<OwnerMachine>(&json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": {"name": "a"},
        "spec": {
            "clusterName": "c", "version": "v1.34.2", "failureDomain": "z", "else": 1,
            "bootstrap": {"dataSecretName": "s", "configRef": {}},
        },
        "status": {},
    }));
    let of = |kind: &str, spec: Value| {
        json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": kind,
            "metadata": {"name": "a"}, "spec": spec, "else": 1,
        })
    };
    let allowed = json!({"list": ["n"], "selector": {"matchLabels": {"a": "b"}}, "else": 1});
    keeps::<StaticIdentity>(&of(
        "AWSClusterStaticIdentity",
        json!({"secretRef": "s", "allowedNamespaces": allowed, "else": 1}),
    ));
    keeps::<RoleIdentity>(&of(
        "AWSClusterRoleIdentity",
        json!({
            "roleARN": "r", "externalID": "e", "allowedNamespaces": {}, "inlinePolicy": "p",
            "sourceIdentityRef": {"kind": "AWSClusterStaticIdentity", "name": "n"},
        }),
    ));
    keeps::<OwnerCluster>(&json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": "a"},
        "spec": {
            "paused": true, "clusterNetwork": {"apiServerPort": 443, "pods": {}}, "else": 1,
            "infrastructureRef": {"kind": "AWSCluster", "name": "c", "apiGroup": "g"},
        },
        "status": {},
    }));
}

/// What nobody knows is kept by the shipped definition, too.
#[tokio::test(start_paused = true)]
async fn a_shipped_definition_keeps_what_it_does_not_know() {
    let clock = TokioClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let server = Cluster::new(Arc::new(clock));
    let installed = manifests::install_all(server.client(), &CAPA_DEFINITIONS).await;
    assert_eq!(installed.unwrap().len(), CAPA_DEFINITIONS.len());
    let api: Api<AwsCluster> = Api::namespaced(server.client(), "default");
    let object = serde_json::from_value(full()).unwrap();
    let created = api.create(&PostParams::default(), &object).await.unwrap();
    let created = serde_json::to_value(created).unwrap();
    assert_eq!(created["spec"], full()["spec"]);
    let installed = manifests::install_all(server.client(), &CAPA_MACHINE_DEFINITIONS).await;
    assert_eq!(installed.unwrap().len(), CAPA_MACHINE_DEFINITIONS.len());
    let api: Api<AwsMachine> = Api::namespaced(server.client(), "default");
    let object = serde_json::from_value(full_machine()).unwrap();
    let created = api.create(&PostParams::default(), &object).await.unwrap();
    let created = serde_json::to_value(created).unwrap();
    assert_eq!(created["spec"], full_machine()["spec"]);
}

/// Type by path of every typed leaf in a schema; `[]` is any element, `*` any key.
fn leaves(schema: &Value, path: &str, found: &mut BTreeMap<String, Value>) {
    let properties = schema["properties"].as_object();
    for (name, inner) in properties.into_iter().flatten() {
        leaves(inner, &format!("{path}.{name}"), found);
    }
    if schema["additionalProperties"].is_object() {
        leaves(&schema["additionalProperties"], &format!("{path}.*"), found);
    } else if schema["items"].is_object() {
        leaves(&schema["items"], &format!("{path}[]"), found);
    } else if properties.is_none() {
        let kind = json!([
            schema["type"],
            schema["format"],
            schema["enum"],
            schema["default"]
        ]);
        found.insert(path.to_owned(), kind);
    }
}

fn schema(definition: &Value) -> BTreeMap<String, Value> {
    let versions = definition["spec"]["versions"].as_array().unwrap();
    let served = versions.iter().find(|version| version["name"] == "v1beta2");
    let schema = &served.unwrap()["schema"]["openAPIV3Schema"]["properties"]["spec"];
    let mut found = BTreeMap::new();
    leaves(schema, "spec", &mut found);
    found
}

fn definition(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

/// Every field that the view types is typed by the definition, and no other.
#[test]
fn the_definition_types_exactly_the_fields_of_the_view() {
    fn collect(value: &Value, path: &str, found: &mut Vec<String>) {
        let is_map = ["additionalTags", "tags", "securityGroupOverrides"]
            .iter()
            .any(|map| path.ends_with(map));
        match value {
            Value::Object(_) if is_map => found.push(format!("{path}.*")),
            Value::Object(fields) => {
                for (name, inner) in fields.iter().filter(|(name, _)| *name != "else") {
                    collect(inner, &format!("{path}.{name}"), found);
                }
            }
            Value::Array(list) => collect(&list[0], &format!("{path}[]"), found),
            _ => found.push(path.to_owned()),
        }
    }
    for (full, text) in [
        (full(), CAPA_DEFINITIONS[0]),
        (full_machine(), CAPA_MACHINE_DEFINITIONS[0]),
    ] {
        let mut typed = Vec::new();
        let mut spec = full["spec"].clone();
        spec.as_object_mut().unwrap().remove("bastion");
        collect(&spec, "spec", &mut typed);
        typed.sort();
        let declared: Vec<String> = schema(&definition(text)).into_keys().collect();
        assert_eq!(declared, typed);
    }
}

#[test]
fn the_definition_agrees_with_the_original() {
    let Some(folder) = std::env::var_os("FREEHOLD_UPSTREAM_CRDS") else {
        return;
    };
    for (kind, text) in [
        ("awsclusters", CAPA_DEFINITIONS[0]),
        ("awsmachines", CAPA_MACHINE_DEFINITIONS[0]),
        ("awsmachinetemplates", CAPA_MACHINE_DEFINITIONS[1]),
    ] {
        let file = format!("infrastructure.cluster.x-k8s.io_{kind}.yaml");
        let path = std::path::Path::new(&folder).join(file);
        let original = definition(&std::fs::read_to_string(path).unwrap());
        let ours = definition(text);
        for part in ["group", "names", "scope"] {
            assert_eq!(ours["spec"][part], original["spec"][part], "{part}");
        }
        let theirs = schema(&original);
        for (path, kind) in schema(&ours) {
            // Roles that are not served are refused in words, not by the schema.
            if !path.ends_with("sourceSecurityGroupRoles[]") {
                assert_eq!(theirs.get(&path), Some(&kind), "{path}");
            }
        }
    }
}

#[test]
fn cluster_api_is_told_which_contract_the_definition_fulfils() {
    let [machines, templates, _] = CAPA_MACHINE_DEFINITIONS;
    for text in [CAPA_DEFINITIONS[0], machines, templates] {
        let labels = &definition(text)["metadata"]["labels"];
        assert_eq!(labels["cluster.x-k8s.io/v1beta1"], "v1beta2");
    }
}
