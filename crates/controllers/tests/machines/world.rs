//! What a machine needs to be there: its owners, its bootstrap data, and a cluster's network, made by others.

use api::capa::{AwsCluster, AwsMachine, OwnerCluster, OwnerMachine};
use api::manifests;
use blueprints::capa::machine::Registry;
use blueprints::capa::{Cluster, LoadBalancer};
use cloud_port::aws::classic_load_balancer::{self as classic, CLASSIC_LOAD_BALANCER};
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::target_group::TARGET_GROUP;
use cloud_sim::{Account, Actor};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, Resource, ResourceExt as _};
use ownership::mark::Tags;
use ownership::part::Props;
use ownership::{Kind, Target};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What every definition is that machines and their cluster need.
pub(crate) async fn install(client: &Client) {
    let all = manifests::CAPA_DEFINITIONS.iter();
    let all: Vec<&str> = all
        .chain(&manifests::CAPA_MACHINE_DEFINITIONS)
        .copied()
        .collect();
    let installed = manifests::install_all(client.clone(), &all).await;
    installed.unwrap();
}

pub(crate) async fn create<K>(client: &Client, namespace: &str, object: Value) -> K
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + Serialize
        + DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    let object = serde_json::from_value(object).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap()
}

pub(crate) async fn namespace(client: &Client, name: &str) {
    let api: Api<Namespace> = Api::all(client.clone());
    let named = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    api.create(&PostParams::default(), &named).await.unwrap();
}

/// A `Cluster` that stands on the `AWSCluster` `prod`.
pub(crate) async fn owner_cluster(client: &Client, namespace: &str) -> OwnerCluster {
    let infrastructure = json!({
        "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "AWSCluster", "name": "prod",
    });
    let object = json!({
        "metadata": {"name": "prod"}, "spec": {"infrastructureRef": infrastructure},
    });
    create(client, namespace, object).await
}

/// A `Machine` with its bootstrap data.
pub(crate) async fn owner_machine(
    client: &Client,
    namespace: &str,
    name: &str,
    is_control_plane: bool,
) -> OwnerMachine {
    let labels = if is_control_plane {
        json!({"cluster.x-k8s.io/control-plane": "", "cluster.x-k8s.io/cluster-name": "prod"})
    } else {
        json!({"cluster.x-k8s.io/cluster-name": "prod"})
    };
    let object = json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "clusterName": "prod",
            "version": "v1.34.2",
            "failureDomain": "zone-a",
            "bootstrap": {"dataSecretName": format!("{name}-boot")},
        },
    });
    let machine = create(client, namespace, object).await;
    secret(
        client,
        namespace,
        &format!("{name}-boot"),
        "#cloud-config\n",
    )
    .await;
    machine
}

pub(crate) async fn secret(client: &Client, namespace: &str, name: &str, value: &str) {
    let object = json!({"metadata": {"name": name}, "stringData": {"value": value}});
    let _: Secret = create(client, namespace, object).await;
}

/// An `AWSMachine` of a `Machine`, without a name.
pub(crate) fn manifest(namespace: &str, owner: &OwnerMachine) -> Value {
    let mut labels = json!({"cluster.x-k8s.io/cluster-name": "prod"});
    if owner.is_control_plane() {
        labels["cluster.x-k8s.io/control-plane"] = json!("");
    }
    json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "kind": "AWSMachine",
        "metadata": {
            "namespace": namespace,
            "labels": labels,
            "ownerReferences": [{
                "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
                "name": owner.name_any(), "uid": owner.uid().unwrap(),
            }],
        },
        "spec": {"instanceType": "t3.large"},
    })
}

/// The cluster, as its blueprint knows it.
fn cluster(namespace: &str, kind: &str) -> Cluster {
    let mut cluster = Cluster::new(namespace, "prod", &[]);
    cluster.balancer = LoadBalancer {
        kind: Some(kind.to_owned()),
        ..LoadBalancer::default()
    };
    cluster
}

/// Where the cluster's machines are registered.
pub(crate) fn registry(account: &Account, namespace: &str, kind: &str) -> Target {
    let (kind, name) = match cluster(namespace, kind).registry().unwrap().unwrap() {
        Registry::Classic(name) => (&CLASSIC_LOAD_BALANCER, name),
        Registry::Targets(name) => (&TARGET_GROUP, name),
    };
    let found = account.alive(kind).find(|it| it.name == name);
    found.expect("there is one").target()
}

