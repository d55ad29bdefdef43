//! The objects of the second system.

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{LocalObjectReference, Namespace};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{Api, PostParams};
use kube::core::TypeMeta;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A gate to a network. It lives in a namespace, belongs to a [`Yard`], and is opened with a key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Gate {
    #[serde(flatten)]
    types: TypeMeta,
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) spec: GateSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<Value>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GateSpec {
    /// The yard that it belongs to, in its namespace.
    #[serde(default)]
    pub(crate) yard: String,
    /// The Secret with the access key.
    #[serde(default)]
    pub(crate) key: LocalObjectReference,
    /// Ports that are open.
    #[serde(default)]
    pub(crate) ports: Vec<u16>,
    #[serde(flatten)]
    pub(crate) rest: Map<String, Value>,
}

/// A yard: where its gates are, and who may come in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Yard {
    #[serde(flatten)]
    types: TypeMeta,
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) spec: YardSpec,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct YardSpec {
    #[serde(default)]
    pub(crate) region: String,
    /// The network from which people come.
    #[serde(default)]
    pub(crate) from: String,
    #[serde(default)]
    pub(crate) paused: bool,
}

macro_rules! resource {
    ($object:ident, $kind:literal, $plural:literal) => {
        impl kube::Resource for $object {
            type DynamicType = ();
            type Scope = NamespaceResourceScope;

            fn kind((): &()) -> std::borrow::Cow<'_, str> {
                $kind.into()
            }

            fn group((): &()) -> std::borrow::Cow<'_, str> {
                "second.freehold.dev".into()
            }

            fn version((): &()) -> std::borrow::Cow<'_, str> {
                "v1".into()
            }

            fn plural((): &()) -> std::borrow::Cow<'_, str> {
                $plural.into()
            }

            fn meta(&self) -> &ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.metadata
            }
        }
    };
}

resource!(Gate, "Gate", "gates");
resource!(Yard, "Yard", "yards");

/// A gate that belongs to the yard of its namespace, without a name.
pub(crate) fn gate(namespace: &str, ports: &[u16]) -> Value {
    json!({
        "apiVersion": "second.freehold.dev/v1",
        "kind": "Gate",
        "metadata": {"namespace": namespace},
        "spec": {"yard": "yard", "key": {"name": "key"}, "ports": ports},
    })
}

/// The yard of a namespace.
pub(crate) fn yard(from: &str) -> Value {
    json!({
        "apiVersion": "second.freehold.dev/v1",
        "kind": "Yard",
        "metadata": {"name": "yard"},
        "spec": {"region": "eu-central-1", "from": from},
    })
}

/// The Secret of a namespace.
pub(crate) fn key(id: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "key"},
        "stringData": {"id": id, "secret": "hush"},
    })
}

/// Installs the definitions.
pub(crate) async fn install(client: &Client) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for text in include_str!("definitions.yaml").split("---\n") {
        let definition: CustomResourceDefinition = serde_saphyr::from_str(text).unwrap();
        let created = api.create(&PostParams::default(), &definition).await;
        created.unwrap();
    }
}

/// Creates a namespace.
pub(crate) async fn create_namespace(client: &Client, name: &str) {
    let api: Api<Namespace> = Api::all(client.clone());
    create(&api, json!({"metadata": {"name": name}})).await;
}

/// Creates an object.
pub(crate) async fn create<K>(api: &Api<K>, object: Value)
where
    K: DeserializeOwned + Serialize + Clone + std::fmt::Debug,
{
    let object: K = serde_json::from_value(object).unwrap();
    let created = api.create(&PostParams::default(), &object).await;
    created.unwrap();
}