fn plant(
    account: &mut Account,
    kind: &'static Kind,
    name: &str,
    props: &[(&'static str, &str)],
) -> Target {
    let props: Props = props
        .iter()
        .map(|(name, value)| (*name, (*value).into()))
        .collect();
    let key = "sigs.k8s.io/cluster-api-provider-aws/cluster/prod";
    let tags: Tags = [(key.into(), "owned".into())].into_iter().collect();
    let planted = account.plant(Actor::Stranger, kind, name, &props, &tags);
    planted.unwrap()
}

/// Plants the load balancer of a cluster.
pub(crate) fn plant_registry(account: &mut Account, namespace: &str, kind: &str) -> Target {
    let vpc = account.default_vpc().unwrap().id.to_string();
    let subnet = account.alive(&SUBNET).next().unwrap().id.to_string();
    match cluster(namespace, kind).registry().unwrap().unwrap() {
        Registry::Classic(name) => plant(
            account,
            &CLASSIC_LOAD_BALANCER,
            &name,
            &[
                (classic::SUBNETS, &subnet),
                (classic::LISTENERS, "tcp 6443 tcp 6443"),
            ],
        ),
        Registry::Targets(name) => plant(
            account,
            &TARGET_GROUP,
            &name,
            &[
                ("vpc", &vpc),
                ("protocol", "tcp"),
                ("port", "6443"),
                ("targets", "instance"),
            ],
        ),
    }
}

/// A cluster that others have made: two private subnets, three groups, a load balancer.
pub(crate) async fn furnish(
    client: &Client,
    account: &mut Account,
    owner: &OwnerCluster,
    kind: &str,
) {
    let namespace = &owner.namespace().unwrap();
    let vpc = account.default_vpc().unwrap().id.to_string();
    let mut subnets = Vec::new();
    for (zone, cidr) in [("zone-a", "172.31.128.0/28"), ("zone-b", "172.31.129.0/28")] {
        let props = [("vpc", vpc.as_str()), ("cidr", cidr), ("zone", zone)];
        let subnet = plant(account, &SUBNET, "", &props);
        subnets.push(json!({
            "id": format!("prod-subnet-private-{zone}"), "resourceID": subnet.id.as_str(),
            "availabilityZone": zone, "isPublic": false, "cidrBlock": cidr,
        }));
    }
    let mut groups = json!({});
    for role in ["controlplane", "node", "lb"] {
        let name = format!("prod-{role}");
        let props = [("vpc", vpc.as_str()), ("description", "a group")];
        let group = plant(account, &SECURITY_GROUP, &name, &props);
        groups[role] = json!({"id": group.id.as_str(), "name": name});
    }
    plant_registry(account, namespace, kind);
    let object = json!({
        "metadata": {
            "name": "prod",
            "ownerReferences": [{
                "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "prod",
                "uid": owner.uid().unwrap(),
            }],
        },
        "spec": {
            "region": "eu-central-1",
            "controlPlaneLoadBalancer": {"loadBalancerType": kind},
            "network": {"vpc": {"id": vpc}, "subnets": subnets},
        },
    });
    let _: AwsCluster = create(client, namespace, object).await;
    let status = json!({"status": {"ready": true, "networkStatus": {"securityGroups": groups}}});
    edit_status::<AwsCluster>(client, namespace, "prod", status).await;
}

pub(crate) async fn edit<K>(client: &Client, namespace: &str, name: &str, patch: Value)
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    let patch = Patch::Merge(patch);
    api.patch(name, &PatchParams::default(), &patch)
        .await
        .unwrap();
}

pub(crate) async fn edit_status<K>(client: &Client, namespace: &str, name: &str, patch: Value)
where
    K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    let patch = Patch::Merge(patch);
    let patched = api
        .patch_status(name, &PatchParams::default(), &patch)
        .await;
    patched.unwrap();
}

/// The object, as JSON.
pub(crate) async fn object(client: &Client, namespace: &str, name: &str) -> Value {
    let api: Api<AwsMachine> = Api::namespaced(client.clone(), namespace);
    serde_json::to_value(api.get(name).await.unwrap()).unwrap()
}
